/* SPDX-License-Identifier: MIT */
/* What two ports on one host say to one another over their socket. */
#ifndef BCL_SHM_GREETING_H
#define BCL_SHM_GREETING_H

#include <stdbool.h>
#include <stdint.h>

#include <bcl/wire.h>

struct bcl_connection;

enum {
	BCL_GREETING_MAGIC = 0x53434c42,
	/* Raised when the greeting, the segment, a message or a claim changes.
	 * The first 8 bytes and REFUSE never do. */
	BCL_GREETING_VERSION = 5,
};

enum bcl_greeting_kind {
	BCL_GREETING_HELLO = 1, /* segment, attention, active, wake */
	BCL_GREETING_ACCEPT,	/* attention, active, wake */
	BCL_GREETING_READY,
	BCL_GREETING_REFUSE, /* status; BUSY: crossing */
	/* later, see remote.h */
	BCL_GREETING_MEMORY, /* handle: may I use it? */
	BCL_GREETING_GRANT,  /* status; handle, grant, base, length; the memory
			      * if it is allocated */
	BCL_GREETING_RMA,    /* there are RMA requests that nobody takes */
	BCL_GREETING_SENT,   /* base: how far I have sent, see audit.h */
};

enum bcl_greeting_flags {
	BCL_GREETING_BARRIER = 1, /* has registered, and may call barrier() */
	BCL_GREETING_ATTACH = 2,  /* HELLO: wants it; ACCEPT, READY: the proof
				   * succeeded, `wrote` was written */
};

struct bcl_greeting {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;
	uint32_t status;
	uint32_t flags;
	uint8_t key[BCL_KEY_SIZE]; /* HELLO: of the job that is called */
	uint64_t card, to_card;
	uint16_t number, to_number;
	uint32_t slots; /* HELLO: of a ring */
	uint32_t watch; /* word of the sender's attention page to be watched */
	uint32_t spare0;
	uint64_t nonce, nonce_address; /* to prove attach with */
	uint64_t scratch_address;
	uint64_t wrote; /* to the receiver's scratch word */
	uint32_t handle, grant;
	uint64_t base, length;
	uint64_t spare;
};

_Static_assert(sizeof(struct bcl_greeting) == 128, "no holes");

/* A greeting with everything about this side that it may need. */
struct bcl_greeting bcl_greeting_make(const struct bcl_connection *connection,
				      enum bcl_greeting_kind kind);

/* With descriptors. False: the peer is gone, or does not read. */
bool bcl_greeting_send(const struct bcl_connection *connection,
		       const struct bcl_greeting *greeting, const int *fds,
		       unsigned nfds);

#endif
