/* SPDX-License-Identifier: MIT */
/*
 * Another port of a rank. It puts long pieces into the memory of others, each
 * with a fence behind it, so that ports have to share the card. What is put is
 * not looked at.
 */
#ifndef BCL_TESTS_STORM_STREAM_H
#define BCL_TESTS_STORM_STREAM_H

#include "cluster.h"

struct stream {
	struct sim_rank *rank;
	struct bcl_port *port;
	struct bcl_memory *window; /* for others, and what is sent */
	uint8_t *bytes;
	struct bcl_peer *peer[CLUSTER_RANKS]; /* NULL: not opened yet */
	unsigned left; /* operations that have not ended */
};

void stream_open(struct stream *stream, struct sim_rank *rank,
		 struct bcl_context *context);
/* A piece to that rank, unless the last is under way or it is away. */
void stream_put(struct stream *stream, unsigned to, uint64_t *random);
/* After the context. */
void stream_close(struct stream *stream);

#endif
