/* SPDX-License-Identifier: MIT */
/*
 * Makes persistent operations (bcl_ch3_persistent.h). Each has a function
 * make_NAME(), which makes the library's operation of the prepared arguments.
 * Operations with neighbours are in neighbours.c.
 */
#include "collective.h"

/* Defines make_NAME(). The arguments are the library's, between the team and
 * the result. */
#define MAKE(name, ...)                                                       \
	static enum bcl_status make_##name(struct bcl_ch3_pending *pending)   \
	{                                                                     \
		const struct bcl_ch3_exchange *exchange = &pending->exchange; \
                                                                              \
		return bcl_##name##_init(pending->own->team, __VA_ARGS__,     \
					 &pending->operation);                \
	}

/* Defines MPI's function NAME. parameters: before the communicator. stock:
 * calls MPICH's own function. prepared: prepares `pending`, and is an error or
 * MPI_SUCCESS. */
#define INIT(OPERATION, name, maker, suits, parameters, stock, prepared)   \
	int bcl_ch3_##name##_init(parameters, MPIR_Comm *comm,             \
				  MPIR_Info *info, MPIR_Request **request) \
	{                                                                  \
		struct bcl_ch3_pending *pending = bcl_ch3_persistent_new(  \
			comm, BCL_CH3_##OPERATION, suits);                 \
                                                                           \
		if (!pending)                                              \
			return bcl_ch3_persistent_stock(stock, request);   \
		return bcl_ch3_persistent_make(pending, make_##maker,      \
					       prepared, request);         \
	}

/* Sets the root, and gives the arguments to prepare. */
static struct bcl_ch3_exchange *to_root(struct bcl_ch3_pending *pending,
					int root)
{
	pending->root = (unsigned)root;
	return &pending->exchange;
}

/* ---- without blocks ---- */

static enum bcl_status make_barrier(struct bcl_ch3_pending *pending)
{
	return bcl_barrier_init(pending->own->team, &pending->operation);
}

int bcl_ch3_barrier_init(MPIR_Comm *comm, MPIR_Info *info,
			 MPIR_Request **request)
{
	struct bcl_ch3_pending *pending =
		bcl_ch3_persistent_new(comm, BCL_CH3_BARRIER, TRUE);

	if (!pending)
		return bcl_ch3_persistent_stock(
			MPID_Barrier_init(comm, info, request), request);
	return bcl_ch3_persistent_make(pending, make_barrier, MPI_SUCCESS,
				       request);
}

#define BUFFER void *buffer, MPI_Aint count, MPI_Datatype type, int root

MAKE(broadcast,
     (unsigned)pending->comm->rank == pending->root ? exchange->sides.out.bytes
						    : exchange->sides.in.bytes,
     exchange->sides.length, pending->root)
INIT(BCAST, bcast, broadcast, TRUE, BUFFER,
     MPID_Bcast_init(buffer, count, type, root, comm, info, request),
     bcl_ch3_prepare_bcast(&to_root(pending, root)->sides, buffer, count, type,
			   root, comm))

/* ---- reductions ---- */

#define VECTORS                                                             \
	const void *send, void *receive, MPI_Aint count, MPI_Datatype type, \
		MPI_Op op
#define VECTORS_TO_ROOT VECTORS, int root
#define VECTORS_OF_BLOCKS                                        \
	const void *send, void *receive, const MPI_Aint *counts, \
		MPI_Datatype type, MPI_Op op

static struct bcl_ch3_exchange *reduction(struct bcl_ch3_pending *pending,
					  const void *send, void *receive,
					  MPI_Aint count, MPI_Datatype type,
					  MPI_Op op)
{
	struct bcl_ch3_exchange *exchange = &pending->exchange;

	exchange->sides.out.bytes =
		send == MPI_IN_PLACE ? BCL_IN_PLACE : (void *)send;
	exchange->sides.in.bytes = receive;
	exchange->sides.length = (size_t)count;
	pending->reduction = bcl_ch3_reduction(&pending->room, op, type);
	return exchange;
}

static int prepare_vectors(struct bcl_ch3_pending *pending, VECTORS)
{
	reduction(pending, send, receive, count, type, op);
	return MPI_SUCCESS;
}

static int prepare_to_root(struct bcl_ch3_pending *pending, VECTORS_TO_ROOT)
{
	to_root(pending, root);
	return prepare_vectors(pending, send, receive, count, type, op);
}

/* Defines both functions of a reduction of all ranks' vectors. */
#define REDUCTION(OPERATION, Name, mpi_name, name)                          \
	MAKE(name, exchange->sides.out.bytes, exchange->sides.in.bytes,     \
	     exchange->sides.length, pending->reduction)                    \
	INIT(OPERATION, mpi_name, name, bcl_ch3_reduces(type), VECTORS,     \
	     MPID_##Name##_init(send, receive, count, type, op, comm, info, \
				request),                                   \
	     prepare_vectors(pending, send, receive, count, type, op))

REDUCTION(ALLREDUCE, Allreduce, allreduce, allreduce)
REDUCTION(REDUCE_SCATTER_BLOCK, Reduce_scatter_block, reduce_scatter_block,
	  reduce_scatter)
REDUCTION(SCAN, Scan, scan, scan)
REDUCTION(EXSCAN, Exscan, exscan, exscan)

MAKE(reduce, exchange->sides.out.bytes, exchange->sides.in.bytes,
     exchange->sides.length, pending->reduction, pending->root)
INIT(REDUCE, reduce, reduce, bcl_ch3_reduces(type), VECTORS_TO_ROOT,
     MPID_Reduce_init(send, receive, count, type, op, root, comm, info,
		      request),
     prepare_to_root(pending, send, receive, count, type, op, root))

MAKE(reduce_scatterv, exchange->sides.out.bytes, exchange->sides.in.bytes,
     exchange->counts, pending->reduction)
INIT(REDUCE_SCATTER, reduce_scatter, reduce_scatterv, bcl_ch3_reduces(type),
     VECTORS_OF_BLOCKS,
     MPID_Reduce_scatter_init(send, receive, counts, type, op, comm, info,
			      request),
     bcl_ch3_exchange_count(reduction(pending, send, receive, 0, type, op),
			    counts, comm))

/* ---- blocks of equal length ---- */

#define BLOCKS_AND_ROOT BCL_CH3_BLOCKS, int root

MAKE(gather, exchange->sides.out.bytes, exchange->sides.length,
     exchange->sides.in.bytes, pending->root)
INIT(GATHER, gather, gather, TRUE, BLOCKS_AND_ROOT,
     MPID_Gather_init(send, send_count, send_type, receive, receive_count,
		      receive_type, root, comm, info, request),
     bcl_ch3_prepare_gather(&to_root(pending, root)->sides, send, send_count,
			    send_type, receive, receive_count, receive_type,
			    root, comm))

MAKE(scatter, exchange->sides.out.bytes, exchange->sides.in.bytes,
     exchange->sides.length, pending->root)
INIT(SCATTER, scatter, scatter, TRUE, BLOCKS_AND_ROOT,
     MPID_Scatter_init(send, send_count, send_type, receive, receive_count,
		       receive_type, root, comm, info, request),
     bcl_ch3_prepare_scatter(&to_root(pending, root)->sides, send, send_count,
			     send_type, receive, receive_count, receive_type,
			     root, comm))

MAKE(allgather, exchange->sides.out.bytes, exchange->sides.length,
     exchange->sides.in.bytes)
INIT(ALLGATHER, allgather, allgather, TRUE, BCL_CH3_BLOCKS,
     MPID_Allgather_init(send, send_count, send_type, receive, receive_count,
			 receive_type, comm, info, request),
     bcl_ch3_prepare_allgather(&pending->exchange.sides, send, send_count,
			       send_type, receive, receive_count, receive_type,
			       comm))

MAKE(alltoall, exchange->sides.out.bytes, exchange->sides.in.bytes,
     exchange->sides.length)
INIT(ALLTOALL, alltoall, alltoall, TRUE, BCL_CH3_BLOCKS,
     MPID_Alltoall_init(send, send_count, send_type, receive, receive_count,
			receive_type, comm, info, request),
     bcl_ch3_prepare_alltoall(&pending->exchange.sides, send, send_count,
			      send_type, receive, receive_count, receive_type,
			      comm))

/* ---- blocks of different lengths ---- */

#define BLOCK_TO_ROOT BCL_CH3_BLOCK_TO_BLOCKS, int root
#define BLOCKS_FROM_ROOT                                                    \
	const void *send, const MPI_Aint *send_counts,                      \
		const MPI_Aint *send_displacements, MPI_Datatype send_type, \
		void *receive, MPI_Aint receive_count,                      \
		MPI_Datatype receive_type, int root

MAKE(gatherv, exchange->sides.out.bytes, exchange->sides.out.length,
     exchange->ins.bytes, exchange->ins.lengths, exchange->ins.offsets,
     pending->root)
INIT(GATHERV, gatherv, gatherv, TRUE, BLOCK_TO_ROOT,
     MPID_Gatherv_init(send, send_count, send_type, receive, receive_counts,
		       receive_displacements, receive_type, root, comm, info,
		       request),
     bcl_ch3_prepare_gatherv(&to_root(pending, root)->sides.out,
			     &pending->exchange.ins, send, send_count,
			     send_type, receive, receive_counts,
			     receive_displacements, receive_type, root, comm))

MAKE(scatterv, exchange->outs.bytes, exchange->outs.lengths,
     exchange->outs.offsets, exchange->sides.in.bytes,
     exchange->sides.in.length, pending->root)
INIT(SCATTERV, scatterv, scatterv, TRUE, BLOCKS_FROM_ROOT,
     MPID_Scatterv_init(send, send_counts, send_displacements, send_type,
			receive, receive_count, receive_type, root, comm, info,
			request),
     bcl_ch3_prepare_scatterv(&to_root(pending, root)->sides.in,
			      &pending->exchange.outs, send, send_counts,
			      send_displacements, send_type, receive,
			      receive_count, receive_type, root, comm))

MAKE(allgatherv, exchange->sides.out.bytes, exchange->sides.out.length,
     exchange->ins.bytes, exchange->ins.lengths, exchange->ins.offsets)
INIT(ALLGATHERV, allgatherv, allgatherv, TRUE, BCL_CH3_BLOCK_TO_BLOCKS,
     MPID_Allgatherv_init(send, send_count, send_type, receive, receive_counts,
			  receive_displacements, receive_type, comm, info,
			  request),
     bcl_ch3_prepare_gatherv(&pending->exchange.sides.out,
			     &pending->exchange.ins, send, send_count,
			     send_type, receive, receive_counts,
			     receive_displacements, receive_type, comm->rank,
			     comm))

MAKE(alltoallv, exchange->outs.bytes, exchange->outs.lengths,
     exchange->outs.offsets, exchange->ins.bytes, exchange->ins.lengths,
     exchange->ins.offsets)
INIT(ALLTOALLV, alltoallv, alltoallv, TRUE, BCL_CH3_BLOCKS_TO_BLOCKS,
     MPID_Alltoallv_init(send, send_counts, send_displacements, send_type,
			 receive, receive_counts, receive_displacements,
			 receive_type, comm, info, request),
     bcl_ch3_prepare_alltoallv(&pending->exchange.outs, &pending->exchange.ins,
			       send, send_counts, send_displacements, send_type,
			       receive, receive_counts, receive_displacements,
			       receive_type, comm))
INIT(ALLTOALLW, alltoallw, alltoallv, TRUE, BCL_CH3_TYPES_TO_TYPES,
     MPID_Alltoallw_init(send, send_counts, send_displacements, send_types,
			 receive, receive_counts, receive_displacements,
			 receive_types, comm, info, request),
     bcl_ch3_prepare_alltoallw(&pending->exchange.outs, &pending->exchange.ins,
			       send, send_counts, send_displacements,
			       send_types, receive, receive_counts,
			       receive_displacements, receive_types, comm))
