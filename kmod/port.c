// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Ports: their memory, opening and closing, channels, and what the kernel does
 * when the core has finished with a request or a channel.
 */
#include <linux/eventfd.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "host.h"
#include "pin.h"

enum {
	MOST = 65536, /* requests, blocks, channels; see nicfw/port.c */
	PART_MOST = 256 << 20, /* bytes */
};

/* ---- parts ---- */

static void part_free(struct kref *users)
{
	struct bcl_kmod_part *part =
		container_of(users, struct bcl_kmod_part, users);

	vfree(part->memory);
	kfree(part);
}

/* In process context. */
void bcl_kmod_part_put(struct bcl_kmod_part *part)
{
	if (part)
		kref_put(&part->users, part_free);
}

static struct bcl_kmod_part *part_make(u64 size)
{
	struct bcl_kmod_part *part;

	if (size > PART_MOST)
		return NULL;
	part = kzalloc(sizeof(*part), GFP_KERNEL_ACCOUNT);
	if (!part)
		return NULL;
	kref_init(&part->users);
	part->size = PAGE_ALIGN(size);
	part->memory = __vmalloc(part->size, GFP_KERNEL_ACCOUNT | __GFP_ZERO |
						     __GFP_NOWARN);
	if (part->memory)
		return part;
	kfree(part);
	return NULL;
}

struct bcl_kmod_part *bcl_kmod_part_get(struct bcl_kmod_host *host, u64 offset)
{
	u64 n = (offset >> 32) - 1; /* bcl_device_map() */
	struct bcl_kmod_part *part = NULL;

	if ((u32)offset || n >= 2 * BCL_KMOD_SEATS)
		return NULL;
	spin_lock_bh(&host->lock);
	if (host->seat[n / 2].port) {
		part = host->seat[n / 2].port->part[n % 2];
		kref_get(&part->users);
	}
	spin_unlock_bh(&host->lock);
	return part;
}

/* ---- making a port ---- */

static bool is_size(u32 n)
{
	return n && n <= MOST;
}

static bool is_well_formed(const struct bcl_device_port *port)
{
	return is_size(port->nrequests) && is_size(port->nreceives) &&
	       is_size(port->nblocks) && port->nlongs <= MOST &&
	       port->nchannels <= MOST;
}

static void port_free(struct bcl_kmod_host *host, struct bcl_kmod_port *port)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(port->part); i++)
		bcl_kmod_part_put(port->part[i]);
	if (port->wake)
		eventfd_ctx_put(port->wake);
	vfree(port->shadow);
	kvfree(port->slot);
	kvfree(port->channel);
	kfree(port);
	bcl_kmod_discharge(host->user, BCL_KMOD_PORTS, 1);
}

static void find_areas(struct bcl_kmod_port *port)
{
	unsigned int i;

	for (i = 0; i < BCL_AREAS; i++) {
		enum bcl_device_part part = bcl_device_part(i);

		port->area[i] = port->part[part]->memory +
				bcl_device_area(&port->opened, part, i);
	}
}

static struct bcl_kmod_reader reader_of(const void *entries, u32 n)
{
	return (struct bcl_kmod_reader){ .entries = entries, .n = n, .lap = 1 };
}

/* Fill in the memory of a port. Returns false if there is not enough. */
static bool allocate(struct bcl_kmod_port *port)
{
	const struct bcl_control *opened = &port->opened;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(port->part); i++) {
		port->part[i] =
			part_make(bcl_device_area(opened, i, BCL_AREAS));
		if (!port->part[i])
			return false;
	}
	find_areas(port);
	port->sends =
		reader_of(port->area[BCL_AREA_SENDS], opened->port.nrequests);
	port->receives = reader_of(port->area[BCL_AREA_RECEIVES],
				   opened->port.nreceives);
	port->shadow = __vmalloc(bcl_area_size(opened, BCL_AREA_REQUESTS),
				 GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	port->slot = kvcalloc(opened->port.nrequests, sizeof(*port->slot),
			      GFP_KERNEL_ACCOUNT);
	port->channel = kvcalloc(opened->port.nchannels ?: 1,
				 sizeof(*port->channel), GFP_KERNEL_ACCOUNT);
	return port->shadow && port->slot && port->channel;
}

/* Returns an ERR_PTR: of eventfd_ctx_fdget(), EDQUOT, or ENOMEM. */
static struct bcl_kmod_port *port_make(struct bcl_kmod_host *host,
				       const struct bcl_device_port *asked)
{
	struct bcl_kmod_port *port = kzalloc(sizeof(*port), GFP_KERNEL_ACCOUNT);
	long error = -ENOMEM;

	if (!port)
		return ERR_PTR(error);
	if (!bcl_kmod_charge(host->user, BCL_KMOD_PORTS, 1)) {
		kfree(port);
		return ERR_PTR(-EDQUOT);
	}
	port->opened = (struct bcl_control){
		.op = BCL_CTL_PORT_OPEN,
		.port = { .number = asked->number,
			  .nrequests = asked->nrequests,
			  .nreceives = asked->nreceives,
			  .nblocks = asked->nblocks,
			  .nlongs = asked->nlongs,
			  .nchannels = asked->nchannels },
	};
	if (asked->wake >= 0) {
		port->wake = eventfd_ctx_fdget(asked->wake);
		if (IS_ERR(port->wake)) {
			error = PTR_ERR(port->wake);
			port->wake = NULL;
			port_free(host, port);
			return ERR_PTR(error);
		}
	}
	if (allocate(port))
		return port;
	port_free(host, port);
	return ERR_PTR(error);
}

/* ---- opening and closing ---- */

static struct bcl_kmod_seat *free_seat(struct bcl_kmod_host *host)
{
	unsigned int i;

	for (i = 0; i < BCL_KMOD_SEATS; i++)
		if (!host->seat[i].port)
			return &host->seat[i];
	return NULL;
}

struct bcl_kmod_seat *bcl_kmod_seat_of(struct bcl_kmod_host *host, u32 number)
{
	unsigned int i;

	for (i = 0; number && i < BCL_KMOD_SEATS; i++)
		if (host->seat[i].number == number)
			return &host->seat[i];
	return NULL;
}

/* Let the core open the port in this seat, in a turn. */
static enum bcl_status occupy(struct bcl_kmod_host *host,
			      struct bcl_kmod_seat *seat,
			      struct bcl_kmod_port *port)
{
	u32 handle = (seat - host->seat) * BCL_KMOD_AREAS + 1, result;
	struct bcl_control *control = &port->opened;
	enum bcl_status status;

	control->port.requests = handle + BCL_AREA_REQUESTS;
	control->port.sends = handle + BCL_AREA_SENDS;
	control->port.receives = handle + BCL_AREA_RECEIVES;
	control->port.blocks = handle + BCL_AREA_BLOCKS;
	control->port.indices = handle + BCL_AREA_INDICES;
	seat->port = port;
	status = bcl_kmod_command(host, control, &result);
	if (status) {
		seat->port = NULL;
	} else {
		seat->number = control->port.number;
		__set_bit(seat - host->seat, &host->taken);
	}
	return status;
}

long bcl_kmod_port_open(struct bcl_kmod_host *host,
			struct bcl_device_port *asked)
{
	enum bcl_status status = BCL_ERR_NOMEM;
	struct bcl_kmod_seat *seat;
	struct bcl_kmod_port *port;

	if (!is_well_formed(asked))
		return BCL_ERR_ARG;
	seat = free_seat(host); /* stays free: host->mutex is held */
	if (!seat)
		return BCL_ERR_NOMEM;
	port = port_make(host, asked);
	if (IS_ERR(port))
		return PTR_ERR(port) == -ENOMEM ? BCL_ERR_NOMEM : PTR_ERR(port);
	mutex_lock(&seat->mutex);
	bcl_kmod_enter(host);
	status = occupy(host, seat, port);
	bcl_kmod_leave(host);
	mutex_unlock(&seat->mutex);
	if (status)
		port_free(host, port);
	else
		asked->seat = seat - host->seat;
	return status;
}

static void close_spans(struct bcl_kmod_host *host, struct bcl_kmod_port *port)
{
	unsigned int i, r;

	for (i = 0; i < port->opened.port.nrequests; i++)
		for (r = 0; r < BCL_REQUEST_REFS; r++)
			bcl_kmod_span_close(host, &port->slot[i].span[r]);
	for (i = 0; i < port->opened.port.nchannels; i++)
		bcl_kmod_span_close(host, &port->channel[i].span);
}

long bcl_kmod_port_close(struct bcl_kmod_host *host, unsigned long number)
{
	struct bcl_control control = { .op = BCL_CTL_PORT_CLOSE };
	struct bcl_kmod_seat *seat;
	struct bcl_kmod_port *port;
	u32 result;

	if (number >= BCL_KMOD_SEATS)
		return BCL_ERR_ARG;
	seat = &host->seat[array_index_nospec(number, BCL_KMOD_SEATS)];
	mutex_lock(&seat->mutex);
	port = seat->port;
	if (port) {
		bcl_kmod_enter(host);
		control.port.number = seat->number;
		bcl_kmod_command(host, &control, &result);
		close_spans(host, port);
		seat->port = NULL;
		seat->number = 0;
		__clear_bit(seat - host->seat, &host->taken);
		bcl_kmod_leave(host);
	}
	mutex_unlock(&seat->mutex);
	if (!port)
		return BCL_ERR_ARG;
	port_free(host, port);
	bcl_kmod_unpin_all(host);
	return BCL_OK;
}

/* ---- channels ---- */

/* The place of the channel that the process names, or NULL. Also makes the
 * number one that the core may have. */
static struct bcl_kmod_channel *channel_of(struct bcl_kmod_seat *seat,
					   struct bcl_control *control)
{
	const u32 n = seat ? seat->port->opened.port.nchannels : 0;

	if (control->channel.number >= n)
		return NULL;
	control->channel.number =
		array_index_nospec(control->channel.number, n);
	return &seat->port->channel[control->channel.number];
}

long bcl_kmod_post(struct bcl_kmod_host *host, struct bcl_control *control)
{
	struct bcl_kmod_seat *seat =
		bcl_kmod_seat_of(host, control->channel.port);
	struct bcl_kmod_channel *place = channel_of(seat, control);
	const u64 address = control->channel.offset;
	struct bcl_kmod_span span;
	long status;
	u32 result;

	if (!place)
		return BCL_ERR_ARG;
	status = bcl_kmod_span_open(host, seat->port, control->channel.handle,
				    control->channel.offset,
				    control->channel.length,
				    !control->channel.reading, &span);
	if (status)
		return status;
	control->channel.handle = bcl_kmod_channel_handle(
		seat - host->seat, control->channel.number);
	control->channel.offset = 0;
	control->channel.once = !bcl_kmod_span_lasts(&span);
	bcl_kmod_enter(host);
	status = bcl_kmod_command(host, control, &result);
	if (!status) {
		/* Most often there is nothing in the place. A process that
		 * lies about blocks may have made the reader of `receives` lose
		 * its entry. */
		swap(span, place->span);
		place->address = address;
		place->length = control->channel.length;
	}
	bcl_kmod_span_close(host, &span);
	bcl_kmod_leave(host);
	return status;
}

long bcl_kmod_unpost(struct bcl_kmod_host *host, struct bcl_control *control)
{
	struct bcl_kmod_seat *seat =
		bcl_kmod_seat_of(host, control->channel.port);
	struct bcl_kmod_channel *place = channel_of(seat, control);
	enum bcl_status status;
	u32 result;

	if (!place)
		return BCL_ERR_ARG;
	bcl_kmod_enter(host);
	status = bcl_kmod_command(host, control, &result);
	if (!status)
		bcl_kmod_span_close(host, &place->span);
	bcl_kmod_leave(host);
	if (!status)
		bcl_kmod_unpin_all(host);
	return status;
}

/* ---- events ---- */

/* The next entry that the core has written, or NULL. The core writes in turns
 * only, and the process cannot write there. */
static const struct bcl_completion *take(struct bcl_kmod_reader *reader)
{
	const struct bcl_completion *entry = &reader->entries[reader->next];

	if (entry->lap != reader->lap)
		return NULL;
	if (++reader->next == reader->n) {
		reader->next = 0;
		reader->lap++;
	}
	return entry;
}

static void settle_channels(struct bcl_kmod_host *host,
			    struct bcl_kmod_port *port)
{
	const struct bcl_completion *entry;

	while ((entry = take(&port->receives)))
		if (entry->kind == BCL_CQ_CHANNEL || entry->kind == BCL_CQ_READ)
			bcl_kmod_span_close(host,
					    &port->channel[entry->index].span);
}

static void settle(struct bcl_kmod_host *host, struct bcl_kmod_port *port)
{
	const struct bcl_completion *entry;
	unsigned int r;

	while ((entry = take(&port->sends))) {
		struct bcl_kmod_slot *slot = &port->slot[entry->index];

		for (r = 0; r < BCL_REQUEST_REFS; r++)
			bcl_kmod_span_close(host, &slot->span[r]);
		/* Release: pairs with is_busy(). */
		smp_store_release(&slot->busy, false);
	}
	settle_channels(host, port);
}

int bcl_kmod_repost(void *arg, u16 number, u32 index)
{
	struct bcl_kmod_host *host = arg;
	struct bcl_kmod_port *port = bcl_kmod_seat_of(host, number)->port;
	struct bcl_kmod_channel *place = &port->channel[index];

	/* The last message may have ended in this turn. See also
	 * bcl_kmod_post(). */
	settle_channels(host, port);
	bcl_kmod_span_close(host, &place->span);
	return bcl_kmod_span_reopen(host, place->address, place->length,
				    &place->span);
}

void bcl_kmod_ports_settle(struct bcl_kmod_host *host)
{
	unsigned int i;

	for_each_set_bit(i, &host->taken, BCL_KMOD_SEATS)
		settle(host, host->seat[i].port);
}
