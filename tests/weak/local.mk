# SPDX-License-Identifier: MIT
# NAME.weak: code run in every way that the memory model allows; run tells more.
weak_tests = %D%/active.weak %D%/claim.weak %D%/completion.weak \
	%D%/flags.weak %D%/grant.weak %D%/litmus.weak %D%/lock.weak \
	%D%/pair.weak %D%/repost.weak %D%/skip.weak %D%/wake.weak
system_tests += $(weak_tests)
EXTRA_DIST += %D%/run $(weak_tests) %D%/active.mutants %D%/claim.mutants \
	%D%/completion.mutants %D%/flags.mutants %D%/grant.mutants \
	%D%/lock.mutants %D%/pair.mutants %D%/repost.mutants %D%/skip.mutants \
	%D%/wake.mutants
EXTRA_DIST += %D%/access.c %D%/explore.c %D%/explore.h %D%/graph.c \
	%D%/graph.h %D%/grow.c %D%/grow.h %D%/sequential.c %D%/trace.c %D%/weak.h
EXTRA_DIST += %D%/absent.c %D%/active.c %D%/claim.c %D%/completion.c \
	%D%/flags.c %D%/grant.c %D%/litmus.c %D%/lock.c %D%/pair.c %D%/pair.h \
	%D%/ports.c %D%/ports.h %D%/repost.c %D%/skip.c %D%/wake.c
