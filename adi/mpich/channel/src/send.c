/* SPDX-License-Identifier: MIT */
/*
 * Sending. Packets that can leave at once do. The rest of a message waits in a
 * request in the connection's queue, one request per message. The library has
 * one packet at a time of the first message in the queue, with the connection
 * as the cookie. When the packet has left, bcl_ch3_sent() goes on. A message
 * that fits in one long packet is lent to the library whole, with its request
 * as the cookie, and leaves the queue.
 */
#include "channel.h"

_Static_assert(sizeof(MPIDI_CH3_Pkt_t) <= 8 * BCL_CH3_WORDS_MAX,
	       "every header fits");

/* The part of a message that has not left yet. */
struct outgoing {
	const void *header; /* NULL: the header has left */
	unsigned words;
	const struct iovec *iov;
	int n;
	size_t at; /* bytes of iov[0] that have left */
};

enum {
	PIECES = BCL_GATHER_MAX - 1,
};

static unsigned words_of(size_t bytes)
{
	return (unsigned)(bytes + 7) / 8;
}

static int is_through(struct outgoing *out)
{
	while (out->n && out->at == out->iov->iov_len) {
		out->iov++;
		out->n--;
		out->at = 0;
	}
	return !out->header && !out->n;
}

/* Cuts off the pieces of the next packet, at most `room` bytes. */
static unsigned cut_pieces(struct outgoing *out, struct iovec *pieces,
			   size_t room)
{
	unsigned n = 0;

	while (out->n && n < PIECES && room) {
		size_t length = out->iov->iov_len - out->at;

		if (length > room)
			length = room;
		if (length)
			pieces[n++] = (struct iovec){
				(char *)out->iov->iov_base + out->at, length
			};
		room -= length;
		out->at += length;
		if (out->at < out->iov->iov_len)
			break;
		out->iov++;
		out->n--;
		out->at = 0;
	}
	return n;
}

/* Sends one packet. AGAIN, only if `now`: the packet cannot leave at once, and
 * nothing was sent. */
static enum bcl_status send_one(MPIDI_VC_t *vc, struct outgoing *out, int now)
{
	const struct outgoing before = *out;
	unsigned n, words = out->header ? out->words : 0;
	struct iovec pieces[PIECES];
	enum bcl_status status;

	n = cut_pieces(out, pieces, bcl_ch3_link_room(vc, words));
	out->header = NULL;
	status = bcl_ch3_link_send(vc, words, before.header, pieces, n,
				   now ? 0 : (uintptr_t)vc, now);
	if (status)
		*out = before;
	return status;
}

/* Sends all packets that can leave at once. */
static enum bcl_status push(MPIDI_VC_t *vc, struct outgoing *out)
{
	enum bcl_status status = BCL_OK;

	while (!status && !is_through(out))
		status = send_one(vc, out, TRUE);
	return status;
}

/* ---- long packets ---- */

static size_t bytes_of(const struct outgoing *out)
{
	size_t length = 0;
	int i;

	for (i = 0; i < out->n; i++)
		length += out->iov[i].iov_len;
	return length - out->at;
}

/* Returns true if nothing of the message has left yet, and all of it fits in
 * one long packet. */
static int is_long(const MPIDI_VC_t *vc, const struct outgoing *out)
{
	return vc->ch.link && out->n && out->header && !out->at &&
	       bcl_ch3_link_long_room(vc, out->words, bytes_of(out));
}

void bcl_ch3_lent(MPIR_Request *request, enum bcl_status status)
{
	if (status)
		request->status.MPI_ERROR = bcl_ch3_error(status);
	MPID_Request_complete(request);
	MPIR_Request_free(request);
}

/* ---- the queue ---- */

static void keep_rest(MPIR_Request *request, const struct outgoing *out)
{
	int n = out->n;

	if (out->header && out->header != &request->dev.pending_pkt)
		memcpy(&request->dev.pending_pkt, out->header, 8 * out->words);
	request->ch.words = out->header ? out->words : 0;
	request->ch.at = out->at;
	if (n)
		memmove(request->dev.iov, out->iov,
			(size_t)n * sizeof(*out->iov));
	request->dev.iov_count = n;
	request->dev.iov_offset = 0;
}

static struct outgoing kept(MPIR_Request *request)
{
	return (struct outgoing){
		.header = request->ch.words ? &request->dev.pending_pkt : NULL,
		.words = request->ch.words,
		.iov = request->dev.iov,
		.n = request->dev.iov_count,
		.at = request->ch.at,
	};
}

static void append_request(MPIDI_VC_t *vc, MPIR_Request *request)
{
	MPIR_Request_add_ref(request);
	request->next = NULL;
	if (vc->ch.sendq_tail)
		vc->ch.sendq_tail->next = request;
	else
		vc->ch.sendq_head = request;
	vc->ch.sendq_tail = request;
}

static MPIR_Request *take_first(MPIDI_VC_t *vc)
{
	MPIR_Request *request = vc->ch.sendq_head;

	vc->ch.sendq_head = request->next;
	if (!vc->ch.sendq_head)
		vc->ch.sendq_tail = NULL;
	return request;
}

/* All pieces of the request have left. ch3 may supply more: then *complete is
 * false. */
static int finish_request(MPIDI_VC_t *vc, MPIR_Request *request, int *complete)
{
	*complete = TRUE;
	if (!request->dev.OnDataAvail)
		return MPID_Request_complete(request);
	request->ch.words = 0;
	request->ch.at = 0;
	request->dev.iov_offset = 0;
	return request->dev.OnDataAvail(vc, request, complete);
}

static void fail_request(MPIR_Request *request, int mpi_errno)
{
	request->status.MPI_ERROR = mpi_errno;
	MPID_Request_complete(request);
}

/* Gives the next packet of the first request in the queue to the library, which
 * may be done with the packet before the call returns. AGAIN: bcl_ch3_sent()
 * will follow. */
static enum bcl_status leave_later(MPIDI_VC_t *vc, MPIR_Request *request,
				   struct outgoing *out)
{
	enum bcl_status status;

	vc->ch.sending = TRUE;
	status = send_one(vc, out, FALSE);
	if (status)
		vc->ch.sending = FALSE;
	else
		status = vc->ch.failure;
	if (status)
		return status;
	keep_rest(request, out);
	return vc->ch.sending ? BCL_ERR_AGAIN : BCL_OK;
}

/* Lends a whole message to the library. The queue's reference to the request
 * passes to the library, which may be done with the request before the call
 * returns. */
static enum bcl_status lend(MPIDI_VC_t *vc, MPIR_Request *request,
			    const struct outgoing *out)
{
	enum bcl_status status;

	status = bcl_ch3_link_send(vc, out->words, out->header, out->iov,
				   (unsigned)out->n,
				   (uintptr_t)request | BCL_CH3_LENT, FALSE);
	if (status)
		bcl_ch3_lent(request, status);
	return status;
}

/* Advances the first request in the queue as far as possible. */
static enum bcl_status advance_first(MPIDI_VC_t *vc)
{
	MPIR_Request *request = vc->ch.sendq_head;
	struct outgoing out = kept(request);
	enum bcl_status status;
	int complete, mpi_errno;

	if (!request->dev.OnDataAvail && is_long(vc, &out))
		return lend(vc, take_first(vc), &out);
	status = push(vc, &out);
	if (status == BCL_ERR_AGAIN)
		return leave_later(vc, request, &out);
	if (status)
		return status;
	mpi_errno = finish_request(vc, request, &complete);
	bcl_ch3_complain(mpi_errno);
	if (mpi_errno && !complete)
		fail_request(request, mpi_errno);
	if (mpi_errno || complete)
		MPIR_Request_free(take_first(vc));
	return BCL_OK;
}

/* Advances the requests in the queue in order. Functions called from here,
 * for example by a completion, may send more. This loop sends their
 * messages, too. */
static void advance_queue(MPIDI_VC_t *vc)
{
	enum bcl_status status = vc->ch.failure;

	if (vc->ch.going || vc->ch.sending)
		return;
	vc->ch.going = TRUE;
	while (!status && vc->ch.sendq_head)
		status = advance_first(vc);
	vc->ch.going = FALSE;
	vc->ch.failure = BCL_OK;
	if (status && status != BCL_ERR_AGAIN)
		bcl_ch3_send_failed(vc, status);
}

/* Queues the rest of a message behind the messages that wait already. */
static void enqueue(MPIDI_VC_t *vc, MPIR_Request *request,
		    const struct outgoing *out)
{
	keep_rest(request, out);
	append_request(vc, request);
	advance_queue(vc);
}

void bcl_ch3_sent(MPIDI_VC_t *vc, enum bcl_status status)
{
	vc->ch.sending = FALSE;
	vc->ch.failure = status;
	advance_queue(vc);
}

void bcl_ch3_send_failed(MPIDI_VC_t *vc, enum bcl_status status)
{
	while (vc->ch.sendq_head) {
		MPIR_Request *request = take_first(vc);

		fail_request(request, bcl_ch3_error(status));
		MPIR_Request_free(request);
	}
}

/* ---- what ch3 calls ---- */

static struct outgoing message(const void *packet, size_t bytes,
			       const struct iovec *iov, int n)
{
	return (struct outgoing){
		.header = packet, .words = words_of(bytes), .iov = iov, .n = n
	};
}

/* Sends the packets of a new message that can leave at once. AGAIN: the caller
 * queues the rest. */
static enum bcl_status begin_message(MPIDI_VC_t *vc, struct outgoing *out,
				     int *mpi_errno)
{
	*mpi_errno = MPI_SUCCESS;
	if (!vc->ch.link)
		*mpi_errno = bcl_ch3_link_open(vc);
	if (*mpi_errno)
		return BCL_OK;
	return vc->ch.sendq_head || is_long(vc, out) ? BCL_ERR_AGAIN
						     : push(vc, out);
}

/* Returns true if a packet may leave now, provided that there is room. */
static int is_open(const MPIDI_VC_t *vc)
{
	return vc->ch.link && vc->pg && !vc->ch.sendq_head;
}

/* The common case: a message of one packet, with no message queued before it.
 * Returns true if the message has left. */
static int leaves_at_once(const MPIDI_VC_t *vc, const void *packet,
			  size_t bytes, const struct iovec *iov, int n)
{
	unsigned words = words_of(bytes);

	return is_open(vc) && n <= PIECES &&
	       !bcl_adi_packet_try(bcl_ch3_adi, vc->ch.link->peer, words,
				   packet, 8 * words, iov, (unsigned)n);
}

static enum bcl_status try_short(const MPIDI_VC_t *vc,
				 MPIDI_Message_match match, const void *data,
				 size_t length)
{
	const struct iovec piece = { (void *)data, length };

	/* CH3_RANK_BITS is 16, usually */
	if (sizeof(match) == sizeof(uint64_t))
		return bcl_adi_packet_word(bcl_ch3_adi, vc->ch.link->peer,
					   BCL_CH3_SHORT, match.whole, data,
					   length);
	return bcl_adi_packet_try(bcl_ch3_adi, vc->ch.link->peer, BCL_CH3_SHORT,
				  &match, sizeof(match), &piece, length > 0);
}

int bcl_ch3_leaves_short(const MPIDI_VC_t *vc, MPIDI_Message_match match,
			 const void *data, size_t length)
{
	return is_open(vc) && !try_short(vc, match, data, length);
}

/* Sends a message that has no request yet. */
static int start_message(MPIDI_VC_t *vc, struct outgoing *out,
			 MPIR_Request **result)
{
	MPIR_Request *request;
	enum bcl_status status;
	int mpi_errno;

	status = begin_message(vc, out, &mpi_errno);
	if (!status && !mpi_errno)
		return MPI_SUCCESS;
	request = MPIR_Request_create(MPIR_REQUEST_KIND__SEND);
	if (!request)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	MPIR_Object_set_ref(request, 2);
	*result = request;
	if (status == BCL_ERR_AGAIN) {
		enqueue(vc, request, out);
		return MPI_SUCCESS;
	}
	if (!mpi_errno)
		mpi_errno = bcl_ch3_error(status);
	MPIR_cc_set(&request->cc, 0);
	request->status.MPI_ERROR = mpi_errno;
	return mpi_errno;
}

/* All of a message has left; queues the request if ch3 supplies more. */
static int sent(MPIDI_VC_t *vc, MPIR_Request *request)
{
	int complete, mpi_errno = finish_request(vc, request, &complete);

	if (mpi_errno || complete)
		return mpi_errno;
	append_request(vc, request);
	advance_queue(vc);
	return MPI_SUCCESS;
}

/* Sends a message with its request. */
static int send_request(MPIDI_VC_t *vc, MPIR_Request *request,
			struct outgoing *out)
{
	enum bcl_status status;
	int mpi_errno;

	status = begin_message(vc, out, &mpi_errno);
	if (!status && !mpi_errno)
		return sent(vc, request);
	if (status == BCL_ERR_AGAIN) {
		enqueue(vc, request, out);
	} else {
		if (!mpi_errno)
			mpi_errno = bcl_ch3_error(status);
		request->status.MPI_ERROR = mpi_errno;
		MPID_Request_complete(request);
	}
	return mpi_errno;
}

/* If the packet could not be sent, no answer will come: forgets the request
 * that waits for the answer. */
static int outcome(const void *packet, int mpi_errno)
{
	if (mpi_errno)
		bcl_ch3_ask_no_more(packet);
	return mpi_errno;
}

/* Sends a message without payload behind its packet, in the short form if there
 * is one. No answer follows the short form. Returns true if the message has
 * left. */
static int leaves_alone(MPIDI_VC_t *vc, const void *packet, size_t bytes)
{
	const MPIDI_CH3_Pkt_eagershort_send_t *brief = packet;
	const MPIDI_CH3_Pkt_eager_send_t *empty = packet;

	if (brief->type == MPIDI_CH3_PKT_EAGERSHORT_SEND)
		return bcl_ch3_leaves_short(vc, brief->match, brief->data,
					    (size_t)brief->data_sz);
	if (empty->type == MPIDI_CH3_PKT_EAGER_SEND && !empty->data_sz &&
	    empty->sender_req_id == MPI_REQUEST_NULL)
		return bcl_ch3_leaves_short(vc, empty->match, "", 0);
	bcl_ch3_ask(vc, packet);
	return leaves_at_once(vc, packet, bytes, NULL, 0);
}

int MPIDI_CH3_iStartMsg(MPIDI_VC_t *vc, void *packet, intptr_t bytes,
			MPIR_Request **result)
{
	struct outgoing out;

	*result = NULL;
	if (leaves_alone(vc, packet, (size_t)bytes))
		return MPI_SUCCESS;
	out = message(packet, (size_t)bytes, NULL, 0);
	return outcome(packet, start_message(vc, &out, result));
}

int MPIDI_CH3_iStartMsgv(MPIDI_VC_t *vc, struct iovec *iov, int n,
			 MPIR_Request **result)
{
	struct outgoing out;

	*result = NULL;
	if (leaves_at_once(vc, iov->iov_base, iov->iov_len, iov + 1, n - 1))
		return MPI_SUCCESS;
	out = message(iov->iov_base, iov->iov_len, iov + 1, n - 1);
	return start_message(vc, &out, result);
}

int MPIDI_CH3_iSend(MPIDI_VC_t *vc, MPIR_Request *request, void *packet,
		    intptr_t bytes)
{
	struct outgoing out;

	bcl_ch3_ask(vc, packet);
	if (leaves_at_once(vc, packet, (size_t)bytes, NULL, 0))
		return sent(vc, request);
	out = message(packet, (size_t)bytes, NULL, 0);
	return outcome(packet, send_request(vc, request, &out));
}

int MPIDI_CH3_iSendv(MPIDI_VC_t *vc, MPIR_Request *request, struct iovec *iov,
		     int n)
{
	const void *packet = iov->iov_base;
	struct outgoing out;

	bcl_ch3_ask(vc, packet);
	if (leaves_at_once(vc, packet, iov->iov_len, iov + 1, n - 1))
		return sent(vc, request);
	out = message(packet, iov->iov_len, iov + 1, n - 1);
	return outcome(packet, send_request(vc, request, &out));
}
