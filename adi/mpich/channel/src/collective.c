/* SPDX-License-Identifier: MIT */
/*
 * Blocking collective operations over a team (bcl_ch3_coll.h).
 */
#include "collective.h"

/* ---- waiting ---- */

/*
 * Returns true if MPICH has operations under way. Only MPICH's progress engine
 * moves these. Other ranks may wait for them before entering the library's
 * operation.
 */
static int is_busy(void)
{
	return MPIDU_Sched_are_pending() || MPII_TSP_scheds_are_pending() ||
	       MPIDI_RMA_Win_active_list_head || bcl_ch3_pending_waits();
}

/* The communicator of the library's operation under way, or NULL. */
static MPIR_Comm *within;

static int leave_collective(int mpi_errno)
{
	within = NULL;
	return mpi_errno;
}

/* Cancels the operation under way if its communicator is revoked now: some
 * ranks will not take part, and the rest would wait for ever. All communicators
 * of a group share the team. */
int bcl_ch3_revoked(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
		    intptr_t *length, MPIR_Request **request)
{
	int mpi_errno =
		MPIDI_CH3_PktHandler_Revoke(vc, packet, data, length, request);

	if (within && within->revoked)
		bcl_team_cancel(within->dev.ch.team);
	return mpi_errno;
}

/* The error for ranks that call an operation differently. No process has
 * failed. */
static int differ(int errclass, enum bcl_status status)
{
	return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__,
				    __LINE__, errclass, "**ch3|bcl|differ",
				    "**ch3|bcl|differ %s",
				    bcl_strstatus(status));
}

int bcl_ch3_result(enum bcl_status status)
{
	switch (status) {
	case BCL_OK:
		return MPI_SUCCESS;
	case BCL_ERR_TRUNCATED:
		return differ(MPI_ERR_TRUNCATE, status);
	case BCL_ERR_ARG:
		return differ(MPI_ERR_ARG, status);
	case BCL_ERR_CANCELLED:
		return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE,
					    __func__, __LINE__,
					    MPIX_ERR_REVOKED, "**revoked", 0);
	default:
		return bcl_ch3_error(status);
	}
}

/* Progresses an operation to its end, even if a hook fails: the operation uses
 * memory of the caller until then. */
static int finish_operation(enum bcl_status status,
			    struct bcl_adi_request **request)
{
	int moved, error, mpi_errno = MPI_SUCCESS;

	while (!status && *request) {
		moved = 0;
		error = MPIR_Progress_hook_exec_all(&moved);
		if (!mpi_errno)
			mpi_errno = error;
		moved |= bcl_ch3_pending_progress();
		status = bcl_adi_test(bcl_ch3_adi, request, NULL);
		if (status == BCL_ERR_AGAIN) {
			status = BCL_OK;
			if (!moved)
				MPL_sched_yield();
		}
	}
	return mpi_errno ? mpi_errno : bcl_ch3_result(status);
}

/* Runs the library's operation of this name to its end, alone. */
#define RUN_ALONE(name, ...)                                                  \
	(within = comm,                                                       \
	 leave_collective(is_busy()                                           \
				  ? finish_operation(bcl_i##name(__VA_ARGS__, \
								 &request),   \
						     &request)                \
				  : bcl_ch3_result(bcl_##name(__VA_ARGS__))))

/* The same, beside operations of other threads. MPICH's progress engine waits,
 * because it lets other threads in. */
#define RUN_BESIDE(name, ...)                                                 \
	({                                                                    \
		enum bcl_status status_ = BCL_OK;                             \
		int error_;                                                   \
                                                                              \
		do {                                                          \
			error_ = bcl_ch3_pending_enter(                       \
				comm, status_ == BCL_ERR_AGAIN);              \
			if (!error_)                                          \
				status_ = bcl_i##name(__VA_ARGS__, &request); \
		} while (!error_ && status_ == BCL_ERR_AGAIN);                \
		error_ ? error_                                               \
		       : bcl_ch3_pending_leave(comm, status_, request);       \
	})

#define RUN(name, ...)                                   \
	(bcl_ch3_threads ? RUN_BESIDE(name, __VA_ARGS__) \
			 : RUN_ALONE(name, __VA_ARGS__))

/* ---- operations ---- */

int bcl_ch3_barrier(MPIR_Comm *comm)
{
	struct bcl_adi_request *request;

	return RUN(barrier, comm->dev.ch.team);
}

/*
 * Head of a broadcast: the length of the message and its first bytes, which
 * together fill a short broadcast. A rank that expects another length learns so
 * from the head and does not wait for ever. A longer message follows the head
 * inside a node. Between nodes a longer message goes alone, without a head: the
 * head would cost a trip, and the team compares lengths.
 */
struct head {
	uint64_t length;
	char first[48];
};

static int bcast_all(MPIR_Comm *comm, void *bytes, size_t length, int root)
{
	struct bcl_adi_request *request;

	return RUN(broadcast, comm->dev.ch.team, bytes, length, (unsigned)root);
}

/* The length of the message is not as expected: receives and drops the
 * message. */
static int bcast_differs(MPIR_Comm *comm, size_t length, size_t expected,
			 int root)
{
	int mpi_errno = MPIR_Err_create_code(
		MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__,
		MPI_ERR_TRUNCATE, "**collective_size_mismatch",
		"**collective_size_mismatch %d %d", (int)length, (int)expected);
	void *bytes;

	if (length <= sizeof(((struct head *)0)->first))
		return mpi_errno;
	bytes = MPL_malloc(length, MPL_MEM_BUFFER);
	if (bytes)
		mpi_errno = MPIR_Err_combine_codes(
			bcast_all(comm, bytes, length, root), mpi_errno);
	MPL_free(bytes);
	return mpi_errno;
}

static int bcast_bytes(MPIR_Comm *comm, void *bytes, size_t length, int root)
{
	struct head head = { .length = length };
	int is_long = length > sizeof(head.first), mpi_errno;

	if (is_long && !bcl_ch3_are_here(comm))
		return bcast_all(comm, bytes, length, root);
	if (comm->rank == root && !is_long)
		memcpy(head.first, bytes, length);
	mpi_errno = bcast_all(comm, &head, sizeof(head), root);
	if (mpi_errno)
		return mpi_errno;
	if (head.length != length)
		return bcast_differs(comm, head.length, length, root);
	if (is_long)
		return bcast_all(comm, bytes, length, root);
	if (comm->rank != root)
		memcpy(bytes, head.first, length);
	return MPI_SUCCESS;
}

int bcl_ch3_bcast(void *buffer, MPI_Aint count, MPI_Datatype type, int root,
		  MPIR_Comm *comm)
{
	struct bcl_ch3_sides sides = { 0 };
	int mpi_errno =
		bcl_ch3_prepare_bcast(&sides, buffer, count, type, root, comm);

	if (!mpi_errno && sides.length)
		mpi_errno = bcast_bytes(comm,
					comm->rank == root ? sides.out.bytes
							   : sides.in.bytes,
					sides.length, root);
	return bcl_ch3_sides_finish(&sides, mpi_errno);
}

/* ---- reductions ---- */

int bcl_ch3_reduce(const void *send, void *receive, MPI_Aint count,
		   MPI_Datatype type, MPI_Op op, int root, MPIR_Comm *comm)
{
	struct bcl_adi_request *request;
	struct bcl_ch3_reduction room;

	return RUN(reduce, comm->dev.ch.team,
		   send == MPI_IN_PLACE ? BCL_IN_PLACE : send, receive,
		   (size_t)count, bcl_ch3_reduction(&room, op, type),
		   (unsigned)root);
}

/* An operation of the library that reduces vectors of all ranks. */
#define REDUCTION(mpi_name, name)                                            \
	int bcl_ch3_##mpi_name(const void *send, void *receive,              \
			       MPI_Aint count, MPI_Datatype type, MPI_Op op, \
			       MPIR_Comm *comm)                              \
	{                                                                    \
		struct bcl_adi_request *request;                             \
		struct bcl_ch3_reduction room;                               \
                                                                             \
		return RUN(name, comm->dev.ch.team,                          \
			   send == MPI_IN_PLACE ? BCL_IN_PLACE : send,       \
			   receive, (size_t)count,                           \
			   bcl_ch3_reduction(&room, op, type));              \
	}

REDUCTION(allreduce, allreduce)
REDUCTION(reduce_scatter_block, reduce_scatter)
REDUCTION(scan, scan)
REDUCTION(exscan, exscan)

/* A count of MPI and a count of the library have the same representation. */
int bcl_ch3_reduce_scatter(const void *send, void *receive,
			   const MPI_Aint *counts, MPI_Datatype type, MPI_Op op,
			   MPIR_Comm *comm)
{
	struct bcl_adi_request *request;
	struct bcl_ch3_reduction room;

	return RUN(reduce_scatterv, comm->dev.ch.team,
		   send == MPI_IN_PLACE ? BCL_IN_PLACE : send, receive,
		   (const size_t *)counts, bcl_ch3_reduction(&room, op, type));
}

/* ---- blocks ---- */

int bcl_ch3_gather(const void *send, MPI_Aint send_count,
		   MPI_Datatype send_type, void *receive,
		   MPI_Aint receive_count, MPI_Datatype receive_type, int root,
		   MPIR_Comm *comm)
{
	struct bcl_ch3_sides sides = { 0 };
	struct bcl_adi_request *request;
	int mpi_errno = bcl_ch3_prepare_gather(
		&sides, send, send_count, send_type, receive, receive_count,
		receive_type, root, comm);

	if (!mpi_errno)
		mpi_errno = RUN(gather, comm->dev.ch.team, sides.out.bytes,
				sides.length, sides.in.bytes, (unsigned)root);
	return bcl_ch3_sides_finish(&sides, mpi_errno);
}

int bcl_ch3_scatter(const void *send, MPI_Aint send_count,
		    MPI_Datatype send_type, void *receive,
		    MPI_Aint receive_count, MPI_Datatype receive_type, int root,
		    MPIR_Comm *comm)
{
	struct bcl_ch3_sides sides = { 0 };
	struct bcl_adi_request *request;
	int mpi_errno = bcl_ch3_prepare_scatter(
		&sides, send, send_count, send_type, receive, receive_count,
		receive_type, root, comm);

	if (!mpi_errno)
		mpi_errno = RUN(scatter, comm->dev.ch.team, sides.out.bytes,
				sides.in.bytes, sides.length, (unsigned)root);
	return bcl_ch3_sides_finish(&sides, mpi_errno);
}

int bcl_ch3_allgather(const void *send, MPI_Aint send_count,
		      MPI_Datatype send_type, void *receive,
		      MPI_Aint receive_count, MPI_Datatype receive_type,
		      MPIR_Comm *comm)
{
	struct bcl_ch3_sides sides = { 0 };
	struct bcl_adi_request *request;
	int mpi_errno = bcl_ch3_prepare_allgather(
		&sides, send, send_count, send_type, receive, receive_count,
		receive_type, comm);

	if (!mpi_errno)
		mpi_errno = RUN(allgather, comm->dev.ch.team, sides.out.bytes,
				sides.length, sides.in.bytes);
	return bcl_ch3_sides_finish(&sides, mpi_errno);
}

int bcl_ch3_alltoall(const void *send, MPI_Aint send_count,
		     MPI_Datatype send_type, void *receive,
		     MPI_Aint receive_count, MPI_Datatype receive_type,
		     MPIR_Comm *comm)
{
	struct bcl_ch3_sides sides = { 0 };
	struct bcl_adi_request *request;
	int mpi_errno = bcl_ch3_prepare_alltoall(
		&sides, send, send_count, send_type, receive, receive_count,
		receive_type, comm);

	if (!mpi_errno)
		mpi_errno = RUN(alltoall, comm->dev.ch.team, sides.out.bytes,
				sides.in.bytes, sides.length);
	return bcl_ch3_sides_finish(&sides, mpi_errno);
}

/* Runs an exchange that was prepared with this error. */
static int run_alltoallv(struct bcl_ch3_blocks *out, struct bcl_ch3_blocks *in,
			 int mpi_errno, MPIR_Comm *comm)
{
	struct bcl_adi_request *request;

	if (!mpi_errno)
		mpi_errno = RUN(alltoallv, comm->dev.ch.team, out->bytes,
				out->lengths, out->offsets, in->bytes,
				in->lengths, in->offsets);
	bcl_ch3_blocks_free(out);
	return bcl_ch3_blocks_finish(in, mpi_errno);
}

int bcl_ch3_alltoallv(const void *send, const MPI_Aint *send_counts,
		      const MPI_Aint *send_displacements,
		      MPI_Datatype send_type, void *receive,
		      const MPI_Aint *receive_counts,
		      const MPI_Aint *receive_displacements,
		      MPI_Datatype receive_type, MPIR_Comm *comm)
{
	struct bcl_ch3_blocks out, in;
	int mpi_errno = bcl_ch3_prepare_alltoallv(
		&out, &in, send, send_counts, send_displacements, send_type,
		receive, receive_counts, receive_displacements, receive_type,
		comm);

	return run_alltoallv(&out, &in, mpi_errno, comm);
}

int bcl_ch3_alltoallw(const void *send, const MPI_Aint *send_counts,
		      const MPI_Aint *send_displacements,
		      const MPI_Datatype *send_types, void *receive,
		      const MPI_Aint *receive_counts,
		      const MPI_Aint *receive_displacements,
		      const MPI_Datatype *receive_types, MPIR_Comm *comm)
{
	struct bcl_ch3_blocks out, in;
	int mpi_errno = bcl_ch3_prepare_alltoallw(
		&out, &in, send, send_counts, send_displacements, send_types,
		receive, receive_counts, receive_displacements, receive_types,
		comm);

	return run_alltoallv(&out, &in, mpi_errno, comm);
}

int bcl_ch3_gatherv(const void *send, MPI_Aint send_count,
		    MPI_Datatype send_type, void *receive,
		    const MPI_Aint *receive_counts,
		    const MPI_Aint *receive_displacements,
		    MPI_Datatype receive_type, int root, MPIR_Comm *comm)
{
	struct bcl_adi_request *request;
	struct bcl_ch3_blocks all;
	struct bcl_ch3_data own;
	int mpi_errno = bcl_ch3_prepare_gatherv(
		&own, &all, send, send_count, send_type, receive,
		receive_counts, receive_displacements, receive_type, root,
		comm);

	if (!mpi_errno)
		mpi_errno = RUN(gatherv, comm->dev.ch.team, own.bytes,
				own.length, all.bytes, all.lengths, all.offsets,
				(unsigned)root);
	bcl_ch3_data_free(&own);
	return bcl_ch3_blocks_finish(&all, mpi_errno);
}

int bcl_ch3_scatterv(const void *send, const MPI_Aint *send_counts,
		     const MPI_Aint *send_displacements, MPI_Datatype send_type,
		     void *receive, MPI_Aint receive_count,
		     MPI_Datatype receive_type, int root, MPIR_Comm *comm)
{
	struct bcl_adi_request *request;
	struct bcl_ch3_blocks all;
	struct bcl_ch3_data own;
	int mpi_errno = bcl_ch3_prepare_scatterv(
		&own, &all, send, send_counts, send_displacements, send_type,
		receive, receive_count, receive_type, root, comm);

	if (!mpi_errno)
		mpi_errno =
			RUN(scatterv, comm->dev.ch.team, all.bytes, all.lengths,
			    all.offsets, own.bytes, own.length, (unsigned)root);
	bcl_ch3_blocks_free(&all);
	return bcl_ch3_data_finish(&own, mpi_errno);
}

int bcl_ch3_allgatherv(const void *send, MPI_Aint send_count,
		       MPI_Datatype send_type, void *receive,
		       const MPI_Aint *receive_counts,
		       const MPI_Aint *receive_displacements,
		       MPI_Datatype receive_type, MPIR_Comm *comm)
{
	struct bcl_adi_request *request;
	struct bcl_ch3_blocks all;
	struct bcl_ch3_data own;
	int mpi_errno = bcl_ch3_prepare_gatherv(
		&own, &all, send, send_count, send_type, receive,
		receive_counts, receive_displacements, receive_type, comm->rank,
		comm);

	if (!mpi_errno)
		mpi_errno =
			RUN(allgatherv, comm->dev.ch.team, own.bytes,
			    own.length, all.bytes, all.lengths, all.offsets);
	bcl_ch3_data_free(&own);
	return bcl_ch3_blocks_finish(&all, mpi_errno);
}
