/* SPDX-License-Identifier: MIT */
/*
 * A cluster while it is being wired. What cannot be is a complaint about the
 * statement that asks for it; the functions are false then.
 */
#ifndef SIM_WIRING_H
#define SIM_WIRING_H

#include "sim/cluster.h"

struct sim_wiring {
	struct sim_cluster *cluster; /* its nodes and rails are known */
	struct sim_statement *statement;
	uint32_t *cables; /* [port or switch]: how many it has */
	uint32_t *other;  /* [port or switch]: one that it is connected with;
			   * in the end all of a network have the same */
};

/* A kind of switches. */
struct sim_crossbar {
	struct sim_switch config;
	uint32_t ports; /* 0: as many as there are cables */
};

void sim_wiring_open(struct sim_wiring *wiring, struct sim_cluster *cluster,
		     struct sim_statement *statement);
void sim_wiring_close(struct sim_wiring *wiring);

/* One more switch: *number. */
__attribute__((format(printf, 4, 5))) bool
sim_wiring_switch(struct sim_wiring *wiring,
		  const struct sim_crossbar *crossbar, uint32_t *number,
		  const char *name, ...);
bool sim_wiring_find(struct sim_wiring *wiring, const char *name,
		     uint32_t *number);

/* `count` cables. */
bool sim_wiring_cables(struct sim_wiring *wiring, uint32_t a, uint32_t b,
		       const struct sim_cable *wire, uint32_t count);

/* Each port has a cable, and a way to all others of its rail. */
bool sim_wiring_complete(struct sim_wiring *wiring);

#endif
