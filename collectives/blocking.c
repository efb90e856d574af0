/* SPDX-License-Identifier: MIT */
/*
 * The collective operations of bcl/coll.h that block: each makes a call of its
 * arguments, which is checked and run to its end.
 */
#include "collectives/arguments.h"

static bcl_always_inline enum bcl_status run_call(struct bcl_team *team,
						  struct bcl_call call)
{
	if (team && bcl_arguments_are_right(team, &call))
		return bcl_call_run(team, call);
	return bcl_call_refuse(team, call.operation, BCL_ERR_ARG);
}

static enum bcl_status run_various(struct bcl_team *team, struct bcl_call *call)
{
	if (team && bcl_arguments_are_various_right(team, call))
		return bcl_call_run_various(team, call);
	return bcl_call_refuse(team, call->operation, BCL_ERR_ARG);
}

enum bcl_status bcl_barrier(struct bcl_team *team)
{
	return bcl_call_run(team, bcl_arguments_blocks(BCL_OPERATION_BARRIER,
						       NULL, NULL, 0, 0));
}

enum bcl_status bcl_broadcast(struct bcl_team *team, void *buffer,
			      size_t length, unsigned root)
{
	return run_call(team,
			bcl_arguments_blocks(BCL_OPERATION_BROADCAST, buffer,
					     buffer, length, root));
}

enum bcl_status bcl_reduce(struct bcl_team *team, const void *send,
			   void *receive, size_t count,
			   const struct bcl_reduction *reduction, unsigned root)
{
	return run_call(team,
			bcl_arguments_vector(BCL_OPERATION_REDUCE, send,
					     receive, count, reduction, root));
}

enum bcl_status bcl_allreduce(struct bcl_team *team, const void *send,
			      void *receive, size_t count,
			      const struct bcl_reduction *reduction)
{
	return run_call(team,
			bcl_arguments_vector(BCL_OPERATION_ALLREDUCE, send,
					     receive, count, reduction, 0));
}

enum bcl_status bcl_gather(struct bcl_team *team, const void *send,
			   size_t length, void *receive, unsigned root)
{
	return run_call(team, bcl_arguments_blocks(BCL_OPERATION_GATHER, send,
						   receive, length, root));
}

enum bcl_status bcl_scatter(struct bcl_team *team, const void *send,
			    void *receive, size_t length, unsigned root)
{
	return run_call(team, bcl_arguments_blocks(BCL_OPERATION_SCATTER, send,
						   receive, length, root));
}

enum bcl_status bcl_allgather(struct bcl_team *team, const void *send,
			      size_t length, void *receive)
{
	return run_call(team, bcl_arguments_blocks(BCL_OPERATION_ALLGATHER,
						   send, receive, length, 0));
}

enum bcl_status bcl_alltoall(struct bcl_team *team, const void *send,
			     void *receive, size_t length)
{
	return run_call(team, bcl_arguments_blocks(BCL_OPERATION_ALLTOALL, send,
						   receive, length, 0));
}

enum bcl_status bcl_alltoallv(struct bcl_team *team, const void *send,
			      const size_t *send_lengths,
			      const size_t *send_offsets, void *receive,
			      const size_t *receive_lengths,
			      const size_t *receive_offsets)
{
	struct bcl_call call = bcl_arguments_exchanged(
		send, send_lengths, send_offsets, receive, receive_lengths,
		receive_offsets);

	return run_various(team, &call);
}

enum bcl_status bcl_reduce_scatter(struct bcl_team *team, const void *send,
				   void *receive, size_t count,
				   const struct bcl_reduction *reduction)
{
	return run_call(team,
			bcl_arguments_vector(BCL_OPERATION_REDUCE_SCATTER, send,
					     receive, count, reduction, 0));
}

enum bcl_status bcl_scan(struct bcl_team *team, const void *send, void *receive,
			 size_t count, const struct bcl_reduction *reduction)
{
	return run_call(team,
			bcl_arguments_vector(BCL_OPERATION_SCAN, send, receive,
					     count, reduction, 0));
}

enum bcl_status bcl_exscan(struct bcl_team *team, const void *send,
			   void *receive, size_t count,
			   const struct bcl_reduction *reduction)
{
	return run_call(team,
			bcl_arguments_vector(BCL_OPERATION_EXSCAN, send,
					     receive, count, reduction, 0));
}

enum bcl_status bcl_gatherv(struct bcl_team *team, const void *send,
			    size_t length, void *receive,
			    const size_t *receive_lengths,
			    const size_t *receive_offsets, unsigned root)
{
	struct bcl_call call = bcl_arguments_gathered(
		BCL_OPERATION_GATHERV, send, length, receive, receive_lengths,
		receive_offsets, root);

	return run_various(team, &call);
}

enum bcl_status bcl_scatterv(struct bcl_team *team, const void *send,
			     const size_t *send_lengths,
			     const size_t *send_offsets, void *receive,
			     size_t length, unsigned root)
{
	struct bcl_call call = bcl_arguments_scattered(
		send, send_lengths, send_offsets, receive, length, root);

	return run_various(team, &call);
}

enum bcl_status bcl_allgatherv(struct bcl_team *team, const void *send,
			       size_t length, void *receive,
			       const size_t *receive_lengths,
			       const size_t *receive_offsets)
{
	struct bcl_call call = bcl_arguments_gathered(
		BCL_OPERATION_ALLGATHERV, send, length, receive,
		receive_lengths, receive_offsets, 0);

	return run_various(team, &call);
}

enum bcl_status bcl_reduce_scatterv(struct bcl_team *team, const void *send,
				    void *receive, const size_t *counts,
				    const struct bcl_reduction *reduction)
{
	struct bcl_call call;

	if (bcl_arguments_are_equal(team, counts))
		return bcl_reduce_scatter(team, send, receive, counts[0],
					  reduction);
	call = bcl_arguments_counted(team, send, receive, counts, reduction);
	return run_various(team, &call);
}

enum bcl_status bcl_shift(struct bcl_team *team, const void *send,
			  void *receive, size_t length, int distance)
{
	return run_call(team,
			bcl_arguments_shifted(send, receive, length, distance));
}

enum bcl_status bcl_exchange(struct bcl_team *team, const void *send,
			     const struct bcl_blocks *to, void *receive,
			     const struct bcl_blocks *from)
{
	struct bcl_call call = bcl_arguments_listed(send, to, receive, from);

	return run_various(team, &call);
}
