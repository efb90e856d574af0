# SPDX-License-Identifier: MIT
# Traces written by hand: one that keeps every rule, and for each rule some
# that break it. compile.c tells their language.
check_PROGRAMS += %D%/compile
%C%_compile_LDADD = libtransport.la
system_tests += %D%/real.sh %D%/rules.sh
dist_check_SCRIPTS += %D%/real.sh %D%/rules.sh
EXTRA_DIST += %D%/start.trace %D%/good.trace %D%/bad
