# SPDX-License-Identifier: MIT
# Programs of PVM, by its own routes and with the glue: each on hosts of its own,
# where it waits more than it works; but for those that ask what tasks do who are
# not late.
pvm_scripts = %D%/another.sh %D%/check.sh %D%/compare.sh %D%/cost.sh \
	%D%/early.sh %D%/examples.sh %D%/examples_hosts.sh %D%/fortran.sh %D%/groups.sh \
	%D%/guests.sh %D%/hosts.sh %D%/mailbox.sh %D%/reset.sh \
	%D%/restart.sh %D%/routes.sh %D%/semantics.sh %D%/slang.sh \
	%D%/strangers.sh %D%/timetable.sh %D%/traffic.sh
pvm_timely = %D%/copies.sh %D%/losses.sh %D%/multicast.sh %D%/netpipe.sh
dist_check_SCRIPTS += $(pvm_scripts) $(pvm_timely)
EXTRA_DIST += %D%/compare.pl %D%/fortran.f %D%/number.h %D%/program.sh %D%/scratch.sh
lone_tests += $(pvm_scripts)
system_tests += $(pvm_timely)
if PVM
check_PROGRAMS += %D%/copies %D%/cost %D%/early %D%/groups %D%/hosts %D%/losses \
	%D%/mailbox %D%/multicast %D%/reset %D%/routes %D%/semantics \
	%D%/strangers %D%/traffic
%C%_copies_LDADD = -lpvm3
%C%_copies_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
%C%_cost_LDADD = -lpvm3
%C%_early_LDADD = -lpvm3
%C%_early_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
%C%_groups_LDADD = -lgpvm3 -lpvm3
%C%_groups_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
%C%_hosts_LDADD = -lpvm3
%C%_losses_LDADD = -lpvm3
%C%_losses_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
%C%_mailbox_LDADD = -lpvm3
%C%_multicast_LDADD = -lpvm3
%C%_reset_LDADD = -lgpvm3 -lpvm3
%C%_routes_LDADD = -lpvm3
%C%_routes_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
%C%_semantics_LDADD = -lpvm3
%C%_strangers_LDADD = -lpvm3
%C%_traffic_LDADD = -lpvm3
if SHARED
noinst_LTLIBRARIES += %D%/another.la %D%/newer.la
%C%_another_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-rpath /nowhere
%C%_newer_la_LDFLAGS = $(%C%_another_la_LDFLAGS)
endif
endif
