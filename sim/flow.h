/* SPDX-License-Identifier: MIT */
/*
 * How much can flow at most from one place of a network to another, whose links
 * have a capacity each, either way.
 */
#ifndef SIM_FLOW_H
#define SIM_FLOW_H

#include <stdint.h>

static const uint64_t SIM_FLOW_ANY = UINT64_MAX / 4; /* never the limit */

struct sim_flow;

/* Places are numbers below `places`. */
struct sim_flow *sim_flow_open(uint32_t places);
void sim_flow_close(struct sim_flow *flow);

void sim_flow_link(struct sim_flow *flow, uint32_t a, uint32_t b,
		   uint64_t capacity);

/* Once: it takes what the links can carry. */
uint64_t sim_flow_most(struct sim_flow *flow, uint32_t from, uint32_t to);

#endif
