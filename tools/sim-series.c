/* SPDX-License-Identifier: MIT */
/* Runs the rounds of a pattern on the ranks that take part, and
 * measures them. */
#include <bcl/coll.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/team.h"
#include "sim/fail.h"
#include "sim/random.h"
#include "sim/world.h"
#include "tools/sim.h"

enum {
	WARM_UP = 2, /* rounds before the measurement */
};

/* ---- a rank ---- */

/* A barrier of all ranks that takes no virtual time, whatever is in flight. */
static enum bcl_status line_up(const struct sim_part *part)
{
	/* First let the clock reach the rank's time: the last rank to get there
	 * releases all. */
	sim_compute(sim_job_world(part->self->job), 0);
	return bcl_boot_fence(&part->self->boot);
}

/* A barrier of all ranks, members or not. */
static enum bcl_status meet_ranks(const struct sim_part *part)
{
	if (part->series->together)
		return line_up(part);
	return part->port ? bcl_boot_fence(&part->self->boot)
			  : bcl_barrier(part->world);
}

static bool takes_part(const struct sim_part *part)
{
	return part->member && (!part->series->pattern->pair || !part->rank ||
				part->rank == part->ranks - 1);
}

/* True if the rank goes from round to round, even only to wait. */
static bool takes_turns(const struct sim_part *part)
{
	return takes_part(part) || part->series->together;
}

static enum bcl_status some_rounds(struct sim_part *part,
				   struct sim_series *series, unsigned n)
{
	const struct sim_pattern *pattern = series->pattern;
	enum bcl_status status = BCL_OK;
	unsigned i;

	for (i = 0; i < n && !status; i++) {
		if (takes_part(part))
			status = pattern->run(part);
		series->done += !part->rank;
		if (!status && series->together)
			status = line_up(part);
	}
	return status;
}

static enum bcl_status one_size(struct sim_part *part,
				const struct bcl_env *env,
				struct sim_series *series, unsigned size)
{
	enum bcl_status status = BCL_OK;
	uint64_t spent = 0, begun, ended;

	part->size = series->size[size];
	part->spent = &spent;
	if (takes_turns(part))
		status = some_rounds(part, series, WARM_UP);
	if (!status)
		status = meet_ranks(part);
	if (status || !takes_turns(part))
		return status;
	spent = 0;
	begun = env->now(env->world);
	if (series->begun[size] > begun)
		series->begun[size] = begun;
	status = some_rounds(part, series, series->repeat);
	ended = env->now(env->world);
	if (series->ended[size] < ended)
		series->ended[size] = ended;
	if (spent)
		series->spent[size] = spent;
	return status;
}

static enum bcl_status all_sizes(struct sim_part *part,
				 const struct bcl_env *env,
				 struct sim_series *series)
{
	enum bcl_status status = BCL_OK;
	unsigned i;

	for (i = 0; i < series->nsizes && !status; i++)
		status = one_size(part, env, series, i);
	return status ? status : meet_ranks(part);
}

/* Runs all sizes. The first member also measures the load of links. */
static enum bcl_status take_part(struct sim_part *part,
				 struct sim_series *series)
{
	struct sim_rank *rank = part->self;
	struct sim_world *world = sim_job_world(rank->job);
	enum bcl_status status = meet_ranks(part);
	bool first = part->member && !part->rank;

	if (!status && first)
		sim_load_open(&series->load, series->cluster,
			      sim_job_fabric(rank->job),
			      sim_world_clock(world));
	if (!status)
		status = all_sizes(part, rank->env, series);
	if (!status && first)
		sim_load_stop(&series->load);
	return status;
}

static uint64_t read_counter(struct bcl_context *context, const char *name)
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

unsigned sim_part_rank(const struct sim_part *part, unsigned member)
{
	const struct sim_series *series = part->series;

	return member / series->ranks * series->cluster->ranks +
	       member % series->ranks;
}

/* Finds out whether the rank takes part, and its number among members. */
static void find_place(struct sim_part *part)
{
	const struct sim_series *series = part->series;
	unsigned rank = part->self->boot.rank, all = series->cluster->ranks;

	part->ranks = series->nodes * series->ranks;
	part->near = series->ranks;
	part->member = rank / all < series->nodes && rank % all < part->near;
	part->rank = rank / all * part->near + rank % all;
}

static enum bcl_status by_ports(struct sim_part *part,
				struct sim_series *series)
{
	enum bcl_status status;

	status = sim_port_open(part->self, &part->port);
	if (status)
		return status;
	status = take_part(part, series);
	series->again += read_counter(sim_port_context(part->port),
				      "card.retransmitted");
	if (series->leave || status)
		sim_port_close(part->port);
	return status;
}

/* Makes a team of the ranks that take part. */
static enum bcl_status make_team(struct sim_part *part)
{
	unsigned *ranks, i;
	enum bcl_status status;

	part->team = part->world;
	if (part->ranks == bcl_team_size(part->world) || !part->member)
		return BCL_OK;
	ranks = sim_need(calloc(part->ranks, sizeof(*ranks)));
	for (i = 0; i < part->ranks; i++)
		ranks[i] = sim_part_rank(part, i);
	status = bcl_team_create(part->world, ranks, part->ranks, 0,
				 &part->team);
	free(ranks);
	return status;
}

static void leave_series(struct sim_part *part)
{
	if (part->team != part->world)
		bcl_team_free(part->team);
	if (part->world)
		bcl_team_free(part->world);
	sim_rank_leave(part->adi);
}

static enum bcl_status by_teams(struct sim_part *part,
				struct sim_series *series)
{
	enum bcl_status status = sim_rank_join(part->self, &part->adi);

	if (status)
		return status;
	status = bcl_team_world(part->adi, &part->world);
	if (!status)
		status = make_team(part);
	if (!status && series->algorithm && part->member)
		status = bcl_team_force(part->team, series->forced,
					series->algorithm);
	if (!status)
		status = take_part(part, series);
	series->again +=
		read_counter(bcl_adi_context(part->adi), "card.retransmitted");
	if (series->leave || status)
		leave_series(part);
	return status;
}

void sim_series_run(struct sim_rank *rank)
{
	struct sim_series *series = rank->arg;
	struct sim_part part = { .series = series, .self = rank };
	enum bcl_status status;

	if (rank->life)
		return; /* the rank crashed during the series */
	find_place(&part);
	status = series->pattern->port ? by_ports(&part, series)
				       : by_teams(&part, series);
	if (!status)
		series->complete++;
	else if (!series->failed++)
		series->status = status;
}

/* ---- the series ---- */

unsigned sim_series_total(const struct sim_series *series)
{
	return series->nsizes * (WARM_UP + series->repeat);
}

/* Draws a random cycle over all ranks: each rank sends to the next. No rank
 * sends to itself, unless it is alone. */
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
	uint32_t ranks = series->nodes * series->ranks;
	size_t longest = 1, i;

	sim_figures(series->cluster, series->nodes, series->ranks,
		    &series->machine);
	series->is_measured =
		sim_figures_measured(series->cluster, series->nodes,
				     series->ranks, &series->measured);
	if (series->pattern->bounded)
		sim_cuts_find(series->cluster, series->nodes,
			      series->pattern->far ? series->nodes / 2 : 1,
			      &series->cuts);
	for (i = 0; i < series->nsizes; i++) {
		series->begun[i] = UINT64_MAX;
		if (longest < series->size[i])
			longest = series->size[i];
	}
	if (series->pattern->blocks)
		longest *= ranks;
	series->send = sim_need(calloc(1, longest));
	series->receive = sim_need(calloc(1, longest));
	series->ports = sim_need(
		calloc((size_t)series->cluster->nodes * series->cluster->ranks,
		       sizeof(*series->ports)));
	series->to = sim_need(calloc(ranks, sizeof(*series->to)));
	series->from = sim_need(calloc(ranks, sizeof(*series->from)));
	draw_pairs(series, ranks, seed);
}

void sim_series_close(struct sim_series *series)
{
	unsigned all = series->cluster->nodes * series->cluster->ranks, i;

	if (series->load.clock)
		sim_load_close(&series->load);
	for (i = 0; i < all; i++)
		sim_port_free(series->ports[i]);
	free(series->send);
	free(series->receive);
	free(series->ports);
	free(series->to);
	free(series->from);
}

double sim_series_time(const struct sim_series *series, unsigned size)
{
	uint64_t ns = series->pattern->alone
			      ? series->spent[size]
			      : series->ended[size] - series->begun[size];

	return (double)ns / 1000 / series->repeat / series->pattern->trips;
}

/* The lower bound on a round. */
struct least {
	double us; /* 0: not known */
	/* The cut whose links set the bound; NULL: the nodes set it. */
	const struct sim_cut *cut;
};

static struct least least_time(const struct sim_series *series,
			       const struct sim_machine *machine, size_t length)
{
	const struct sim_pattern *pattern = series->pattern;
	struct least least = { 0 };
	const struct sim_cut *cut;
	double us;

	if (!pattern->bounded)
		return least;
	/* All ranks of a node send to another node. */
	least.us = pattern->operation == SIM_SHIFT
			   ? sim_bound_stream(machine, machine->ranks, length)
			   : sim_bound(machine, pattern->operation, length);
	us = sim_cuts_bound(&series->cuts, machine, pattern->operation, length,
			    &cut);
	if (us > least.us)
		least = (struct least){ us, cut };
	return least;
}

/* Prints the bound and the ratio of the time to the bound. */
static void print_bound(const struct sim_series *series, FILE *to,
			unsigned size, const struct sim_machine *machine)
{
	double us = least_time(series, machine, series->size[size]).us;

	if (us > 0)
		fprintf(to, " %12.3f %8.2f", us,
			sim_series_time(series, size) / us);
}

/* Prints the cut for each size whose bound is set by links. */
static void print_cuts(const struct sim_series *series, FILE *to,
		       const char *column, const struct sim_machine *machine)
{
	unsigned i;

	for (i = 0; i < series->nsizes; i++) {
		const struct sim_cut *cut =
			least_time(series, machine, series->size[i]).cut;

		if (cut)
			fprintf(to,
				"%s of %zu bytes: between %u nodes and %u "
				"others pass %.1f MB/s each way\n",
				column, series->size[i], cut->near, cut->far,
				cut->rate / 1.048576);
	}
}

void sim_series_print(const struct sim_series *series, FILE *to)
{
	double ranks = (double)series->nodes * series->ranks;
	double volume = series->pattern->volume(ranks);
	unsigned i;

	fprintf(to, "%10s %12s %12s %12s %8s", "bytes", "us", "MB/s",
		"bound us", "times");
	if (series->is_measured)
		fprintf(to, " %12s %8s", "measured us", "times");
	putc('\n', to);
	for (i = 0; i < series->nsizes; i++) {
		double bytes = volume * (double)series->size[i];
		double us = sim_series_time(series, i);

		fprintf(to, "%10zu %12.3f", series->size[i], us);
		if (bytes > 0 && us > 0)
			fprintf(to, " %12.3f", bytes / us / 1.048576);
		else
			fprintf(to, " %12s", "-");
		print_bound(series, to, i, &series->machine);
		if (series->is_measured)
			print_bound(series, to, i, &series->measured);
		putc('\n', to);
	}
	print_cuts(series, to, "bound us", &series->machine);
	if (series->is_measured)
		print_cuts(series, to, "measured us", &series->measured);
}
