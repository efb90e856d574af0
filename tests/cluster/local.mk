# SPDX-License-Identifier: MIT
# Jobs over several nodes; scripts/cluster makes them.
check_PROGRAMS += %D%/gap %D%/job %D%/without
%C%_gap_LDADD = libbcl.la
%C%_gap_LDFLAGS = $(AM_LDFLAGS) -no-install
%C%_job_LDADD = libbcl.la
%C%_job_LDFLAGS = $(AM_LDFLAGS) -no-install
%C%_without_LDADD =
cluster_scripts = %D%/demo.sh %D%/examples.sh %D%/paths.sh %D%/perf.sh
system_tests += $(cluster_scripts)
cluster_patient = %D%/addresses.sh %D%/frames.sh %D%/killed.sh %D%/nodes.sh \
	%D%/rails.sh %D%/slurm.sh %D%/strangers.sh
lone_tests += $(cluster_patient)
dist_check_SCRIPTS += $(cluster_scripts) $(cluster_patient)
EXTRA_DIST += %D%/running.bash
