# SPDX-License-Identifier: MIT
# Jobs over several nodes; scripts/cluster makes them.
check_PROGRAMS += %D%/gap %D%/job %D%/without
%C%_gap_LDADD = libbcl.la
%C%_gap_LDFLAGS = $(AM_LDFLAGS) -no-install
%C%_job_LDADD = libbcl.la
%C%_job_LDFLAGS = $(AM_LDFLAGS) -no-install
%C%_without_LDADD =
cluster_scripts = %D%/addresses.sh %D%/demo.sh %D%/examples.sh %D%/nodes.sh %D%/paths.sh \
	%D%/rails.sh %D%/strangers.sh %D%/perf.sh %D%/killed.sh \
	%D%/frames.sh %D%/slurm.sh
system_tests += $(cluster_scripts)
dist_check_SCRIPTS += $(cluster_scripts)
EXTRA_DIST += %D%/running.bash
