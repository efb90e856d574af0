/* SPDX-License-Identifier: MIT */
/*
 * Remote memory access inside a host.
 *
 * Who wants to use a peer's memory asks for a grant first, over the
 * connection's socket, where the peer's helper thread answers too. The grant
 * is a word in the segment that the owner sets to the handle, and clears when
 * the memory is released.
 *
 *  allocated   memory is mapped: accesses are loads and stores.
 *  registered  memory is copied by attach. The initiator stores the handle in
 *		`busy`, then looks at the grant; the owner clears the grant,
 *		then waits until `busy` is another (a full fence between the
 *		two, on both sides): no copy hits memory after
 *		bcl_memory_release(), however late it begins.
 *  otherwise   without attach, when grants run out, and for atomics on
 *		registered memory: the owner is asked by a request
 *(rma_request.h).
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
	BCL_ACCESSES = 32, /* not finished, by request, at a time */
};

enum bcl_remote_state {
	BCL_REMOTE_FREE,
	BCL_REMOTE_ASKED,
	BCL_REMOTE_GRANTED,
	BCL_REMOTE_MAIL,    /* exists, but there is no grant left */
	BCL_REMOTE_REFUSED, /* there is no such memory */
};

/* A peer's memory, as its user sees it. */
struct bcl_remote {
	/* set last, by the holder of the service lock; read by the owner of
	 * this side's port */
	_Atomic uint32_t state;
	uint32_t handle;
	uint32_t grant;	 /* which word */
	unsigned maps;	 /* bcl_memory_map() without its unmap */
	uint64_t base;	 /* its address there */
	uint64_t length; /* 0: MAIL */
	void *mapped;	 /* NULL: registered */
};

/* Something that goes by request, in pieces if it is long. */
struct bcl_access {
	uint8_t op; /* enum bcl_rma_op; 0: free */
	uint8_t status;
	bool begun, finished;
	bool notify; /* then send NOTIFY; until then nothing else */
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
	unsigned asked;	 /* questions without an answer; service lock */
	unsigned victim; /* to be forgotten next */
	struct bcl_access access[BCL_ACCESSES];
	unsigned accesses; /* in use */
	struct {
		struct bcl_access *access; /* NULL: free */
		uint64_t at;		   /* of its bytes */
		uint32_t length;
	} request[BCL_RMA_REQUESTS];
	uint64_t poke_at; /* now(): when to tell the helper */
};

/* The table, made if need be; NULL: no memory. */
struct bcl_remotes *bcl_remotes_use(struct bcl_connection *connection);
void bcl_remotes_free(struct bcl_connection *connection);

/* ---- remote.c: memory of the peer ---- */

/*
 * What is known of the memory that the key names. OK: *remote is GRANTED or
 * MAIL. AGAIN: the peer is asked. MEMORY: there is no such memory.
 */
enum bcl_status bcl_remote_find(struct bcl_connection *connection,
				const struct bcl_key *key,
				struct bcl_remote **remote);
/* Is it still granted? Else it is forgotten. */
bool bcl_remote_valid(struct bcl_connection *connection,
		      struct bcl_remote *remote);
/* The answer; under the service lock. */
void bcl_remote_take(struct bcl_connection *connection,
		     const struct bcl_greeting *answer, const int *fds,
		     unsigned nfds);
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

/* Begin what *access describes. AGAIN: too many. NOMEM. */
enum bcl_status bcl_rma_begin(struct bcl_connection *connection,
			      const struct bcl_access *access);
/* True: some are not finished. */
bool bcl_rma_progress(struct bcl_connection *connection);
bool bcl_rma_ready(struct bcl_connection *connection);
/* This side goes to sleep, and cannot tell the peer's helper later. True: nor
 * could it be told just now. */
bool bcl_rma_sleep(struct bcl_connection *connection);
/* The peer is lost: events with the status. */
void bcl_rma_end(struct bcl_connection *connection, enum bcl_status status);

/* ---- grant.c: the owner of the memory ---- */

/* A peer asks; under the service lock. */
void bcl_grant_answer(struct bcl_connection *connection,
		      const struct bcl_greeting *question);
/* The owner of the port lets go of the connection: the peer accesses nothing
 * from now on. Waits for a copy that it has begun, while it lives. Under the
 * service lock, or where nobody else serves the port any more. */
void bcl_grants_end(struct bcl_connection *connection);

#endif
