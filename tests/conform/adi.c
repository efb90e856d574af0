/* SPDX-License-Identifier: MIT */
/*
 * The ADI over the real transport. The program forks ranks, and the ranks run
 * one case over one path.
 *
 *   adi CASE shared|card|both [SEED]
 *
 * shared: all ranks on this host. card: each rank on a virtual node of its own.
 * both: two ranks on each of two virtual nodes.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bcl/adi.h>

#include "tests/unit/adi_traffic.h"
#include "tests/unit/counter.h"
#include "tests/unit/need.h"
#include "transport/boot/fork.h"
#include "transport/context.h"
#include "transport/peer.h"

static const char *path;
static unsigned ranks = 2;
static uint64_t seed = 1;

static uint64_t count(struct bcl_adi *adi, enum bcl_counter_id id)
{
	return bcl_counter_get(bcl_adi_port(adi)->counters, id);
}

/* Check by counters that the messages went over the tested path. */
static void check_path(struct bcl_adi *adi)
{
	uint64_t shared = count(adi, BCL_COUNT_core_peers_shared);
	uint64_t card = count(adi, BCL_COUNT_core_peers_card);

	need_equal(shared != 0, strcmp(path, "card") != 0);
	need_equal(card != 0, strcmp(path, "shared") != 0);
}

/* The faults of adi.sh happened, and the card repaired them. */
static void check_faults(struct bcl_adi *adi)
{
	static const char *const wanted[] = {
		"fault.dropped",   "fault.duplicated",	 "fault.reordered",
		"fault.corrupted", "card.retransmitted", "card.dropped_hcrc",
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint64_t n = counter_of(bcl_adi_context(adi), wanted[i]);

		printf("adi traffic %s: %s %llu\n", path, wanted[i],
		       (unsigned long long)n);
		need(n > 0);
	}
}

/* ---- sizes ---- */

static void exchange(struct bcl_adi *adi, unsigned char *out, unsigned char *in,
		     size_t length, unsigned turn)
{
	unsigned rank = bcl_adi_rank(adi), n = bcl_adi_size(adi);
	int to = (int)((rank + 1) % n), from = (int)((rank + n - 1) % n);
	struct bcl_adi_request *requests[2];
	struct bcl_adi_status statuses[2];

	pattern_fill(out, length, rank + turn);
	memset(in, 0, length);
	/* in odd turns the rank sends before it posts its receive */
	if (turn % 2)
		need_equal(
			bcl_adi_isend(adi, out, length, to, 1, 0, &requests[1]),
			BCL_OK);
	need_equal(bcl_adi_irecv(adi, in, length, from, 1, 0, &requests[0]),
		   BCL_OK);
	if (turn % 2 == 0)
		need_equal(
			bcl_adi_isend(adi, out, length, to, 1, 0, &requests[1]),
			BCL_OK);
	need_equal(bcl_adi_waitall(adi, requests, 2, statuses), BCL_OK);
	need_equal(statuses[0].length, length);
	need(pattern_is(in, length, (unsigned)from + turn));
}

static int sizes(struct bcl_adi *adi)
{
	enum {
		LARGEST = (4 << 20) + 5
	};
	unsigned char *out = malloc(LARGEST + 3), *in = malloc(LARGEST + 3);
	size_t length;
	unsigned i;

	for (length = 0; length < 200; length++)
		exchange(adi, out + length % 4, in + length % 3, length,
			 (unsigned)length);
	for (length = 200; length < LARGEST; length += 1 + length / 7) {
		for (i = 0; i < 3; i++)
			exchange(adi, out + i, in + 2 - i, length, i);
	}
	for (i = 0; i < 2; i++)
		exchange(adi, out, in, LARGEST, i);
	check_path(adi);
	free(out);
	free(in);
	return 0;
}

/* A message longer than 4 GB, in memory that maps the same pages again and
 * again. */
static int huge(struct bcl_adi *adi)
{
	enum {
		PART = 64 << 20
	};
	const size_t length = (4ull << 30) + 12345;
	size_t mapped = (length + PART - 1) / PART * PART, at;
	struct bcl_adi_status status;
	int fd = memfd_create("adi-huge", MFD_CLOEXEC);
	unsigned char *base;

	need(fd >= 0 && !ftruncate(fd, PART));
	base = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	need(base != MAP_FAILED);
	for (at = 0; at < mapped; at += PART)
		need(mmap(base + at, PART, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	if (bcl_adi_rank(adi)) {
		pattern_fill(base, PART, 3);
		need_equal(bcl_adi_send(adi, base, length, 0, 0, 0), BCL_OK);
	} else {
		need_equal(bcl_adi_recv(adi, base, length, 1, 0, 0, &status),
			   BCL_OK);
		need_equal(status.length, length);
		need(pattern_is(base, PART, 3));
	}
	check_path(adi);
	return 0;
}

/* ---- random traffic ---- */

static void pause_for(struct bcl_adi *adi, uint64_t ns)
{
	const struct timespec time = { .tv_nsec = (long)ns };

	bcl_adi_progress(adi);
	if (ns > 15000)
		nanosleep(&time, NULL);
}

static int traffic(struct bcl_adi *adi)
{
	if (bcl_adi_rank(adi) == 0)
		printf("adi traffic %s %llu\n", path, (unsigned long long)seed);
	traffic_play(adi, seed, pause_for);
	check_path(adi);
	if (getenv("BCL_FAULT"))
		check_faults(adi);
	return 0;
}

/* ---- a million unexpected messages ---- */

enum {
	MILLION = 1000000,
	KEPT = (4 << 20) / 256 + 4096, /* the budget, and announcements */
	ON_WAY = 16384, /* in the ring when the receiver says STOP */
};

static long resident(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss; /* KB */
}

static int flood(struct bcl_adi *adi)
{
	static struct bcl_adi_request *requests[MILLION];
	static unsigned values[MILLION];
	unsigned i, value = 0;
	long before;

	if (bcl_adi_rank(adi)) {
		for (i = 0; i < MILLION; i++) {
			values[i] = i;
			need_equal(bcl_adi_isend(adi, &values[i], 4, 0,
						 (int)(i & 0xffff), 0,
						 &requests[i]),
				   BCL_OK);
		}
		need_equal(
			bcl_adi_issend(adi, &value, 4, 0, 0, 1, &requests[0]),
			BCL_OK);
		need_equal(bcl_adi_waitall(adi, requests, MILLION, NULL),
			   BCL_OK);
		return 0;
	}
	/* rank 0 sleeps, then makes progress without a receive */
	before = resident();
	sleep(1);
	while (count(adi, BCL_COUNT_adi_unexpected) < KEPT)
		bcl_adi_progress(adi);
	for (i = 0; i < 300000; i++)
		bcl_adi_progress(adi);
	printf("adi flood %s: %lld kept, %lld bytes, %ld KB more\n", path,
	       (long long)count(adi, BCL_COUNT_adi_unexpected),
	       (long long)count(adi, BCL_COUNT_adi_unexpected_peak),
	       resident() - before);
	need_equal(count(adi, BCL_COUNT_adi_stops), 1);
	need(count(adi, BCL_COUNT_adi_unexpected) < KEPT + ON_WAY);
	need(resident() - before < 32 << 10);
	for (i = 0; i < MILLION; i++) {
		need_equal(bcl_adi_recv(adi, &value, 4, 1, (int)(i & 0xffff), 0,
					NULL),
			   BCL_OK);
		need_equal(value, i);
	}
	need(resident() - before < 64 << 10);
	check_path(adi);
	return 0;
}

/* ---- death ---- */

static int death(struct bcl_adi *adi)
{
	unsigned rank = bcl_adi_rank(adi), i;
	static unsigned char data[100000];
	struct bcl_adi_request *requests[4], *any;
	struct bcl_adi_status status;

	/* each rank is connected to every rank */
	for (i = 0; i < ranks; i++)
		need_equal(bcl_adi_isend(adi, data, 8, (int)i, 1, 1, &any),
			   BCL_OK);
	for (i = 0; i < ranks; i++)
		need_equal(bcl_adi_recv(adi, data, 8, (int)i, 1, 1, NULL),
			   BCL_OK);
	if (rank == 1) {
		usleep(200000);
		raise(SIGKILL);
	}
	need_equal(bcl_adi_irecv(adi, data, 8, BCL_ANY_SOURCE, 7, 1, &any),
		   BCL_OK);
	need_equal(bcl_adi_irecv(adi, data, 8, 1, 2, 1, &requests[0]), BCL_OK);
	need_equal(
		bcl_adi_isend(adi, data, sizeof(data), 1, 2, 1, &requests[1]),
		BCL_OK);
	need_equal(bcl_adi_issend(adi, data, 8, 1, 2, 1, &requests[2]), BCL_OK);
	for (i = 0; i < 3; i++)
		need_equal(
			bcl_status_loss(bcl_adi_wait(adi, &requests[i], NULL)),
			BCL_LOSS_PEER);
	need_equal(bcl_status_loss(bcl_adi_send(adi, data, 8, 1, 2, 1)),
		   BCL_LOSS_PEER);
	need_equal(count(adi, BCL_COUNT_adi_ranks_lost), 1);
	/* the living ranks go on */
	for (i = 0; i < ranks; i++) {
		if (i != 1)
			need_equal(bcl_adi_isend(adi, data, 8, (int)i, 7, 1,
						 &requests[3]),
				   BCL_OK);
	}
	need_equal(bcl_adi_wait(adi, &any, &status), BCL_OK);
	for (i = 0; i < ranks; i++) {
		if (i != 1 && (int)i != status.source)
			need_equal(
				bcl_adi_recv(adi, data, 8, (int)i, 7, 1, NULL),
				BCL_OK);
	}
	check_path(adi);
	return 0;
}

/* After a fork the parent goes on. In the child sends and receives
 * are refused. */
static int forked(struct bcl_adi *adi)
{
	int peer = 1 - (int)bcl_adi_rank(adi), result;
	struct bcl_adi_request *request;
	unsigned i, value = 0;
	pid_t child;

	for (i = 0; i < 50; i++) {
		if (i == 25) {
			child = fork();
			if (!child) {
				need_equal(bcl_adi_send(adi, &i, 4, peer, 0, 0),
					   BCL_ERR_FORKED);
				need_equal(bcl_adi_recv(adi, &i, 4, peer, 0, 0,
							NULL),
					   BCL_ERR_FORKED);
				need_equal(bcl_adi_irecv(adi, &i, 4, peer, 0, 0,
							 &request),
					   BCL_ERR_FORKED);
				bcl_adi_close(adi);
				_exit(0);
			}
			need_equal(waitpid(child, &result, 0), child);
			need_equal(result, 0);
		}
		need_equal(bcl_adi_isend(adi, &i, 4, peer, 0, 0, &request),
			   BCL_OK);
		need_equal(bcl_adi_recv(adi, &value, 4, peer, 0, 0, NULL),
			   BCL_OK);
		need_equal(value, i);
		need_equal(bcl_adi_wait(adi, &request, NULL), BCL_OK);
	}
	return 0;
}

/* ---- threads ---- */

enum {
	THREADS = 4,
	TURNS = 200,
	LONG = 100000, /* bytes */
};

struct thread {
	struct bcl_adi *adi;
	unsigned number;
	pthread_t id;
};

/* Each thread exchanges messages around the ring, in a context of its own. Some
 * threads come late. */
static void *turns(void *arg)
{
	struct thread *thread = arg;
	struct bcl_adi *adi = thread->adi;
	unsigned rank = bcl_adi_rank(adi), n = bcl_adi_size(adi), i;
	int to = (int)((rank + 1) % n), from = (int)((rank + n - 1) % n);
	unsigned char *out = malloc(LONG), *in = malloc(LONG);
	struct bcl_adi_request *request;
	struct bcl_adi_status status;

	for (i = 0; i < TURNS; i++) {
		size_t length = (i * 997 + thread->number * 30000) % LONG;

		if (i % 50 == thread->number * 10)
			usleep(30000);
		pattern_fill(out, length, rank + i);
		need_equal(bcl_adi_isend(adi, out, length, to, (int)i,
					 thread->number, &request),
			   BCL_OK);
		need_equal(bcl_adi_recv(adi, in, LONG, from, (int)i,
					thread->number, &status),
			   BCL_OK);
		need_equal(status.length, length);
		need(pattern_is(in, length, (unsigned)from + i));
		need_equal(bcl_adi_wait(adi, &request, NULL), BCL_OK);
	}
	free(out);
	free(in);
	return NULL;
}

static int threads(struct bcl_adi *adi)
{
	struct thread all[THREADS];
	unsigned i;

	for (i = 0; i < THREADS; i++) {
		all[i] = (struct thread){ adi, i, 0 };
		need(!pthread_create(&all[i].id, NULL, turns, &all[i]));
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(all[i].id, NULL);
	check_path(adi);
	return 0;
}

/* ---- */

static const struct {
	const char *name;
	int (*run)(struct bcl_adi *adi);
	unsigned ranks; /* 0: as many as the path has */
	int lost;	/* ranks that die */
} cases[] = {
	{ "sizes", sizes, 0, 0 },     { "huge", huge, 2, 0 },
	{ "traffic", traffic, 0, 0 }, { "flood", flood, 2, 0 },
	{ "threads", threads, 0, 0 }, { "death", death, 4, 1 },
	{ "fork", forked, 2, 0 },
};

static int run(unsigned rank, void *arg)
{
	int (*run_case)(struct bcl_adi * adi) =
		*(int (**)(struct bcl_adi *))arg;
	struct bcl_adi_options options = { .struct_size = sizeof(options) };
	struct bcl_adi *adi;
	char node[32];
	int result;

	if (!strcmp(path, "card"))
		snprintf(node, sizeof(node), "adi%u", rank);
	else
		snprintf(node, sizeof(node), "adi%u",
			 !strcmp(path, "both") ? rank / 2 : 0);
	setenv("BCL_NODE", node, 1);
	if (run_case == threads)
		options.flags = BCL_ADI_THREADS;
	need_equal(bcl_adi_open(&options, &adi), BCL_OK);
	result = run_case(adi);
	bcl_adi_close(adi);
	return result;
}

int main(int argc, char **argv)
{
	unsigned i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2) {
		path = argv[2];
		ranks = strcmp(path, "both") ? 3 : 4;
		if (argc > 3)
			seed = strtoull(argv[3], NULL, 0);
		for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			if (strcmp(argv[1], cases[i].name))
				continue;
			if (cases[i].ranks)
				ranks = cases[i].ranks;
			return bcl_boot_job_run(ranks, run,
						(void *)&cases[i].run) !=
			       cases[i].lost;
		}
	}
	fprintf(stderr, "usage: %s CASE shared|card|both [SEED]\n", argv[0]);
	return 2;
}
