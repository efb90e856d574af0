/* SPDX-License-Identifier: MIT */
/* Messages between ranks by ports of their own, below the ADI; see sim.h. */
#include <stdlib.h>

#include "sim/fail.h"
#include "tools/sim.h"

enum {
	CHANNEL = 0,
	A_WHILE = 1000, /* ns to wait before a retry: no event reports that
			 * there is room */
};

static const uint64_t second = 1000000000; /* in ns */

enum {
	POSTED = 1, /* cookies */
	SENT,
};

struct sim_port {
	struct sim_series *series;
	struct sim_rank *rank;
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer **peer; /* [rank]; NULL: not opened */
	unsigned *heard;	/* [rank]: messages received and not yet
				 * consumed */
	unsigned filled, sent;	/* channel and send events not yet consumed */
	bool posted;
	bool closed;
	int object; /* on which the rank waits for ranks of the node */
};

static const struct sim_host_costs *host_costs(const struct sim_port *port)
{
	return &port->series->cluster->costs.host;
}

static uint64_t time_now(const struct sim_port *port)
{
	const struct bcl_env *env = port->rank->env;

	return env->now(env->world);
}

/*
 * True if a rank that has waited since `since` should give up. A port is not
 * told that a message for it is lost if the port never sent to the remote rank
 * and that rank polls no more. So a rank waits longer than cards take to give
 * each other up. Once another rank has failed, a second is enough, for the job
 * is broken.
 */
static bool is_too_long(const struct sim_port *port, uint64_t since)
{
	return time_now(port) - since >=
	       (port->series->failed ? second : 40 * second);
}

static void charge_time(const struct sim_port *port, uint64_t ns)
{
	sim_compute(sim_job_world(port->rank->job), ns);
}

/* Charges a side of a message for the layer above. */
static void work_above(const struct sim_port *port)
{
	charge_time(port, port->series->above / 2);
}

void sim_port_move(const struct sim_port *port, size_t length)
{
	charge_time(port, sim_costs_transfer(length, host_costs(port)->copy));
}

/* ---- opening and closing ---- */

static enum bcl_status publish_address(struct sim_port *port)
{
	struct bcl_boot *boot = &port->rank->boot;
	const struct bcl_port_options options = { .struct_size =
							  sizeof(options),
						  .channels = CHANNEL + 1 };
	uint8_t address[BCL_ADDRESS_MAX];
	enum bcl_status status;
	size_t length;

	status = bcl_port_open(port->context, &options, &port->port);
	if (!status)
		status = bcl_port_address(port->port, address, &length);
	if (!status)
		status = bcl_boot_put(boot, "port", address, length);
	return status ? status : bcl_boot_fence(boot);
}

enum bcl_status sim_port_open(struct sim_rank *rank, struct sim_port **result)
{
	const struct bcl_env *env = rank->env;
	struct sim_port *port = sim_need(calloc(1, sizeof(*port)));
	unsigned ranks = rank->boot.size;
	enum bcl_status status;

	port->series = rank->arg;
	port->series->ports[rank->boot.rank] = port;
	port->rank = rank;
	port->object = env->object_open(env->world);
	port->peer = sim_need(calloc(ranks, sizeof(*port->peer)));
	port->heard = sim_need(calloc(ranks, sizeof(*port->heard)));
	status = sim_rank_open(rank, &port->context);
	if (!status)
		status = publish_address(port);
	if (status)
		sim_port_close(port);
	else
		*result = port;
	return status;
}

/* Wakes the ranks of the node that wait for this rank. */
static void tell_neighbours(const struct sim_port *port)
{
	const struct bcl_env *env = port->rank->env;
	unsigned ranks = port->series->cluster->ranks;
	unsigned first = port->rank->boot.rank / ranks * ranks, i;

	for (i = first; i < first + ranks; i++) {
		const struct sim_port *other = port->series->ports[i];

		if (other && !other->closed)
			env->wake(env->world, other->object);
	}
}

void sim_port_close(struct sim_port *port)
{
	const struct bcl_env *env = port->rank->env;

	port->closed = true;
	tell_neighbours(port);
	bcl_close(port->context);
	env->object_close(env->world, port->object);
}

void sim_port_free(struct sim_port *port)
{
	if (!port)
		return;
	free(port->peer);
	free(port->heard);
	free(port);
}

struct bcl_context *sim_port_context(const struct sim_port *port)
{
	return port->context;
}

/* ---- events ---- */

static enum bcl_status handle_event(struct sim_port *port, uint64_t ns)
{
	struct bcl_event event;
	enum bcl_status status = bcl_wait(port->port, ns);

	if (!status)
		status = bcl_poll(port->port, &event);
	if (status == BCL_ERR_EMPTY || status == BCL_ERR_TIMEOUT ||
	    status == BCL_ERR_AGAIN)
		return BCL_OK;
	if (status)
		return status;
	if (event.kind == BCL_EVENT_MESSAGE)
		port->heard[event.immediate]++;
	else if (event.kind == BCL_EVENT_CHANNEL)
		port->filled++;
	else if (event.kind == BCL_EVENT_SENT)
		port->sent++;
	return event.status;
}

/* Waits until the count is above 0, then takes 1 off. */
static enum bcl_status await_count(struct sim_port *port, unsigned *count)
{
	uint64_t since = time_now(port);
	enum bcl_status status = BCL_OK;

	while (!*count && !status)
		status = is_too_long(port, since) ? BCL_ERR_TIMEOUT
						  : handle_event(port, second);
	*count -= !status;
	return status;
}

static enum bcl_status reach_peer(struct sim_port *port, unsigned rank)
{
	uint8_t address[BCL_ADDRESS_MAX];
	enum bcl_status status;
	size_t length;

	if (port->peer[rank])
		return BCL_OK;
	status = bcl_boot_get(&port->rank->boot, rank, "port", address,
			      sizeof(address), &length);
	return status ? status
		      : bcl_peer_open(port->port, address, length,
				      &port->peer[rank]);
}

/* ---- messages of the system channel ---- */

static enum bcl_status tell_peer(struct sim_port *port, unsigned to,
				 const void *bytes, size_t length)
{
	const struct iovec iov = { (void *)bytes, length };
	enum bcl_status status = reach_peer(port, to);

	work_above(port);
	while (!status) {
		status = bcl_send(port->peer[to], 0, port->rank->boot.rank,
				  &iov, length > 0, 0);
		if (status != BCL_ERR_AGAIN)
			break;
		status = handle_event(port, A_WHILE);
	}
	return status;
}

static enum bcl_status hear_peer(struct sim_port *port, unsigned from)
{
	enum bcl_status status = await_count(port, &port->heard[from]);

	work_above(port);
	return status;
}

/* ---- messages of the channel ---- */

static enum bcl_status post_receive(struct sim_port *port, void *bytes,
				    size_t length)
{
	enum bcl_status status = BCL_OK;

	if (!port->posted)
		status = bcl_post(port->port, CHANNEL, bytes, length, POSTED);
	port->posted = !status;
	return status;
}

static enum bcl_status fill_channel(struct sim_port *port, unsigned to,
				    const void *bytes, size_t length)
{
	enum bcl_status status = reach_peer(port, to);

	work_above(port);
	while (!status) {
		status = bcl_send_channel(port->peer[to], CHANNEL, bytes,
					  length, SENT);
		if (status != BCL_ERR_AGAIN)
			break;
		status = handle_event(port, A_WHILE);
	}
	return status;
}

static enum bcl_status await_filled(struct sim_port *port)
{
	enum bcl_status status = await_count(port, &port->filled);

	port->posted = false;
	work_above(port);
	return status;
}

/* ---- messages inside a node ---- */

/*
 * Messages go by memory that both ranks see. A long message is copied in and
 * out at the same time, piece by piece, so both sides take the time of a single
 * copy.
 */

static struct sim_port *neighbour_port(const struct sim_port *port,
				       unsigned rank)
{
	unsigned ranks = port->series->cluster->ranks;

	return rank / ranks == port->rank->boot.rank / ranks
		       ? port->series->ports[rank]
		       : NULL;
}

static enum bcl_status signal_neighbour(struct sim_port *port,
					struct sim_port *other)
{
	const struct bcl_env *env = port->rank->env;

	work_above(port);
	charge_time(port, host_costs(port)->send);
	if (other->closed)
		return BCL_ERR_DEAD;
	other->heard[port->rank->boot.rank]++;
	env->wake(env->world, other->object);
	return BCL_OK;
}

static enum bcl_status await_signal(struct sim_port *port,
				    const struct sim_port *other)
{
	const struct bcl_env *env = port->rank->env;
	unsigned *heard = &port->heard[other->rank->boot.rank];
	uint64_t since = time_now(port);

	while (!*heard) {
		if (other->closed)
			return BCL_ERR_DEAD;
		if (is_too_long(port, since))
			return BCL_ERR_TIMEOUT;
		env->clear(env->world, port->object);
		env->wait(env->world, port->object, time_now(port) + second);
	}
	--*heard;
	charge_time(port, host_costs(port)->receive);
	work_above(port);
	return BCL_OK;
}

/* The sender signals. For a long message the receiver answers that it is ready,
 * and the sender signals again when the data comes. */
static enum bcl_status meet_inside(struct sim_port *port,
				   struct sim_port *other, size_t length,
				   bool sends)
{
	unsigned steps = length < SIM_PORT_LONG ? 1 : 3, i;
	enum bcl_status status = BCL_OK;

	for (i = 0; i < steps && !status; i++)
		status = (i % 2 == 0) == sends ? signal_neighbour(port, other)
					       : await_signal(port, other);
	if (!status)
		sim_port_move(port, length);
	return status;
}

/* ---- messages ---- */

enum bcl_status sim_port_expect(struct sim_port *port, void *bytes,
				size_t length)
{
	return length < SIM_PORT_LONG ? BCL_OK
				      : post_receive(port, bytes, length);
}

enum bcl_status sim_port_put(struct sim_port *port, unsigned to,
			     const void *bytes, size_t length)
{
	return length < SIM_PORT_LONG ? tell_peer(port, to, bytes, length)
				      : fill_channel(port, to, bytes, length);
}

enum bcl_status sim_port_take(struct sim_port *port, unsigned from,
			      size_t length)
{
	return length < SIM_PORT_LONG ? hear_peer(port, from)
				      : await_filled(port);
}

enum bcl_status sim_port_send(struct sim_port *port, unsigned to,
			      const void *bytes, size_t length)
{
	struct sim_port *near = neighbour_port(port, to);
	enum bcl_status status;

	if (near)
		return meet_inside(port, near, length, true);
	if (length < SIM_PORT_LONG)
		return tell_peer(port, to, bytes, length);
	status = tell_peer(port, to, NULL, 0);
	if (!status)
		status = hear_peer(port, to);
	if (!status)
		status = fill_channel(port, to, bytes, length);
	return status ? status : await_count(port, &port->sent);
}

enum bcl_status sim_port_receive(struct sim_port *port, unsigned from,
				 void *bytes, size_t length)
{
	struct sim_port *near = neighbour_port(port, from);
	enum bcl_status status;

	if (near)
		return meet_inside(port, near, length, false);
	status = hear_peer(port, from);
	if (status || length < SIM_PORT_LONG)
		return status;
	status = post_receive(port, bytes, length);
	if (!status)
		status = tell_peer(port, from, NULL, 0);
	return status ? status : await_filled(port);
}
