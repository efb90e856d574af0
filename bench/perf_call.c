/* SPDX-License-Identifier: MIT */
/* The table of the collective operations; see perf_call.h. */
#include "bench/perf_call.h"

#include <string.h>

static enum bcl_status barrier(const struct perf_call *c)
{
	return bcl_barrier(c->team);
}

static enum bcl_status broadcast(const struct perf_call *c)
{
	return bcl_broadcast(c->team, c->send, c->size, c->root);
}

static enum bcl_status reduce(const struct perf_call *c)
{
	return bcl_reduce(c->team, c->send, c->receive,
			  c->size / c->sum->element, c->sum, c->root);
}

static enum bcl_status allreduce(const struct perf_call *c)
{
	return bcl_allreduce(c->team, c->send, c->receive,
			     c->size / c->sum->element, c->sum);
}

static enum bcl_status reduce_scatter(const struct perf_call *c)
{
	return bcl_reduce_scatter(c->team, c->send, c->receive,
				  c->size / c->sum->element, c->sum);
}

static enum bcl_status scan(const struct perf_call *c)
{
	return bcl_scan(c->team, c->send, c->receive, c->size / c->sum->element,
			c->sum);
}

static enum bcl_status exscan(const struct perf_call *c)
{
	return bcl_exscan(c->team, c->send, c->receive,
			  c->size / c->sum->element, c->sum);
}

static enum bcl_status gather(const struct perf_call *c)
{
	return bcl_gather(c->team, c->send, c->size, c->receive, c->root);
}

static enum bcl_status scatter(const struct perf_call *c)
{
	return bcl_scatter(c->team, c->send, c->receive, c->size, c->root);
}

static enum bcl_status allgather(const struct perf_call *c)
{
	return bcl_allgather(c->team, c->send, c->size, c->receive);
}

static enum bcl_status alltoall(const struct perf_call *c)
{
	return bcl_alltoall(c->team, c->send, c->receive, c->size);
}

static enum bcl_status shift(const struct perf_call *c)
{
	return bcl_shift(c->team, c->send, c->receive, c->size, 1);
}

static enum bcl_status gatherv(const struct perf_call *c)
{
	return bcl_gatherv(c->team, c->send, c->size, c->receive, c->lengths,
			   c->offsets, c->root);
}

static enum bcl_status scatterv(const struct perf_call *c)
{
	return bcl_scatterv(c->team, c->send, c->lengths, c->offsets,
			    c->receive, c->size, c->root);
}

static enum bcl_status allgatherv(const struct perf_call *c)
{
	return bcl_allgatherv(c->team, c->send, c->size, c->receive, c->lengths,
			      c->offsets);
}

static enum bcl_status alltoallv(const struct perf_call *c)
{
	return bcl_alltoallv(c->team, c->send, c->lengths, c->offsets,
			     c->receive, c->lengths, c->offsets);
}

static const struct {
	const char *name;
	perf_call_function *function;
} calls[] = {
	{ "barrier", barrier },
	{ "broadcast", broadcast },
	{ "reduce", reduce },
	{ "allreduce", allreduce },
	{ "gather", gather },
	{ "scatter", scatter },
	{ "allgather", allgather },
	{ "alltoall", alltoall },
	{ "gatherv", gatherv },
	{ "scatterv", scatterv },
	{ "scan", scan },
	{ "allgatherv", allgatherv },
	{ "exscan", exscan },
	{ "alltoallv", alltoallv },
	{ "reduce_scatter", reduce_scatter },
	{ "shift", shift },
};

void perf_call_use(struct perf_call *call, size_t ranks, unsigned char *send,
		   unsigned char *receive, size_t *arrays)
{
	size_t i;

	for (i = 0; i < ranks; i++) {
		arrays[i] = call->size;
		arrays[ranks + i] = i * call->size;
	}
	call->send = send;
	call->receive = receive;
	call->lengths = arrays;
	call->offsets = arrays + ranks;
}

perf_call_function *perf_call_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].function;
	return NULL;
}
