/* SPDX-License-Identifier: MIT */
/*
 * Makes happen what a script of faults says, in a cluster's network. Frames are
 * harmed where they are sent. What happens to nodes is told to them.
 */
#ifndef SIM_INJECT_H
#define SIM_INJECT_H

#include "sim/fault.h"

struct sim_injector;

/*
 * From now on; the script stays as it is. `node` is told, not from within
 * sim_fabric_send(), that a fault of a node begins or ends: UNPLUG, CRASH,
 * ISOLATE, SLOW or STALL. It may be NULL. A node that has crashed sends no
 * frame, even before it is told. A fault does not happen while one of its kind
 * lasts at the same place.
 */
struct sim_injector *
sim_inject(const struct sim_faults *faults, const struct sim_cluster *cluster,
	   struct sim_fabric *fabric, struct sim_clock *clock,
	   void (*node)(void *arg, const struct sim_fault *fault, bool begins),
	   void *arg);
/* Before the fabric is closed. Frames that it holds are gone. */
void sim_injector_close(struct sim_injector *injector);

/* How often it has happened. */
uint64_t sim_injector_count(const struct sim_injector *injector,
			    enum sim_fault_kind kind);

#endif
