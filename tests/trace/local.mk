# SPDX-License-Identifier: MIT
# Traces written by hand: one that keeps every rule, and for each rule some
# that break it. compile.c tells their language.
check_PROGRAMS += %D%/compile %D%/simulated
%C%_compile_LDADD = libtransport.la
%C%_simulated_LDADD = libsim.la $(LDADD)
trace_scripts = %D%/real.sh %D%/rules.sh %D%/simulated.sh
lone_tests += $(trace_scripts)
dist_check_SCRIPTS += $(trace_scripts)
EXTRA_DIST += %D%/start.trace %D%/rails.trace %D%/good.trace \
	%D%/good-rails.trace %D%/good-damaged.trace %D%/good-early.trace %D%/good-lives.trace %D%/bad
