/* SPDX-License-Identifier: MIT */
/*
 * The hosts of a simulated cluster's cards: the table by which contexts of
 * ranks find the card of the node (card/ops.h), and the costs of
 * calls.
 *
 * A message costs the sender `send`, the trap, the words of the request with
 * inline data that the trap writes to the card, and the copy into the port's
 * own buffers. A message costs the receiver `receive` and the copy out of the
 * port's ring, before anything that the rank does after the event has landed.
 */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "sim/cluster.h"
#include "sim/firmware.h"

struct sim_hosts {
	struct bcl_host_ops ops;
	struct sim_world *world; /* rank r is on node r / cluster->ranks */
	const struct sim_cluster *cluster;
	struct sim_card *cards; /* [node] */
	struct sim_firmware_limits limits;
	struct sim_firmware **firmware; /* [rank]; NULL: never opened */
	struct bcl_pcapng trace;	/* if BCL_TRACE asks for a trace */
};

/* Sets `ops`; the caller sets the rest. */
void sim_hosts_open(struct sim_hosts *hosts);
/* Ends the context of a rank without a goodbye to peers. The memory of the rank
 * is still there. */
void sim_hosts_crash(struct sim_hosts *hosts, uint32_t rank);
/* Tells all cards that know ranks of the node to isolate it, or to let it
 * rejoin. */
void sim_hosts_isolate(struct sim_hosts *hosts, uint32_t node, bool out);
/* Call when all contexts are closed and no events are left. */
void sim_hosts_close(struct sim_hosts *hosts);

#endif
