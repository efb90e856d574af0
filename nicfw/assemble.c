/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Messages that arrive. Each fragment describes itself, so any fragment may
 * open the message. A message is delivered when it is complete, its payload is
 * stored and its predecessor was delivered.
 *
 *  state    event                                        next
 *  (none)   first fragment                               PIECES
 *  PIECES   last fragment                                MOVING
 *  MOVING   payload stored; predecessor delivered        delivered
 *           payload stored; predecessor unknown          EARLY
 *           payload stored; predecessor refused          refused
 *  EARLY    predecessor delivered, refused               delivered, refused
 *  any      WITHDRAW                                     refused
 *  any      memory fault, port closed                    failed, or refused if
 *                                                        predecessor unknown
 */
#include <nicfw/assemble.h>

#include <nicfw/card.h>
#include <nicfw/conn.h>
#include <nicfw/deliver.h>
#include <nicfw/destination.h>
#include <nicfw/dma.h>
#include <nicfw/inbound.h>
#include <nicfw/message.h>
#include <nicfw/port.h>
#include <nicfw/reply.h>
#include <nicfw/verdict.h>

/* True for a message that must not overtake its predecessor. */
static bool ordered(uint8_t op)
{
	return op == BCL_SEG_SYSTEM || op == BCL_SEG_PUT_NOTIFY;
}

static struct nic_inbound *look_up(struct nic_conn *conn, uint32_t msg)
{
	struct nic_inbound *inbound;
	struct nic_link *link;

	for (link = conn->inbounds.next; link != &conn->inbounds;
	     link = link->next) {
		inbound = bcl_container_of(link, struct nic_inbound, link);
		if (inbound->msg == msg)
			return inbound;
	}
	return NULL;
}

static struct nic_inbound *find_inbound(struct nic_conn *conn, uint32_t msg)
{
	struct nic_inbound *inbound = look_up(conn, msg);

	/* Move it to the front: its next fragment is found at once. */
	if (inbound && conn->inbounds.next != &inbound->link) {
		nic_list_remove(&inbound->link);
		nic_list_push(&conn->inbounds, &inbound->link);
	}
	return inbound;
}

/* The message does not wait for its predecessor any more. */
static void unhold(struct nic_conn *conn, struct nic_inbound *inbound)
{
	bcl_assert(conn->early >= inbound->early);
	conn->early -= inbound->early;
	inbound->early = 0;
}

/*
 * Take the message out of its connection. The caller frees it, now or after the
 * last job.
 */
static void detach(struct bcl_card *card, struct nic_inbound *inbound)
{
	struct nic_conn *conn = inbound->conn;
	unsigned rail;

	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		if (card->rail[rail].arriving == inbound)
			card->rail[rail].arriving = NULL;
	nic_list_remove(&inbound->link);
	unhold(conn, inbound);
	bcl_assert(conn->ninbound);
	conn->ninbound--;
	inbound->conn = NULL;
}

static void undo(struct bcl_card *card, struct nic_inbound *inbound,
		 enum bcl_verdict verdict)
{
	bcl_nic_destination_spare(inbound);
	if (inbound->op == BCL_SEG_CHANNEL && inbound->port) {
		if (nic_verdict_failed(verdict))
			bcl_nic_deliver_channel(card, inbound, inbound->status);
		else
			inbound->port->channel[inbound->slot].filling = 0;
	}
	if (inbound->request && nic_verdict_failed(verdict))
		bcl_nic_message_answered(card, inbound->request,
					 inbound->status);
	else if (inbound->request)
		inbound->request->answering = 0;
	if (nic_verdict_failed(verdict) && inbound->port)
		nic_count(card, failed_memory);
}

/*
 * The memory of a long message or put is in use until its end, and a program
 * waits for the end. The acknowledgement therefore leaves as soon as the rail
 * is drained, without the usual delay. For the last GET_REPLY requested by this
 * side the acknowledgement leaves at once: the program may stop polling now,
 * and then no poll would find the rail drained.
 */
static void hasten_ack(struct bcl_card *card, const struct nic_inbound *inbound)
{
	struct nic_conn *conn = inbound->conn;

	if (nic_list_empty(&conn->drain))
		nic_list_append(&card->drain, &conn->drain);
	if (inbound->op == BCL_SEG_GET_REPLY && nic_list_empty(&conn->awaiting))
		nic_conn_work(card, conn, NIC_WORK_ACK << inbound->rail);
}

/* End a message: deliver or undo, and give the verdict. */
static void conclude(struct bcl_card *card, struct nic_inbound *inbound,
		     enum bcl_verdict verdict)
{
	struct nic_conn *conn = inbound->conn;

	bcl_assert(inbound->jobs == 0);
	if (verdict == BCL_VERDICT_DELIVERED)
		bcl_nic_deliver(card, inbound);
	else
		undo(card, inbound, verdict);
	bcl_nic_verdict_give(card, conn, inbound->msg, verdict);
	if (inbound->awaited)
		hasten_ack(card, inbound);
	detach(card, inbound);
	nic_pool_put(&card->inbounds, &inbound->link);
}

/* The message that waits for `msg`, if its own verdict is due now. */
static struct nic_inbound *successor(struct nic_conn *conn, uint32_t msg)
{
	bool refused = nic_verdict_of(conn, msg) == BCL_VERDICT_REFUSED;
	struct nic_inbound *inbound;
	struct nic_link *link;

	if (conn->early == 0)
		return NULL;
	for (link = conn->inbounds.next; link != &conn->inbounds;
	     link = link->next) {
		inbound = bcl_container_of(link, struct nic_inbound, link);
		if (!inbound->early || inbound->prev != msg)
			continue;
		unhold(conn, inbound);
		return inbound->jobs == 0 &&
				       (refused ||
					inbound->state != NIC_INBOUND_PIECES)
			       ? inbound
			       : NULL;
	}
	return NULL;
}

/* The verdict on the predecessor; DELIVERED if there is none. */
static enum bcl_verdict verdict_before(const struct nic_conn *conn,
				       uint32_t prev)
{
	return prev ? nic_verdict_of(conn, prev) : BCL_VERDICT_DELIVERED;
}

/*
 * Decide on a message. Returns false if the message must wait for the verdict
 * on its predecessor. A failure becomes final only when the predecessor has its
 * verdict. Until then a failed message is refused: the predecessor may be
 * refused later, and would arrive after its failed successor.
 */
static bool decide_verdict(struct bcl_card *card,
			   const struct nic_inbound *inbound,
			   enum bcl_verdict *verdict)
{
	enum bcl_verdict before = verdict_before(inbound->conn, inbound->prev);

	if (before == BCL_VERDICT_REFUSED)
		nic_count(card, refused_order);
	if (before == BCL_VERDICT_REFUSED || inbound->withdrawn ||
	    (before == BCL_VERDICT_UNKNOWN && inbound->failed))
		*verdict = BCL_VERDICT_REFUSED;
	else if (before == BCL_VERDICT_UNKNOWN)
		return false;
	else if (!inbound->failed)
		*verdict = BCL_VERDICT_DELIVERED;
	else
		*verdict = inbound->status == BCL_ERR_NOPORT
				   ? BCL_VERDICT_NOPORT
				   : BCL_VERDICT_MEMORY;
	return true;
}

/*
 * The message is complete and stored, or nothing more is wanted: give the
 * verdict, and then the verdicts of the successors.
 */
static void give_verdicts(struct bcl_card *card, struct nic_inbound *inbound)
{
	struct nic_conn *conn = inbound->conn;
	enum bcl_verdict verdict;
	uint32_t msg;

	while (inbound) {
		if (!decide_verdict(card, inbound, &verdict)) {
			inbound->state = NIC_INBOUND_EARLY;
			return;
		}
		msg = inbound->msg;
		conclude(card, inbound, verdict);
		inbound = successor(conn, msg);
	}
}

/* Give the verdict on a message that has no inbound. */
static void refuse_message(struct bcl_card *card, struct nic_conn *conn,
			   uint32_t msg, enum bcl_verdict verdict)
{
	struct nic_inbound *next;

	bcl_nic_verdict_give(card, conn, msg, verdict);
	next = successor(conn, msg);
	if (next)
		give_verdicts(card, next);
}

void bcl_nic_assemble_stored(struct bcl_card *card, struct nic_inbound *inbound,
			     struct nic_buffer *buffer,
			     enum bcl_dma_result result)
{
	bcl_assert(inbound->jobs && (!buffer || buffer->jobs));
	if (buffer && --buffer->jobs == 0)
		nic_pool_put(&card->in, &buffer->link);
	inbound->jobs--;
	if (result != BCL_DMA_DONE)
		nic_inbound_fail(inbound);
	if (inbound->jobs)
		return;
	if (!inbound->conn)
		nic_pool_put(&card->inbounds, &inbound->link);
	else if (inbound->state == NIC_INBOUND_MOVING || inbound->withdrawn ||
		 inbound->failed)
		give_verdicts(card, inbound);
}

/*
 * True if there is room for one more inbound. An early message must leave room
 * for the messages before it. A message in one frame always finds room if it
 * can be delivered at once. Without room the frame of an early message is
 * dropped, and retransmitted until there is room. Any other message is refused:
 * its frames, retransmitted over and over, would hold up the frames that make
 * room.
 */
static bool has_room(const struct bcl_card *card, const struct nic_conn *conn,
		     bool early, bool whole)
{
	uint32_t left = card->inbounds.left, all = card->config.max_messages;

	if (early)
		return conn->early < NIC_EARLY_MAX && left > all / 4;
	if (whole && card->gather)
		return left > 0;
	return conn->ninbound < NIC_INBOUND_MAX && conn->ninbound < left &&
	       left > all / 16;
}

static struct nic_inbound *
make_inbound(struct bcl_card *card, struct nic_conn *conn,
	     const struct bcl_segment_header *segment)
{
	struct nic_inbound *inbound = nic_pool_take(&card->inbounds);

	if (!inbound)
		return NULL;
	memset(inbound, 0, sizeof(*inbound));
	nic_list_init(&inbound->link);
	inbound->conn = conn;
	inbound->op = segment->op;
	inbound->type = segment->type;
	inbound->src_port = bcl_get16(segment->src_port);
	inbound->dst_port = bcl_get16(segment->dst_port);
	inbound->msg = bcl_get32(segment->msg);
	inbound->total = bcl_get32(segment->total);
	inbound->target = bcl_get32(segment->target);
	inbound->arg32 = bcl_get32(segment->arg32);
	inbound->targ64 = bcl_get64(segment->targ64);
	inbound->where.length = inbound->total;
	if (ordered(inbound->op))
		inbound->prev = bcl_get32(segment->prev);
	return inbound;
}

static void look_later(struct bcl_card *card, struct nic_conn *conn)
{
	conn->look_at =
		card->now + NIC_PATIENCE / 2 * card->config.peer_timeout;
	nic_conn_due(card, conn, conn->look_at);
}

/* The verdict that tells the peer this outcome. */
static enum bcl_verdict verdict_of(enum nic_outcome outcome)
{
	switch (outcome) {
	case NIC_OUTCOME_OK:
		return BCL_VERDICT_DELIVERED;
	case NIC_OUTCOME_NOPORT:
		return BCL_VERDICT_NOPORT;
	case NIC_OUTCOME_MEMORY:
		return BCL_VERDICT_MEMORY;
	case NIC_OUTCOME_TRUNCATED:
		return BCL_VERDICT_TRUNCATED;
	default:
		return BCL_VERDICT_REFUSED;
	}
}

/*
 * Open the message of a fragment. If *opened is NULL the frame needs no more
 * work, and the result tells how to handle it.
 */
static enum nic_accept open_inbound(struct bcl_card *card,
				    struct nic_conn *conn,
				    const struct bcl_segment_header *segment,
				    struct nic_inbound **opened)
{
	uint32_t msg = bcl_get32(segment->msg);
	uint32_t prev = ordered(segment->op) ? bcl_get32(segment->prev) : 0;
	bool whole = bcl_get32(segment->total) == bcl_get16(segment->length);
	enum bcl_verdict before = verdict_before(conn, prev);
	bool early = before == BCL_VERDICT_UNKNOWN;
	struct nic_inbound *inbound = NULL;
	enum nic_outcome outcome;

	*opened = NULL;
	if (prev && msg - prev - 1 >= BCL_MSG_AHEAD)
		return NIC_MALFORMED;
	if (before == BCL_VERDICT_REFUSED) {
		nic_count(card, refused_order);
		refuse_message(card, conn, msg, BCL_VERDICT_REFUSED);
		return NIC_ACCEPTED;
	}
	if (has_room(card, conn, early, whole))
		inbound = make_inbound(card, conn, segment);
	if (!inbound) {
		if (early)
			return NIC_NO_ROOM;
		nic_count(card, refused_room);
		refuse_message(card, conn, msg, BCL_VERDICT_REFUSED);
		return NIC_ACCEPTED;
	}
	inbound->early = (uint8_t)early;
	outcome = bcl_nic_destination_find(card, conn, inbound);
	if (outcome != NIC_OUTCOME_OK) {
		/* Not final before its turn: see decide_verdict(). */
		if (inbound->early)
			outcome = NIC_OUTCOME_REFUSED;
		nic_pool_put(&card->inbounds, &inbound->link);
		refuse_message(card, conn, msg, verdict_of(outcome));
		return NIC_ACCEPTED;
	}
	nic_list_push(&conn->inbounds, &inbound->link);
	conn->ninbound++;
	conn->early += inbound->early;
	if (conn->look_at == NIC_NEVER)
		look_later(card, conn);
	*opened = inbound;
	return NIC_ACCEPTED;
}

static enum nic_accept execute(struct bcl_card *card, struct nic_conn *conn,
			       const struct bcl_segment_header *segment,
			       const uint8_t *payload)
{
	enum nic_outcome outcome =
		segment->op == BCL_SEG_GET
			? bcl_nic_reply_get(card, conn, segment)
			: bcl_nic_reply_atomic(card, conn, segment, payload);

	if (outcome == NIC_OUTCOME_MALFORMED)
		return NIC_MALFORMED;
	bcl_nic_verdict_give(card, conn, bcl_get32(segment->msg),
			     verdict_of(outcome));
	return NIC_ACCEPTED;
}

static void store(struct bcl_card *card, struct nic_inbound *inbound,
		  uint32_t offset, const uint8_t *payload, uint32_t length,
		  struct nic_buffer *buffer)
{
	struct bcl_le64 word;

	if (inbound->op == BCL_SEG_ATOMIC_REPLY && length == 8) {
		memcpy(&word, payload, 8);
		inbound->word = nic_host64(bcl_get64(word));
		payload = (const uint8_t *)&inbound->word;
		buffer = NULL;
	}
	bcl_nic_dma_store(card, inbound, offset, payload, length, buffer);
}

/*
 * Check the numbers of a fragment. Returns NIC_LONG_WAY if its message has no
 * verdict yet.
 */
static enum nic_accept check_fragment(struct bcl_card *card,
				      struct nic_conn *conn,
				      const struct bcl_segment_header *segment)
{
	uint32_t msg = bcl_get32(segment->msg);
	uint32_t length = bcl_get16(segment->length);
	uint32_t offset = bcl_get32(segment->offset);
	uint32_t total = bcl_get32(segment->total);

	if (offset > total || length > total - offset || msg == 0)
		return NIC_MALFORMED;
	if (bcl_before(msg, conn->base))
		return NIC_ACCEPTED; /* the peer knows the verdict */
	if (msg - conn->base >= BCL_MSG_AHEAD)
		return NIC_MALFORMED;
	if (nic_verdict_of(conn, msg) != BCL_VERDICT_UNKNOWN) {
		bcl_nic_verdict_repeat(card, conn, msg);
		return NIC_ACCEPTED;
	}
	return NIC_LONG_WAY;
}

/* Store a fragment in its message, which it opens if it is the first. */
static enum nic_accept take_fragment(struct bcl_card *card,
				     struct nic_conn *conn, unsigned rail,
				     const struct bcl_segment_header *segment,
				     const uint8_t *payload,
				     struct nic_buffer *buffer)
{
	uint32_t msg = bcl_get32(segment->msg);
	uint32_t length = bcl_get16(segment->length);
	uint32_t total = bcl_get32(segment->total);
	struct nic_inbound *inbound = find_inbound(conn, msg);
	enum nic_accept accept;

	if (!inbound) {
		accept = open_inbound(card, conn, segment, &inbound);
		if (!inbound)
			return accept;
	} else if (inbound->state != NIC_INBOUND_PIECES || inbound->withdrawn) {
		return NIC_ACCEPTED; /* a duplicate by another rail */
	} else if (inbound->total != total || inbound->op != segment->op ||
		   length > total - inbound->received) {
		return NIC_MALFORMED;
	}
	store(card, inbound, bcl_get32(segment->offset), payload, length,
	      buffer);
	inbound->received += length;
	if (inbound->received < total) {
		card->rail[rail].arriving = inbound;
		return NIC_ACCEPTED;
	}
	inbound->awaited =
		length < total || total > NIC_SMALL_MAX || inbound->remote;
	inbound->rail = (uint8_t)rail;
	inbound->state = NIC_INBOUND_MOVING;
	if (inbound->jobs == 0)
		give_verdicts(card, inbound);
	return NIC_ACCEPTED;
}

enum nic_accept bcl_nic_assemble(struct bcl_card *card, struct nic_conn *conn,
				 unsigned rail,
				 const struct bcl_segment_header *segment,
				 const uint8_t *payload,
				 struct nic_buffer *buffer)
{
	enum nic_accept accept = check_fragment(card, conn, segment);

	if (accept == NIC_LONG_WAY && card->gather &&
	    segment->op == BCL_SEG_SYSTEM &&
	    bcl_get16(segment->length) == bcl_get32(segment->total))
		accept =
			nic_deliver_at_once(card, conn, segment, payload, NULL);
	if (accept != NIC_LONG_WAY)
		return accept;
	if (!card->gather && card->jobs.left < 4)
		return NIC_NO_ROOM;
	switch (segment->op) {
	case BCL_SEG_GET:
	case BCL_SEG_FETCH_ADD:
	case BCL_SEG_COMPARE_SWAP:
		return execute(card, conn, segment, payload);
	default:
		return take_fragment(card, conn, rail, segment, payload,
				     buffer);
	}
}

static void withdraw(struct bcl_card *card, struct nic_inbound *inbound)
{
	inbound->withdrawn = 1;
	if (inbound->jobs == 0)
		give_verdicts(card, inbound);
}

void bcl_nic_assemble_withdraw(struct bcl_card *card, struct nic_conn *conn,
			       uint32_t msg)
{
	struct nic_inbound *inbound;

	if (bcl_before(msg, conn->base) || msg - conn->base >= BCL_MSG_AHEAD)
		return;
	if (nic_verdict_of(conn, msg) != BCL_VERDICT_UNKNOWN) {
		bcl_nic_verdict_repeat(card, conn, msg);
		return;
	}
	nic_count(card, cancelled);
	inbound = find_inbound(conn, msg);
	if (!inbound) {
		refuse_message(card, conn, msg, BCL_VERDICT_REFUSED);
		return;
	}
	withdraw(card, inbound);
}

/*
 * True if the message makes progress. An early message does if its predecessor
 * is arriving or has a verdict. A message in pieces does if bytes came since
 * the last look, unless it goes to a system ring: its few fragments have had
 * time enough.
 */
static bool goes_on(struct nic_conn *conn, const struct nic_inbound *inbound)
{
	switch (inbound->state) {
	case NIC_INBOUND_PIECES:
		return inbound->op != BCL_SEG_SYSTEM &&
		       inbound->received != inbound->seen;
	case NIC_INBOUND_EARLY:
		return look_up(conn, inbound->prev) ||
		       nic_verdict_of(conn, inbound->prev) !=
			       BCL_VERDICT_UNKNOWN;
	default:
		return true;
	}
}

static struct nic_inbound *find_idle(struct nic_conn *conn)
{
	struct nic_inbound *inbound;
	struct nic_link *link;

	for (link = conn->inbounds.next; link != &conn->inbounds;
	     link = link->next) {
		inbound = bcl_container_of(link, struct nic_inbound, link);
		if (inbound->looks > 1 && !inbound->withdrawn)
			return inbound;
	}
	return NULL;
}

/*
 * Refuse messages without progress at two looks in a row. Forged frames with
 * the sender's numbers may have opened the message, and then the sender will
 * never complete it. Blocks are freed in ring order, so the block of the
 * message would stop the port for all peers.
 */
void bcl_nic_assemble_look(struct bcl_card *card, struct nic_conn *conn)
{
	struct nic_inbound *inbound;
	struct nic_link *link;

	for (link = conn->inbounds.next; link != &conn->inbounds;
	     link = link->next) {
		inbound = bcl_container_of(link, struct nic_inbound, link);
		inbound->looks =
			goes_on(conn, inbound) ? 0 : inbound->looks + 1;
		inbound->seen = inbound->received;
	}
	while ((inbound = find_idle(conn))) {
		nic_count(card, refused_rest);
		withdraw(card, inbound);
	}
	conn->look_at = NIC_NEVER;
	if (!nic_list_empty(&conn->inbounds))
		look_later(card, conn);
}

void bcl_nic_assemble_lose(struct bcl_card *card, struct nic_conn *conn,
			   enum bcl_status status)
{
	struct nic_inbound *inbound;

	while ((inbound = nic_list_first(&conn->inbounds, struct nic_inbound,
					 link))) {
		bcl_nic_destination_spare(inbound);
		if (inbound->op == BCL_SEG_CHANNEL && inbound->port) {
			inbound->where.length = 0;
			bcl_nic_deliver_channel(card, inbound, status);
		}
		detach(card, inbound);
		if (inbound->jobs == 0)
			nic_pool_put(&card->inbounds, &inbound->link);
	}
}

/* True if the message is for this port, or replies to one of its requests. */
static bool belongs(const struct nic_inbound *inbound,
		    const struct nic_port *port)
{
	return inbound->port == port ||
	       (inbound->request && inbound->request->port == port);
}

static struct nic_inbound *find_of_port(struct nic_conn *conn,
					const struct nic_port *port)
{
	struct nic_link *link;

	for (link = conn->inbounds.next; link != &conn->inbounds;
	     link = link->next)
		if (belongs(bcl_container_of(link, struct nic_inbound, link),
			    port))
			return bcl_container_of(link, struct nic_inbound, link);
	return NULL;
}

void bcl_nic_assemble_close(struct bcl_card *card, struct nic_port *port)
{
	struct nic_inbound *inbound;
	struct nic_conn *conn;
	uint32_t i = 0;

	while ((conn = nic_conn_next(card, &i))) {
		while ((inbound = find_of_port(conn, port))) {
			inbound->port = NULL;
			inbound->request = NULL;
			inbound->failed = 1;
			inbound->status = BCL_ERR_NOPORT;
			if (inbound->jobs == 0)
				give_verdicts(card, inbound);
		}
	}
}
