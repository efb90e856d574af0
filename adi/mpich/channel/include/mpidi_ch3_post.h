/* SPDX-License-Identifier: MIT */
/* The progress engine and collective operations, as MPICH calls them. */
#ifndef MPIDI_CH3_POST_H_INCLUDED
#define MPIDI_CH3_POST_H_INCLUDED

#define MPIDI_CH3_Progress_start(state) \
	((state)->ch.completion_count = MPIDI_CH3I_progress_completion_count)
#define MPIDI_CH3_Progress_end(state) ((void)(state))

int bcl_ch3_test(void);
int bcl_ch3_wait(MPID_Progress_state *state);

#define MPIDI_CH3_Progress_test()      bcl_ch3_test()
#define MPIDI_CH3_Progress_poke()      bcl_ch3_test()
#define MPIDI_CH3_Progress_wait(state) bcl_ch3_wait(state)

/* Files of MPI's functions, unlike ch3's own files, send and receive by way of
 * direct.c. */
#ifndef MPIDIMPL_H_INCLUDED
#define MPID_Send  bcl_ch3_send
#define MPID_Isend bcl_ch3_isend
#define MPID_Recv  bcl_ch3_recv
#endif
int bcl_ch3_send(const void *buffer, MPI_Aint count, MPI_Datatype type,
		 int rank, int tag, MPIR_Comm *comm, int offset,
		 MPIR_Request **request);
int bcl_ch3_isend(const void *buffer, MPI_Aint count, MPI_Datatype type,
		  int rank, int tag, MPIR_Comm *comm, int offset,
		  MPIR_Request **request);
int bcl_ch3_recv(void *buffer, MPI_Aint count, MPI_Datatype type, int rank,
		 int tag, MPIR_Comm *comm, int offset, MPI_Status *status,
		 MPIR_Request **request);

/*
 * ch3's entry points of collective operations. The channel provides some of the
 * operations. ch3's own functions for these get new names here, and serve
 * communicators without a team.
 */
#undef MPID_COLL_H_INCLUDED
#define MPID_Barrier		   bcl_ch3_stock_barrier
#define MPID_Bcast		   bcl_ch3_stock_bcast
#define MPID_Reduce		   bcl_ch3_stock_reduce
#define MPID_Allreduce		   bcl_ch3_stock_allreduce
#define MPID_Gather		   bcl_ch3_stock_gather
#define MPID_Scatter		   bcl_ch3_stock_scatter
#define MPID_Allgather		   bcl_ch3_stock_allgather
#define MPID_Alltoall		   bcl_ch3_stock_alltoall
#define MPID_Alltoallv		   bcl_ch3_stock_alltoallv
#define MPID_Alltoallw		   bcl_ch3_stock_alltoallw
#define MPID_Neighbor_allgather	   bcl_ch3_stock_neighbor_allgather
#define MPID_Neighbor_allgatherv   bcl_ch3_stock_neighbor_allgatherv
#define MPID_Neighbor_alltoall	   bcl_ch3_stock_neighbor_alltoall
#define MPID_Neighbor_alltoallv	   bcl_ch3_stock_neighbor_alltoallv
#define MPID_Neighbor_alltoallw	   bcl_ch3_stock_neighbor_alltoallw
#define MPID_Reduce_scatter	   bcl_ch3_stock_reduce_scatter
#define MPID_Reduce_scatter_block  bcl_ch3_stock_reduce_scatter_block
#define MPID_Scan		   bcl_ch3_stock_scan
#define MPID_Exscan		   bcl_ch3_stock_exscan
#define MPID_Gatherv		   bcl_ch3_stock_gatherv
#define MPID_Scatterv		   bcl_ch3_stock_scatterv
#define MPID_Allgatherv		   bcl_ch3_stock_allgatherv
#define MPID_Ibarrier		   bcl_ch3_stock_ibarrier
#define MPID_Ibcast		   bcl_ch3_stock_ibcast
#define MPID_Ireduce		   bcl_ch3_stock_ireduce
#define MPID_Iallreduce		   bcl_ch3_stock_iallreduce
#define MPID_Ireduce_scatter	   bcl_ch3_stock_ireduce_scatter
#define MPID_Ireduce_scatter_block bcl_ch3_stock_ireduce_scatter_block
#define MPID_Iscan		   bcl_ch3_stock_iscan
#define MPID_Iexscan		   bcl_ch3_stock_iexscan
#define MPID_Igather		   bcl_ch3_stock_igather
#define MPID_Iscatter		   bcl_ch3_stock_iscatter
#define MPID_Iallgather		   bcl_ch3_stock_iallgather
#define MPID_Ialltoall		   bcl_ch3_stock_ialltoall
#define MPID_Ialltoallv		   bcl_ch3_stock_ialltoallv
#define MPID_Ialltoallw		   bcl_ch3_stock_ialltoallw
#define MPID_Ineighbor_allgather   bcl_ch3_stock_ineighbor_allgather
#define MPID_Ineighbor_allgatherv  bcl_ch3_stock_ineighbor_allgatherv
#define MPID_Ineighbor_alltoall	   bcl_ch3_stock_ineighbor_alltoall
#define MPID_Ineighbor_alltoallv   bcl_ch3_stock_ineighbor_alltoallv
#define MPID_Ineighbor_alltoallw   bcl_ch3_stock_ineighbor_alltoallw
#define MPID_Igatherv		   bcl_ch3_stock_igatherv
#define MPID_Iscatterv		   bcl_ch3_stock_iscatterv
#define MPID_Iallgatherv	   bcl_ch3_stock_iallgatherv
#include "../../../include/mpid_coll.h"
#undef MPID_Barrier
#undef MPID_Bcast
#undef MPID_Reduce
#undef MPID_Allreduce
#undef MPID_Gather
#undef MPID_Scatter
#undef MPID_Allgather
#undef MPID_Alltoall
#undef MPID_Alltoallv
#undef MPID_Alltoallw
#undef MPID_Neighbor_allgather
#undef MPID_Neighbor_allgatherv
#undef MPID_Neighbor_alltoall
#undef MPID_Neighbor_alltoallv
#undef MPID_Neighbor_alltoallw
#undef MPID_Reduce_scatter
#undef MPID_Reduce_scatter_block
#undef MPID_Scan
#undef MPID_Exscan
#undef MPID_Gatherv
#undef MPID_Scatterv
#undef MPID_Allgatherv
#undef MPID_Ibarrier
#undef MPID_Ibcast
#undef MPID_Ireduce
#undef MPID_Iallreduce
#undef MPID_Ireduce_scatter
#undef MPID_Ireduce_scatter_block
#undef MPID_Iscan
#undef MPID_Iexscan
#undef MPID_Igather
#undef MPID_Iscatter
#undef MPID_Iallgather
#undef MPID_Ialltoall
#undef MPID_Ialltoallv
#undef MPID_Ialltoallw
#undef MPID_Ineighbor_allgather
#undef MPID_Ineighbor_allgatherv
#undef MPID_Ineighbor_alltoall
#undef MPID_Ineighbor_alltoallv
#undef MPID_Ineighbor_alltoallw
#undef MPID_Igatherv
#undef MPID_Iscatterv
#undef MPID_Iallgatherv

#include "bcl_ch3_coll.h"
#include "bcl_ch3_icoll.h"
#include "bcl_ch3_persistent.h"

#endif
