/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Payload of messages: fetched from host memory into a frame, or referred to in
 * place for a host that gathers.
 */
#include <nicfw/payload.h>

#include <nicfw/card.h>
#include <nicfw/dma.h>
#include <nicfw/message.h>

/* Fetch from host memory to the end of the head. */
static enum bcl_dma_result fetch_data(struct bcl_card *card, uint16_t port,
				      int remote, const struct bcl_memref *ref,
				      struct bcl_tx_frame *frame,
				      struct nic_buffer *buffer)
{
	enum bcl_dma_result result;

	result = nic_dma(card, BCL_DMA_READ, port, remote, ref,
			 frame->head + frame->head_len, NIC_JOB_FETCH, NULL,
			 buffer);
	frame->head_len += (uint16_t)ref->length;
	if (!buffer)
		return result;
	/* A fault is handled when all fetches of the frame have ended. */
	if (result == BCL_DMA_PENDING)
		buffer->jobs++;
	else if (result == BCL_DMA_FAULT)
		buffer->fault = 1;
	return BCL_DMA_DONE;
}

static void append_part(struct bcl_tx_frame *frame, uint16_t port, int remote,
			const struct bcl_memref *ref)
{
	struct bcl_tx_part *part = &frame->part[frame->nparts++];

	part->ref = *ref;
	part->port = port;
	part->remote = (uint8_t)remote;
}

/*
 * Append payload that lies in the request itself. A run has it as a part,
 * because the host makes the heads. Returns false on a memory fault.
 */
static bool append_inlined(struct bcl_card *card,
			   const struct nic_message *message, uint32_t offset,
			   struct bcl_memref *ref, struct bcl_tx_frame *frame,
			   struct nic_buffer *buffer)
{
	ref->handle = message->port->requests;
	ref->offset = (uint64_t)message->index * BCL_REQUEST_SIZE +
		      offsetof(struct bcl_request, inlined) + offset;
	if (!card->gather)
		return fetch_data(card, 0, 0, ref, frame, buffer) !=
		       BCL_DMA_FAULT;
	if (frame->frames > 1) {
		append_part(frame, 0, 0, ref);
		return true;
	}
	memcpy(frame->head + frame->head_len,
	       message->port->at.requests[message->index].inlined + offset,
	       ref->length);
	frame->head_len += (uint16_t)ref->length;
	return true;
}

bool bcl_nic_payload(struct bcl_card *card, struct nic_message *message,
		     uint32_t offset, uint32_t length,
		     struct bcl_tx_frame *frame, struct nic_buffer *buffer)
{
	uint16_t owner = message->src_port;
	bool gather =
		card->gather && (length > NIC_COPY_MAX || frame->frames > 1);
	struct bcl_memref ref;
	unsigned i;

	if (message->words) {
		memcpy(frame->head + frame->head_len, message->word, length);
		frame->head_len += (uint16_t)length;
		return true;
	}
	if (offset < message->inline_len && length) {
		ref.length = bcl_min32(message->inline_len - offset, length);
		if (!append_inlined(card, message, offset, &ref, frame, buffer))
			return false;
		offset += ref.length;
		length -= ref.length;
	}
	if (length == 0)
		return true;
	offset -= message->inline_len;
	for (i = 0; i < message->nref && length; i++) {
		ref = message->refs[i];
		if (offset >= ref.length) {
			offset -= ref.length;
			continue;
		}
		ref.offset += offset;
		ref.length = bcl_min32(ref.length - offset, length);
		length -= ref.length;
		offset = 0;
		if (gather && message->remote &&
		    !card->hal.allowed(card->host, BCL_DMA_READ, owner, &ref))
			return false;
		if (gather) {
			append_part(frame, owner, message->remote, &ref);
		} else if (fetch_data(card, owner, message->remote, &ref, frame,
				      buffer) == BCL_DMA_FAULT) {
			return false;
		}
	}
	return true;
}
