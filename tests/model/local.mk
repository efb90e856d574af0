# SPDX-License-Identifier: MIT
# NAME.spin: a model, NAME.pml, searched by Spin; run tells more.
model_tests = %D%/card.spin
system_tests += $(model_tests)
EXTRA_DIST += %D%/run %D%/card.mutants %D%/card.pml $(model_tests)
