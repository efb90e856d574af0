/* SPDX-License-Identifier: MIT */
/*
 * The parameters of LogGP at the ADI, measured as in the publication of BCL-3:
 * the round trip RTT by ping-pong; o_s from a few sends on an idle system; g
 * from many back-to-back sends; o_r timed alone, for messages that have
 * arrived; L = RTT / 2 - o_s - o_r; G is the inverse of the bandwidth of large
 * messages.
 */
#include <string.h>

#include "bench/perf_rank.h"
#include "bench/perf_stat.h"

enum {
	SIZE = 8,	    /* bytes of a small message */
	FEW = 4,	    /* sends per o_s */
	REPEATS = 50,	    /* values of o_s per sample */
	MANY = 2000,	    /* sends per g */
	ARRIVED_NS = 50000, /* by then a message has arrived */
};

static const size_t large = 1 << 20;

static unsigned char data[SIZE];

/* Waits without sleeping: a processor is slow after a sleep. */
static void let_pass(uint64_t ns)
{
	uint64_t end = ref_now() + ns;

	while (ref_now() < end)
		ref_pause();
}

/* Lets the two players wait for each other. */
static void meet_partner(const struct perf_rank *rank)
{
	if (rank->rank)
		perf_receive(rank, NULL, 0, 0);
	perf_send(rank, NULL, 0, perf_other(rank));
	if (!rank->rank)
		perf_receive(rank, NULL, 0, rank->partner);
}

/* ns that reading the clock adds to a time. */
static double clock_cost(void)
{
	uint64_t start = ref_now(), end = start;
	int i;

	for (i = 0; i < REPEATS; i++)
		end = ref_now();
	return (double)(end - start) / REPEATS;
}

static double round_trip(const struct perf_rank *rank, size_t iterations)
{
	uint64_t start = ref_now();
	size_t i;

	for (i = 0; i < iterations; i++) {
		if (rank->rank)
			perf_receive(rank, data, SIZE, 0);
		perf_send(rank, data, SIZE, perf_other(rank));
		if (!rank->rank)
			perf_receive(rank, data, SIZE, rank->partner);
	}
	return (double)(ref_now() - start) / (double)iterations;
}

/* o_s at rank 0, o_r at the partner, as medians, so that an interrupted value
 * does not count. Both players are awake when they meet again. */
static double measure_overhead(const struct perf_rank *rank)
{
	double time[REPEATS], cost = clock_cost();
	const struct perf_series series = { .sample = time,
					    .samples = REPEATS };
	struct perf_summary summary;
	uint64_t start;
	int i, j;

	for (i = 0; i < REPEATS; i++) {
		meet_partner(rank);
		if (rank->rank)
			let_pass(ARRIVED_NS);
		start = ref_now();
		for (j = 0; j < FEW; j++)
			if (rank->rank)
				perf_receive(rank, data, SIZE, 0);
			else
				perf_send(rank, data, SIZE, rank->partner);
		time[i] = ((double)(ref_now() - start) - cost) / FEW;
		if (!rank->rank)
			let_pass(ARRIVED_NS);
	}
	perf_summarise(&series, &summary);
	return summary.p50;
}

static double measure_gap(const struct perf_rank *rank, size_t size,
			  int messages, unsigned char *buffer)
{
	uint64_t start;
	int i;

	meet_partner(rank);
	start = ref_now();
	for (i = 0; i < messages; i++)
		if (rank->rank)
			perf_receive(rank, buffer, size, 0);
		else
			perf_send(rank, buffer, size, rank->partner);
	meet_partner(rank);
	return (double)(ref_now() - start) / messages;
}

/* Returns at rank 0 the value of the partner. */
static double fetch_value(const struct perf_rank *rank, double value)
{
	if (rank->rank)
		perf_send(rank, &value, sizeof(value), 0);
	else
		perf_receive(rank, &value, sizeof(value), rank->partner);
	return value;
}

static double measure_parameter(struct perf_rank *rank, const char *name)
{
	double send, receive;

	if (!strcmp(name, "g"))
		return measure_gap(rank, SIZE, MANY, data);
	if (!strcmp(name, "G")) {
		rank->ref->unit = "ns/KB";
		return measure_gap(rank, large, (int)ref_batch(large),
				   perf_memory(rank)) /
		       ((double)large / 1024);
	}
	send = measure_overhead(rank);
	receive = fetch_value(rank, send);
	if (!strcmp(name, "o_s"))
		return send;
	if (!strcmp(name, "o_r"))
		return receive;
	if (strcmp(name, "L"))
		ref_exit(rank->ref, 1, "LogGP has no parameter %s", name);
	return round_trip(rank, perf_iterations(rank)) / 2 - send - receive;
}

size_t perf_loggp(struct perf_rank *rank)
{
	const char *name = ref_string(rank->ref, "parameter");
	size_t samples = ref_number(rank->ref, "samples"), s;

	if (!perf_plays(rank))
		return 0;
	for (s = 0; s <= samples; s++) {
		double value = measure_parameter(rank, name);

		if (s)
			ref_sample(rank->ref, value);
	}
	return samples;
}
