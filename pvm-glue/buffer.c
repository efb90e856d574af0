/* SPDX-License-Identifier: MIT */
/* The buffer of a pvm_precv(): a message that arrives goes there without
 * libpvm's buffers, unless an older message matches. */
#include "pvm-glue/glue.h"
#include "pvm-glue/wire.h"

static struct buffer *posted; /* NULL: no pvm_precv() waits */

static bool matches_posted(int source, int tag, int context)
{
	return (posted->source == -1 || posted->source == source) &&
	       (posted->tag == -1 || posted->tag == tag) &&
	       (*libpvm.pvmmyctx == -1 || *libpvm.pvmmyctx == context);
}

void *buffer_claim(int source, const struct envelope *envelope, size_t *length)
{
	if (!posted || posted->state != BUFFER_POSTED ||
	    envelope->encoding != *libpvm.pvmmydsig ||
	    envelope->context == PVM_GROUP_CONTEXT ||
	    !matches_posted(source, envelope->tag, envelope->context))
		return NULL;
	posted->state = BUFFER_CLAIMED;
	posted->its_source = source;
	posted->its_tag = envelope->tag;
	posted->its_length = (int)*length;
	if (*length > posted->room)
		*length = posted->room;
	return posted->memory;
}

void buffer_filled(bool filled)
{
	posted->state = filled ? BUFFER_FILLED : BUFFER_IDLE;
}

void buffer_pass(const struct pmsg *message)
{
	if (posted && posted->state == BUFFER_POSTED &&
	    matches_posted(message->source, message->tag, message->context))
		posted->state = BUFFER_IDLE;
}

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

bool buffer_post(struct buffer *buffer)
{
	posted = buffer;
	if (buffer->state != BUFFER_IDLE)
		return true;
	if (has_match())
		return false;
	buffer->state = BUFFER_POSTED;
	return true;
}

void buffer_leave(void)
{
	posted = NULL;
}
