/* SPDX-License-Identifier: MIT */
/*
 * The collective operations of bcl/coll.h that do not block: each makes a call
 * of its arguments, which is checked and started.
 */
#include "collectives/arguments.h"

static enum bcl_status start_call(struct bcl_team *team, struct bcl_call call,
				  struct bcl_adi_request **request)
{
	if (team && bcl_arguments_are_right(team, &call))
		return bcl_call_start(team, &call, request);
	return bcl_call_refuse(team, call.operation, BCL_ERR_ARG);
}

enum bcl_status bcl_ibarrier(struct bcl_team *team,
			     struct bcl_adi_request **request)
{
	return start_call(
		team,
		bcl_arguments_blocks(BCL_OPERATION_BARRIER, NULL, NULL, 0, 0),
		request);
}

enum bcl_status bcl_ibroadcast(struct bcl_team *team, void *buffer,
			       size_t length, unsigned root,
			       struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_blocks(BCL_OPERATION_BROADCAST, buffer,
					       buffer, length, root),
			  request);
}

enum bcl_status bcl_ireduce(struct bcl_team *team, const void *send,
			    void *receive, size_t count,
			    const struct bcl_reduction *reduction,
			    unsigned root, struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_vector(BCL_OPERATION_REDUCE, send,
					       receive, count, reduction, root),
			  request);
}

enum bcl_status bcl_iallreduce(struct bcl_team *team, const void *send,
			       void *receive, size_t count,
			       const struct bcl_reduction *reduction,
			       struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_vector(BCL_OPERATION_ALLREDUCE, send,
					       receive, count, reduction, 0),
			  request);
}

enum bcl_status bcl_igather(struct bcl_team *team, const void *send,
			    size_t length, void *receive, unsigned root,
			    struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_blocks(BCL_OPERATION_GATHER, send,
					       receive, length, root),
			  request);
}

enum bcl_status bcl_iscatter(struct bcl_team *team, const void *send,
			     void *receive, size_t length, unsigned root,
			     struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_blocks(BCL_OPERATION_SCATTER, send,
					       receive, length, root),
			  request);
}

enum bcl_status bcl_iallgather(struct bcl_team *team, const void *send,
			       size_t length, void *receive,
			       struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_blocks(BCL_OPERATION_ALLGATHER, send,
					       receive, length, 0),
			  request);
}

enum bcl_status bcl_ialltoall(struct bcl_team *team, const void *send,
			      void *receive, size_t length,
			      struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_blocks(BCL_OPERATION_ALLTOALL, send,
					       receive, length, 0),
			  request);
}

enum bcl_status bcl_ialltoallv(struct bcl_team *team, const void *send,
			       const size_t *send_lengths,
			       const size_t *send_offsets, void *receive,
			       const size_t *receive_lengths,
			       const size_t *receive_offsets,
			       struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_exchanged(
				  send, send_lengths, send_offsets, receive,
				  receive_lengths, receive_offsets),
			  request);
}

enum bcl_status bcl_ireduce_scatter(struct bcl_team *team, const void *send,
				    void *receive, size_t count,
				    const struct bcl_reduction *reduction,
				    struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_vector(BCL_OPERATION_REDUCE_SCATTER,
					       send, receive, count, reduction,
					       0),
			  request);
}

enum bcl_status bcl_iscan(struct bcl_team *team, const void *send,
			  void *receive, size_t count,
			  const struct bcl_reduction *reduction,
			  struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_vector(BCL_OPERATION_SCAN, send,
					       receive, count, reduction, 0),
			  request);
}

enum bcl_status bcl_iexscan(struct bcl_team *team, const void *send,
			    void *receive, size_t count,
			    const struct bcl_reduction *reduction,
			    struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_vector(BCL_OPERATION_EXSCAN, send,
					       receive, count, reduction, 0),
			  request);
}

enum bcl_status bcl_igatherv(struct bcl_team *team, const void *send,
			     size_t length, void *receive,
			     const size_t *receive_lengths,
			     const size_t *receive_offsets, unsigned root,
			     struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_gathered(
				  BCL_OPERATION_GATHERV, send, length, receive,
				  receive_lengths, receive_offsets, root),
			  request);
}

enum bcl_status bcl_iscatterv(struct bcl_team *team, const void *send,
			      const size_t *send_lengths,
			      const size_t *send_offsets, void *receive,
			      size_t length, unsigned root,
			      struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_scattered(send, send_lengths,
						  send_offsets, receive, length,
						  root),
			  request);
}

enum bcl_status bcl_iallgatherv(struct bcl_team *team, const void *send,
				size_t length, void *receive,
				const size_t *receive_lengths,
				const size_t *receive_offsets,
				struct bcl_adi_request **request)
{
	return start_call(team,
			  bcl_arguments_gathered(
				  BCL_OPERATION_ALLGATHERV, send, length,
				  receive, receive_lengths, receive_offsets, 0),
			  request);
}

enum bcl_status bcl_ireduce_scatterv(struct bcl_team *team, const void *send,
				     void *receive, const size_t *counts,
				     const struct bcl_reduction *reduction,
				     struct bcl_adi_request **request)
{
	return start_call(
		team,
		bcl_arguments_counted(team, send, receive, counts, reduction),
		request);
}

enum bcl_status bcl_ishift(struct bcl_team *team, const void *send,
			   void *receive, size_t length, int distance,
			   struct bcl_adi_request **request)
{
	return start_call(
		team, bcl_arguments_shifted(send, receive, length, distance),
		request);
}

enum bcl_status bcl_iexchange(struct bcl_team *team, const void *send,
			      const struct bcl_blocks *to, void *receive,
			      const struct bcl_blocks *from,
			      struct bcl_adi_request **request)
{
	return start_call(team, bcl_arguments_listed(send, to, receive, from),
			  request);
}
