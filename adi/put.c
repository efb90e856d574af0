/* SPDX-License-Identifier: MIT */
/* Messages that a sender puts into a window of the receiver, for collectives;
 * see internal.h. The sender's transport writes the data. BCL_EVENT_NOTIFY
 * tells the receiver: bcl_adi_put_arrived() in arrive.c. */
#include "adi/protocol.h"
#include "transport/key.h"

enum bcl_status bcl_adi_target_open(struct bcl_adi *adi,
				    struct bcl_adi_target *target, void *memory,
				    size_t length, unsigned tag,
				    unsigned context)
{
	enum bcl_status status;

	status = bcl_memory_register(adi->context, memory, length,
				     BCL_REMOTE_WRITE, &target->memory);
	if (status)
		return status;
	bcl_memory_key(target->memory, target->key);
	target->handle = bcl_key_unpack(target->key).handle;
	target->tag = tag;
	target->context = context;
	target->next = adi->targets;
	adi->targets = target;
	return BCL_OK;
}

void bcl_adi_target_close(struct bcl_adi *adi, struct bcl_adi_target *target)
{
	struct bcl_adi_target **link = &adi->targets;

	while (*link != target)
		link = &(*link)->next;
	*link = target->next;
	bcl_memory_release(target->memory);
}

enum bcl_status bcl_request_put(struct bcl_adi *adi,
				struct bcl_adi_request *request)
{
	enum bcl_status status;

	status = bcl_put_notify(
		request->peer->peer, request->token, request->remote,
		request->buffer, request->length, BCL_ADI_PUT,
		bcl_key_unpack(request->token).handle, (uintptr_t)request);
	if (status == BCL_ERR_AGAIN)
		return status;
	if (status) {
		bcl_request_complete(adi, request, status);
		return BCL_OK;
	}
	request->state = BCL_REQUEST_SENT;
	bcl_count(adi->counters, adi_sent_put);
	return BCL_OK;
}
