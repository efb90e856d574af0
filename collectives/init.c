/* SPDX-License-Identifier: MIT */
/*
 * The collective operations of bcl/coll.h that are made once and run many
 * times: each makes a call of its arguments, which is checked and becomes a
 * persistent operation.
 */
#include "collectives/arguments.h"
#include "collectives/persistent.h"

static enum bcl_status make(struct bcl_team *team, struct bcl_call call,
			    struct bcl_persistent **operation)
{
	if (team && bcl_arguments_are_right(team, &call))
		return bcl_persistent_make(team, &call, operation);
	return bcl_call_refuse(team, call.operation, BCL_ERR_ARG);
}

enum bcl_status bcl_barrier_init(struct bcl_team *team,
				 struct bcl_persistent **operation)
{
	return make(
		team,
		bcl_arguments_blocks(BCL_OPERATION_BARRIER, NULL, NULL, 0, 0),
		operation);
}

enum bcl_status bcl_broadcast_init(struct bcl_team *team, void *buffer,
				   size_t length, unsigned root,
				   struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_blocks(BCL_OPERATION_BROADCAST, buffer,
					 buffer, length, root),
		    operation);
}

enum bcl_status bcl_reduce_init(struct bcl_team *team, const void *send,
				void *receive, size_t count,
				const struct bcl_reduction *reduction,
				unsigned root,
				struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_vector(BCL_OPERATION_REDUCE, send, receive,
					 count, reduction, root),
		    operation);
}

enum bcl_status bcl_allreduce_init(struct bcl_team *team, const void *send,
				   void *receive, size_t count,
				   const struct bcl_reduction *reduction,
				   struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_vector(BCL_OPERATION_ALLREDUCE, send, receive,
					 count, reduction, 0),
		    operation);
}

enum bcl_status bcl_gather_init(struct bcl_team *team, const void *send,
				size_t length, void *receive, unsigned root,
				struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_blocks(BCL_OPERATION_GATHER, send, receive,
					 length, root),
		    operation);
}

enum bcl_status bcl_scatter_init(struct bcl_team *team, const void *send,
				 void *receive, size_t length, unsigned root,
				 struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_blocks(BCL_OPERATION_SCATTER, send, receive,
					 length, root),
		    operation);
}

enum bcl_status bcl_allgather_init(struct bcl_team *team, const void *send,
				   size_t length, void *receive,
				   struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_blocks(BCL_OPERATION_ALLGATHER, send, receive,
					 length, 0),
		    operation);
}

enum bcl_status bcl_alltoall_init(struct bcl_team *team, const void *send,
				  void *receive, size_t length,
				  struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_blocks(BCL_OPERATION_ALLTOALL, send, receive,
					 length, 0),
		    operation);
}

enum bcl_status bcl_alltoallv_init(struct bcl_team *team, const void *send,
				   const size_t *send_lengths,
				   const size_t *send_offsets, void *receive,
				   const size_t *receive_lengths,
				   const size_t *receive_offsets,
				   struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_exchanged(send, send_lengths, send_offsets,
					    receive, receive_lengths,
					    receive_offsets),
		    operation);
}

enum bcl_status bcl_reduce_scatter_init(struct bcl_team *team, const void *send,
					void *receive, size_t count,
					const struct bcl_reduction *reduction,
					struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_vector(BCL_OPERATION_REDUCE_SCATTER, send,
					 receive, count, reduction, 0),
		    operation);
}

enum bcl_status bcl_scan_init(struct bcl_team *team, const void *send,
			      void *receive, size_t count,
			      const struct bcl_reduction *reduction,
			      struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_vector(BCL_OPERATION_SCAN, send, receive,
					 count, reduction, 0),
		    operation);
}

enum bcl_status bcl_exscan_init(struct bcl_team *team, const void *send,
				void *receive, size_t count,
				const struct bcl_reduction *reduction,
				struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_vector(BCL_OPERATION_EXSCAN, send, receive,
					 count, reduction, 0),
		    operation);
}

enum bcl_status bcl_gatherv_init(struct bcl_team *team, const void *send,
				 size_t length, void *receive,
				 const size_t *receive_lengths,
				 const size_t *receive_offsets, unsigned root,
				 struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_gathered(BCL_OPERATION_GATHERV, send, length,
					   receive, receive_lengths,
					   receive_offsets, root),
		    operation);
}

enum bcl_status bcl_scatterv_init(struct bcl_team *team, const void *send,
				  const size_t *send_lengths,
				  const size_t *send_offsets, void *receive,
				  size_t length, unsigned root,
				  struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_scattered(send, send_lengths, send_offsets,
					    receive, length, root),
		    operation);
}

enum bcl_status bcl_allgatherv_init(struct bcl_team *team, const void *send,
				    size_t length, void *receive,
				    const size_t *receive_lengths,
				    const size_t *receive_offsets,
				    struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_gathered(BCL_OPERATION_ALLGATHERV, send,
					   length, receive, receive_lengths,
					   receive_offsets, 0),
		    operation);
}

enum bcl_status bcl_reduce_scatterv_init(struct bcl_team *team,
					 const void *send, void *receive,
					 const size_t *counts,
					 const struct bcl_reduction *reduction,
					 struct bcl_persistent **operation)
{
	return make(
		team,
		bcl_arguments_counted(team, send, receive, counts, reduction),
		operation);
}

enum bcl_status bcl_shift_init(struct bcl_team *team, const void *send,
			       void *receive, size_t length, int distance,
			       struct bcl_persistent **operation)
{
	return make(team,
		    bcl_arguments_shifted(send, receive, length, distance),
		    operation);
}

enum bcl_status bcl_exchange_init(struct bcl_team *team, const void *send,
				  const struct bcl_blocks *to, void *receive,
				  const struct bcl_blocks *from,
				  struct bcl_persistent **operation)
{
	return make(team, bcl_arguments_listed(send, to, receive, from),
		    operation);
}
