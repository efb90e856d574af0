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
#include "pvm-glue/wire.h"

/* As in <pvm3.h>. */
INTERPOSED int pvm_psend(int tid, int tag, void *buffer, int count, int type);
INTERPOSED int pvm_precv(int tid, int tag, void *buffer, int count, int type,
			 int *from, int *its_tag, int *length);
/* As in <bcl_pvm.h>. */
INTERPOSED int bcl_pvm_pmcast(int *tids, int ntask, int msgtag, void *buf,
			      int len, int datatype);
INTERPOSED libpvm_match *pvm_recvf(libpvm_match *function);
INTERPOSED int pvm_addmhf(int tid, int tag, int context, int (*function)(int));

enum state {
	BUFFER_NONE,
	BUFFER_POSTED,
	BUFFER_CLAIMED,
	BUFFER_FILLED,
};

static struct {
	enum state state;
	int source, tag; /* or -1: any */
	void *memory;
	size_t room;
	/* of the message that fills it */
	int its_source, its_tag, its_length;
} posted;

static bool user_handles; /* the program has message handlers */
static bool user_matches; /* the program has a match function */

/* ---- messages that arrive ---- */

static bool matches_posted(int source, int tag, int context)
{
	return (posted.source == -1 || posted.source == source) &&
	       (posted.tag == -1 || posted.tag == tag) &&
	       (*libpvm.pvmmyctx == -1 || *libpvm.pvmmyctx == context);
}

void *buffer_claim(int source, const struct envelope *envelope, size_t *length)
{
	if (posted.state != BUFFER_POSTED ||
	    envelope->encoding != *libpvm.pvmmydsig ||
	    envelope->context == PVM_GROUP_CONTEXT ||
	    !matches_posted(source, envelope->tag, envelope->context))
		return NULL;
	posted.state = BUFFER_CLAIMED;
	posted.its_source = source;
	posted.its_tag = envelope->tag;
	posted.its_length = (int)*length;
	if (*length > posted.room)
		*length = posted.room;
	return posted.memory;
}

void buffer_filled(bool filled)
{
	posted.state = filled ? BUFFER_FILLED : BUFFER_NONE;
}

void buffer_pass(const struct pmsg *message)
{
	if (posted.state == BUFFER_POSTED &&
	    matches_posted(message->source, message->tag, message->context))
		posted.state = BUFFER_NONE;
}

/* ---- pvm_precv() ---- */

static bool has_match(void)
{
	const struct pmsg *list = *libpvm.pvmrxlist, *message;

	for (message = list->next; message != list; message = message->next) {
		if (matches_posted(message->source, message->tag,
				   message->context))
			return true;
	}
	return false;
}

/* Wait until the posted memory is filled. False: an older message matches, or
 * PVM has failed. */
static bool await_filled(void)
{
	int result = 0;

	while (posted.state != BUFFER_FILLED && result >= 0) {
		if (posted.state == BUFFER_NONE && has_match())
			return false;
		if (posted.state == BUFFER_NONE)
			posted.state = BUFFER_POSTED;
		result = wait_messages(glue.received, NULL);
	}
	while (posted.state == BUFFER_CLAIMED) {
		if (!endpoint_poll())
			sched_yield();
	}
	return posted.state == BUFFER_FILLED;
}

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

static bool receive_directly(int tid, int tag, void *buffer, int length)
{
	bool filled;

	posted.source = tid;
	posted.tag = tag;
	posted.memory = buffer;
	posted.room = (size_t)length;
	filled = await_filled();
	posted.state = BUFFER_NONE;
	return filled;
}

int pvm_precv(int tid, int tag, void *buffer, int count, int type, int *from,
	      int *its_tag, int *length)
{
	int room = direct_length(count, type);

	if (!buffer || room < 0 || user_handles || user_matches ||
	    !receive_directly(tid, tag, buffer, room))
		return libpvm.pvm_precv(tid, tag, buffer, count, type, from,
					its_tag, length);
	if (from)
		*from = posted.its_source;
	if (its_tag)
		*its_tag = posted.its_tag;
	if (length)
		*length = posted.its_length;
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
