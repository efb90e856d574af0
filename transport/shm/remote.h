/* SPDX-License-Identifier: MIT */
/*
 * Remote memory access inside a host.
 *
 * A side that wants to use a peer's memory first asks for a grant, over the
 * socket of the connection; the peer's helper thread can answer, too. The grant
 * is a word in the segment. The owner of the memory sets the word to the handle
 * and clears it when the memory is released.
 *
 *  allocated   memory is mapped; accesses are loads and stores.
 *  registered  memory is copied by attach. The initiator stores the handle in
 *		`busy`, then looks at the grant. The owner clears the grant,
 *		then waits until `busy` has another value. Both have a full
 *		fence between the two steps. So no copy hits memory after
 *		bcl_memory_release(), however late the copy begins. Only a copy
 *		that takes longer than REVOKE_TIME (grant.c) is not waited for:
 *		the owner gives the peer up.
 *  otherwise   the initiator sends the owner a request (rma_request.h):
 *		without attach, when no grant is left, and for atomics on
 *		registered memory.
 */
#ifndef BCL_SHM_REMOTE_H
#define BCL_SHM_REMOTE_H

#include <bcl/bcl.h>

#include "transport/key.h"
#include "transport/shm/rma_request.h"

struct bcl_connection;
struct bcl_greeting;

enum {
	BCL_REMOTES = 64,  /* memories of a peer known at a time */
	BCL_GRANTS = 256,  /* words of a side */
	BCL_ACCESSES = 32, /* accesses by request at a time */
};

enum bcl_remote_state {
	BCL_REMOTE_FREE,
	BCL_REMOTE_ASKED,
	BCL_REMOTE_GRANTED,
	BCL_REMOTE_RMA,	    /* exists, but is used by request */
	BCL_REMOTE_REFUSED, /* there is no such memory */
};

/* Memory of a peer, as this side knows it. */
struct bcl_remote {
	/* Set last, under the service lock; read by the owner of this side's
	 * port. */
	_Atomic uint32_t state;
	uint32_t handle;
	uint32_t grant;	 /* index of the word */
	unsigned maps;	 /* calls of bcl_memory_map() less unmap */
	uint64_t base;	 /* address in the peer's process */
	uint64_t length; /* 0: MAIL */
	void *mapped;	 /* NULL: registered, or MAIL */
};

/* An access by request, cut into pieces if it is long. */
struct bcl_access {
	uint8_t op; /* enum bcl_rma_op; 0: free */
	uint8_t status;
	bool begun, finished;
	bool notify; /* NOTIFY follows; no sends before that */
	uint8_t type;
	uint32_t immediate;
	uint32_t handle;
	uint64_t offset;
	uint8_t *buffer;
	uint64_t length, asked, done; /* bytes */
	uint64_t operand[2];
	uint64_t cookie;
};

struct bcl_remotes {
	struct bcl_remote remote[BCL_REMOTES];
	unsigned asked;	 /* questions not answered; service lock */
	unsigned victim; /* the next to be forgotten */
	struct bcl_access access[BCL_ACCESSES];
	unsigned accesses; /* in use */
	struct {
		struct bcl_access *access; /* NULL: free */
		uint64_t at;		   /* offset of the piece, bytes */
		uint32_t length;
	} request[BCL_RMA_REQUESTS];
	uint64_t poke_at; /* now(): when to tell the peer's helper */
};

/* The table, made on first use; NULL: no memory. */
struct bcl_remotes *bcl_remotes_use(struct bcl_connection *connection);
void bcl_remotes_free(struct bcl_connection *connection);

/* ---- remote.c: memory of the peer ---- */

/*
 * Find the memory that the key names. OK: *remote is GRANTED or MAIL. AGAIN:
 * the peer was asked, or is to be asked later. MEMORY: there is no such memory.
 * NOMEM: no table.
 */
enum bcl_status bcl_remote_find(struct bcl_connection *connection,
				const struct bcl_key *key,
				struct bcl_remote **remote);
/* True if the memory is still granted. If not, the record is forgotten, unless
 * the program has mapped the memory. */
bool bcl_remote_valid(struct bcl_connection *connection,
		      struct bcl_remote *remote);
/* Handle the answer GRANT. Under the service lock. */
void bcl_remote_take(struct bcl_connection *connection,
		     const struct bcl_greeting *answer, const int *fds,
		     unsigned nfds);

/* ---- map.c: path operations ---- */

enum bcl_status bcl_remote_map(struct bcl_peer *peer, const void *key,
			       void **address);
void bcl_remote_unmap(struct bcl_peer *peer, const void *key);

/* ---- access.c: path operations ---- */

enum bcl_status bcl_access_put(struct bcl_peer *peer, const void *key,
			       uint64_t offset, const void *buffer,
			       size_t length, uint64_t cookie);
enum bcl_status bcl_access_get(struct bcl_peer *peer, const void *key,
			       uint64_t offset, void *buffer, size_t length,
			       uint64_t cookie);
enum bcl_status bcl_access_put_notify(struct bcl_peer *peer, const void *key,
				      uint64_t offset, const void *buffer,
				      size_t length, unsigned type,
				      uint32_t immediate, uint64_t cookie);
enum bcl_status bcl_access_atomic(struct bcl_peer *peer, const void *key,
				  uint64_t offset, bool compare,
				  const uint64_t operand[2], uint64_t *result,
				  uint64_t cookie);
enum bcl_status bcl_access_fence(struct bcl_peer *peer, uint64_t cookie);

/* ---- rma_request.c: the requesting side ---- */

/* Begin the access. AGAIN: too many are under way. NOMEM. */
enum bcl_status bcl_rma_begin(struct bcl_connection *connection,
			      const struct bcl_access *access);
/* Make progress. bcl_rma_progress() returns true if some accesses are not
 * finished; bcl_rma_ready() returns true if a request is answered. */
bool bcl_rma_progress(struct bcl_connection *connection);
bool bcl_rma_ready(struct bcl_connection *connection);
/* This side goes to sleep and cannot tell the peer's helper later, so it does
 * so now. Returns true if that was impossible just now. */
bool bcl_rma_sleep(struct bcl_connection *connection);
/* The peer is lost: push events with the status. */
void bcl_rma_end(struct bcl_connection *connection, enum bcl_status status);

/* ---- grant.c: the owner of the memory ---- */

/* Answer a peer that asks for a grant. Under the service lock. */
void bcl_grant_answer(struct bcl_connection *connection,
		      const struct bcl_greeting *question);
/* The owner of the port lets the connection go: from now on the peer accesses
 * nothing. Waits for a copy that the peer has begun, while the peer lives and
 * at most REVOKE_TIME. Under the service lock. */
void bcl_grants_end(struct bcl_connection *connection);

#endif
