# SPDX-License-Identifier: MIT
# Storms: random lives of small clusters, by seeds; crew.c is their program.
crew = %D%/crew.c %D%/storm.h %D%/trial.c %D%/trial.h
cluster_storm = $(crew) %D%/cluster.c %D%/cluster.h
card_storms = %D%/cards
cluster_storms = %D%/ranks %D%/teams %D%/nodes
storms = $(card_storms) $(cluster_storms)
%C%_cards_SOURCES = $(crew) %D%/cards.c %D%/oracle.c %D%/oracle.h \
	%D%/weather.c %D%/weather.h $(card_world)
%C%_cards_LDADD = libsim.la libnicfw.la
%C%_ranks_SOURCES = $(cluster_storm) %D%/ranks.c $(adi_traffic)
%C%_ranks_LDADD = libsim.la libcheck.la $(LDADD)
%C%_teams_SOURCES = $(cluster_storm) %D%/teams.c $(coll_cases)
%C%_teams_LDADD = libsim.la libcheck.la $(LDADD)
%C%_nodes_SOURCES = $(cluster_storm) %D%/nodes.c %D%/oracle.c %D%/oracle.h \
	%D%/stream.c %D%/stream.h
%C%_nodes_LDADD = libsim.la libcheck.la $(LDADD)
check_PROGRAMS += $(storms)
system_tests += $(storms)
lone_tests += %D%/shapes.sh
dist_check_SCRIPTS += %D%/shapes.sh

SEEDS = 100000
soak: $(storms)
	for storm in $(storms); do ./$$storm --seeds $(SEEDS) || exit; done
.PHONY: soak
