/* SPDX-License-Identifier: MIT */
/* Both sides of a collective operation as bytes, for blocking and other
 * operations alike. See collective.h. */
#include "collective.h"

/* Packs what is sent. In place, the receive buffer has the data to send. */
static int prepare(struct bcl_ch3_sides *sides)
{
	int mpi_errno;

	if (sides->out.bytes == BCL_IN_PLACE)
		return bcl_ch3_data_pack(&sides->in);
	mpi_errno = bcl_ch3_data_pack(&sides->out);
	return mpi_errno ? mpi_errno : bcl_ch3_data_make_room(&sides->in);
}

int bcl_ch3_prepare_bcast(struct bcl_ch3_sides *sides, void *buffer,
			  MPI_Aint count, MPI_Datatype type, int root,
			  const MPIR_Comm *comm)
{
	struct bcl_ch3_data data = bcl_ch3_data(buffer, count, type);

	sides->length = data.length;
	if (comm->rank == root)
		sides->out = data;
	else
		sides->in = data;
	return prepare(sides);
}

int bcl_ch3_prepare_gather(struct bcl_ch3_sides *sides, const void *send,
			   MPI_Aint send_count, MPI_Datatype send_type,
			   void *receive, MPI_Aint receive_count,
			   MPI_Datatype receive_type, int root,
			   const MPIR_Comm *comm)
{
	sides->out = bcl_ch3_data(send, send_count, send_type);
	sides->length = sides->out.length;
	if (comm->rank == root) {
		sides->in =
			bcl_ch3_data(receive, receive_count * comm->local_size,
				     receive_type);
		sides->length = sides->in.length / (size_t)comm->local_size;
	}
	return prepare(sides);
}

int bcl_ch3_prepare_scatter(struct bcl_ch3_sides *sides, const void *send,
			    MPI_Aint send_count, MPI_Datatype send_type,
			    void *receive, MPI_Aint receive_count,
			    MPI_Datatype receive_type, int root,
			    const MPIR_Comm *comm)
{
	sides->in = bcl_ch3_data(receive, receive_count, receive_type);
	sides->length = sides->in.length;
	if (comm->rank == root) {
		sides->out = bcl_ch3_data(send, send_count * comm->local_size,
					  send_type);
		sides->length = sides->out.length / (size_t)comm->local_size;
	}
	return prepare(sides);
}

int bcl_ch3_prepare_allgather(struct bcl_ch3_sides *sides, const void *send,
			      MPI_Aint send_count, MPI_Datatype send_type,
			      void *receive, MPI_Aint receive_count,
			      MPI_Datatype receive_type, const MPIR_Comm *comm)
{
	return bcl_ch3_prepare_gather(sides, send, send_count, send_type,
				      receive, receive_count, receive_type,
				      comm->rank, comm);
}

int bcl_ch3_prepare_alltoall(struct bcl_ch3_sides *sides, const void *send,
			     MPI_Aint send_count, MPI_Datatype send_type,
			     void *receive, MPI_Aint receive_count,
			     MPI_Datatype receive_type, const MPIR_Comm *comm)
{
	return bcl_ch3_prepare_gather(
		sides, send, send_count * comm->local_size, send_type, receive,
		receive_count, receive_type, comm->rank, comm);
}

int bcl_ch3_prepare_lists(struct bcl_ch3_blocks *outs,
			  struct bcl_ch3_blocks *ins,
			  const struct bcl_ch3_list *out,
			  const struct bcl_ch3_list *in)
{
	int mpi_errno = bcl_ch3_blocks(ins, in);

	bcl_ch3_blocks_clear(outs, BCL_IN_PLACE);
	if (mpi_errno)
		return mpi_errno;
	if (out->buffer == MPI_IN_PLACE)
		return bcl_ch3_blocks_pack(ins);
	mpi_errno = bcl_ch3_blocks(outs, out);
	return mpi_errno ? mpi_errno : bcl_ch3_blocks_pack(outs);
}

/* One block for each rank, all of one type. */
static struct bcl_ch3_list list_of(const void *buffer, const MPI_Aint *counts,
				   const MPI_Aint *displacements,
				   MPI_Datatype type, const MPIR_Comm *comm)
{
	return (struct bcl_ch3_list){
		.buffer = buffer,
		.n = comm->local_size,
		.counts = counts,
		.displacements = displacements,
		.type = type,
	};
}

int bcl_ch3_prepare_alltoallv(struct bcl_ch3_blocks *outs,
			      struct bcl_ch3_blocks *ins, const void *send,
			      const MPI_Aint *send_counts,
			      const MPI_Aint *send_displacements,
			      MPI_Datatype send_type, void *receive,
			      const MPI_Aint *receive_counts,
			      const MPI_Aint *receive_displacements,
			      MPI_Datatype receive_type, const MPIR_Comm *comm)
{
	const struct bcl_ch3_list out =
		list_of(send, send_counts, send_displacements, send_type, comm);
	const struct bcl_ch3_list in =
		list_of(receive, receive_counts, receive_displacements,
			receive_type, comm);

	return bcl_ch3_prepare_lists(outs, ins, &out, &in);
}

int bcl_ch3_prepare_alltoallw(struct bcl_ch3_blocks *outs,
			      struct bcl_ch3_blocks *ins, const void *send,
			      const MPI_Aint *send_counts,
			      const MPI_Aint *send_displacements,
			      const MPI_Datatype *send_types, void *receive,
			      const MPI_Aint *receive_counts,
			      const MPI_Aint *receive_displacements,
			      const MPI_Datatype *receive_types,
			      const MPIR_Comm *comm)
{
	struct bcl_ch3_list out = list_of(send, send_counts, send_displacements,
					  MPI_DATATYPE_NULL, comm);
	struct bcl_ch3_list in =
		list_of(receive, receive_counts, receive_displacements,
			MPI_DATATYPE_NULL, comm);

	out.types = send_types;
	in.types = receive_types;
	return bcl_ch3_prepare_lists(outs, ins, &out, &in);
}

int bcl_ch3_prepare_gatherv(struct bcl_ch3_data *own,
			    struct bcl_ch3_blocks *all, const void *send,
			    MPI_Aint send_count, MPI_Datatype send_type,
			    void *receive, const MPI_Aint *receive_counts,
			    const MPI_Aint *receive_displacements,
			    MPI_Datatype receive_type, int root,
			    const MPIR_Comm *comm)
{
	struct bcl_ch3_list in;
	int mpi_errno;

	*own = bcl_ch3_data(send, send_count, send_type);
	bcl_ch3_blocks_clear(all, NULL);
	if (comm->rank == root) {
		in = list_of(receive, receive_counts, receive_displacements,
			     receive_type, comm);
		mpi_errno = bcl_ch3_blocks(all, &in);
		if (mpi_errno || own->bytes == BCL_IN_PLACE)
			return mpi_errno ? mpi_errno : bcl_ch3_blocks_pack(all);
	}
	return bcl_ch3_data_pack(own);
}

int bcl_ch3_prepare_scatterv(struct bcl_ch3_data *own,
			     struct bcl_ch3_blocks *all, const void *send,
			     const MPI_Aint *send_counts,
			     const MPI_Aint *send_displacements,
			     MPI_Datatype send_type, void *receive,
			     MPI_Aint receive_count, MPI_Datatype receive_type,
			     int root, const MPIR_Comm *comm)
{
	struct bcl_ch3_list out;
	int mpi_errno;

	*own = bcl_ch3_data(receive, receive_count, receive_type);
	bcl_ch3_blocks_clear(all, NULL);
	mpi_errno = bcl_ch3_data_make_room(own);
	if (mpi_errno || comm->rank != root)
		return mpi_errno;
	out = list_of(send, send_counts, send_displacements, send_type, comm);
	mpi_errno = bcl_ch3_blocks(all, &out);
	return mpi_errno ? mpi_errno : bcl_ch3_blocks_pack(all);
}

int bcl_ch3_exchange_count(struct bcl_ch3_exchange *exchange,
			   const MPI_Aint *counts, const MPIR_Comm *comm)
{
	size_t length = (size_t)comm->local_size * sizeof(*exchange->counts);

	exchange->counts = MPL_malloc(length, MPL_MEM_BUFFER);
	if (!exchange->counts)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	memcpy(exchange->counts, counts, length);
	return MPI_SUCCESS;
}

int bcl_ch3_exchange_pack(struct bcl_ch3_exchange *exchange)
{
	int in_place = exchange->sides.out.bytes == BCL_IN_PLACE ||
		       exchange->outs.bytes == BCL_IN_PLACE;
	int mpi_errno = bcl_ch3_data_pack(in_place ? &exchange->sides.in
						   : &exchange->sides.out);

	return mpi_errno ? mpi_errno
			 : bcl_ch3_blocks_pack(in_place ? &exchange->ins
							: &exchange->outs);
}

int bcl_ch3_exchange_unpack(const struct bcl_ch3_exchange *exchange,
			    int mpi_errno)
{
	if (!mpi_errno)
		mpi_errno = bcl_ch3_data_unpack(&exchange->sides.in);
	if (!mpi_errno)
		mpi_errno = bcl_ch3_blocks_unpack(&exchange->ins);
	return mpi_errno;
}

int bcl_ch3_sides_finish(struct bcl_ch3_sides *sides, int mpi_errno)
{
	bcl_ch3_data_free(&sides->out);
	return bcl_ch3_data_finish(&sides->in, mpi_errno);
}

int bcl_ch3_exchange_finish(struct bcl_ch3_exchange *exchange, int mpi_errno)
{
	mpi_errno = bcl_ch3_sides_finish(&exchange->sides, mpi_errno);
	mpi_errno = bcl_ch3_blocks_finish(&exchange->ins, mpi_errno);
	bcl_ch3_blocks_free(&exchange->outs);
	MPL_free(exchange->counts);
	MPL_free((void *)exchange->to.lengths);
	MPL_free((void *)exchange->from.lengths);
	return mpi_errno;
}
