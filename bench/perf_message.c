/* SPDX-License-Identifier: MIT */
/* Small messages: latency of the transport and of the ADI, exchange, rate. */
#include <string.h>

#include "bench/perf_rank.h"

enum {
	SMALL = 65536, /* bytes of the largest message here */
	WINDOW = 256,
};

static unsigned char out[SMALL], in[SMALL];

static size_t small_size(const struct perf_rank *rank)
{
	size_t size = ref_number(rank->ref, "size");

	if (size > SMALL)
		ref_exit(rank->ref, 1, "size must be at most %d", SMALL);
	return size;
}

static void adi_send(const struct perf_rank *rank, size_t size)
{
	perf_send(rank, out, size, perf_other(rank));
}

static void adi_receive(const struct perf_rank *rank, size_t size)
{
	perf_receive(rank, in, size, perf_other(rank));
}

static void adi_receive_any(const struct perf_rank *rank, size_t size)
{
	perf_receive(rank, in, size, BCL_ANY_SOURCE);
}

static void transport_send(const struct perf_rank *rank, size_t size)
{
	struct iovec iov = { out, size };
	struct bcl_event event;
	enum bcl_status status;

	while ((status = bcl_send(rank->player, 0, 0, &iov, 1, 0)) ==
	       BCL_ERR_AGAIN)
		/* The remote side sends nothing now, except that it is up. */
		if (bcl_poll(rank->port, &event) == BCL_OK &&
		    event.kind == BCL_EVENT_MESSAGE)
			ref_exit(rank->ref, 1, "a message out of turn");
	perf_must(rank, status, "transport send");
}

/* Reads a byte of each line: as long as nobody does, the lines of a message
 * stay with its sender. */
static void look_at(const void *data, size_t size)
{
	const volatile unsigned char *bytes = data;

	for (size_t i = 0; i < size; i += 64)
		(void)bytes[i];
}

static void transport_receive(const struct perf_rank *rank, size_t size)
{
	struct bcl_event event;
	enum bcl_status status;

	do {
		while ((status = bcl_poll(rank->port, &event)) == BCL_ERR_EMPTY)
			;
		perf_must(rank, status, "poll");
	} while (event.kind != BCL_EVENT_MESSAGE);
	if (event.length != size)
		ref_exit(rank->ref, 1, "%zu bytes came for %zu", event.length,
			 size);
	look_at(event.data, size);
}

/* Each player opens a port and sends the address to the partner by the ADI. */
static void open_ports(struct perf_rank *rank)
{
	unsigned char mine[BCL_ADDRESS_MAX] = { 0 }, theirs[BCL_ADDRESS_MAX];
	size_t length;

	perf_must(rank,
		  bcl_port_open(bcl_adi_context(rank->adi), NULL, &rank->port),
		  "port");
	perf_must(rank, bcl_port_address(rank->port, mine, &length), "address");
	if (rank->rank) {
		perf_receive(rank, theirs, sizeof(theirs), 0);
		perf_send(rank, mine, sizeof(mine), 0);
	} else {
		perf_send(rank, mine, sizeof(mine), rank->partner);
		perf_receive(rank, theirs, sizeof(theirs), rank->partner);
	}
	perf_must(rank,
		  bcl_peer_open(rank->port, theirs, length, &rank->player),
		  "peer");
}

/* A message between two ranks of this process. */
static void pass_message(const struct perf_rank *rank, struct bcl_adi *from,
			 struct bcl_adi *to)
{
	struct bcl_adi_request *sent, *received;
	enum bcl_status status[2];

	perf_must(rank,
		  bcl_adi_irecv(to, in, 8, (int)bcl_adi_rank(from), 0, 0,
				&received),
		  "twin's receive");
	perf_must(
		rank,
		bcl_adi_isend(from, out, 8, (int)bcl_adi_rank(to), 0, 0, &sent),
		"twin's send");
	do {
		status[0] = bcl_adi_test(from, &sent, NULL);
		status[1] = bcl_adi_test(to, &received, NULL);
	} while (status[0] == BCL_ERR_AGAIN || status[1] == BCL_ERR_AGAIN);
	perf_must(rank, status[0], "twin's send");
	perf_must(rank, status[1], "twin's receive");
}

static void play_twin(const struct perf_rank *rank, size_t round_trips)
{
	while (round_trips--) {
		pass_message(rank, rank->adi, rank->twin);
		pass_message(rank, rank->twin, rank->adi);
	}
}

size_t perf_latency(struct perf_rank *rank)
{
	void (*send)(const struct perf_rank *, size_t) = adi_send;
	void (*receive)(const struct perf_rank *, size_t) = adi_receive;
	size_t iterations = perf_iterations(rank), i;
	size_t samples = ref_number(rank->ref, "samples"), s;
	size_t shared = ref_number(rank->ref, "shared");
	size_t size = small_size(rank);

	if (!perf_plays(rank))
		return 0;
	if (!strcmp(ref_string(rank->ref, "floor"), "transport")) {
		send = transport_send;
		receive = transport_receive;
		if (!rank->port)
			open_ports(rank);
	} else if (ref_number(rank->ref, "any")) {
		receive = adi_receive_any;
	}
	for (s = 0; s <= samples; s++) {
		uint64_t start = ref_now(), apart = 0;

		for (i = 0; i < iterations; i++) {
			if (shared && rank->twin) {
				uint64_t begin = ref_now();

				play_twin(rank, shared);
				apart += ref_now() - begin;
			}
			if (rank->rank)
				receive(rank, size);
			send(rank, size);
			if (!rank->rank)
				receive(rank, size);
		}
		if (s)
			ref_sample(rank->ref,
				   (double)(ref_now() - start - apart) /
					   (double)(2 * iterations));
	}
	return iterations * (samples + 1);
}

size_t perf_exchange(struct perf_rank *rank)
{
	size_t iterations = perf_iterations(rank), i;
	size_t samples = ref_number(rank->ref, "samples"), s;
	size_t size = small_size(rank);

	if (!perf_plays(rank))
		return 0;
	for (s = 0; s <= samples; s++) {
		uint64_t start = ref_now();

		for (i = 0; i < iterations; i++) {
			struct bcl_adi_request *request[2];

			request[0] = perf_start_receive(rank, in, size);
			request[1] = perf_start_send(rank, out, size);
			perf_finish(rank, request, 2);
		}
		if (s)
			ref_sample(rank->ref, (double)(ref_now() - start) /
						      (double)iterations);
	}
	return iterations * (samples + 1);
}

/* Windows of messages in one direction; an empty message answers
 * each window. */
size_t perf_rate(struct perf_rank *rank)
{
	size_t window = ref_number(rank->ref, "window"), w;
	size_t windows = perf_iterations(rank) / window + 1, i;
	size_t samples = ref_number(rank->ref, "samples"), s;
	struct bcl_adi_request *request[WINDOW];
	size_t size = small_size(rank);

	if (!perf_plays(rank))
		return 0;
	if (!window || window > WINDOW || size * window > SMALL)
		ref_exit(rank->ref, 1, "window must be 1 to %d, %d bytes",
			 WINDOW, SMALL);
	for (s = 0; s <= samples; s++) {
		uint64_t start = ref_now();

		for (i = 0; i < windows; i++) {
			for (w = 0; w < window; w++)
				request[w] =
					rank->rank
						? perf_start_receive(
							  rank, in + w * size,
							  size)
						: perf_start_send(
							  rank, out + w * size,
							  size);
			perf_finish(rank, request, (unsigned int)window);
			if (rank->rank)
				perf_send(rank, out, 0, 0);
			else
				perf_receive(rank, in, 0, rank->partner);
		}
		if (s)
			ref_sample(rank->ref,
				   (double)(ref_now() - start) /
					   (double)(windows * window));
	}
	return windows * (samples + 1) * (rank->rank ? 1 : window);
}
