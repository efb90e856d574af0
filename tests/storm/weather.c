/* SPDX-License-Identifier: MIT */
#include "weather.h"

#include <string.h>

#include "sim/random.h"

enum {
	LATE = 20 * 1000 * 1000, /* ns: a card may give up the rail */
};

#define FIELD(member) SIM_FIELD(struct weather, member)
#define CARD                                                   \
	{ "step", SIM_COUNT, FIELD(step), .needed = true },    \
	{                                                      \
		"card", SIM_COUNT, FIELD(card), .needed = true \
	}
#define PAIR                                               \
	CARD,                                              \
	{                                                  \
		"to", SIM_COUNT, FIELD(to), .needed = true \
	}

static const struct sim_field card_fields[] = { CARD, { .key = NULL } };
static const struct sim_field link_fields[] = { PAIR,
						{ "rail", SIM_COUNT,
						  FIELD(rail), .needed = true },
						{ .key = NULL } };
static const struct sim_field isolate_fields[] = {
	PAIR, { "back", SIM_COUNT, FIELD(back), .max = 1 }, { .key = NULL }
};
static const struct sim_field frames_fields[] = {
	{ "step", SIM_COUNT, FIELD(step), .needed = true },
	{ "drop", SIM_COUNT, FIELD(drop), .max = 1000 },
	{ "duplicate", SIM_COUNT, FIELD(duplicate), .max = 1000 },
	{ "reorder", SIM_COUNT, FIELD(reorder), .max = 1000 },
	{ "corrupt", SIM_COUNT, FIELD(corrupt), .max = 1000 },
	{ "busy", SIM_COUNT, FIELD(busy), .max = 1000 },
	{ "rail", SIM_COUNT, FIELD(rail) },
	{ "late", SIM_TIME, FIELD(late) },
	{ .key = NULL }
};

static const struct {
	const char *name;
	const struct sim_field *fields;
	unsigned weight; /* in draws */
} kinds[] = {
	[WEATHER_KILL] = { "kill", card_fields, 1 },
	[WEATHER_REVIVE] = { "revive", card_fields, 3 },
	[WEATHER_UNLINK] = { "unlink", link_fields, 1 },
	[WEATHER_LINK] = { "link", link_fields, 3 },
	[WEATHER_PORT] = { "port", card_fields, 2 },
	[WEATHER_ISOLATE] = { "isolate", isolate_fields, 1 },
	[WEATHER_MOVE] = { "move", card_fields, 1 },
	[WEATHER_FRAMES] = { "frames", frames_fields, 4 },
};

/* ---- chance ---- */

static uint32_t below(uint64_t *random, uint32_t n)
{
	return (uint32_t)(sim_random(random) % n);
}

static enum weather_kind draw_kind(uint64_t *random)
{
	unsigned total = 0, kind;
	uint32_t turn;

	for (kind = 0; kind < WEATHER_KINDS; kind++)
		total += kinds[kind].weight;
	turn = below(random, total);
	for (kind = 0; turn >= kinds[kind].weight; kind++)
		turn -= kinds[kind].weight;
	return kind;
}

void weather_draw(struct weather *weather, uint64_t *random,
		  const struct weather_place *place)
{
	static const uint32_t often[] = { 0, 0, 10, 50, 200 };

	weather->kind = draw_kind(random);
	weather->card = place->card;
	weather->to = place->to;
	weather->rail = below(random, place->rails);
	switch (weather->kind) {
	case WEATHER_PORT:
		weather->card = place->to;
		break;
	case WEATHER_ISOLATE:
		weather->back = below(random, 2);
		break;
	case WEATHER_FRAMES:
		weather->drop = often[below(random, 5)];
		weather->duplicate = often[below(random, 5)];
		weather->reorder = often[below(random, 5)];
		weather->corrupt = often[below(random, 5)];
		weather->busy = often[below(random, 4)];
		if (!below(random, 4))
			weather->late = below(random, LATE);
		break;
	default:
		break;
	}
}

/* ---- text ---- */

void weather_print(const struct weather *weather, FILE *to)
{
	fputs(kinds[weather->kind].name, to);
	sim_fields_print(to, kinds[weather->kind].fields, weather);
	putc('\n', to);
}

static bool read_line(struct sim_statement *statement,
		      const struct weather_place *place,
		      struct weather *weather)
{
	const char *names[WEATHER_KINDS + 1] = { NULL };
	unsigned kind;

	for (kind = 0; kind < WEATHER_KINDS; kind++)
		names[kind] = kinds[kind].name;
	for (kind = 0; kind < WEATHER_KINDS; kind++)
		if (!strcmp(names[kind], statement->word[0]))
			break;
	if (kind == WEATHER_KINDS)
		return sim_statement_expected(statement, names,
					      statement->word[0]);
	*weather = (struct weather){ .kind = kind };
	if (!sim_statement_words(statement, 1, "one word, then options") ||
	    !sim_statement_fill(statement, kinds[kind].fields, weather))
		return false;
	return (weather->card < place->cards && weather->to < place->cards &&
		weather->rail < place->rails) ||
	       sim_statement_refuse(statement,
				    "there are but %u cards and %u rails",
				    place->cards, place->rails);
}

bool weather_read(struct weather *weather, size_t most, size_t *n,
		  const struct weather_place *place, const char *name, FILE *in,
		  char error[SIM_ERROR_SIZE])
{
	struct sim_statement statement;

	*n = 0;
	sim_statement_open(&statement, name, in);
	while (sim_statement_next(&statement)) {
		if (*n == most) {
			sim_statement_refuse(
				&statement, "expected at most %zu lines", most);
			break;
		}
		if (!read_line(&statement, place, &weather[*n]))
			break;
		++*n;
	}
	strcpy(error, statement.error);
	sim_statement_close(&statement);
	return !*error;
}
