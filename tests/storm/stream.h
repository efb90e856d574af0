/* SPDX-License-Identifier: MIT */
/*
 * A second port of a rank. The port puts long pieces into the memory of other
 * ranks, each piece followed by a fence, so that two ports share the card. The
 * storm does not check the data.
 */
#ifndef BCL_TESTS_STORM_STREAM_H
#define BCL_TESTS_STORM_STREAM_H

#include "cluster.h"

struct stream {
	struct sim_rank *rank;
	struct bcl_port *port;
	struct bcl_memory *window; /* `bytes`, for puts of other ranks */
	uint8_t *bytes;		   /* also the source of the own puts */
	struct bcl_peer *peer[CLUSTER_RANKS]; /* NULL: not opened yet */
	unsigned left; /* operations that have not ended */
};

void stream_open(struct stream *stream, struct sim_rank *rank,
		 struct bcl_context *context);
/* Puts a piece into the memory of rank `to`. Does nothing while an operation is
 * under way, or if the rank is not connected. */
void stream_put(struct stream *stream, unsigned to, uint64_t *random);
/* Call after the context was closed. */
void stream_close(struct stream *stream);

#endif
