/* SPDX-License-Identifier: MIT */
/* Two ports on one host, connected, each the other's only peer. */
#ifndef WEAK_PORTS_H
#define WEAK_PORTS_H

#include "tests/weak/weak.h"
#include "transport/shm/port.h"

struct side {
	struct bcl_context context;
	struct bcl_port port;
	struct bcl_shm_port shm;
	struct bcl_connection connection; /* to the other */
	struct bcl_peer peer;		  /* likewise */
	struct bcl_counter_page counters;
	_Atomic uint32_t attention[BCL_SHM_PEERS];
	_Atomic uint64_t active[BCL_SHM_PEERS / 64];
	_Atomic uint32_t woken; /* what env->wake() does to it */
};

extern struct side sides[2];

void ports_set_up(void);

#endif
