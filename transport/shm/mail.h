/* SPDX-License-Identifier: MIT */
/*
 * Mails: accesses to memory that the owner has to make itself, in the shared
 * segment, so that its thread and its helper can serve them.
 *
 * Each side has BCL_MAILS of them for its own requests, each with room for
 * BCL_MAIL_DATA bytes. States and who changes them:
 *
 *  FREE   requester fills it in                             ASKED (release)
 *  ASKED  owner: its thread, told by the bell, or its       DONE (release)
 *	   helper, told over the socket after a while,
 *	   under memory_lock
 *  DONE   requester has taken the result                    FREE
 */
#ifndef BCL_SHM_MAIL_H
#define BCL_SHM_MAIL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <bcl/status.h>

struct bcl_connection;

enum {
	BCL_MAILS = 16,
	BCL_MAIL_DATA = 8192, /* bytes */
	BCL_MAIL_AREA = BCL_MAILS * BCL_MAIL_DATA,
};

enum bcl_mail_state {
	BCL_MAIL_FREE,
	BCL_MAIL_ASKED,
	BCL_MAIL_DONE,
};

enum bcl_mail_op {
	BCL_MAIL_PUT = 1,
	BCL_MAIL_GET,
	BCL_MAIL_FETCH_ADD,
	BCL_MAIL_COMPARE_SWAP,
};

struct bcl_mail {
	_Atomic uint32_t state;
	uint32_t op; /* enum bcl_mail_op */
	uint32_t handle;
	uint32_t length; /* PUT, GET: bytes of data */
	uint64_t offset;
	uint64_t operand[2];
	uint64_t result;
	uint32_t status;
	uint32_t spare;
};

_Static_assert(sizeof(struct bcl_mail) == 56, "no holes");

/* What both ways of doing an atomic do. */
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

/* Both take memory_lock and serve all that are there. Its thread, told by the
 * bell; false: there is no memory for them. */
bool bcl_mail_serve(struct bcl_connection *connection);
/* Its helper, or whoever else serves the sockets. */
void bcl_mail_serve_told(struct bcl_connection *connection);

#endif
