/* SPDX-License-Identifier: MIT */
/*
 * The weather: changes that befall the cards in a storm, step by step. Chance
 * draws the changes, or a script lists them. A line of a script has the name of
 * a kind and the fields that this kind needs, for example
 * "link step=17 card=0 to=1 rail=1".
 */
#ifndef BCL_TESTS_WEATHER_H
#define BCL_TESTS_WEATHER_H

#include <stdio.h>

#include "sim/statement.h"

enum weather_kind {
	WEATHER_KILL,
	WEATHER_REVIVE,
	WEATHER_UNLINK,
	WEATHER_LINK,
	WEATHER_PORT,	 /* port 2 of the card closes, or opens */
	WEATHER_ISOLATE, /* the card isolates a node, or takes it back */
	WEATHER_MOVE,
	WEATHER_FRAMES, /* probabilities of faults of frames, from now on */
	WEATHER_KINDS
};

struct weather {
	enum weather_kind kind;
	uint32_t step;
	uint32_t card, to, rail;
	uint32_t back; /* ISOLATE: the card takes the node back at once */
	/* FRAMES: per mille; `late`: ns of additional delay on the rail */
	uint32_t drop, duplicate, reorder, corrupt, busy;
	uint64_t late;
};

/* The size of the storm, and the cards that the next change befalls. */
struct weather_place {
	uint32_t card, to, cards, rails;
};

void weather_draw(struct weather *weather, uint64_t *random,
		  const struct weather_place *place);
void weather_print(const struct weather *weather, FILE *to);
/* Reads a change per line, at most `most` of them; *n is their number. Returns
 * false on an error: *error holds the reason. */
bool weather_read(struct weather *weather, size_t most, size_t *n,
		  const struct weather_place *place, const char *name, FILE *in,
		  char error[SIM_ERROR_SIZE]);

#endif
