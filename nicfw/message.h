/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Messages that this card sends. Allocation and numbering are inline for each
 * short message.
 */
#ifndef NICFW_MESSAGE_H
#define NICFW_MESSAGE_H

#include <nicfw/conn.h>
#include <nicfw/flow.h>

enum nic_message_state {
	NIC_MESSAGE_FREE,
	NIC_MESSAGE_QUEUED,    /* in flow->queue, no number */
	NIC_MESSAGE_SENDING,   /* first of flow->queue, numbered */
	NIC_MESSAGE_SENT,      /* all bytes were transmitted */
	NIC_MESSAGE_WITHDRAWN, /* WITHDRAW is sent until a verdict comes */
	NIC_MESSAGE_AWAITING,  /* delivered; the reply has not come yet */
	NIC_MESSAGE_PARKED,    /* in flow->parked, no number */
};

struct nic_message {
	struct nic_link
		link; /* flow->queue, flow->parked, conn->resend; free */
	struct nic_link numbered; /* conn->numbered, conn->awaiting */
	struct nic_port *port; /* owner of completion and memory; NULL: none */
	struct nic_node *node;
	/*
	 * nic_message_take() clears from here to `refs`, but for `generation`.
	 */
	struct nic_flow *flow; /* NULL: the port was closed */
	struct nic_flow *gate; /* NULL: a reply, or waits behind a fence */
	uint64_t cookie, targ64;
	uint32_t number; /* 0: none */
	/*
	 * Number of the predecessor in the flow, 0: none. PARKED: the number
	 * that was refused.
	 */
	uint32_t prev;
	uint32_t moved; /* bytes transmitted so far */
	uint32_t length;
	uint32_t target, arg32;
	/* of the request in the port's array; of a reply: the channel */
	uint32_t index;
	uint16_t generation;
	uint16_t src_port, dst_port;
	uint16_t inline_len;
	uint8_t nref;
	uint8_t op, type;
	uint8_t state;
	uint8_t fragmented; /* more than one frame */
	uint8_t status;	    /* not 0: how to finish if the number is refused */
	uint8_t remote;	    /* refs are read for the peer */
	uint8_t reads;	    /* counted in port->channel[index].reads */
	uint8_t words;	    /* bytes of payload in `word` */
	uint8_t answering;  /* the reply is arriving */
	uint8_t reply;	    /* this is a reply: counted in node->replies */
	union {
		struct bcl_memref refs[BCL_REQUEST_REFS];
		struct {
			struct bcl_memref result;
			struct bcl_le64 word[2]; /* of atomics */
		};
	};
};

void bcl_nic_message_free(struct bcl_card *card, struct nic_message *message);
/*
 * A message ends: completion to its port, then the fence behind it may pass.
 * The message is freed.
 */
void bcl_nic_message_finish(struct bcl_card *card, struct nic_message *message,
			    enum bcl_status status);
/* The memory of a message cannot be read: withdraw it, with BCL_ERR_MEMORY. */
void bcl_nic_message_fault(struct bcl_card *card, struct nic_conn *conn,
			   struct nic_message *message);
/*
 * Ask for a verdict on the number without the rest of the message (WITHDRAW).
 */
void bcl_nic_message_withdraw(struct bcl_card *card, struct nic_conn *conn,
			      struct nic_message *message);
/*
 * A message did not arrive: retransmit its only frame, or withdraw a long one.
 */
void bcl_nic_message_retransmit(struct bcl_card *card, struct nic_conn *conn,
				struct nic_message *message);
/*
 * The frame of a flight was lost with its rail: its messages go by another
 * rail, or are withdrawn.
 */
void bcl_nic_message_reroute(struct bcl_card *card, struct nic_conn *conn,
			     const struct nic_flight *flight);
/* The peer's verdicts on our messages: all before `done`, or single ones. */
void bcl_nic_message_done(struct bcl_card *card, struct nic_conn *conn,
			  uint32_t done);
void bcl_nic_message_verdicts(struct bcl_card *card, struct nic_conn *conn,
			      uint32_t first, uint32_t n, const uint8_t *bits);
/* The reply to a GET or atomic has come. */
void bcl_nic_message_answered(struct bcl_card *card,
			      struct nic_message *message,
			      enum bcl_status status);
/* The peer has left: drop the replies that we owe it. */
void bcl_nic_message_drop_replies(struct bcl_card *card, struct nic_conn *conn);
/* The port is closed: end its messages, without completions, and its flows. */
void bcl_nic_message_close(struct bcl_card *card, struct nic_port *port);
/* Finish all messages for a node with `status`. */
void bcl_nic_message_lose(struct bcl_card *card, struct nic_node *node,
			  enum bcl_status status);

/*
 * Take a message from the pool, not in any list yet. NULL: the pool is empty.
 */
static inline struct nic_message *nic_message_take(struct bcl_card *card,
						   struct nic_port *port,
						   struct nic_node *node)
{
	struct nic_message *message = nic_pool_take(&card->messages);
	uint16_t generation;

	if (!message)
		return NULL;
	bcl_assert(message->state == NIC_MESSAGE_FREE);
	generation = message->generation;
	/*
	 * Clear only these fields: for about 80 bytes compilers emit a few
	 * stores, for the whole structure a string instruction, which is slow
	 * to start.
	 */
	memset((uint8_t *)message + offsetof(struct nic_message, flow), 0,
	       offsetof(struct nic_message, refs) -
		       offsetof(struct nic_message, flow));
	message->generation = generation;
	message->state = NIC_MESSAGE_QUEUED;
	message->port = port;
	message->node = node;
	nic_list_init(&message->link);
	nic_list_init(&message->numbered);
	node->messages++;
	return message;
}

/* True if the message has a number, so that the peer may have seen it. */
static inline bool nic_message_numbered(const struct nic_message *message)
{
	return message->number && message->state >= NIC_MESSAGE_SENDING &&
	       message->state <= NIC_MESSAGE_WITHDRAWN;
}

/* True if the peer answers with a message of its own. */
static inline bool nic_message_asks(const struct nic_message *message)
{
	return message->op == BCL_SEG_GET || message->op == BCL_SEG_FETCH_ADD ||
	       message->op == BCL_SEG_COMPARE_SWAP;
}

/* The name of a request, which the peer repeats in the reply. */
static inline uint32_t nic_message_token(const struct bcl_card *card,
					 const struct nic_message *message)
{
	return (uint32_t)(message - card->message) |
	       (uint32_t)message->generation << 16;
}

/*
 * Bytes of payload in the frames of the message. A GET has none; its length is
 * that of the reply.
 */
static inline uint32_t nic_message_bytes(const struct nic_message *message)
{
	return message->op == BCL_SEG_GET ? 0 : message->length;
}

/* True if the flight's message has not ended since the flight was built. */
static inline bool nic_message_alive(const struct nic_conn *conn,
				     const struct nic_flight *flight)
{
	return flight->message && flight->message->number == flight->number &&
	       flight->message->node == conn->node;
}

/*
 * True if the flight carries a fragment of a message that is still being sent.
 */
static inline bool nic_message_part(const struct nic_conn *conn,
				    const struct nic_flight *flight)
{
	return nic_message_alive(conn, flight) && flight->message->fragmented &&
	       flight->message->state != NIC_MESSAGE_WITHDRAWN;
}

/* The oldest number without a verdict; the next number if there is none. */
static inline uint32_t nic_message_base(const struct nic_conn *conn)
{
	const struct nic_message *first =
		nic_list_first(&conn->numbered, struct nic_message, numbered);

	return first ? first->number : conn->next;
}

/* True if the next number is within BCL_MSG_AHEAD of the oldest one. */
static inline bool nic_message_may_number(const struct nic_conn *conn)
{
	return conn->next - nic_message_base(conn) < BCL_MSG_AHEAD;
}

/*
 * Give a message the next number, for frames of `rail`. The caller has checked
 * that it has no number, and nic_message_may_number().
 */
static inline void nic_message_number(struct bcl_card *card,
				      struct nic_conn *conn, unsigned rail,
				      struct nic_message *message)
{
	struct nic_flow *flow = message->flow;

	bcl_assert(message->number == 0 &&
		   message->state == NIC_MESSAGE_QUEUED);
	bcl_assert(conn->state >= NIC_CONN_UP &&
		   conn->state != NIC_CONN_ENDING);
	bcl_assert(nic_message_may_number(conn));
	message->number = conn->next++;
	if (conn->next == 0)
		conn->next = 1;
	nic_list_append(&conn->numbered, &message->numbered);
	flow->pending++;
	message->prev = 0;
	if (flow->class == NIC_FLOW_ORDERED) {
		message->prev = flow->last;
		flow->last = message->number;
	}
	message->state = NIC_MESSAGE_SENDING;
	message->moved = 0;
	message->fragmented =
		nic_message_bytes(message) > conn->window[rail].payload;
	conn->used = card->now;
}

#endif
