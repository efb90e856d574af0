/* SPDX-License-Identifier: MIT */
/*
 * Collective operations with the neighbours of a topology, over the
 * communicator's own team (bcl_ch3_icoll.h). All are exchanges of blocks with
 * the ranks of a list.
 *
 * A rank may be a neighbour several times, as in a ring of two. The order of
 * the blocks is MPICH's, so that a program has the same results with a team and
 * without. In an alltoall the block for the neighbour on one side arrives as
 * that from the neighbour on the other side.
 */
#include "collective.h"

/* Arguments of a program for one direction. */
struct side {
	const void *buffer;
	MPI_Aint count; /* of each block, unless there are counts */
	MPI_Aint step;	/* from one block to the next, in elements */
	const MPI_Aint *counts, *displacements;
	MPI_Datatype type;
	const MPI_Datatype *types;
	int backwards; /* If a neighbour occurs twice, its first block that
			* comes is the second one here. */
};

/* The neighbours in one direction, and how MPI describes their blocks. */
struct neighbours {
	int n;
	int *ranks;
	MPI_Aint *counts, *displacements; /* counts[] begins the memory */
};

static int make_room(struct neighbours *neighbours)
{
	size_t n = (size_t)neighbours->n, element;

	element = 2 * sizeof(MPI_Aint) + sizeof(*neighbours->ranks);
	neighbours->counts = MPL_malloc(n * element + 1, MPL_MEM_BUFFER);
	if (!neighbours->counts)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	neighbours->displacements = neighbours->counts + n;
	neighbours->ranks = (int *)(neighbours->displacements + n);
	return MPI_SUCCESS;
}

/* The caller frees the memory of both, also after an error. */
static int find_neighbours(MPIR_Comm *comm, struct neighbours *to,
			   struct neighbours *from)
{
	int weighted, mpi_errno;

	mpi_errno =
		MPIR_Topo_canon_nhb_count(comm, &from->n, &to->n, &weighted);
	if (!mpi_errno)
		mpi_errno = make_room(to);
	if (!mpi_errno)
		mpi_errno = make_room(from);
	if (!mpi_errno)
		mpi_errno = MPIR_Topo_canon_nhb(comm, from->n, from->ranks,
						MPI_UNWEIGHTED, to->n,
						to->ranks, MPI_UNWEIGHTED);
	return mpi_errno;
}

/* A neighbour that does not exist has an empty block. */
static struct bcl_ch3_list list_of(const struct neighbours *neighbours,
				   const struct side *side)
{
	int i;

	for (i = 0; i < neighbours->n; i++) {
		MPI_Aint count = side->counts ? side->counts[i] : side->count;

		neighbours->counts[i] =
			neighbours->ranks[i] == MPI_PROC_NULL ? 0 : count;
		neighbours->displacements[i] = side->displacements
						       ? side->displacements[i]
						       : i * side->step;
	}
	return (struct bcl_ch3_list){
		.buffer = side->buffer,
		.n = neighbours->n,
		.counts = neighbours->counts,
		.displacements = neighbours->displacements,
		.type = side->type,
		.types = side->types,
	};
}

/* Lists the blocks that are not empty, with their ranks, for the library. */
static int list_blocks(struct bcl_blocks *list,
		       const struct neighbours *neighbours,
		       const struct bcl_ch3_blocks *blocks, int backwards)
{
	size_t n = (size_t)blocks->n, *lengths, *offsets;
	unsigned *ranks;
	int k, i;

	lengths = MPL_malloc(n * (2 * sizeof(*lengths) + sizeof(*ranks)) + 1,
			     MPL_MEM_BUFFER);
	if (!lengths)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	offsets = lengths + n;
	ranks = (unsigned *)(offsets + n);
	*list = (struct bcl_blocks){ 0, ranks, lengths, offsets };
	for (k = 0; k < blocks->n; k++) {
		i = backwards ? blocks->n - 1 - k : k;
		if (blocks->lengths[i]) {
			ranks[list->n] = (unsigned)neighbours->ranks[i];
			lengths[list->n] = blocks->lengths[i];
			offsets[list->n++] = blocks->offsets[i];
		}
	}
	return MPI_SUCCESS;
}

static int prepare(struct bcl_ch3_exchange *exchange, MPIR_Comm *comm,
		   const struct side *out, const struct side *in)
{
	struct neighbours to = { 0 }, from = { 0 };
	int mpi_errno = find_neighbours(comm, &to, &from);

	if (!mpi_errno) {
		struct bcl_ch3_list outs = list_of(&to, out);
		struct bcl_ch3_list ins = list_of(&from, in);

		mpi_errno = bcl_ch3_prepare_lists(&exchange->outs,
						  &exchange->ins, &outs, &ins);
	}
	if (!mpi_errno)
		mpi_errno = list_blocks(&exchange->to, &to, &exchange->outs,
					out->backwards);
	if (!mpi_errno)
		mpi_errno = list_blocks(&exchange->from, &from, &exchange->ins,
					in->backwards);
	MPL_free(to.counts);
	MPL_free(from.counts);
	return mpi_errno;
}

static enum bcl_status start_exchange(struct bcl_ch3_pending *pending)
{
	const struct bcl_ch3_exchange *exchange = &pending->exchange;

	return bcl_iexchange(pending->own->team, exchange->outs.bytes,
			     &exchange->to, exchange->ins.bytes,
			     &exchange->from, &pending->call);
}

static enum bcl_status make_exchange(struct bcl_ch3_pending *pending)
{
	const struct bcl_ch3_exchange *exchange = &pending->exchange;

	return bcl_exchange_init(pending->own->team, exchange->outs.bytes,
				 &exchange->to, exchange->ins.bytes,
				 &exchange->from, &pending->operation);
}

/* ---- operations ---- */

static int prepare_allgather(struct bcl_ch3_exchange *exchange, BCL_CH3_BLOCKS,
			     MPIR_Comm *comm)
{
	const struct side out = { .buffer = send,
				  .count = send_count,
				  .type = send_type };
	const struct side in = { .buffer = receive,
				 .count = receive_count,
				 .step = receive_count,
				 .type = receive_type };

	return prepare(exchange, comm, &out, &in);
}

static int prepare_allgatherv(struct bcl_ch3_exchange *exchange,
			      BCL_CH3_BLOCK_TO_BLOCKS, MPIR_Comm *comm)
{
	const struct side out = { .buffer = send,
				  .count = send_count,
				  .type = send_type };
	const struct side in = { .buffer = receive,
				 .counts = receive_counts,
				 .displacements = receive_displacements,
				 .type = receive_type };

	return prepare(exchange, comm, &out, &in);
}

static int prepare_alltoall(struct bcl_ch3_exchange *exchange, BCL_CH3_BLOCKS,
			    MPIR_Comm *comm)
{
	const struct side out = { .buffer = send,
				  .count = send_count,
				  .step = send_count,
				  .type = send_type };
	const struct side in = { .buffer = receive,
				 .count = receive_count,
				 .step = receive_count,
				 .type = receive_type,
				 .backwards = TRUE };

	return prepare(exchange, comm, &out, &in);
}

static int prepare_alltoallv(struct bcl_ch3_exchange *exchange,
			     BCL_CH3_BLOCKS_TO_BLOCKS, MPIR_Comm *comm)
{
	const struct side out = { .buffer = send,
				  .counts = send_counts,
				  .displacements = send_displacements,
				  .type = send_type };
	const struct side in = { .buffer = receive,
				 .counts = receive_counts,
				 .displacements = receive_displacements,
				 .type = receive_type };

	return prepare(exchange, comm, &out, &in);
}

static int prepare_alltoallw(struct bcl_ch3_exchange *exchange,
			     BCL_CH3_TYPES_TO_TYPES, MPIR_Comm *comm)
{
	const struct side out = { .buffer = send,
				  .counts = send_counts,
				  .displacements = send_displacements,
				  .types = send_types };
	const struct side in = { .buffer = receive,
				 .counts = receive_counts,
				 .displacements = receive_displacements,
				 .types = receive_types };

	return prepare(exchange, comm, &out, &in);
}

/* The three forms of an operation. MPICH's own blocking one would start the
 * operation, too, but not look at its error. */
#define FORMS(NAME, name, parameters, ...)                                     \
	int MPID_Ineighbor_##name(parameters, MPIR_Comm *comm,                 \
				  MPIR_Request **request)                      \
	{                                                                      \
		struct bcl_ch3_pending *pending;                               \
		int mpi_errno = MPI_SUCCESS;                                   \
                                                                               \
		if (!bcl_ch3_own(comm, BCL_CH3_NEIGHBOR_##NAME))               \
			return bcl_ch3_stock_ineighbor_##name(__VA_ARGS__,     \
							      comm, request);  \
		pending = bcl_ch3_pending_new(comm, start_exchange);           \
		if (pending)                                                   \
			mpi_errno = prepare_##name(&pending->exchange,         \
						   __VA_ARGS__, comm);         \
		return bcl_ch3_pending_submit(pending, mpi_errno, request);    \
	}                                                                      \
                                                                               \
	int MPID_Neighbor_##name(parameters, MPIR_Comm *comm)                  \
	{                                                                      \
		MPIR_Request *request = NULL;                                  \
                                                                               \
		if (!bcl_ch3_own(comm, BCL_CH3_NEIGHBOR_##NAME))               \
			return bcl_ch3_stock_neighbor_##name(__VA_ARGS__,      \
							     comm);            \
		return bcl_ch3_await(                                          \
			MPID_Ineighbor_##name(__VA_ARGS__, comm, &request),    \
			&request);                                             \
	}                                                                      \
                                                                               \
	int bcl_ch3_neighbor_##name##_init(parameters, MPIR_Comm *comm,        \
					   MPIR_Info *info,                    \
					   MPIR_Request **request)             \
	{                                                                      \
		struct bcl_ch3_pending *pending = bcl_ch3_persistent_new(      \
			comm, BCL_CH3_NEIGHBOR_##NAME, TRUE);                  \
                                                                               \
		if (!pending)                                                  \
			return bcl_ch3_persistent_stock(                       \
				MPID_Neighbor_##name##_init(__VA_ARGS__, comm, \
							    info, request),    \
				request);                                      \
		return bcl_ch3_persistent_make(                                \
			pending, make_exchange,                                \
			prepare_##name(&pending->exchange, __VA_ARGS__, comm), \
			request);                                              \
	}

FORMS(ALLGATHER, allgather, BCL_CH3_BLOCKS, send, send_count, send_type,
      receive, receive_count, receive_type)
FORMS(ALLGATHERV, allgatherv, BCL_CH3_BLOCK_TO_BLOCKS, send, send_count,
      send_type, receive, receive_counts, receive_displacements, receive_type)
FORMS(ALLTOALL, alltoall, BCL_CH3_BLOCKS, send, send_count, send_type, receive,
      receive_count, receive_type)
FORMS(ALLTOALLV, alltoallv, BCL_CH3_BLOCKS_TO_BLOCKS, send, send_counts,
      send_displacements, send_type, receive, receive_counts,
      receive_displacements, receive_type)
FORMS(ALLTOALLW, alltoallw, BCL_CH3_TYPES_TO_TYPES, send, send_counts,
      send_displacements, send_types, receive, receive_counts,
      receive_displacements, receive_types)
