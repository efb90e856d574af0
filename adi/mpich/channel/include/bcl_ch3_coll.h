/* SPDX-License-Identifier: MIT */
/*
 * Collective operations that go over the team of a communicator, if there is
 * one. Whether an operation goes over the team depends only on facts that are
 * the same at all ranks. It never depends on buffers, counts and types, because
 * ranks may describe the same data differently. The exception is the type of a
 * reduction, which is the same at all ranks.
 */
#ifndef BCL_CH3_COLL_H
#define BCL_CH3_COLL_H

/* Operations that may go over teams, blocking or not. */
enum bcl_ch3_operation {
	BCL_CH3_BARRIER,
	BCL_CH3_BCAST,
	BCL_CH3_REDUCE,
	BCL_CH3_ALLREDUCE,
	BCL_CH3_GATHER,
	BCL_CH3_SCATTER,
	BCL_CH3_ALLGATHER,
	BCL_CH3_ALLTOALL,
	BCL_CH3_ALLTOALLV,
	BCL_CH3_REDUCE_SCATTER,
	BCL_CH3_REDUCE_SCATTER_BLOCK,
	BCL_CH3_SCAN,
	BCL_CH3_EXSCAN,
	BCL_CH3_GATHERV,
	BCL_CH3_SCATTERV,
	BCL_CH3_ALLGATHERV,
	BCL_CH3_ALLTOALLW,
	BCL_CH3_NEIGHBOR_ALLGATHER,
	BCL_CH3_NEIGHBOR_ALLGATHERV,
	BCL_CH3_NEIGHBOR_ALLTOALL,
	BCL_CH3_NEIGHBOR_ALLTOALLV,
	BCL_CH3_NEIGHBOR_ALLTOALLW,
	BCL_CH3_OPERATIONS
};

/* The operations that all processes of the job want over teams, a bit each. */
extern unsigned bcl_ch3_wanted;

static inline int bcl_ch3_wants(enum bcl_ch3_operation operation)
{
	return bcl_ch3_wanted >> operation & 1;
}

/* Decides at the first operation of a communicator whether there is a team.
 * Collective. NULL: no team. */
struct bcl_team *bcl_ch3_team_make(MPIR_Comm *comm);

/* The team of a communicator for an operation. NULL: no team, or the
 * communicator was revoked; MPICH's own operations report that. */
static inline struct bcl_team *bcl_ch3_team(MPIR_Comm *comm,
					    enum bcl_ch3_operation operation)
{
	if (comm->revoked || !bcl_ch3_wants(operation))
		return NULL;
	return comm->dev.ch.team == BCL_CH3_UNDECIDED ? bcl_ch3_team_make(comm)
						      : comm->dev.ch.team;
}

/* Returns true if the elements of a type that MPICH describes fill their place:
 * a vector of them is contiguous bytes, without gaps. Padding in a pair of MPI,
 * such as MPI_DOUBLE_INT, is no gap: C copies it with the struct. */
int bcl_ch3_is_dense(MPI_Datatype type);

/* Returns true if the team reduces elements of this type. All ranks give the
 * same type to a reduction. */
static inline int bcl_ch3_reduces(MPI_Datatype type)
{
	return HANDLE_IS_BUILTIN(type) || bcl_ch3_is_dense(type);
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
int bcl_ch3_alltoallw(const void *send, const MPI_Aint *send_counts,
		      const MPI_Aint *send_displacements,
		      const MPI_Datatype *send_types, void *receive,
		      const MPI_Aint *receive_counts,
		      const MPI_Aint *receive_displacements,
		      const MPI_Datatype *receive_types, MPIR_Comm *comm);
int bcl_ch3_reduce_scatter_block(const void *send, void *receive,
				 MPI_Aint count, MPI_Datatype type, MPI_Op op,
				 MPIR_Comm *comm);
int bcl_ch3_reduce_scatter(const void *send, void *receive,
			   const MPI_Aint *counts, MPI_Datatype type, MPI_Op op,
			   MPIR_Comm *comm);
int bcl_ch3_scan(const void *send, void *receive, MPI_Aint count,
		 MPI_Datatype type, MPI_Op op, MPIR_Comm *comm);
int bcl_ch3_exscan(const void *send, void *receive, MPI_Aint count,
		   MPI_Datatype type, MPI_Op op, MPIR_Comm *comm);
int bcl_ch3_gatherv(const void *send, MPI_Aint send_count,
		    MPI_Datatype send_type, void *receive,
		    const MPI_Aint *receive_counts,
		    const MPI_Aint *receive_displacements,
		    MPI_Datatype receive_type, int root, MPIR_Comm *comm);
int bcl_ch3_scatterv(const void *send, const MPI_Aint *send_counts,
		     const MPI_Aint *send_displacements, MPI_Datatype send_type,
		     void *receive, MPI_Aint receive_count,
		     MPI_Datatype receive_type, int root, MPIR_Comm *comm);
int bcl_ch3_allgatherv(const void *send, MPI_Aint send_count,
		       MPI_Datatype send_type, void *receive,
		       const MPI_Aint *receive_counts,
		       const MPI_Aint *receive_displacements,
		       MPI_Datatype receive_type, MPIR_Comm *comm);

/* neighbours.c */
int MPID_Neighbor_allgather(const void *send, MPI_Aint send_count,
			    MPI_Datatype send_type, void *receive,
			    MPI_Aint receive_count, MPI_Datatype receive_type,
			    MPIR_Comm *comm);
int MPID_Neighbor_allgatherv(const void *send, MPI_Aint send_count,
			     MPI_Datatype send_type, void *receive,
			     const MPI_Aint *receive_counts,
			     const MPI_Aint *receive_displacements,
			     MPI_Datatype receive_type, MPIR_Comm *comm);
int MPID_Neighbor_alltoall(const void *send, MPI_Aint send_count,
			   MPI_Datatype send_type, void *receive,
			   MPI_Aint receive_count, MPI_Datatype receive_type,
			   MPIR_Comm *comm);
int MPID_Neighbor_alltoallv(const void *send, const MPI_Aint *send_counts,
			    const MPI_Aint *send_displacements,
			    MPI_Datatype send_type, void *receive,
			    const MPI_Aint *receive_counts,
			    const MPI_Aint *receive_displacements,
			    MPI_Datatype receive_type, MPIR_Comm *comm);
int MPID_Neighbor_alltoallw(const void *send, const MPI_Aint *send_counts,
			    const MPI_Aint *send_displacements,
			    const MPI_Datatype *send_types, void *receive,
			    const MPI_Aint *receive_counts,
			    const MPI_Aint *receive_displacements,
			    const MPI_Datatype *receive_types, MPIR_Comm *comm);

static inline int MPID_Barrier(MPIR_Comm *comm, MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm, BCL_CH3_BARRIER))
		return bcl_ch3_barrier(comm);
	return bcl_ch3_stock_barrier(comm, errflag);
}

static inline int MPID_Bcast(void *buffer, MPI_Aint count, MPI_Datatype type,
			     int root, MPIR_Comm *comm, MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm, BCL_CH3_BCAST))
		return bcl_ch3_bcast(buffer, count, type, root, comm);
	return bcl_ch3_stock_bcast(buffer, count, type, root, comm, errflag);
}

static inline int MPID_Reduce(const void *send, void *receive, MPI_Aint count,
			      MPI_Datatype type, MPI_Op op, int root,
			      MPIR_Comm *comm, MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm, BCL_CH3_REDUCE) && bcl_ch3_reduces(type))
		return bcl_ch3_reduce(send, receive, count, type, op, root,
				      comm);
	return bcl_ch3_stock_reduce(send, receive, count, type, op, root, comm,
				    errflag);
}

static inline int MPID_Allreduce(const void *send, void *receive,
				 MPI_Aint count, MPI_Datatype type, MPI_Op op,
				 MPIR_Comm *comm, MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm, BCL_CH3_ALLREDUCE) && bcl_ch3_reduces(type))
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
	if (bcl_ch3_team(comm, BCL_CH3_GATHER))
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
	if (bcl_ch3_team(comm, BCL_CH3_SCATTER))
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
	if (bcl_ch3_team(comm, BCL_CH3_ALLGATHER))
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
	if (bcl_ch3_team(comm, BCL_CH3_ALLTOALL))
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
	if (bcl_ch3_team(comm, BCL_CH3_ALLTOALLV))
		return bcl_ch3_alltoallv(send, send_counts, send_displacements,
					 send_type, receive, receive_counts,
					 receive_displacements, receive_type,
					 comm);
	return bcl_ch3_stock_alltoallv(send, send_counts, send_displacements,
				       send_type, receive, receive_counts,
				       receive_displacements, receive_type,
				       comm, errflag);
}

static inline int MPID_Alltoallw(const void *send, const MPI_Aint *send_counts,
				 const MPI_Aint *send_displacements,
				 const MPI_Datatype *send_types, void *receive,
				 const MPI_Aint *receive_counts,
				 const MPI_Aint *receive_displacements,
				 const MPI_Datatype *receive_types,
				 MPIR_Comm *comm, MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm, BCL_CH3_ALLTOALLW))
		return bcl_ch3_alltoallw(send, send_counts, send_displacements,
					 send_types, receive, receive_counts,
					 receive_displacements, receive_types,
					 comm);
	return bcl_ch3_stock_alltoallw(send, send_counts, send_displacements,
				       send_types, receive, receive_counts,
				       receive_displacements, receive_types,
				       comm, errflag);
}

static inline int MPID_Reduce_scatter_block(const void *send, void *receive,
					    MPI_Aint count, MPI_Datatype type,
					    MPI_Op op, MPIR_Comm *comm,
					    MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm, BCL_CH3_REDUCE_SCATTER_BLOCK) &&
	    bcl_ch3_reduces(type))
		return bcl_ch3_reduce_scatter_block(send, receive, count, type,
						    op, comm);
	return bcl_ch3_stock_reduce_scatter_block(send, receive, count, type,
						  op, comm, errflag);
}

static inline int MPID_Reduce_scatter(const void *send, void *receive,
				      const MPI_Aint *counts, MPI_Datatype type,
				      MPI_Op op, MPIR_Comm *comm,
				      MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm, BCL_CH3_REDUCE_SCATTER) && bcl_ch3_reduces(type))
		return bcl_ch3_reduce_scatter(send, receive, counts, type, op,
					      comm);
	return bcl_ch3_stock_reduce_scatter(send, receive, counts, type, op,
					    comm, errflag);
}

static inline int MPID_Scan(const void *send, void *receive, MPI_Aint count,
			    MPI_Datatype type, MPI_Op op, MPIR_Comm *comm,
			    MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm, BCL_CH3_SCAN) && bcl_ch3_reduces(type))
		return bcl_ch3_scan(send, receive, count, type, op, comm);
	return bcl_ch3_stock_scan(send, receive, count, type, op, comm,
				  errflag);
}

static inline int MPID_Exscan(const void *send, void *receive, MPI_Aint count,
			      MPI_Datatype type, MPI_Op op, MPIR_Comm *comm,
			      MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm, BCL_CH3_EXSCAN) && bcl_ch3_reduces(type))
		return bcl_ch3_exscan(send, receive, count, type, op, comm);
	return bcl_ch3_stock_exscan(send, receive, count, type, op, comm,
				    errflag);
}

static inline int MPID_Gatherv(const void *send, MPI_Aint send_count,
			       MPI_Datatype send_type, void *receive,
			       const MPI_Aint *receive_counts,
			       const MPI_Aint *receive_displacements,
			       MPI_Datatype receive_type, int root,
			       MPIR_Comm *comm, MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm, BCL_CH3_GATHERV))
		return bcl_ch3_gatherv(send, send_count, send_type, receive,
				       receive_counts, receive_displacements,
				       receive_type, root, comm);
	return bcl_ch3_stock_gatherv(send, send_count, send_type, receive,
				     receive_counts, receive_displacements,
				     receive_type, root, comm, errflag);
}

static inline int MPID_Scatterv(const void *send, const MPI_Aint *send_counts,
				const MPI_Aint *send_displacements,
				MPI_Datatype send_type, void *receive,
				MPI_Aint receive_count,
				MPI_Datatype receive_type, int root,
				MPIR_Comm *comm, MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm, BCL_CH3_SCATTERV))
		return bcl_ch3_scatterv(send, send_counts, send_displacements,
					send_type, receive, receive_count,
					receive_type, root, comm);
	return bcl_ch3_stock_scatterv(send, send_counts, send_displacements,
				      send_type, receive, receive_count,
				      receive_type, root, comm, errflag);
}

static inline int MPID_Allgatherv(const void *send, MPI_Aint send_count,
				  MPI_Datatype send_type, void *receive,
				  const MPI_Aint *receive_counts,
				  const MPI_Aint *receive_displacements,
				  MPI_Datatype receive_type, MPIR_Comm *comm,
				  MPIR_Errflag_t *errflag)
{
	if (bcl_ch3_team(comm, BCL_CH3_ALLGATHERV))
		return bcl_ch3_allgatherv(send, send_count, send_type, receive,
					  receive_counts, receive_displacements,
					  receive_type, comm);
	return bcl_ch3_stock_allgatherv(send, send_count, send_type, receive,
					receive_counts, receive_displacements,
					receive_type, comm, errflag);
}

#endif
