/* SPDX-License-Identifier: MIT */
/* Commands to the card, and what the card is told about its rails. */
#include "card/inproc/inproc.h"

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
