# SPDX-License-Identifier: MIT
# A test is a program or an .sh script that ends with 0 (passed), 77 (skipped:
# its last line says why) or anything else. Each has a time limit, so that a
# hang is a failure.
#
# unit_tests run in parallel and in the builds with sanitizers (in that for threads
# those that are thread_tests, too, suffice); lone_tests, which work for one
# processor at most, or wait, and need nothing that others use, in parallel in the
# ordinary build, more of them than there are processors; system_tests one at a time
# there; fuzz_tests where there is libFuzzer (fuzzers: those of this build). The
# build for addresses has assertions, as the other one with a sanitizer, and runs
# storms, too: those of cards, with LONG=1 all. With LONG=1 MPICH's own tests run
# on a library with assertions, too (mpi-check).
#
# Two tiers: "make check" does everything once. With LONG=1 in the environment,
# which is "make check-long", tests do more of the same: all sizes, more seeds.
# long_tests, scripts that do nothing else, run only then.
unit_tests =
thread_tests =
lone_tests =
system_tests =
long_tests =
fuzz_tests =
check_PROGRAMS += $(unit_tests)
TESTS = $(unit_tests) $(fuzzers) $(lone_tests) $(system_tests)

EXTRA_DIST += %D%/await.bash %D%/driver %D%/mutants.bash %D%/tier.h
TEST_SECONDS = 600
TEST_EXTENSIONS = .sh .fuzz .mpich .spin .weak
LOG_DRIVER = $(srcdir)/tests/driver
SH_LOG_DRIVER = $(LOG_DRIVER)
FUZZ_LOG_DRIVER = $(LOG_DRIVER)
MPICH_LOG_DRIVER = $(LOG_DRIVER)
SPIN_LOG_DRIVER = $(LOG_DRIVER)
WEAK_LOG_DRIVER = $(LOG_DRIVER)
LOG_COMPILER = $(TEST_WRAPPER) timeout --kill-after=10 $(TEST_SECONDS)
SH_LOG_COMPILER = $(LOG_COMPILER)
FUZZ_LOG_COMPILER = $(srcdir)/tests/fuzz/run
MPICH_LOG_COMPILER = timeout --kill-after=10 1200 $(srcdir)/tests/mpich/run
SPIN_LOG_COMPILER = $(LOG_COMPILER) $(srcdir)/tests/model/run
WEAK_LOG_COMPILER = $(LOG_COMPILER) $(srcdir)/tests/weak/run
AM_TESTS_ENVIRONMENT = \
	CK_DEFAULT_TIMEOUT=60; export CK_DEFAULT_TIMEOUT; \
	abs_top_srcdir='$(abs_top_srcdir)'; export abs_top_srcdir; \
	abs_top_builddir='$(abs_top_builddir)'; export abs_top_builddir;

# Programs without an _LDADD of their own are tests: they see the internals.
LDADD = $(libbcl_convenience) $(HWLOC_LIBS) $(PMIX_LIBS) $(CHECK_LIBS)

tests: $(check_PROGRAMS)
unit-check: $(unit_tests) $(fuzzers)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS \
		TESTS='$(unit_tests) $(fuzzers)'
assert-check: $(unit_tests) $(fuzzers) $(storms)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS="$(unit_tests) $(fuzzers) \
		$(card_storms) $${LONG:+$(cluster_storms)}"
thread-check: $(thread_tests)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(thread_tests)'
lone-check: $(check_PROGRAMS)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(lone_tests)'
system-check: $(check_PROGRAMS)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS \
		TESTS="$(system_tests) $${LONG:+$(long_tests)}"
mpi-check:
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(mpich_tests)'
check-long:
	LONG=1 $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(TESTS) $(long_tests)'
demo:
	$(srcdir)/scripts/demo .
.PHONY: tests unit-check assert-check thread-check lone-check system-check \
	mpi-check check-long demo
