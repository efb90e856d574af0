/* SPDX-License-Identifier: MIT */
/*
 * The card path: the operations of a port that go through the card (struct
 * bcl_path_ops). A request to the card carries each operation. The files
 * queues.c and connect.c have the rest of the path.
 */
#include "transport/card/doorbell_batch.h"
#include "transport/card/inside.h"

#include <stdio.h>
#include <string.h>

#include "env/counters.h"
#include "env/log.h"
#include "transport/event.h"
#include "transport/key.h"

/* ---- requests ---- */

static inline bool card_has_room(const struct bcl_peer *peer)
{
	return peer->requests < peer->port->card->requests_free;
}

/*
 * Take a free request; NULL: AGAIN. A peer may have as many requests as remain
 * free for other peers. So a slow peer takes half of the requests at most.
 */
static struct bcl_host_slot *take_request(struct bcl_peer *peer, unsigned kind,
					  uint64_t cookie)
{
	struct bcl_host_port *queues = peer->port->card;
	struct bcl_host_slot *slot;

	if (!card_has_room(peer)) {
		bcl_count(peer->port->counters, core_send_again);
		bcl_peer_refuse(peer, true);
		return NULL;
	}
	bcl_assert(queues->free_slot <= queues->request_mask);
	slot = &queues->slots[queues->free_slot];
	bcl_assert(!slot->peer);
	queues->free_slot = slot->next;
	queues->requests_free--;
	peer->requests++;
	*slot = (struct bcl_host_slot){
		.peer = peer,
		.cookie = cookie,
		.kind = (uint8_t)kind,
	};
	return slot;
}

static unsigned number_of(const struct bcl_host_port *queues,
			  const struct bcl_host_slot *slot)
{
	return (unsigned)(slot - queues->slots);
}

static void give_back(struct bcl_host_port *queues, struct bcl_host_slot *slot)
{
	bcl_assert(slot->peer && slot->peer->requests);
	bcl_assert(queues->requests_free <= queues->request_mask);
	slot->peer->requests--;
#ifdef BCL_ASSERTIONS
	slot->peer = NULL; /* a free slot: take_request() looks */
#endif
	slot->next = queues->free_slot;
	queues->free_slot = (uint16_t)number_of(queues, slot);
	queues->requests_free++;
}

/* True if the request ends with this completion and without an event. */
static bool ends_silently(const struct bcl_host_slot *slot,
			  const struct bcl_completion *completion)
{
	return slot->silent && !slot->rest && !completion->status;
}

/* Take silent completions now, while the message just sent travels. Later they
 * would delay the answer to the message. */
static void reap_silent_completions(struct bcl_host_port *queues)
{
	const struct bcl_completion *completion;
	struct bcl_host_slot *slot;

	while ((completion = bcl_host_cq_peek(&queues->sends))) {
		bcl_assert(completion->index <= queues->request_mask);
		slot = &queues->slots[completion->index];
		if (!ends_silently(slot, completion))
			return;
		bcl_host_cq_take(&queues->sends);
		give_back(queues, slot);
	}
}

/* Clear the slot's request and fill in the fields that all requests have. */
static struct bcl_request *clear_request(const struct bcl_host_slot *slot,
					 unsigned op)
{
	struct bcl_host_port *queues = slot->peer->port->card;
	struct bcl_request *request =
		&queues->requests[number_of(queues, slot)];

	memset(request, 0, offsetof(struct bcl_request, refs));
	request->op = (uint8_t)op;
	request->dst_port = slot->peer->number;
	request->node = slot->peer->node;
	request->generation = slot->peer->generation;
	return request;
}

/*
 * A mapped ring carries messages of up to one frame. A longer message leaves by
 * a socket, and its answer usually comes by a socket.
 */
static bool by_socket(const struct bcl_host_port *queues, uint32_t length)
{
	return !queues->ring || length > queues->ring->limits.mtu;
}

static void submit_silently(const struct bcl_host_slot *slot)
{
	struct bcl_port *port = slot->peer->port;
	struct bcl_host_port *queues = port->card;
	unsigned at = queues->requests_made++ & queues->request_mask;

	if (by_socket(queues, queues->requests[number_of(queues, slot)].length))
		port->network.answers = BCL_PORT_ANSWERS;
	queues->submits[at] = number_of(queues, slot);
	/* Release: pairs with serve_doorbell() in inproc/turn.c. */
	atomic_store_explicit(
		(_Atomic uint32_t *)&queues->indices->requests_made,
		queues->requests_made, memory_order_release);
}

static void ring_doorbell(struct bcl_port *port)
{
	bcl_host_ring(port);
	reap_silent_completions(port->card);
}

static void submit_request(const struct bcl_host_slot *slot)
{
	submit_silently(slot);
	ring_doorbell(slot->peer->port);
}

static uint8_t *bounce_block(const struct bcl_host_slot *slot)
{
	struct bcl_host_port *queues = slot->peer->port->card;

	return queues->bounce +
	       (size_t)number_of(queues, slot) * BCL_BLOCK_SIZE;
}

static void refer_to_memory(struct bcl_request *request, const void *memory,
			    size_t length)
{
	request->refs[request->nref++] = (struct bcl_memref){
		.handle = BCL_HANDLE_SELF,
		.offset = (uintptr_t)memory,
		.length = (uint32_t)length,
	};
}

static void pack_pieces(struct bcl_peer *peer, uint8_t *to,
			const struct iovec *iov, unsigned niov)
{
	uint8_t *start = to;
	unsigned i;

	for (i = 0; i < niov; i++) {
		if (iov[i].iov_len) /* otherwise the pointer may be NULL */
			memcpy(to, iov[i].iov_base, iov[i].iov_len);
		to += iov[i].iov_len;
	}
	bcl_count_add(peer->port->counters, BCL_COUNT_host_bytes_packed,
		      (uint64_t)(to - start));
}

static size_t inline_max(const struct bcl_peer *peer)
{
	return peer->port->card->inline_max;
}

/* ---- the system channel ---- */

/*
 * Describe the message without copying all of it: the first pieces go into the
 * request as far as they fit, up to BCL_REQUEST_REFS more go by reference.
 * Returns false if more references are needed.
 */
static bool refer_all(struct bcl_peer *peer, struct bcl_request *request,
		      const struct iovec *iov, unsigned niov)
{
	unsigned front = 0, left = 0, i;
	size_t length = 0;

	while (front < niov && length + iov[front].iov_len <= inline_max(peer))
		length += iov[front++].iov_len;
	for (i = front; i < niov; i++)
		left += iov[i].iov_len != 0;
	if (left > BCL_REQUEST_REFS)
		return false;
	pack_pieces(peer, request->inlined, iov, front);
	request->inline_len = (uint16_t)length;
	for (i = front; i < niov; i++)
		if (iov[i].iov_len)
			refer_to_memory(request, iov[i].iov_base,
					iov[i].iov_len);
	return true;
}

static enum bcl_status __attribute__((flatten))
card_send(struct bcl_peer *peer, unsigned type, uint64_t immediate,
	  const struct iovec *iov, unsigned niov, size_t length,
	  uint64_t cookie)
{
	struct bcl_host_slot *slot = take_request(peer, BCL_EVENT_SENT, cookie);
	struct bcl_request *request;

	if (!slot)
		return BCL_ERR_AGAIN;
	slot->silent = !cookie;
	request = clear_request(slot, BCL_REQ_SYSTEM);
	request->type = (uint8_t)type;
	request->targ64 = immediate;
	request->length = (uint32_t)length;
	if (length <= inline_max(peer)) {
		pack_pieces(peer, request->inlined, iov, niov);
		request->inline_len = (uint16_t)length;
	} else if (!cookie || !refer_all(peer, request, iov, niov)) {
		pack_pieces(peer, bounce_block(slot), iov, niov);
		refer_to_memory(request, bounce_block(slot), length);
	}
	submit_silently(slot);
	if (length > inline_max(peer) || !bcl_doorbell_defer(peer, length))
		ring_doorbell(peer->port);
	return BCL_OK;
}

static size_t card_longest(const struct bcl_peer *peer)
{
	return peer->port->card->host->ops->longs ? BCL_LONG_MAX
						  : BCL_MESSAGE_MAX;
}

static enum bcl_status card_reserve(struct bcl_peer *peer, size_t length,
				    void **room)
{
	struct bcl_host_slot *slot = peer->path;

	if (!slot)
		slot = take_request(peer, BCL_EVENT_SENT, 0);
	if (!slot)
		return BCL_ERR_AGAIN;
	peer->path = slot;
	slot->rest = length;
	*room = bounce_block(slot);
	if (length <= inline_max(peer))
		*room = clear_request(slot, BCL_REQ_SYSTEM)->inlined;
	return BCL_OK;
}

static enum bcl_status card_commit(struct bcl_peer *peer, unsigned type,
				   uint64_t immediate, size_t length)
{
	struct bcl_host_slot *slot = peer->path;
	struct bcl_request *request;

	if (!slot || length > slot->rest)
		return BCL_ERR_ARG;
	request = clear_request(slot, BCL_REQ_SYSTEM);
	request->type = (uint8_t)type;
	request->targ64 = immediate;
	request->length = (uint32_t)length;
	if (slot->rest <= inline_max(peer))
		request->inline_len = (uint16_t)length;
	else if (length)
		refer_to_memory(request, bounce_block(slot), length);
	peer->path = NULL;
	slot->rest = 0;
	slot->silent = true;
	submit_request(slot);
	return BCL_OK;
}

/* ---- operations of any length ---- */

/* An operation of any length. Only the last piece has last_op and last_type;
 * the pieces before cause no event at the peer. */
struct operation {
	uint8_t op, last_op;
	uint8_t type, last_type;
	uint8_t kind;
	uint32_t target, arg32;
	uint64_t targ64;
	bool inlines; /* a short operation travels in the request */
};

/* Let the request move the next piece of the operation. */
static void next_piece(struct bcl_host_slot *slot, struct bcl_request *request)
{
	uint64_t piece = slot->peer->port->card->piece;

	if (slot->rest <= piece) {
		piece = slot->rest;
		request->op = slot->last_op;
		request->type = slot->last_type;
	}
	request->length = (uint32_t)piece;
	request->refs[0].length = (uint32_t)piece;
	request->nref = piece != 0;
	slot->rest -= piece;
	slot->moved += piece;
}

static enum bcl_status begin_operation(struct bcl_peer *peer,
				       const struct operation *operation,
				       const void *buffer, uint64_t length,
				       uint64_t cookie)
{
	struct bcl_host_slot *slot =
		take_request(peer, operation->kind, cookie);
	struct bcl_request *request;

	if (!slot)
		return BCL_ERR_AGAIN;
	request = clear_request(slot, operation->op);
	request->type = operation->type;
	request->target = operation->target;
	request->targ64 = operation->targ64;
	request->arg32 = operation->arg32;
	slot->last_op = operation->last_op;
	slot->last_type = operation->last_type;
	slot->rest = length;
	refer_to_memory(request, buffer, 0);
	next_piece(slot, request);
	if (operation->inlines && length <= inline_max(peer)) {
		if (length)
			memcpy(request->inlined, buffer, length);
		request->inline_len = (uint16_t)length;
		request->nref = 0;
	}
	if (slot->rest)
		peer->port->card->unfinished++;
	submit_request(slot);
	return BCL_OK;
}

static void submit_next_piece(struct bcl_host_slot *slot)
{
	struct bcl_host_port *queues = slot->peer->port->card;
	struct bcl_request *request =
		&queues->requests[number_of(queues, slot)];

	request->targ64 += request->length;
	request->refs[0].offset += request->length;
	next_piece(slot, request);
	if (!slot->rest)
		queues->unfinished--;
	submit_request(slot);
}

static enum bcl_status card_send_channel(struct bcl_peer *peer,
					 unsigned channel, const void *buffer,
					 size_t length, uint64_t cookie)
{
	const struct operation operation = {
		.op = BCL_REQ_CHANNEL,
		.last_op = BCL_REQ_CHANNEL,
		.kind = BCL_EVENT_SENT,
		.target = channel,
		.inlines = true,
	};

	/* A message has one length field, which must fit the wire. */
	if (length > UINT32_MAX)
		return BCL_ERR_UNSUPPORTED;
	return begin_operation(peer, &operation, buffer, length, cookie);
}

static enum bcl_status card_put(struct bcl_peer *peer, const void *bytes,
				uint64_t offset, const void *buffer,
				size_t length, uint64_t cookie)
{
	const struct bcl_key key = bcl_key_unpack(bytes);
	const struct operation operation = {
		.op = BCL_REQ_PUT,
		.last_op = BCL_REQ_PUT,
		.kind = BCL_EVENT_SENT,
		.target = key.handle,
		.targ64 = key.base + offset,
		.inlines = true,
	};

	return begin_operation(peer, &operation, buffer, length, cookie);
}

static enum bcl_status card_put_notify(struct bcl_peer *peer, const void *bytes,
				       uint64_t offset, const void *buffer,
				       size_t length, unsigned type,
				       uint32_t immediate, uint64_t cookie)
{
	const struct bcl_key key = bcl_key_unpack(bytes);
	const struct operation operation = {
		.op = BCL_REQ_PUT,
		.last_op = BCL_REQ_PUT_NOTIFY,
		.last_type = (uint8_t)type,
		.kind = BCL_EVENT_SENT,
		.target = key.handle,
		.targ64 = key.base + offset,
		.arg32 = immediate,
		.inlines = true,
	};

	return begin_operation(peer, &operation, buffer, length, cookie);
}

static enum bcl_status card_get(struct bcl_peer *peer, const void *bytes,
				uint64_t offset, void *buffer, size_t length,
				uint64_t cookie)
{
	const struct bcl_key key = bcl_key_unpack(bytes);
	const struct operation operation = {
		.op = BCL_REQ_GET,
		.last_op = BCL_REQ_GET,
		.type = BCL_GET_MEMORY,
		.last_type = BCL_GET_MEMORY,
		.kind = BCL_EVENT_SENT,
		.target = key.handle,
		.targ64 = key.base + offset,
	};

	return begin_operation(peer, &operation, buffer, length, cookie);
}

static enum bcl_status card_atomic(struct bcl_peer *peer, const void *bytes,
				   uint64_t offset, bool compare,
				   const uint64_t operand[2], uint64_t *result,
				   uint64_t cookie)
{
	const struct bcl_key key = bcl_key_unpack(bytes);
	struct bcl_host_slot *slot = take_request(peer, BCL_EVENT_SENT, cookie);
	struct bcl_request *request;

	if (!slot)
		return BCL_ERR_AGAIN;
	request = clear_request(slot, compare ? BCL_REQ_COMPARE_SWAP
					      : BCL_REQ_FETCH_ADD);
	request->target = key.handle;
	request->targ64 = key.base + offset;
	request->inline_len = compare ? 16 : 8;
	request->length = request->inline_len;
	memcpy(request->inlined, operand, request->inline_len);
	refer_to_memory(request, result, sizeof(*result));
	submit_request(slot);
	return BCL_OK;
}

static enum bcl_status card_fence(struct bcl_peer *peer, uint64_t cookie)
{
	struct bcl_host_slot *slot;

	/* The pieces still to be submitted would come after the fence. */
	if (peer->port->card->unfinished) {
		bcl_count(peer->port->counters, core_send_again);
		return BCL_ERR_AGAIN;
	}
	slot = take_request(peer, BCL_EVENT_SENT, cookie);
	if (!slot)
		return BCL_ERR_AGAIN;
	clear_request(slot, BCL_REQ_FENCE);
	submit_request(slot);
	return BCL_OK;
}

/* ---- offers ---- */

struct token {
	struct bcl_le64 card, length;
	struct bcl_le32 channel; /* number | generation << 16 */
	struct bcl_le16 port;
	uint8_t spare[10];
};

_Static_assert(sizeof(struct token) == BCL_KEY_MAX, "token");

/* A peer may have fewer offers than remain free for other peers. So a peer that
 * does not read its offers cannot take all. */
static bool may_offer(const struct bcl_host_port *queues,
		      const struct bcl_peer *peer)
{
	const struct bcl_host_channel *offer =
		&queues->channels[queues->nchannels];
	unsigned own = 0, left = 0, i;

	for (i = 0; i < queues->noffers; i++) {
		left += !offer[i].posted;
		own += offer[i].posted && offer[i].peer == peer;
	}
	return own < left;
}

static enum bcl_status card_offer(struct bcl_peer *peer, const void *buffer,
				  size_t length, uint64_t cookie, void *bytes)
{
	struct bcl_port *port = peer->port;
	struct bcl_host_port *queues = port->card;
	uint16_t number = queues->free_offer;
	struct bcl_host_channel *offer = &queues->channels[number];
	struct bcl_control control = { .op = BCL_CTL_POST };
	enum bcl_status status;
	struct token token;

	if (!may_offer(queues, peer)) {
		bcl_count(port->counters, core_send_again);
		return BCL_ERR_AGAIN;
	}
	bcl_assert(number >= queues->nchannels &&
		   number < queues->nchannels + queues->noffers &&
		   !offer->posted);
	control.channel.port = port->number;
	control.channel.number = number;
	control.channel.generation = offer->generation;
	control.channel.reading = 1;
	control.channel.handle = BCL_HANDLE_SELF;
	control.channel.offset = (uintptr_t)buffer;
	control.channel.length = length;
	control.channel.card = peer->address.card;
	control.channel.card_port = peer->number;
	status = bcl_host_command(port, &control);
	if (status)
		return status;
	queues->free_offer = offer->next;
	offer->peer = peer;
	offer->cookie = cookie;
	offer->posted = true;
	peer->requests++;
	token = (struct token){
		.card = bcl_put64(port->context->card_id),
		.length = bcl_put64(length),
		.channel =
			bcl_put32(number | (uint32_t)offer->generation << 16),
		.port = bcl_put16(port->number),
	};
	memcpy(bytes, &token, sizeof(token));
	return BCL_OK;
}

void bcl_host_offer_ended(struct bcl_host_port *queues, unsigned number)
{
	struct bcl_host_channel *offer = &queues->channels[number];

	bcl_assert(number >= queues->nchannels &&
		   number < queues->nchannels + queues->noffers &&
		   offer->posted && offer->peer->requests);
	offer->peer->requests--;
	offer->posted = false;
	offer->generation++;
	offer->next = queues->free_offer;
	queues->free_offer = (uint16_t)number;
}

enum bcl_status bcl_host_unoffer(struct bcl_port *port, unsigned number)
{
	const struct bcl_control control = {
		.op = BCL_CTL_UNPOST,
		.channel = { .port = port->number, .number = number },
	};
	enum bcl_status status;

	status = bcl_host_command(port, &control);
	/* The offer is not posted any more, or the peer is reading. The event
	 * is in the queue or follows. */
	if (status)
		return BCL_ERR_BUSY;
	bcl_host_offer_ended(port->card, number);
	return BCL_OK;
}

static enum bcl_status card_withdraw(struct bcl_peer *peer, const void *bytes)
{
	struct bcl_port *port = peer->port;
	struct bcl_host_port *queues = port->card;
	struct token token;
	uint32_t channel;

	memcpy(&token, bytes, sizeof(token));
	channel = bcl_get32(token.channel);
	if (bcl_get64(token.card) != port->context->card_id ||
	    bcl_get16(token.port) != port->number ||
	    (channel & 0xffff) < queues->nchannels ||
	    (channel & 0xffff) >= queues->nchannels + queues->noffers)
		return BCL_ERR_ARG;
	if (!queues->channels[channel & 0xffff].posted ||
	    queues->channels[channel & 0xffff].generation != channel >> 16)
		return BCL_ERR_BUSY;
	return bcl_host_unoffer(port, channel & 0xffff);
}

static enum bcl_status card_pull(struct bcl_peer *peer, const void *bytes,
				 void *buffer, size_t length, uint64_t cookie)
{
	struct operation operation = {
		.op = BCL_REQ_GET,
		.last_op = BCL_REQ_GET,
		.type = BCL_GET_CHANNEL,
		.last_type = BCL_GET_CHANNEL_LAST,
		.kind = BCL_EVENT_PULLED,
	};
	struct token token;

	memcpy(&token, bytes, sizeof(token));
	if (bcl_get64(token.card) != peer->address.card ||
	    bcl_get16(token.port) != peer->number ||
	    length > bcl_get64(token.length))
		return BCL_ERR_ARG;
	operation.target = bcl_get32(token.channel);
	return begin_operation(peer, &operation, buffer, length, cookie);
}

/* ---- completion ---- */

static void tell_silent(const struct bcl_host_slot *slot,
			enum bcl_status status)
{
	const struct bcl_port *port = slot->peer->port;

	/* The loss of a peer is reported once for the peer. */
	if (bcl_status_loss(status) == BCL_LOSS_REQUEST)
		bcl_log(&port->context->config, BCL_LOG_WARN, "card",
			"port %u: a message to %016llx/%u is lost: %s",
			port->number,
			(unsigned long long)slot->peer->address.card,
			slot->peer->number, bcl_strstatus(status));
}

bool bcl_host_sent(struct bcl_port *port,
		   const struct bcl_completion *completion,
		   struct bcl_event *event)
{
	struct bcl_host_port *queues = port->card;
	struct bcl_host_slot *slot = &queues->slots[completion->index];
	enum bcl_status status = completion->status;

	bcl_assert(completion->index <= queues->request_mask && slot->peer);
	if (ends_silently(slot, completion)) {
		give_back(queues, slot);
		return false;
	}
	if (slot->rest && !status) {
		submit_next_piece(slot);
		return false;
	}
	if (slot->rest)
		queues->unfinished--;
	*event = (struct bcl_event){
		.kind = slot->kind,
		.status = status,
		.peer = slot->peer,
		.cookie = slot->cookie,
		.length = status ? 0 : slot->moved,
	};
	if (slot->silent && status)
		tell_silent(slot, status);
	give_back(queues, slot);
	return !slot->silent;
}

void bcl_host_abandon(struct bcl_peer *peer)
{
	if (peer->ops == &bcl_host_path_ops && peer->path)
		give_back(peer->port->card, peer->path);
	peer->path = NULL;
}

/* ---- about the path ---- */

/* us one way between nodes, by any rail */
static const double typical_latency = 5;

static void add_rails(struct bcl_host *host, const struct bcl_peer *peer,
		      struct bcl_peer_info *info)
{
	struct bcl_host_node node;
	size_t length;
	unsigned e;

	host->ops->node(host, peer->node, &node);
	for (e = 0; e < host->nends; e++) {
		const struct bcl_host_end *end = &host->end[e];

		if (!(info->rails & 1u << end->rail) || !(node.ends & 1u << e))
			continue;
		info->ring |= end->small;
		length = strlen(info->why);
		snprintf(info->why + length, sizeof(info->why) - length,
			 ", %s/%s", end->kind, end->interface);
	}
}

static void card_info(const struct bcl_peer *peer, struct bcl_peer_info *info)
{
	struct bcl_host *host = bcl_host_of(peer->port);
	struct bcl_node_info node;
	double typical;

	if (!host->ops->node_info(host, peer->node, &node)) {
		info->rails = node.rails;
		if (host->latency > 0)
			info->latency = (double)node.rtt / 2000 + host->latency;
		add_rails(host, peer, info);
	}
	/*
	 * Only a host that knows its network (host->latency > 0) takes the
	 * latency from a measured round trip. Elsewhere a round trip tells as
	 * much about the load of the processors, but collectives choose their
	 * algorithm by the latency, and must choose the same in each run
	 * (coll.h). The card's clock is too coarse for less than the typical
	 * value.
	 */
	typical = info->ring ? 0.8 : 2;
	if (host->latency <= 0)
		typical = typical_latency;
	if (info->latency < typical)
		info->latency = typical;
	info->overhead = host->overhead > 0 ? host->overhead : 1;
	info->bandwidth = host->bandwidth > 0 ? host->bandwidth : 5000;
}

static void card_close(struct bcl_peer *peer)
{
	/* Requests in flight are finished. The library frees the peer after
	 * their end. */
	bcl_host_abandon(peer);
}

const struct bcl_path_ops bcl_host_path_ops = {
	.path = BCL_PATH_CARD,
	.send = card_send,
	.longest = card_longest,
	.reserve = card_reserve,
	.commit = card_commit,
	.send_channel = card_send_channel,
	.offer = card_offer,
	.withdraw = card_withdraw,
	.pull = card_pull,
	.put = card_put,
	.get = card_get,
	.put_notify = card_put_notify,
	.atomic = card_atomic,
	.fence = card_fence,
	.has_room = card_has_room,
	.info = card_info,
	.close = card_close,
};
