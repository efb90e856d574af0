/* SPDX-License-Identifier: MIT */
/*
 * Counters. Each context and each port has a page of counters. Tools find the
 * pages of a running process through /proc/PID/fd by the name of the memory,
 * "bcl-counters". A port's thread counts in the port's page. The helper, and
 * every thread that holds a lock (the card's, the shared-memory service's, the
 * context's), counts in the context's page. Each counter has one writer at a
 * time, so counting is a load and a store.
 */
#ifndef BCL_COUNTERS_H
#define BCL_COUNTERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <bcl/card_abi.h>

struct bcl_env;

/* X(area, name, description); an area belongs to the directory that counts */
#define BCL_CORE_COUNTERS(X)                                              \
	X(core, self_messages, "messages of a port to itself")            \
	X(core, send_again, "sends refused: a queue was full")            \
	X(core, send_lost, "sends refused: the peer is lost")             \
	X(core, peers_shared, "peers that came up on shared memory")      \
	X(core, peers_card, "peers that came up on the card")             \
	X(core, peers_fallback, "peers on this host that got the card")   \
	X(core, peers_lost, "peers that were lost")                       \
	X(core, memory_refused, "allocations of shared memory refused")   \
	X(core, channel_waits, "channel messages that waited for a post") \
	X(core, yields, "times a wait or a poll gave the processor away") \
	X(core, yields_long, "yields after which it was gone for long")   \
	X(core, moves, "moves to another processor, away from the peer")  \
	X(core, sleeps, "times a wait slept")                             \
	X(core, helper_ticks, "times the helper looked for the program")  \
	X(core, helper_spells, "absences in which the helper stood in")   \
	X(core, helper_wakes, "times it was woken by traffic in them")

#define BCL_SHM_COUNTERS(X)                                                   \
	X(shm, messages_line, "messages sent through the pair line or a box") \
	X(shm, messages_ring, "messages sent through a ring")                 \
	X(shm, messages_received, "messages received")                        \
	X(shm, ring_full, "sends refused: the ring was full")                 \
	X(shm, wakes, "sleeping peers woken")                                 \
	X(shm, fences, "sends with a fence, for want of membarrier")          \
	X(shm, turned_away, "callers turned away: no descriptor left")        \
	X(shm, audits, "times the words shared with peers were audited")      \
	X(shm, rma_by_helper, "remote accesses served by the helper")         \
	X(shm, refused, "callers refused: of another user, or too many")      \
	X(shm, left, "connections that ended as both sides had closed them")  \
	X(shm, leaves_unanswered, "closed peers given up: no answer to that") \
	X(shm, bytes_pulled, "bytes of large messages received")              \
	X(shm, bytes_joined, "of those of peers, bytes copied by this side")  \
	X(shm, bytes_bounced, "bytes copied twice, through a bounce area")

#define BCL_HOST_COUNTERS(X)                                                  \
	X(host, polls, "times the rails were asked")                          \
	X(host, polls_empty, "of those, times nothing was there")             \
	X(host, lock_busy, "times another thread had the card")               \
	X(host, lock_left, "times it was left to a port that had it alone")   \
	X(host, doorbells, "requests rung for")                               \
	X(host, bytes_packed, "payload bytes copied before sending")          \
	X(host, bytes_gathered, "payload bytes copied into bursts of frames") \
	X(host, bytes_placed,                                                 \
	  "payload bytes copied after arrival, if not short")                 \
	X(host, no_address, "frames dropped: no address of the node")         \
	X(host, dma_refused, "accesses refused: handle, bounds or rights")    \
	X(host, wakes, "sleeping owners of ports woken")                      \
	X(host, transmit_full, "times a rail took fewer frames than offered") \
	X(udp, sendmsg, "system calls that sent")                             \
	X(udp, recvmsg, "system calls that received")                         \
	X(udp, recvmsg_empty, "of those, times nothing was there")            \
	X(udp, bursts, "sends that the system cut into frames")               \
	X(udp, staged, "of those, sends without a copy by the system")        \
	X(udp, stage_refused, "times the system refused that")                \
	X(udp, connected, "sockets connected to one destination")             \
	X(udp, unconnected, "times that was not possible")                    \
	X(udp, partners, "times a source got the socket for one source")      \
	X(udp, offload_lost, "times the system refused to cut")               \
	X(udp, send_failed, "frames that the system refused to send")         \
	X(udp, too_big, "frames dropped: larger than the path takes")         \
	X(udp, refused, "reports that a destination has no such port")        \
	X(udp, truncated, "datagrams dropped: longer than a frame")           \
	X(packet, sends, "frames sent, one system call each")                 \
	X(packet, received, "frames received from the ring")                  \
	X(packet, stray, "frames dropped: for another card on this host")     \
	X(packet, malformed, "frames dropped: bad length")                    \
	X(packet, lost, "frames that the full ring did not take")             \
	X(packet, send_failed, "frames that the system refused to send")      \
	X(fault, dropped, "frames dropped on purpose")                        \
	X(fault, duplicated, "frames sent or delivered twice on purpose")     \
	X(fault, reordered, "frames held back behind later ones on purpose")  \
	X(fault, corrupted, "frames of which a bit was turned on purpose")    \
	X(fault, delayed, "frames delayed on purpose")                        \
	X(trace, frames, "frames written to the trace")                       \
	X(trace, lost, "frames that could not be written to the trace")

#define BCL_ADI_COUNTERS(X)                                                    \
	X(adi, sent_eager, "messages sent at once, with their data")           \
	X(adi, sent_long, "of these, long ones, for which paths have room")    \
	X(adi, sent_put, "messages put into a window of the receiver")         \
	X(adi, sent_announced, "messages announced, fetched by the receiver")  \
	X(adi, called, "announced messages offered only when called for")      \
	X(adi, queued, "sends and fetches that had to wait for the path")      \
	X(adi, matched, "short messages that met their receive")               \
	X(adi, matched_late, "receives that met a message kept for them")      \
	X(adi, unexpected, "messages and announcements kept for a receive")    \
	X(adi, unexpected_peak, "most bytes of short messages kept at a time") \
	X(adi, stops, "senders told to announce everything")                   \
	X(adi, stopped, "times told so by a receiver")                         \
	X(adi, holds, "times announcements were held back")                    \
	X(adi, keepalives, "ranks waited for, asked whether they are there")   \
	X(adi, stalls, "messages that waited for memory")                      \
	X(adi, bounced, "messages copied because their memory is in pieces")   \
	X(adi, discarded, "messages never received, dropped at the end")       \
	X(adi, dropped, "messages dropped: malformed or of a stranger")        \
	X(adi, ranks_lost, "ranks that were lost")                             \
	X(adi, ranks_left, "ranks that were waited for, but closed")

/* The first entries are in the order of enum bcl_operation. */
#define BCL_COLL_COUNTERS(X)                                                  \
	X(coll, barrier, "barriers")                                          \
	X(coll, broadcast, "broadcasts")                                      \
	X(coll, reduce, "reductions to one rank")                             \
	X(coll, allreduce, "reductions to all ranks")                         \
	X(coll, gather, "gathers to one rank")                                \
	X(coll, scatter, "scatters from one rank")                            \
	X(coll, allgather, "gathers to all ranks")                            \
	X(coll, alltoall, "exchanges of blocks among all ranks")              \
	X(coll, alltoallv, "the same with lengths of their own")              \
	X(coll, reduce_scatter, "reductions of a block to each rank")         \
	X(coll, scan, "reductions of all ranks up to the own")                \
	X(coll, exscan, "the same without the own")                           \
	X(coll, gatherv, "gathers of different lengths to one rank")          \
	X(coll, scatterv, "scatters of different lengths from one rank")      \
	X(coll, allgatherv, "gathers of different lengths to all ranks")      \
	X(coll, reduce_scatterv, "reductions of different blocks to ranks")   \
	X(coll, shift, "blocks passed on by a number of ranks")               \
	X(coll, exchange, "exchanges of blocks with ranks of a list")         \
	X(coll, audits, "times that words shared inside a node were audited") \
	X(coll, scheduled, "of all those, run as schedules by the engine")    \
	X(coll, sleeps, "times a member slept until others came")             \
	X(coll, wakes, "sleeping members woken")                              \
	X(coll, teams, "teams made")                                          \
	X(coll, compared, "long waits of which neighbours were told")         \
	X(coll, differ, "teams lost: members call operations differently")    \
	X(coll, teams_lost, "teams lost with a member")                       \
	X(coll, agreed, "agreements of those that live")

/* All counters. Y(name, description): the card's own, copied now and then. */
#define BCL_COUNTERS(X, Y)   \
	BCL_CORE_COUNTERS(X) \
	BCL_SHM_COUNTERS(X)  \
	BCL_HOST_COUNTERS(X) \
	BCL_ADI_COUNTERS(X)  \
	BCL_COLL_COUNTERS(X) \
	BCL_CARD_COUNTERS(Y)

#define BCL_X(area, name, text) BCL_COUNT_##area##_##name,
#define BCL_Y(name, text)	BCL_COUNT_card_##name,
enum bcl_counter_id {
	BCL_COUNTERS(BCL_X, BCL_Y) BCL_NCOUNTERS,
	BCL_COUNT_CARD = BCL_NCOUNTERS - BCL_CARD_NCOUNTERS, /* first card_ */
};
#undef BCL_X
#undef BCL_Y

/* Other processes, perhaps of another version, read the page. */
struct bcl_counter_page {
	_Atomic uint32_t magic; /* BCL_COUNTER_MAGIC, stored last */
	uint32_t ncounters;	/* in names[], values[] and ended[] */
	uint32_t port;		/* 0: a context's page */
	uint32_t spare0;
	uint64_t card; /* card id */
	uint8_t spare1[40];
	_Atomic uint64_t values[BCL_NCOUNTERS];
	uint64_t ended[BCL_NCOUNTERS]; /* of closed ports; under the
					* context's lock */
	char names[BCL_NCOUNTERS][32]; /* "area.name" */
};

enum {
	BCL_COUNTER_MAGIC = 0xbc1c0001,
};

/* The name of a page's memory. */
#define BCL_COUNTER_MEMORY "bcl-counters"

extern const char *const bcl_counter_names[BCL_NCOUNTERS];
extern const char *const bcl_counter_texts[BCL_NCOUNTERS];

/* Makes a page; *fd as in env->share(). NULL: no memory. */
struct bcl_counter_page *bcl_counters_open(const struct bcl_env *env,
					   uint64_t card, unsigned port,
					   int *fd);
void bcl_counters_close(const struct bcl_env *env,
			struct bcl_counter_page *page, int fd);

static inline void bcl_count_add(struct bcl_counter_page *page,
				 enum bcl_counter_id id, uint64_t n)
{
	uint64_t old =
		atomic_load_explicit(&page->values[id], memory_order_relaxed);

	atomic_store_explicit(&page->values[id], old + n, memory_order_relaxed);
}

/* bcl_count(port->counters, shm_ring_full) */
#define bcl_count(page, name) bcl_count_add(page, BCL_COUNT_##name, 1)

static inline uint64_t bcl_counter_get(const struct bcl_counter_page *page,
				       enum bcl_counter_id id)
{
	return atomic_load_explicit(&page->values[id], memory_order_relaxed);
}

#endif
