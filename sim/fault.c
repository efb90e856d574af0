/* SPDX-License-Identifier: MIT */
/* Reads and prints scripts of faults, bcl-faults(5), and draws them
 * at random. */
#include "sim/fault.h"

#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"
#include "sim/frame_class.h"
#include "sim/random.h"

#define FAULT(member) SIM_FIELD(struct sim_fault, member)

/* Options that all faults of frames share, and options of faults of nodes. */
#define FRAMES                                                              \
	{ "frame", SIM_CHOICE, FAULT(frame), .names = sim_frame_classes },  \
		{ "from", SIM_COUNT_OR_ANY, FAULT(from),                    \
		  .standard = SIM_ANY },                                    \
		{ "to", SIM_COUNT_OR_ANY, FAULT(to), .standard = SIM_ANY }, \
		{ "nth", SIM_COUNT, FAULT(nth), .min = 1, .standard = 1 },  \
	{                                                                   \
		"count", SIM_COUNT, FAULT(count), .min = 1, .standard = 1   \
	}
#define WHILE                                 \
	{ "at", SIM_TIME, FAULT(at) },        \
	{                                     \
		"for", SIM_TIME, FAULT(lasts) \
	}
#define NODE                                                \
	{ "node", SIM_COUNT, FAULT(node), .needed = true }, \
		{ "sent", SIM_COUNT, FAULT(sent) }, WHILE

static const struct sim_field drop_fields[] = { FRAMES, { .key = NULL } };
static const struct sim_field reorder_fields[] = {
	FRAMES,
	{ "behind", SIM_COUNT, FAULT(behind), .min = 1, .standard = 1 },
	{ .key = NULL }
};
static const struct sim_field corrupt_fields[] = {
	FRAMES, { "bit", SIM_COUNT, FAULT(bit) }, { .key = NULL }
};
static const struct sim_field delay_fields[] = {
	FRAMES, { "by", SIM_TIME, FAULT(by), .needed = true }, { .key = NULL }
};
static const struct sim_field cut_fields[] = { { "link", SIM_COUNT, FAULT(link),
						 .needed = true },
					       WHILE,
					       { .key = NULL } };
static const struct sim_field unplug_fields[] = {
	NODE, { "rail", SIM_COUNT, FAULT(rail) }, { .key = NULL }
};
static const struct sim_field node_fields[] = { NODE, { .key = NULL } };
static const struct sim_field slow_fields[] = {
	NODE,
	{ "times", SIM_COUNT, FAULT(times), .needed = true, .min = 2 },
	{ .key = NULL }
};

static const struct {
	const char *name;
	const struct sim_field *fields;
	unsigned weight; /* in random scripts */
} kinds[] = {
	[SIM_FAULT_DROP] = { "drop", drop_fields, 8 },
	[SIM_FAULT_DUPLICATE] = { "duplicate", drop_fields, 4 },
	[SIM_FAULT_REORDER] = { "reorder", reorder_fields, 4 },
	[SIM_FAULT_CORRUPT] = { "corrupt", corrupt_fields, 4 },
	[SIM_FAULT_DELAY] = { "delay", delay_fields, 4 },
	[SIM_FAULT_CUT] = { "cut", cut_fields, 1 },
	[SIM_FAULT_UNPLUG] = { "unplug", unplug_fields, 1 },
	[SIM_FAULT_CRASH] = { "crash", node_fields, 1 },
	[SIM_FAULT_ISOLATE] = { "isolate", node_fields, 1 },
	[SIM_FAULT_SLOW] = { "slow", slow_fields, 1 },
	[SIM_FAULT_STALL] = { "stall", node_fields, 1 },
};

const char *sim_fault_name(enum sim_fault_kind kind)
{
	return kinds[kind].name;
}

static void add_fault(struct sim_faults *faults, const struct sim_fault *fault)
{
	faults->fault =
		sim_grow(faults->fault, faults->n, sizeof(*faults->fault));
	faults->fault[faults->n++] = *fault;
}

void sim_faults_free(struct sim_faults *faults)
{
	free(faults->fault);
	*faults = (struct sim_faults){ 0 };
}

/* ---- text ---- */

static bool check_below(struct sim_statement *statement, const char *what,
			uint32_t number, uint32_t bound)
{
	return number < bound || number == SIM_ANY ||
	       sim_statement_refuse(statement, "%s %u: the cluster has but %u",
				    what, number, bound);
}

static bool place_exists(struct sim_statement *statement,
			 const struct sim_fault *fault,
			 const struct sim_cluster *cluster)
{
	return check_below(statement, "node", fault->from, cluster->nodes) &&
	       check_below(statement, "node", fault->to, cluster->nodes) &&
	       check_below(statement, "node", fault->node, cluster->nodes) &&
	       check_below(statement, "rail", fault->rail, cluster->rails) &&
	       check_below(statement, "link", fault->link,
			   2 * cluster->ncables);
}

static bool read_fault(struct sim_statement *statement,
		       const struct sim_cluster *cluster,
		       struct sim_faults *faults)
{
	const char *names[SIM_FAULT_KINDS + 1] = { NULL };
	struct sim_fault fault = { 0 };
	unsigned kind;

	for (kind = 0; kind < SIM_FAULT_KINDS; kind++)
		names[kind] = kinds[kind].name;
	for (kind = 0; kind < SIM_FAULT_KINDS; kind++)
		if (!strcmp(names[kind], statement->word[0]))
			break;
	if (kind == SIM_FAULT_KINDS)
		return sim_statement_expected(statement, names,
					      statement->word[0]);
	fault.kind = kind;
	if (!sim_statement_words(statement, 1, "one word, then options") ||
	    !sim_statement_fill(statement, kinds[kind].fields, &fault) ||
	    !place_exists(statement, &fault, cluster))
		return false;
	if (fault.sent && fault.at)
		return sim_statement_refuse(statement,
					    "expected sent= or at=, not both");
	add_fault(faults, &fault);
	return true;
}

bool sim_faults_read(struct sim_faults *faults,
		     const struct sim_cluster *cluster, const char *name,
		     FILE *in, char error[SIM_ERROR_SIZE])
{
	struct sim_statement statement;
	bool good;

	*faults = (struct sim_faults){ 0 };
	sim_statement_open(&statement, name, in);
	while (sim_statement_next(&statement))
		if (!read_fault(&statement, cluster, faults))
			break;
	good = !*statement.error;
	if (!good) {
		strcpy(error, statement.error);
		sim_faults_free(faults);
	}
	sim_statement_close(&statement);
	return good;
}

void sim_faults_print(const struct sim_faults *faults, FILE *to)
{
	size_t i;

	for (i = 0; i < faults->n; i++) {
		const struct sim_fault *fault = &faults->fault[i];

		fputs(kinds[fault->kind].name, to);
		sim_fields_print(to, kinds[fault->kind].fields, fault);
		putc('\n', to);
	}
}

/* ---- random faults ---- */

static uint32_t draw_below(uint64_t *random, uint64_t bound)
{
	return (uint32_t)(sim_random(random) % bound);
}

/* From 1 to max; small numbers are as frequent as large ones. */
static uint64_t draw_size(uint64_t *random, uint64_t max)
{
	unsigned bits = 1;

	while (bits < 63 && 1ull << bits <= max)
		bits++;
	return 1 +
	       sim_random(random) % (1ull << draw_below(random, bits)) % max;
}

/* ns, in whole us. */
static uint64_t draw_time(uint64_t *random, uint64_t max)
{
	return 1000 * draw_size(random, max / 1000 + 1);
}

static uint64_t draw_moment(uint64_t *random, uint64_t end)
{
	return 1000 * (sim_random(random) % (end / 1000 + 1));
}

static enum sim_fault_kind draw_kind(uint64_t *random, unsigned allowed)
{
	unsigned total = 0, kind;
	uint32_t turn;

	for (kind = 0; kind < SIM_FAULT_KINDS; kind++)
		total += allowed >> kind & 1 ? kinds[kind].weight : 0;
	sim_check(total, "no kinds of faults");
	turn = draw_below(random, total);
	for (kind = 0;; kind++) {
		unsigned weight = allowed >> kind & 1 ? kinds[kind].weight : 0;

		if (turn < weight)
			return kind;
		turn -= weight;
	}
}

static void draw_frames(uint64_t *random, const struct sim_cluster *cluster,
			const struct sim_fault_mix *mix,
			struct sim_fault *fault)
{
	fault->frame = draw_below(random, SIM_FRAME_CLASSES);
	fault->from = fault->to = SIM_ANY;
	if (cluster->nodes > 1 && draw_below(random, 4)) {
		fault->from = draw_below(random, cluster->nodes);
		fault->to = draw_below(random, cluster->nodes - 1);
		fault->to += fault->to >= fault->from;
	}
	fault->nth = (uint32_t)draw_size(random, mix->frames);
	fault->count =
		draw_below(random, 4) ? 1 : (uint32_t)draw_size(random, 16);
	if (fault->kind == SIM_FAULT_REORDER)
		fault->behind = (uint32_t)draw_size(random, 16);
	if (fault->kind == SIM_FAULT_CORRUPT)
		fault->bit = (uint32_t)draw_size(random, 8 * 1024) - 1;
	if (fault->kind == SIM_FAULT_DELAY)
		fault->by = draw_time(random, mix->duration / 16);
}

static void draw_place(uint64_t *random, const struct sim_cluster *cluster,
		       const struct sim_fault_mix *mix, struct sim_fault *fault)
{
	uint64_t half = mix->duration / 2;

	fault->lasts = draw_time(random, half);
	if (fault->kind == SIM_FAULT_CUT) {
		fault->link = draw_below(random, 2 * cluster->ncables);
		fault->at = draw_moment(random, half);
		return;
	}
	fault->node = draw_below(random, cluster->nodes);
	if (draw_below(random, 2))
		fault->sent = (uint32_t)draw_size(random, mix->frames);
	else
		fault->at = draw_moment(random, half);
	if (fault->kind == SIM_FAULT_UNPLUG)
		fault->rail = draw_below(random, cluster->rails);
	if (fault->kind == SIM_FAULT_SLOW)
		fault->times = 2 + draw_below(random, 100);
}

void sim_faults_random(struct sim_faults *faults,
		       const struct sim_cluster *cluster,
		       const struct sim_fault_mix *mix)
{
	uint64_t random = mix->seed;
	unsigned i;

	sim_check(mix->frames, "faults of no frames");
	*faults = (struct sim_faults){ 0 };
	for (i = 0; i < mix->faults; i++) {
		struct sim_fault fault = { .kind = draw_kind(&random,
							     mix->kinds) };

		if (fault.kind < SIM_FAULT_CUT)
			draw_frames(&random, cluster, mix, &fault);
		else
			draw_place(&random, cluster, mix, &fault);
		add_fault(faults, &fault);
	}
}
