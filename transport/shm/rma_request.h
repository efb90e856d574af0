/* SPDX-License-Identifier: MIT */
/*
 * RMA requests: accesses that the owner of the memory makes itself, because the
 * requester cannot reach the memory. The requests lie in the shared segment, so
 * that both the owner's thread and its helper can serve them.
 *
 * Each side has BCL_RMA_REQUESTS requests for its own accesses. Each has room
 * for BCL_RMA_DATA bytes. States, the side that leaves each of them, and the
 * next state:
 *
 *  FREE     requester: fills the request in                 PENDING (release)
 *  PENDING  owner, under memory_lock: its thread when the   DONE (release)
 *	     bell rings, or its helper when the requester
 *	     has written to the socket after a while
 *  DONE     requester: takes the result                     FREE
 */
#ifndef BCL_SHM_RMA_REQUEST_H
#define BCL_SHM_RMA_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <bcl/status.h>

struct bcl_connection;

enum {
	BCL_RMA_REQUESTS = 16,
	BCL_RMA_DATA = 8192, /* bytes */
	BCL_RMA_AREA = BCL_RMA_REQUESTS * BCL_RMA_DATA,
};

enum bcl_rma_state {
	BCL_RMA_FREE,
	BCL_RMA_PENDING,
	BCL_RMA_DONE,
};

enum bcl_rma_op {
	BCL_RMA_PUT = 1,
	BCL_RMA_GET,
	BCL_RMA_FETCH_ADD,
	BCL_RMA_COMPARE_SWAP,
};

struct bcl_rma_request {
	_Atomic uint32_t state;
	uint32_t op; /* enum bcl_rma_op */
	uint32_t handle;
	uint32_t length; /* PUT, GET: bytes of data */
	uint64_t offset;
	uint64_t operand[2];
	uint64_t result;
	uint32_t status;
	uint32_t spare;
};

_Static_assert(sizeof(struct bcl_rma_request) == 56, "no holes");

/* An atomic on a mapped or an own word, for initiator and owner: returns the
 * old value. */
static inline uint64_t bcl_atomic_word(_Atomic uint64_t *word, bool compare,
				       const uint64_t operand[2])
{
	uint64_t old = operand[0];

	if (!compare)
		return atomic_fetch_add_explicit(word, operand[0],
						 memory_order_seq_cst);
	atomic_compare_exchange_strong_explicit(word, &old, operand[1],
						memory_order_seq_cst,
						memory_order_seq_cst);
	return old;
}

/* ---- the owner of the memory ---- */

/* Serve all pending requests, under memory_lock. Called by the owner's thread
 * when the bell rings. Returns false if there is no memory for the data. */
bool bcl_rma_serve(struct bcl_connection *connection);
/* The same for the thread that serves the sockets, usually the helper. */
void bcl_rma_serve_from_helper(struct bcl_connection *connection);

#endif
