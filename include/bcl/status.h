/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Status codes. Every function that can fail returns one. A function writes its
 * results, through its last pointers, only if it returns BCL_OK.
 *
 * The codes are grouped by what is lost, so that a caller can decide without
 * knowing each code: bcl_status_loss() names the group.
 */
#ifndef BCL_STATUS_H
#define BCL_STATUS_H

enum bcl_status {
	BCL_OK = 0,

	/* Nothing is lost: the call had no effect. */
	BCL_ERR_AGAIN = 1,	 /* a queue is full: make progress, repeat */
	BCL_ERR_TIMEOUT = 2,	 /* the given time passed */
	BCL_ERR_ARG = 3,	 /* an argument is wrong */
	BCL_ERR_NOMEM = 4,	 /* no memory, or no space in shared memory */
	BCL_ERR_UNSUPPORTED = 5, /* not on this path, system or build */
	BCL_ERR_PERM = 6,	 /* missing privilege or right */
	BCL_ERR_BUSY = 7,	 /* the object is in use */
	BCL_ERR_EMPTY = 8,	 /* nothing there (poll, probe, test) */

	/* The request is lost; the peer is not. */
	BCL_ERR_TRUNCATED = 32, /* the message was longer than the buffer */
	BCL_ERR_CANCELLED = 33, /* cancelled by its owner */
	BCL_ERR_MEMORY = 34, /* memory handle, bounds or rights at the target */
	BCL_ERR_NOPORT = 35, /* the peer's card has no such port or channel */

	/* The peer is lost until the caller connects it again. */
	BCL_ERR_DEAD = 64,	  /* silent beyond BCL_PEER_TIMEOUT, or ended */
	BCL_ERR_RESET = 65,	  /* the peer's card was restarted */
	BCL_ERR_UNREACHABLE = 66, /* no address of the peer answers */
	BCL_ERR_VERSION = 67,	  /* the peer speaks another wire version */
	BCL_ERR_JOBKEY = 68,	  /* the peer belongs to another job */
	BCL_ERR_ISOLATED = 69,	  /* isolated by the administrator */
	BCL_ERR_FULL = 70,	  /* no place in the card for one more peer */

	/* The port is lost. */
	BCL_ERR_CLOSED = 96, /* the port was closed */

	/* The whole context is lost. */
	BCL_ERR_FORKED = 128, /* called in a forked child */
	BCL_ERR_SYSTEM = 129, /* the operating system refused; see the log */
	BCL_ERR_BOOT = 130,   /* the launcher's key-value space failed */
	BCL_ERR_NORAIL = 131, /* no usable network and the peer needs one */
};

enum bcl_loss {
	BCL_LOSS_NOTHING,
	BCL_LOSS_REQUEST,
	BCL_LOSS_PEER,
	BCL_LOSS_PORT,
	BCL_LOSS_CONTEXT,
};

static inline enum bcl_loss bcl_status_loss(enum bcl_status status)
{
	if (status < 32)
		return BCL_LOSS_NOTHING;
	if (status < 64)
		return BCL_LOSS_REQUEST;
	if (status < 96)
		return BCL_LOSS_PEER;
	if (status < 128)
		return BCL_LOSS_PORT;
	return BCL_LOSS_CONTEXT;
}

#endif
