/* SPDX-License-Identifier: MIT */
/*
 * Requests that an answer of the other end completes: synchronous sends until
 * the receive matches, and ch3's own rendezvous at both ends. ch3 forgets such
 * requests when the other end is lost. The channel lists the requests per
 * connection, and ends them with an error.
 */
#include "channel.h"

/* The request that the answer to this packet completes. NULL: the packet asks
 * for no answer. */
static MPIR_Request *asker(const MPIDI_CH3_Pkt_t *packet)
{
	MPIR_Request *request = NULL;

	switch (packet->type) {
	case MPIDI_CH3_PKT_EAGER_SYNC_SEND:
	case MPIDI_CH3_PKT_RNDV_REQ_TO_SEND:
		MPIR_Request_get_ptr(packet->eager_sync_send.sender_req_id,
				     request);
		break;
	case MPIDI_CH3_PKT_RNDV_CLR_TO_SEND:
		MPIR_Request_get_ptr(packet->rndv_clr_to_send.receiver_req_id,
				     request);
		break;
	default:
		break;
	}
	return request;
}

static void forget_request(MPIR_Request *request)
{
	MPIR_Request *next = request->ch.next_asking;

	if (!request->ch.asking)
		return;
	*request->ch.asking = next;
	if (next)
		next->ch.asking = request->ch.asking;
	request->ch.asking = NULL;
}

static void forget_handle(MPI_Request handle)
{
	MPIR_Request *request;

	MPIR_Request_get_ptr(handle, request);
	forget_request(request);
}

void bcl_ch3_ask(MPIDI_VC_t *vc, const void *packet)
{
	MPIR_Request *request = asker(packet), *next = vc->ch.asking;

	if (!request)
		return;
	request->ch.asking = &vc->ch.asking;
	request->ch.next_asking = next;
	if (next)
		next->ch.asking = &request->ch.next_asking;
	vc->ch.asking = request;
}

void bcl_ch3_ask_no_more(const void *packet)
{
	MPIR_Request *request = asker(packet);

	if (request)
		forget_request(request);
}

void bcl_ch3_answers_failed(MPIDI_VC_t *vc, enum bcl_status status)
{
	MPIR_Request *request;

	while ((request = vc->ch.asking)) {
		forget_request(request);
		request->status.MPI_ERROR = bcl_ch3_error(status);
		MPID_Request_complete(request);
	}
}

/* ---- answers, before ch3 has them ---- */

static int synchronized(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
			intptr_t *length, MPIR_Request **result)
{
	forget_handle(packet->eager_sync_ack.sender_req_id);
	return MPIDI_CH3_PktHandler_EagerSyncAck(vc, packet, data, length,
						 result);
}

static int cleared(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
		   intptr_t *length, MPIR_Request **result)
{
	forget_handle(packet->rndv_clr_to_send.sender_req_id);
	return MPIDI_CH3_PktHandler_RndvClrToSend(vc, packet, data, length,
						  result);
}

static int sent(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
		intptr_t *length, MPIR_Request **result)
{
	forget_handle(packet->rndv_send.receiver_req_id);
	return MPIDI_CH3_PktHandler_RndvSend(vc, packet, data, length, result);
}

static int cancelled(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
		     intptr_t *length, MPIR_Request **result)
{
	if (packet->cancel_send_resp.ack)
		forget_handle(packet->cancel_send_resp.sender_req_id);
	return bcl_ch3_cancelled(vc, packet, data, length, result);
}

void bcl_ch3_answers_open(MPIDI_CH3_PktHandler_Fcn **handlers)
{
	handlers[MPIDI_CH3_PKT_EAGER_SYNC_ACK] = synchronized;
	handlers[MPIDI_CH3_PKT_RNDV_CLR_TO_SEND] = cleared;
	handlers[MPIDI_CH3_PKT_RNDV_SEND] = sent;
	handlers[MPIDI_CH3_PKT_CANCEL_SEND_RESP] = cancelled;
}
