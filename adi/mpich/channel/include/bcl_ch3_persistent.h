/* SPDX-License-Identifier: MIT */
/*
 * Persistent collective operations, each over a team that nobody else uses:
 * ranks may start the operations of a communicator in different orders. The
 * ranks agree on a team when they make an operation, which MPI lets them do
 * together. The decision for a team depends on the same facts as for a blocking
 * operation (bcl_ch3_coll.h).
 */
#ifndef BCL_CH3_PERSISTENT_H
#define BCL_CH3_PERSISTENT_H

int bcl_ch3_barrier_init(MPIR_Comm *comm, MPIR_Info *info,
			 MPIR_Request **request);
int bcl_ch3_bcast_init(void *buffer, MPI_Aint count, MPI_Datatype type,
		       int root, MPIR_Comm *comm, MPIR_Info *info,
		       MPIR_Request **request);
int bcl_ch3_reduce_init(const void *send, void *receive, MPI_Aint count,
			MPI_Datatype type, MPI_Op op, int root, MPIR_Comm *comm,
			MPIR_Info *info, MPIR_Request **request);
int bcl_ch3_allreduce_init(const void *send, void *receive, MPI_Aint count,
			   MPI_Datatype type, MPI_Op op, MPIR_Comm *comm,
			   MPIR_Info *info, MPIR_Request **request);
int bcl_ch3_reduce_scatter_block_init(const void *send, void *receive,
				      MPI_Aint count, MPI_Datatype type,
				      MPI_Op op, MPIR_Comm *comm,
				      MPIR_Info *info, MPIR_Request **request);
int bcl_ch3_reduce_scatter_init(const void *send, void *receive,
				const MPI_Aint *counts, MPI_Datatype type,
				MPI_Op op, MPIR_Comm *comm, MPIR_Info *info,
				MPIR_Request **request);
int bcl_ch3_scan_init(const void *send, void *receive, MPI_Aint count,
		      MPI_Datatype type, MPI_Op op, MPIR_Comm *comm,
		      MPIR_Info *info, MPIR_Request **request);
int bcl_ch3_exscan_init(const void *send, void *receive, MPI_Aint count,
			MPI_Datatype type, MPI_Op op, MPIR_Comm *comm,
			MPIR_Info *info, MPIR_Request **request);
int bcl_ch3_gather_init(const void *send, MPI_Aint send_count,
			MPI_Datatype send_type, void *receive,
			MPI_Aint receive_count, MPI_Datatype receive_type,
			int root, MPIR_Comm *comm, MPIR_Info *info,
			MPIR_Request **request);
int bcl_ch3_scatter_init(const void *send, MPI_Aint send_count,
			 MPI_Datatype send_type, void *receive,
			 MPI_Aint receive_count, MPI_Datatype receive_type,
			 int root, MPIR_Comm *comm, MPIR_Info *info,
			 MPIR_Request **request);
int bcl_ch3_allgather_init(const void *send, MPI_Aint send_count,
			   MPI_Datatype send_type, void *receive,
			   MPI_Aint receive_count, MPI_Datatype receive_type,
			   MPIR_Comm *comm, MPIR_Info *info,
			   MPIR_Request **request);
int bcl_ch3_alltoall_init(const void *send, MPI_Aint send_count,
			  MPI_Datatype send_type, void *receive,
			  MPI_Aint receive_count, MPI_Datatype receive_type,
			  MPIR_Comm *comm, MPIR_Info *info,
			  MPIR_Request **request);
int bcl_ch3_alltoallv_init(const void *send, const MPI_Aint *send_counts,
			   const MPI_Aint *send_displacements,
			   MPI_Datatype send_type, void *receive,
			   const MPI_Aint *receive_counts,
			   const MPI_Aint *receive_displacements,
			   MPI_Datatype receive_type, MPIR_Comm *comm,
			   MPIR_Info *info, MPIR_Request **request);
int bcl_ch3_alltoallw_init(const void *send, const MPI_Aint *send_counts,
			   const MPI_Aint *send_displacements,
			   const MPI_Datatype *send_types, void *receive,
			   const MPI_Aint *receive_counts,
			   const MPI_Aint *receive_displacements,
			   const MPI_Datatype *receive_types, MPIR_Comm *comm,
			   MPIR_Info *info, MPIR_Request **request);
int bcl_ch3_gatherv_init(const void *send, MPI_Aint send_count,
			 MPI_Datatype send_type, void *receive,
			 const MPI_Aint *receive_counts,
			 const MPI_Aint *receive_displacements,
			 MPI_Datatype receive_type, int root, MPIR_Comm *comm,
			 MPIR_Info *info, MPIR_Request **request);
int bcl_ch3_scatterv_init(const void *send, const MPI_Aint *send_counts,
			  const MPI_Aint *send_displacements,
			  MPI_Datatype send_type, void *receive,
			  MPI_Aint receive_count, MPI_Datatype receive_type,
			  int root, MPIR_Comm *comm, MPIR_Info *info,
			  MPIR_Request **request);
int bcl_ch3_allgatherv_init(const void *send, MPI_Aint send_count,
			    MPI_Datatype send_type, void *receive,
			    const MPI_Aint *receive_counts,
			    const MPI_Aint *receive_displacements,
			    MPI_Datatype receive_type, MPIR_Comm *comm,
			    MPIR_Info *info, MPIR_Request **request);
int bcl_ch3_neighbor_allgather_init(const void *send, MPI_Aint send_count,
				    MPI_Datatype send_type, void *receive,
				    MPI_Aint receive_count,
				    MPI_Datatype receive_type, MPIR_Comm *comm,
				    MPIR_Info *info, MPIR_Request **request);
int bcl_ch3_neighbor_allgatherv_init(const void *send, MPI_Aint send_count,
				     MPI_Datatype send_type, void *receive,
				     const MPI_Aint *receive_counts,
				     const MPI_Aint *receive_displacements,
				     MPI_Datatype receive_type, MPIR_Comm *comm,
				     MPIR_Info *info, MPIR_Request **request);
int bcl_ch3_neighbor_alltoall_init(const void *send, MPI_Aint send_count,
				   MPI_Datatype send_type, void *receive,
				   MPI_Aint receive_count,
				   MPI_Datatype receive_type, MPIR_Comm *comm,
				   MPIR_Info *info, MPIR_Request **request);
int bcl_ch3_neighbor_alltoallv_init(const void *send,
				    const MPI_Aint *send_counts,
				    const MPI_Aint *send_displacements,
				    MPI_Datatype send_type, void *receive,
				    const MPI_Aint *receive_counts,
				    const MPI_Aint *receive_displacements,
				    MPI_Datatype receive_type, MPIR_Comm *comm,
				    MPIR_Info *info, MPIR_Request **request);
int bcl_ch3_neighbor_alltoallw_init(
	const void *send, const MPI_Aint *send_counts,
	const MPI_Aint *send_displacements, const MPI_Datatype *send_types,
	void *receive, const MPI_Aint *receive_counts,
	const MPI_Aint *receive_displacements,
	const MPI_Datatype *receive_types, MPIR_Comm *comm, MPIR_Info *info,
	MPIR_Request **request);

/* Starts a persistent collective operation, of the channel or of MPICH. The
 * channel's has no error. */
int bcl_ch3_persistent_start(MPIR_Request *handle);
/* The program has freed the request of such an operation. */
void bcl_ch3_persistent_free(MPIR_Request *handle);
/* The error of a complete request. MPICH knows none of an operation that is
 * persistent and collective. */
int bcl_ch3_request_error(MPIR_Request *request);

/* MPICH takes each request of such an operation for one that is active. */
static inline int bcl_ch3_request_is_active(MPIR_Request *request)
{
	if (request && request->kind == MPIR_REQUEST_KIND__PREQUEST_COLL)
		return request->u.persist_coll.real_request != NULL;
	return MPIR_Request_is_active(request);
}
#define MPIR_Request_is_active bcl_ch3_request_is_active

/* Files of MPI's functions, unlike ch3's own files, make operations by way of
 * the channel. */
#ifndef MPIDIMPL_H_INCLUDED
#define MPID_Barrier_init	       bcl_ch3_barrier_init
#define MPID_Bcast_init		       bcl_ch3_bcast_init
#define MPID_Reduce_init	       bcl_ch3_reduce_init
#define MPID_Allreduce_init	       bcl_ch3_allreduce_init
#define MPID_Reduce_scatter_block_init bcl_ch3_reduce_scatter_block_init
#define MPID_Reduce_scatter_init       bcl_ch3_reduce_scatter_init
#define MPID_Scan_init		       bcl_ch3_scan_init
#define MPID_Exscan_init	       bcl_ch3_exscan_init
#define MPID_Gather_init	       bcl_ch3_gather_init
#define MPID_Scatter_init	       bcl_ch3_scatter_init
#define MPID_Allgather_init	       bcl_ch3_allgather_init
#define MPID_Alltoall_init	       bcl_ch3_alltoall_init
#define MPID_Alltoallv_init	       bcl_ch3_alltoallv_init
#define MPID_Alltoallw_init	       bcl_ch3_alltoallw_init
#define MPID_Gatherv_init	       bcl_ch3_gatherv_init
#define MPID_Scatterv_init	       bcl_ch3_scatterv_init
#define MPID_Allgatherv_init	       bcl_ch3_allgatherv_init
#define MPID_Neighbor_allgather_init   bcl_ch3_neighbor_allgather_init
#define MPID_Neighbor_allgatherv_init  bcl_ch3_neighbor_allgatherv_init
#define MPID_Neighbor_alltoall_init    bcl_ch3_neighbor_alltoall_init
#define MPID_Neighbor_alltoallv_init   bcl_ch3_neighbor_alltoallv_init
#define MPID_Neighbor_alltoallw_init   bcl_ch3_neighbor_alltoallw_init
#endif

/*
 * MPICH's files define the functions below and call them. The first word of
 * what stands in the brackets tells the one from the other: a call is the
 * channel's.
 */
/* clang-format off */
#define MPIR_Persist_coll_start(request)   BCL_CH3_START_##request)
#define BCL_CH3_START_MPIR_Request	   MPIR_Persist_coll_start(MPIR_Request
#define BCL_CH3_START_preq		   bcl_ch3_persistent_start(preq
#define MPIR_Persist_coll_free_cb(request) BCL_CH3_FREE_##request)
#define BCL_CH3_FREE_MPIR_Request	   MPIR_Persist_coll_free_cb(MPIR_Request
#define BCL_CH3_FREE_request_ptr	   bcl_ch3_persistent_free(request_ptr
#define MPIR_Request_get_error(request)	   BCL_CH3_ERROR_##request)
#define BCL_CH3_ERROR_MPIR_Request	   MPIR_Request_get_error(MPIR_Request
#define BCL_CH3_ERROR_request_ptrs	   bcl_ch3_request_error(request_ptrs
/* clang-format on */

#endif
