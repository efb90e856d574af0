/* SPDX-License-Identifier: MIT */
/*
 * The collective operations of bcl/coll.h: each makes a call of its arguments
 * (call.h), which is checked and then run or started.
 */
#include "collectives/call.h"

/* Rules for the arguments of an operation. */
enum {
	HAS_ROOT = 1,
	/* Only the root needs `send`, and BCL_IN_PLACE stands for `receive`,
	 * not for `send`. */
	ROOT_SENDS = 2,
	ROOT_RECEIVES = 4, /* only the root needs `receive` */
	/* BCL_IN_PLACE stands for the own block of the other buffer, if there
	 * is a root only at the root. Otherwise for all of the other buffer. */
	HAS_BLOCKS = 8,
	REDUCES = 16,
	VARIOUS = 32, /* blocks of different lengths */
};

static const unsigned char rules[BCL_OPERATIONS] = {
	[BCL_OPERATION_BROADCAST] = HAS_ROOT,
	[BCL_OPERATION_REDUCE] = HAS_ROOT | ROOT_RECEIVES | REDUCES,
	[BCL_OPERATION_ALLREDUCE] = REDUCES,
	[BCL_OPERATION_GATHER] = HAS_ROOT | ROOT_RECEIVES | HAS_BLOCKS,
	[BCL_OPERATION_SCATTER] = HAS_ROOT | ROOT_SENDS | HAS_BLOCKS,
	[BCL_OPERATION_ALLGATHER] = HAS_BLOCKS,
	[BCL_OPERATION_REDUCE_SCATTER] = REDUCES,
	[BCL_OPERATION_SCAN] = REDUCES,
	[BCL_OPERATION_EXSCAN] = REDUCES,
	[BCL_OPERATION_ALLTOALLV] = VARIOUS,
	[BCL_OPERATION_GATHERV] = VARIOUS | HAS_ROOT,
	[BCL_OPERATION_SCATTERV] = VARIOUS | HAS_ROOT,
	[BCL_OPERATION_ALLGATHERV] = VARIOUS,
};

/* ---- the arguments ------------------------------------------------------- */

static bcl_always_inline struct bcl_call blocks(enum bcl_operation operation,
						const void *send, void *receive,
						size_t length, unsigned root)
{
	return (struct bcl_call){
		.operation = operation,
		.send = send,
		.receive = receive,
		.length = length,
		.root = root,
	};
}

/* No reduction in the result: the vector or the reduction is wrong. */
static bcl_always_inline struct bcl_call
vector(enum bcl_operation operation, const void *send, void *receive,
       size_t count, const struct bcl_reduction *reduction, unsigned root)
{
	struct bcl_call call = blocks(operation, send, receive, 0, root);

	if (reduction && reduction->element &&
	    !__builtin_mul_overflow(count, reduction->element, &call.length))
		call.reduction = reduction;
	return call;
}

static struct bcl_call various(const void *send, const size_t *send_lengths,
			       const size_t *send_offsets, void *receive,
			       const size_t *receive_lengths,
			       const size_t *receive_offsets)
{
	bool in_place = send == BCL_IN_PLACE;

	return (struct bcl_call){
		.operation = BCL_OPERATION_ALLTOALLV,
		.in_place = in_place,
		.send = in_place ? receive : send,
		.receive = receive,
		.send_lengths = in_place ? receive_lengths : send_lengths,
		.send_offsets = in_place ? receive_offsets : send_offsets,
		.receive_lengths = receive_lengths,
		.receive_offsets = receive_offsets,
	};
}

/* A gatherv, or an allgatherv. */
static struct bcl_call gathered(enum bcl_operation operation, const void *send,
				size_t length, void *receive,
				const size_t *receive_lengths,
				const size_t *receive_offsets, unsigned root)
{
	return (struct bcl_call){
		.operation = operation,
		.in_place = send == BCL_IN_PLACE,
		.send = send == BCL_IN_PLACE ? NULL : send,
		.own = length,
		.receive = receive,
		.receive_lengths = receive_lengths,
		.receive_offsets = receive_offsets,
		.root = root,
	};
}

static struct bcl_call scattered(const void *send, const size_t *send_lengths,
				 const size_t *send_offsets, void *receive,
				 size_t length, unsigned root)
{
	return (struct bcl_call){
		.operation = BCL_OPERATION_SCATTERV,
		.in_place = receive == BCL_IN_PLACE,
		.receive = receive == BCL_IN_PLACE ? NULL : receive,
		.own = length,
		.send = send,
		.send_lengths = send_lengths,
		.send_offsets = send_offsets,
		.root = root,
	};
}

/* True if any length is not 0. */
static bool any(const size_t *lengths, unsigned n)
{
	while (n)
		if (lengths[--n])
			return true;
	return false;
}

/*
 * Rules for a gatherv, scatterv or allgatherv. `mine`: the own block, apart.
 * has_all: this member has `blocks`, with lengths and offsets, and its own
 * block is as long as they say.
 */
static bool is_own_right(const struct bcl_team *team, struct bcl_call *call,
			 const void *mine, bool has_all, const void *blocks,
			 const size_t *lengths, const size_t *offsets)
{
	if (!has_all)
		return !call->in_place && (mine || !call->own);
	if (!lengths || !offsets || (!blocks && any(lengths, team->size)))
		return false;
	if (call->in_place)
		call->own = lengths[team->rank];
	return call->own == lengths[team->rank] &&
	       (call->in_place || mine || !call->own);
}

static bool is_gatherv_right(const struct bcl_team *team, struct bcl_call *call,
			     bool gets)
{
	return is_own_right(team, call, call->send, gets, call->receive,
			    call->receive_lengths, call->receive_offsets);
}

static bool is_scatterv_right(const struct bcl_team *team,
			      struct bcl_call *call)
{
	return is_own_right(team, call, call->receive, team->rank == call->root,
			    call->send, call->send_lengths, call->send_offsets);
}

/* All members of an allgatherv know all lengths: how long is a block? */
static size_t average(const size_t *lengths, unsigned n)
{
	size_t sum = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		sum += lengths[i];
	return sum / n + (sum % n != 0);
}

static bool are_exchanged_right(const struct bcl_team *team,
				const struct bcl_call *call)
{
	const size_t *sent = call->send_lengths;
	const size_t *received = call->receive_lengths;

	return sent && call->send_offsets && received &&
	       call->receive_offsets &&
	       sent[team->rank] == received[team->rank] &&
	       (call->send || !any(sent, team->size)) &&
	       (call->receive || !any(received, team->size));
}

static bool are_various_right(const struct bcl_team *team,
			      struct bcl_call *call)
{
	if (call->root >= team->size)
		return false;
	switch (call->operation) {
	case BCL_OPERATION_GATHERV:
		return is_gatherv_right(team, call, team->rank == call->root);
	case BCL_OPERATION_SCATTERV:
		return is_scatterv_right(team, call);
	case BCL_OPERATION_ALLGATHERV:
		if (!is_gatherv_right(team, call, true))
			return false;
		call->length = average(call->receive_lengths, team->size);
		return true;
	default:
		return are_exchanged_right(team, call);
	}
}

/* Puts an address in place of BCL_IN_PLACE. Returns false if an argument is
 * wrong. */
static bcl_always_inline bool are_right(const struct bcl_team *team,
					struct bcl_call *call)
{
	unsigned rule = rules[call->operation];
	bool root = !(rule & HAS_ROOT) || call->root == team->rank;
	const void *in_place;

	if (bcl_unlikely(rule & VARIOUS))
		return are_various_right(team, call);
	if ((rule & HAS_ROOT && call->root >= team->size) ||
	    (rule & REDUCES && !call->reduction))
		return false;
	in_place = rule & ROOT_SENDS ? call->receive : call->send;
	if (bcl_unlikely(in_place == BCL_IN_PLACE)) {
		size_t own = rule & HAS_BLOCKS ? team->rank * call->length : 0;

		if (rule & HAS_BLOCKS && !root)
			return false;
		if (rule & ROOT_SENDS)
			call->receive = (unsigned char *)call->send + own;
		else
			call->send = call->receive + own;
	}
	if (!call->length)
		return true;
	return (call->send || (rule & ROOT_SENDS && !root)) &&
	       (call->receive || (rule & ROOT_RECEIVES && !root));
}

static bcl_always_inline enum bcl_status run_call(struct bcl_team *team,
						  struct bcl_call call)
{
	if (team && are_right(team, &call))
		return bcl_call_run(team, call);
	return bcl_call_refuse(team, call.operation, BCL_ERR_ARG);
}

static enum bcl_status start_call(struct bcl_team *team, struct bcl_call call,
				  struct bcl_adi_request **request)
{
	if (team && are_right(team, &call))
		return bcl_call_start(team, &call, request);
	return bcl_call_refuse(team, call.operation, BCL_ERR_ARG);
}

/* ---- the operations ------------------------------------------------------ */

enum bcl_status bcl_barrier(struct bcl_team *team)
{
	return bcl_call_run(team,
			    blocks(BCL_OPERATION_BARRIER, NULL, NULL, 0, 0));
}

enum bcl_status bcl_ibarrier(struct bcl_team *team,
			     struct bcl_adi_request **request)
{
	return start_call(team, blocks(BCL_OPERATION_BARRIER, NULL, NULL, 0, 0),
			  request);
}

enum bcl_status bcl_broadcast(struct bcl_team *team, void *buffer,
			      size_t length, unsigned root)
{
	return run_call(team, blocks(BCL_OPERATION_BROADCAST, buffer, buffer,
				     length, root));
}

enum bcl_status bcl_ibroadcast(struct bcl_team *team, void *buffer,
			       size_t length, unsigned root,
			       struct bcl_adi_request **request)
{
	return start_call(
		team,
		blocks(BCL_OPERATION_BROADCAST, buffer, buffer, length, root),
		request);
}

enum bcl_status bcl_reduce(struct bcl_team *team, const void *send,
			   void *receive, size_t count,
			   const struct bcl_reduction *reduction, unsigned root)
{
	return run_call(team, vector(BCL_OPERATION_REDUCE, send, receive, count,
				     reduction, root));
}

enum bcl_status bcl_ireduce(struct bcl_team *team, const void *send,
			    void *receive, size_t count,
			    const struct bcl_reduction *reduction,
			    unsigned root, struct bcl_adi_request **request)
{
	return start_call(team,
			  vector(BCL_OPERATION_REDUCE, send, receive, count,
				 reduction, root),
			  request);
}

enum bcl_status bcl_allreduce(struct bcl_team *team, const void *send,
			      void *receive, size_t count,
			      const struct bcl_reduction *reduction)
{
	return run_call(team, vector(BCL_OPERATION_ALLREDUCE, send, receive,
				     count, reduction, 0));
}

enum bcl_status bcl_iallreduce(struct bcl_team *team, const void *send,
			       void *receive, size_t count,
			       const struct bcl_reduction *reduction,
			       struct bcl_adi_request **request)
{
	return start_call(team,
			  vector(BCL_OPERATION_ALLREDUCE, send, receive, count,
				 reduction, 0),
			  request);
}

enum bcl_status bcl_gather(struct bcl_team *team, const void *send,
			   size_t length, void *receive, unsigned root)
{
	return run_call(team, blocks(BCL_OPERATION_GATHER, send, receive,
				     length, root));
}

enum bcl_status bcl_igather(struct bcl_team *team, const void *send,
			    size_t length, void *receive, unsigned root,
			    struct bcl_adi_request **request)
{
	return start_call(
		team, blocks(BCL_OPERATION_GATHER, send, receive, length, root),
		request);
}

enum bcl_status bcl_scatter(struct bcl_team *team, const void *send,
			    void *receive, size_t length, unsigned root)
{
	return run_call(team, blocks(BCL_OPERATION_SCATTER, send, receive,
				     length, root));
}

enum bcl_status bcl_iscatter(struct bcl_team *team, const void *send,
			     void *receive, size_t length, unsigned root,
			     struct bcl_adi_request **request)
{
	return start_call(
		team,
		blocks(BCL_OPERATION_SCATTER, send, receive, length, root),
		request);
}

enum bcl_status bcl_allgather(struct bcl_team *team, const void *send,
			      size_t length, void *receive)
{
	return run_call(team, blocks(BCL_OPERATION_ALLGATHER, send, receive,
				     length, 0));
}

enum bcl_status bcl_iallgather(struct bcl_team *team, const void *send,
			       size_t length, void *receive,
			       struct bcl_adi_request **request)
{
	return start_call(
		team, blocks(BCL_OPERATION_ALLGATHER, send, receive, length, 0),
		request);
}

enum bcl_status bcl_alltoall(struct bcl_team *team, const void *send,
			     void *receive, size_t length)
{
	return run_call(
		team, blocks(BCL_OPERATION_ALLTOALL, send, receive, length, 0));
}

enum bcl_status bcl_ialltoall(struct bcl_team *team, const void *send,
			      void *receive, size_t length,
			      struct bcl_adi_request **request)
{
	return start_call(
		team, blocks(BCL_OPERATION_ALLTOALL, send, receive, length, 0),
		request);
}

enum bcl_status bcl_alltoallv(struct bcl_team *team, const void *send,
			      const size_t *send_lengths,
			      const size_t *send_offsets, void *receive,
			      const size_t *receive_lengths,
			      const size_t *receive_offsets)
{
	return run_call(team, various(send, send_lengths, send_offsets, receive,
				      receive_lengths, receive_offsets));
}

enum bcl_status bcl_ialltoallv(struct bcl_team *team, const void *send,
			       const size_t *send_lengths,
			       const size_t *send_offsets, void *receive,
			       const size_t *receive_lengths,
			       const size_t *receive_offsets,
			       struct bcl_adi_request **request)
{
	return start_call(team,
			  various(send, send_lengths, send_offsets, receive,
				  receive_lengths, receive_offsets),
			  request);
}

enum bcl_status bcl_reduce_scatter(struct bcl_team *team, const void *send,
				   void *receive, size_t count,
				   const struct bcl_reduction *reduction)
{
	return run_call(team, vector(BCL_OPERATION_REDUCE_SCATTER, send,
				     receive, count, reduction, 0));
}

enum bcl_status bcl_ireduce_scatter(struct bcl_team *team, const void *send,
				    void *receive, size_t count,
				    const struct bcl_reduction *reduction,
				    struct bcl_adi_request **request)
{
	return start_call(team,
			  vector(BCL_OPERATION_REDUCE_SCATTER, send, receive,
				 count, reduction, 0),
			  request);
}

enum bcl_status bcl_scan(struct bcl_team *team, const void *send, void *receive,
			 size_t count, const struct bcl_reduction *reduction)
{
	return run_call(team, vector(BCL_OPERATION_SCAN, send, receive, count,
				     reduction, 0));
}

enum bcl_status bcl_iscan(struct bcl_team *team, const void *send,
			  void *receive, size_t count,
			  const struct bcl_reduction *reduction,
			  struct bcl_adi_request **request)
{
	return start_call(
		team,
		vector(BCL_OPERATION_SCAN, send, receive, count, reduction, 0),
		request);
}

enum bcl_status bcl_exscan(struct bcl_team *team, const void *send,
			   void *receive, size_t count,
			   const struct bcl_reduction *reduction)
{
	return run_call(team, vector(BCL_OPERATION_EXSCAN, send, receive, count,
				     reduction, 0));
}

enum bcl_status bcl_iexscan(struct bcl_team *team, const void *send,
			    void *receive, size_t count,
			    const struct bcl_reduction *reduction,
			    struct bcl_adi_request **request)
{
	return start_call(team,
			  vector(BCL_OPERATION_EXSCAN, send, receive, count,
				 reduction, 0),
			  request);
}

enum bcl_status bcl_gatherv(struct bcl_team *team, const void *send,
			    size_t length, void *receive,
			    const size_t *receive_lengths,
			    const size_t *receive_offsets, unsigned root)
{
	return run_call(team,
			gathered(BCL_OPERATION_GATHERV, send, length, receive,
				 receive_lengths, receive_offsets, root));
}

enum bcl_status bcl_igatherv(struct bcl_team *team, const void *send,
			     size_t length, void *receive,
			     const size_t *receive_lengths,
			     const size_t *receive_offsets, unsigned root,
			     struct bcl_adi_request **request)
{
	return start_call(team,
			  gathered(BCL_OPERATION_GATHERV, send, length, receive,
				   receive_lengths, receive_offsets, root),
			  request);
}

enum bcl_status bcl_scatterv(struct bcl_team *team, const void *send,
			     const size_t *send_lengths,
			     const size_t *send_offsets, void *receive,
			     size_t length, unsigned root)
{
	return run_call(team, scattered(send, send_lengths, send_offsets,
					receive, length, root));
}

enum bcl_status bcl_iscatterv(struct bcl_team *team, const void *send,
			      const size_t *send_lengths,
			      const size_t *send_offsets, void *receive,
			      size_t length, unsigned root,
			      struct bcl_adi_request **request)
{
	return start_call(team,
			  scattered(send, send_lengths, send_offsets, receive,
				    length, root),
			  request);
}

enum bcl_status bcl_allgatherv(struct bcl_team *team, const void *send,
			       size_t length, void *receive,
			       const size_t *receive_lengths,
			       const size_t *receive_offsets)
{
	return run_call(team,
			gathered(BCL_OPERATION_ALLGATHERV, send, length,
				 receive, receive_lengths, receive_offsets, 0));
}

enum bcl_status bcl_iallgatherv(struct bcl_team *team, const void *send,
				size_t length, void *receive,
				const size_t *receive_lengths,
				const size_t *receive_offsets,
				struct bcl_adi_request **request)
{
	return start_call(team,
			  gathered(BCL_OPERATION_ALLGATHERV, send, length,
				   receive, receive_lengths, receive_offsets,
				   0),
			  request);
}
