/* SPDX-License-Identifier: MIT */
/*
 * The real library and card core on simulated cards. Times are exact, because
 * time is virtual.
 */
#include <bcl/card_abi.h>
#include <bcl/coll.h>
#include <stdio.h>
#include <string.h>

#include "counter.h"
#include "env/crc32c.h"
#include "sim/job.h"
#include "unit.h"

#define SECOND 1000000000ull

/* All costs differ, so that a test fails if the simulator charges the wrong
 * cost. */
#define COSTS_WITH(frame_sent)                                     \
	"host send=1.1us receive=0.9us trap=2us pio-write=0.13us " \
	"copy=1GB/s\n"                                             \
	"card mtu=4KB buffers=16 frame-sent=" frame_sent           \
	" frame-received=1.7us read-start=2.3us read=250MB/s "     \
	"write-start=2.9us write=500MB/s\n"                        \
	"wire w bandwidth=200MB/s latency=50ns\n"                  \
	"crossbar x latency=700ns queue=1MB forwarding=cut-through\n"
#define COSTS COSTS_WITH("1.3us")

#define STAR "star switch crossbar=x wire=w\n"

static struct sim_cluster cluster;
static struct sim_job *job;

static void open_job(const char *text, uint64_t seed)
{
	char error[SIM_ERROR_SIZE];
	FILE *in = fmemopen((void *)text, strlen(text), "r");

	ck_assert_ptr_nonnull(in);
	ck_assert_msg(sim_cluster_read(&cluster, "test", in, error), "%s",
		      error);
	fclose(in);
	job = sim_job_open(&cluster, seed);
}

static void close_job(void)
{
	sim_job_close(job);
	sim_cluster_free(&cluster);
}

static uint64_t now(struct sim_rank *rank)
{
	return rank->env->now(rank->env->world);
}

static void run(void (*what)(struct sim_rank *rank))
{
	ck_assert_uint_eq(sim_job_run(job, what, NULL, 600 * SECOND), 0);
}

/* ---- two ports ---- */

struct side {
	struct sim_rank *rank;
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer *peer;
};

static void next(struct side *side, enum bcl_event_kind kind,
		 struct bcl_event *event)
{
	do {
		ck_assert_int_eq(bcl_wait(side->port, 60 * SECOND), BCL_OK);
	} while (bcl_poll(side->port, event));
	ck_assert_int_eq(event->kind, kind);
	ck_assert_int_eq(event->status, BCL_OK);
}

static struct bcl_peer *open_peer(struct side *side, unsigned rank)
{
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_peer *peer;
	size_t length;

	ck_assert_int_eq(bcl_boot_get(&side->rank->boot, rank, "address",
				      address, sizeof(address), &length),
			 BCL_OK);
	ck_assert_int_eq(bcl_peer_open(side->port, address, length, &peer),
			 BCL_OK);
	return peer;
}

/* Open the rank's port. After the fence the addresses of all ranks are
 * known. */
static void open_port(struct side *side, struct sim_rank *rank)
{
	struct bcl_boot *boot = &rank->boot;
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;

	side->rank = rank;
	ck_assert_int_eq(sim_rank_open(rank, &side->context), BCL_OK);
	ck_assert_int_eq(bcl_port_open(side->context, NULL, &side->port),
			 BCL_OK);
	ck_assert_int_eq(bcl_port_address(side->port, address, &length),
			 BCL_OK);
	ck_assert_int_eq(bcl_boot_put(boot, "address", address, length),
			 BCL_OK);
	ck_assert_int_eq(bcl_boot_fence(boot), BCL_OK);
}

/* Open the port, and the other rank as a peer. */
static void open_side(struct side *side, struct sim_rank *rank)
{
	struct bcl_event event;

	open_port(side, rank);
	side->peer = open_peer(side, 1 - rank->boot.rank);
	next(side, BCL_EVENT_PEER, &event);
}

static void close_side(struct side *side)
{
	bcl_boot_fence(&side->rank->boot);
	bcl_close(side->context);
}

/* Let acknowledgements come to an end. */
static void rest(struct side *side)
{
	sim_compute(sim_job_world(job), SECOND / 1000);
	bcl_boot_fence(&side->rank->boot);
}

/* ---- the time of a message ---- */

static uint64_t rate(uint64_t ps_per_byte, uint64_t bytes)
{
	return (ps_per_byte * bytes + 999) / 1000;
}

static uint64_t written(uint64_t bytes)
{
	const struct sim_dma_costs *costs = &cluster.costs.card.write;

	return costs->start + rate(costs->ps_per_byte, bytes);
}

/* Time from the call to the end of the doorbell. A request without references
 * takes six words. */
static uint64_t sending(uint64_t bytes)
{
	const struct sim_host_costs *costs = &cluster.costs.host;

	return costs->send + costs->trap +
	       (6 + (bytes + 7) / 8) * costs->pio_write;
}

/* Time from the doorbell to the handling of the frame, over two cables and a
 * switch. */
static uint64_t passing(uint64_t bytes)
{
	const struct sim_cable *cable = &cluster.cables[0].config;

	return cluster.costs.card.frame_sent +
	       rate(cable->ps_per_byte, BCL_HEADERS_SIZE + bytes) +
	       2 * cable->latency + cluster.switches[0].config.latency +
	       cluster.costs.card.frame_received;
}

static uint64_t receiving(uint64_t bytes)
{
	const struct sim_host_costs *costs = &cluster.costs.host;

	return written(bytes) + written(BCL_COMPLETION_SIZE) + costs->receive +
	       rate(costs->copy, bytes);
}

enum {
	ROUNDS = 8,
	ONE_FRAME = 3000, /* bytes */
};

static uint64_t sent_at, arrived_at, round_trip[ROUNDS];

/* cookie: not 0 if the sender waits for the end of the message */
static void send_one(struct sim_rank *rank, const void *bytes, size_t length,
		     uint64_t cookie)
{
	const struct iovec iov = { (void *)bytes, length };
	struct bcl_event event;
	struct side side;

	open_side(&side, rank);
	rest(&side);
	if (rank->boot.rank == 0) {
		sent_at = now(rank);
		ck_assert_int_eq(bcl_send(side.peer, 0, 0, &iov, 1, cookie),
				 BCL_OK);
		if (cookie)
			next(&side, BCL_EVENT_SENT, &event);
		round_trip[0] = now(rank) - sent_at;
	} else {
		next(&side, BCL_EVENT_MESSAGE, &event);
		arrived_at = now(rank);
		ck_assert_uint_eq(event.length, length);
		ck_assert_mem_eq(event.data, bytes, length);
	}
	rest(&side);
	close_side(&side);
}

static void one_message(struct sim_rank *rank)
{
	static const char bytes[24] = "how long does this take";

	send_one(rank, bytes, sizeof(bytes), 0);
}

START_TEST(a_message_takes_what_its_steps_take)
{
	open_job("cluster nodes=2\n" COSTS STAR, 1);
	run(one_message);
	ck_assert_uint_eq(arrived_at - sent_at,
			  sending(24) + passing(24) + receiving(24));
	close_job();
}
END_TEST

enum {
	LONGEST = BCL_REQUEST_INLINE,
};

static uint64_t call_took[LONGEST + 1];

/* Send messages of all lengths for which a request has room. */
static void calls(struct sim_rank *rank)
{
	static const char bytes[LONGEST];
	struct bcl_event event;
	struct side side;
	uint64_t start;
	unsigned i;

	open_side(&side, rank);
	rest(&side);
	for (i = 0; i <= LONGEST; i++) {
		const struct iovec iov = { (void *)bytes, i };

		if (rank->boot.rank == 1) {
			next(&side, BCL_EVENT_MESSAGE, &event);
			continue;
		}
		start = now(rank);
		ck_assert_int_eq(bcl_send(side.peer, 0, i, &iov, 1, 0), BCL_OK);
		call_took[i] = now(rank) - start;
		sim_compute(sim_job_world(job), SECOND / 10000);
	}
	rest(&side);
	close_side(&side);
}

/* The host writes a message to the card if the write takes no longer than a
 * copy that the card fetches. The host writes up to five words, 1 us each. A
 * fetched message costs two words that tell the place, and 3 us. */
START_TEST(what_takes_longer_to_be_written_is_fetched)
{
	unsigned i;

	open_job("cluster nodes=2\n"
		 "host send=1us receive=1us trap=1us pio-write=1us "
		 "copy=100GB/s\n"
		 "card mtu=4KB frame-sent=1us frame-received=1us "
		 "read-start=3us read=100GB/s write-start=1us write=1GB/s\n"
		 "wire w bandwidth=1GB/s latency=50ns\n"
		 "crossbar x latency=700ns queue=1MB "
		 "forwarding=cut-through\n" STAR,
		 1);
	run(calls);
	for (i = 0; i <= 40; i++)
		ck_assert_uint_eq(call_took[i], sending(i));
	for (; i <= LONGEST; i++)
		ck_assert_uint_eq(call_took[i],
				  sending(16) +
					  rate(cluster.costs.host.copy, i));
	close_job();
}
END_TEST

static struct {
	uint64_t at[2];
	unsigned n;
} left;

static bool leaves(void *arg, struct sim_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->bytes;

	(void)arg;
	if ((header->kind & ~BCL_FRAME_PCRC) == BCL_FRAME_DATA && left.n < 2)
		left.at[left.n++] = sim_world_clock(sim_job_world(job))->now;
	return true;
}

static void two_messages(struct sim_rank *rank)
{
	static const char bytes[24];
	const struct iovec iov = { (void *)bytes, sizeof(bytes) };
	struct bcl_event event;
	struct side side;
	unsigned i;

	open_side(&side, rank);
	rest(&side);
	left.n = 0;
	for (i = 0; i < 2; i++)
		if (rank->boot.rank == 0)
			ck_assert_int_eq(bcl_send(side.peer, 0, i, &iov, 1, 0),
					 BCL_OK);
		else
			next(&side, BCL_EVENT_MESSAGE, &event);
	rest(&side);
	close_side(&side);
}

/* The card must not know of a request before the host has written the
 * request. */
START_TEST(messages_leave_one_by_one)
{
	open_job("cluster nodes=2\n" COSTS STAR, 1);
	sim_fabric_watch(sim_job_fabric(job), leaves, NULL);
	run(two_messages);
	ck_assert_uint_eq(left.n, 2);
	ck_assert_uint_eq(left.at[1] - left.at[0], sending(24));
	close_job();
}
END_TEST

static uint64_t computed, taken;

static void busy_receiver(struct sim_rank *rank)
{
	static const char bytes[24];
	const struct iovec iov = { (void *)bytes, sizeof(bytes) };
	struct bcl_event event;
	struct side side;
	uint64_t start;

	open_side(&side, rank);
	rest(&side);
	if (rank->boot.rank == 0) {
		bcl_send(side.peer, 0, 0, &iov, 1, 0);
	} else {
		start = now(rank);
		sim_compute(sim_job_world(job), SECOND / 1000);
		computed = now(rank) - start;
		ck_assert_int_eq(bcl_poll(side.port, &event), BCL_OK);
		taken = now(rank) - start - computed;
	}
	rest(&side);
	close_side(&side);
}

/* No message interrupts a busy processor. */
START_TEST(what_has_come_takes_time_when_it_is_taken)
{
	const struct sim_host_costs *costs = &cluster.costs.host;

	open_job("cluster nodes=2\n" COSTS STAR, 1);
	run(busy_receiver);
	ck_assert_uint_eq(computed, SECOND / 1000);
	ck_assert_uint_eq(taken, costs->receive + rate(costs->copy, 24));
	close_job();
}
END_TEST

static void one_frame(struct sim_rank *rank)
{
	static const char bytes[ONE_FRAME];

	send_one(rank, bytes, sizeof(bytes), 1);
}

/* A sender that waits for the end of a message must learn of the end without an
 * answer, also if the message is one frame. The acknowledgement must not wait
 * for a frame to travel in. */
START_TEST(a_message_of_one_frame_ends_when_it_has_come)
{
	open_job("cluster nodes=2\n" COSTS STAR, 1);
	run(one_frame);
	ck_assert_uint_lt(round_trip[0], 2 * (arrived_at - sent_at));
	close_job();
}
END_TEST

static void one_put(struct sim_rank *rank)
{
	static uint64_t word, target;
	uint8_t key[BCL_KEY_MAX];
	struct bcl_memory *memory;
	struct bcl_event event;
	struct side side;
	size_t length;

	open_side(&side, rank);
	if (rank->boot.rank == 1) {
		ck_assert_int_eq(bcl_memory_register(side.context, &target,
						     sizeof(target),
						     BCL_REMOTE_WRITE, &memory),
				 BCL_OK);
		bcl_memory_key(memory, key);
		bcl_boot_put(&rank->boot, "key", key, sizeof(key));
	}
	rest(&side);
	if (rank->boot.rank == 0) {
		bcl_boot_get(&rank->boot, 1, "key", key, sizeof(key), &length);
		sent_at = now(rank);
		bcl_put_notify(side.peer, key, 0, &word, sizeof(word), 0, 0, 1);
		next(&side, BCL_EVENT_SENT, &event);
		round_trip[0] = now(rank) - sent_at;
	} else {
		next(&side, BCL_EVENT_NOTIFY, &event);
		arrived_at = now(rank);
	}
	rest(&side);
	close_side(&side);
}

/* Puts of any length: the end of a put says only that the put has come. */
START_TEST(a_put_ends_when_it_has_come)
{
	open_job("cluster nodes=2\n" COSTS STAR, 1);
	run(one_put);
	ck_assert_uint_lt(round_trip[0], 2 * (arrived_at - sent_at));
	close_job();
}
END_TEST

/* Node 1 sends to node 2 while a message comes from node 0. */
static void messages_beside_others(struct sim_rank *rank)
{
	enum {
		OTHERS = 12
	};
	static const char bytes[ONE_FRAME];
	struct iovec iov = { (void *)bytes, 1100 };
	struct bcl_event event;
	struct side side;
	unsigned i;

	open_port(&side, rank);
	open_peer(&side, (rank->boot.rank + 2) % 3);
	side.peer = open_peer(&side, (rank->boot.rank + 1) % 3);
	for (i = 0; i < 2; i++)
		next(&side, BCL_EVENT_PEER, &event);
	for (; iov.iov_len < ONE_FRAME; iov.iov_len += 100) {
		rest(&side);
		sent_at = now(rank);
		switch (rank->boot.rank) {
		case 0:
			bcl_send(side.peer, 0, 0, &iov, 1, 1);
			next(&side, BCL_EVENT_SENT, &event);
			ck_assert_uint_lt(now(rank) - sent_at, 150000);
			break;
		case 1:
			for (i = 0; i < OTHERS; i++)
				bcl_send(side.peer, 0, 0, NULL, 0, 0);
			next(&side, BCL_EVENT_MESSAGE, &event);
			break;
		case 2:
			for (i = 0; i < OTHERS; i++)
				next(&side, BCL_EVENT_MESSAGE, &event);
			break;
		}
	}
	rest(&side);
	close_side(&side);
}

/* The sender must learn of the end when the receiver's card has no more to do,
 * whatever the card did last. The acknowledgement must not wait for a frame to
 * travel in. */
START_TEST(a_message_ends_though_its_receiver_sends)
{
	open_job("cluster nodes=3\n" COSTS_WITH("6us") STAR, 1);
	run(messages_beside_others);
	close_job();
}
END_TEST

static void ping_pong(struct sim_rank *rank)
{
	struct bcl_event event;
	struct side side;
	unsigned i;

	open_side(&side, rank);
	rest(&side);
	for (i = 0; i < ROUNDS; i++) {
		uint64_t start = now(rank);

		if (rank->boot.rank == 0)
			bcl_send(side.peer, 0, i, NULL, 0, 0);
		next(&side, BCL_EVENT_MESSAGE, &event);
		ck_assert_uint_eq(event.immediate, i);
		if (rank->boot.rank == 1)
			bcl_send(side.peer, 0, i, NULL, 0, 0);
		else
			round_trip[i] = now(rank) - start;
	}
	rest(&side);
	close_side(&side);
}

/* The card writes the verdict that comes with an answer behind the answer. The
 * other work of the processor fits into the time that the processor waits. */
START_TEST(a_round_trip_takes_two_messages)
{
	uint64_t way;
	unsigned i;

	open_job("cluster nodes=2\n" COSTS STAR, 1);
	run(ping_pong);
	way = sending(0) + passing(0) + receiving(0) - written(0);
	for (i = 0; i < ROUNDS; i++)
		ck_assert_uint_eq(round_trip[i], 2 * way);
	close_job();
}
END_TEST

enum {
	ANSWERS = 200,
};

static uint64_t acks;

/* Answers to messages come at different times, at most 378 us later. */
static void answer_late(struct sim_rank *rank)
{
	struct sim_world *world = sim_job_world(job);
	struct bcl_event event;
	struct side side;
	uint64_t before;
	unsigned i;

	open_side(&side, rank);
	rest(&side);
	before = counter_of(side.context, "card.acks_sent");
	for (i = 0; i < ANSWERS; i++) {
		if (rank->boot.rank == 0)
			bcl_send(side.peer, 0, i, NULL, 0, 0);
		next(&side, BCL_EVENT_MESSAGE, &event);
		if (rank->boot.rank == 1) {
			sim_compute(world, i % 8 * 54000ull);
			bcl_send(side.peer, 0, i, NULL, 0, 0);
		}
	}
	acks += counter_of(side.context, "card.acks_sent") - before;
	rest(&side);
	close_side(&side);
}

/* The next frame back must acknowledge a message. An acknowledgement alone
 * waits for a frame back for ack_delay at least. */
START_TEST(answers_acknowledge)
{
	open_job("cluster nodes=2\n" COSTS STAR, 1);
	acks = 0;
	run(answer_late);
	ck_assert_uint_eq(acks, 0);
	close_job();
}
END_TEST

static void look_at_peer(struct sim_rank *rank)
{
	const struct sim_costs *costs = &cluster.costs;
	uint64_t sends = sending(0), beyond = 2 * costs->card.write.start;
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	struct side side;

	open_side(&side, rank);
	rest(&side);
	bcl_peer_info(side.peer, &info);
	ck_assert_double_eq(info.overhead, (double)sends / 1000);
	ck_assert_double_ge(info.latency,
			    (double)(beyond + costs->host.receive) / 1000);
	/* The bandwidth of the wire, for payload alone. */
	ck_assert_double_eq_tol(
		info.bandwidth,
		200 * 1.048576 * (4096 - BCL_HEADERS_SIZE) / 4096, 0.1);
	close_side(&side);
}

START_TEST(peers_tell_what_messages_cost)
{
	open_job("cluster nodes=2\n" COSTS STAR, 1);
	run(look_at_peer);
	close_job();
}
END_TEST

/* ---- long messages ---- */

enum {
	LONG = 4 << 20,
};

static uint64_t took, again;

static void fill(uint8_t *bytes, size_t length, unsigned seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = (uint8_t)(i * 7 + (i >> 8) + seed);
}

static void long_message(struct sim_rank *rank)
{
	uint8_t *bytes = malloc(LONG), *expected = malloc(LONG);
	struct bcl_event event;
	struct side side;

	open_side(&side, rank);
	fill(expected, LONG, 5);
	if (rank->boot.rank == 0) {
		uint8_t token[BCL_KEY_MAX];
		const struct iovec iov = { token, sizeof(token) };

		ck_assert_int_eq(bcl_offer(side.peer, expected, LONG, 1, token),
				 BCL_OK);
		ck_assert_int_eq(bcl_send(side.peer, 0, 0, &iov, 1, 0), BCL_OK);
		next(&side, BCL_EVENT_READ, &event);
	} else {
		uint64_t start;

		next(&side, BCL_EVENT_MESSAGE, &event);
		start = now(rank);
		ck_assert_int_eq(
			bcl_pull(side.peer, event.data, bytes, LONG, 2),
			BCL_OK);
		next(&side, BCL_EVENT_PULLED, &event);
		took = now(rank) - start;
		ck_assert_mem_eq(bytes, expected, LONG);
	}
	close_side(&side);
	free(bytes);
	free(expected);
}

/* In each case another stage is slow. */
static const struct stage {
	const char *name, *card, *wire;
} stages[] = {
	{ "processor that sends",
	  "frame-sent=40us frame-received=1us read=1GB/s write=1GB/s",
	  "1GB/s" },
	{ "processor that receives",
	  "frame-sent=1us frame-received=40us read=1GB/s write=1GB/s",
	  "1GB/s" },
	{ "read engine",
	  "frame-sent=1us frame-received=1us read-start=20us read=200MB/s "
	  "write=1GB/s",
	  "1GB/s" },
	{ "write engine",
	  "frame-sent=1us frame-received=1us read=1GB/s write-start=20us "
	  "write=200MB/s",
	  "1GB/s" },
	{ "wire", "frame-sent=1us frame-received=1us read=1GB/s write=1GB/s",
	  "100MB/s" },
};

/* The time of the slowest stage for all frames. An engine begins a frame while
 * the engine moves the frame before. */
static uint64_t least(void)
{
	const struct sim_card_costs *card = &cluster.costs.card;
	uint64_t payload = card->mtu - BCL_HEADERS_SIZE;
	const uint64_t ns[] = {
		card->frame_sent,
		card->frame_received,
		rate(card->read.ps_per_byte, payload),
		rate(card->write.ps_per_byte, payload),
		rate(cluster.cables[0].config.ps_per_byte, card->mtu),
	};
	uint64_t most = 0;
	unsigned i;

	for (i = 0; i < sizeof(ns) / sizeof(*ns); i++)
		if (ns[i] > most)
			most = ns[i];
	return LONG / payload * most;
}

START_TEST(a_long_message_goes_at_the_pace_of_its_slowest_stage)
{
	const struct stage *stage = &stages[_i];
	char text[1024];

	snprintf(text, sizeof(text),
		 "cluster nodes=2\n"
		 "host send=1us receive=1us trap=1us copy=1GB/s\n"
		 "card mtu=4096B buffers=32 %s\n"
		 "wire w bandwidth=%s latency=50ns\n"
		 "crossbar x latency=700ns queue=1MB "
		 "forwarding=cut-through\n" STAR,
		 stage->card, stage->wire);
	open_job(text, 1);
	run(long_message);
	ck_assert_msg(took > least() && took < least() * 1.1,
		      "%s: %llu ns instead of %llu", stage->name,
		      (unsigned long long)took, (unsigned long long)least());
	close_job();
}
END_TEST

/* Each rank takes a long message from the node before, and gives a message to
 * the next node. The ranks have different times, so the longest time counts. */
static void exchange(struct sim_rank *rank)
{
	enum {
		LENGTH = LONG / 8,
	};
	unsigned size = rank->boot.size, ranks = size / cluster.nodes;
	uint8_t *give = malloc(LENGTH), *take = malloc(LENGTH);
	uint8_t token[BCL_KEY_MAX], theirs[BCL_KEY_MAX];
	const struct iovec iov = { token, sizeof(token) };
	unsigned left = 3; /* the token, READ, PULLED */
	struct bcl_peer *from, *to;
	struct bcl_event event;
	struct side side;
	uint64_t start;

	open_port(&side, rank);
	from = open_peer(&side, (rank->boot.rank + size - ranks) % size);
	to = open_peer(&side, (rank->boot.rank + ranks) % size);
	next(&side, BCL_EVENT_PEER, &event);
	next(&side, BCL_EVENT_PEER, &event);
	rest(&side);
	fill(give, LENGTH, rank->boot.rank);
	start = now(rank);
	ck_assert_int_eq(bcl_offer(to, give, LENGTH, 1, token), BCL_OK);
	ck_assert_int_eq(bcl_send(to, 0, 0, &iov, 1, 0), BCL_OK);
	while (left) {
		ck_assert_int_eq(bcl_wait(side.port, 60 * SECOND), BCL_OK);
		if (bcl_poll(side.port, &event))
			continue;
		ck_assert_int_eq(event.status, BCL_OK);
		left--;
		if (event.kind != BCL_EVENT_MESSAGE)
			continue;
		memcpy(theirs, event.data, sizeof(theirs));
		ck_assert_int_eq(bcl_pull(from, theirs, take, LENGTH, 2),
				 BCL_OK);
	}
	if (now(rank) - start > took)
		took = now(rank) - start;
	fill(give, LENGTH, (rank->boot.rank + size - ranks) % size);
	ck_assert_mem_eq(take, give, LENGTH);
	again += counter_of(side.context, "card.retransmitted");
	acks += counter_of(side.context, "card.acks_sent");
	close_side(&side);
	free(give);
	free(take);
}

/* Cards must send and receive at once at the pace of the wires. Few frames may
 * be acknowledgements, no acknowledgement may wait behind all data, and no card
 * may take an overtaken frame for lost. */
START_TEST(both_ways_go_at_the_pace_of_the_wire)
{
	const unsigned ranks = _i ? 4 : 1;
	char text[1024];
	uint64_t frames;

	snprintf(text, sizeof(text),
		 "cluster nodes=5 ranks=%u\n"
		 "host send=1us receive=1us trap=1us copy=1GB/s\n"
		 "card mtu=1KB buffers=16 frame-sent=2us frame-received=2us "
		 "read-start=1us read=250MB/s write-start=1us write=250MB/s\n"
		 "wire w bandwidth=160MB/s latency=50ns\n"
		 "crossbar x latency=700ns queue=1MB "
		 "forwarding=cut-through\n" STAR,
		 ranks);
	took = 0;
	again = acks = 0;
	open_job(text, 1);
	run(exchange);
	frames = ranks * (LONG / 8) / (1024 - BCL_HEADERS_SIZE);
	ck_assert_uint_eq(again, 0);
	ck_assert_uint_lt(acks, cluster.nodes * frames / 6);
	ck_assert_uint_lt(
		took, frames *
			      rate(cluster.cables[0].config.ps_per_byte, 1024) *
			      11 / 10);
	close_job();
}
END_TEST

/* ---- collectives ---- */

enum {
	WORDS = 3000,
};

static void all_together(struct sim_rank *rank)
{
	unsigned size = rank->boot.size, me = rank->boot.rank, i, round;
	static const size_t counts[] = { 1, 100, WORDS };
	int64_t *mine = malloc(WORDS * sizeof(*mine));
	int64_t *sums = malloc(WORDS * sizeof(*sums));
	struct bcl_team *team;
	struct bcl_adi *adi;

	ck_assert_int_eq(sim_rank_join(rank, &adi), BCL_OK);
	ck_assert_int_eq(bcl_team_world(adi, &team), BCL_OK);
	for (round = 0; round < 3; round++) {
		size_t n = counts[round];

		for (i = 0; i < n; i++)
			mine[i] = (int64_t)(me + 1) * (i + 1);
		ck_assert_int_eq(bcl_barrier(team), BCL_OK);
		ck_assert_int_eq(
			bcl_allreduce(team, mine, sums, n,
				      bcl_reduction(BCL_SUM, BCL_INT64)),
			BCL_OK);
		for (i = 0; i < n; i++)
			ck_assert_int_eq(sums[i], (int64_t)size * (size + 1) /
							  2 * (i + 1));
		if (me == round)
			mine[n - 1] = 4711 + round;
		ck_assert_int_eq(
			bcl_broadcast(team, mine, n * sizeof(*mine), round),
			BCL_OK);
		ck_assert_int_eq(mine[n - 1], 4711 + round);
	}
	bcl_team_free(team);
	sim_rank_leave(adi);
	free(mine);
	free(sums);
}

START_TEST(collectives_on_eight_nodes)
{
	open_job("cluster nodes=8\n" COSTS STAR, 1);
	sim_job_peers(job, 7);
	run(all_together);
	close_job();
}
END_TEST

START_TEST(collectives_with_two_ranks_and_rails_to_a_node)
{
	open_job("cluster nodes=4 ranks=2 rails=2\n" COSTS STAR, 1);
	run(all_together);
	close_job();
}
END_TEST

/* ---- the same again; losses ---- */

struct record {
	uint32_t frames, lost, hash;
	bool lossy;
};

static bool recorded(void *arg, struct sim_frame *frame)
{
	struct record *record = arg;
	uint64_t moment = sim_world_clock(sim_job_world(job))->now;

	record->hash = bcl_crc32c(record->hash, &moment, sizeof(moment));
	record->hash = bcl_crc32c(record->hash, frame->bytes, frame->length);
	if (record->lossy && record->frames++ % 19 == 7) {
		record->lost++;
		sim_frame_free(frame);
		return false;
	}
	return true;
}

static void record_run(struct record *record, uint64_t seed)
{
	open_job("cluster nodes=4 ranks=2\n" COSTS STAR, seed);
	sim_fabric_watch(sim_job_fabric(job), recorded, record);
	run(all_together);
	close_job();
}

START_TEST(a_seed_decides_everything)
{
	struct record first = { 0 }, again = { 0 }, other = { 0 };

	record_run(&first, 5);
	record_run(&again, 5);
	record_run(&other, 6);
	ck_assert_uint_eq(first.hash, again.hash);
	ck_assert_uint_ne(first.hash, other.hash);
}
END_TEST

START_TEST(lost_frames_are_sent_again)
{
	struct record record = { .lossy = true };

	record_run(&record, 5);
	ck_assert_uint_gt(record.lost, 10);
}
END_TEST

START_TEST(a_long_message_survives_losses)
{
	struct record record = { .lossy = true };

	open_job("cluster nodes=2\n" COSTS STAR, 5);
	sim_fabric_watch(sim_job_fabric(job), recorded, &record);
	run(long_message);
	ck_assert_uint_gt(record.lost, 50);
	close_job();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim card");
	TCase *tcase = tcase_create("sim card");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, a_message_takes_what_its_steps_take);
	tcase_add_test(tcase, what_takes_longer_to_be_written_is_fetched);
	tcase_add_test(tcase, messages_leave_one_by_one);
	tcase_add_test(tcase, what_has_come_takes_time_when_it_is_taken);
	tcase_add_test(tcase, a_round_trip_takes_two_messages);
	tcase_add_test(tcase, answers_acknowledge);
	tcase_add_test(tcase, peers_tell_what_messages_cost);
	tcase_add_loop_test(
		tcase, a_long_message_goes_at_the_pace_of_its_slowest_stage, 0,
		sizeof(stages) / sizeof(*stages));
	tcase_add_test(tcase, a_message_of_one_frame_ends_when_it_has_come);
	tcase_add_test(tcase, a_put_ends_when_it_has_come);
	tcase_add_test(tcase, a_message_ends_though_its_receiver_sends);
	tcase_add_loop_test(tcase, both_ways_go_at_the_pace_of_the_wire, 0, 2);
	tcase_add_test(tcase, collectives_on_eight_nodes);
	tcase_add_test(tcase, collectives_with_two_ranks_and_rails_to_a_node);
	tcase_add_test(tcase, a_seed_decides_everything);
	tcase_add_test(tcase, lost_frames_are_sent_again);
	tcase_add_test(tcase, a_long_message_survives_losses);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
