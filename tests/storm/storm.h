/* SPDX-License-Identifier: MIT */
/*
 * A storm: a few cards, traffic between all of their ports, and whatever can
 * befall them: frames lost, repeated, late, damaged; links and rails down;
 * cards that die without a word and come again; ports that close, that nobody
 * reads; nodes isolated and taken back. A seed decides all of it.
 *
 * When it is over the weather is fine again, and all that was asked must end.
 */
#ifndef BCL_TESTS_STORM_H
#define BCL_TESTS_STORM_H

#include <stdint.h>

/* What happened in it, so that nobody takes a lull for a storm. */
struct storm_log {
	unsigned long asked, done, failed, delivered;
	unsigned long retransmitted, refused, lost; /* as the cards count */
	unsigned long kills, closings, isolations;
};

/* Adds to *log. Ends the process with 1, saying why, if a rule was broken. */
void storm(uint64_t seed, struct storm_log *log);

#endif
