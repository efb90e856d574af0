/* SPDX-License-Identifier: MIT */
/* The packets that two ports on one host send each other over their socket: the
 * handshake (handshake.h), and later requests that the helper can answer. */
#ifndef BCL_SHM_GREETING_H
#define BCL_SHM_GREETING_H

#include <stdbool.h>
#include <stdint.h>

#include <bcl/wire.h>

struct bcl_connection;

enum {
	BCL_GREETING_MAGIC = 0x53434c42,
	/* To be raised when the greeting, the segment, a message or a claim
	 * changes. The first 8 bytes, and REFUSE, never change. */
	BCL_GREETING_VERSION = 7,
};

enum bcl_greeting_kind {
	BCL_GREETING_HELLO = 1, /* with segment, attention, active, wake */
	BCL_GREETING_ACCEPT,	/* with attention, active, wake */
	BCL_GREETING_READY,
	BCL_GREETING_REFUSE, /* status; BUSY: the calls cross */
	/* when the connection is UP */
	BCL_GREETING_MEMORY, /* handle: asks for a grant (remote.h) */
	/* The answer: status; handle, grant, base, length; with the file of
	 * the memory if that is allocated. */
	BCL_GREETING_GRANT,
	BCL_GREETING_RMA,  /* pending RMA requests for the helper */
	BCL_GREETING_SENT, /* base: how far the sender has sent (audit.h) */
};

enum bcl_greeting_flags {
	BCL_GREETING_BARRIER = 1, /* registered, and may call barrier() */
	/* HELLO: the sender wants attach. ACCEPT, READY: the sender's proof
	 * succeeded, and it wrote `wrote`. */
	BCL_GREETING_ATTACH = 2,
};

struct bcl_greeting {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;
	uint32_t status;
	uint32_t flags;
	uint8_t key[BCL_KEY_SIZE]; /* HELLO: of the job of the called port */
	uint64_t card, to_card;
	uint16_t number, to_number;
	uint32_t slots; /* HELLO: slots of a ring */
	/* The receiver watches this word of the sender's attention page. */
	uint32_t watch;
	uint32_t spare0;
	uint64_t nonce, nonce_address; /* for the proof of attach */
	uint64_t scratch_address;
	uint64_t wrote; /* the value written to the receiver's scratch word */
	uint32_t handle, grant;
	uint64_t base, length;
	uint64_t spare;
};

_Static_assert(sizeof(struct bcl_greeting) == 128, "no holes");

/* A greeting that is filled with all that the peer may need to know of this
 * side. */
struct bcl_greeting bcl_greeting_make(const struct bcl_connection *connection,
				      enum bcl_greeting_kind kind);

/* Send a greeting with descriptors. Returns false if the peer is gone or does
 * not read. */
bool bcl_greeting_send(const struct bcl_connection *connection,
		       const struct bcl_greeting *greeting, const int *fds,
		       unsigned nfds);

#endif
