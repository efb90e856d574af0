/* SPDX-License-Identifier: MIT */
/* Evaluates the bounds of doc/bounds.md in the LogGP model; see bound.h. */
#include "sim/bounds/bound.h"

#include <math.h>
#include <stdlib.h>

#include "sim/fail.h"

enum {
	PIECES = 256, /* most pieces that are tried */
	HALVINGS = 60,
};

double sim_bound_message(const struct sim_loggp *net, size_t length)
{
	double more = length ? (double)length - 1 : 0;

	return net->send + net->latency + more * net->byte + net->receive;
}

/* From the start of a message to the start of the next. */
static double message_interval(const struct sim_loggp *net, size_t length)
{
	double more = length ? (double)length - 1 : 0;

	return fmax(net->gap, net->send) + more * net->byte;
}

double sim_bound_stream(const struct sim_machine *machine, unsigned n,
			size_t length)
{
	const struct sim_loggp *net = &machine->between;

	if (machine->nodes == 1)
		return sim_bound_message(&machine->inside, length);
	return sim_bound_message(net, length) +
	       (n - 1) * message_interval(net, length);
}

/*
 * The times at which n processors have the message. Each processor that has the
 * message sends it on, again and again. First messages of receivers arrive in
 * the order in which the receivers got theirs, and so do later messages of the
 * senders.
 */
static double *arrival_times(unsigned n, double message, double next)
{
	double *at = sim_need(malloc(n * sizeof(*at)));
	unsigned i, first = 0, later = 1;

	at[0] = 0;
	for (i = 1; i < n; i++) {
		double new = at[first] + message;
		double old = later < i ? at[later] + next : new;

		if (old < new) {
			at[i] = old;
			later++;
		} else {
			at[i] = new;
			first++;
		}
	}
	return at;
}

double sim_bound_tree(const struct sim_loggp *net, unsigned n, size_t length)
{
	double *at = arrival_times(n, sim_bound_message(net, length),
				   message_interval(net, length));
	double last = at[n - 1];

	free(at);
	return last;
}

/* us from a rank of a node to another rank of the node: by a message inside the
 * node, or by the card, after the message for the first rank. */
static double step_inside(const struct sim_machine *machine, size_t length)
{
	double message = sim_bound_message(&machine->inside, length);

	if (machine->ranks == 1)
		return 0;
	if (machine->nodes == 1)
		return message;
	return fmin(message, machine->between.gap);
}

static double tree_bound(const struct sim_machine *machine)
{
	return sim_bound_tree(&machine->between, machine->nodes, 1);
}

/*
 * The least mean of ln(w - 1/2) over all trees with `edges` edges, where w is
 * the number of nodes that an edge delays. The first edge of the root counts as
 * ln(1/2). An edge delays two subtrees: the nodes that the receiver informs,
 * and the nodes that the sender informs later.
 */
static double least_logarithm(unsigned edges)
{
	double *least = sim_need(malloc((edges + 1) * sizeof(*least)));
	double parts = 0;
	unsigned n, i;

	least[0] = 0;
	for (n = 1; n <= edges; n++) {
		parts = least[0] + least[n - 1];
		for (i = 1; i <= (n - 1) / 2; i++)
			if (least[i] + least[n - 1 - i] < parts)
				parts = least[i] + least[n - 1 - i];
		least[n] = parts + log(n - 0.5);
	}
	free(least);
	return (parts + log(0.5)) / edges;
}

/*
 * A bound by the mean over the bytes of a vector: the time of all bytes before
 * or after a byte, the route of the byte, and the gaps between the messages
 * that carry the bytes.
 */
static double bound_mean(const struct sim_machine *machine, size_t length)
{
	const struct sim_loggp *net = &machine->between;
	double gap = net->gap - net->byte, others = machine->nodes - 1;
	double unit = gap * net->byte * (double)length, way = 0;
	double *at;
	unsigned i;

	if (gap <= 0)
		return 0;
	at = arrival_times(machine->nodes,
			   sim_bound_message(net, 1) - net->byte,
			   message_interval(net, 1) - net->byte);
	for (i = 1; i < machine->nodes; i++)
		way += at[i] / others;
	free(at);
	return (double)length * net->byte + way - gap +
	       4. / 3 * sqrt(unit * (others - 2) / (2 * others)) +
	       2 * sqrt(unit) *
		       exp((least_logarithm(machine->nodes - 1) - 1) / 2) +
	       step_inside(machine, 1);
}

/* A vector goes from one rank to all; reversed, from all to one. */
static double bound_vector(const struct sim_machine *machine, size_t length)
{
	const struct sim_loggp *net = &machine->between;
	double message = sim_bound_message(net, length);
	double deep = tree_bound(machine) - sim_bound_message(net, 1);
	double gap = net->gap - net->byte, low = deep, high;
	unsigned i;

	if (machine->nodes == 1)
		return step_inside(machine, length);
	if (machine->nodes == 2)
		return message + step_inside(machine, 1);
	/* `low` and `high` enclose the time beyond that of a message. */
	high = deep + length * net->byte;
	for (i = 0; i < HALVINGS && gap > 0; i++) {
		double more = (low + high) / 2, n, bytes;

		n = 1 + (double)(size_t)((more - deep) / gap);
		bytes = n * more / net->byte -
			n * (n - 1) / 2 * gap / net->byte + n;
		if (bytes < (double)length)
			low = more;
		else
			high = more;
	}
	return fmax(message + low + step_inside(machine, 1),
		    bound_mean(machine, length));
}

/* Every rank depends on every rank. */
static double bound_all(const struct sim_machine *machine)
{
	if (machine->nodes == 1)
		return step_inside(machine, 1);
	return 2 * step_inside(machine, 1) + tree_bound(machine);
}

/* A node sends or receives `bytes` bytes. */
static double bound_bytes(const struct sim_machine *machine, double bytes)
{
	const struct sim_loggp *net = &machine->between;

	if (machine->nodes == 1)
		net = &machine->inside;
	if (machine->nodes * machine->ranks == 1)
		return 0;
	return sim_bound_message(net, 1) + fmax(bytes - 1, 0) * net->byte;
}

static double bound_allreduce(const struct sim_machine *machine, size_t length)
{
	double n = machine->nodes > 1 ? machine->nodes : machine->ranks;
	double sent = 2 * (n - 1) / n; /* messages, and how often each byte is
					* sent */
	double bytes = bound_bytes(machine, sent * (double)length);

	if (machine->nodes > 1)
		bytes += (sent - 1) *
			 fmax(message_interval(&machine->between, 1) -
				      machine->between.byte,
			      0);
	return fmax(bound_all(machine), bytes);
}

/*
 * True if after `time` the root's card can have sent a block for each node, and
 * all blocks can have arrived. Each message of the root takes as many blocks as
 * the receiver can pass on in time, after the blocks of earlier messages.
 */
static int can_scatter(const struct sim_machine *machine, double bytes,
		       const double *arrivals, double time)
{
	const struct sim_loggp *net = &machine->between;
	double begin = sim_bound_message(net, 1) - net->byte;
	unsigned others = machine->nodes - 1, told = 0, n;

	for (; told < others;
	     told += n, begin += message_interval(net, 1) - net->byte) {
		for (n = 0; told + n < others; n++)
			if (begin + (told + n + 1) * bytes * net->byte +
				    arrivals[n] >
			    time)
				break;
		if (!n)
			return 0;
	}
	return 1;
}

/* A block for each rank leaves the root. */
static double bound_rooted(const struct sim_machine *machine, size_t length)
{
	const struct sim_loggp *net = &machine->between;
	double ranks = machine->ranks, others = ranks * (machine->nodes - 1);
	double low, high, middle, *at;
	unsigned i;

	if (machine->nodes == 1)
		return fmax(step_inside(machine, 1),
			    bound_bytes(machine, (ranks - 1) * length));
	low = fmax(tree_bound(machine) + step_inside(machine, 1),
		   bound_bytes(machine, others * length));
	high = low + machine->nodes * message_interval(net, 1) +
	       others * length * net->byte;
	at = arrival_times(machine->nodes, sim_bound_message(net, 1),
			   message_interval(net, 1));
	if (can_scatter(machine, ranks * length, at, low))
		high = low;
	for (i = 0; i < HALVINGS && high > low; i++) {
		middle = (low + high) / 2;
		if (can_scatter(machine, ranks * length, at, middle))
			high = middle;
		else
			low = middle;
	}
	free(at);
	return low;
}

/* The number of ways in which n counts add up to at most `from`: C(from + n,
 * n). 0 if `from` is negative. */
static double combinations(double from, unsigned n)
{
	double all = 1;
	unsigned i;

	if (from < 0)
		return 0;
	for (i = 1; i <= n; i++)
		all *= (from + i) / i;
	return all;
}

/*
 * True if all blocks can be in place after `time`. A path of h messages takes h
 * message times plus the gaps before messages that are not the first of a
 * sender; in the node that owns the block, the gaps before one of `sent`
 * messages. So the number of paths to different nodes is limited. The blocks of
 * each node take the shortest paths, `sent` of them of a single message. The
 * card of the node then has that many gaps, and carries the bytes of a block
 * once per message of the path.
 */
static int can_exchange(const struct sim_machine *machine, double bytes,
			double sent, double time)
{
	const struct sim_loggp *net = &machine->between;
	double message = sim_bound_message(net, 1);
	double left = machine->nodes - 1 - sent, moved = sent;
	unsigned h;

	for (h = 2; left > 0; h++) {
		double spare = (time - h * message) / net->gap, paths;

		if (spare < 0)
			return 0;
		spare = (double)(size_t)spare;
		paths = fmin(combinations(spare, h) -
				     combinations(spare - sent, h),
			     left);
		left -= paths;
		moved += h * paths;
	}
	return message + (sent - 1) * (net->gap - net->byte) +
		       (moved * bytes - 1) * net->byte <=
	       time;
}

static double bound_alltoall(const struct sim_machine *machine, size_t length)
{
	double ranks = machine->ranks, n = machine->nodes, sent;
	double bytes = ranks * ranks * (double)length, all = bound_all(machine);
	double best;
	unsigned i;

	if (machine->nodes == 1)
		return fmax(all, bound_bytes(machine, (ranks - 1) * length));
	best = bound_bytes(machine, (n - 1) * bytes) +
	       (n - 2) * (machine->between.gap - machine->between.byte);
	for (sent = 1; sent < n - 1; sent++) {
		double low = 0, high = best;

		if (!can_exchange(machine, bytes, sent, high))
			continue;
		for (i = 0; i < HALVINGS; i++) {
			double middle = (low + high) / 2;

			if (can_exchange(machine, bytes, sent, middle))
				high = middle;
			else
				low = middle;
		}
		best = high;
	}
	return fmax(all, best);
}

double sim_bound(const struct sim_machine *machine,
		 enum sim_operation operation, size_t length)
{
	switch (operation) {
	case SIM_BROADCAST:
	case SIM_REDUCE:
		return bound_vector(machine, length);
	case SIM_ALLREDUCE:
		return bound_allreduce(machine, length);
	case SIM_SCATTER:
	case SIM_GATHER:
		return bound_rooted(machine, length);
	case SIM_SHIFT:
		return bound_bytes(machine, (double)length);
	case SIM_ALLTOALL:
		return bound_alltoall(machine, length);
	default:
		return bound_all(machine);
	}
}

/* The last piece begins its tree when the root has sent all pieces before. */
double sim_bound_pieces(const struct sim_machine *machine, size_t length)
{
	double best = 0;
	size_t n;

	for (n = 1; n <= PIECES && n <= length; n++) {
		size_t piece = length / n;
		double time =
			(double)(n - 1) *
				message_interval(&machine->between, piece) +
			sim_bound_tree(&machine->between, machine->nodes,
				       piece) +
			step_inside(machine, piece);

		if (n == 1 || time < best)
			best = time;
	}
	return fmax(best, bound_vector(machine, length));
}
