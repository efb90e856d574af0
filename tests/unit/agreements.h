/* SPDX-License-Identifier: MIT */
/* For tests that use the mock: agreements that go on after the call. */
#ifndef BCL_TESTS_AGREEMENTS_H
#define BCL_TESTS_AGREEMENTS_H

#include <sched.h>

#include "adi/internal.h"
#include "collectives/teams.h"

/* Goes on until all agreements of the rank are over. */
static inline void finish_agreements(struct bcl_adi *adi)
{
	while (bcl_teams_get(adi)->agreements) {
		bcl_adi_turn(adi);
		sched_yield();
	}
}

#endif
