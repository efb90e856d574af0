# SPDX-License-Identifier: MIT
# What PVM's tasks load before libpvm3
if SHARED
pkglib_LTLIBRARIES = libbcl-pvm.la
libbcl_pvm_la_SOURCES = %D%/announce.c %D%/buffer.c %D%/collective.c \
	%D%/direct.c %D%/endpoint.c %D%/events.c %D%/freeze.c %D%/glue.h \
	%D%/group.c %D%/group.h %D%/interpose.c %D%/libpvm.c %D%/libpvm.h \
	%D%/loan.c %D%/meet.c %D%/receive.c %D%/say.c %D%/send.c %D%/share.c \
	%D%/state.c %D%/state.h %D%/task.c %D%/wait.c %D%/wire.h \
	env/say.c
libbcl_pvm_la_LIBADD = libbcl.la
libbcl_pvm_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared

bin_SCRIPTS = %D%/bcl-pvm
include_HEADERS = include/bcl_pvm.h
pkgconfig_DATA += %D%/bcl-pvm.pc

# It is static, and knows more than what libbcl.so exports.
if PVM
pkglibexec_PROGRAMS += %D%/bcl-pvm-check
%C%_bcl_pvm_check_LDADD = $(libbcl_convenience) $(HWLOC_LIBS) $(PMIX_LIBS) \
	-lpvm3
endif
endif
EXTRA_DIST += %D%/bcl-pvm.in
CLEANFILES += %D%/bcl-pvm

%D%/bcl-pvm: %D%/bcl-pvm.in
	@mkdir -p $(@D)
	$(AM_V_GEN)sed -e 's,@pkglibdir@,$(pkglibdir),' \
		-e 's,@pkglibexecdir@,$(pkglibexecdir),' \
		$(srcdir)/%D%/bcl-pvm.in >$@ && chmod +x $@
