/* SPDX-License-Identifier: MIT */
/* The patterns of bcl-sim: traffic by the ADI, collectives, and patterns by
 * ports. */
#include <bcl/coll.h>
#include <string.h>

#include "tools/sim.h"

enum {
	TAG = 1,
};

/* ---- patterns ---- */

static enum bcl_status exchange_messages(const struct sim_part *part,
					 unsigned to, unsigned from)
{
	struct bcl_adi_request *requests[2] = { NULL, NULL };
	int source = (int)sim_part_rank(part, from);
	int target = (int)sim_part_rank(part, to);
	enum bcl_status status;

	status = bcl_adi_irecv(part->adi, part->series->receive, part->size,
			       source, TAG, 0, &requests[0]);
	if (!status)
		status =
			bcl_adi_isend(part->adi, part->series->send, part->size,
				      target, TAG, 0, &requests[1]);
	return status ? status : bcl_adi_waitall(part->adi, requests, 2, NULL);
}

static enum bcl_status ping_pong(const struct sim_part *part)
{
	unsigned last = part->ranks - 1;
	int other = (int)sim_part_rank(part, part->rank ? 0 : last);
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

static enum bcl_status shift(const struct sim_part *part)
{
	return exchange_messages(part, (part->rank + part->near) % part->ranks,
				 (part->rank + part->ranks - part->near) %
					 part->ranks);
}

static enum bcl_status shift_far(const struct sim_part *part)
{
	unsigned nodes = part->ranks / part->near;
	unsigned half = nodes / 2 * part->near;

	return exchange_messages(part, (part->rank + half) % part->ranks,
				 (part->rank + part->ranks - half) %
					 part->ranks);
}

static enum bcl_status random_pairs(const struct sim_part *part)
{
	return exchange_messages(part, part->series->to[part->rank],
				 part->series->from[part->rank]);
}

static enum bcl_status barrier(const struct sim_part *part)
{
	return bcl_barrier(part->team);
}

static enum bcl_status broadcast(const struct sim_part *part)
{
	return bcl_broadcast(part->team, part->series->receive, part->size, 0);
}

static enum bcl_status reduce(const struct sim_part *part)
{
	return bcl_reduce(part->team, part->series->send, part->series->receive,
			  part->size, bcl_reduction(BCL_BXOR, BCL_UINT8), 0);
}

static enum bcl_status allreduce(const struct sim_part *part)
{
	return bcl_allreduce(part->team, part->series->send,
			     part->series->receive, part->size,
			     bcl_reduction(BCL_BXOR, BCL_UINT8));
}

static enum bcl_status gather(const struct sim_part *part)
{
	return bcl_gather(part->team, part->series->send, part->size,
			  part->series->receive, 0);
}

static enum bcl_status scatter(const struct sim_part *part)
{
	return bcl_scatter(part->team, part->series->send,
			   part->series->receive, part->size, 0);
}

static enum bcl_status allgather(const struct sim_part *part)
{
	return bcl_allgather(part->team, part->series->send, part->size,
			     part->series->receive);
}

static enum bcl_status alltoall(const struct sim_part *part)
{
	return bcl_alltoall(part->team, part->series->send,
			    part->series->receive, part->size);
}

static double no_message(double ranks)
{
	(void)ranks;
	return 0;
}

static double one_message(double ranks)
{
	(void)ranks;
	return 1;
}

static double one_per_rank(double ranks)
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
	{ "ping-pong", "the first and the last rank, one way", ping_pong,
	  one_message, .trips = 2, .pair = true },
	{ "shift", "everyone to its like on the next node", shift, one_per_rank,
	  .trips = 1, .bounded = true, .operation = SIM_SHIFT },
	{ "far-shift", "everyone to its like half of the nodes on", shift_far,
	  one_per_rank, .trips = 1, .far = true, .bounded = true,
	  .operation = SIM_SHIFT },
	{ "random", "everyone to somebody, and from somebody", random_pairs,
	  one_per_rank, .trips = 1 },
	{ "barrier", "bcl_barrier()", barrier, no_message, .trips = 1,
	  .bounded = true, .operation = SIM_BARRIER },
	{ "broadcast", "bcl_broadcast()", broadcast, each_but_one, .trips = 1,
	  .bounded = true, .operation = SIM_BROADCAST },
	{ "reduce", "bcl_reduce()", reduce, each_but_one, .trips = 1,
	  .bounded = true, .operation = SIM_REDUCE },
	{ "allreduce", "bcl_allreduce()", allreduce, each_but_one, .trips = 1,
	  .bounded = true, .operation = SIM_ALLREDUCE },
	{ "gather", "bcl_gather()", gather, each_but_one, .trips = 1,
	  .blocks = true, .bounded = true, .operation = SIM_GATHER },
	{ "scatter", "bcl_scatter()", scatter, each_but_one, .trips = 1,
	  .blocks = true, .bounded = true, .operation = SIM_SCATTER },
	{ "allgather", "bcl_allgather()", allgather, each_pair, .trips = 1,
	  .blocks = true },
	{ "alltoall", "bcl_alltoall()", alltoall, each_pair, .trips = 1,
	  .blocks = true, .bounded = true, .operation = SIM_ALLTOALL },
	{ "message", "ping-pong of ports", sim_published_message, one_message,
	  .trips = 2, .pair = true, .port = true },
	{ "send", "what some sends take their port", sim_loggp_send,
	  one_message, .trips = SIM_LOGGP_FEW, .pair = true, .port = true,
	  .alone = true, .brief = true },
	{ "receive", "what a port takes for what has come", sim_loggp_receive,
	  one_message, .trips = 1, .pair = true, .port = true, .alone = true,
	  .brief = true },
	{ "stream", "from port to port, one behind the other", sim_loggp_stream,
	  one_message, .trips = SIM_LOGGP_MANY, .pair = true, .port = true,
	  .brief = true },
	{ "tree-broadcast", "by a binary tree of ports",
	  sim_published_broadcast, each_but_one, .trips = 1, .port = true },
	{ "tree-reduce", "the same, and combined", sim_published_reduce,
	  each_but_one, .trips = 1, .port = true },
	{ "flat-scatter", "from one port to each", sim_published_scatter,
	  each_but_one, .trips = 1, .port = true },
	{ "flat-gather", "from each port to one", sim_published_gather,
	  each_but_one, .trips = 1, .port = true },
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
		fprintf(to, "  %-14s %s\n", patterns[i].name, patterns[i].text);
}
