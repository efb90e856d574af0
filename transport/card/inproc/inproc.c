/* SPDX-License-Identifier: MIT */
/* The table of the in-process host, with commands, ports, counters and the
 * state of rails. Turns are in turn.c, nodes in node.c. */
#include "transport/card/inproc/inproc.h"

#include <string.h>

#include "transport/log.h"

enum bcl_status bcl_inproc_command(struct bcl_inproc *host,
				   const struct bcl_control *control,
				   uint32_t *result)
{
	struct bcl_card_next next;
	enum bcl_status status;

	bcl_assert(bcl_inproc_is_locked(host));
	status = bcl_card_control(host->card, control, bcl_inproc_now(host),
				  result, &next);
	bcl_inproc_wants(host, &next);
	return status;
}

static enum bcl_status control_op(struct bcl_host *base,
				  struct bcl_host_seat *seat,
				  const struct bcl_control *control)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	enum bcl_status status;
	uint32_t result;

	bcl_inproc_lock(host, seat);
	status = bcl_inproc_command(host, control, &result);
	bcl_inproc_unlock(host, seat);
	return status;
}

static void run_exclusive(struct bcl_host *base, struct bcl_host_seat *seat,
			  void (*run)(void *arg), void *arg)
{
	struct bcl_inproc *host = bcl_inproc_of(base);

	bcl_inproc_lock(host, seat);
	run(arg);
	bcl_inproc_unlock(host, seat);
}

static void read_counters(struct bcl_host *base,
			  _Atomic uint64_t values[BCL_CARD_NCOUNTERS])
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	const uint64_t *own;
	unsigned i;

	bcl_inproc_lock(host, NULL);
	own = bcl_card_counters(host->card);
	for (i = 0; i < BCL_CARD_NCOUNTERS; i++)
		atomic_store_explicit(&values[i], own[i], memory_order_relaxed);
	bcl_inproc_unlock(host, NULL);
}

/* ---- ports ---- */

struct bcl_host_seat *bcl_inproc_seat_find(struct bcl_inproc *host,
					   uint16_t port, uint16_t number)
{
	unsigned i;

	for (i = 0; i < BCL_INPROC_PORTS; i++) {
		struct bcl_host_seat *seat =
			&host->seats[(port + i) % BCL_INPROC_PORTS];

		if (seat->number == number)
			return seat;
	}
	return NULL;
}

static uint32_t first_area(const struct bcl_inproc *host,
			   const struct bcl_host_seat *seat)
{
	return (uint32_t)(seat - host->seats) * BCL_INPROC_AREAS;
}

/* Tell the journal of a new port. Without memory for the journal the port is
 * closed again. */
static enum bcl_status
journal_new_port(struct bcl_inproc *host,
		 const struct bcl_host_area areas[BCL_HOST_AREAS],
		 const struct bcl_control *control)
{
	const struct bcl_control close = {
		.op = BCL_CTL_PORT_CLOSE,
		.port = { .number = control->port.number },
	};
	enum bcl_status status =
		bcl_journal_port_open(&host->journal, areas, control);
	uint32_t result;

	if (status)
		bcl_inproc_command(host, &close, &result);
	else
		bcl_inproc_journal_memory(host);
	return status;
}

static enum bcl_status
occupy_seat(struct bcl_inproc *host, struct bcl_port *port,
	    const struct bcl_host_area areas[BCL_HOST_AREAS],
	    struct bcl_control *control, struct bcl_host_seat *seat)
{
	uint32_t first = first_area(host, seat), handle = first + 1;
	struct bcl_port_indices *indices =
		(void *)areas[BCL_HOST_AREA_INDICES].address;
	enum bcl_status status;
	uint32_t result;

	seat->number = port->number;
	seat->bias = BCL_INPROC_BIASED + (uint32_t)(seat - host->seats);
	seat->port = port;
	seat->made = (const _Atomic uint32_t *)&indices->requests_made;
	seat->sleeping = (const _Atomic uint32_t *)&indices->sleeping;
	memcpy(&host->areas[first], areas, BCL_HOST_AREAS * sizeof(*areas));
	control->port.requests = handle + BCL_HOST_AREA_REQUESTS;
	control->port.sends = handle + BCL_HOST_AREA_SENDS;
	control->port.receives = handle + BCL_HOST_AREA_RECEIVES;
	control->port.blocks = handle + BCL_HOST_AREA_BLOCKS;
	control->port.indices = handle + BCL_HOST_AREA_INDICES;
	status = bcl_inproc_command(host, control, &result);
	if (!status && host->trace)
		status = journal_new_port(host, areas, control);
	if (status)
		seat->number = 0;
	return status;
}

static enum bcl_status
port_open(struct bcl_host *base, struct bcl_port *port,
	  const struct bcl_host_area areas[BCL_HOST_AREAS],
	  struct bcl_control *control, struct bcl_host_seat **result)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	enum bcl_status status = BCL_ERR_NOMEM;
	struct bcl_host_seat *seat;

	bcl_inproc_lock(host, NULL);
	seat = bcl_inproc_seat_find(host, port->number, 0);
	if (seat)
		status = occupy_seat(host, port, areas, control, seat);
	bcl_inproc_unlock(host, NULL);
	*result = seat;
	if (!seat)
		bcl_log(&host->context->config, BCL_LOG_ERROR, "card",
			"port %u of %u: a context has no more",
			BCL_INPROC_PORTS + 1, BCL_INPROC_PORTS);
	else if (status == BCL_ERR_NOMEM)
		bcl_log(&host->context->config, BCL_LOG_ERROR, "card",
			"no room for a port of %u channels: the ports of a "
			"context have %u together",
			port->nchannels,
			BCL_INPROC_PORTS * BCL_INPROC_CHANNELS);
	return status;
}

static void port_close(struct bcl_host *base, struct bcl_host_seat *seat)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	const struct bcl_control control = {
		.op = BCL_CTL_PORT_CLOSE,
		.port = { .number = seat->number },
	};
	uint32_t result;

	bcl_inproc_lock(host, NULL);
	bcl_inproc_command(host, &control, &result);
	if (host->trace) {
		bcl_journal_port_close(&host->journal, seat->number);
		bcl_inproc_journal_memory(host);
	}
	seat->number = 0;
	memset(&host->areas[first_area(host, seat)], 0,
	       BCL_HOST_AREAS * sizeof(*host->areas));
	bcl_inproc_unlock(host, NULL);
}

/* ---- rails ---- */

static bool same_limits(const struct bcl_rail_limits *a,
			const struct bcl_rail_limits *b)
{
	return a->mtu == b->mtu && a->burst == b->burst &&
	       a->window == b->window && a->small == b->small &&
	       a->bulk == b->bulk;
}

/*
 * Compute the limits of a rail, the least of all ends in use, and the ends that
 * work. Returns true if either has changed: connections then have to find out
 * by which end their peer is reached.
 */
static bool measure_rail(struct bcl_inproc *host, unsigned r)
{
	struct bcl_rail_limits least = { .mtu = UINT32_MAX };
	unsigned up = 0, e;
	bool changed;

	for (e = 0; e < host->nends; e++) {
		const struct bcl_inproc_end *own = &host->ends[e];
		const struct bcl_rail_limits *limits = &own->rail->limits;

		if (own->number != r)
			continue;
		up |= (unsigned)own->up << e;
		if (own->used && limits->mtu < least.mtu)
			least = *limits;
	}
	changed = up != host->rails[r].up ||
		  !same_limits(&least, &host->rails[r].limits);
	host->rails[r].up = up;
	host->rails[r].limits = least;
	return changed;
}

static void tell_rail(struct bcl_inproc *host, unsigned r)
{
	const struct bcl_inproc_rail *own = &host->rails[r];
	const struct bcl_rail_limits *limits = &own->limits;
	const struct bcl_control control = {
		.op = BCL_CTL_RAIL,
		.rail = { .number = r,
			  .up = own->up != 0,
			  .mtu = limits->mtu,
			  .burst = limits->burst,
			  .window = limits->window,
			  .small = limits->small,
			  .bulk = limits->bulk },
	};
	uint32_t result;

	bcl_inproc_command(host, &control, &result);
}

void bcl_inproc_tell_changes(struct bcl_inproc *host)
{
	unsigned r;

	host->grown = false;
	for (r = 0; r < host->nrails; r++)
		if (measure_rail(host, r))
			tell_rail(host, r);
}

static void check_rail_ends(struct bcl_host *base)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	unsigned e;

	bcl_inproc_lock(host, NULL);
	for (e = 0; e < host->nends; e++) {
		struct bcl_inproc_end *own = &host->ends[e];
		bool up = own->up;

		own->rail->check(own->rail, &up);
		if (up != own->up)
			bcl_log(&host->context->config, BCL_LOG_WARN, "card",
				"rail %u, %s on %s, is %s", own->number,
				own->rail->kind->name, own->rail->interface,
				up ? "up" : "down");
		own->up = up;
	}
	bcl_inproc_tell_changes(host);
	bcl_inproc_unlock(host, NULL);
}

const struct bcl_host_ops bcl_host_inproc = {
	.longs = 16,
	.open = bcl_inproc_open,
	.close = bcl_inproc_close,
	.port_open = port_open,
	.port_close = port_close,
	.doorbell = bcl_inproc_doorbell,
	.defer = bcl_inproc_defer,
	.control = control_op,
	.connect = bcl_inproc_connect,
	.node = bcl_inproc_node,
	.node_info = bcl_inproc_node_info,
	.poll = bcl_inproc_poll,
	.watch = check_rail_ends,
	.exclusive = run_exclusive,
	.counters = read_counters,
};
