/* SPDX-License-Identifier: MIT */
/* Two ports on one host, with a pair line and two rings. */
#ifndef BCL_WEAK_PAIR_H
#define BCL_WEAK_PAIR_H

#include <string.h>

#include "sim/fail.h"
#include "tests/weak/weak.h"
#include "transport/shm/host.h"
#include "transport/shm/segment.h"

enum {
	SLOTS = BCL_SEGMENT_SLOTS_MIN, /* of a ring */
};

static struct bcl_pair pair[2];

/* Call before each execution. */
static void pair_set_up(void)
{
	static const struct bcl_env env = { .shm_host = &bcl_shm_linux };
	static const _Atomic uint32_t awake;
	static struct bcl_segment segment;
	size_t ring = SLOTS * sizeof(struct bcl_slot);

	if (!segment.head)
		sim_check(!bcl_segment_create(&env, SLOTS, &segment),
			  "no segment");
	memset(segment.head, 0, sizeof(*segment.head));
	for (unsigned side = 0; side < 2; side++) {
		memset(segment.ring[side], 0, ring);
		weak_alias(segment.ring[side], segment.ring[side] + SLOTS,
			   ring);
		bcl_segment_pair(&segment, side, &pair[side]);
		pair[side].attention = &awake;
	}
}

#endif
