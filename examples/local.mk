# SPDX-License-Identifier: MIT
# Programs to start from. All need <bcl/coll.h> and -lbcl, heat libpng and
# hybrid OpenMP, too: the head of each says how it is compiled. The sources are
# installed where a distribution looks for them, the programs where nobody's PATH
# leads.
examplesdir = $(pkglibexecdir)/examples
examples_PROGRAMS = %D%/hello %D%/psort %D%/heat %D%/hybrid %D%/outlive
examplesourcesdir = $(docdir)/examples
dist_examplesources_DATA = %D%/hello.c %D%/psort.c %D%/heat.c %D%/heat.h \
	%D%/heat_halo.c %D%/hybrid.c %D%/outlive.c
examples_libs = $(libbcl_convenience) $(HWLOC_LIBS) $(PMIX_LIBS)

%C%_hello_LDADD = $(examples_libs)
%C%_psort_LDADD = $(examples_libs)
%C%_heat_SOURCES = %D%/heat.c %D%/heat.h %D%/heat_halo.c
%C%_heat_CFLAGS = $(AM_CFLAGS) $(PNG_CFLAGS)
%C%_heat_LDADD = $(examples_libs) $(PNG_LIBS)
%C%_hybrid_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_hybrid_LDADD = $(examples_libs)
%C%_outlive_LDADD = $(examples_libs)
