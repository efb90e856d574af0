/* SPDX-License-Identifier: MIT */
/* The ports of the in-process host: seats, and the areas that the card may
 * use. */
#include "card/inproc/inproc.h"

#include <string.h>

#include "card/areas.h"
#include "env/log.h"

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
		 const struct bcl_host_area areas[BCL_AREAS],
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

static enum bcl_status occupy_seat(struct bcl_inproc *host, int object,
				   const struct bcl_host_area areas[BCL_AREAS],
				   struct bcl_control *control,
				   struct bcl_host_seat *seat)
{
	uint32_t first = first_area(host, seat), handle = first + 1;
	struct bcl_port_indices *indices =
		(void *)areas[BCL_AREA_INDICES].address;
	enum bcl_status status;
	uint32_t result;

	seat->number = (uint16_t)control->port.number;
	seat->bias = BCL_INPROC_BIASED + (uint32_t)(seat - host->seats);
	seat->object = object;
	seat->made = (const _Atomic uint32_t *)&indices->requests_made;
	seat->sleeping = (const _Atomic uint32_t *)&indices->sleeping;
	memcpy(&host->areas[first], areas, BCL_AREAS * sizeof(*areas));
	control->port.requests = handle + BCL_AREA_REQUESTS;
	control->port.sends = handle + BCL_AREA_SENDS;
	control->port.receives = handle + BCL_AREA_RECEIVES;
	control->port.blocks = handle + BCL_AREA_BLOCKS;
	control->port.indices = handle + BCL_AREA_INDICES;
	status = bcl_inproc_command(host, control, &result);
	if (!status && host->trace)
		status = journal_new_port(host, areas, control);
	if (status) {
		seat->number = 0;
		memset(&host->areas[first], 0, BCL_AREAS * sizeof(*areas));
	}
	return status;
}

enum bcl_status bcl_inproc_port_open(struct bcl_host *base, int object,
				     struct bcl_control *control,
				     struct bcl_host_area areas[BCL_AREAS],
				     struct bcl_host_seat **result)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	uint16_t number = (uint16_t)control->port.number;
	enum bcl_status status =
		bcl_areas_make(host->setup.env, control, areas);
	struct bcl_host_seat *seat;

	if (status)
		return status;
	status = BCL_ERR_NOMEM;
	bcl_inproc_lock(host, NULL);
	seat = bcl_inproc_seat_find(host, number, 0);
	if (seat)
		status = occupy_seat(host, object, areas, control, seat);
	bcl_inproc_unlock(host, NULL);
	if (status)
		bcl_areas_release(host->setup.env, areas);
	*result = seat;
	if (!seat)
		bcl_log(host->setup.config, BCL_LOG_ERROR, "card",
			"port %u of %u: a context has no more",
			BCL_INPROC_PORTS + 1, BCL_INPROC_PORTS);
	else if (status == BCL_ERR_NOMEM)
		bcl_log(host->setup.config, BCL_LOG_ERROR, "card",
			"no room for a port of %u channels: the ports of a "
			"context have %u together",
			control->port.nchannels,
			BCL_INPROC_PORTS * BCL_INPROC_CHANNELS);
	return status;
}

void bcl_inproc_port_close(struct bcl_host *base, struct bcl_host_seat *seat)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	struct bcl_host_area *own = &host->areas[first_area(host, seat)];
	struct bcl_host_area areas[BCL_AREAS];
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
	memcpy(areas, own, sizeof(areas));
	memset(own, 0, sizeof(areas));
	bcl_inproc_unlock(host, NULL);
	bcl_areas_release(host->setup.env, areas);
}
