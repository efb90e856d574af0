/* SPDX-License-Identifier: MIT */
/*
 * Carries out a script of faults in the network of a cluster. Frames are harmed
 * where they are sent. Nodes are told of faults that concern them.
 */
#ifndef SIM_INJECT_H
#define SIM_INJECT_H

#include "sim/fault.h"

struct sim_injector;

/*
 * Starts the script, which must not change until sim_injector_close(). `node`
 * is called, never from within sim_fabric_send(), when a fault of a node begins
 * or ends: UNPLUG, CRASH, ISOLATE, SLOW or STALL. It may be NULL. A node that
 * has crashed sends no frame, even before `node` is called. A fault does not
 * begin while a fault of the same kind lasts at the same place.
 */
struct sim_injector *
sim_inject(const struct sim_faults *faults, const struct sim_cluster *cluster,
	   struct sim_fabric *fabric, struct sim_clock *clock,
	   void (*node)(void *arg, const struct sim_fault *fault, bool begins),
	   void *arg);
/* Call before the fabric is closed. Frames that the injector holds
 * are freed. */
void sim_injector_close(struct sim_injector *injector);

/* How often a kind of fault has happened. */
uint64_t sim_injector_count(const struct sim_injector *injector,
			    enum sim_fault_kind kind);

/* How many frames a node has sent, in all its lives. */
uint64_t sim_injector_sent(const struct sim_injector *injector, uint32_t node);

#endif
