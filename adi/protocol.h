/* SPDX-License-Identifier: MIT */
/*
 * The protocols by which messages travel between two ranks: the messages of the
 * transport, the steps of requests, and the handlers of what arrives.
 */
#ifndef BCL_ADI_PROTOCOL_H
#define BCL_ADI_PROTOCOL_H

#include <bcl/wire.h>

#include "adi/job.h"
#include "adi/peer.h"
#include "adi/request.h"

/*
 * Message types of the transport; 0..15 are packets. The immediate word of
 * EAGER, SYNC and ANNOUNCE is the match key. MATCHED, CALL, TOKEN and DATA
 * carry the name of the sender's request (bcl_request_id()). PUT carries the
 * handle of a window. All types after DATA but PUT carry the sender's rank, as
 * in a match key; all but OOB control the flow between two ranks.
 */
enum bcl_adi_type {
	BCL_ADI_EAGER = BCL_PACKET_TYPES,
	BCL_ADI_SYNC,	  /* 8 bytes: the sender's request; then the data */
	BCL_ADI_ANNOUNCE, /* struct bcl_adi_announcement */
	BCL_ADI_MATCHED,
	BCL_ADI_CALL,	 /* receiver: send what was announced without a token */
	BCL_ADI_TOKEN,	 /* answer to CALL: the token; empty: taken back */
	BCL_ADI_DATA,	 /* answer to CALL: a short message itself */
	BCL_ADI_STOP,	 /* receiver: announce all messages of the caller's
			  * contexts */
	BCL_ADI_GO,	 /* receiver: STOP is over */
	BCL_ADI_HOLD,	 /* sender: has more messages, and keeps them until
			  * announced ones are read or MORE comes */
	BCL_ADI_MORE,	 /* receiver: looks for a message that has not come */
	BCL_ADI_FLUSH,	 /* empty; delivered after all messages before it */
	BCL_ADI_OOB,	 /* words for the client, out of band */
	BCL_ADI_PUT,	 /* BCL_EVENT_NOTIFY: data was put into a window */
	BCL_ADI_WAITING, /* empty; the sender waits for a message of the
			  * receiver */
	BCL_ADI_LEFT,	 /* answer to WAITING: no message will come, the sender
			  * of LEFT is closing */
	BCL_ADI_TYPES,
};

/* How the receiver gets an announced message. `id` is 0: pull with the token.
 * `id` is not 0: CALL the sender's request of that name. */
struct bcl_adi_ticket {
	struct bcl_le64 id;
	uint8_t token[BCL_KEY_MAX];
};

_Static_assert(sizeof(struct bcl_adi_ticket) == BCL_PACKET_TICKET, "ticket");

struct bcl_adi_announcement {
	struct bcl_le64 length;
	struct bcl_adi_ticket ticket;
};

enum {
	BCL_ADI_SYNC_HEAD = 8,	  /* bytes before the data of SYNC */
	BCL_ADI_ANNOUNCED = 4096, /* most announced messages per receiver
				   * without a receive; each MORE allows as many
				   * again */
	BCL_ADI_TOKENS = 32, /* announced with a token and not read yet: the
			      * transport holds few offers, and must have some
			      * left for messages that are called for */
};

/* ---- protocol.c: what a request does in each state ---- */

/* Advances a request in a state that waits in the queue of its peer; the
 * request is in no queue. AGAIN: the request must wait. OK: the request
 * advanced, or has failed and is complete. */
enum bcl_status bcl_request_push(struct bcl_adi *adi,
				 struct bcl_adi_request *request);
/* Ends a request that stood in a queue of its peer, which is lost. */
void bcl_request_fail(struct bcl_adi *adi, struct bcl_adi_request *request,
		      enum bcl_status status);
/* Takes back a message, with CANCELLED. Returns false if it is too late. */
bool bcl_request_take_back(struct bcl_adi *adi,
			   struct bcl_adi_request *request);

/* ---- eager.c ---- */

/* Returns true if the message may be sent or announced now. */
bool bcl_adi_may_send(const struct bcl_adi_request *request);
/* Sends EAGER with one piece. */
enum bcl_status bcl_adi_send_piece(struct bcl_peer *peer, uint64_t key,
				   const void *data, size_t length);
/* Sends one system message of any number of pieces. */
enum bcl_status bcl_adi_send_pieces(struct bcl_peer *peer, unsigned type,
				    uint64_t immediate, const struct iovec *iov,
				    unsigned niov, size_t length);
/* EAGER. UNSUPPORTED: the message may not go eagerly. */
enum bcl_status bcl_request_send(struct bcl_adi *adi,
				 struct bcl_adi_request *request);
/* Handles MATCHED. */
void bcl_adi_matched(struct bcl_adi *adi, const struct bcl_event *event);
/* ANSWER. */
enum bcl_status bcl_request_answer(struct bcl_adi *adi,
				   struct bcl_adi_request *request);
void bcl_request_fail_answer(struct bcl_adi *adi,
			     struct bcl_adi_request *request,
			     enum bcl_status status);
/* PACKET. */
enum bcl_status bcl_request_packet(struct bcl_adi *adi,
				   struct bcl_adi_request *request);

/* Makes the request one to send a packet of this type, from the packet layer or
 * from the ADI. The caller submits the request. */
static inline void bcl_request_make_packet(struct bcl_adi_request *request,
					   struct bcl_adi_peer *peer,
					   unsigned type, uint64_t key)
{
	request->state = BCL_REQUEST_PACKET;
	request->type = (uint8_t)type;
	request->key = key;
	request->peer = peer;
	request->limited = false;
	request->released = false;
}

/* ---- rendezvous.c: the sender ---- */

/* OFFER and ANNOUNCE; also EAGER, of a message that may not go eagerly. */
enum bcl_status bcl_request_offer(struct bcl_adi *adi,
				  struct bcl_adi_request *request);
/* GRANT and GIVE. */
enum bcl_status bcl_request_grant(struct bcl_adi *adi,
				  struct bcl_adi_request *request);
/* ANNOUNCE and GIVE. */
void bcl_request_fail_offered(struct bcl_adi *adi,
			      struct bcl_adi_request *request,
			      enum bcl_status status);
/* ANNOUNCE and READ: takes back the offer. */
bool bcl_request_withdraw(struct bcl_adi *adi, struct bcl_adi_request *request);
/* Handles CALL. Returns the request that answers, which the caller submits, or
 * NULL. */
struct bcl_adi_request *bcl_adi_call(struct bcl_adi *adi,
				     const struct bcl_event *event);
/* Handles BCL_EVENT_READ: the receiver has pulled the message, or the offer has
 * failed. */
void bcl_adi_read(struct bcl_adi *adi, struct bcl_adi_request *request,
		  enum bcl_status status);

/* ---- fetch.c: the receiver ---- */

/* Makes the request one to get an announced message. The caller has set status
 * and buffer, and submits the request. */
void bcl_request_fetch(struct bcl_adi_request *request,
		       struct bcl_adi_peer *peer, const void *ticket);
/* CALL. */
enum bcl_status bcl_request_call(struct bcl_adi *adi,
				 struct bcl_adi_request *request);
/* PULL. */
enum bcl_status bcl_request_pull(struct bcl_adi *adi,
				 struct bcl_adi_request *request);
/* Handles TOKEN and DATA. Returns the request that can pull now, which the
 * caller submits, or NULL. */
struct bcl_adi_request *bcl_adi_called(struct bcl_adi *adi,
				       const struct bcl_event *event);
/* Handles BCL_EVENT_PULLED; also the failure of CALL, CALLED and PULL. */
void bcl_adi_pulled(struct bcl_adi *adi, struct bcl_adi_request *request,
		    enum bcl_status status);

/* ---- put.c ---- */

/* PUT. */
enum bcl_status bcl_request_put(struct bcl_adi *adi,
				struct bcl_adi_request *request);

/* ---- start.c ---- */

/* Starts a message that does not leave at once. The caller has set buffer or
 * iov, length, sync, end. */
void bcl_adi_send_queued(struct bcl_adi *adi, struct bcl_adi_request *request,
			 unsigned rank, uint64_t key);
/* Sends an empty message. The request ends when the peer has the message, and
 * with it all messages before. */
void bcl_adi_send_nothing(struct bcl_adi *adi, struct bcl_adi_peer *peer,
			  enum bcl_adi_type type, uint64_t immediate);

/* ---- the layers above ---- */

/* Hands a packet to the packet layer. */
static inline void bcl_adi_packet(struct bcl_adi *adi,
				  const struct bcl_event *event)
{
	if (bcl_likely(adi->packet_ops.receive != NULL))
		adi->packet_ops.receive(adi->packet_arg, event->peer,
					event->type, event->data,
					event->length);
	else
		bcl_count(adi->counters, adi_dropped);
}

/* oob.c: handles OOB. */
void bcl_adi_oob_received(struct bcl_adi *adi, unsigned rank,
			  const struct bcl_event *event);

#endif
