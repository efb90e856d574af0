/* SPDX-License-Identifier: MIT */
/*
 * Collective operations over teams of ranks.
 *
 * Every member of a team calls the same operations in the same order with the
 * same lengths, root and reduction. Each operation has two forms: bcl_x()
 * blocks until the caller's part is done; bcl_ix() starts it and gives a
 * request for bcl_adi_test() and bcl_adi_wait(). The buffers are the library's
 * until then. The forms match each other: some members may start what others
 * block in. 1,024 operations of a team can be under way at a time; one more is
 * refused with AGAIN, and so is the 8,192nd after one that is under way. Only a
 * barrier, and what needs everybody's data, says that the others have come.
 *
 * When a member dies, every operation of the team that is under way or called
 * later ends with a LOSS_PEER status, wherever it depends on the dead; none
 * waits for ever. The team is of no use afterwards but for bcl_team_create(),
 * by which those who live make a team without the dead, and bcl_team_free().
 * Who is dead bcl_peer_info() says of the peers that bcl_adi_peer() gives.
 *
 * The same happens, with ARG, when a member's call is refused for a wrong
 * argument, since others may have made theirs; and with TRUNCATED when members
 * give different lengths to one operation, or call different ones: who gets data
 * of another length than its own call says sees it, or who waits in vain for a
 * 32nd part of BCL_PEER_TIMEOUT or some more. Nobody writes more than its own
 * call says. The log of the member that sees it names the operation or the
 * sender, both ranks and both lengths. Members for whom the operation was over
 * by then learn it from the next one.
 *
 * Lengths are in bytes, counts in elements. Buffers may begin anywhere, but
 * elements that are combined must be aligned as apply() needs them. Where send
 * is BCL_IN_PLACE the contribution is taken from where the result goes: in a
 * gather at the root, else at any member. In a scatter it is the root's
 * receive that may be BCL_IN_PLACE: its block stays where it is in send.
 * Otherwise what is sent and what is received do not overlap, but may be parts
 * of one array.
 */
#ifndef BCL_COLL_H
#define BCL_COLL_H

#include <bcl/adi.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bcl_team;

#define BCL_IN_PLACE ((void *)-1)

/*
 * Teams. `world` is all ranks of the job. `create` makes a team of n members
 * of a parent, given by their ranks in the parent, in the order of their new
 * ranks; called by exactly those members; collective and blocking. `id`
 * (0..1023) tells apart teams that are created at the same time. ARG: a rank is
 * there twice, is not of the parent, or the own one is not there. The parent
 * may be lost; the id of a creation that failed elsewhere than by ARG is used
 * up.
 */
BCL_API enum bcl_status bcl_team_world(struct bcl_adi *adi,
				       struct bcl_team **team);
BCL_API enum bcl_status bcl_team_create(struct bcl_team *parent,
					const unsigned *ranks, unsigned n,
					unsigned id, struct bcl_team **team);
/* Its operations, those that are under way too, end with CANCELLED here at once
 * and at all members as they hear of it. It is as one that lost a member then. */
BCL_API enum bcl_status bcl_team_cancel(struct bcl_team *team);
/* Collective; all operations must be complete. */
BCL_API void bcl_team_free(struct bcl_team *team);
BCL_API unsigned bcl_team_rank(const struct bcl_team *team);
BCL_API unsigned bcl_team_size(const struct bcl_team *team);
/* The place of a member in the hierarchy: the number of its node, and how
 * many members that node has. */
BCL_API void bcl_team_node(const struct bcl_team *team, unsigned rank,
			   unsigned *node, unsigned *members);

/*
 * How elements are combined: apply() does inout[i] = in[i] op inout[i] for
 * count elements of `element` bytes, any part of a vector at a time. The
 * operator is associative: the library chooses the brackets by length and team,
 * so sums of floating-point numbers may be rounded differently. Ranks are
 * combined in order, `in` being of the lower ranks; if the operator is
 * commutative the order is free. All members that get a result get the same
 * bits. So does each run of one version of the library with the same ranks on
 * the same nodes, the same settings and the same operations: brackets and order
 * depend on nothing that is measured, nor on who comes first. The operator
 * stays as it is until the operation is over.
 */
struct bcl_reduction {
	size_t element;
	bool commutative;
	void (*apply)(const void *in, void *inout, size_t count, void *arg);
	void *arg;
};

enum bcl_op {
	BCL_SUM,
	BCL_PROD,
	BCL_MIN,
	BCL_MAX,
	BCL_BAND, /* the bitwise and logical ones: integers only */
	BCL_BOR,
	BCL_BXOR,
	BCL_LAND,
	BCL_LOR,
	BCL_LXOR,
};

enum bcl_type {
	BCL_INT8,
	BCL_UINT8,
	BCL_INT16,
	BCL_UINT16,
	BCL_INT32,
	BCL_UINT32,
	BCL_INT64,
	BCL_UINT64,
	BCL_FLOAT,
	BCL_DOUBLE,
};

/* A builtin reduction; NULL if the type does not have the operator. */
BCL_API const struct bcl_reduction *bcl_reduction(enum bcl_op op,
						  enum bcl_type type);

BCL_API enum bcl_status bcl_barrier(struct bcl_team *team);
BCL_API enum bcl_status bcl_broadcast(struct bcl_team *team, void *buffer,
				      size_t length, unsigned root);
BCL_API enum bcl_status bcl_reduce(struct bcl_team *team, const void *send,
				   void *receive, size_t count,
				   const struct bcl_reduction *reduction,
				   unsigned root);
BCL_API enum bcl_status bcl_allreduce(struct bcl_team *team, const void *send,
				      void *receive, size_t count,
				      const struct bcl_reduction *reduction);
/* receive at the root: size x length bytes, in rank order. */
BCL_API enum bcl_status bcl_gather(struct bcl_team *team, const void *send,
				   size_t length, void *receive, unsigned root);
/* send at the root: size x length bytes, in rank order. */
BCL_API enum bcl_status bcl_scatter(struct bcl_team *team, const void *send,
				    void *receive, size_t length,
				    unsigned root);
/* receive: size x length bytes. */
BCL_API enum bcl_status bcl_allgather(struct bcl_team *team, const void *send,
				      size_t length, void *receive);
/* send, receive: size x length bytes each. */
BCL_API enum bcl_status bcl_alltoall(struct bcl_team *team, const void *send,
				     void *receive, size_t length);
/* Arrays of `size` lengths and offsets, in bytes. */
BCL_API enum bcl_status bcl_alltoallv(struct bcl_team *team, const void *send,
				      const size_t *send_lengths,
				      const size_t *send_offsets, void *receive,
				      const size_t *receive_lengths,
				      const size_t *receive_offsets);

BCL_API enum bcl_status bcl_ibarrier(struct bcl_team *team,
				     struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_ibroadcast(struct bcl_team *team, void *buffer,
				       size_t length, unsigned root,
				       struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_ireduce(struct bcl_team *team, const void *send,
				    void *receive, size_t count,
				    const struct bcl_reduction *reduction,
				    unsigned root,
				    struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_iallreduce(struct bcl_team *team, const void *send,
				       void *receive, size_t count,
				       const struct bcl_reduction *reduction,
				       struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_igather(struct bcl_team *team, const void *send,
				    size_t length, void *receive, unsigned root,
				    struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_iscatter(struct bcl_team *team, const void *send,
				     void *receive, size_t length,
				     unsigned root,
				     struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_iallgather(struct bcl_team *team, const void *send,
				       size_t length, void *receive,
				       struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_ialltoall(struct bcl_team *team, const void *send,
				      void *receive, size_t length,
				      struct bcl_adi_request **request);
BCL_API enum bcl_status
bcl_ialltoallv(struct bcl_team *team, const void *send,
	       const size_t *send_lengths, const size_t *send_offsets,
	       void *receive, const size_t *receive_lengths,
	       const size_t *receive_offsets, struct bcl_adi_request **request);

/*
 * Without a job, for programs that have ways of their own from member to
 * member: they carry the messages. Operations block, but who only sends in one
 * goes on, whether others have begun it or not; and members may run several in
 * different orders, if what is carried is told apart by `arg`.
 */
struct bcl_carrier;

struct bcl_carrier_options {
	size_t struct_size; /* sizeof(struct bcl_carrier_options) */
	unsigned rank, size;
	struct bcl_port *port; /* that counts the operations */

	/*
	 * arg: of the operation. What one member sends to another in one
	 * operation comes in order. receive() waits; other than OK, what they
	 * return ends the operation.
	 */
	enum bcl_status (*send)(void *arg, unsigned rank, const void *data,
				size_t length);
	enum bcl_status (*receive)(void *arg, unsigned rank, void *data,
				   size_t length);
};

/* ARG, NOMEM. */
BCL_API enum bcl_status
bcl_carrier_open(const struct bcl_carrier_options *options,
		 struct bcl_carrier **carrier);
BCL_API void bcl_carrier_close(struct bcl_carrier *carrier);

BCL_API enum bcl_status bcl_carrier_barrier(struct bcl_carrier *carrier,
					    void *arg);
/* Along a binomial tree: at most ceil(log2(size)) messages one after another.
 * send may be receive, which only the root needs. The operator is commutative.
 */
BCL_API enum bcl_status
bcl_carrier_reduce(struct bcl_carrier *carrier, void *arg, const void *send,
		   void *receive, size_t count,
		   const struct bcl_reduction *reduction, unsigned root);
BCL_API enum bcl_status bcl_carrier_gather(struct bcl_carrier *carrier,
					   void *arg, const void *send,
					   size_t length, void *receive,
					   unsigned root);
BCL_API enum bcl_status bcl_carrier_scatter(struct bcl_carrier *carrier,
					    void *arg, const void *send,
					    void *receive, size_t length,
					    unsigned root);

#ifdef __cplusplus
}
#endif

#endif
