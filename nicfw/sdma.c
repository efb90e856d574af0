/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * SDMA: from host memory to the card. Requests become messages. Their payload
 * stays in host memory until a frame needs it (payload.c).
 *
 * Memory that a user can write (an entry of submits[], a request) is read once,
 * and then checked.
 */
#include <nicfw/sdma.h>

#include <nicfw/card.h>
#include <nicfw/contact.h>
#include <nicfw/dma.h>
#include <nicfw/gate.h>
#include <nicfw/message.h>
#include <nicfw/node.h>
#include <nicfw/port.h>

/*
 * True if the port may take a message from the pool. Some messages are reserved
 * for replies. A port takes no more than half of the others, as other ports may
 * need them.
 */
static bool may_take(const struct bcl_card *card, const struct nic_port *port)
{
	uint32_t left = card->messages.left;

	return left && left + card->replies > card->reserve &&
	       port->messages < left;
}

static uint64_t sum_of_parts(const struct nic_message *message)
{
	uint64_t sum = message->inline_len;
	unsigned i;

	for (i = 0; i < message->nref; i++)
		sum += message->refs[i].length;
	return sum;
}

static bool payload_right(const struct nic_message *message)
{
	switch (message->op) {
	case BCL_REQ_SYSTEM:
		if (message->length > BCL_SYSTEM_MAX)
			return false;
		__attribute__((__fallthrough__));
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
		return true;
	}
	return false;
}

static void read_operands(struct nic_message *message,
			  const volatile struct bcl_request *request)
{
	const volatile uint64_t *operand =
		(const volatile void *)request->inlined;

	message->word[0] = bcl_put64(nic_host64(operand[0]));
	message->word[1] = bcl_put64(nic_host64(operand[1]));
	message->words = (uint8_t)message->inline_len;
	message->length = message->inline_len;
	message->inline_len = 0;
	message->nref = 0;
}

/* Complete a request at once with a failure, without a message. */
static void refuse_request(struct bcl_card *card, struct nic_port *port,
			   uint32_t index, uint32_t node, uint64_t cookie,
			   enum bcl_status status)
{
	struct bcl_completion entry = {
		.cookie = cookie,
		.index = index,
		.node = node,
		.status = (uint16_t)status,
		.kind = BCL_CQ_SENT,
	};

	if (status == BCL_ERR_ARG)
		nic_count(card, requests_wrong);
	nic_port_event(card, port, BCL_QUEUE_SENDS, &entry);
}

/*
 * Copy the request to the message. Volatile: the owner may write to the request
 * meanwhile, so each field is read once. Returns false if the request is wrong.
 */
static bool copy_request(struct nic_message *message,
			 const volatile struct bcl_request *request)
{
	unsigned n = nic_host16(request->nref), i;

	message->op = request->op;
	message->type = request->type;
	message->dst_port = nic_host16(request->dst_port);
	message->target = nic_host32(request->target);
	message->length = nic_host32(request->length);
	message->targ64 = nic_host64(request->targ64);
	message->arg32 = nic_host32(request->arg32);
	message->inline_len = nic_host16(request->inline_len);
	if (message->inline_len > BCL_REQUEST_INLINE || n > BCL_REQUEST_REFS)
		return false;
	message->nref = (uint8_t)n;
	for (i = 0; i < n; i++) {
		message->refs[i].offset = nic_host64(request->refs[i].offset);
		message->refs[i].handle = nic_host32(request->refs[i].handle);
		message->refs[i].length = nic_host32(request->refs[i].length);
	}
	if (!payload_right(message))
		return false;
	if (message->op == BCL_REQ_FETCH_ADD ||
	    message->op == BCL_REQ_COMPARE_SWAP)
		read_operands(message, request);
	return true;
}

/* Make a message of a request, or complete the request with a failure. */
static inline void take_request(struct bcl_card *card, struct nic_port *port,
				uint32_t index,
				const volatile struct bcl_request *request)
{
	uint64_t cookie = nic_host64(request->cookie);
	uint32_t to = nic_host32(request->node);
	struct nic_node *node = nic_node_at(card, to);
	enum bcl_status status = BCL_ERR_ARG;
	struct nic_message *message;

	if (!node || node->status ||
	    nic_host32(request->generation) != node->generation) {
		refuse_request(card, port, index, to, cookie,
			       node ? node->lost : BCL_ERR_ARG);
		return;
	}
	message = nic_message_take(card, port, node);
	port->messages++;
	message->src_port = port->number;
	message->cookie = cookie;
	message->index = index;
	if (copy_request(message, request))
		status = nic_contact_want(card, node);
	if (status) {
		bcl_nic_message_free(card, message);
		refuse_request(card, port, index, to, cookie, status);
		return;
	}
	bcl_nic_gate_submit(card, message);
}

/*
 * An entry of submits[] was read. Returns false if the entry names no request.
 */
static bool names_request(struct bcl_card *card, struct nic_port *port,
			  uint32_t index)
{
	port->taken++;
	if (index < port->nrequests)
		return true;
	refuse_request(card, port, index, 0, 0, BCL_ERR_ARG);
	return false;
}

static uint32_t submit_at(const struct nic_port *port)
{
	return port->taken & (port->nrequests - 1);
}

/* ---- with BCL_HAL_GATHER: requests are read in place ---- */

/* Returns true if all submitted requests were taken. */
static bool intake_in_place(struct bcl_card *card, struct nic_port *port,
			    unsigned *budget)
{
	const volatile uint32_t *submits =
		(const void *)(port->at.requests + port->nrequests);
	uint32_t index;

	for (; port->taken != port->made; --*budget) {
		if (!*budget || !may_take(card, port))
			return false;
		index = nic_host32(submits[submit_at(port)]);
		if (names_request(card, port, index))
			take_request(card, port, index,
				     &port->at.requests[index]);
	}
	return true;
}

/* ---- without BCL_HAL_GATHER: requests are fetched ---- */

/* Start the next read of a port. The caller knows that there is one. */
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
	} else {
		port->step = NIC_INTAKE_SUBMIT;
		ref.offset = (uint64_t)port->nrequests * BCL_REQUEST_SIZE +
			     submit_at(port) * 4;
	}
	result = nic_dma(card, BCL_DMA_READ, 0, 0, &ref, to, NIC_JOB_INTAKE,
			 port, NULL);
	if (result == BCL_DMA_PENDING) {
		port->jobs++;
		port->reading = 1;
	}
	return result;
}

/* The entry or the request that was being read has come. */
static void finish_read(struct bcl_card *card, struct nic_port *port)
{
	bool request = port->step == NIC_INTAKE_REQUEST;

	port->step = NIC_INTAKE_IDLE;
	if (request) {
		take_request(card, port, port->index, &port->request);
	} else {
		port->index = nic_host32(port->index);
		if (names_request(card, port, port->index))
			port->step = NIC_INTAKE_REQUEST;
	}
}

/*
 * Take the requests of a port until none is left, a dma is pending, or the pool
 * of messages or jobs is low.
 */
static void intake(struct bcl_card *card, struct nic_port *port,
		   unsigned *budget)
{
	enum bcl_dma_result result = BCL_DMA_DONE;

	while (!port->reading && *budget) {
		if (!may_take(card, port) || card->jobs.left == 0)
			return;
		if (result == BCL_DMA_FAULT ||
		    (port->made == port->taken &&
		     port->step == NIC_INTAKE_IDLE)) {
			port->step = NIC_INTAKE_IDLE;
			nic_list_remove(&port->intake);
			return;
		}
		result = read_next(card, port);
		if (result == BCL_DMA_DONE)
			finish_read(card, port);
		if (port->step == NIC_INTAKE_IDLE)
			--*budget;
	}
}

/* ---- the engine ---- */

void __attribute__((__noinline__))
bcl_nic_sdma_intake(struct bcl_card *card, unsigned *budget)
{
	struct nic_link *link, *next;
	struct nic_port *port;

	for (link = card->intake.next; link != &card->intake && *budget;
	     link = next) {
		next = link->next;
		port = bcl_container_of(link, struct nic_port, intake);
		if (!port->at.requests)
			intake(card, port, budget);
		else if (intake_in_place(card, port, budget))
			nic_list_remove(&port->intake);
	}
}

void __attribute__((flatten))
bcl_nic_sdma_rung(struct bcl_card *card, struct nic_port *port,
		  unsigned *budget)
{
	bool alone = port->at.requests && nic_list_empty(&card->intake);

	if (alone && intake_in_place(card, port, budget))
		return;
	if (nic_list_empty(&port->intake))
		nic_list_append(&card->intake, &port->intake);
	if (!alone)
		bcl_nic_sdma_intake(card, budget);
}

void bcl_nic_sdma_fetched(struct bcl_card *card, struct nic_port *port,
			  enum bcl_dma_result result)
{
	port->reading = 0;
	if (result == BCL_DMA_DONE)
		finish_read(card, port);
	else
		port->step = NIC_INTAKE_IDLE;
}
