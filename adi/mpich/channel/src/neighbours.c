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

		mpi_errno = bcl_ch3_prepare_lists(exchange, &outs, &ins);
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

static int submit(MPIR_Comm *comm, const struct side *out,
		  const struct side *in, MPIR_Request **request)
{
	struct bcl_ch3_pending *pending =
		bcl_ch3_pending_new(comm, start_exchange);
	int mpi_errno = MPI_SUCCESS;

	if (pending)
		mpi_errno = prepare(&pending->exchange, comm, out, in);
	return bcl_ch3_pending_submit(pending, mpi_errno, request);
}

/* ---- operations ------------------------------------------------------------
 */

int MPID_Ineighbor_allgather(const void *send, MPI_Aint send_count,
			     MPI_Datatype send_type, void *receive,
			     MPI_Aint receive_count, MPI_Datatype receive_type,
			     MPIR_Comm *comm, MPIR_Request **request)
{
	const struct side out = { .buffer = send,
				  .count = send_count,
				  .type = send_type };
	const struct side in = { .buffer = receive,
				 .count = receive_count,
				 .step = receive_count,
				 .type = receive_type };

	if (!bcl_ch3_own(comm, BCL_CH3_NEIGHBOR_ALLGATHER))
		return bcl_ch3_stock_ineighbor_allgather(
			send, send_count, send_type, receive, receive_count,
			receive_type, comm, request);
	return submit(comm, &out, &in, request);
}

int MPID_Ineighbor_allgatherv(const void *send, MPI_Aint send_count,
			      MPI_Datatype send_type, void *receive,
			      const MPI_Aint *receive_counts,
			      const MPI_Aint *receive_displacements,
			      MPI_Datatype receive_type, MPIR_Comm *comm,
			      MPIR_Request **request)
{
	const struct side out = { .buffer = send,
				  .count = send_count,
				  .type = send_type };
	const struct side in = { .buffer = receive,
				 .counts = receive_counts,
				 .displacements = receive_displacements,
				 .type = receive_type };

	if (!bcl_ch3_own(comm, BCL_CH3_NEIGHBOR_ALLGATHERV))
		return bcl_ch3_stock_ineighbor_allgatherv(
			send, send_count, send_type, receive, receive_counts,
			receive_displacements, receive_type, comm, request);
	return submit(comm, &out, &in, request);
}

int MPID_Ineighbor_alltoall(const void *send, MPI_Aint send_count,
			    MPI_Datatype send_type, void *receive,
			    MPI_Aint receive_count, MPI_Datatype receive_type,
			    MPIR_Comm *comm, MPIR_Request **request)
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

	if (!bcl_ch3_own(comm, BCL_CH3_NEIGHBOR_ALLTOALL))
		return bcl_ch3_stock_ineighbor_alltoall(
			send, send_count, send_type, receive, receive_count,
			receive_type, comm, request);
	return submit(comm, &out, &in, request);
}

int MPID_Ineighbor_alltoallv(const void *send, const MPI_Aint *send_counts,
			     const MPI_Aint *send_displacements,
			     MPI_Datatype send_type, void *receive,
			     const MPI_Aint *receive_counts,
			     const MPI_Aint *receive_displacements,
			     MPI_Datatype receive_type, MPIR_Comm *comm,
			     MPIR_Request **request)
{
	const struct side out = { .buffer = send,
				  .counts = send_counts,
				  .displacements = send_displacements,
				  .type = send_type };
	const struct side in = { .buffer = receive,
				 .counts = receive_counts,
				 .displacements = receive_displacements,
				 .type = receive_type };

	if (!bcl_ch3_own(comm, BCL_CH3_NEIGHBOR_ALLTOALLV))
		return bcl_ch3_stock_ineighbor_alltoallv(
			send, send_counts, send_displacements, send_type,
			receive, receive_counts, receive_displacements,
			receive_type, comm, request);
	return submit(comm, &out, &in, request);
}

int MPID_Ineighbor_alltoallw(const void *send, const MPI_Aint *send_counts,
			     const MPI_Aint *send_displacements,
			     const MPI_Datatype *send_types, void *receive,
			     const MPI_Aint *receive_counts,
			     const MPI_Aint *receive_displacements,
			     const MPI_Datatype *receive_types, MPIR_Comm *comm,
			     MPIR_Request **request)
{
	const struct side out = { .buffer = send,
				  .counts = send_counts,
				  .displacements = send_displacements,
				  .types = send_types };
	const struct side in = { .buffer = receive,
				 .counts = receive_counts,
				 .displacements = receive_displacements,
				 .types = receive_types };

	if (!bcl_ch3_own(comm, BCL_CH3_NEIGHBOR_ALLTOALLW))
		return bcl_ch3_stock_ineighbor_alltoallw(
			send, send_counts, send_displacements, send_types,
			receive, receive_counts, receive_displacements,
			receive_types, comm, request);
	return submit(comm, &out, &in, request);
}

/* ---- operations that block -------------------------------------------------
 */

/* MPICH's own would start the operation, too, but not look at its error. */
#define BLOCKING(NAME, name, parameters, ...)                              \
	int MPID_Neighbor_##name parameters                                \
	{                                                                  \
		MPIR_Request *request = NULL;                              \
                                                                           \
		if (!bcl_ch3_own(comm, BCL_CH3_NEIGHBOR_##NAME))           \
			return bcl_ch3_stock_neighbor_##name(__VA_ARGS__); \
		return bcl_ch3_await(                                      \
			MPID_Ineighbor_##name(__VA_ARGS__, &request),      \
			&request);                                         \
	}
BLOCKING(ALLGATHER, allgather,
	 (const void *send, MPI_Aint send_count, MPI_Datatype send_type,
	  void *receive, MPI_Aint receive_count, MPI_Datatype receive_type,
	  MPIR_Comm *comm),
	 send, send_count, send_type, receive, receive_count, receive_type,
	 comm)
BLOCKING(ALLGATHERV, allgatherv,
	 (const void *send, MPI_Aint send_count, MPI_Datatype send_type,
	  void *receive, const MPI_Aint *receive_counts,
	  const MPI_Aint *receive_displacements, MPI_Datatype receive_type,
	  MPIR_Comm *comm),
	 send, send_count, send_type, receive, receive_counts,
	 receive_displacements, receive_type, comm)
BLOCKING(ALLTOALL, alltoall,
	 (const void *send, MPI_Aint send_count, MPI_Datatype send_type,
	  void *receive, MPI_Aint receive_count, MPI_Datatype receive_type,
	  MPIR_Comm *comm),
	 send, send_count, send_type, receive, receive_count, receive_type,
	 comm)
BLOCKING(ALLTOALLV, alltoallv,
	 (const void *send, const MPI_Aint *send_counts,
	  const MPI_Aint *send_displacements, MPI_Datatype send_type,
	  void *receive, const MPI_Aint *receive_counts,
	  const MPI_Aint *receive_displacements, MPI_Datatype receive_type,
	  MPIR_Comm *comm),
	 send, send_counts, send_displacements, send_type, receive,
	 receive_counts, receive_displacements, receive_type, comm)
BLOCKING(ALLTOALLW, alltoallw,
	 (const void *send, const MPI_Aint *send_counts,
	  const MPI_Aint *send_displacements, const MPI_Datatype *send_types,
	  void *receive, const MPI_Aint *receive_counts,
	  const MPI_Aint *receive_displacements,
	  const MPI_Datatype *receive_types, MPIR_Comm *comm),
	 send, send_counts, send_displacements, send_types, receive,
	 receive_counts, receive_displacements, receive_types, comm)
