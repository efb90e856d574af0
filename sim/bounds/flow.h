/* SPDX-License-Identifier: MIT */
/*
 * The maximum flow between two places of a network. Each link has a capacity,
 * which holds for either direction.
 */
#ifndef SIM_FLOW_H
#define SIM_FLOW_H

#include <stdint.h>

static const uint64_t SIM_FLOW_ANY = UINT64_MAX / 4; /* a capacity that is never
						      * the limit */

struct sim_flow;

/* Places are numbers below `places`. */
struct sim_flow *sim_flow_open(uint32_t places);
void sim_flow_close(struct sim_flow *flow);

void sim_flow_link(struct sim_flow *flow, uint32_t a, uint32_t b,
		   uint64_t capacity);

/* Returns the maximum flow. May be called once, as it uses up
 * the capacities. */
uint64_t sim_flow_most(struct sim_flow *flow, uint32_t from, uint32_t to);

#endif
