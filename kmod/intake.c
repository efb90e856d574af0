// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Doorbells: the kernel copies each new request once, to memory that the
 * process cannot write, pins the memory that the request names, and rings for
 * the core.
 */
#include <linux/nospec.h>
#include <linux/sched/signal.h>

#include "host.h"
#include "pin.h"

enum {
	TOGETHER = 32,	 /* requests in one turn */
	WRONG_OP = 0xff, /* of a request that the core completes with ARG */
};

/* True if the card has the request. The event of the request may be visible
 * already, in a turn that is not over: then the function waits for the turn. */
static bool is_busy(struct bcl_kmod_host *host,
		    const struct bcl_kmod_slot *slot)
{
	/* Acquire: pairs with settle(). */
	if (!smp_load_acquire(&slot->busy))
		return false;
	spin_lock_bh(&host->lock);
	spin_unlock_bh(&host->lock);
	return READ_ONCE(slot->busy);
}

static bool writes(const struct bcl_request *request)
{
	return request->op == BCL_REQ_GET || request->op == BCL_REQ_FETCH_ADD ||
	       request->op == BCL_REQ_COMPARE_SWAP;
}

/* Open the memory of a request, and replace the references by handles of the
 * core. Returns false if the card cannot have this memory. */
static bool open_refs(struct bcl_kmod_host *host,
		      const struct bcl_kmod_port *port, unsigned int seat,
		      u32 index, struct bcl_request *request)
{
	struct bcl_kmod_slot *slot = &port->slot[index];
	unsigned int r;

	if (request->nref > BCL_REQUEST_REFS)
		return false;
	for (r = 0; r < request->nref; r++) {
		struct bcl_memref *ref = &request->refs[r];

		if (bcl_kmod_span_open(host, port, ref->handle, ref->offset,
				       ref->length, writes(request),
				       &slot->span[r]))
			return false;
		ref->handle = bcl_kmod_request_handle(seat, index, r);
		ref->offset = 0;
	}
	return true;
}

/* Copy one request to the shadow. Returns false if its number is wrong. */
static bool take_request(struct bcl_kmod_host *host, struct bcl_kmod_port *port,
			 unsigned int seat, u32 index)
{
	const struct bcl_request *given =
		(const void *)port->area[BCL_AREA_REQUESTS];
	const u32 n = port->opened.port.nrequests;
	struct bcl_request *request;

	if (index >= n)
		return false;
	index = array_index_nospec(index, n);
	if (is_busy(host, &port->slot[index]))
		return false;
	request = &port->shadow[index];
	memcpy(request, &given[index], sizeof(*request));
	barrier(); /* from here on the kernel reads only the copy */
	request->node = bcl_kmod_node_index(request->node);
	if (!open_refs(host, port, seat, index, request)) {
		request->op = WRONG_OP;
		request->nref = 0;
	}
	/* Release: pairs with find_own(). */
	smp_store_release(&port->slot[index].busy, true);
	bcl_submits(port->shadow, n)[port->made++ & (n - 1)] = index;
	return true;
}

static void ring(struct bcl_kmod_host *host, const struct bcl_kmod_port *port)
{
	struct bcl_card_next next;

	bcl_kmod_enter(host);
	host->count.doorbells++;
	bcl_card_doorbell(host->card, port->opened.port.number, port->made,
			  ktime_get_ns(), BCL_KMOD_BUDGET, &next);
	bcl_kmod_wants(host, &next);
	bcl_kmod_leave(host);
}

static long take_all(struct bcl_kmod_host *host, struct bcl_kmod_port *port,
		     unsigned int seat)
{
	const struct bcl_port_indices *indices =
		(const void *)port->area[BCL_AREA_INDICES];
	const u32 n = port->opened.port.nrequests;
	const u32 *submits =
		bcl_submits((void *)port->area[BCL_AREA_REQUESTS], n);
	/* Acquire: pairs with the process's release of the requests. */
	u32 made = smp_load_acquire(&indices->requests_made), some;
	long status = BCL_OK;

	if (made - port->taken > n)
		return BCL_ERR_ARG;
	do {
		for (some = 0; some < TOGETHER && port->taken != made; some++) {
			u32 index = READ_ONCE(submits[port->taken++ & (n - 1)]);

			if (!take_request(host, port, seat, index))
				status = BCL_ERR_ARG;
		}
		ring(host, port);
		cond_resched();
	} while (port->taken != made && !fatal_signal_pending(current));
	return status;
}

long bcl_kmod_doorbell(struct bcl_kmod_host *host, unsigned long number)
{
	long status = BCL_ERR_ARG;
	struct bcl_kmod_seat *seat;

	if (number >= BCL_KMOD_SEATS)
		return BCL_ERR_ARG;
	number = array_index_nospec(number, BCL_KMOD_SEATS);
	seat = &host->seat[number];
	mutex_lock(&seat->mutex);
	if (seat->port)
		status = take_all(host, seat->port, number);
	mutex_unlock(&seat->mutex);
	return status;
}
