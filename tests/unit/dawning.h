/* SPDX-License-Identifier: MIT */
/*
 * The machine for tests of bounds and algorithms: Dawning-3000, as measured
 * with BCL-3 (2001). The nodes have four 375 MHz Power3-II processors each, and
 * are connected by Myrinet.
 */
#ifndef BCL_TESTS_DAWNING_H
#define BCL_TESTS_DAWNING_H

#include "sim/bounds/bound.h"

static const struct sim_machine dawning = {
	.nodes = 64,
	.ranks = 4,
	.inside = { .latency = -0.14,
		    .send = 1.85,
		    .receive = 1.0172,
		    .gap = 3.12,
		    .byte = 0.00255 },
	.between = { .latency = 10.27,
		     .send = 7.05,
		     .receive = 1.0172,
		     .gap = 11.0911,
		     .byte = 0.00683 },
};

#endif
