/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The ways to a node. See ways.h. */
#include "card/ways.h"

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

static bool is_same(const struct bcl_wire_address *a,
		    const struct bcl_wire_address *b)
{
	return !memcmp(a, b, sizeof(*a));
}

void bcl_ways_begin(struct bcl_ways *ways, const struct bcl_wire_address *wires,
		    unsigned n)
{
	memcpy(ways->wire, wires, n * sizeof(*wires));
	ways->nways = 0;
	ways->refused = 0;
}

void bcl_ways_add(struct bcl_ways *ways, struct bcl_host_way way, unsigned rail)
{
	ways->rail[ways->nways] = (uint8_t)rail;
	ways->way[ways->nways++] = way;
	ways->turn[rail] = 0;
	if (ways->known & 1u << rail)
		return;
	ways->known |= (uint8_t)(1u << rail);
	ways->address[rail] = ways->wire[way.wire];
	ways->end[rail] = way.end;
}

void bcl_ways_learn(struct bcl_ways *ways, unsigned rail, unsigned end,
		    const struct bcl_wire_address *address)
{
	ways->address[rail] = *address;
	ways->end[rail] = (uint8_t)end;
	ways->turn[rail] = 0;
	ways->proved |= (uint8_t)(1u << rail);
	ways->known |= (uint8_t)(1u << rail);
}

/* ---- the destination of a frame ---- */

static unsigned count_ways(const struct bcl_ways *ways, unsigned rail)
{
	unsigned w, n = 0;

	for (w = 0; w < ways->nways; w++)
		n += ways->rail[w] == rail;
	return n;
}

/* The n-th way of the rail. The caller knows that the way exists. */
static struct bcl_host_way way_of(const struct bcl_ways *ways, unsigned rail,
				  unsigned n)
{
	unsigned w;

	for (w = 0;; w++)
		if (ways->rail[w] == rail && !n--)
			return ways->way[w];
}

struct bcl_target bcl_ways_target(struct bcl_ways *ways, unsigned rail,
				  bool hello)
{
	unsigned n, turn;
	struct bcl_host_way way;

	if (!(ways->known & 1u << rail))
		return (struct bcl_target){ NULL, 0 };
	n = hello ? count_ways(ways, rail) : 0;
	turn = hello ? ways->turn[rail]++ : 0;
	if (!n || !turn)
		return (struct bcl_target){ &ways->address[rail],
					    ways->end[rail] };
	way = way_of(ways, rail, turn % n);
	return (struct bcl_target){ &ways->wire[way.wire], way.end };
}

/* ---- what the network refused ---- */

static bool leads_to(const struct bcl_ways *ways, unsigned w, unsigned end,
		     const struct bcl_wire_address *address)
{
	return ways->way[w].end == end &&
	       is_same(&ways->wire[ways->way[w].wire], address);
}

bool bcl_ways_refused(struct bcl_ways *ways, unsigned rail, unsigned end,
		      const struct bcl_wire_address *address)
{
	bool all = false;
	unsigned w;

	if (!(ways->known & 1u << rail))
		return false;
	if (ways->proved & 1u << rail)
		return ways->end[rail] == end &&
		       is_same(&ways->address[rail], address);
	for (w = 0; w < ways->nways; w++)
		if (leads_to(ways, w, end, address)) {
			all = true;
			ways->refused |= 1ull << w;
		}
	for (w = 0; w < ways->nways; w++)
		all &= ways->rail[w] != rail || ways->refused >> w & 1;
	return all;
}

uint8_t bcl_ways_ends(const struct bcl_ways *ways)
{
	unsigned ends = 0, r;

	for (r = 0; r < BCL_RAILS_MAX; r++)
		if (ways->known & 1u << r)
			ends |= 1u << ways->end[r];
	return (uint8_t)ends;
}
