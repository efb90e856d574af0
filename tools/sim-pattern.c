/* SPDX-License-Identifier: MIT */
#include <bcl/coll.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"
#include "sim/random.h"
#include "tools/sim.h"

enum {
	WARM_UP = 2, /* rounds that are not measured */
	TAG = 1,
};

/* A rank's part of one round. */
struct part {
	struct bcl_adi *adi;
	struct bcl_team *team;
	const struct sim_series *series;
	size_t size;
	unsigned rank, ranks;
	unsigned near; /* ranks of a node */
};

struct sim_pattern {
	const char *name, *text;
	enum bcl_status (*run)(const struct part *part);
	/* How often the size is carried, of so many ranks. */
	double (*volume)(double ranks);
	unsigned trips; /* one after the other: the time is that of one */
	bool blocks;	/* a block of the size for each rank */
	bool pair;	/* of the first and the last rank alone */
};

/* ---- patterns ---- */

static enum bcl_status exchange(const struct part *part, unsigned to,
				unsigned from)
{
	struct bcl_adi_request *requests[2] = { NULL, NULL };
	enum bcl_status status;

	status = bcl_adi_irecv(part->adi, part->series->receive, part->size,
			       (int)from, TAG, 0, &requests[0]);
	if (!status)
		status =
			bcl_adi_isend(part->adi, part->series->send, part->size,
				      (int)to, TAG, 0, &requests[1]);
	return status ? status : bcl_adi_waitall(part->adi, requests, 2, NULL);
}

static enum bcl_status ping_pong(const struct part *part)
{
	int other = part->rank ? 0 : (int)part->ranks - 1;
	enum bcl_status status = BCL_OK;

	if (!part->rank)
		status = bcl_adi_send(part->adi, part->series->send, part->size,
				      other, TAG, 0);
	if (!status)
		status = bcl_adi_recv(part->adi, part->series->receive,
				      part->size, other, TAG, 0, NULL);
	if (!status && part->rank)
		status = bcl_adi_send(part->adi, part->series->send, part->size,
				      other, TAG, 0);
	return status;
}

static enum bcl_status shift(const struct part *part)
{
	return exchange(part, (part->rank + part->near) % part->ranks,
			(part->rank + part->ranks - part->near) % part->ranks);
}

static enum bcl_status random_pairs(const struct part *part)
{
	return exchange(part, part->series->to[part->rank],
			part->series->from[part->rank]);
}

static enum bcl_status barrier(const struct part *part)
{
	return bcl_barrier(part->team);
}

static enum bcl_status broadcast(const struct part *part)
{
	return bcl_broadcast(part->team, part->series->receive, part->size, 0);
}

static enum bcl_status reduce(const struct part *part)
{
	return bcl_reduce(part->team, part->series->send, part->series->receive,
			  part->size, bcl_reduction(BCL_BXOR, BCL_UINT8), 0);
}

static enum bcl_status allreduce(const struct part *part)
{
	return bcl_allreduce(part->team, part->series->send,
			     part->series->receive, part->size,
			     bcl_reduction(BCL_BXOR, BCL_UINT8));
}

static enum bcl_status gather(const struct part *part)
{
	return bcl_gather(part->team, part->series->send, part->size,
			  part->series->receive, 0);
}

static enum bcl_status scatter(const struct part *part)
{
	return bcl_scatter(part->team, part->series->send,
			   part->series->receive, part->size, 0);
}

static enum bcl_status allgather(const struct part *part)
{
	return bcl_allgather(part->team, part->series->send, part->size,
			     part->series->receive);
}

static enum bcl_status alltoall(const struct part *part)
{
	return bcl_alltoall(part->team, part->series->send,
			    part->series->receive, part->size);
}

static double nothing(double ranks)
{
	(void)ranks;
	return 0;
}

static double once(double ranks)
{
	(void)ranks;
	return 1;
}

static double each(double ranks)
{
	return ranks;
}

static double each_but_one(double ranks)
{
	return ranks - 1;
}

static double each_pair(double ranks)
{
	return ranks * (ranks - 1);
}

static const struct sim_pattern patterns[] = {
	{ "ping-pong", "the first and the last rank, one way", ping_pong, once,
	  .trips = 2, .pair = true },
	{ "shift", "everyone to its like on the next node", shift, each,
	  .trips = 1 },
	{ "random", "everyone to somebody, and from somebody", random_pairs,
	  each, .trips = 1 },
	{ "barrier", "bcl_barrier()", barrier, nothing, .trips = 1 },
	{ "broadcast", "bcl_broadcast()", broadcast, each_but_one, .trips = 1 },
	{ "reduce", "bcl_reduce()", reduce, each_but_one, .trips = 1 },
	{ "allreduce", "bcl_allreduce()", allreduce, each_but_one, .trips = 1 },
	{ "gather", "bcl_gather()", gather, each_but_one, .trips = 1,
	  .blocks = true },
	{ "scatter", "bcl_scatter()", scatter, each_but_one, .trips = 1,
	  .blocks = true },
	{ "allgather", "bcl_allgather()", allgather, each_pair, .trips = 1,
	  .blocks = true },
	{ "alltoall", "bcl_alltoall()", alltoall, each_pair, .trips = 1,
	  .blocks = true },
};

enum {
	PATTERNS = sizeof(patterns) / sizeof(*patterns)
};

const struct sim_pattern *sim_pattern_find(const char *name)
{
	unsigned i;

	for (i = 0; i < PATTERNS; i++)
		if (!strcmp(patterns[i].name, name))
			return &patterns[i];
	return NULL;
}

void sim_pattern_list(FILE *to)
{
	unsigned i;

	for (i = 0; i < PATTERNS; i++)
		fprintf(to, "  %-10s %s\n", patterns[i].name, patterns[i].text);
}

/* ---- a rank ---- */

static enum bcl_status some_rounds(struct part *part, struct sim_series *series,
				   unsigned n)
{
	const struct sim_pattern *pattern = series->pattern;
	enum bcl_status status = BCL_OK;
	unsigned i;

	for (i = 0; i < n && !status; i++) {
		status = pattern->run(part);
		series->done += !part->rank;
	}
	return status;
}

static enum bcl_status one_size(struct part *part, const struct bcl_env *env,
				struct sim_series *series, unsigned size)
{
	bool joins = !series->pattern->pair || !part->rank ||
		     part->rank == part->ranks - 1;
	enum bcl_status status = BCL_OK;
	uint64_t now;

	part->size = series->size[size];
	if (joins)
		status = some_rounds(part, series, WARM_UP);
	if (!status)
		status = bcl_barrier(part->team);
	if (status || !joins)
		return status;
	now = env->now(env->world);
	if (series->begun[size] > now)
		series->begun[size] = now;
	status = some_rounds(part, series, series->repeat);
	now = env->now(env->world);
	if (series->ended[size] < now)
		series->ended[size] = now;
	return status;
}

static enum bcl_status all_sizes(struct part *part, const struct bcl_env *env,
				 struct sim_series *series)
{
	enum bcl_status status = BCL_OK;
	unsigned i;

	for (i = 0; i < series->nsizes && !status; i++)
		status = one_size(part, env, series, i);
	return status ? status : bcl_barrier(part->team);
}

/* The first rank's part has the load of links measured, too. */
static enum bcl_status take_part(struct part *part, struct sim_rank *rank,
				 struct sim_series *series)
{
	struct sim_world *world = sim_job_world(rank->job);
	enum bcl_status status = bcl_barrier(part->team);

	if (!status && !part->rank)
		sim_load_open(&series->load, series->cluster,
			      sim_job_fabric(rank->job),
			      sim_world_clock(world));
	if (!status)
		status = all_sizes(part, rank->context.env, series);
	if (!status && !part->rank)
		sim_load_stop(&series->load);
	return status;
}

static uint64_t counter(struct bcl_context *context, const char *name)
{
	struct bcl_counter *counters;
	uint64_t value = 0;
	size_t n = 0, i;

	bcl_counters(context, NULL, &n);
	counters = sim_need(calloc(n, sizeof(*counters)));
	bcl_counters(context, counters, &n);
	for (i = 0; i < n; i++)
		if (!strcmp(counters[i].name, name))
			value = counters[i].value;
	free(counters);
	return value;
}

void sim_series_run(struct sim_rank *rank)
{
	struct sim_series *series = rank->arg;
	struct part part = { .series = series };
	enum bcl_status status = sim_rank_join(rank, &part.adi);

	if (status)
		goto failed;
	status = bcl_team_world(part.adi, &part.team);
	if (!status) {
		unsigned node;

		part.rank = bcl_team_rank(part.team);
		part.ranks = bcl_team_size(part.team);
		bcl_team_node(part.team, part.rank, &node, &part.near);
		status = take_part(&part, rank, series);
		bcl_team_free(part.team);
	}
	series->again +=
		counter(bcl_adi_context(part.adi), "card.retransmitted");
	sim_rank_leave(part.adi);
	if (!status)
		return;
failed:
	if (!series->failed++)
		series->status = status;
}

/* ---- the series ---- */

unsigned sim_series_total(const struct sim_series *series)
{
	return series->nsizes * (WARM_UP + series->repeat);
}

/* Nobody to itself, if there are others: the next but so many in a random
 * order. */
static void draw_pairs(struct sim_series *series, uint32_t ranks, uint64_t seed)
{
	uint32_t *order = sim_need(calloc(ranks, sizeof(*order))), i;

	for (i = 0; i < ranks; i++) {
		uint32_t place = (uint32_t)(sim_random(&seed) % (i + 1));

		order[i] = order[place];
		order[place] = i;
	}
	for (i = 0; i < ranks; i++) {
		uint32_t next = order[(i + 1) % ranks];

		series->to[order[i]] = next;
		series->from[next] = order[i];
	}
	free(order);
}

void sim_series_open(struct sim_series *series, uint64_t seed)
{
	uint32_t ranks = series->cluster->nodes * series->cluster->ranks;
	size_t longest = 1, i;

	for (i = 0; i < series->nsizes; i++) {
		series->begun[i] = UINT64_MAX;
		if (longest < series->size[i])
			longest = series->size[i];
	}
	if (series->pattern->blocks)
		longest *= ranks;
	series->send = sim_need(calloc(1, longest));
	series->receive = sim_need(calloc(1, longest));
	series->to = sim_need(calloc(ranks, sizeof(*series->to)));
	series->from = sim_need(calloc(ranks, sizeof(*series->from)));
	draw_pairs(series, ranks, seed);
}

void sim_series_close(struct sim_series *series)
{
	if (series->load.clock)
		sim_load_close(&series->load);
	free(series->send);
	free(series->receive);
	free(series->to);
	free(series->from);
}

double sim_series_time(const struct sim_series *series, unsigned size)
{
	return (double)(series->ended[size] - series->begun[size]) / 1000 /
	       series->repeat / series->pattern->trips;
}

void sim_series_print(const struct sim_series *series, FILE *to)
{
	double ranks = (double)series->cluster->nodes * series->cluster->ranks;
	double volume = series->pattern->volume(ranks);
	unsigned i;

	fprintf(to, "%10s %12s %12s\n", "bytes", "us", "MB/s");
	for (i = 0; i < series->nsizes; i++) {
		double bytes = volume * (double)series->size[i];
		double us = sim_series_time(series, i);

		fprintf(to, "%10zu %12.3f", series->size[i], us);
		if (bytes > 0)
			fprintf(to, " %12.3f", bytes / us / 1.048576);
		putc('\n', to);
	}
}
