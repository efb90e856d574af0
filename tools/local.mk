# SPDX-License-Identifier: MIT
bin_PROGRAMS += %D%/bcl-info
%C%_bcl_info_SOURCES = %D%/bcl-info.c %D%/info.h %D%/info-counters.c \
	%D%/info-paths.c
%C%_bcl_info_LDADD = $(libbcl_convenience) $(HWLOC_LIBS) $(PMIX_LIBS)

# Frames as Wireshark shows them
dist_pkgdata_DATA = %D%/bcl.lua
