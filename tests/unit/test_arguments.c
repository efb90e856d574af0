/* SPDX-License-Identifier: MIT */
/*
 * Wrong arguments and forked children, for each public function. A function
 * must answer ARG to a NULL that is not allowed and to a number out of range. A
 * function must answer FORKED to each call in a forked child. A function
 * without a status must do nothing. The ranks of a job make all these calls,
 * and afterwards the results of the ranks must still be right.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcl/boot.h>
#include <bcl/coll.h>

#include "tests/unit/need.h"
#include "tests/unit/unit.h"
#include "transport/boot/fork.h"

enum {
	BIG = BCL_MESSAGE_MAX + 1,
};

/* The objects of a rank, as arguments for all functions. */
static struct {
	struct bcl_adi *adi;
	struct bcl_adi_request *request; /* a posted receive */
	struct bcl_adi_message *message; /* from a matched probe */
	struct bcl_adi_status status;
	struct bcl_boot *boot;
	struct bcl_boot_space space;
	struct bcl_carrier *carrier;
	struct bcl_carrier_options carry;
	struct bcl_context *context;
	struct bcl_memory *memory;
	struct bcl_peer *peer;	   /* the port's peer for itself */
	struct bcl_peer *job_peer; /* rank 0, of the job's port */
	struct bcl_persistent *operation;
	struct bcl_port *port;
	struct bcl_team *team;
	uint8_t key[BCL_KEY_MAX], token[BCL_KEY_MAX], address[BCL_ADDRESS_MAX];
	size_t length; /* of the address */
	unsigned rank;
} my;

/* Room for the results of the calls. */
static struct {
	struct bcl_adi *adi;
	struct bcl_adi_request *request;
	struct bcl_adi_message *message;
	struct bcl_boot *boot;
	struct bcl_carrier *carrier;
	struct bcl_context *context;
	struct bcl_memory *memory;
	struct bcl_peer *peer;
	struct bcl_persistent *operation;
	struct bcl_port *port;
	struct bcl_team *team;
	struct bcl_event event;
	struct bcl_peer_info info;
	struct bcl_counter counters[1];
	struct bcl_setting settings[1];
	void *address;
	uint8_t bytes[256];
	uint64_t word;
	size_t count;
	unsigned number;
} got;

static struct iovec iov = { got.bytes, 8 },
		    two[2] = { { got.bytes, 8 }, { got.bytes, 8 } };
static const struct iovec nowhere = { NULL, 8 };
static const struct bcl_port_options far_port = { .struct_size =
							  sizeof(far_port),
						  .number = 65536 };
static const struct bcl_context_options flags = { .struct_size = sizeof(flags),
						  .flags = 0x80 };
static unsigned self[1], other[1] = { 99 };
static size_t lengths[8], offsets[8];
static const size_t counts[8] = { 1, 1 }, eight[1] = { 8 };
/* A block for the only rank of a team, and one for a rank that does not
 * exist. */
static const unsigned only[1];
static const struct bcl_blocks mine = { 1, only, eight, offsets };
static const struct bcl_blocks strange = { 1, other, eight, offsets };

static enum bcl_status carry_send(void *arg, unsigned rank, const void *data,
				  size_t length)
{
	(void)arg;
	(void)rank;
	(void)data;
	(void)length;
	return BCL_OK;
}

static enum bcl_status carry_receive(void *arg, unsigned rank, void *data,
				     size_t length)
{
	(void)arg;
	(void)rank;
	memset(data, 0, length);
	return BCL_OK;
}

/* ---- the calls ---- */

/* P: the i-th pointer, or NULL if `wrong` names the pointer. V: the i-th
 * further value, or `evil` if `wrong` names the value. */
#define P(i, good)	 (wrong == (i) ? NULL : (good))
#define V(i, good, evil) (wrong == 100 + (i) ? (evil) : (good))

#define SUM bcl_reduction(BCL_SUM, BCL_UINT64)
#define A   P(1, my.adi)
#define R   (int)my.rank
#define T   P(1, my.team)
#define Q   &got.request
#define B   got.bytes

/*
 * For each function: the number of pointers that must not be NULL, the number
 * of pointers that may be NULL, and the number of further values that can be
 * wrong. S: the function has a status. N: the function has no status, and the
 * expression says whether the call did the right thing.
 */
/* clang-format off */
#define CALLS(S, N) \
	/* contexts, ports, peers */ \
	S(bcl_open, 1, 1, 2, bcl_open(V(1, V(2, NULL, &no_context), &flags), P(1, &got.context))) \
	N(bcl_close, 0, 1, 0, (bcl_close(V(0, NULL, NULL)), forked ? (bcl_close(my.context), true) : true)) \
	N(bcl_context_node, 0, 1, 0, forked ? bcl_context_node(my.context) != 0 : bcl_context_node(NULL) == 0) \
	S(bcl_port_open, 2, 1, 2, bcl_port_open(P(1, my.context), V(1, V(2, NULL, &no_port), &far_port), P(2, &got.port))) \
	N(bcl_port_close, 0, 1, 0, (bcl_port_close(forked ? my.port : NULL), true)) \
	S(bcl_port_address, 3, 0, 0, bcl_port_address(P(1, my.port), P(2, B), P(3, &got.count))) \
	S(bcl_peer_open, 3, 0, 1, bcl_peer_open(P(1, my.port), P(2, my.address), V(1, my.length, 3), P(3, &got.peer))) \
	N(bcl_peer_close, 0, 1, 0, (bcl_peer_close(forked ? my.peer : NULL), true)) \
	N(bcl_peer_set_user, 1, 1, 0, (bcl_peer_set_user(forked ? my.peer : NULL, B), true)) \
	N(bcl_peer_user, 1, 0, 0, !bcl_peer_user(forked ? my.peer : NULL)) \
	S(bcl_peer_info, 2, 0, 1, (got.info.struct_size = V(1, sizeof(got.info), 1), bcl_peer_info(P(1, my.peer), P(2, &got.info)))) \
	S(bcl_node_isolate, 1, 0, 0, bcl_node_isolate(P(1, my.peer))) \
	S(bcl_node_rejoin, 1, 0, 0, bcl_node_rejoin(P(1, my.peer))) \
	N(bcl_counters, 2, 1, 0, (got.count = 1, bcl_counters(P(1, my.context), got.counters, P(2, &got.count)), true)) \
	N(bcl_settings, 2, 1, 0, (got.count = 1, bcl_settings(P(1, my.context), got.settings, P(2, &got.count)), true)) \
	N(bcl_strstatus, 0, 0, 1, bcl_strstatus(V(1, BCL_OK, (enum bcl_status)999)) != NULL) \
	N(bcl_version, 0, 0, 0, bcl_version() != NULL) \
	/* messages */ \
	S(bcl_send, 2, 0, 3, bcl_send(P(1, my.peer), V(1, 0, BCL_TYPES), 0, V(2, P(2, &iov), &nowhere), V(3, 1, BCL_GATHER_MAX + 1), 0)) \
	S(bcl_reserve, 2, 0, 1, bcl_reserve(P(1, my.peer), V(1, 8, BIG), P(2, &got.address))) \
	S(bcl_commit, 1, 0, 2, bcl_commit(P(1, my.peer), V(1, 0, BCL_TYPES), 0, V(2, 8, BIG))) \
	S(bcl_post, 2, 0, 1, bcl_post(P(1, my.port), V(1, 0, 9999), P(2, B), 8, 1)) \
	S(bcl_unpost, 1, 0, 1, bcl_unpost(P(1, my.port), V(1, 0, 9999))) \
	S(bcl_send_channel, 2, 0, 1, bcl_send_channel(P(1, my.peer), V(1, 0, 65536), P(2, B), 8, 1)) \
	S(bcl_offer, 3, 0, 0, bcl_offer(P(1, my.peer), P(2, B), 8, 1, P(3, my.token))) \
	S(bcl_withdraw, 2, 0, 0, bcl_withdraw(P(1, my.peer), P(2, my.token))) \
	S(bcl_pull, 3, 0, 0, bcl_pull(P(1, my.peer), P(2, my.token), P(3, B), 8, 1)) \
	S(bcl_poll, 2, 0, 0, bcl_poll(P(1, my.port), P(2, &got.event))) \
	N(bcl_release, 0, 1, 0, (bcl_release(forked ? my.port : NULL), true)) \
	S(bcl_wait, 1, 0, 0, bcl_wait(P(1, my.port), 0)) \
	S(bcl_arm, 1, 0, 0, bcl_arm(P(1, my.port))) \
	N(bcl_port_fd, 1, 0, 0, bcl_port_fd(P(1, forked ? my.port : NULL)) == -1) \
	/* memory */ \
	S(bcl_memory_register, 3, 0, 3, bcl_memory_register(P(1, my.context), P(2, B), V(1, V(2, 8, 0), SIZE_MAX), V(3, 1, 8), P(3, &got.memory))) \
	S(bcl_memory_allocate, 2, 0, 2, bcl_memory_allocate(P(1, my.context), V(1, 8, 0), V(2, 1, 8), P(2, &got.memory))) \
	N(bcl_memory_address, 1, 0, 0, forked || !bcl_memory_address(NULL)) \
	N(bcl_memory_release, 0, 1, 0, (bcl_memory_release(forked ? my.memory : NULL), true)) \
	N(bcl_memory_key, 2, 0, 0, (bcl_memory_key(P(1, my.memory), P(2, B)), true)) \
	S(bcl_memory_map, 3, 0, 0, bcl_memory_map(P(1, my.peer), P(2, my.key), P(3, &got.address))) \
	N(bcl_memory_unmap, 2, 0, 0, (bcl_memory_unmap(P(1, my.peer), P(2, my.key)), true)) \
	S(bcl_put, 3, 0, 0, bcl_put(P(1, my.peer), P(2, my.key), 0, P(3, B), 8, 1)) \
	S(bcl_get, 3, 0, 0, bcl_get(P(1, my.peer), P(2, my.key), 0, P(3, B), 8, 1)) \
	S(bcl_put_notify, 3, 0, 1, bcl_put_notify(P(1, my.peer), P(2, my.key), 0, P(3, B), 8, V(1, 0, BCL_TYPES), 0, 1)) \
	S(bcl_fetch_add, 3, 0, 1, bcl_fetch_add(P(1, my.peer), P(2, my.key), V(1, 0, 3), 1, P(3, &got.word), 1)) \
	S(bcl_compare_swap, 3, 0, 1, bcl_compare_swap(P(1, my.peer), P(2, my.key), V(1, 0, 3), 1, 1, P(3, &got.word), 1)) \
	S(bcl_fence, 1, 0, 0, bcl_fence(P(1, my.peer), 1)) \
	/* the job */ \
	S(bcl_adi_open, 1, 1, 1, bcl_adi_open(V(1, NULL, &no_adi), P(1, &got.adi))) \
	N(bcl_adi_close, 0, 1, 0, (bcl_adi_close(forked ? my.adi : NULL), true)) \
	N(bcl_adi_rank, 1, 0, 0, bcl_adi_rank(A) == (wrong ? 0 : my.rank)) \
	N(bcl_adi_size, 1, 0, 0, !bcl_adi_size(A) == (wrong != 0)) \
	N(bcl_adi_context, 1, 0, 0, !bcl_adi_context(A) == (wrong != 0)) \
	N(bcl_adi_port, 1, 0, 0, !bcl_adi_port(A) == (wrong != 0)) \
	S(bcl_adi_peer, 2, 0, 1, bcl_adi_peer(A, V(1, 0, 99), P(2, &got.peer))) \
	S(bcl_adi_isend, 3, 0, 4, bcl_adi_isend(A, P(2, B), 8, V(1, V(2, R, 99), -1), V(3, 0, -1), V(4, 0, 0xf000), P(3, Q))) \
	S(bcl_adi_issend, 3, 0, 3, bcl_adi_issend(A, P(2, B), 8, V(1, R, 99), V(2, 0, -1), V(3, 0, 0xf000), P(3, Q))) \
	S(bcl_adi_irecv, 3, 0, 4, bcl_adi_irecv(A, P(2, B), 8, V(1, V(2, R, 99), -2), V(3, 0, -2), V(4, 0, 0xf000), P(3, Q))) \
	S(bcl_adi_isendv, 3, 0, 4, bcl_adi_isendv(A, V(4, P(2, two), &nowhere), V(4, 2, 1), V(1, R, 99), V(2, 0, -1), V(3, 0, 0xf000), P(3, Q))) \
	S(bcl_adi_irecvv, 3, 0, 4, bcl_adi_irecvv(A, V(4, P(2, two), &nowhere), V(4, 2, 1), V(1, R, 99), V(2, 0, -2), V(3, 0, 0xf000), P(3, Q))) \
	S(bcl_adi_send, 2, 0, 3, bcl_adi_send(A, P(2, B), 8, V(1, R, 99), V(2, 0, -1), V(3, 0, 0xf000))) \
	S(bcl_adi_recv, 2, 1, 3, bcl_adi_recv(A, P(2, B), 8, V(1, R, 99), V(2, 0, -2), V(3, 0, 0xf000), NULL)) \
	S(bcl_adi_test, 2, 1, 0, bcl_adi_test(A, P(2, &my.request), NULL)) \
	S(bcl_adi_wait, 2, 1, 0, bcl_adi_wait(A, P(2, &my.request), NULL)) \
	S(bcl_adi_waitall, 2, 1, 0, bcl_adi_waitall(A, P(2, &my.request), 1, NULL)) \
	S(bcl_adi_waitany, 3, 1, 0, bcl_adi_waitany(A, P(2, &my.request), 1, P(3, &got.number), NULL)) \
	N(bcl_adi_done, 2, 0, 0, !bcl_adi_done(A, P(2, my.request))) \
	S(bcl_adi_cancel, 2, 0, 0, bcl_adi_cancel(A, P(2, my.request))) \
	S(bcl_adi_iprobe, 1, 1, 3, bcl_adi_iprobe(A, V(1, R, 99), V(2, 0, -2), V(3, 0, 0xf000), NULL)) \
	S(bcl_adi_improbe, 2, 1, 3, bcl_adi_improbe(A, V(1, R, 99), V(2, 0, -2), V(3, 0, 0xf000), P(2, &got.message), NULL)) \
	S(bcl_adi_imrecv, 4, 0, 1, bcl_adi_imrecv(A, P(2, B), 8, V(1, P(3, &my.message), &got.message), P(4, Q))) \
	N(bcl_adi_progress, 0, 1, 0, (bcl_adi_progress(forked ? my.adi : NULL), true)) \
	/* packets */ \
	S(bcl_adi_packet_open, 2, 1, 1, bcl_adi_packet_open(A, P(2, V(1, &ops, &no_ops)), NULL)) \
	S(bcl_adi_packet_peer, 3, 0, 1, bcl_adi_packet_peer(A, P(2, my.address), V(1, my.length, 3), P(3, &got.peer))) \
	N(bcl_adi_packet_longest, 1, 0, 0, (bcl_adi_packet_longest(P(1, my.job_peer)) >= BCL_MESSAGE_MAX)) \
	S(bcl_adi_packet_send, 4, 0, 2, bcl_adi_packet_send(A, P(2, my.job_peer), V(1, 0, BCL_PACKET_TYPES), P(3, B), V(2, 8, BIG), P(4, &iov), 1, 0)) \
	S(bcl_adi_packet_try, 4, 0, 2, bcl_adi_packet_try(A, P(2, my.job_peer), V(1, 0, BCL_PACKET_TYPES), P(3, B), V(2, 8, BIG), P(4, &iov), 1)) \
	S(bcl_adi_packet_word, 3, 0, 2, bcl_adi_packet_word(A, P(2, my.job_peer), V(1, 0, BCL_PACKET_TYPES), 1, P(3, B), V(2, 8, BIG))) \
	S(bcl_adi_packet_announce, 4, 0, 3, bcl_adi_packet_announce(A, P(2, my.job_peer), V(1, 0, BCL_PACKET_TYPES), P(3, B), V(2, 64, BIG), V(3, 0, 60), P(4, B), 8, 1)) \
	S(bcl_adi_packet_withdraw, 1, 0, 0, bcl_adi_packet_withdraw(A, 77)) \
	S(bcl_adi_packet_pull, 4, 0, 0, bcl_adi_packet_pull(A, P(2, my.job_peer), P(3, B), P(4, B), 8, 1)) \
	N(bcl_adi_packet_poll, 1, 0, 0, bcl_adi_packet_poll(forked ? my.adi : NULL) == 0) \
	S(bcl_adi_packet_next, 1, 0, 0, bcl_adi_packet_next(A)) \
	S(bcl_adi_packet_wait, 1, 0, 0, bcl_adi_packet_wait(A, 0)) \
	N(bcl_adi_packet_wake, 0, 1, 0, (bcl_adi_packet_wake(forked ? my.adi : NULL), true)) \
	S(bcl_boot_lend, 2, 0, 2, bcl_boot_lend(P(1, V(1, V(2, &my.space, &short_space), &deaf_space)), P(2, &got.boot))) \
	N(bcl_boot_close, 0, 1, 0, (bcl_boot_close(forked ? my.boot : NULL), true)) \
	/* teams */ \
	S(bcl_team_world, 2, 0, 0, bcl_team_world(A, P(2, &got.team))) \
	S(bcl_team_create, 3, 0, 3, bcl_team_create(T, P(2, V(1, self, other)), V(2, 1, 0), V(3, 0, 1024), P(3, &got.team))) \
	S(bcl_team_derive, 3, 0, 3, bcl_team_derive(T, P(2, V(1, self, other)), V(2, 1, 0), V(3, 0, 2047), P(3, &got.team))) \
	S(bcl_team_split, 2, 0, 0, bcl_team_split(T, 0, 0, P(2, &got.team))) \
	S(bcl_team_dup, 2, 0, 0, bcl_team_dup(T, P(2, &got.team))) \
	S(bcl_team_split_node, 2, 0, 0, bcl_team_split_node(T, P(2, &got.team))) \
	S(bcl_team_split_place, 2, 0, 0, bcl_team_split_place(T, P(2, &got.team))) \
	S(bcl_team_agree, 2, 0, 0, bcl_team_agree(T, P(2, &got.word))) \
	S(bcl_team_shrink, 2, 0, 0, bcl_team_shrink(T, P(2, &got.team))) \
	S(bcl_team_cancel, 1, 0, 0, bcl_team_cancel(T)) \
	N(bcl_team_free, 0, 1, 0, (bcl_team_free(forked ? my.team : NULL), true)) \
	N(bcl_team_rank, 1, 0, 0, bcl_team_rank(T) == (wrong ? 0 : my.rank)) \
	N(bcl_team_size, 1, 0, 0, !bcl_team_size(T) == (wrong != 0)) \
	N(bcl_team_node, 3, 0, 1, (bcl_team_node(T, V(1, 0, 99), P(2, &got.number), P(3, &got.number)), true)) \
	N(bcl_reduction, 0, 0, 2, !bcl_reduction(V(1, BCL_SUM, (enum bcl_op)99), V(2, BCL_DOUBLE, (enum bcl_type)99)) == (wrong != 0)) \
	S(bcl_barrier, 1, 0, 0, bcl_barrier(T)) \
	S(bcl_broadcast, 2, 0, 1, bcl_broadcast(T, P(2, B), 8, V(1, 0, 99))) \
	S(bcl_reduce, 4, 0, 2, bcl_reduce(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM), V(2, my.rank, 99))) \
	S(bcl_allreduce, 4, 0, 1, bcl_allreduce(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM))) \
	S(bcl_gather, 3, 0, 1, bcl_gather(T, P(2, B), 8, P(3, B + 64), V(1, my.rank, 99))) \
	S(bcl_scatter, 3, 0, 1, bcl_scatter(T, P(2, B), P(3, B + 64), 8, V(1, my.rank, 99))) \
	S(bcl_allgather, 3, 0, 0, bcl_allgather(T, P(2, B), 8, P(3, B + 64))) \
	S(bcl_alltoall, 3, 0, 0, bcl_alltoall(T, P(2, B), P(3, B + 64), 8)) \
	S(bcl_alltoallv, 5, 2, 0, bcl_alltoallv(T, B, P(2, lengths), P(3, offsets), B + 64, P(4, lengths), P(5, offsets))) \
	S(bcl_ibarrier, 2, 0, 0, bcl_ibarrier(T, P(2, Q))) \
	S(bcl_ibroadcast, 3, 0, 1, bcl_ibroadcast(T, P(2, B), 8, V(1, 0, 99), P(3, Q))) \
	S(bcl_ireduce, 5, 0, 2, bcl_ireduce(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM), V(2, my.rank, 99), P(5, Q))) \
	S(bcl_reduce_scatter, 4, 0, 1, bcl_reduce_scatter(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM))) \
	S(bcl_scan, 4, 0, 1, bcl_scan(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM))) \
	S(bcl_exscan, 4, 0, 1, bcl_exscan(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM))) \
	S(bcl_gatherv, 3, 2, 1, bcl_gatherv(T, B, 0, B + 64, P(2, lengths), P(3, offsets), V(1, my.rank, 99))) \
	S(bcl_scatterv, 3, 2, 1, bcl_scatterv(T, B, P(2, lengths), P(3, offsets), B + 64, 0, V(1, my.rank, 99))) \
	S(bcl_allgatherv, 3, 2, 0, bcl_allgatherv(T, B, 0, B + 64, P(2, lengths), P(3, offsets))) \
	S(bcl_igatherv, 4, 2, 1, bcl_igatherv(T, B, 0, B + 64, P(2, lengths), P(3, offsets), V(1, my.rank, 99), P(4, Q))) \
	S(bcl_iscatterv, 4, 2, 1, bcl_iscatterv(T, B, P(2, lengths), P(3, offsets), B + 64, 0, V(1, my.rank, 99), P(4, Q))) \
	S(bcl_iallgatherv, 4, 2, 0, bcl_iallgatherv(T, B, 0, B + 64, P(2, lengths), P(3, offsets), P(4, Q))) \
	S(bcl_ireduce_scatter, 5, 0, 1, bcl_ireduce_scatter(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM), P(5, Q))) \
	S(bcl_iscan, 5, 0, 1, bcl_iscan(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM), P(5, Q))) \
	S(bcl_iexscan, 5, 0, 1, bcl_iexscan(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM), P(5, Q))) \
	S(bcl_iallreduce, 5, 0, 1, bcl_iallreduce(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM), P(5, Q))) \
	S(bcl_igather, 4, 0, 1, bcl_igather(T, P(2, B), 8, P(3, B + 64), V(1, my.rank, 99), P(4, Q))) \
	S(bcl_iscatter, 4, 0, 1, bcl_iscatter(T, P(2, B), P(3, B + 64), 8, V(1, my.rank, 99), P(4, Q))) \
	S(bcl_iallgather, 4, 0, 0, bcl_iallgather(T, P(2, B), 8, P(3, B + 64), P(4, Q))) \
	S(bcl_ialltoall, 4, 0, 0, bcl_ialltoall(T, P(2, B), P(3, B + 64), 8, P(4, Q))) \
	S(bcl_ialltoallv, 6, 2, 0, bcl_ialltoallv(T, B, P(2, lengths), P(3, offsets), B + 64, P(4, lengths), P(5, offsets), P(6, Q))) \
	S(bcl_reduce_scatterv, 5, 0, 0, bcl_reduce_scatterv(T, P(2, B), P(3, B + 64), P(4, counts), P(5, SUM))) \
	S(bcl_ireduce_scatterv, 6, 0, 0, bcl_ireduce_scatterv(T, P(2, B), P(3, B + 64), P(4, counts), P(5, SUM), P(6, Q))) \
	S(bcl_shift, 3, 0, 0, bcl_shift(T, P(2, B), P(3, B + 64), 8, 1)) \
	S(bcl_ishift, 4, 0, 0, bcl_ishift(T, P(2, B), P(3, B + 64), 8, 1, P(4, Q))) \
	S(bcl_exchange, 5, 0, 1, bcl_exchange(T, P(2, B), P(3, V(1, &mine, &strange)), P(4, B + 64), P(5, &mine))) \
	S(bcl_iexchange, 6, 0, 1, bcl_iexchange(T, P(2, B), P(3, V(1, &mine, &strange)), P(4, B + 64), P(5, &mine), P(6, Q))) \
	S(bcl_barrier_init, 2, 0, 0, bcl_barrier_init(T, P(2, &got.operation))) \
	S(bcl_broadcast_init, 3, 0, 1, bcl_broadcast_init(T, P(2, B), 8, V(1, 0, 99), P(3, &got.operation))) \
	S(bcl_reduce_init, 5, 0, 2, bcl_reduce_init(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM), V(2, my.rank, 99), P(5, &got.operation))) \
	S(bcl_gatherv_init, 4, 2, 1, bcl_gatherv_init(T, B, 0, B + 64, P(2, lengths), P(3, offsets), V(1, my.rank, 99), P(4, &got.operation))) \
	S(bcl_scatterv_init, 4, 2, 1, bcl_scatterv_init(T, B, P(2, lengths), P(3, offsets), B + 64, 0, V(1, my.rank, 99), P(4, &got.operation))) \
	S(bcl_allgatherv_init, 4, 2, 0, bcl_allgatherv_init(T, B, 0, B + 64, P(2, lengths), P(3, offsets), P(4, &got.operation))) \
	S(bcl_reduce_scatter_init, 5, 0, 1, bcl_reduce_scatter_init(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM), P(5, &got.operation))) \
	S(bcl_scan_init, 5, 0, 1, bcl_scan_init(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM), P(5, &got.operation))) \
	S(bcl_exscan_init, 5, 0, 1, bcl_exscan_init(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM), P(5, &got.operation))) \
	S(bcl_allreduce_init, 5, 0, 1, bcl_allreduce_init(T, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM), P(5, &got.operation))) \
	S(bcl_gather_init, 4, 0, 1, bcl_gather_init(T, P(2, B), 8, P(3, B + 64), V(1, my.rank, 99), P(4, &got.operation))) \
	S(bcl_scatter_init, 4, 0, 1, bcl_scatter_init(T, P(2, B), P(3, B + 64), 8, V(1, my.rank, 99), P(4, &got.operation))) \
	S(bcl_allgather_init, 4, 0, 0, bcl_allgather_init(T, P(2, B), 8, P(3, B + 64), P(4, &got.operation))) \
	S(bcl_alltoall_init, 4, 0, 0, bcl_alltoall_init(T, P(2, B), P(3, B + 64), 8, P(4, &got.operation))) \
	S(bcl_alltoallv_init, 6, 2, 0, bcl_alltoallv_init(T, B, P(2, lengths), P(3, offsets), B + 64, P(4, lengths), P(5, offsets), P(6, &got.operation))) \
	S(bcl_reduce_scatterv_init, 6, 0, 0, bcl_reduce_scatterv_init(T, P(2, B), P(3, B + 64), P(4, counts), P(5, SUM), P(6, &got.operation))) \
	S(bcl_shift_init, 4, 0, 0, bcl_shift_init(T, P(2, B), P(3, B + 64), 8, 1, P(4, &got.operation))) \
	S(bcl_exchange_init, 6, 0, 1, bcl_exchange_init(T, P(2, B), P(3, V(1, &mine, &strange)), P(4, B + 64), P(5, &mine), P(6, &got.operation))) \
	S(bcl_persistent_run, 1, 0, 0, bcl_persistent_run(P(1, my.operation))) \
	S(bcl_persistent_start, 2, 0, 0, bcl_persistent_start(P(1, my.operation), P(2, Q))) \
	N(bcl_persistent_free, 0, 1, 0, (bcl_persistent_free(forked ? my.operation : NULL), true)) \
	S(bcl_carrier_open, 2, 0, 1, bcl_carrier_open(P(1, V(1, &my.carry, &no_carry)), P(2, &got.carrier))) \
	N(bcl_carrier_close, 0, 1, 0, (bcl_carrier_close(forked ? my.carrier : NULL), true)) \
	S(bcl_carrier_barrier, 1, 1, 0, bcl_carrier_barrier(P(1, my.carrier), NULL)) \
	S(bcl_carrier_reduce, 4, 1, 2, bcl_carrier_reduce(P(1, my.carrier), NULL, P(2, B), P(3, B + 64), V(1, 1, SIZE_MAX), P(4, SUM), V(2, 0, 99))) \
	S(bcl_carrier_gather, 3, 1, 1, bcl_carrier_gather(P(1, my.carrier), NULL, P(2, B), 8, P(3, B + 64), V(1, 0, 99))) \
	S(bcl_carrier_scatter, 3, 1, 1, bcl_carrier_scatter(P(1, my.carrier), NULL, P(2, B), P(3, B + 64), 8, V(1, 0, 99)))
/* clang-format on */

static const struct bcl_adi_packet_ops ops = { .struct_size = sizeof(ops) };
static const struct bcl_adi_packet_ops no_ops = { .struct_size = 1 };
static const struct bcl_boot_space short_space = { .struct_size = 1 };
static const struct bcl_boot_space deaf_space = {
	.struct_size = sizeof(deaf_space), .size = 2, .value_max = 64
};
static const struct bcl_carrier_options no_carry = { .struct_size = 1 };
static const struct bcl_context_options no_context = { .struct_size = 1 };
static const struct bcl_port_options no_port = { .struct_size = 1 };
static const struct bcl_adi_options no_adi = { .struct_size = 1 };

/* For a function without a status, OK means: the call did the right thing. */
#define STATUS(name, must, may, values, expression)                     \
	static enum bcl_status call_##name(unsigned wrong, bool forked) \
	{                                                               \
		(void)wrong;                                            \
		(void)forked;                                           \
		return (expression);                                    \
	}
#define NONE(name, must, may, values, expression)                       \
	static enum bcl_status call_##name(unsigned wrong, bool forked) \
	{                                                               \
		(void)wrong;                                            \
		(void)forked;                                           \
		return (expression) ? BCL_OK : BCL_ERR_SYSTEM;          \
	}
CALLS(STATUS, NONE)

static const struct call {
	const char *name;
	enum bcl_status (*run)(unsigned wrong, bool forked);
	unsigned must, may, values;
	bool status;
} calls[] = {
#define WITH(name, must, may, values, expression) \
	{ #name, call_##name, must, may, values, true },
#define WITHOUT(name, must, may, values, expression) \
	{ #name, call_##name, must, may, values, false },
	CALLS(WITH, WITHOUT)
};

enum {
	NCALLS = sizeof(calls) / sizeof(calls[0]),
};

/* ---- the table is whole ---- */

static char *contents(const char *name)
{
	const char *top = getenv("abs_top_srcdir");
	char path[4096], *text;
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", top ? top : ".", name);
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s", path);
	text = malloc(1 << 20);
	n = fread(text, 1, (1 << 20) - 1, file);
	text[n] = 0;
	fclose(file);
	return text;
}

static const struct call *find_call(const char *name, size_t length)
{
	for (unsigned i = 0; i < NCALLS; i++)
		if (strlen(calls[i].name) == length &&
		    !memcmp(calls[i].name, name, length))
			return &calls[i];
	return NULL;
}

START_TEST(every_public_function_is_in_the_table)
{
	char *map = contents("libbcl.map"), *line;
	unsigned n = 0;

	for (line = strtok(map, "\n"); line; line = strtok(NULL, "\n")) {
		line += strspn(line, " \t");
		if (strncmp(line, "bcl_", 4))
			continue;
		ck_assert_msg(find_call(line, strcspn(line, ";")) != NULL,
			      "no call of %s", line);
		n++;
	}
	ck_assert_uint_eq(n, NCALLS);
	free(map);
}
END_TEST

/* Counts the pointers in the declaration of a function. -1: the header does not
 * declare the function. */
static int pointers(const char *header, const char *name)
{
	const char *p = header;
	size_t length = strlen(name);
	bool counted = false;
	int n = 0;

	while ((p = strstr(p, name)) &&
	       (p[length] != '(' || p[length + 1] == ')' || p[-1] == '_'))
		p += length;
	if (!p)
		return -1;
	for (p += length; *p && *p != ';'; p++) {
		if (*p == '*' && !counted) {
			counted = true;
			n++;
		} else if (*p == ',') {
			counted = false;
		}
	}
	return n;
}

START_TEST(every_pointer_is_in_the_table)
{
	static const char *const names[] = {
		"include/bcl/adi.h",
		"include/bcl/bcl.h",
		"include/bcl/boot.h",
		"include/bcl/coll.h",
	};
	int n, declared[NCALLS];

	for (unsigned i = 0; i < NCALLS; i++)
		declared[i] = -1;
	for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		char *header = contents(names[k]);

		for (unsigned i = 0; i < NCALLS; i++) {
			n = pointers(header, calls[i].name);
			if (n >= 0)
				declared[i] = n;
		}
		free(header);
	}
	for (unsigned i = 0; i < NCALLS; i++)
		ck_assert_msg(
			declared[i] < 0 || declared[i] == (int)(calls[i].must +
								calls[i].may),
			"%s takes %d pointers", calls[i].name, declared[i]);
}
END_TEST

/* ---- ranks ---- */

static void become(unsigned rank)
{
	uint64_t word = 0;

	my.rank = rank;
	self[0] = rank;
	need_equal(bcl_adi_open(NULL, &my.adi), BCL_OK);
	need_equal(bcl_team_world(my.adi, &my.team), BCL_OK);
	need_equal(bcl_barrier_init(my.team, &my.operation), BCL_OK);
	my.context = bcl_adi_context(my.adi);
	need_equal(bcl_adi_peer(my.adi, 0, &my.job_peer), BCL_OK);
	need_equal(bcl_port_open(my.context, NULL, &my.port), BCL_OK);
	need_equal(bcl_port_address(my.port, my.address, &my.length), BCL_OK);
	need_equal(bcl_peer_open(my.port, my.address, my.length, &my.peer),
		   BCL_OK);
	need_equal(bcl_memory_allocate(my.context, 8, 7, &my.memory), BCL_OK);
	bcl_memory_key(my.memory, my.key);
	need_equal(bcl_adi_irecv(my.adi, B, 8, R, 5, 1, &my.request), BCL_OK);
	need_equal(bcl_adi_send(my.adi, &word, 8, R, 6, 1), BCL_OK);
	while (bcl_adi_improbe(my.adi, R, 6, 1, &my.message, NULL))
		;
	my.carry = (struct bcl_carrier_options){
		.struct_size = sizeof(my.carry),
		.size = 2,
		.port = my.port,
		.send = carry_send,
		.receive = carry_receive,
	};
	need_equal(bcl_carrier_open(&my.carry, &my.carrier), BCL_OK);
	my.space = (struct bcl_boot_space){
		.struct_size = sizeof(my.space),
		.size = 1,
		.value_max = 64,
	};
	need_equal(bcl_boot_lend(&my.space, &my.boot), BCL_OK);
}

/* The wrong calls must have changed nothing: all objects of the rank still
 * work. */
static void check_rank(void)
{
	struct bcl_adi_request *request;
	uint64_t word = 7, sum;
	size_t n;

	for (unsigned i = 0; i < 4; i++) {
		word = my.rank + i;
		sum = 0;
		need_equal(bcl_allreduce(my.team, &word, &sum, 1, SUM), BCL_OK);
		n = bcl_team_size(my.team);
		need_equal(sum, n * (n - 1) / 2 + i * n);
		need_equal(bcl_barrier(my.team), BCL_OK);
		need_equal(bcl_persistent_run(my.operation), BCL_OK);
	}
	word = 42;
	need_equal(bcl_adi_send(my.adi, &word, 8, R, 5, 1), BCL_OK);
	need_equal(bcl_adi_wait(my.adi, &my.request, NULL), BCL_OK);
	need_equal(memcmp(B, &word, 8), 0);
	need_equal(bcl_adi_imrecv(my.adi, B, 8, &my.message, &request), BCL_OK);
	need_equal(bcl_adi_wait(my.adi, &request, NULL), BCL_OK);
	need(!bcl_peer_user(my.peer));
	need_equal(bcl_send(my.peer, 3, 0, &iov, 1, 0), BCL_OK);
	do
		need_equal(bcl_wait(my.port, UINT64_MAX), BCL_OK);
	while (bcl_poll(my.port, &got.event) ||
	       got.event.kind != BCL_EVENT_MESSAGE);
	need_equal(bcl_carrier_barrier(my.carrier, NULL), BCL_OK);
}

static void leave(void)
{
	bcl_boot_close(my.boot);
	bcl_carrier_close(my.carrier);
	bcl_memory_release(my.memory);
	bcl_port_close(my.port);
	bcl_persistent_free(my.operation);
	bcl_team_free(my.team);
	bcl_adi_close(my.adi);
}

static bool expect(const struct call *call, unsigned wrong, bool forked,
		   enum bcl_status status)
{
	enum bcl_status is = call->run(wrong, forked);

	if (!call->status)
		status = BCL_OK;
	if (is != status)
		fprintf(stderr, "%s, wrong %u: %s\n", call->name, wrong,
			bcl_strstatus(is));
	return is == status;
}

static int refuse_wrong(unsigned rank, void *arg)
{
	unsigned failures = 0;
	struct bcl_team *both;

	(void)arg;
	become(rank);
	/* A wrong call ends a team of several members, so the wrong calls get a
	 * team of a single rank. */
	both = my.team;
	need_equal(bcl_team_create(both, &rank, 1, rank, &my.team), BCL_OK);
	for (unsigned i = 0; i < NCALLS; i++) {
		const struct call *call = &calls[i];

		for (unsigned k = 1; k <= call->must; k++)
			failures += !expect(call, k, false, BCL_ERR_ARG);
		for (unsigned k = 1; k <= call->values; k++)
			failures += !expect(call, 100 + k, false, BCL_ERR_ARG);
		/* to free NULL must do nothing */
		if (!call->status && call->may)
			failures += !expect(call, 0, false, BCL_OK);
	}
	bcl_team_free(my.team);
	my.team = both;
	check_rank();
	leave();
	return failures != 0;
}

static int refuse_child(unsigned rank, void *arg)
{
	unsigned failures = 0;
	int result;
	pid_t child;

	(void)arg;
	become(rank);
	need_equal(bcl_barrier(my.team), BCL_OK);
	child = fork();
	if (!child) {
		alarm(60);
		for (unsigned i = 0; i < NCALLS; i++)
			failures += !expect(&calls[i], 0, true, BCL_ERR_FORKED);
		_exit(failures != 0);
	}
	need_equal(waitpid(child, &result, 0), child);
	check_rank();
	leave();
	return result != 0;
}

static void run_job(int (*run)(unsigned rank, void *arg))
{
	setenv("BCL_RAILS", "none", 1);
	ck_assert_int_eq(bcl_boot_job_run(2, run, NULL), 0);
}

START_TEST(wrong_arguments_are_refused)
{
	run_job(refuse_wrong);
}
END_TEST

START_TEST(the_child_of_a_fork_is_refused)
{
	run_job(refuse_child);
}
END_TEST

/* A forked child may open a context if the parent had closed all contexts
 * before the fork. */
START_TEST(a_child_without_contexts_may_open)
{
	struct bcl_context *context;
	int result;
	pid_t child;

	setenv("BCL_RAILS", "none", 1);
	ck_assert_int_eq(bcl_open(NULL, &context), BCL_OK);
	bcl_close(context);
	child = fork();
	if (!child) {
		need_equal(bcl_open(NULL, &context), BCL_OK);
		bcl_close(context);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &result, 0), child);
	ck_assert_int_eq(result, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("arguments");
	TCase *tcase = tcase_create("arguments");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, every_public_function_is_in_the_table);
	tcase_add_test(tcase, every_pointer_is_in_the_table);
	tcase_add_test(tcase, wrong_arguments_are_refused);
	tcase_add_test(tcase, the_child_of_a_fork_is_refused);
	tcase_add_test(tcase, a_child_without_contexts_may_open);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
