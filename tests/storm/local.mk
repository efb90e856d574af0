# SPDX-License-Identifier: MIT
# Storms: random lives of small clusters of cards, by seeds.
storms = %D%/cards
%C%_cards_SOURCES = %D%/cards.c %D%/storm.c %D%/storm.h %D%/oracle.c %D%/oracle.h \
	$(card_world)
%C%_cards_LDADD = libnicfw.la
check_PROGRAMS += $(storms)
system_tests += $(storms) %D%/mutants.sh
EXTRA_DIST += %D%/cards.mutants %D%/mutants.sh

SEEDS = 100000
soak: $(storms)
	for storm in $(storms); do ./$$storm --seeds $(SEEDS) || exit; done
.PHONY: soak
