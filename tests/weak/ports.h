/* SPDX-License-Identifier: MIT */
/* Ports on the same host: two connected ports, or three in a row. */
#ifndef WEAK_PORTS_H
#define WEAK_PORTS_H

#include "tests/weak/weak.h"
#include "transport/shm/port.h"

enum {
	SIDES = 3,
	MIDDLE = 1, /* the peer of both outer ports */
};

struct side {
	struct bcl_context context;
	struct bcl_port port;
	struct bcl_shm_port shm;
	struct bcl_connection connection[2];
	struct bcl_peer peer[2];
	struct bcl_counter_page counters;
	_Atomic uint32_t attention[BCL_SHM_PEERS];
	_Atomic uint64_t active[BCL_SHM_PEERS / 64];
	_Atomic uint32_t woken; /* set by env->wake() */
};

extern struct side sides[SIDES];

void ports_set_up(void);
void ports_set_up_three(void);

#endif
