/* SPDX-License-Identifier: MIT */
/*
 * The hosts of a simulated cluster's cards: the table by which contexts of
 * ranks find the card of their node (transport/card/ops.h), and what calls of
 * it cost the rank.
 *
 * A message costs its sender `send`, the trap, what the trap writes to the card
 * word by word (the request with what it carries in line), and copying into
 * the port's own buffers. It costs its receiver `receive` and copying out of
 * the port's ring, before whatever the rank does after the event has landed.
 */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "sim/cluster.h"
#include "sim/firmware.h"

struct sim_hosts {
	struct bcl_host_ops ops;
	struct sim_world *world; /* rank r is on node r / ranks of a node */
	const struct sim_cluster *cluster;
	struct sim_card *cards; /* [node] */
	struct sim_firmware_limits limits;
	struct sim_firmware **firmware; /* [rank]; NULL: never opened */
	struct bcl_pcapng trace;	/* if BCL_TRACE asks for it */
};

/* Sets `ops`; the rest is the caller's. */
void sim_hosts_open(struct sim_hosts *hosts);
/* A rank's context is gone without a word; its memory is still there. */
void sim_hosts_crash(struct sim_hosts *hosts, uint32_t rank);
/* All that know ranks of a node are told to keep it out, or let it in again. */
void sim_hosts_isolate(struct sim_hosts *hosts, uint32_t node, bool out);
/* All contexts are closed, and nothing happens any more. */
void sim_hosts_close(struct sim_hosts *hosts);

#endif
