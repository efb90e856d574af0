# SPDX-License-Identifier: MIT
libtransport_la_SOURCES += %D%/boot.c %D%/boot.h %D%/fork.c %D%/fork.h \
	%D%/lent.c %D%/pieces.c %D%/pieces.h %D%/pmi.c %D%/single.c
if PMIX
libtransport_la_SOURCES += %D%/pmix.c
endif
