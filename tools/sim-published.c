/* SPDX-License-Identifier: MIT */
/*
 * The patterns with which BCL-3 was measured (2001), by ports: ping-pong, and
 * collective operations whose messages are neither cut into pieces nor
 * overlapped. Trees go between nodes first, then inside each node; a reduction
 * goes the other way.
 */
#include "tools/sim.h"

enum bcl_status sim_published_message(const struct sim_part *part)
{
	const struct sim_series *series = part->series;
	unsigned other = sim_part_rank(part, part->rank ? 0 : part->ranks - 1);
	enum bcl_status status = BCL_OK;

	/* The sender prepares its receive while the message is in flight. */
	if (!part->rank)
		status = sim_port_put(part->port, other, series->send,
				      part->size);
	if (!status)
		status = sim_port_expect(part->port, series->receive,
					 part->size);
	if (!status)
		status = sim_port_take(part->port, other, part->size);
	if (!status && part->rank)
		status = sim_port_put(part->port, other, series->send,
				      part->size);
	return status;
}

/* ---- steps ---- */

static enum bcl_status send_message(const struct sim_part *part, unsigned to)
{
	return sim_port_send(part->port, sim_part_rank(part, to),
			     part->series->send, part->size);
}

static enum bcl_status receive_message(const struct sim_part *part,
				       unsigned from)
{
	return sim_port_receive(part->port, sim_part_rank(part, from),
				part->series->receive, part->size);
}

/* ---- trees ---- */

/* Trees over n ranks, `stride` apart from `first` on, the root. */
static enum bcl_status spread_tree(const struct sim_part *part, unsigned first,
				   unsigned stride, unsigned n)
{
	unsigned self = (part->rank - first) / stride, bit = 1;
	enum bcl_status status = BCL_OK;

	while (bit < n)
		bit *= 2;
	for (bit /= 2; bit && !status; bit /= 2) {
		unsigned other = first + (self ^ bit) * stride;

		if (self % bit || (self ^ bit) >= n)
			continue;
		status = self & bit ? receive_message(part, other)
				    : send_message(part, other);
	}
	return status;
}

static enum bcl_status collect_tree(const struct sim_part *part, unsigned first,
				    unsigned stride, unsigned n)
{
	unsigned self = (part->rank - first) / stride, bit;
	enum bcl_status status = BCL_OK;

	for (bit = 1; bit < n && !status; bit *= 2) {
		unsigned other = first + (self ^ bit) * stride;

		if (self & bit)
			return send_message(part, other);
		if ((self ^ bit) >= n)
			continue;
		status = receive_message(part, other);
		sim_port_move(part->port, part->size);
	}
	return status;
}

enum bcl_status sim_published_broadcast(const struct sim_part *part)
{
	unsigned first = part->rank / part->near * part->near;
	enum bcl_status status = BCL_OK;

	if (part->rank == first)
		status = spread_tree(part, 0, part->near,
				     part->ranks / part->near);
	return status ? status : spread_tree(part, first, 1, part->near);
}

enum bcl_status sim_published_reduce(const struct sim_part *part)
{
	unsigned first = part->rank / part->near * part->near;
	enum bcl_status status = collect_tree(part, first, 1, part->near);

	if (!status && part->rank == first)
		status = collect_tree(part, 0, part->near,
				      part->ranks / part->near);
	return status;
}

/* ---- root to each, each to root ---- */

static enum bcl_status
run_flat(const struct sim_part *part,
	 enum bcl_status (*root)(const struct sim_part *part, unsigned rank),
	 enum bcl_status (*other)(const struct sim_part *part, unsigned rank))
{
	enum bcl_status status = BCL_OK;
	unsigned i;

	if (part->rank)
		return other(part, 0);
	for (i = 1; i < part->ranks && !status; i++)
		status = root(part, i);
	sim_port_move(part->port, part->size); /* the root's own block */
	return status;
}

enum bcl_status sim_published_scatter(const struct sim_part *part)
{
	return run_flat(part, send_message, receive_message);
}

enum bcl_status sim_published_gather(const struct sim_part *part)
{
	return run_flat(part, receive_message, send_message);
}
