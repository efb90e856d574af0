/* SPDX-License-Identifier: MIT */
/*
 * Bandwidth of messages from rank 0 to its partner, one under way at a time.
 *
 * hot        the same buffers again and again
 * cold       buffers that rotate through 64 MB
 * rewritten  the sender writes its buffer anew before each message; the time
 *            is from the end of that to the end of the receive
 * away       the sender computes after it has begun to send; the time is that
 *            of the receive, begun when the message has announced itself
 */
#include <string.h>

#include "bench/perf_rank.h"

enum {
	AWAY_NS = 50000,       /* the sender computes for so long, */
	AWAY_BYTES_PER_NS = 2, /* and for its message at this rate */
};

enum pattern {
	STREAM,
	REWRITTEN,
	AWAY
};

static void compute(uint64_t ns)
{
	uint64_t end = ref_now() + ns;

	while (ref_now() < end)
		;
}

static void send_one(struct perf_rank *rank, enum pattern pattern,
		     unsigned char *at, size_t size)
{
	struct bcl_adi_request *request;
	uint64_t now;

	switch (pattern) {
	case STREAM:
		perf_send(rank, at, size, rank->partner);
		return;
	case REWRITTEN:
		/* Told that the receive is posted. */
		perf_receive(rank, NULL, 0, rank->partner);
		memset(at, (int)size, size);
		now = ref_now();
		memcpy(at, &now, sizeof(now));
		perf_send(rank, at, size, rank->partner);
		return;
	case AWAY:
		request = perf_start_send(rank, at, size);
		compute(AWAY_NS + size / AWAY_BYTES_PER_NS);
		perf_finish(rank, &request, 1);
		return;
	}
}

/* Returns the ns that count, if it is not the whole stream's time. */
static uint64_t receive_one(struct perf_rank *rank, enum pattern pattern,
			    unsigned char *at, size_t size)
{
	struct bcl_adi_request *request;
	enum bcl_status status;
	uint64_t start = 0;

	switch (pattern) {
	case STREAM:
		perf_receive(rank, at, size, 0);
		return 0;
	case REWRITTEN:
		request = perf_start_receive(rank, at, size);
		perf_send(rank, NULL, 0, 0);
		perf_finish(rank, &request, 1);
		memcpy(&start, at, sizeof(start));
		break;
	case AWAY:
		do
			status = bcl_adi_iprobe(rank->adi, 0, 0, 0, NULL);
		while (status == BCL_ERR_EMPTY);
		perf_must(rank, status, "probe");
		start = ref_now();
		perf_receive(rank, at, size, 0);
		break;
	}
	return ref_now() - start;
}

size_t perf_bandwidth(struct perf_rank *rank)
{
	size_t size = ref_number(rank->ref, "size"), batch = ref_batch(size), i;
	size_t samples = ref_number(rank->ref, "samples"), s;
	const char *buffers = ref_string(rank->ref, "buffers");
	enum pattern pattern = !strcmp(buffers, "rewritten") ? REWRITTEN
			       : !strcmp(buffers, "away")    ? AWAY
							     : STREAM;
	double sample[REF_SAMPLES];
	unsigned char *memory;

	if (!perf_plays(rank))
		return 0;
	if (samples > REF_SAMPLES || size < sizeof(uint64_t))
		ref_exit(rank->ref, 1, "at most %d samples, at least 8 bytes",
			 REF_SAMPLES);
	memory = perf_memory(rank);
	for (s = 0; s <= samples; s++) {
		uint64_t start = ref_now(), time = 0;

		for (i = 0; i < batch; i++) {
			unsigned char *at = memory + ref_offset(rank->ref, size,
								s * batch + i);

			if (rank->rank)
				time += receive_one(rank, pattern, at, size);
			else
				send_one(rank, pattern, at, size);
		}
		/* The stream ends when its last message is there. */
		if (rank->rank)
			perf_send(rank, NULL, 0, 0);
		else
			perf_receive(rank, NULL, 0, rank->partner);
		if (pattern == STREAM)
			time = ref_now() - start;
		if (s)
			sample[s - 1] = (double)(size * batch) / (double)time;
	}
	rank->ref->unit = "GB/s";
	perf_hand_over(rank, sample, (unsigned int)samples);
	return rank->rank ? samples : batch * samples;
}
