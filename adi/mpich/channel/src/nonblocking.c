/* SPDX-License-Identifier: MIT */
/*
 * Collective operations that do not block, over the communicator's own team
 * (bcl_ch3_icoll.h). Each has a function that calls the library; pending.c
 * calls this function, perhaps later, and completes the operation.
 */
#include "collective.h"

static enum bcl_status start_barrier(struct bcl_ch3_pending *pending)
{
	return bcl_ibarrier(pending->own->team, &pending->call);
}

int MPID_Ibarrier(MPIR_Comm *comm, MPIR_Request **request)
{
	if (!bcl_ch3_own(comm, BCL_CH3_BARRIER))
		return bcl_ch3_stock_ibarrier(comm, request);
	return bcl_ch3_pending_submit(bcl_ch3_pending_new(comm, start_barrier),
				      MPI_SUCCESS, request);
}

static enum bcl_status start_bcast(struct bcl_ch3_pending *pending)
{
	struct bcl_ch3_exchange *exchange = &pending->exchange;
	unsigned is_root = (unsigned)pending->comm->rank == pending->root;

	return bcl_ibroadcast(
		pending->own->team,
		is_root ? exchange->sides.out.bytes : exchange->sides.in.bytes,
		exchange->sides.length, pending->root, &pending->call);
}

int MPID_Ibcast(void *buffer, MPI_Aint count, MPI_Datatype type, int root,
		MPIR_Comm *comm, MPIR_Request **request)
{
	struct bcl_ch3_pending *pending;
	int mpi_errno = MPI_SUCCESS;

	if (!bcl_ch3_own(comm, BCL_CH3_BCAST))
		return bcl_ch3_stock_ibcast(buffer, count, type, root, comm,
					    request);
	pending = bcl_ch3_pending_new(comm, start_bcast);
	if (pending) {
		pending->root = (unsigned)root;
		mpi_errno =
			bcl_ch3_prepare_bcast(&pending->exchange.sides, buffer,
					      count, type, root, comm);
	}
	return bcl_ch3_pending_submit(pending, mpi_errno, request);
}

/* ---- reductions ---- */

static struct bcl_ch3_pending *
new_reduction(MPIR_Comm *comm,
	      enum bcl_status (*start)(struct bcl_ch3_pending *),
	      const void *send, void *receive, MPI_Aint count,
	      MPI_Datatype type, MPI_Op op)
{
	struct bcl_ch3_pending *pending = bcl_ch3_pending_new(comm, start);

	if (!pending)
		return NULL;
	pending->exchange.sides.out.bytes =
		send == MPI_IN_PLACE ? BCL_IN_PLACE : (void *)send;
	pending->exchange.sides.in.bytes = receive;
	pending->exchange.sides.length = (size_t)count;
	pending->reduction = bcl_ch3_reduction(&pending->room, op, type);
	return pending;
}

static enum bcl_status start_reduce(struct bcl_ch3_pending *pending)
{
	const struct bcl_ch3_exchange *exchange = &pending->exchange;

	return bcl_ireduce(pending->own->team, exchange->sides.out.bytes,
			   exchange->sides.in.bytes, exchange->sides.length,
			   pending->reduction, pending->root, &pending->call);
}

int MPID_Ireduce(const void *send, void *receive, MPI_Aint count,
		 MPI_Datatype type, MPI_Op op, int root, MPIR_Comm *comm,
		 MPIR_Request **request)
{
	struct bcl_ch3_pending *pending;

	if (!bcl_ch3_own(comm, BCL_CH3_REDUCE) || !bcl_ch3_reduces(type))
		return bcl_ch3_stock_ireduce(send, receive, count, type, op,
					     root, comm, request);
	pending = new_reduction(comm, start_reduce, send, receive, count, type,
				op);
	if (pending)
		pending->root = (unsigned)root;
	return bcl_ch3_pending_submit(pending, MPI_SUCCESS, request);
}

/* An operation of the library that reduces vectors of all ranks. */
#define REDUCTION(OPERATION, mpi_name, name)                                   \
	static enum bcl_status start_##name(struct bcl_ch3_pending *pending)   \
	{                                                                      \
		const struct bcl_ch3_exchange *exchange = &pending->exchange;  \
                                                                               \
		return bcl_i##name(                                            \
			pending->own->team, exchange->sides.out.bytes,         \
			exchange->sides.in.bytes, exchange->sides.length,      \
			pending->reduction, &pending->call);                   \
	}                                                                      \
                                                                               \
	int MPID_I##mpi_name(const void *send, void *receive, MPI_Aint count,  \
			     MPI_Datatype type, MPI_Op op, MPIR_Comm *comm,    \
			     MPIR_Request **request)                           \
	{                                                                      \
		if (!bcl_ch3_own(comm, OPERATION) || !bcl_ch3_reduces(type))   \
			return bcl_ch3_stock_i##mpi_name(send, receive, count, \
							 type, op, comm,       \
							 request);             \
		return bcl_ch3_pending_submit(                                 \
			new_reduction(comm, start_##name, send, receive,       \
				      count, type, op),                        \
			MPI_SUCCESS, request);                                 \
	}

REDUCTION(BCL_CH3_ALLREDUCE, allreduce, allreduce)
REDUCTION(BCL_CH3_REDUCE_SCATTER_BLOCK, reduce_scatter_block, reduce_scatter)
REDUCTION(BCL_CH3_SCAN, scan, scan)
REDUCTION(BCL_CH3_EXSCAN, exscan, exscan)

static enum bcl_status start_reduce_scatterv(struct bcl_ch3_pending *pending)
{
	const struct bcl_ch3_exchange *exchange = &pending->exchange;

	return bcl_ireduce_scatterv(pending->own->team,
				    exchange->sides.out.bytes,
				    exchange->sides.in.bytes, exchange->counts,
				    pending->reduction, &pending->call);
}

int MPID_Ireduce_scatter(const void *send, void *receive,
			 const MPI_Aint *counts, MPI_Datatype type, MPI_Op op,
			 MPIR_Comm *comm, MPIR_Request **request)
{
	struct bcl_ch3_pending *pending;
	int mpi_errno = MPI_SUCCESS;

	if (!bcl_ch3_own(comm, BCL_CH3_REDUCE_SCATTER) ||
	    !bcl_ch3_reduces(type))
		return bcl_ch3_stock_ireduce_scatter(send, receive, counts,
						     type, op, comm, request);
	pending = new_reduction(comm, start_reduce_scatterv, send, receive, 0,
				type, op);
	if (pending)
		mpi_errno = bcl_ch3_exchange_count(&pending->exchange, counts,
						   comm);
	return bcl_ch3_pending_submit(pending, mpi_errno, request);
}

/* ---- blocks ---- */

static enum bcl_status start_gather(struct bcl_ch3_pending *pending)
{
	const struct bcl_ch3_exchange *exchange = &pending->exchange;

	return bcl_igather(pending->own->team, exchange->sides.out.bytes,
			   exchange->sides.length, exchange->sides.in.bytes,
			   pending->root, &pending->call);
}

int MPID_Igather(const void *send, MPI_Aint send_count, MPI_Datatype send_type,
		 void *receive, MPI_Aint receive_count,
		 MPI_Datatype receive_type, int root, MPIR_Comm *comm,
		 MPIR_Request **request)
{
	struct bcl_ch3_pending *pending;
	int mpi_errno = MPI_SUCCESS;

	if (!bcl_ch3_own(comm, BCL_CH3_GATHER))
		return bcl_ch3_stock_igather(send, send_count, send_type,
					     receive, receive_count,
					     receive_type, root, comm, request);
	pending = bcl_ch3_pending_new(comm, start_gather);
	if (pending) {
		pending->root = (unsigned)root;
		mpi_errno = bcl_ch3_prepare_gather(
			&pending->exchange.sides, send, send_count, send_type,
			receive, receive_count, receive_type, root, comm);
	}
	return bcl_ch3_pending_submit(pending, mpi_errno, request);
}

static enum bcl_status start_scatter(struct bcl_ch3_pending *pending)
{
	const struct bcl_ch3_exchange *exchange = &pending->exchange;

	return bcl_iscatter(pending->own->team, exchange->sides.out.bytes,
			    exchange->sides.in.bytes, exchange->sides.length,
			    pending->root, &pending->call);
}

int MPID_Iscatter(const void *send, MPI_Aint send_count, MPI_Datatype send_type,
		  void *receive, MPI_Aint receive_count,
		  MPI_Datatype receive_type, int root, MPIR_Comm *comm,
		  MPIR_Request **request)
{
	struct bcl_ch3_pending *pending;
	int mpi_errno = MPI_SUCCESS;

	if (!bcl_ch3_own(comm, BCL_CH3_SCATTER))
		return bcl_ch3_stock_iscatter(
			send, send_count, send_type, receive, receive_count,
			receive_type, root, comm, request);
	pending = bcl_ch3_pending_new(comm, start_scatter);
	if (pending) {
		pending->root = (unsigned)root;
		mpi_errno = bcl_ch3_prepare_scatter(
			&pending->exchange.sides, send, send_count, send_type,
			receive, receive_count, receive_type, root, comm);
	}
	return bcl_ch3_pending_submit(pending, mpi_errno, request);
}

static enum bcl_status start_allgather(struct bcl_ch3_pending *pending)
{
	const struct bcl_ch3_exchange *exchange = &pending->exchange;

	return bcl_iallgather(pending->own->team, exchange->sides.out.bytes,
			      exchange->sides.length, exchange->sides.in.bytes,
			      &pending->call);
}

int MPID_Iallgather(const void *send, MPI_Aint send_count,
		    MPI_Datatype send_type, void *receive,
		    MPI_Aint receive_count, MPI_Datatype receive_type,
		    MPIR_Comm *comm, MPIR_Request **request)
{
	struct bcl_ch3_pending *pending;
	int mpi_errno = MPI_SUCCESS;

	if (!bcl_ch3_own(comm, BCL_CH3_ALLGATHER))
		return bcl_ch3_stock_iallgather(send, send_count, send_type,
						receive, receive_count,
						receive_type, comm, request);
	pending = bcl_ch3_pending_new(comm, start_allgather);
	if (pending) {
		mpi_errno = bcl_ch3_prepare_allgather(
			&pending->exchange.sides, send, send_count, send_type,
			receive, receive_count, receive_type, comm);
	}
	return bcl_ch3_pending_submit(pending, mpi_errno, request);
}

static enum bcl_status start_alltoall(struct bcl_ch3_pending *pending)
{
	const struct bcl_ch3_exchange *exchange = &pending->exchange;

	return bcl_ialltoall(pending->own->team, exchange->sides.out.bytes,
			     exchange->sides.in.bytes, exchange->sides.length,
			     &pending->call);
}

int MPID_Ialltoall(const void *send, MPI_Aint send_count,
		   MPI_Datatype send_type, void *receive,
		   MPI_Aint receive_count, MPI_Datatype receive_type,
		   MPIR_Comm *comm, MPIR_Request **request)
{
	struct bcl_ch3_pending *pending;
	int mpi_errno = MPI_SUCCESS;

	if (!bcl_ch3_own(comm, BCL_CH3_ALLTOALL))
		return bcl_ch3_stock_ialltoall(send, send_count, send_type,
					       receive, receive_count,
					       receive_type, comm, request);
	pending = bcl_ch3_pending_new(comm, start_alltoall);
	if (pending) {
		mpi_errno = bcl_ch3_prepare_alltoall(
			&pending->exchange.sides, send, send_count, send_type,
			receive, receive_count, receive_type, comm);
	}
	return bcl_ch3_pending_submit(pending, mpi_errno, request);
}

static enum bcl_status start_alltoallv(struct bcl_ch3_pending *pending)
{
	const struct bcl_ch3_exchange *exchange = &pending->exchange;

	return bcl_ialltoallv(pending->own->team, exchange->outs.bytes,
			      exchange->outs.lengths, exchange->outs.offsets,
			      exchange->ins.bytes, exchange->ins.lengths,
			      exchange->ins.offsets, &pending->call);
}

int MPID_Ialltoallv(const void *send, const MPI_Aint *send_counts,
		    const MPI_Aint *send_displacements, MPI_Datatype send_type,
		    void *receive, const MPI_Aint *receive_counts,
		    const MPI_Aint *receive_displacements,
		    MPI_Datatype receive_type, MPIR_Comm *comm,
		    MPIR_Request **request)
{
	struct bcl_ch3_pending *pending;
	int mpi_errno = MPI_SUCCESS;

	if (!bcl_ch3_own(comm, BCL_CH3_ALLTOALLV))
		return bcl_ch3_stock_ialltoallv(
			send, send_counts, send_displacements, send_type,
			receive, receive_counts, receive_displacements,
			receive_type, comm, request);
	pending = bcl_ch3_pending_new(comm, start_alltoallv);
	if (pending) {
		mpi_errno = bcl_ch3_prepare_alltoallv(
			&pending->exchange.outs, &pending->exchange.ins, send,
			send_counts, send_displacements, send_type, receive,
			receive_counts, receive_displacements, receive_type,
			comm);
	}
	return bcl_ch3_pending_submit(pending, mpi_errno, request);
}

int MPID_Ialltoallw(const void *send, const MPI_Aint *send_counts,
		    const MPI_Aint *send_displacements,
		    const MPI_Datatype *send_types, void *receive,
		    const MPI_Aint *receive_counts,
		    const MPI_Aint *receive_displacements,
		    const MPI_Datatype *receive_types, MPIR_Comm *comm,
		    MPIR_Request **request)
{
	struct bcl_ch3_pending *pending;
	int mpi_errno = MPI_SUCCESS;

	if (!bcl_ch3_own(comm, BCL_CH3_ALLTOALLW))
		return bcl_ch3_stock_ialltoallw(
			send, send_counts, send_displacements, send_types,
			receive, receive_counts, receive_displacements,
			receive_types, comm, request);
	pending = bcl_ch3_pending_new(comm, start_alltoallv);
	if (pending) {
		mpi_errno = bcl_ch3_prepare_alltoallw(
			&pending->exchange.outs, &pending->exchange.ins, send,
			send_counts, send_displacements, send_types, receive,
			receive_counts, receive_displacements, receive_types,
			comm);
	}
	return bcl_ch3_pending_submit(pending, mpi_errno, request);
}

static enum bcl_status start_gatherv(struct bcl_ch3_pending *pending)
{
	const struct bcl_ch3_exchange *exchange = &pending->exchange;

	return bcl_igatherv(pending->own->team, exchange->sides.out.bytes,
			    exchange->sides.out.length, exchange->ins.bytes,
			    exchange->ins.lengths, exchange->ins.offsets,
			    pending->root, &pending->call);
}

int MPID_Igatherv(const void *send, MPI_Aint send_count, MPI_Datatype send_type,
		  void *receive, const MPI_Aint *receive_counts,
		  const MPI_Aint *receive_displacements,
		  MPI_Datatype receive_type, int root, MPIR_Comm *comm,
		  MPIR_Request **request)
{
	struct bcl_ch3_pending *pending;
	int mpi_errno = MPI_SUCCESS;

	if (!bcl_ch3_own(comm, BCL_CH3_GATHERV))
		return bcl_ch3_stock_igatherv(
			send, send_count, send_type, receive, receive_counts,
			receive_displacements, receive_type, root, comm,
			request);
	pending = bcl_ch3_pending_new(comm, start_gatherv);
	if (pending) {
		pending->root = (unsigned)root;
		mpi_errno = bcl_ch3_prepare_gatherv(
			&pending->exchange.sides.out, &pending->exchange.ins,
			send, send_count, send_type, receive, receive_counts,
			receive_displacements, receive_type, root, comm);
	}
	return bcl_ch3_pending_submit(pending, mpi_errno, request);
}

static enum bcl_status start_scatterv(struct bcl_ch3_pending *pending)
{
	const struct bcl_ch3_exchange *exchange = &pending->exchange;

	return bcl_iscatterv(pending->own->team, exchange->outs.bytes,
			     exchange->outs.lengths, exchange->outs.offsets,
			     exchange->sides.in.bytes,
			     exchange->sides.in.length, pending->root,
			     &pending->call);
}

int MPID_Iscatterv(const void *send, const MPI_Aint *send_counts,
		   const MPI_Aint *send_displacements, MPI_Datatype send_type,
		   void *receive, MPI_Aint receive_count,
		   MPI_Datatype receive_type, int root, MPIR_Comm *comm,
		   MPIR_Request **request)
{
	struct bcl_ch3_pending *pending;
	int mpi_errno = MPI_SUCCESS;

	if (!bcl_ch3_own(comm, BCL_CH3_SCATTERV))
		return bcl_ch3_stock_iscatterv(
			send, send_counts, send_displacements, send_type,
			receive, receive_count, receive_type, root, comm,
			request);
	pending = bcl_ch3_pending_new(comm, start_scatterv);
	if (pending) {
		pending->root = (unsigned)root;
		mpi_errno = bcl_ch3_prepare_scatterv(
			&pending->exchange.sides.in, &pending->exchange.outs,
			send, send_counts, send_displacements, send_type,
			receive, receive_count, receive_type, root, comm);
	}
	return bcl_ch3_pending_submit(pending, mpi_errno, request);
}

static enum bcl_status start_allgatherv(struct bcl_ch3_pending *pending)
{
	const struct bcl_ch3_exchange *exchange = &pending->exchange;

	return bcl_iallgatherv(pending->own->team, exchange->sides.out.bytes,
			       exchange->sides.out.length, exchange->ins.bytes,
			       exchange->ins.lengths, exchange->ins.offsets,
			       &pending->call);
}

int MPID_Iallgatherv(const void *send, MPI_Aint send_count,
		     MPI_Datatype send_type, void *receive,
		     const MPI_Aint *receive_counts,
		     const MPI_Aint *receive_displacements,
		     MPI_Datatype receive_type, MPIR_Comm *comm,
		     MPIR_Request **request)
{
	struct bcl_ch3_pending *pending;
	int mpi_errno = MPI_SUCCESS;

	if (!bcl_ch3_own(comm, BCL_CH3_ALLGATHERV))
		return bcl_ch3_stock_iallgatherv(
			send, send_count, send_type, receive, receive_counts,
			receive_displacements, receive_type, comm, request);
	pending = bcl_ch3_pending_new(comm, start_allgatherv);
	if (pending) {
		mpi_errno = bcl_ch3_prepare_gatherv(
			&pending->exchange.sides.out, &pending->exchange.ins,
			send, send_count, send_type, receive, receive_counts,
			receive_displacements, receive_type, comm->rank, comm);
	}
	return bcl_ch3_pending_submit(pending, mpi_errno, request);
}
