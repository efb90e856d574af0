/* SPDX-License-Identifier: MIT */
/*
 * Bandwidth of messages from rank 0 to the partner: `ahead` messages in flight
 * at a time, or a single message in the patterns with a wait in each message.
 *
 *  hot        the same buffers for all messages
 *  cold       buffers that rotate through 64 MB
 *  rewritten  the sender rewrites the buffer before each message; the time is
 *             from the end of the write to the end of the receive
 *  away       the sender computes after it has started the send; the time is
 *             that of the receive, started when a probe finds the message
 */
#include <string.h>

#include "bench/perf_rank.h"

enum {
	AHEAD = 64, /* messages in flight at most */
};

enum pattern {
	STREAM,
	REWRITTEN,
	AWAY
};

/* Sends or receives messages `first` to `first` + n - 1 of the stream. */
static void move_stream(const struct perf_rank *rank, unsigned char *memory,
			size_t size, uint64_t first, size_t n)
{
	size_t ahead = ref_number(rank->ref, "ahead"), i;
	struct bcl_adi_request *request[AHEAD];

	if (!ahead || ahead > AHEAD)
		ref_exit(rank->ref, 1, "ahead must be 1 to %d", AHEAD);
	for (i = 0; i < n; i++) {
		unsigned char *at =
			memory + ref_offset(rank->ref, size, first + i);

		if (i >= ahead)
			perf_finish(rank, &request[i % ahead], 1);
		request[i % ahead] =
			rank->rank ? perf_start_receive(rank, at, size)
				   : perf_start_send(rank, at, size);
	}
	for (i = n > ahead ? n - ahead : 0; i < n; i++)
		perf_finish(rank, &request[i % ahead], 1);
}

static void send_one(struct perf_rank *rank, enum pattern pattern,
		     unsigned char *at, size_t size)
{
	struct bcl_adi_request *request;
	uint64_t now;

	switch (pattern) {
	case STREAM:
		return;
	case REWRITTEN:
		/* The receiver says that the receive is posted. */
		perf_receive(rank, NULL, 0, rank->partner);
		memset(at, (int)size, size);
		now = ref_now();
		memcpy(at, &now, sizeof(now));
		perf_send(rank, at, size, rank->partner);
		return;
	case AWAY:
		request = perf_start_send(rank, at, size);
		ref_compute(ref_away_ns(size));
		perf_finish(rank, &request, 1);
		return;
	}
}

/* Returns the ns to count; 0 if the time of the whole stream counts. */
static uint64_t receive_one(struct perf_rank *rank, enum pattern pattern,
			    unsigned char *at, size_t size)
{
	struct bcl_adi_request *request;
	enum bcl_status status;
	uint64_t start = 0;

	switch (pattern) {
	case STREAM:
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

		if (pattern == STREAM)
			move_stream(rank, memory, size, s * batch, batch);
		for (i = 0; pattern != STREAM && i < batch; i++) {
			unsigned char *at = memory + ref_offset(rank->ref, size,
								s * batch + i);

			if (rank->rank)
				time += receive_one(rank, pattern, at, size);
			else
				send_one(rank, pattern, at, size);
		}
		/* The stream ends when the last message has arrived. */
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
