/* SPDX-License-Identifier: MIT */
/*
 * Collective operations that go over a communicator's team, if it has one.
 * Whether one does depends only on what is the same at all ranks: never on the
 * buffers, counts and types, with which ranks may describe the same data
 * differently, but for the operator of a reduction and that its type is one of
 * MPI's own.
 */
#ifndef BCL_CH3_COLL_H
#define BCL_CH3_COLL_H

/* Decides, with all others, at a communicator's first operation. */
struct bcl_team *bcl_ch3_team_make(MPIR_Comm *comm);

/* NULL for one that was revoked, too: MPICH's own operations say so. */
static inline struct bcl_team *bcl_ch3_team(MPIR_Comm *comm)
{
	if (comm->revoked)
		return NULL;
	return comm->dev.ch.asked ? comm->dev.ch.team : bcl_ch3_team_make(comm);
}

/* Programs' own operators are combined in MPICH's order. */
static inline int bcl_ch3_reduces(MPI_Op op, MPI_Datatype type)
{
	return HANDLE_IS_BUILTIN(op) && HANDLE_IS_BUILTIN(type);
}

int bcl_ch3_barrier(MPIR_Comm *comm);
int bcl_ch3_bcast(void *buffer, MPI_Aint count, MPI_Datatype type, int root,
		  MPIR_Comm *comm);
int bcl_ch3_reduce(const void *send, void *receive, MPI_Aint count,
		   MPI_Datatype type, MPI_Op op, int root, MPIR_Comm *comm);
int bcl_ch3_allreduce(const void *send, void *receive, MPI_Aint count,
		      MPI_Datatype type, MPI_Op op, MPIR_Comm *comm);
int bcl_ch3_gather(const void *send, MPI_Aint send_count,
		   MPI_Datatype send_type, void *receive,
		   MPI_Aint receive_count, MPI_Datatype receive_type, int root,
		   MPIR_Comm *comm);
int bcl_ch3_scatter(const void *send, MPI_Aint send_count,
		    MPI_Datatype send_type, void *receive,
		    MPI_Aint receive_count, MPI_Datatype receive_type, int root,
		    MPIR_Comm *comm);
int bcl_ch3_allgather(const void *send, MPI_Aint send_count,
		      MPI_Datatype send_type, void *receive,
		      MPI_Aint receive_count, MPI_Datatype receive_type,
		      MPIR_Comm *comm);
int bcl_ch3_alltoall(const void *send, MPI_Aint send_count,
		     MPI_Datatype send_type, void *receive,
		     MPI_Aint receive_count, MPI_Datatype receive_type,
		     MPIR_Comm *comm);
int bcl_ch3_alltoallv(const void *send, const MPI_Aint *send_counts,
		      const MPI_Aint *send_displacements,
		      MPI_Datatype send_type, void *receive,
		      const MPI_Aint *receive_counts,
		      const MPI_Aint *receive_displacements,
		      MPI_Datatype receive_type, MPIR_Comm *comm);

static inline int MPID_Barrier(MPIR_Comm *comm, MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm))
		return bcl_ch3_barrier(comm);
	return bcl_ch3_stock_barrier(comm, errflag);
}

static inline int MPID_Bcast(void *buffer, MPI_Aint count, MPI_Datatype type,
			     int root, MPIR_Comm *comm, MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm))
		return bcl_ch3_bcast(buffer, count, type, root, comm);
	return bcl_ch3_stock_bcast(buffer, count, type, root, comm, errflag);
}

static inline int MPID_Reduce(const void *send, void *receive, MPI_Aint count,
			      MPI_Datatype type, MPI_Op op, int root,
			      MPIR_Comm *comm, MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm) && bcl_ch3_reduces(op, type))
		return bcl_ch3_reduce(send, receive, count, type, op, root,
				      comm);
	return bcl_ch3_stock_reduce(send, receive, count, type, op, root, comm,
				    errflag);
}

static inline int MPID_Allreduce(const void *send, void *receive,
				 MPI_Aint count, MPI_Datatype type, MPI_Op op,
				 MPIR_Comm *comm, MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm) && bcl_ch3_reduces(op, type))
		return bcl_ch3_allreduce(send, receive, count, type, op, comm);
	return bcl_ch3_stock_allreduce(send, receive, count, type, op, comm,
				       errflag);
}

static inline int MPID_Gather(const void *send, MPI_Aint send_count,
			      MPI_Datatype send_type, void *receive,
			      MPI_Aint receive_count, MPI_Datatype receive_type,
			      int root, MPIR_Comm *comm,
			      MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm))
		return bcl_ch3_gather(send, send_count, send_type, receive,
				      receive_count, receive_type, root, comm);
	return bcl_ch3_stock_gather(send, send_count, send_type, receive,
				    receive_count, receive_type, root, comm,
				    errflag);
}

static inline int MPID_Scatter(const void *send, MPI_Aint send_count,
			       MPI_Datatype send_type, void *receive,
			       MPI_Aint receive_count,
			       MPI_Datatype receive_type, int root,
			       MPIR_Comm *comm, MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm))
		return bcl_ch3_scatter(send, send_count, send_type, receive,
				       receive_count, receive_type, root, comm);
	return bcl_ch3_stock_scatter(send, send_count, send_type, receive,
				     receive_count, receive_type, root, comm,
				     errflag);
}

static inline int MPID_Allgather(const void *send, MPI_Aint send_count,
				 MPI_Datatype send_type, void *receive,
				 MPI_Aint receive_count,
				 MPI_Datatype receive_type, MPIR_Comm *comm,
				 MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm))
		return bcl_ch3_allgather(send, send_count, send_type, receive,
					 receive_count, receive_type, comm);
	return bcl_ch3_stock_allgather(send, send_count, send_type, receive,
				       receive_count, receive_type, comm,
				       errflag);
}

static inline int MPID_Alltoall(const void *send, MPI_Aint send_count,
				MPI_Datatype send_type, void *receive,
				MPI_Aint receive_count,
				MPI_Datatype receive_type, MPIR_Comm *comm,
				MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm))
		return bcl_ch3_alltoall(send, send_count, send_type, receive,
					receive_count, receive_type, comm);
	return bcl_ch3_stock_alltoall(send, send_count, send_type, receive,
				      receive_count, receive_type, comm,
				      errflag);
}

static inline int MPID_Alltoallv(const void *send, const MPI_Aint *send_counts,
				 const MPI_Aint *send_displacements,
				 MPI_Datatype send_type, void *receive,
				 const MPI_Aint *receive_counts,
				 const MPI_Aint *receive_displacements,
				 MPI_Datatype receive_type, MPIR_Comm *comm,
				 MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm))
		return bcl_ch3_alltoallv(send, send_counts, send_displacements,
					 send_type, receive, receive_counts,
					 receive_displacements, receive_type,
					 comm);
	return bcl_ch3_stock_alltoallv(send, send_counts, send_displacements,
				       send_type, receive, receive_counts,
				       receive_displacements, receive_type,
				       comm, errflag);
}

#endif
