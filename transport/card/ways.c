/* SPDX-License-Identifier: MIT */
/*
 * Ways to a node: each way leads from an address of this card to an address of
 * the node that can be reached from there. A rail of this card is paired with
 * one rail of the node, and both sides compute the same pairs: a rail that
 * received frames of two rails of the node would take them for frames of one
 * rail. Addresses with more leading bits in common are more likely to be in one
 * network.
 *
 * A rail of the node without a partner is added to the rail that fits best,
 * behind the partner of that rail: the partner may be out of reach.
 */
#include "transport/card/inside.h"

#include <string.h>

enum {
	UDP_GROUPS = BCL_WIRES_MAX, /* and the next; other kinds: by wire */
	GROUPS = BCL_WIRES_MAX + 2,
	WORST = 1,  /* the lowest quality of a way */
	BEST = 256, /* more than the quality of any way */
};

struct pairs {
	const struct bcl_host *host;
	const struct bcl_address *address;
	bool same_host;
	bool ours_first; /* of equal pairs, this card's first rail wins */
	uint8_t rail_of[GROUPS];	 /* BCL_RAILS_MAX: none */
	uint8_t group_of[BCL_RAILS_MAX]; /* GROUPS: none */
};

static bool is_udp(const struct bcl_wire_address *wire)
{
	return wire->kind == BCL_WIRE_UDP4 || wire->kind == BCL_WIRE_UDP6;
}

/* The wires of one group are addresses of one rail of the node. */
static unsigned group_of(const struct bcl_address *address, unsigned wire)
{
	if (is_udp(&address->wire[wire]))
		return UDP_GROUPS + (address->second >> wire & 1);
	return wire;
}

static unsigned common_bits(const uint8_t *a, const uint8_t *b, unsigned bytes)
{
	unsigned i = 0;

	while (i < 8 * bytes && !((a[i / 8] ^ b[i / 8]) & 0x80 >> i % 8))
		i++;
	return i;
}

/* The quality of a way; 0: no way. */
static unsigned way_quality(const struct pairs *pairs, unsigned end,
			    unsigned wire)
{
	const struct bcl_wire_address *own = &pairs->host->end[end].address;
	const struct bcl_wire_address *to = &pairs->address->wire[wire];
	unsigned bytes = is_udp(own) ? own->length - 2u : own->length, same;

	if (own->kind != to->kind || own->length != to->length)
		return 0;
	same = common_bits(own->bytes, to->bytes, bytes);
	/* This card has the same address, but is on another host: frames to the
	 * address stay here. */
	if (is_udp(own) && same == 8 * bytes && !pairs->same_host)
		return WORST;
	return WORST + 1 + same;
}

/* The quality of the best way between a rail and a group of wires. */
static unsigned best_fit(const struct pairs *pairs, unsigned rail,
			 unsigned group)
{
	unsigned best = 0, e, w;

	for (e = 0; e < pairs->host->nends; e++)
		for (w = 0; w < pairs->address->nwires; w++)
			if (pairs->host->end[e].rail == rail &&
			    group_of(pairs->address, w) == group &&
			    way_quality(pairs, e, w) > best)
				best = way_quality(pairs, e, w);
	return best;
}

/* The position of a group among the groups of the node. */
static unsigned place_of(const struct pairs *pairs, unsigned group)
{
	unsigned w = 0;

	while (group_of(pairs->address, w) != group)
		w++;
	return w;
}

/* Rank among pairs of equal quality: low for the first rails of both cards.
 * Both cards compute the same rank. */
static unsigned pair_rank(const struct pairs *pairs, unsigned rail,
			  unsigned group)
{
	unsigned place = place_of(pairs, group);

	return (rail + place) * 16 + (pairs->ours_first ? rail : place);
}

/* Pair the best rail and group that have no partner yet. Returns false if there
 * are none. */
static bool pair_next(struct pairs *pairs)
{
	unsigned best = 0, rail = 0, group = 0, r, g, good;

	for (r = 0; r < BCL_RAILS_MAX; r++)
		for (g = 0; g < GROUPS; g++) {
			if (pairs->group_of[r] < GROUPS ||
			    pairs->rail_of[g] < BCL_RAILS_MAX)
				continue;
			good = best_fit(pairs, r, g);
			if (!good || good < best ||
			    (good == best &&
			     pair_rank(pairs, r, g) >
				     pair_rank(pairs, rail, group)))
				continue;
			best = good;
			rail = r;
			group = g;
		}
	if (!best)
		return false;
	pairs->group_of[rail] = (uint8_t)group;
	pairs->rail_of[group] = (uint8_t)rail;
	return true;
}

/* Add each group without a partner to the rail that fits best. */
static void share_out(struct pairs *pairs)
{
	unsigned g, r, best;

	for (g = 0; g < GROUPS; g++) {
		if (pairs->rail_of[g] < BCL_RAILS_MAX)
			continue;
		for (best = 0, r = 0; r < BCL_RAILS_MAX; r++)
			if (best_fit(pairs, r, g) > best) {
				best = best_fit(pairs, r, g);
				pairs->rail_of[g] = (uint8_t)r;
			}
	}
}

/* The likelihood of a way; 0: not a way of the rail. */
static unsigned way_likelihood(const struct pairs *pairs, unsigned end,
			       unsigned wire)
{
	unsigned rail = pairs->host->end[end].rail;
	unsigned group = group_of(pairs->address, wire);
	unsigned good = way_quality(pairs, end, wire);

	if (!good || pairs->rail_of[group] != rail)
		return 0;
	return good + (pairs->group_of[rail] == group ? BEST : 0);
}

unsigned bcl_host_ways(const struct bcl_context *context,
		       const struct bcl_address *address,
		       struct bcl_host_way ways[BCL_HOST_WAYS])
{
	const struct bcl_host *host = context->card;
	struct pairs pairs = {
		.host = host,
		.address = address,
		.same_host = context->host == address->host,
		.ours_first = context->card_id < address->card,
	};
	unsigned n = 0, e, w, i;

	memset(pairs.rail_of, BCL_RAILS_MAX, sizeof(pairs.rail_of));
	memset(pairs.group_of, GROUPS, sizeof(pairs.group_of));
	while (pair_next(&pairs))
		;
	share_out(&pairs);
	for (e = 0; e < host->nends; e++)
		for (w = 0; w < address->nwires; w++) {
			unsigned good = way_likelihood(&pairs, e, w);

			if (!good)
				continue;
			for (i = n++;
			     i && way_likelihood(&pairs, ways[i - 1].end,
						 ways[i - 1].wire) < good;
			     i--)
				ways[i] = ways[i - 1];
			ways[i] =
				(struct bcl_host_way){ (uint8_t)e, (uint8_t)w };
		}
	return n;
}
