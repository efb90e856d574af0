/* SPDX-License-Identifier: MIT */
/*
 * Long messages. The sender announces the memory; the receiver pulls after the
 * match. Inside a node both sides copy. Data that is not contiguous is packed
 * into one piece first. ch3's own rendezvous carries a message that cannot be
 * announced: packets are queued before it, the connection was made by a port
 * and has no group yet, or there is no memory to pack the data.
 */
#include "channel.h"

typedef struct bcl_ch3_announcement announcement;

enum {
	/*
	 * Longest eager message with its header, in bytes, unless the user sets
	 * MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE. Inside a node a longer message is
	 * faster if it is copied once, in spite of the round trip. Between
	 * nodes a round trip takes longer, and the message leaves in one burst.
	 */
	EAGER_NEAR = 16384 + sizeof(MPIDI_CH3_Pkt_eager_send_t),
	EAGER_FAR = 65536 + sizeof(MPIDI_CH3_Pkt_eager_send_t),
};

_Static_assert(BCL_CH3_TICKET == BCL_PACKET_TICKET, "tickets are BCL's");

/* ---- sending ---- */

/* The data of the message in one piece. NULL: no memory. */
static void *one_piece(MPIR_Request *request, const void *buffer,
		       MPI_Aint count, MPI_Datatype type, int contiguous,
		       intptr_t length, MPI_Aint true_lb)
{
	MPI_Aint packed;

	if (contiguous)
		return (char *)buffer + true_lb;
	request->ch.piece = MPL_malloc(length, MPL_MEM_BUFFER);
	if (request->ch.piece)
		MPIR_Typerep_pack(buffer, count, type, 0, request->ch.piece,
				  length, &packed);
	return request->ch.piece;
}

static int send_announced(MPIR_Request **result, const void *buffer,
			  MPI_Aint count, MPI_Datatype type, int contiguous,
			  intptr_t length, MPI_Aint true_lb, int rank, int tag,
			  MPIR_Comm *comm, int context_offset)
{
	MPIR_Request *request = *result;
	MPIDI_CH3_Pkt_t packet;
	announcement *a = &packet.bcl_announcement;
	enum bcl_status status;
	int mpi_errno = MPI_SUCCESS;
	MPIDI_VC_t *vc;
	void *data;

	MPIDI_Comm_get_vc_set_active(comm, rank, &vc);
	if (!vc->ch.link)
		mpi_errno = bcl_ch3_link_open(vc);
	if (mpi_errno)
		return mpi_errno;
	data = vc->pg && !vc->ch.sendq_head
		       ? one_piece(request, buffer, count, type, contiguous,
				   length, true_lb)
		       : NULL;
	if (!data)
		return MPIDI_CH3_RndvSend(result, buffer, count, type,
					  contiguous, length, true_lb, rank,
					  tag, comm, context_offset);
	request->dev.partner_request = NULL;
	request->ch.announced = TRUE;
	MPIDI_Pkt_init(a, BCL_CH3_PKT_ANNOUNCE);
	a->match.parts.rank = comm->rank;
	a->match.parts.tag = tag;
	a->match.parts.context_id = comm->context_id + context_offset;
	a->sender_req_id = request->handle;
	a->data_sz = length;
	status = bcl_adi_packet_announce(
		bcl_ch3_adi, vc->ch.link->peer, sizeof(*a) / 8, a, sizeof(*a),
		offsetof(announcement, ticket), data, (size_t)length,
		(uintptr_t)request | BCL_CH3_ANNOUNCED);
	if (!status)
		return MPI_SUCCESS;
	mpi_errno = bcl_ch3_error(status);
	bcl_ch3_announced(request, status);
	return mpi_errno;
}

/* The receiver has pulled the message. CANCELLED: the message was withdrawn;
 * ch3 completes the request when it handles the receiver's answer to the
 * cancellation. */
void bcl_ch3_announced(MPIR_Request *request, enum bcl_status status)
{
	MPL_free(request->ch.piece);
	request->ch.piece = NULL;
	if (status == BCL_ERR_CANCELLED)
		return;
	if (status)
		request->status.MPI_ERROR = bcl_ch3_error(status);
	MPID_Request_complete(request);
}

/* Handles the receiver's answer to a cancellation. If the receiver agreed, the
 * receiver has forgotten the message; the sender withdraws the announcement, or
 * lets the cancellation fail if the pull has begun. */
int bcl_ch3_cancelled(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
		      intptr_t *length, MPIR_Request **result)
{
	MPIDI_CH3_Pkt_t answer;
	MPIR_Request *request;

	answer.cancel_send_resp = packet->cancel_send_resp;
	MPIR_Request_get_ptr(answer.cancel_send_resp.sender_req_id, request);
	if (answer.cancel_send_resp.ack && request->ch.announced &&
	    bcl_adi_packet_withdraw(bcl_ch3_adi,
				    (uintptr_t)request | BCL_CH3_ANNOUNCED))
		answer.cancel_send_resp.ack = FALSE;
	return MPIDI_CH3_PktHandler_CancelSendResp(vc, &answer, data, length,
						   result);
}

/* ---- receiving ---- */

static int pull(MPIDI_VC_t *vc, MPIR_Request *request)
{
	MPIR_Datatype *type;
	intptr_t room;
	MPI_Aint true_lb;
	int contiguous;
	enum bcl_status status = vc->ch.link ? BCL_OK : BCL_ERR_DEAD;
	void *data;

	MPIDI_Datatype_get_info(request->dev.user_count, request->dev.datatype,
				contiguous, room, type, true_lb);
	(void)type;
	if (request->dev.recv_data_sz > room) {
		request->status.MPI_ERROR = MPIR_Err_create_code(
			MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__,
			MPI_ERR_TRUNCATE, "**truncate", "**truncate %d %d",
			request->dev.recv_data_sz, room);
		request->dev.recv_data_sz = room;
		MPIR_STATUS_SET_COUNT(request->status, room);
	}
	data = MPIR_get_contig_ptr(request->dev.user_buf, true_lb);
	if (!contiguous)
		data = request->ch.piece =
			MPL_malloc(request->dev.recv_data_sz, MPL_MEM_BUFFER);
	if (!contiguous && !data)
		status = BCL_ERR_NOMEM;
	if (!status)
		status = bcl_adi_packet_pull(
			bcl_ch3_adi, vc->ch.link->peer, request->ch.ticket,
			data, (size_t)request->dev.recv_data_sz,
			(uintptr_t)request | BCL_CH3_PULLED);
	if (!status)
		return MPI_SUCCESS;
	bcl_ch3_pulled(request, status);
	return bcl_ch3_error(status);
}

void bcl_ch3_pulled(MPIR_Request *request, enum bcl_status status)
{
	MPI_Aint unpacked;

	if (status)
		request->status.MPI_ERROR = bcl_ch3_error(status);
	else if (request->ch.piece)
		MPIR_Typerep_unpack(
			request->ch.piece, request->dev.recv_data_sz,
			request->dev.user_buf, request->dev.user_count,
			request->dev.datatype, 0, &unpacked);
	MPL_free(request->ch.piece);
	request->ch.piece = NULL;
	MPID_Request_complete(request);
}

/* Receives an unexpected message whose receive has been posted now: pulls an
 * announced message, or answers ch3's own rendezvous. */
static int receive_announced(MPIDI_VC_t *vc, MPIR_Request *request)
{
	return request->ch.announced ? pull(vc, request)
				     : MPIDI_CH3_RecvRndv(vc, request);
}

int bcl_ch3_announcement(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
			 intptr_t *length, MPIR_Request **result)
{
	const announcement *a = &packet->bcl_announcement;
	MPIR_Request *request;
	int found;

	(void)data;
	*length = 0;
	*result = NULL;
	request = MPIDI_CH3U_Recvq_FDP_or_AEU((MPIDI_Message_match *)&a->match,
					      &found);
	if (!request)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	/* the communicator has been revoked */
	if (!found && !MPIR_cc_get(request->cc))
		return MPI_SUCCESS;
	request->status.MPI_SOURCE = a->match.parts.rank;
	request->status.MPI_TAG = a->match.parts.tag;
	MPIR_STATUS_SET_COUNT(request->status, a->data_sz);
	request->dev.sender_req_id = a->sender_req_id;
	request->dev.recv_data_sz = a->data_sz;
	MPIDI_Request_set_msg_type(request, MPIDI_REQUEST_RNDV_MSG);
	request->ch.announced = TRUE;
	memcpy(request->ch.ticket, a->ticket, sizeof(a->ticket));
	if (found)
		return pull(vc, request);
	MPIDI_CH3_Progress_signal_completion();
	return MPI_SUCCESS;
}

static void set_eager(MPIDI_VC_t *vc, int from, int to)
{
	if (vc->eager_max_msg_sz == from)
		vc->eager_max_msg_sz = to;
}

void bcl_ch3_rendezvous_open(MPIDI_VC_t *vc)
{
	int standard;

	MPIR_CVAR_GET_DEFAULT_INT(MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE, &standard);
	set_eager(vc, standard, EAGER_NEAR);
	vc->rndvSend_fn = send_announced;
	vc->rndvRecv_fn = receive_announced;
}

void bcl_ch3_rendezvous_far(MPIDI_VC_t *vc)
{
	set_eager(vc, EAGER_NEAR, EAGER_FAR);
}
