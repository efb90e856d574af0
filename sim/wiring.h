/* SPDX-License-Identifier: MIT */
/*
 * A cluster while it is being wired. An impossible wiring is a complaint about
 * the statement that asks for it, and the function returns false.
 */
#ifndef SIM_WIRING_H
#define SIM_WIRING_H

#include "sim/cluster.h"

struct sim_wiring {
	struct sim_cluster *cluster; /* with nodes and rails set */
	struct sim_statement *statement;
	uint32_t *cables; /* [port or switch]: number of cables */
	uint32_t *other;  /* [port or switch]: union-find parent; in the end all
			   * members of a network have the same root */
};

/* A kind of switch. */
struct sim_crossbar {
	struct sim_switch config;
	uint32_t ports; /* 0: as many as there are cables */
};

void sim_wiring_open(struct sim_wiring *wiring, struct sim_cluster *cluster,
		     struct sim_statement *statement);
void sim_wiring_close(struct sim_wiring *wiring);

/* Adds a switch and sets *number. */
__attribute__((format(printf, 4, 5))) bool
sim_wiring_switch(struct sim_wiring *wiring,
		  const struct sim_crossbar *crossbar, uint32_t *number,
		  const char *name, ...);
bool sim_wiring_find(struct sim_wiring *wiring, const char *name,
		     uint32_t *number);

/* Adds `count` cables. */
bool sim_wiring_cables(struct sim_wiring *wiring, uint32_t a, uint32_t b,
		       const struct sim_cable *wire, uint32_t count);

/* Checks that each port has a cable, and a route to all ports of the
 * same rail. */
bool sim_wiring_complete(struct sim_wiring *wiring);

#endif
