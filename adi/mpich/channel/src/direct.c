/* SPDX-License-Identifier: MIT */
/*
 * MPI_Send(), MPI_Isend() and MPI_Recv() of short messages without ch3's
 * requests and queues. All other messages go the way of ch3.
 *
 * A message that has left needs no request: MPI_Isend() then returns MPICH's
 * request that is complete. Such a message cannot be cancelled any more.
 *
 * MPI_Recv() waits without a request as long as ch3's queues are empty: then no
 * other receive can be older, and no message is there already. When anything
 * comes that is not the awaited message, MPI_Recv() starts again with a
 * request.
 */
#include "channel.h"

/* Exported by the graft. */
extern MPIR_Request **const MPID_Recvq_posted_head_ptr;
extern MPIR_Request **const MPID_Recvq_unexpected_head_ptr;

struct bcl_ch3_direct bcl_ch3_direct;

static int is_simple(const MPIR_Comm *comm, int rank, MPI_Datatype type)
{
	return HANDLE_IS_BUILTIN(type) && !comm->revoked &&
	       (rank != comm->rank ||
		comm->comm_kind == MPIR_COMM_KIND__INTERCOMM);
}

/* ---- sending ---- */

/* Returns true if the message may go eagerly. */
static int is_eager(const MPIDI_VC_t *vc, const MPIR_Comm *comm, size_t length)
{
	int most;

	if (length <= MPIDI_EAGER_SHORT_SIZE)
		return TRUE;
	MPIDI_CH3_GET_EAGER_THRESHOLD(&most, comm, vc);
	return (intptr_t)(length + sizeof(MPIDI_CH3_Pkt_eager_send_t)) <= most;
}

/* Sends a message straight from the buffer. Returns false if it cannot leave
 * at once, or is not simple. */
static int leaves(const void *buffer, MPI_Aint count, MPI_Datatype type,
		  int rank, int tag, const MPIR_Comm *comm, int offset)
{
	MPIDI_Message_match match = { .whole = 0 };
	const MPIDI_VC_t *vc;
	size_t length;

	if (!is_simple(comm, rank, type) || (size_t)count > BCL_CH3_SHORT_MAX)
		return FALSE;
	length = (size_t)count * MPIR_Datatype_get_basic_size(type);
	vc = comm->dev.vcrt->vcr_table[rank];
	if (length > BCL_CH3_SHORT_MAX || vc->state != MPIDI_VC_STATE_ACTIVE ||
	    !is_eager(vc, comm, length))
		return FALSE;
	match.parts.rank = (MPIDI_Rank_t)comm->rank;
	match.parts.tag = tag;
	match.parts.context_id = (MPIR_Context_id_t)(comm->context_id + offset);
	return bcl_ch3_leaves_short(vc, match, buffer, length);
}

int bcl_ch3_send(const void *buffer, MPI_Aint count, MPI_Datatype type,
		 int rank, int tag, MPIR_Comm *comm, int offset,
		 MPIR_Request **request)
{
	if (!leaves(buffer, count, type, rank, tag, comm, offset))
		return MPID_Send(buffer, count, type, rank, tag, comm, offset,
				 request);
	*request = NULL;
	return MPI_SUCCESS;
}

int bcl_ch3_isend(const void *buffer, MPI_Aint count, MPI_Datatype type,
		  int rank, int tag, MPIR_Comm *comm, int offset,
		  MPIR_Request **request)
{
	if (!leaves(buffer, count, type, rank, tag, comm, offset))
		return MPID_Isend(buffer, count, type, rank, tag, comm, offset,
				  request);
	*request = MPIR_Request_create_complete(MPIR_REQUEST_KIND__SEND);
	return MPI_SUCCESS;
}

/* ---- receiving ---- */

static int are_queues_empty(void)
{
	return !*MPID_Recvq_posted_head_ptr && !*MPID_Recvq_unexpected_head_ptr;
}

int bcl_ch3_direct_take(const MPIDI_Message_match *match, const char *data,
			size_t length)
{
	struct bcl_ch3_direct *direct = &bcl_ch3_direct;

	bcl_ch3_direct_end();
	if ((match->parts.tag ^ direct->match.parts.tag) & direct->tag_mask ||
	    match->parts.rank != direct->match.parts.rank ||
	    match->parts.context_id != direct->match.parts.context_id ||
	    length > direct->room || !are_queues_empty())
		return FALSE;
	bcl_ch3_copy(direct->buffer, data, length);
	direct->match.parts.tag = match->parts.tag;
	direct->length = length;
	direct->taken = TRUE;
	return TRUE;
}

/* Returns true if MPI_Recv() may wait for this message without a request. */
static int begin(void *buffer, MPI_Aint count, MPI_Datatype type, int rank,
		 int tag, const MPIR_Comm *comm, int offset)
{
	struct bcl_ch3_direct *direct = &bcl_ch3_direct;

	if (rank < 0 || direct->waiting || MPIR_ThreadInfo.isThreaded ||
	    !is_simple(comm, rank, type) || !are_queues_empty() ||
	    comm->dev.vcrt->vcr_table[rank]->state != MPIDI_VC_STATE_ACTIVE)
		return FALSE;
	direct->room = (size_t)count * MPIR_Datatype_get_basic_size(type);
	direct->buffer = buffer;
	direct->match.parts.rank = (MPIDI_Rank_t)rank;
	direct->match.parts.context_id =
		(MPIR_Context_id_t)(comm->recvcontext_id + offset);
	direct->match.parts.tag = tag;
	direct->tag_mask = ~0;
	if (tag == MPI_ANY_TAG) { /* but not one that reports an error */
		direct->match.parts.tag = 0;
		direct->tag_mask = ~MPIR_TAG_MASK_ERROR_BITS(~0);
	}
	direct->taken = FALSE;
	direct->waiting = TRUE;
	return TRUE;
}

/* Waits. Returns an error of the progress engine. */
static int wait_directly(void)
{
	MPID_Progress_state state;
	int mpi_errno = MPI_SUCCESS;

	MPID_Progress_start(&state);
	while (!mpi_errno && bcl_ch3_direct.waiting)
		mpi_errno = MPID_Progress_wait(&state);
	MPID_Progress_end(&state);
	bcl_ch3_direct.waiting = FALSE;
	return mpi_errno;
}

static void set_status(MPI_Status *status)
{
	const struct bcl_ch3_direct *direct = &bcl_ch3_direct;

	if (status == MPI_STATUS_IGNORE)
		return;
	status->MPI_SOURCE = direct->match.parts.rank;
	status->MPI_TAG = direct->match.parts.tag;
	/* MPICH's own collectives look at it */
	status->MPI_ERROR = MPI_SUCCESS;
	MPIR_STATUS_SET_COUNT(*status, direct->length);
	MPIR_STATUS_SET_CANCEL_BIT(*status, FALSE);
}

int bcl_ch3_recv(void *buffer, MPI_Aint count, MPI_Datatype type, int rank,
		 int tag, MPIR_Comm *comm, int offset, MPI_Status *status,
		 MPIR_Request **request)
{
	int mpi_errno;

	*request = NULL;
	if (begin(buffer, count, type, rank, tag, comm, offset)) {
		mpi_errno = wait_directly();
		if (mpi_errno)
			return mpi_errno;
		if (bcl_ch3_direct.taken) {
			set_status(status);
			return MPI_SUCCESS;
		}
	}
	return MPID_Recv(buffer, count, type, rank, tag, comm, offset, status,
			 request);
}
