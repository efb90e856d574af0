/* SPDX-License-Identifier: MIT */
/*
 * pvm_psend(), pvm_pmcast() and pvm_precv(): from the sender's memory to the
 * receiver's memory, without libpvm's buffers. Not used by a receiver with an
 * older message that matches, nor by a program with handlers or a match
 * function of its own.
 */
#include <sched.h>
#include <stdlib.h>

#include "pvm-glue/glue.h"

/* As in <pvm3.h>. */
INTERPOSED int pvm_psend(int tid, int tag, void *buffer, int count, int type);
INTERPOSED int pvm_precv(int tid, int tag, void *buffer, int count, int type,
			 int *from, int *its_tag, int *length);
/* As in <bcl_pvm.h>. */
INTERPOSED int bcl_pvm_pmcast(int *tids, int ntask, int msgtag, void *buf,
			      int len, int datatype);
INTERPOSED libpvm_match *pvm_recvf(libpvm_match *function);
INTERPOSED int pvm_addmhf(int tid, int tag, int context, int (*function)(int));

static bool user_handles; /* the program has message handlers */
static bool user_matches; /* the program has a match function */

static bool is_traced(void)
{
	return *libpvm.pvmtrc > 0 && *libpvm.pvmtrc != *libpvm.pvmmytid;
}

/* Bytes of `count` elements of a type. -1: the call must go through libpvm. */
static int direct_length(int count, int type)
{
	int length;

	if (!endpoint_ready() || is_traced() || count < 0 ||
	    !libpvm_size_of(type) ||
	    __builtin_mul_overflow(count, libpvm_size_of(type), &length))
		return -1;
	return length;
}

/* ---- pvm_precv() ---- */

/* Wait until the buffer is filled. False: an older message matches, or PVM has
 * failed. */
static bool receive_directly(struct buffer *buffer)
{
	int result = 0;

	while (buffer->state != BUFFER_FILLED && result >= 0 &&
	       buffer_post(buffer))
		result = wait_messages(glue.received, NULL);
	while (buffer->state == BUFFER_CLAIMED) {
		if (!events_poll())
			sched_yield();
	}
	buffer_leave();
	return buffer->state == BUFFER_FILLED;
}

int pvm_precv(int tid, int tag, void *buffer, int count, int type, int *from,
	      int *its_tag, int *length)
{
	int room = direct_length(count, type);
	struct buffer here = { .source = tid,
			       .tag = tag,
			       .memory = buffer,
			       .room = (size_t)room };

	if (!buffer || room < 0 || user_handles || user_matches ||
	    !receive_directly(&here))
		return libpvm.pvm_precv(tid, tag, buffer, count, type, from,
					its_tag, length);
	if (from)
		*from = here.its_source;
	if (its_tag)
		*its_tag = here.its_tag;
	if (length)
		*length = here.its_length;
	return 0;
}

/* ---- pvm_psend(), pvm_pmcast() ---- */

/* Take in messages that have come meanwhile. Returns 0, or libpvm's error. */
static int take_in_messages(void)
{
	int result = wait_after_send(glue.received);

	return result < 0 ? result : 0;
}

int pvm_psend(int tid, int tag, void *buffer, int count, int type)
{
	int length = direct_length(count, type);
	bool sent = false;

	if (length >= 0 && tag >= 0 && libpvm_is_task(tid) &&
	    tid != *libpvm.pvmmytid)
		send_memory(&tid, 1, tag, buffer, length, &sent);
	if (!sent)
		return libpvm.pvm_psend(tid, tag, buffer, count, type);
	return take_in_messages();
}

int bcl_pvm_pmcast(int *tids, int n, int tag, void *buffer, int count, int type)
{
	int i, all = 0, result = 0, length = direct_length(count, type);
	int *others;
	bool *sent;

	if (n < 1)
		return PVM_BAD_PARAMETER;
	others = calloc((size_t)n, sizeof(*others) + sizeof(*sent));
	if (!others)
		return PVM_NO_MEMORY;
	sent = (bool *)(others + n);
	for (i = 0; i < n; i++) {
		if (tids[i] != *libpvm.pvmmytid)
			others[all++] = tids[i];
		if (!libpvm_is_task(tids[i]))
			length = -1;
	}
	if (length >= 0 && tag >= 0)
		send_memory(others, all, tag, buffer, length, sent);
	for (i = 0; i < all && result >= 0; i++) {
		if (!sent[i])
			result = libpvm.pvm_psend(others[i], tag, buffer, count,
						  type);
	}
	free(others);
	return result < 0 ? result : take_in_messages();
}

/* ---- functions of the user ---- */

libpvm_match *pvm_recvf(libpvm_match *function)
{
	static libpvm_match *usual;
	libpvm_match *before;

	if (!libpvm.pvm_recvf)
		libpvm_load();
	before = libpvm.pvm_recvf(function);
	if (!usual)
		usual = before;
	user_matches = function && function != usual;
	return before;
}

int pvm_addmhf(int tid, int tag, int context, int (*function)(int))
{
	if (!libpvm.pvm_addmhf)
		libpvm_load();
	/* handlers of libpvm itself do not count */
	if (context < PVM_SYSTEM_CONTEXT)
		user_handles = true;
	return libpvm.pvm_addmhf(tid, tag, context, function);
}
