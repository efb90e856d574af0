/* SPDX-License-Identifier: MIT */
/* Opens the job of a measuring rank, answers questions, and checks by the
 * counters which way messages took; see perf_rank.h. */
#include "bench/perf_rank.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env/env.h"
#include "transport/boot/boot.h"
#include "transport/shm/slot.h"

enum {
	IDLE_TURNS = 10000,
	COUNT_NS = 1000000000, /* by then all messages are counted */
	LINE_SIZE = 16,	       /* bytes that fit in a pair line */
	RING_SIZE = 64,	       /* larger messages go by the ring, */
	RING_MOST = 256,       /* up to these, with the ADI's header */
};

/* Messages by each way, from the counters. */
struct ways {
	uint64_t line, ring, card;
};

void perf_must(const struct perf_rank *rank, enum bcl_status status,
	       const char *what)
{
	bool missing = status == BCL_ERR_NORAIL || status == BCL_ERR_PERM;

	if (status != BCL_OK)
		ref_exit(rank->ref, missing ? REF_SKIPPED : 1,
			 "rank %d: %s: %s", rank->rank, what,
			 bcl_strstatus(status));
}

void perf_send(const struct perf_rank *rank, const void *data, size_t size,
	       int to)
{
	perf_must(rank, bcl_adi_send(rank->adi, data, size, to, 0, 0), "send");
}

void perf_receive(const struct perf_rank *rank, void *data, size_t size,
		  int from)
{
	perf_must(rank, bcl_adi_recv(rank->adi, data, size, from, 0, 0, NULL),
		  "receive");
}

struct bcl_adi_request *perf_start_send(const struct perf_rank *rank,
					const void *data, size_t size)
{
	struct bcl_adi_request *request = NULL;

	perf_must(rank,
		  bcl_adi_isend(rank->adi, data, size, perf_other(rank), 0, 0,
				&request),
		  "send");
	return request;
}

struct bcl_adi_request *perf_start_receive(const struct perf_rank *rank,
					   void *data, size_t size)
{
	struct bcl_adi_request *request = NULL;

	perf_must(rank,
		  bcl_adi_irecv(rank->adi, data, size, perf_other(rank), 0, 0,
				&request),
		  "receive");
	return request;
}

void perf_finish(const struct perf_rank *rank, struct bcl_adi_request **request,
		 unsigned int n)
{
	perf_must(rank, bcl_adi_waitall(rank->adi, request, n, NULL), "wait");
}

void perf_hand_over(const struct perf_rank *rank, const double *sample,
		    unsigned int n)
{
	double copy[REF_SAMPLES];
	unsigned int i;

	if (rank->rank) {
		perf_send(rank, sample, n * sizeof(*sample), 0);
		return;
	}
	perf_receive(rank, copy, n * sizeof(*copy), rank->partner);
	for (i = 0; i < n; i++)
		ref_sample(rank->ref, copy[i]);
}

unsigned char *perf_memory(struct perf_rank *rank)
{
	if (!rank->memory)
		rank->memory = ref_memory(rank->ref);
	return rank->memory;
}

size_t perf_iterations(const struct perf_rank *rank)
{
	size_t asked = ref_number(rank->ref, "iterations");

	return asked ? asked : rank->between ? 500 : 2000;
}

/* Sums the counters of this rank. */
static struct ways sum_counters(const struct perf_rank *rank)
{
	struct bcl_context *context = bcl_adi_context(rank->adi);
	struct bcl_counter *counter;
	struct ways ways = { 0 };
	size_t n = 0, i;

	bcl_counters(context, NULL, &n);
	counter = calloc(n, sizeof(*counter));
	if (!counter)
		ref_exit(rank->ref, 1, "no memory for %zu counters", n);
	bcl_counters(context, counter, &n);
	for (i = 0; i < n; i++) {
		if (!strcmp(counter[i].name, "shm.messages_line"))
			ways.line += counter[i].value;
		else if (!strcmp(counter[i].name, "shm.messages_ring"))
			ways.ring += counter[i].value;
		else if (!strcmp(counter[i].name, "card.messages_sent"))
			ways.card += counter[i].value;
	}
	free(counter);
	return ways;
}

/* Lets the port be idle, since it counts messages only then. */
static void let_idle(const struct perf_rank *rank)
{
	struct bcl_event event;
	int i;

	for (i = 0; i < IDLE_TURNS; i++) {
		bcl_adi_progress(rank->adi);
		if (rank->port)
			bcl_poll(rank->port, &event);
	}
}

/* True if at least `messages` messages took the way that the figure claims. */
static bool went_as_claimed(const struct perf_rank *rank,
			    const struct ways *ways, size_t messages)
{
	size_t size = ref_number(rank->ref, "size");

	if (rank->between)
		return ways->card >= messages;
	if (strcmp(ref_string(rank->ref, "do"), "latency"))
		return ways->line + ways->ring >= messages;
	/* Messages go singly: the line or a box is free, except at rare
	 * moments. */
	if (size <= LINE_SIZE ||
	    (size >= BCL_BOX_FROM && size <= BCL_MESSAGE_MAX))
		return ways->line >= messages / 10 * 9;
	if (size > RING_SIZE && size <= RING_MOST)
		return ways->ring >= messages;
	return ways->line + ways->ring >= messages;
}

/* Ends the process if messages took a way that the figure does not claim. */
static void check_way(const struct perf_rank *rank, const struct ways *before,
		      size_t messages)
{
	uint64_t until = ref_now() + COUNT_NS;
	struct ways ways;

	do {
		ways = sum_counters(rank);
		ways.line -= before->line;
		ways.ring -= before->ring;
		ways.card -= before->card;
		if (went_as_claimed(rank, &ways, messages))
			return;
		let_idle(rank);
	} while (ref_now() < until);
	ref_exit(rank->ref, 1,
		 "rank %d sent %zu messages, but %llu by the pair line, %llu "
		 "by the ring and %llu by the card",
		 rank->rank, messages, (unsigned long long)ways.line,
		 (unsigned long long)ways.ring, (unsigned long long)ways.card);
}

/* A rank of two in this process. */
struct perf_member {
	const struct perf_rank *rank;
	struct bcl_boot *boot;
	struct bcl_adi *adi;
};

static void *open_member(void *arg)
{
	struct perf_member *member = arg;
	const struct bcl_adi_options options = { .struct_size = sizeof(options),
						 .boot = member->boot };

	perf_must(member->rank, bcl_adi_open(&options, &member->adi), "open");
	return NULL;
}

static void *close_member(void *arg)
{
	struct perf_member *member = arg;

	bcl_adi_close(member->adi);
	bcl_boot_close(member->boot);
	return NULL;
}

/* Runs the function for both at once, as each waits for the other. */
static void to_both(struct perf_member *member, void *(*run)(void *arg))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, &member[1]))
		ref_exit(member->rank->ref, 1, "no thread");
	run(&member[0]);
	pthread_join(thread, NULL);
}

static void open_twins(struct perf_rank *rank)
{
	static struct perf_member member[2];
	const char *twin = getenv("PERF_TWIN");
	int i;

	for (i = 0; i < 2; i++) {
		if (i)
			setenv("BCL_BOOT", twin ? twin : "", 1);
		member[i].rank = rank;
		perf_must(rank, bcl_boot_open(&bcl_env_linux, &member[i].boot),
			  "boot");
	}
	to_both(member, open_member);
	rank->twins = member;
	rank->adi = member[0].adi;
	rank->twin = member[1].adi;
}

/* Set by perf_rank_main(), for open_job(). */
static struct bcl_boot *launched;

/* Opens the ADI as under a launcher that knows the ranks per host. */
static void open_told(struct perf_rank *rank, size_t local)
{
	struct bcl_adi_options options = { .struct_size = sizeof(options) };

	perf_must(rank, bcl_boot_open(&bcl_env_linux, &rank->boot), "boot");
	rank->boot->local_ranks = (unsigned int)local;
	options.boot = rank->boot;
	perf_must(rank, bcl_adi_open(&options, &rank->adi), "open");
}

static void open_job(struct ref *ref)
{
	size_t node0 = ref_number(ref, "node0");
	size_t twin = ref_number(ref, "twin");
	size_t local = ref_number(ref, "local");
	const struct bcl_adi_options options = { .struct_size = sizeof(options),
						 .boot = launched };
	static struct perf_rank rank;
	bool two_nodes;

	rank.ref = ref;
	ref->own = &rank;
	rank.size = (int)(ref->sides + twin);
	rank.rank = (int)(ref->side ? ref->side + twin : 0);
	two_nodes = node0 && node0 < ref->sides;
	rank.partner = two_nodes ? (int)(node0 + twin) : 1;
	if (ref_number(ref, "partner"))
		rank.partner = (int)ref_number(ref, "partner");
	rank.between = two_nodes && rank.partner >= (int)(node0 + twin);
	if (ref_number(ref, "job") && ref->side == 1)
		rank.job = perf_job_start(ref);
	if (twin && !ref->side)
		open_twins(&rank);
	else if (local)
		open_told(&rank, local);
	else
		perf_must(&rank, bcl_adi_open(&options, &rank.adi), "open");
	if (bcl_adi_rank(rank.adi) != (unsigned int)rank.rank ||
	    bcl_adi_size(rank.adi) != (unsigned int)rank.size)
		ref_exit(ref, 1, "rank %d of %d is %u of %u", rank.rank,
			 rank.size, bcl_adi_rank(rank.adi),
			 bcl_adi_size(rank.adi));
	if (twin)
		return;
	perf_must(&rank, bcl_team_world(rank.adi, &rank.team), "team");
	perf_must(&rank, bcl_barrier(rank.team), "barrier");
	if (two_nodes && !rank.rank && !sum_counters(&rank).card)
		ref_exit(ref, 1, "the nodes met without the card");
}

static void run_measurement(struct ref *ref)
{
	static const struct {
		const char *name;
		size_t (*run)(struct perf_rank *rank);
	} measurements[] = {
		{ "latency", perf_latency },
		{ "exchange", perf_exchange },
		{ "rate", perf_rate },
		{ "wake", perf_wake },
		{ "bandwidth", perf_bandwidth },
		{ "loggp", perf_loggp },
		{ "collective", perf_collective },
	};
	const char *name = ref_string(ref, "do");
	struct perf_rank *rank = ref->own;
	struct ways before = sum_counters(rank);
	size_t i;

	for (i = 0; i < sizeof(measurements) / sizeof(*measurements); i++)
		if (!strcmp(name, measurements[i].name)) {
			check_way(rank, &before, measurements[i].run(rank));
			return;
		}
	ref_exit(ref, 1, "do=%s is unknown", name);
}

static void close_job(struct ref *ref)
{
	struct perf_rank *rank = ref->own;

	if (rank->port)
		bcl_port_close(rank->port);
	if (rank->team)
		bcl_team_free(rank->team);
	if (rank->twin)
		to_both(rank->twins, close_member);
	else
		bcl_adi_close(rank->adi);
	if (rank->boot)
		bcl_boot_close(rank->boot);
}

/* Reads the next question. Under a launcher rank 0 reads for all ranks. */
static int next_request(struct ref *ref, char *line, size_t size)
{
	struct perf_rank *rank = ref->own;
	int i;

	if (!launched)
		return fgets(line, (int)size, stdin) != NULL;
	if (rank->rank) {
		perf_receive(rank, line, size, 0);
		return *line;
	}
	if (!fgets(line, (int)size, stdin))
		*line = 0;
	for (i = 1; i < rank->size; i++)
		perf_send(rank, line, size, i);
	return *line;
}

static const struct ref_program program = {
	.name = "bcl",
	.unit = "ns",
	.about = "a rank of bcl-perf",
	.open = open_job,
	.round = run_measurement,
	.close = close_job,
	.next = next_request,
	.param = { { "sides", "2", "ranks of the job" },
		   { "node0", "0", "of them on the first node; 0: all" },
		   { "twin", "0", "1: side 0 is ranks 0 and 1" },
		   { "partner", "0",
		     "whom rank 0 plays with; 0: the first rank "
		     "of the other node, or rank 1" },
		   { "local", "0",
		     "ranks on a host, as a launcher would say; 0: all" },
		   { "do", "", "the measurement" },
		   { "floor", "adi", "latency: transport; adi" },
		   { "size", "8", "bytes of a message" },
		   { "iterations", "0", "in a sample; 0: some" },
		   { "any", "0", "latency: 1: receive from any source" },
		   { "shared", "0",
		     "latency: shared-memory round trips "
		     "before each, with the twin" },
		   { "window", "64", "rate: messages under way" },
		   { "buffers", "hot",
		     "bandwidth: hot; cold; rewritten; away: the sender "
		     "computes" },
		   { "ahead", "1", "bandwidth: messages under way" },
		   { "parameter", "L", "loggp: L, o_s, o_r, g or G" },
		   { "call", "barrier", "collective: the operation" },
		   { "late", "0", "collective: computing before, us, at most" },
		   { "job", "0", "1: with a foreign job beside rank 1" },
		   { "figure", "late", "wake: late; share of the job" } },
};

int perf_rank_main(struct bcl_boot *boot, int argc, char **argv)
{
	launched = boot;
	return ref_main(argc, argv, &program);
}
