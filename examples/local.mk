# SPDX-License-Identifier: MIT
# Programs to start from. All need <bcl/coll.h> and -lbcl, heat libpng and
# hybrid OpenMP, too.
noinst_PROGRAMS += %D%/hello %D%/psort %D%/heat %D%/hybrid
examples_libs = $(libbcl_convenience) $(HWLOC_LIBS) $(PMIX_LIBS)

%C%_hello_LDADD = $(examples_libs)
%C%_psort_LDADD = $(examples_libs)
%C%_heat_SOURCES = %D%/heat.c %D%/heat.h %D%/heat_halo.c
%C%_heat_CFLAGS = $(AM_CFLAGS) $(PNG_CFLAGS)
%C%_heat_LDADD = $(examples_libs) $(PNG_LIBS)
%C%_hybrid_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_hybrid_LDADD = $(examples_libs)
