/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * SDMA: from host memory to the card. Requests become messages; payload is
 * fetched, or named in place for a host that gathers.
 *
 * What a user can write (the count, a submits[] entry, a request) is read
 * once into card memory and then checked there.
 */
#include <nicfw/card.h>

/* A message is left for replies, and no port takes more than half of the
 * others while somebody else may want them. */
static int may_take(const struct bcl_card *card, const struct nic_port *port)
{
	return card->messages.left > card->reserve &&
	       port->messages < card->messages.left;
}

static uint64_t sum_of_parts(const struct nic_message *message)
{
	uint64_t sum = message->inline_len;
	unsigned i;

	for (i = 0; i < message->nref; i++)
		sum += message->refs[i].length;
	return sum;
}

static int payload_right(const struct nic_message *message)
{
	switch (message->op) {
	case BCL_REQ_SYSTEM:
		if (message->length > BCL_SYSTEM_MAX)
			return 0;
		/* fallthrough */
	case BCL_REQ_CHANNEL:
	case BCL_REQ_PUT:
	case BCL_REQ_PUT_NOTIFY:
		return sum_of_parts(message) == message->length;
	case BCL_REQ_GET:
		return message->inline_len == 0 &&
		       message->type <= BCL_GET_CHANNEL_LAST &&
		       sum_of_parts(message) >= message->length &&
		       message->nref <= 1;
	case BCL_REQ_FETCH_ADD:
		return message->inline_len == 8 && message->nref == 1 &&
		       message->refs[0].length >= 8;
	case BCL_REQ_COMPARE_SWAP:
		return message->inline_len == 16 && message->nref == 1 &&
		       message->refs[0].length >= 8;
	case BCL_REQ_FENCE:
		return 1;
	}
	return 0;
}

static void read_operands(struct nic_message *message,
			  const struct bcl_request *request)
{
	uint64_t operand[2];

	memcpy(operand, request->inlined, sizeof(operand));
	message->word[0] = bcl_put64(nic_host64(operand[0]));
	message->word[1] = bcl_put64(nic_host64(operand[1]));
	message->words = (uint8_t)message->inline_len;
	message->length = message->inline_len;
	message->inline_len = 0;
	message->nref = 0;
}

/* A request whose node is unknown is still answered. */
static void refuse(struct bcl_card *card, struct nic_port *port, uint32_t index,
		   enum bcl_status status)
{
	const struct bcl_request *request = &port->request;
	struct bcl_completion entry = {
		.cookie = nic_host64(request->cookie),
		.index = index,
		.node = nic_host32(request->node),
		.status = (uint16_t)status,
		.kind = BCL_CQ_SENT,
	};

	if (status == BCL_ERR_ARG)
		nic_count(card, requests_wrong);
	bcl_nic_port_event(card, port, BCL_QUEUE_SENDS, &entry);
}

static void take(struct bcl_card *card, struct nic_port *port)
{
	const struct bcl_request *request = &port->request;
	struct nic_node *node =
		bcl_nic_node_at(card, nic_host32(request->node));
	struct nic_message *message;
	enum bcl_status status;
	unsigned i;

	if (!node) {
		refuse(card, port, port->index, BCL_ERR_ARG);
		return;
	}
	if (node->status) {
		refuse(card, port, port->index, node->status);
		return;
	}
	message = bcl_nic_message_take(card, port, node);
	message->op = request->op;
	message->type = request->type;
	message->src_port = port->number;
	message->dst_port = nic_host16(request->dst_port);
	message->target = nic_host32(request->target);
	message->length = nic_host32(request->length);
	message->targ64 = nic_host64(request->targ64);
	message->cookie = nic_host64(request->cookie);
	message->arg32 = nic_host32(request->arg32);
	message->index = port->index;
	message->inline_len = nic_host16(request->inline_len);
	i = nic_host16(request->nref);
	if (message->inline_len > BCL_REQUEST_INLINE || i > BCL_REQUEST_REFS) {
		bcl_nic_message_free(card, message);
		refuse(card, port, port->index, BCL_ERR_ARG);
		return;
	}
	message->nref = (uint8_t)i;
	while (i-- > 0) {
		message->refs[i].offset = nic_host64(request->refs[i].offset);
		message->refs[i].handle = nic_host32(request->refs[i].handle);
		message->refs[i].length = nic_host32(request->refs[i].length);
	}
	if (!payload_right(message)) {
		bcl_nic_message_free(card, message);
		refuse(card, port, port->index, BCL_ERR_ARG);
		return;
	}
	if (message->op == BCL_REQ_FETCH_ADD ||
	    message->op == BCL_REQ_COMPARE_SWAP)
		read_operands(message, request);
	status = bcl_nic_node_want(card, node);
	if (status) {
		bcl_nic_message_free(card, message);
		refuse(card, port, port->index, status);
		return;
	}
	bcl_nic_flow_submit(card, message);
}

static void count_read(struct bcl_card *card, struct nic_port *port)
{
	uint32_t made = nic_host32(port->word[0]);

	if (made - port->taken > port->nrequests) {
		nic_count(card, submits_wrong);
		made = port->taken;
	}
	port->made = made;
	port->step = NIC_INTAKE_IDLE;
}

static void submit_read(struct bcl_card *card, struct nic_port *port)
{
	port->taken++;
	port->index = nic_host32(port->index);
	port->step = NIC_INTAKE_REQUEST;
	if (port->index < port->nrequests)
		return;
	memset(&port->request, 0, sizeof(port->request));
	refuse(card, port, port->index, BCL_ERR_ARG);
	port->step = NIC_INTAKE_IDLE;
}

/* Start the next read of a port, which has something to read. */
static enum bcl_dma_result read_next(struct bcl_card *card,
				     struct nic_port *port)
{
	struct bcl_memref ref = { 0, port->requests, 4 };
	enum bcl_dma_result result;
	void *to = &port->index;

	if (port->step == NIC_INTAKE_REQUEST) {
		ref.offset = (uint64_t)port->index * BCL_REQUEST_SIZE;
		ref.length = BCL_REQUEST_SIZE;
		to = &port->request;
	} else if (port->made != port->taken) {
		port->step = NIC_INTAKE_SUBMIT;
		ref.offset = (uint64_t)port->nrequests * BCL_REQUEST_SIZE +
			     (port->taken & (port->nrequests - 1)) * 4;
	} else {
		port->rung = 0;
		port->step = NIC_INTAKE_COUNT;
		ref.handle = port->indices;
		to = &port->word[0];
	}
	result = nic_dma(card, BCL_DMA_READ, 0, 0, &ref, to, NIC_JOB_INTAKE,
			     port, NULL);
	if (result == BCL_DMA_PENDING) {
		port->jobs++;
		port->reading = 1;
	}
	return result;
}

/* What was being read has come. */
static void step(struct bcl_card *card, struct nic_port *port)
{
	switch ((enum nic_intake)port->step) {
	case NIC_INTAKE_COUNT:
		count_read(card, port);
		break;
	case NIC_INTAKE_SUBMIT:
		submit_read(card, port);
		break;
	case NIC_INTAKE_REQUEST:
		port->step = NIC_INTAKE_IDLE;
		take(card, port);
		break;
	case NIC_INTAKE_IDLE:
		break;
	}
}

static int more(const struct nic_port *port)
{
	return port->made != port->taken || port->rung ||
	       port->step != NIC_INTAKE_IDLE;
}

/* One port until it has nothing more, waits for a dma, or the pool is low. */
static void intake(struct bcl_card *card, struct nic_port *port,
		   unsigned *budget)
{
	enum bcl_dma_result result = BCL_DMA_DONE;

	while (!port->reading && *budget) {
		if (!may_take(card, port) ||
		    (!card->gather && card->jobs.left == 0))
			return;
		if (result == BCL_DMA_FAULT || !more(port)) {
			port->step = NIC_INTAKE_IDLE;
			nic_list_remove(&port->intake);
			return;
		}
		result = read_next(card, port);
		if (result == BCL_DMA_DONE)
			step(card, port);
		if (port->step == NIC_INTAKE_IDLE)
			--*budget;
	}
}

void __attribute__((flatten))
bcl_nic_sdma_intake(struct bcl_card *card, unsigned *budget)
{
	struct nic_link *link, *next;

	for (link = card->intake.next; link != &card->intake && *budget;
	     link = next) {
		next = link->next;
		intake(card, nic_container(link, struct nic_port, intake),
		       budget);
	}
}

void bcl_nic_sdma_fetched(struct bcl_card *card, struct nic_port *port,
			  enum bcl_dma_result result)
{
	port->reading = 0;
	if (result == BCL_DMA_DONE)
		step(card, port);
	else
		port->step = NIC_INTAKE_IDLE;
}

/* Copy from host memory to the end of the head. */
static enum bcl_dma_result copy(struct bcl_card *card, uint16_t port,
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
	/* A fault is dealt with when all that was started has ended. */
	if (result == BCL_DMA_PENDING)
		buffer->jobs++;
	else if (result == BCL_DMA_FAULT)
		buffer->fault = 1;
	return BCL_DMA_DONE;
}

static int copy_inlined(struct bcl_card *card,
			const struct nic_message *message, uint32_t offset,
			struct bcl_memref *ref, struct bcl_tx_frame *frame,
			struct nic_buffer *buffer)
{
	ref->handle = message->port->requests;
	ref->offset = (uint64_t)message->index * BCL_REQUEST_SIZE +
		      offsetof(struct bcl_request, inlined) + offset;
	return copy(card, 0, 0, ref, frame, buffer) != BCL_DMA_FAULT;
}

int bcl_nic_sdma_payload(struct bcl_card *card, struct nic_message *message,
			 uint32_t offset, uint32_t length,
			 struct bcl_tx_frame *frame, struct nic_buffer *buffer)
{
	uint16_t owner = message->src_port;
	int gather = card->gather && length > NIC_COPY_MAX;
	struct bcl_tx_part *part;
	struct bcl_memref ref;
	unsigned i;

	if (message->words) {
		memcpy(frame->head + frame->head_len, message->word, length);
		frame->head_len += (uint16_t)length;
		return 1;
	}
	if (offset < message->inline_len && length) {
		ref.length = nic_min32(message->inline_len - offset, length);
		if (card->gather && message->index == message->port->index) {
			/* It is the request that was read last. */
			memcpy(frame->head + frame->head_len,
			       message->port->request.inlined + offset,
			       ref.length);
			frame->head_len += (uint16_t)ref.length;
		} else if (!copy_inlined(card, message, offset, &ref, frame,
					 buffer)) {
			return 0;
		}
		offset += ref.length;
		length -= ref.length;
	}
	if (length == 0)
		return 1;
	offset -= message->inline_len;
	for (i = 0; i < message->nref && length; i++) {
		ref = message->refs[i];
		if (offset >= ref.length) {
			offset -= ref.length;
			continue;
		}
		ref.offset += offset;
		ref.length = nic_min32(ref.length - offset, length);
		length -= ref.length;
		offset = 0;
		if (gather && message->remote &&
		    !card->hal.allowed(card->host, BCL_DMA_READ, owner, &ref))
			return 0;
		if (gather) {
			part = &frame->part[frame->nparts++];
			part->ref.offset = ref.offset;
			part->ref.handle = ref.handle;
			part->ref.length = ref.length;
			part->port = owner;
			part->remote = message->remote;
		} else if (copy(card, owner, message->remote, &ref, frame,
				buffer) == BCL_DMA_FAULT) {
			return 0;
		}
	}
	return 1;
}
