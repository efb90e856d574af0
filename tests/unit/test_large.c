/* SPDX-License-Identifier: MIT */
/* Rendezvous inside a host: offers, pulls, posted channels; both ways of
 * copying. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/ranks.h"
#include "tests/unit/unit.h"
#include "transport/context.h"

static const size_t lengths[] = {
	0,     1,     7,     4095,   4096,    4097,    32767,	32768,	  32769,
	65535, 65536, 65537, 131073, 1 << 20, 8 << 20, 8388609, 33 << 20,
};

enum {
	NLENGTHS = sizeof(lengths) / sizeof(*lengths),
	ROOM = 34 << 20,
};

static uint8_t byte_at(uint64_t seed, size_t i)
{
	return (uint8_t)((i * 0x9e3779b1 >> 13) + seed);
}

static void fill(uint8_t *at, size_t length, uint64_t seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		at[i] = byte_at(seed, i);
}

static void check(const uint8_t *at, size_t length, uint64_t seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (at[i] != byte_at(seed, i))
			ck_abort_msg("byte %zu of %zu is wrong", i, length);
}

static uint8_t *room(void)
{
	uint8_t *at = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

/* Offer, send the token; the peer pulls. */
static void offer(struct rank *rank, const void *buffer, size_t length,
		  uint64_t cookie)
{
	uint8_t token[BCL_KEY_MAX];

	ck_assert_int_eq(bcl_offer(rank->peers[!rank->me], buffer, length,
				   cookie, token),
			 BCL_OK);
	rank_send(rank, !rank->me, length, token, sizeof(token));
}

static void take_token(struct rank *rank, uint8_t token[BCL_KEY_MAX])
{
	struct bcl_event event;

	rank_expect(rank, BCL_EVENT_MESSAGE, &event);
	ck_assert_uint_eq(event.length, BCL_KEY_MAX);
	memcpy(token, event.data, BCL_KEY_MAX);
}

static void pull_one(struct rank *rank, void *buffer, size_t length,
		     enum bcl_status status)
{
	uint8_t token[BCL_KEY_MAX];
	struct bcl_event event;

	take_token(rank, token);
	ck_assert_int_eq(
		bcl_pull(rank->peers[!rank->me], token, buffer, length, 99),
		BCL_OK);
	rank_expect(rank, BCL_EVENT_PULLED, &event);
	ck_assert_uint_eq(event.cookie, 99);
	ck_assert_int_eq(event.status, status);
	if (!status)
		ck_assert_uint_eq(event.length, length);
}

static void expect_read(struct rank *rank, uint64_t cookie,
			enum bcl_status status)
{
	struct bcl_event event;

	rank_expect(rank, BCL_EVENT_READ, &event);
	ck_assert_uint_eq(event.cookie, cookie);
	ck_assert_int_eq(event.status, status);
}

/* Every length, unaligned on both sides, with guards around. */
static void each_length(struct rank *rank)
{
	uint8_t *buffer = room();
	unsigned i;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	for (i = 0; i < NLENGTHS; i++) {
		size_t length = lengths[i], skew = rank->me ? 24 : i % 16;
		uint8_t *at = buffer + 64 + skew;

		if (rank->me == 0) {
			fill(at, length, i);
			offer(rank, at, length, i);
			expect_read(rank, i, BCL_OK);
		} else {
			memset(buffer, 0xee, length + 256);
			pull_one(rank, at, length, BCL_OK);
			check(at, length, i);
			ck_assert_int_eq(at[-1], 0xee);
			ck_assert_int_eq(at[length], 0xee);
		}
	}
	rank_barrier(rank);
	if (rank->me == 1 && getenv("BCL_ATTACH"))
		ck_assert_uint_gt(rank_counter(rank, "shm.bytes_bounced"), 0);
	rank_barrier(rank);
}

static void use_attach(int attach)
{
	if (attach)
		unsetenv("BCL_ATTACH");
	else
		setenv("BCL_ATTACH", "0", 1);
}

static void each_way(rank_body *body, int attach)
{
	use_attach(attach);
	ranks_run(2, body, 0);
}

START_TEST(lengths_copied)
{
	each_way(each_length, _i);
}
END_TEST

/* Both sides copy: the receiver waits until the sender has done a part. */
static void both_copy(struct rank *rank, size_t length)
{
	uint8_t *buffer = room(), token[BCL_KEY_MAX];
	struct bcl_event event;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	if (rank->me == 0) {
		fill(buffer, length, 8);
		offer(rank, buffer, length, 1);
		while (!rank_counter(rank, "shm.bytes_joined"))
			rank_idle(rank, 1);
		atomic_store(&rank->all->signals[0], 1);
		expect_read(rank, 1, BCL_OK);
	} else {
		take_token(rank, token);
		ck_assert_int_eq(
			bcl_pull(rank->peers[0], token, buffer, length, 9),
			BCL_OK);
		while (!atomic_load(&rank->all->signals[0]))
			sched_yield();
		rank_expect(rank, BCL_EVENT_PULLED, &event);
		ck_assert_int_eq(event.status, BCL_OK);
		check(buffer, length, 8);
	}
}

/* The bounce area has room for the message, so both sides copy through the
 * bounce area. */
static void feed(struct rank *rank)
{
	both_copy(rank, 1 << 20);
	if (rank->me)
		ck_assert_uint_gt(rank_counter(rank, "shm.bytes_bounced"), 0);
	rank_barrier(rank);
}

static void copy_halves(struct rank *rank)
{
	both_copy(rank, 8 << 20);
	ck_assert_uint_eq(rank_counter(rank, "shm.bytes_bounced"), 0);
	rank_barrier(rank);
}

START_TEST(both_sides)
{
	ranks_run(2, _i ? copy_halves : feed, 0);
}
END_TEST

/* The sender computes: the receiver goes on alone (with attach). */
static void sender_away(struct rank *rank)
{
	uint8_t *buffer = room();
	enum {
		LENGTH = 1 << 20
	};

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	if (rank->me == 0) {
		fill(buffer, LENGTH, 3);
		offer(rank, buffer, LENGTH, 3);
		while (!atomic_load(&rank->all->signals[0]))
			usleep(1000);
		expect_read(rank, 3, BCL_OK);
		ck_assert_uint_eq(rank_counter(rank, "shm.bytes_joined"), 0);
	} else {
		pull_one(rank, buffer, LENGTH, BCL_OK);
		check(buffer, LENGTH, 3);
		atomic_store(&rank->all->signals[0], 1);
	}
	rank_barrier(rank);
}

START_TEST(away)
{
	ranks_run(2, sender_away, 0);
}
END_TEST

/* With more ranks than processors the sender may be without one: the receiver
 * copies alone, although the sender looks for messages. */
static void receive_crowded(struct rank *rank)
{
	uint8_t *buffer = room();
	enum {
		LENGTH = 1 << 20
	};

	rank->context->crowded = true;
	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	if (rank->me == 0) {
		fill(buffer, LENGTH, 3);
		offer(rank, buffer, LENGTH, 3);
		expect_read(rank, 3, BCL_OK);
		ck_assert_uint_eq(rank_counter(rank, "shm.bytes_joined"), 0);
	} else {
		pull_one(rank, buffer, LENGTH, BCL_OK);
		check(buffer, LENGTH, 3);
	}
	rank_barrier(rank);
}

START_TEST(crowded)
{
	ranks_run(2, receive_crowded, 0);
}
END_TEST

/* A sender was away and has left its halves to the receiver. The receiver must
 * ask the sender seldom, and the sender must copy again once back. */
static uint64_t messages_sent(struct rank *rank)
{
	return rank_counter(rank, "shm.messages_line") +
	       rank_counter(rank, "shm.messages_ring");
}

static void offer_until_joined(struct rank *rank, uint8_t *buffer,
			       size_t length, unsigned n)
{
	struct bcl_event event;
	unsigned i;

	for (i = 0; i < n; i++) {
		offer(rank, buffer, length, i);
		while (bcl_poll(rank->port, &event)) {
			if (rank_counter(rank, "shm.bytes_joined"))
				atomic_store(&rank->all->signals[1], 1);
			sched_yield();
		}
		ck_assert_int_eq(event.kind, BCL_EVENT_READ);
	}
	ck_assert_uint_gt(rank_counter(rank, "shm.bytes_joined"), 0);
}

static void sender_back(struct rank *rank)
{
	enum {
		LENGTH = 64 << 10,
		N = 30,
		RETRY = 8, /* pull.c */
	};
	uint8_t *buffer = room(), token[N][BCL_KEY_MAX];
	struct bcl_event event;
	uint64_t before;
	unsigned i;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	fill(buffer, LENGTH, 3);
	if (rank->me == 0) {
		for (i = 0; i < N; i++)
			offer(rank, buffer, LENGTH, i);
		while (!atomic_load(&rank->all->signals[0]))
			usleep(1000);
		for (i = 0; i < N; i++)
			expect_read(rank, i, BCL_OK);
		ck_assert_uint_eq(rank_counter(rank, "shm.bytes_joined"), 0);
		rank_barrier(rank);
		offer_until_joined(rank, buffer, LENGTH, RETRY);
		rank_barrier(rank);
		return;
	}
	for (i = 0; i < N; i++)
		take_token(rank, token[i]);
	before = messages_sent(rank);
	for (i = 0; i < N; i++) {
		ck_assert_int_eq(
			bcl_pull(rank->peers[0], token[i], buffer, LENGTH, i),
			BCL_OK);
		rank_expect(rank, BCL_EVENT_PULLED, &event);
		ck_assert_int_eq(event.status, BCL_OK);
		check(buffer, LENGTH, 3);
	}
	/* one message for each read, and a few requests */
	before = messages_sent(rank) - before;
	ck_assert_uint_gt(before, N);
	ck_assert_uint_lt(before, N + N / 2);
	atomic_store(&rank->all->signals[0], 1);
	rank_barrier(rank);
	for (i = 0; i < RETRY; i++) {
		take_token(rank, token[0]);
		before = rank_counter(rank, "shm.bytes_pulled");
		ck_assert_int_eq(
			bcl_pull(rank->peers[0], token[0], buffer, LENGTH, 9),
			BCL_OK);
		/* leave the other half to the sender */
		while (rank_counter(rank, "shm.bytes_pulled") == before &&
		       !atomic_load(&rank->all->signals[1]))
			sched_yield();
		rank_expect(rank, BCL_EVENT_PULLED, &event);
		check(buffer, LENGTH, 3);
	}
	rank_barrier(rank);
}

START_TEST(back)
{
	ranks_run(2, sender_back, 0);
}
END_TEST

/* One of three ranks is stopped, as in a debugger, for longer than silence
 * between nodes may last. No rank may take the stopped rank for dead. The
 * stopped rank must get all messages in the end, and must not hold up the two
 * ranks that run. */
enum {
	STOPPED_LENGTH = 256 << 10,
	STOPPED_SHORT = 50, /* messages to the stopped rank */
	STOPPED_TURNS = 150,
	STOPPED_PAUSE = 10, /* ms, between turns */
};

static bool is_stopped(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state == 'T';
}

static void with_one_stopped(struct rank *rank)
{
	uint8_t *buffer = room(), *other = room(), token[BCL_KEY_MAX];
	struct bcl_event event;
	unsigned i;
	pid_t pid;

	ck_assert_int_eq(rank_connect(rank, 1), BCL_OK);
	ck_assert_int_eq(rank_connect(rank, 2), BCL_OK);
	atomic_store(&rank->all->signals[0], 1);
	do {
		rank_idle(rank, 1);
		pid = rank->all->rank[2].pid;
	} while (!is_stopped(pid));
	fill(other, STOPPED_LENGTH, 2);
	ck_assert_int_eq(
		bcl_offer(rank->peers[2], other, STOPPED_LENGTH, 77, token),
		BCL_OK);
	rank_send(rank, 2, STOPPED_LENGTH, token, sizeof(token));
	for (i = 0; i < STOPPED_SHORT; i++)
		rank_send(rank, 2, i, &i, sizeof(i));
	for (i = 0; i < STOPPED_TURNS; i++) {
		fill(buffer, STOPPED_LENGTH, i);
		offer(rank, buffer, STOPPED_LENGTH, i);
		expect_read(rank, i, BCL_OK);
		rank_idle(rank, STOPPED_PAUSE);
	}
	ck_assert(is_stopped(pid));
	ck_assert_int_eq(kill(pid, SIGCONT), 0);
	rank_expect(rank, BCL_EVENT_READ, &event);
	ck_assert_uint_eq(event.cookie, 77);
	ck_assert_int_eq(event.status, BCL_OK);
	ck_assert_uint_eq(rank_counter(rank, "core.peers_lost"), 0);
}

static void while_one_is_stopped(struct rank *rank)
{
	uint8_t *buffer = room(), token[BCL_KEY_MAX];
	struct bcl_event event;
	unsigned i;

	if (!rank->me) {
		with_one_stopped(rank);
		rank_barrier(rank);
		return;
	}
	rank_expect(rank, BCL_EVENT_PEER, &event);
	rank->peers[0] = event.peer;
	if (rank->me == 1) {
		for (i = 0; i < STOPPED_TURNS; i++) {
			pull_one(rank, buffer, STOPPED_LENGTH, BCL_OK);
			check(buffer, STOPPED_LENGTH, i);
		}
		rank_barrier(rank);
		return;
	}
	while (!atomic_load(&rank->all->signals[0]))
		rank_idle(rank, 1);
	raise(SIGSTOP);
	take_token(rank, token);
	for (i = 0; i < STOPPED_SHORT; i++) {
		rank_expect(rank, BCL_EVENT_MESSAGE, &event);
		ck_assert_uint_eq(event.immediate, i);
	}
	ck_assert_int_eq(
		bcl_pull(rank->peers[0], token, buffer, STOPPED_LENGTH, 99),
		BCL_OK);
	rank_expect(rank, BCL_EVENT_PULLED, &event);
	ck_assert_int_eq(event.status, BCL_OK);
	check(buffer, STOPPED_LENGTH, 2);
	rank_barrier(rank);
}

START_TEST(stopped)
{
	setenv("BCL_PEER_TIMEOUT", "1s", 1);
	use_attach(_i);
	ranks_run(3, while_one_is_stopped, 0);
}
END_TEST

/* Both ranks make as many offers as there is room for, and the next offer must
 * get AGAIN. Then both ranks pull the offers in another order. */
static void crowd(struct rank *rank)
{
	enum {
		MANY = 128,
		LENGTH = 70000
	};
	static uint8_t tokens[MANY][BCL_KEY_MAX];
	uint8_t *out = room(), *in = room();
	unsigned i, got = 0, read = 0, pulled = 0;
	uint8_t token[BCL_KEY_MAX];
	struct bcl_event event;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	rank_barrier(rank);
	for (i = 0; i < MANY; i++) {
		fill(out + i * LENGTH, LENGTH, i);
		offer(rank, out + i * LENGTH, LENGTH, i);
	}
	ck_assert_int_eq(bcl_offer(rank->peers[!rank->me], out, 1, 0, token),
			 BCL_ERR_AGAIN);
	while (got < MANY || read < MANY || pulled < MANY) {
		rank_event(rank, &event);
		switch (event.kind) {
		case BCL_EVENT_MESSAGE:
			memcpy(tokens[got++], event.data, BCL_KEY_MAX);
			if (got < MANY)
				break;
			for (i = 0; i < MANY; i++) {
				unsigned j = i * 37 % MANY;

				ck_assert_int_eq(
					bcl_pull(rank->peers[!rank->me],
						 tokens[j], in + j * LENGTH,
						 LENGTH, j),
					BCL_OK);
			}
			break;
		case BCL_EVENT_READ:
			ck_assert_int_eq(event.status, BCL_OK);
			read++;
			break;
		case BCL_EVENT_PULLED:
			ck_assert_int_eq(event.status, BCL_OK);
			check(in + event.cookie * LENGTH, LENGTH, event.cookie);
			pulled++;
			break;
		default:
			ck_abort_msg("event %d", event.kind);
		}
	}
	rank_barrier(rank);
}

START_TEST(many)
{
	each_way(crowd, _i);
}
END_TEST

static void withdraw(struct rank *rank)
{
	struct bcl_peer *peer;
	uint8_t token[BCL_KEY_MAX], *buffer = room();
	struct bcl_event event;
	int i;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	peer = rank->peers[!rank->me];
	for (i = 0; i < 300; i++) {
		if (rank->me == 0) {
			ck_assert_int_eq(
				bcl_offer(peer, buffer, 10000, 1, token),
				BCL_OK);
			rank_send(rank, 1, 0, token, sizeof(token));
			ck_assert_int_eq(bcl_withdraw(peer, token), BCL_OK);
			ck_assert_int_eq(bcl_withdraw(peer, token),
					 BCL_ERR_ARG);
			rank_barrier(rank);
			rank_barrier(rank);
		} else {
			rank_barrier(rank);
			take_token(rank, token);
			ck_assert_int_eq(
				bcl_pull(peer, token, buffer, 10000, 2),
				BCL_OK);
			rank_expect(rank, BCL_EVENT_PULLED, &event);
			ck_assert_int_eq(event.status, BCL_ERR_CANCELLED);
			rank_barrier(rank);
		}
	}
	/* begun: too late */
	if (rank->me == 0) {
		ck_assert_int_eq(bcl_offer(peer, buffer, 10000, 1, token),
				 BCL_OK);
		rank_send(rank, 1, 0, token, sizeof(token));
		rank_barrier(rank);
		ck_assert_int_eq(bcl_withdraw(peer, token), BCL_ERR_BUSY);
		expect_read(rank, 1, BCL_OK);
	} else {
		pull_one(rank, buffer, 10000, BCL_OK);
		rank_barrier(rank);
	}
	rank_barrier(rank);
}

START_TEST(withdrawn)
{
	ranks_run(2, withdraw, 0);
}
END_TEST

/* Memory is not mapped, on either side. Both sides must get a status. */
static void bad_memory(struct rank *rank)
{
	enum {
		LENGTH = 256 << 10
	};
	uint8_t *buffer = room();
	unsigned i;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	for (i = 0; i < 20; i++) {
		if (i % 2 == rank->me)
			munmap(buffer + (i % 5) * 16384, LENGTH);
		if (rank->me == 0) {
			offer(rank, buffer, LENGTH, 1);
			expect_read(rank, 1, BCL_ERR_MEMORY);
		} else {
			pull_one(rank, buffer, LENGTH, BCL_ERR_MEMORY);
		}
		munmap(buffer, ROOM);
		buffer = room();
	}
	rank_barrier(rank);
}

/* The system copies, and finds the missing memory. */
START_TEST(unmapped)
{
	setenv("BCL_COPY_BOTH", "1G", 1);
	ranks_run(2, bad_memory, 0);
	unsetenv("BCL_COPY_BOTH");
}
END_TEST

static void bad_tokens(struct rank *rank)
{
	uint8_t token[BCL_KEY_MAX], *buffer = room();
	struct bcl_event event;
	struct bcl_peer *peer;
	unsigned i;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	peer = rank->peers[!rank->me];
	if (rank->me == 0) {
		offer(rank, buffer, 5000, 1);
		expect_read(rank, 1, BCL_OK);
		rank_barrier(rank);
		return;
	}
	take_token(rank, token);
	ck_assert_int_eq(bcl_pull(peer, token, buffer, 5001, 0), BCL_ERR_ARG);
	for (i = 0; i < BCL_KEY_MAX - 2; i++) {
		uint8_t bad[BCL_KEY_MAX];

		if (i >= 8 && i < 24)
			continue; /* address and length: the peer's own word */
		memcpy(bad, token, sizeof(bad));
		bad[i] ^= 0x80;
		if (bcl_pull(peer, bad, buffer, 5000, 3))
			continue;
		rank_expect(rank, BCL_EVENT_PULLED, &event);
		ck_assert_int_eq(event.status, BCL_ERR_CANCELLED);
	}
	ck_assert_int_eq(bcl_pull(peer, token, buffer, 5000, 99), BCL_OK);
	ck_assert_int_eq(bcl_pull(peer, token, buffer, 0, 98), BCL_OK);
	rank_expect(rank, BCL_EVENT_PULLED, &event);
	ck_assert_uint_eq(event.cookie, 99);
	ck_assert_int_eq(event.status, BCL_OK);
	/* once only */
	rank_expect(rank, BCL_EVENT_PULLED, &event);
	ck_assert_uint_eq(event.cookie, 98);
	ck_assert_int_eq(event.status, BCL_ERR_CANCELLED);
	rank_barrier(rank);
}

START_TEST(tokens)
{
	ranks_run(2, bad_tokens, 0);
}
END_TEST

/* The peer is killed while either side pulls. */
static void dies(struct rank *rank)
{
	uint8_t *buffer = room(), token[BCL_KEY_MAX];
	struct bcl_event event;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	if (rank->me == 0) {
		offer(rank, buffer, 1000, 5);
		raise(SIGKILL);
	}
	ck_assert_int_eq(bcl_offer(rank->peers[0], buffer, 1 << 20, 6, token),
			 BCL_OK);
	take_token(rank, token);
	usleep(50000);
	/* the pull began before the port knew of the death */
	if (!bcl_pull(rank->peers[0], token, buffer, 1000, 7)) {
		bool pulled = false, read = false, lost = false;

		while (!pulled || !read || !lost) {
			rank_event(rank, &event);
			ck_assert_int_eq(event.status, BCL_ERR_DEAD);
			pulled |= event.kind == BCL_EVENT_PULLED;
			read |= event.kind == BCL_EVENT_READ;
			lost |= event.kind == BCL_EVENT_PEER;
		}
	}
}

START_TEST(peer_dies)
{
	use_attach(_i);
	ranks_run(2, dies, 1);
}
END_TEST

/* A pull begins between reserve and commit. The messages of the pull must wait
 * for the commit. */
static void reserved(struct rank *rank)
{
	enum {
		LENGTH = 100000,
		SMALL = 700
	};
	uint8_t *buffer = room(), token[BCL_KEY_MAX];
	struct bcl_event event;
	struct bcl_peer *peer;
	void *at;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	peer = rank->peers[!rank->me];
	if (rank->me == 0) {
		fill(buffer, LENGTH, 1);
		offer(rank, buffer, LENGTH, 6);
		rank_expect(rank, BCL_EVENT_MESSAGE, &event);
		ck_assert_uint_eq(event.length, SMALL);
		check(event.data, SMALL, 2);
		expect_read(rank, 6, BCL_OK);
	} else {
		take_token(rank, token);
		ck_assert_int_eq(bcl_reserve(peer, SMALL, &at), BCL_OK);
		fill(at, SMALL, 2);
		ck_assert_int_eq(bcl_pull(peer, token, buffer, LENGTH, 7),
				 BCL_OK);
		if (!getenv("BCL_ATTACH")) {
			rank_expect(rank, BCL_EVENT_PULLED, &event);
			check(buffer, LENGTH, 1);
		}
		ck_assert_int_eq(bcl_commit(peer, 1, 2, SMALL + 1),
				 BCL_ERR_ARG);
		ck_assert_int_eq(bcl_commit(peer, 1, 2, SMALL), BCL_OK);
		ck_assert_int_eq(bcl_commit(peer, 1, 2, 0), BCL_ERR_ARG);
		if (getenv("BCL_ATTACH")) {
			rank_expect(rank, BCL_EVENT_PULLED, &event);
			check(buffer, LENGTH, 1);
		}
		rank_idle(rank, 1);
	}
	rank_barrier(rank);
}

START_TEST(reserve)
{
	each_way(reserved, _i);
}
END_TEST

/* ---- posted channels ---- */

static void channels(struct rank *rank)
{
	enum {
		N = 40,
		LENGTH = 100000
	};
	uint8_t *buffer = room();
	unsigned i, done = 0;
	struct bcl_event event;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	if (rank->me == 0) {
		for (i = 0; i < N; i++) {
			fill(buffer + i * LENGTH, LENGTH, i);
			ck_assert_int_eq(bcl_send_channel(rank->peers[1], 3,
							  buffer + i * LENGTH,
							  LENGTH, i),
					 BCL_OK);
		}
		for (i = 0; i < N; i++) {
			rank_expect(rank, BCL_EVENT_SENT, &event);
			ck_assert_int_eq(event.status, BCL_OK);
		}
		/* a message longer than the buffer; then a channel that does
		 * not exist */
		ck_assert_int_eq(
			bcl_send_channel(rank->peers[1], 2, buffer, LENGTH, 77),
			BCL_OK);
		rank_expect(rank, BCL_EVENT_SENT, &event);
		ck_assert_int_eq(event.status, BCL_OK);
		ck_assert_int_eq(bcl_send_channel(rank->peers[1], 60000, buffer,
						  LENGTH, 78),
				 BCL_OK);
		rank_expect(rank, BCL_EVENT_SENT, &event);
		ck_assert_int_eq(event.status, BCL_ERR_NOPORT);
		rank_barrier(rank);
		return;
	}
	/* channel 4 gets no message, so only bcl_unpost() frees the channel;
	 * channel 3 is free again after each message */
	ck_assert_int_eq(bcl_post(rank->port, 4, buffer, 1, 1), BCL_OK);
	ck_assert_int_eq(bcl_post(rank->port, 4, buffer, 1, 1), BCL_ERR_BUSY);
	ck_assert_int_eq(bcl_unpost(rank->port, 4), BCL_OK);
	while (done < N) {
		memset(buffer, 0, LENGTH + 1);
		ck_assert_int_eq(
			bcl_post(rank->port, 3, buffer, LENGTH + done, done),
			BCL_OK);
		rank_expect(rank, BCL_EVENT_CHANNEL, &event);
		ck_assert_int_eq(event.status, BCL_OK);
		ck_assert_uint_eq(event.cookie, done);
		ck_assert_uint_eq(event.length, LENGTH);
		check(buffer, LENGTH, done);
		done++;
	}
	ck_assert_int_eq(bcl_post(rank->port, 2, buffer, 10, 5), BCL_OK);
	rank_expect(rank, BCL_EVENT_CHANNEL, &event);
	ck_assert_int_eq(event.status, BCL_ERR_TRUNCATED);
	ck_assert_uint_eq(event.length, 10);
	check(buffer, 10, 0);
	while (atomic_load(&rank->all->arrived) < 1) {
		ck_assert_int_eq(bcl_poll(rank->port, &event), BCL_ERR_EMPTY);
		sched_yield();
	}
	rank_barrier(rank);
}

START_TEST(posted)
{
	each_way(channels, _i);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("large");
	TCase *tc = tcase_create("large");

	tcase_add_loop_test(tc, lengths_copied, 0, 2);
	tcase_add_loop_test(tc, both_sides, 0, 2);
	tcase_add_test(tc, away);
	tcase_add_test(tc, crowded);
	tcase_add_test(tc, back);
	tcase_add_loop_test(tc, stopped, 0, 2);
	tcase_add_loop_test(tc, many, 0, 2);
	tcase_add_test(tc, withdrawn);
	tcase_add_test(tc, unmapped);
	tcase_add_test(tc, tokens);
	tcase_add_loop_test(tc, peer_dies, 0, 2);
	tcase_add_loop_test(tc, reserve, 0, 2);
	tcase_add_loop_test(tc, posted, 0, 2);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
