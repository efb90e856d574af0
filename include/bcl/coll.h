/* SPDX-License-Identifier: MIT */
/*
 * Collective operations over teams of ranks.
 *
 * Every member of a team calls the same operations in the same order with the
 * same lengths, root and reduction. Each operation has three forms: bcl_x()
 * blocks until the caller's part is done; bcl_ix() starts the operation and
 * gives a request for bcl_adi_test() and bcl_adi_wait(); bcl_x_init() makes a
 * persistent operation, which runs many times. The buffers belong to the
 * library until the caller's part is done. The forms match each other: some
 * members may start an operation in which other members block. A team may have
 * 1,024 operations pending. The next one is refused with AGAIN, and so is the
 * 8,192nd operation after one that is still pending. A completed operation
 * tells that the other members have called it only if it is a barrier, or needs
 * data of every member.
 *
 * When a member dies, every operation of the team that is pending or called
 * later, and depends on the dead member, ends with a LOSS_PEER status; none
 * waits for ever. Afterwards the team serves only bcl_team_shrink() and
 * bcl_team_create(), with which the members that live make a team without the
 * dead one, bcl_team_agree() and bcl_team_free().
 * bcl_peer_info() of the peers that bcl_adi_peer() gives says which members are
 * dead.
 *
 * The team is lost in the same way, with ARG, when a member's call is refused
 * for a wrong argument, since other members may have made theirs; and with
 * TRUNCATED when members give different lengths to one operation, or call
 * different operations. A member detects this when it gets data of another
 * length than its own call says, or has waited in vain for a 32nd part of
 * BCL_PEER_TIMEOUT or somewhat longer. No member writes more than its own call
 * says. The log of the member that detects the difference names the operation
 * or the sender, both ranks and both lengths. Members that had completed the
 * operation by then learn of the loss from the next operation.
 *
 * With BCL_CHECK=on at the first member of the world the members of all teams
 * compare their calls before each operation. If the calls differ in operation,
 * lengths, root, operator, type or distance, or if a block that a member sends
 * is not the block that the receiver expects, the operation ends with ARG at
 * all members and writes into no buffer, and the log says how the calls differ.
 * This takes messages for each operation.
 *
 * Lengths are in bytes, counts in elements. Buffers may begin anywhere, but
 * elements that are combined must be aligned as apply() needs them. Arrays of
 * lengths, offsets, counts and ranks belong to the caller again when the
 * function returns. Where send
 * is BCL_IN_PLACE the contribution is taken from where the result goes: in a
 * gather only at the root, in other operations at any member. In a scatter the
 * root's receive may be BCL_IN_PLACE: the root's block stays where it is in
 * send. Otherwise send and receive buffers do not overlap, but may be parts of
 * one array.
 * Errors: ARG, NOMEM, AGAIN, FORKED, CANCELLED, TRUNCATED, LOSS_PEER statuses.
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
 * Teams. bcl_team_world() gives the team of all ranks of the job.
 * bcl_team_create() makes a team of n members of a parent. `ranks` are their
 * ranks in the parent, in the order of the new ranks. Exactly these members
 * call bcl_team_create(), which is collective and blocks. `id` (0..1023)
 * distinguishes teams that are created at the same time. The parent may be
 * lost. The id of a creation that failed is used up, unless it failed by ARG.
 * ARG: a rank is there twice, is not of the parent, or the caller's rank is
 * missing.
 */
BCL_API enum bcl_status bcl_team_world(struct bcl_adi *adi,
				       struct bcl_team **team);
BCL_API enum bcl_status bcl_team_create(struct bcl_team *parent,
					const unsigned *ranks, unsigned n,
					unsigned id, struct bcl_team **team);
/*
 * Makes a team of n members of a parent as bcl_team_create() does, but without
 * a message: each member derives the team when it likes, and none waits for
 * another. Operations of the team match those of other members that have given
 * the same ranks and the same id (0..2046), and use messages, also inside a
 * node. The id is the caller's to choose: as long as the team is not freed at a
 * member, this member is in no other derived team of this id. The id of a
 * derived team that was lost is used up. bcl_team_free() of a derived team is
 * not collective: it frees the caller's side, whose operations must be
 * complete. Errors: as bcl_team_create(), without blocking.
 */
BCL_API enum bcl_status bcl_team_derive(struct bcl_team *parent,
					const unsigned *ranks, unsigned n,
					unsigned id, struct bcl_team **team);
/*
 * Teams of all members of a parent, which call the function like a collective
 * operation; if the parent is lost, so is the new team. The call blocks.
 *  bcl_team_split()       the members of one colour, in the order of keys, and
 *                         of the parent's ranks; *team is NULL at members of a
 *                         negative colour
 *  bcl_team_dup()         all members, with the same ranks
 *  bcl_team_split_node()  the members of the own node, in the order of ranks
 *  bcl_team_split_place() in the order of nodes: the first member of each node,
 *                         or the second, and so on, as the caller is
 */
BCL_API enum bcl_status bcl_team_split(struct bcl_team *parent, int colour,
				       int key, struct bcl_team **team);
BCL_API enum bcl_status bcl_team_dup(struct bcl_team *parent,
				     struct bcl_team **team);
BCL_API enum bcl_status bcl_team_split_node(struct bcl_team *parent,
					    struct bcl_team **team);
BCL_API enum bcl_status bcl_team_split_place(struct bcl_team *parent,
					     struct bcl_team **team);
/*
 * Agreement of the members that live, also in a lost team, and although further
 * members die meanwhile. All members that live call these functions, equally
 * often; no other member needs to. A call waits for a dead member until its
 * death is known, about BCL_PEER_TIMEOUT for each. It needs as many short
 * messages between all members as an alltoall, and size * size / 2 bytes of
 * memory, for which the call waits if there is none.
 *
 * bcl_team_agree() replaces *flags by the bitwise AND of the flags of all
 * members that live. Flags of a member that dies during the call are in the
 * result or not. All members that get OK get the same result, also those that
 * die after that.
 *
 * bcl_team_shrink() makes a team of the members that live, in the order of
 * their ranks. No member of the new team was lost to another by the end of the
 * call, as far as these members know; if a further member dies during the call,
 * the others begin again without it. All members get the same team, or all the
 * same error. A member that waits in an operation of the parent does not take
 * part: if no member has died, bcl_team_cancel() comes first.
 *
 * DEAD: other members have lost this one, although it lives, and go on without
 * it. Later calls for this team give DEAD, too. A network may break so that
 * each member is lost to some other; then groups of members may go on without
 * each other. NOMEM of bcl_team_shrink(): no memory, or no number for the team,
 * at some member. UNREACHABLE of bcl_team_shrink(): members cannot make a team,
 * although none of them is dead.
 */
BCL_API enum bcl_status bcl_team_agree(struct bcl_team *team, uint64_t *flags);
BCL_API enum bcl_status bcl_team_shrink(struct bcl_team *lost,
					struct bcl_team **team);
/*
 * Ends all operations of the team, also the pending ones, with CANCELLED: here
 * at once, and at the other members when they hear of the call. After that the
 * team is like a team that has lost a member.
 */
BCL_API enum bcl_status bcl_team_cancel(struct bcl_team *team);
/* Frees the team. Collective, unless a member has died or the team is derived;
 * all operations must be complete. */
BCL_API void bcl_team_free(struct bcl_team *team);
BCL_API unsigned bcl_team_rank(const struct bcl_team *team);
BCL_API unsigned bcl_team_size(const struct bcl_team *team);
/* Gives the place of a member in the hierarchy: the number of its node, and
 * how many members the node has. */
BCL_API void bcl_team_node(const struct bcl_team *team, unsigned rank,
			   unsigned *node, unsigned *members);

/*
 * How elements are combined. apply() does inout[i] = in[i] op inout[i] for
 * `count` elements of `element` bytes; the library calls apply() for any part
 * of a vector. The operator is associative: the library chooses the brackets by
 * length and team, so the rounding of floating-point sums may differ. Ranks are
 * combined in order, with `in` of the lower ranks; if the operator is
 * commutative the order is free. All members that get a result get the same
 * bits. Each run of one version of the library also gives the same bits, with
 * the same ranks on the same nodes, as many processors for them, the same
 * settings and the same operations: brackets and order depend neither on
 * measurements nor on the order of arrival. With BCL_COLL_FIXED=on the bits do
 * not depend on nodes and processors either.
 * The caller leaves the reduction unchanged until the operation is
 * over. The struct does not grow, because each operation reads it.
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
	/* The bitwise ones: integers only. The logical ones: BCL_BOOL, too. */
	BCL_BAND,
	BCL_BOR,
	BCL_BXOR,
	BCL_LAND,
	BCL_LOR,
	BCL_LXOR,
	BCL_MINLOC, /* these two: values with an index only */
	BCL_MAXLOC,
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
	BCL_LONG_DOUBLE,
	BCL_BOOL, /* _Bool, in C++ bool */
	/* C's complex numbers: the real part, then the imaginary part */
	BCL_COMPLEX_FLOAT,
	BCL_COMPLEX_DOUBLE,
	BCL_COMPLEX_LONG_DOUBLE,
	/* the structs below: struct bcl_float_int and so on */
	BCL_FLOAT_INT,
	BCL_DOUBLE_INT,
	BCL_LONG_INT,
	BCL_INT_INT,
	BCL_SHORT_INT,
	BCL_LONG_DOUBLE_INT,
};

/* A value, and the index of the place where the value was found. The struct
 * does not grow. */
struct bcl_float_int {
	float value;
	int index;
};
/* The same; does not grow. */
struct bcl_double_int {
	double value;
	int index;
};
/* The same; does not grow. */
struct bcl_long_int {
	long value;
	int index;
};
/* The same; does not grow. */
struct bcl_int_int {
	int value;
	int index;
};
/* The same; does not grow. */
struct bcl_short_int {
	short value;
	int index;
};
/* The same; does not grow. */
struct bcl_long_double_int {
	long double value;
	int index;
};

/*
 * Returns a builtin reduction; NULL: the type does not have the operator. All
 * builtin reductions are commutative.
 *
 * Integers wrap around. Complex numbers have only the sum and the product, and
 * the product is (ac - bd) + (ad + bc) i also where a part is infinite or NaN.
 *
 * The minimum or maximum of real numbers is a NaN if any of them is a NaN.
 * BCL_MINLOC and BCL_MAXLOC give the least or greatest value together with its
 * index. Among equal values they take the lowest index, and they take a NaN
 * before any number. The order of combination decides which of several NaN
 * results, and the sign of a zero that is the minimum or maximum of zeros of
 * both signs. Padding inside elements is not combined, and may be anything.
 */
BCL_API const struct bcl_reduction *bcl_reduction(enum bcl_op op,
						  enum bcl_type type);

/* No member leaves the barrier before all members have entered. */
BCL_API enum bcl_status bcl_barrier(struct bcl_team *team);
/* The root's buffer goes to all members. */
BCL_API enum bcl_status bcl_broadcast(struct bcl_team *team, void *buffer,
				      size_t length, unsigned root);
/* `count` elements of each member are combined; the root gets the result. */
BCL_API enum bcl_status bcl_reduce(struct bcl_team *team, const void *send,
				   void *receive, size_t count,
				   const struct bcl_reduction *reduction,
				   unsigned root);
/* The same; every member gets the result. */
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
/* Block i of send goes to member i; block i of receive comes from member i.
 * send, receive: size x length bytes each. */
BCL_API enum bcl_status bcl_alltoall(struct bcl_team *team, const void *send,
				     void *receive, size_t length);
/* The same with arrays of `size` lengths and offsets, in bytes. */
BCL_API enum bcl_status bcl_alltoallv(struct bcl_team *team, const void *send,
				      const size_t *send_lengths,
				      const size_t *send_offsets, void *receive,
				      const size_t *receive_lengths,
				      const size_t *receive_offsets);
/*
 * The vectors have `size` blocks of `count` elements; member i gets the result
 * for block i. In place the vector is in receive, and the block goes to its
 * beginning; the rest of receive is the caller's again.
 */
BCL_API enum bcl_status
bcl_reduce_scatter(struct bcl_team *team, const void *send, void *receive,
		   size_t count, const struct bcl_reduction *reduction);
/* Member i gets the elements of members 0 to i combined, always in the order
 * of ranks. */
BCL_API enum bcl_status bcl_scan(struct bcl_team *team, const void *send,
				 void *receive, size_t count,
				 const struct bcl_reduction *reduction);
/* Member i gets the elements of members 0 to i - 1 combined. Member 0 gets
 * nothing: its receive stays as it is. */
BCL_API enum bcl_status bcl_exscan(struct bcl_team *team, const void *send,
				   void *receive, size_t count,
				   const struct bcl_reduction *reduction);
/*
 * Gather, scatter and allgather of blocks of different lengths. Arrays of
 * `size` lengths and offsets in bytes say where the blocks lie; `length` is
 * that of the own block, which is ignored in place. Only the root needs the
 * arrays, and blocks that do not overlap; in an allgatherv all members, with
 * the same lengths.
 */
BCL_API enum bcl_status bcl_gatherv(struct bcl_team *team, const void *send,
				    size_t length, void *receive,
				    const size_t *receive_lengths,
				    const size_t *receive_offsets,
				    unsigned root);
BCL_API enum bcl_status bcl_scatterv(struct bcl_team *team, const void *send,
				     const size_t *send_lengths,
				     const size_t *send_offsets, void *receive,
				     size_t length, unsigned root);
BCL_API enum bcl_status bcl_allgatherv(struct bcl_team *team, const void *send,
				       size_t length, void *receive,
				       const size_t *receive_lengths,
				       const size_t *receive_offsets);
/*
 * Reduce-scatter of blocks of different lengths: the vectors have counts[i]
 * elements for member i, in the order of ranks, and member i gets the result
 * for its block. All members give the same `size` counts; each may be 0, and a
 * member of count 0 needs no receive. In place the vector is in receive, and
 * the own block goes to its beginning; the rest of receive is the caller's
 * again.
 */
BCL_API enum bcl_status
bcl_reduce_scatterv(struct bcl_team *team, const void *send, void *receive,
		    const size_t *counts,
		    const struct bcl_reduction *reduction);
/*
 * Each member's block goes to the member `distance` ranks up, circularly, and
 * receive gets the block of the member as many ranks down. All members give the
 * same distance, which may be negative, 0, or more than the size. In place the
 * block is replaced. With a length of 0 nothing happens.
 */
BCL_API enum bcl_status bcl_shift(struct bcl_team *team, const void *send,
				  void *receive, size_t length, int distance);

/* A list of blocks of a buffer: block i has lengths[i] bytes at offsets[i], and
 * goes to or comes from the member ranks[i]. If n is 0 the arrays are not
 * looked at. The struct does not grow, because each operation reads it. */
struct bcl_blocks {
	unsigned n;
	const unsigned *ranks;
	const size_t *lengths, *offsets;
};

/*
 * Exchange with members of a list, such as the neighbours of a part of a grid.
 * All members of the team call it, each with lists of its own, also a member
 * whose lists are empty. `to` says where the blocks of send go, `from` where
 * those that are received come from. A rank may be in a list several times, and
 * may be the caller's own: the k-th block from one member to another is the
 * k-th block there from this member, with the same length. Blocks of 0 bytes
 * are not sent, and their offsets are not used. Blocks that are sent may
 * overlap each other; blocks that are received overlap no block. There is no
 * BCL_IN_PLACE.
 */
BCL_API enum bcl_status bcl_exchange(struct bcl_team *team, const void *send,
				     const struct bcl_blocks *to, void *receive,
				     const struct bcl_blocks *from);

/* The forms that do not block. */
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
BCL_API enum bcl_status
bcl_ireduce_scatter(struct bcl_team *team, const void *send, void *receive,
		    size_t count, const struct bcl_reduction *reduction,
		    struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_iscan(struct bcl_team *team, const void *send,
				  void *receive, size_t count,
				  const struct bcl_reduction *reduction,
				  struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_iexscan(struct bcl_team *team, const void *send,
				    void *receive, size_t count,
				    const struct bcl_reduction *reduction,
				    struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_igatherv(struct bcl_team *team, const void *send,
				     size_t length, void *receive,
				     const size_t *receive_lengths,
				     const size_t *receive_offsets,
				     unsigned root,
				     struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_iscatterv(struct bcl_team *team, const void *send,
				      const size_t *send_lengths,
				      const size_t *send_offsets, void *receive,
				      size_t length, unsigned root,
				      struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_iallgatherv(struct bcl_team *team, const void *send,
					size_t length, void *receive,
					const size_t *receive_lengths,
					const size_t *receive_offsets,
					struct bcl_adi_request **request);
BCL_API enum bcl_status
bcl_ireduce_scatterv(struct bcl_team *team, const void *send, void *receive,
		     const size_t *counts,
		     const struct bcl_reduction *reduction,
		     struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_ishift(struct bcl_team *team, const void *send,
				   void *receive, size_t length, int distance,
				   struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_iexchange(struct bcl_team *team, const void *send,
				      const struct bcl_blocks *to,
				      void *receive,
				      const struct bcl_blocks *from,
				      struct bcl_adi_request **request);

/*
 * Persistent operations: bcl_x_init() takes the arguments of bcl_x(), checks
 * them, chooses the algorithm and makes the steps, all once. It is local: it
 * sends nothing, waits for nobody, and has no place in the order of operations.
 * Afterwards bcl_persistent_run() does what bcl_x() would do with the present
 * contents of the buffers, and bcl_persistent_start() what bcl_ix() would do.
 * Neither checks or builds anything or allocates memory for the operation;
 * run() is the fastest form of a short operation.
 *
 * Each run and each start is an operation of the team like any other: all
 * members make it at the same place in the order of operations, in any of the
 * three forms. The buffers belong to the library only while the operation is
 * pending. The buffers and the reduction stay valid until
 * bcl_persistent_free(); arrays of lengths, offsets, counts and ranks need not
 * stay. One thread at a time uses an operation.
 *
 * An operation that was started is pending until its request is complete. As
 * long as it is pending, run() and start() return AGAIN, and nothing has
 * happened; another persistent operation with the same arguments can be
 * started. bcl_x_init() that is refused for a wrong argument, or for want of
 * memory, loses the team as bcl_x() would, since other members may run theirs.
 * AGAIN from bcl_x_init(): the team has too many operations pending.
 *
 * After the team is lost, run() and start() return the status of the loss, and
 * a pending operation ends with it. When the team is freed first, the
 * operation can only be freed: run() and start() return ARG. In a forked child
 * they return FORKED, and bcl_persistent_free() does nothing.
 */
struct bcl_persistent;

/* Blocks until the caller's part is done. */
BCL_API enum bcl_status bcl_persistent_run(struct bcl_persistent *operation);
/*
 * *request: for bcl_adi_test() and bcl_adi_wait(); NULL if the operation is
 * over. This may be so for a short operation inside a node, at the member that
 * starts last, and somewhat before: start() looks a few times for the others.
 */
BCL_API enum bcl_status bcl_persistent_start(struct bcl_persistent *operation,
					     struct bcl_adi_request **request);
/* Local. A pending operation goes on, and its request stays valid. */
BCL_API void bcl_persistent_free(struct bcl_persistent *operation);

BCL_API enum bcl_status bcl_barrier_init(struct bcl_team *team,
					 struct bcl_persistent **operation);
BCL_API enum bcl_status bcl_broadcast_init(struct bcl_team *team, void *buffer,
					   size_t length, unsigned root,
					   struct bcl_persistent **operation);
BCL_API enum bcl_status bcl_reduce_init(struct bcl_team *team, const void *send,
					void *receive, size_t count,
					const struct bcl_reduction *reduction,
					unsigned root,
					struct bcl_persistent **operation);
BCL_API enum bcl_status
bcl_allreduce_init(struct bcl_team *team, const void *send, void *receive,
		   size_t count, const struct bcl_reduction *reduction,
		   struct bcl_persistent **operation);
BCL_API enum bcl_status bcl_gather_init(struct bcl_team *team, const void *send,
					size_t length, void *receive,
					unsigned root,
					struct bcl_persistent **operation);
BCL_API enum bcl_status bcl_scatter_init(struct bcl_team *team,
					 const void *send, void *receive,
					 size_t length, unsigned root,
					 struct bcl_persistent **operation);
BCL_API enum bcl_status bcl_allgather_init(struct bcl_team *team,
					   const void *send, size_t length,
					   void *receive,
					   struct bcl_persistent **operation);
BCL_API enum bcl_status bcl_alltoall_init(struct bcl_team *team,
					  const void *send, void *receive,
					  size_t length,
					  struct bcl_persistent **operation);
BCL_API enum bcl_status
bcl_alltoallv_init(struct bcl_team *team, const void *send,
		   const size_t *send_lengths, const size_t *send_offsets,
		   void *receive, const size_t *receive_lengths,
		   const size_t *receive_offsets,
		   struct bcl_persistent **operation);
BCL_API enum bcl_status
bcl_reduce_scatter_init(struct bcl_team *team, const void *send, void *receive,
			size_t count, const struct bcl_reduction *reduction,
			struct bcl_persistent **operation);
BCL_API enum bcl_status bcl_scan_init(struct bcl_team *team, const void *send,
				      void *receive, size_t count,
				      const struct bcl_reduction *reduction,
				      struct bcl_persistent **operation);
BCL_API enum bcl_status bcl_exscan_init(struct bcl_team *team, const void *send,
					void *receive, size_t count,
					const struct bcl_reduction *reduction,
					struct bcl_persistent **operation);
BCL_API enum bcl_status
bcl_gatherv_init(struct bcl_team *team, const void *send, size_t length,
		 void *receive, const size_t *receive_lengths,
		 const size_t *receive_offsets, unsigned root,
		 struct bcl_persistent **operation);
BCL_API enum bcl_status
bcl_scatterv_init(struct bcl_team *team, const void *send,
		  const size_t *send_lengths, const size_t *send_offsets,
		  void *receive, size_t length, unsigned root,
		  struct bcl_persistent **operation);
BCL_API enum bcl_status bcl_allgatherv_init(struct bcl_team *team,
					    const void *send, size_t length,
					    void *receive,
					    const size_t *receive_lengths,
					    const size_t *receive_offsets,
					    struct bcl_persistent **operation);
BCL_API enum bcl_status
bcl_reduce_scatterv_init(struct bcl_team *team, const void *send, void *receive,
			 const size_t *counts,
			 const struct bcl_reduction *reduction,
			 struct bcl_persistent **operation);
BCL_API enum bcl_status bcl_shift_init(struct bcl_team *team, const void *send,
				       void *receive, size_t length,
				       int distance,
				       struct bcl_persistent **operation);
BCL_API enum bcl_status bcl_exchange_init(struct bcl_team *team,
					  const void *send,
					  const struct bcl_blocks *to,
					  void *receive,
					  const struct bcl_blocks *from,
					  struct bcl_persistent **operation);

/*
 * Operations without a job, for programs that have their own way to carry
 * messages from member to member. The operations block. A member that only
 * sends in an operation returns whether other members have begun the operation
 * or not. Members may run several operations in different orders, if the
 * program uses `arg` to keep the messages of different operations apart.
 */
struct bcl_carrier;

struct bcl_carrier_options {
	size_t struct_size; /* sizeof(struct bcl_carrier_options) */
	unsigned rank, size;
	struct bcl_port *port; /* counts the operations (bcl_counters()) */

	/*
	 * arg: of the operation. Messages from one member to another in one
	 * operation arrive in order. send() need not wait until the receiver
	 * has the message. receive() waits for a message of this length. A
	 * status other than OK ends the operation.
	 */
	enum bcl_status (*send)(void *arg, unsigned rank, const void *data,
				size_t length);
	enum bcl_status (*receive)(void *arg, unsigned rank, void *data,
				   size_t length);
};

/* Makes a carrier; the library copies *options. The caller frees the carrier
 * with bcl_carrier_close(). Errors: ARG, NOMEM, FORKED. */
BCL_API enum bcl_status
bcl_carrier_open(const struct bcl_carrier_options *options,
		 struct bcl_carrier **carrier);
BCL_API void bcl_carrier_close(struct bcl_carrier *carrier);

/* `arg` is passed to send() and receive(). Errors: ARG, NOMEM, FORKED, or
 * the status of send() or receive(). */
BCL_API enum bcl_status bcl_carrier_barrier(struct bcl_carrier *carrier,
					    void *arg);
/*
 * Runs along a binomial tree: at most ceil(log2(size)) messages one after
 * another. send may be receive; only the root needs receive. The operator must
 * be commutative (else ARG).
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
