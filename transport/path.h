/* SPDX-License-Identifier: MIT */
/* The contract between the transport and a path: the port itself, shared
 * memory, the card. */
#ifndef BCL_PATH_H
#define BCL_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcl/bcl.h>

/*
 * The operations of a path, with the semantics of bcl/bcl.h. Mandatory: send,
 * reserve, commit, info and close. An operation that is NULL is unsupported on
 * the path, unless the slot says otherwise.
 *
 * Caller and locks: only the owner of the port calls, with arguments that were
 * checked. While a peer is CONNECTING or LOST the caller gets only as far as
 * send, reserve and commit of none_ops (peer.c), and info and close. The caller
 * holds no lock of the transport: an operation may take the service lock,
 * memory_lock or the card's lock. Only map() waits for a peer. The others wait
 * at most for such a lock, and may enter the kernel: to send frames, to wake a
 * peer, to copy by attach.
 *
 * Buffers: with cookie 0 the operation has copied the data when the call
 * returns. Otherwise OK means that the buffer belongs to the path until the
 * event with the cookie; the event may be queued before the call returns. With
 * any other status nothing has begun, the buffer is the caller's, and no event
 * follows.
 *
 * Statuses of reserve() and of operations with a cookie: AGAIN, there is no
 * room now (a path with has_room() notes by bcl_peer_refuse() that a ring was
 * full); NOMEM, there is no memory for a record or for the event. A slot's
 * comment names only further statuses.
 */
struct bcl_path_ops {
	enum bcl_path path;
	/* `length` is the sum of the pieces. On the shared path messages go
	 * by peer->pair; send() is called only while the pair is blocked, and
	 * returns AGAIN. */
	enum bcl_status (*send)(struct bcl_peer *peer, unsigned type,
				uint64_t immediate, const struct iovec *iov,
				unsigned niov, size_t length, uint64_t cookie);
	/* Bytes of a long message, with a cookie, that send() takes: more
	 * than BCL_MESSAGE_MAX. Has no effects. NULL: the path takes no long
	 * message. */
	size_t (*longest)(const struct bcl_peer *peer);
	/* OK: *room, of `length` bytes, belongs to the caller until commit(),
	 * the peer's close or the peer's loss. */
	enum bcl_status (*reserve)(struct bcl_peer *peer, size_t length,
				   void **room);
	/* OK: the room is the path's again. ARG: nothing is reserved, or less
	 * than `length`; a reservation stays. NOMEM: likewise stays. */
	enum bcl_status (*commit)(struct bcl_peer *peer, unsigned type,
				  uint64_t immediate, size_t length);
	/* NOPORT, from the self path: there is no such channel; other paths
	 * tell by the event. UNSUPPORTED, from the card: 4 GB or more. */
	enum bcl_status (*send_channel)(struct bcl_peer *peer, unsigned channel,
					const void *buffer, size_t length,
					uint64_t cookie);
	/* Writes BCL_KEY_MAX bytes to `token` if OK. */
	enum bcl_status (*offer)(struct bcl_peer *peer, const void *buffer,
				 size_t length, uint64_t cookie, void *token);
	/* OK: the buffer is the caller's again, and no event follows. BUSY: the
	 * event follows, or has come before. ARG: not an offer of this port. */
	enum bcl_status (*withdraw)(struct bcl_peer *peer, const void *token);
	/* ARG: the token is not from this peer, or offers less. A token of an
	 * offer that has ended is found in the event. */
	enum bcl_status (*pull)(struct bcl_peer *peer, const void *token,
				void *buffer, size_t length, uint64_t cookie);
	/* Blocks for an exchange with the peer's process, at most
	 * BCL_PEER_TIMEOUT (TIMEOUT). OK: *address stays mapped until unmap(),
	 * also after the loss of the peer. MEMORY: there is no such memory.
	 * DEAD: the peer has ended. UNSUPPORTED: the memory can be used by
	 * requests only. NOMEM: too many memories are mapped. */
	enum bcl_status (*map)(struct bcl_peer *peer, const void *key,
			       void **address);
	/* NULL: the caller calls bcl_shm_unmap(), for a mapping from the time
	 * when the peer was on shared memory. */
	void (*unmap)(struct bcl_peer *peer, const void *key);
	/* put() to atomic(): a failure at the target is in the event. NOMEM for
	 * want of room for the event may come after the access. */
	enum bcl_status (*put)(struct bcl_peer *peer, const void *key,
			       uint64_t offset, const void *buffer,
			       size_t length, uint64_t cookie);
	enum bcl_status (*get)(struct bcl_peer *peer, const void *key,
			       uint64_t offset, void *buffer, size_t length,
			       uint64_t cookie);
	enum bcl_status (*put_notify)(struct bcl_peer *peer, const void *key,
				      uint64_t offset, const void *buffer,
				      size_t length, unsigned type,
				      uint32_t immediate, uint64_t cookie);
	/* The path copies `operand` before the call returns; `result` is the
	 * buffer. */
	enum bcl_status (*atomic)(struct bcl_peer *peer, const void *key,
				  uint64_t offset, bool compare,
				  const uint64_t operand[2], uint64_t *result,
				  uint64_t cookie);
	/* AGAIN: pieces of earlier operations are not submitted yet, too. */
	enum bcl_status (*fence)(struct bcl_peer *peer, uint64_t cookie);
	/* True if there is room for a message after one was refused. Only
	 * loads. NULL: the path never tells. */
	bool (*has_room)(const struct bcl_peer *peer);
	/* Fills in members that depend on the path; the others are filled in,
	 * or zero. */
	void (*info)(const struct bcl_peer *peer, struct bcl_peer_info *info);
	/* The program has closed the peer: `opened` and `closed` say so
	 * already. Frees a reservation. Operations under way go on. May end in
	 * bcl_peer_part(), so peer->ops may be another table afterwards. */
	void (*close)(struct bcl_peer *peer);
	/* bcl_peer_open() gives the handle out again before the path has let
	 * go of the peer. NULL: the path need not know. */
	void (*open)(struct bcl_peer *peer);
};

#endif
