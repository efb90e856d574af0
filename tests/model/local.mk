# SPDX-License-Identifier: MIT
# NAME.spin: a model, NAME.pml, searched by Spin; run tells more.
model_tests = %D%/agree.spin %D%/card.spin %D%/doorbell.spin %D%/hello.spin \
	%D%/leave.spin %D%/pair.spin %D%/paths.spin %D%/put.spin %D%/rails.spin %D%/sleep.spin
system_tests += $(model_tests)
EXTRA_DIST += %D%/run $(model_tests) $(model_tests:.spin=.pml) \
	$(model_tests:.spin=.mutants)
