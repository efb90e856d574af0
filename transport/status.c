/* SPDX-License-Identifier: MIT */
/* The texts of the statuses. */
#include <bcl/bcl.h>

const char *bcl_strstatus(enum bcl_status status)
{
	switch (status) {
	case BCL_OK:
		return "ok";
	case BCL_ERR_AGAIN:
		return "a queue is full or the peer is not connected yet";
	case BCL_ERR_TIMEOUT:
		return "timed out";
	case BCL_ERR_ARG:
		return "wrong argument";
	case BCL_ERR_NOMEM:
		return "out of memory";
	case BCL_ERR_UNSUPPORTED:
		return "not supported on this path, system or build";
	case BCL_ERR_PERM:
		return "not permitted";
	case BCL_ERR_BUSY:
		return "in use";
	case BCL_ERR_EMPTY:
		return "nothing there";
	case BCL_ERR_TRUNCATED:
		return "the message was longer than the buffer";
	case BCL_ERR_CANCELLED:
		return "cancelled";
	case BCL_ERR_MEMORY:
		return "remote memory: unknown, out of bounds or no right";
	case BCL_ERR_NOPORT:
		return "the peer has no such port or channel";
	case BCL_ERR_DEAD:
		return "the peer ended or is silent";
	case BCL_ERR_RESET:
		return "the peer was restarted";
	case BCL_ERR_UNREACHABLE:
		return "the peer does not answer at any of its addresses";
	case BCL_ERR_VERSION:
		return "the peer speaks another version";
	case BCL_ERR_JOBKEY:
		return "the peer belongs to another job";
	case BCL_ERR_ISOLATED:
		return "the peer's node is isolated by the administrator";
	case BCL_ERR_FULL:
		return "the card has all the peers that it has places for";
	case BCL_ERR_CLOSED:
		return "the port was closed";
	case BCL_ERR_FORKED:
		return "called in a forked child";
	case BCL_ERR_SYSTEM:
		return "the operating system refused";
	case BCL_ERR_BOOT:
		return "the launcher did not answer as it should";
	case BCL_ERR_NORAIL:
		return "no usable network";
	}
	return "unknown status";
}
