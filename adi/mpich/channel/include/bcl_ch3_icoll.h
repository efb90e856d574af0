/* SPDX-License-Identifier: MIT */
/*
 * Collective operations that do not block, over a team that only the
 * communicator uses: the operations of a team need one order, and ranks may
 * start operations of different communicators in different orders, as several
 * threads may start those that block. Each rank
 * makes the rank's part of the team with the communicator's first such
 * operation, without waiting for other ranks. The decision for a team depends
 * on the same facts as for a blocking operation (bcl_ch3_coll.h).
 */
#ifndef BCL_CH3_ICOLL_H
#define BCL_CH3_ICOLL_H

int MPID_Ibarrier(MPIR_Comm *comm, MPIR_Request **request);
int MPID_Ibcast(void *buffer, MPI_Aint count, MPI_Datatype type, int root,
		MPIR_Comm *comm, MPIR_Request **request);
int MPID_Ireduce(const void *send, void *receive, MPI_Aint count,
		 MPI_Datatype type, MPI_Op op, int root, MPIR_Comm *comm,
		 MPIR_Request **request);
int MPID_Iallreduce(const void *send, void *receive, MPI_Aint count,
		    MPI_Datatype type, MPI_Op op, MPIR_Comm *comm,
		    MPIR_Request **request);
int MPID_Ireduce_scatter_block(const void *send, void *receive, MPI_Aint count,
			       MPI_Datatype type, MPI_Op op, MPIR_Comm *comm,
			       MPIR_Request **request);
int MPID_Ireduce_scatter(const void *send, void *receive,
			 const MPI_Aint *counts, MPI_Datatype type, MPI_Op op,
			 MPIR_Comm *comm, MPIR_Request **request);
int MPID_Iscan(const void *send, void *receive, MPI_Aint count,
	       MPI_Datatype type, MPI_Op op, MPIR_Comm *comm,
	       MPIR_Request **request);
int MPID_Iexscan(const void *send, void *receive, MPI_Aint count,
		 MPI_Datatype type, MPI_Op op, MPIR_Comm *comm,
		 MPIR_Request **request);
int MPID_Igather(const void *send, MPI_Aint send_count, MPI_Datatype send_type,
		 void *receive, MPI_Aint receive_count,
		 MPI_Datatype receive_type, int root, MPIR_Comm *comm,
		 MPIR_Request **request);
int MPID_Iscatter(const void *send, MPI_Aint send_count, MPI_Datatype send_type,
		  void *receive, MPI_Aint receive_count,
		  MPI_Datatype receive_type, int root, MPIR_Comm *comm,
		  MPIR_Request **request);
int MPID_Iallgather(const void *send, MPI_Aint send_count,
		    MPI_Datatype send_type, void *receive,
		    MPI_Aint receive_count, MPI_Datatype receive_type,
		    MPIR_Comm *comm, MPIR_Request **request);
int MPID_Ialltoall(const void *send, MPI_Aint send_count,
		   MPI_Datatype send_type, void *receive,
		   MPI_Aint receive_count, MPI_Datatype receive_type,
		   MPIR_Comm *comm, MPIR_Request **request);
int MPID_Ialltoallv(const void *send, const MPI_Aint *send_counts,
		    const MPI_Aint *send_displacements, MPI_Datatype send_type,
		    void *receive, const MPI_Aint *receive_counts,
		    const MPI_Aint *receive_displacements,
		    MPI_Datatype receive_type, MPIR_Comm *comm,
		    MPIR_Request **request);
int MPID_Ialltoallw(const void *send, const MPI_Aint *send_counts,
		    const MPI_Aint *send_displacements,
		    const MPI_Datatype *send_types, void *receive,
		    const MPI_Aint *receive_counts,
		    const MPI_Aint *receive_displacements,
		    const MPI_Datatype *receive_types, MPIR_Comm *comm,
		    MPIR_Request **request);
int MPID_Igatherv(const void *send, MPI_Aint send_count, MPI_Datatype send_type,
		  void *receive, const MPI_Aint *receive_counts,
		  const MPI_Aint *receive_displacements,
		  MPI_Datatype receive_type, int root, MPIR_Comm *comm,
		  MPIR_Request **request);
int MPID_Iscatterv(const void *send, const MPI_Aint *send_counts,
		   const MPI_Aint *send_displacements, MPI_Datatype send_type,
		   void *receive, MPI_Aint receive_count,
		   MPI_Datatype receive_type, int root, MPIR_Comm *comm,
		   MPIR_Request **request);
int MPID_Iallgatherv(const void *send, MPI_Aint send_count,
		     MPI_Datatype send_type, void *receive,
		     const MPI_Aint *receive_counts,
		     const MPI_Aint *receive_displacements,
		     MPI_Datatype receive_type, MPIR_Comm *comm,
		     MPIR_Request **request);
int MPID_Ineighbor_allgather(const void *send, MPI_Aint send_count,
			     MPI_Datatype send_type, void *receive,
			     MPI_Aint receive_count, MPI_Datatype receive_type,
			     MPIR_Comm *comm, MPIR_Request **request);
int MPID_Ineighbor_allgatherv(const void *send, MPI_Aint send_count,
			      MPI_Datatype send_type, void *receive,
			      const MPI_Aint *receive_counts,
			      const MPI_Aint *receive_displacements,
			      MPI_Datatype receive_type, MPIR_Comm *comm,
			      MPIR_Request **request);
int MPID_Ineighbor_alltoall(const void *send, MPI_Aint send_count,
			    MPI_Datatype send_type, void *receive,
			    MPI_Aint receive_count, MPI_Datatype receive_type,
			    MPIR_Comm *comm, MPIR_Request **request);
int MPID_Ineighbor_alltoallv(const void *send, const MPI_Aint *send_counts,
			     const MPI_Aint *send_displacements,
			     MPI_Datatype send_type, void *receive,
			     const MPI_Aint *receive_counts,
			     const MPI_Aint *receive_displacements,
			     MPI_Datatype receive_type, MPIR_Comm *comm,
			     MPIR_Request **request);
int MPID_Ineighbor_alltoallw(const void *send, const MPI_Aint *send_counts,
			     const MPI_Aint *send_displacements,
			     const MPI_Datatype *send_types, void *receive,
			     const MPI_Aint *receive_counts,
			     const MPI_Aint *receive_displacements,
			     const MPI_Datatype *receive_types, MPIR_Comm *comm,
			     MPIR_Request **request);

#endif
