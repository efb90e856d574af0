/* SPDX-License-Identifier: MIT */
/*
 * What befalls cards in a storm, step by step: as chance writes it, or as a
 * script says. A line of one is a word and the fields that it needs, like
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
	WEATHER_PORT,	 /* its second one closes, or opens */
	WEATHER_ISOLATE, /* or takes back */
	WEATHER_MOVE,
	WEATHER_FRAMES, /* what befalls them from now on */
	WEATHER_KINDS
};

struct weather {
	enum weather_kind kind;
	uint32_t step;
	uint32_t card, to, rail;
	uint32_t back; /* ISOLATE: taken back at once */
	/* FRAMES: per mille; ns that those of the rail are late, at most */
	uint32_t drop, duplicate, reorder, corrupt, busy;
	uint64_t late;
};

/* What a storm consists of, and whom chance lets it befall. */
struct weather_place {
	uint32_t card, to, cards, rails;
};

void weather_draw(struct weather *weather, uint64_t *random,
		  const struct weather_place *place);
void weather_print(const struct weather *weather, FILE *to);
/* One for each line, at most `most`; *n: how many. False: *error says why. */
bool weather_read(struct weather *weather, size_t most, size_t *n,
		  const struct weather_place *place, const char *name, FILE *in,
		  char error[SIM_ERROR_SIZE]);

#endif
