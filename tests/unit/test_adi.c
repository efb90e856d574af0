/* SPDX-License-Identifier: MIT */
/* Messages of the tagged interface, in all weathers. */
#include "adi_world.h"

#include "adi/protocol.h"

static const size_t sizes[] = { 0,    1,    8,	  16,	17,    48,
				49,   64,   1000, 4095, 4096,  4097,
				4345, 4352, 4353, 8192, 65536, 100001 };

enum {
	NSIZES = sizeof(sizes) / sizeof(sizes[0]),
	LARGEST = 100001,
};

static unsigned char buffers[2][LARGEST];

/* ---- one to one ---------------------------------------------------------- */

static void ping_pong(struct bcl_adi *adi, unsigned rank)
{
	unsigned char *buffer = buffers[rank];
	struct bcl_adi_status status;
	unsigned i, turn;
	int peer = 1 - (int)rank;

	for (i = 0; i < NSIZES; i++) {
		for (turn = 0; turn < 3; turn++) {
			if ((turn + rank) % 2 == 0) {
				pattern_fill(buffer, sizes[i], i + turn);
				ck_assert_int_eq(bcl_adi_send(adi, buffer,
							      sizes[i], peer,
							      (int)i, turn),
						 BCL_OK);
				memset(buffer, 0xee, sizes[i]);
				continue;
			}
			ck_assert_int_eq(bcl_adi_recv(adi, buffer, sizes[i],
						      peer, (int)i, turn,
						      &status),
					 BCL_OK);
			ck_assert(pattern_is(buffer, sizes[i], i + turn));
			ck_assert_int_eq(status.source, peer);
			ck_assert_int_eq(status.tag, (int)i);
			ck_assert_uint_eq(status.length, sizes[i]);
			ck_assert_int_eq(status.status, BCL_OK);
		}
	}
}

START_TEST(all_sizes_there_and_back)
{
	world_run(&world_weather[_i], 2, ping_pong);
}
END_TEST

enum {
	WINDOW = 100,
};

static void window(struct bcl_adi *adi, unsigned rank)
{
	static unsigned char sent[WINDOW][5000], received[WINDOW][5000];
	struct bcl_adi_request *requests[WINDOW];
	struct bcl_adi_status statuses[WINDOW];
	size_t length;
	unsigned i;

	for (i = 0; i < WINDOW; i++) {
		length = i * 50;
		if (rank == 0) {
			pattern_fill(sent[i], length, i);
			ck_assert_int_eq(bcl_adi_isend(adi, sent[i], length, 1,
						       7, 9, &requests[i]),
					 BCL_OK);
		} else {
			/* post the second half of the receives late, when
			 * messages have come */
			if (i == WINDOW / 2)
				world_turns(adi, 300);
			ck_assert_int_eq(bcl_adi_irecv(adi, received[i], 5000,
						       0, 7, 9, &requests[i]),
					 BCL_OK);
		}
	}
	ck_assert_int_eq(bcl_adi_waitall(adi, requests, WINDOW, statuses),
			 BCL_OK);
	for (i = 0; i < WINDOW; i++) {
		ck_assert_ptr_null(requests[i]);
		if (rank == 0)
			continue;
		ck_assert_uint_eq(statuses[i].length, i * 50);
		ck_assert(pattern_is(received[i], i * 50, i));
	}
}

START_TEST(same_tag_stays_in_order)
{
	world_run(&world_weather[_i], 2, window);
}
END_TEST

static void to_myself(struct bcl_adi *adi, unsigned rank)
{
	struct bcl_adi_request *request;
	unsigned i;

	for (i = 0; i < NSIZES; i++) {
		pattern_fill(buffers[0], sizes[i], i);
		ck_assert_int_eq(bcl_adi_irecv(adi, buffers[1], LARGEST,
					       (int)rank, 1, 1, &request),
				 BCL_OK);
		ck_assert_int_eq(bcl_adi_send(adi, buffers[0], sizes[i],
					      (int)rank, 1, 1),
				 BCL_OK);
		ck_assert_int_eq(bcl_adi_wait(adi, &request, NULL), BCL_OK);
		ck_assert(pattern_is(buffers[1], sizes[i], i));
	}
}

START_TEST(rank_to_itself)
{
	world_run(&world_weather[_i], 1, to_myself);
}
END_TEST

/* ---- pieces ---- */

/* Cuts `length` bytes at `base` into n pieces, among them empty pieces. */
static void cut(struct iovec *iov, unsigned n, unsigned char *base,
		size_t length)
{
	unsigned i;
	size_t part;

	for (i = 0; i < n; i++) {
		part = i + 1 == n ? length : i % 3 == 1 ? 0 : length / (n - i);
		iov[i] = (struct iovec){ base, part };
		base += part;
		length -= part;
	}
}

static const unsigned pieces[] = { 1, 2, 15, 16, 17, 40 };

static void scattered(struct bcl_adi *adi, unsigned rank)
{
	struct bcl_adi_status status;
	struct iovec iov[40];
	struct bcl_adi_request *request;
	unsigned i, j;

	for (i = 0; i < NSIZES; i++) {
		for (j = 0; j < sizeof(pieces) / sizeof(pieces[0]); j++) {
			cut(iov, pieces[j], buffers[rank], sizes[i]);
			if (rank == 0) {
				pattern_fill(buffers[0], sizes[i], i + j);
				ck_assert_int_eq(bcl_adi_isendv(adi, iov,
								pieces[j], 1, 0,
								3, &request),
						 BCL_OK);
			} else {
				memset(buffers[1], 0, sizes[i]);
				ck_assert_int_eq(bcl_adi_irecvv(adi, iov,
								pieces[j], 0, 0,
								3, &request),
						 BCL_OK);
			}
			memset(iov, 0xff, sizeof(iov));
			ck_assert_int_eq(bcl_adi_wait(adi, &request, &status),
					 BCL_OK);
			if (rank == 0)
				continue;
			ck_assert_uint_eq(status.length, sizes[i]);
			ck_assert(pattern_is(buffers[1], sizes[i], i + j));
		}
	}
}

START_TEST(buffers_in_pieces)
{
	world_run(&world_weather[_i], 2, scattered);
}
END_TEST

/* ---- wildcards, probes, truncation ---- */

enum {
	EACH = 60,
};

static void any_source(struct bcl_adi *adi, unsigned rank)
{
	unsigned next[WORLD_RANKS] = { 0 }, i, data[2000];
	struct bcl_adi_status status;
	int source, tag;

	if (rank) {
		for (i = 0; i < EACH; i++) {
			data[0] = rank;
			data[1] = i;
			/* short and long messages must keep their order */
			ck_assert_int_eq(bcl_adi_send(adi, data,
						      i % 5 ? 8 : sizeof(data),
						      0, (int)(i % 3), 2),
					 BCL_OK);
		}
		return;
	}
	for (i = 0; i < EACH * (world.n - 1); i++) {
		source = i % 7 ? BCL_ANY_SOURCE : -1;
		tag = BCL_ANY_TAG;
		ck_assert_int_eq(bcl_adi_recv(adi, data, sizeof(data), source,
					      tag, 2, &status),
				 BCL_OK);
		ck_assert_int_eq(status.source, (int)data[0]);
		ck_assert_int_eq(status.tag, (int)(data[1] % 3));
		ck_assert_uint_eq(data[1], next[data[0]]++);
	}
}

START_TEST(any_source_and_tag_in_order_of_each)
{
	world_run(&world_weather[_i], 5, any_source);
}
END_TEST

static void probing(struct bcl_adi *adi, unsigned rank)
{
	struct bcl_adi_message *message = NULL;
	struct bcl_adi_request *request;
	struct bcl_adi_status status;
	size_t length;
	unsigned i;
	int data;

	for (i = 0; i < NSIZES; i++) {
		length = sizes[i];
		if (rank) {
			pattern_fill(buffers[1], length, i);
			ck_assert_int_eq(bcl_adi_isend(adi, buffers[1], length,
						       0, 5, 1, &request),
					 BCL_OK);
			data = (int)i;
			ck_assert_int_eq(
				bcl_adi_send(adi, &data, sizeof(data), 0, 5, 1),
				BCL_OK);
			ck_assert_int_eq(bcl_adi_wait(adi, &request, NULL),
					 BCL_OK);
			continue;
		}
		ck_assert_int_eq(bcl_adi_iprobe(adi, 1, 6, 1, &status),
				 BCL_ERR_EMPTY);
		ck_assert_int_eq(bcl_adi_iprobe(adi, 1, 5, 2, &status),
				 BCL_ERR_EMPTY);
		while (bcl_adi_iprobe(adi, i % 2 ? 1 : BCL_ANY_SOURCE,
				      i % 3 ? 5 : BCL_ANY_TAG, 1,
				      &status) == BCL_ERR_EMPTY)
			world_yield();
		ck_assert_uint_eq(status.length, length);
		ck_assert_int_eq(status.source, 1);
		ck_assert_int_eq(status.tag, 5);
		ck_assert_int_eq(bcl_adi_improbe(adi, BCL_ANY_SOURCE, 5, 1,
						 &message, &status),
				 BCL_OK);
		ck_assert_uint_eq(status.length, length);
		/* the later message is received first */
		ck_assert_int_eq(bcl_adi_recv(adi, &data, sizeof(data), 1,
					      BCL_ANY_TAG, 1, NULL),
				 BCL_OK);
		ck_assert_int_eq(data, (int)i);
		ck_assert_int_eq(bcl_adi_imrecv(adi, buffers[0], length,
						&message, &request),
				 BCL_OK);
		ck_assert_ptr_null(message);
		ck_assert_int_eq(bcl_adi_wait(adi, &request, &status), BCL_OK);
		ck_assert_uint_eq(status.length, length);
		ck_assert_int_eq(status.tag, 5);
		ck_assert(pattern_is(buffers[0], length, i));
	}
}

START_TEST(probes_and_matched_probes)
{
	world_run(&world_weather[_i], 2, probing);
}
END_TEST

static void truncated(struct bcl_adi *adi, unsigned rank)
{
	static const size_t rooms[] = { 0, 1, 100, 4096, 5000 };
	struct bcl_adi_request *request;
	struct bcl_adi_status status;
	struct iovec iov[3];
	unsigned i, j, late;

	for (i = 0; i < NSIZES; i++) {
		for (j = 0; j < 2 * 5; j++) {
			size_t room = rooms[j % 5], n = sizes[i];
			bool cut_up = j >= 5;

			late = i % 2;
			if (room >= n)
				continue;
			if (rank == 1) {
				pattern_fill(buffers[1], n, i);
				ck_assert_int_eq(
					i % 3 ? bcl_adi_issend(adi, buffers[1],
							       n, 0, 2, 2,
							       &request)
					      : bcl_adi_isend(adi, buffers[1],
							      n, 0, 2, 2,
							      &request),
					BCL_OK);
				ck_assert_int_eq(
					bcl_adi_wait(adi, &request, NULL),
					BCL_OK);
				continue;
			}
			if (late)
				world_turns(adi, 50);
			memset(buffers[0], 0x77, sizeof(buffers[0]));
			cut(iov, 3, buffers[0], room);
			ck_assert_int_eq(cut_up ? bcl_adi_irecvv(adi, iov, 3, 1,
								 2, 2, &request)
						: bcl_adi_irecv(adi, buffers[0],
								room, 1, 2, 2,
								&request),
					 BCL_OK);
			ck_assert_int_eq(bcl_adi_wait(adi, &request, &status),
					 BCL_ERR_TRUNCATED);
			ck_assert_int_eq(status.status, BCL_ERR_TRUNCATED);
			ck_assert_uint_eq(status.length, n);
			ck_assert(pattern_is(buffers[0], room, i));
			ck_assert_uint_eq(buffers[0][room], 0x77);
		}
	}
}

START_TEST(truncation_tells_the_length)
{
	world_run(&world_weather[_i], 2, truncated);
}
END_TEST

/* ---- completion ---- */

static void synchronous(struct bcl_adi *adi, unsigned rank)
{
	static const size_t lengths[] = { 0, 8, 4096, 4097, 50000 };
	struct bcl_adi_request *request;
	unsigned i, posted;

	for (i = 0; i < 10; i++) {
		size_t length = lengths[i / 2];

		posted = i % 2;
		if (rank == 0) {
			if (posted)
				world_meet();
			ck_assert_int_eq(bcl_adi_issend(adi, buffers[0], length,
							1, 1, 1, &request),
					 BCL_OK);
			if (!posted) {
				/* the message arrives, but is not received */
				world_turns(adi, 2000);
				ck_assert_int_eq(
					bcl_adi_test(adi, &request, NULL),
					BCL_ERR_AGAIN);
				world_meet();
			}
			ck_assert_int_eq(bcl_adi_wait(adi, &request, NULL),
					 BCL_OK);
		} else if (posted) {
			ck_assert_int_eq(bcl_adi_irecv(adi, buffers[1], length,
						       0, 1, 1, &request),
					 BCL_OK);
			world_meet();
			ck_assert_int_eq(bcl_adi_wait(adi, &request, NULL),
					 BCL_OK);
		} else {
			world_turns(adi, 1000);
			world_meet();
			ck_assert_int_eq(bcl_adi_recv(adi, buffers[1], length,
						      0, 1, 1, NULL),
					 BCL_OK);
		}
	}
}

START_TEST(synchronous_sends_wait_for_the_match)
{
	world_run(&world_weather[_i], 2, synchronous);
}
END_TEST

static void wait_any(struct bcl_adi *adi, unsigned rank)
{
	struct bcl_adi_request *requests[10];
	struct bcl_adi_status status;
	bool seen[10] = { false };
	unsigned i, index, data[10];

	if (rank) {
		for (i = 10; i-- > 0;)
			ck_assert_int_eq(
				bcl_adi_send(adi, &i, sizeof(i), 0, (int)i, 0),
				BCL_OK);
		return;
	}
	for (i = 0; i < 10; i++)
		ck_assert_int_eq(bcl_adi_irecv(adi, &data[i], sizeof(data[i]),
					       1, (int)i, 0, &requests[i]),
				 BCL_OK);
	for (i = 0; i < 10; i++) {
		ck_assert_int_eq(
			bcl_adi_waitany(adi, requests, 10, &index, &status),
			BCL_OK);
		ck_assert(!seen[index]);
		seen[index] = true;
		ck_assert_ptr_null(requests[index]);
		ck_assert_int_eq(status.tag, (int)index);
		ck_assert_uint_eq(data[index], index);
	}
	ck_assert_int_eq(bcl_adi_waitany(adi, requests, 10, &index, &status),
			 BCL_ERR_EMPTY);
	/* a send that ended at once is a request, too */
	ck_assert_int_eq(
		bcl_adi_irecv(adi, data, sizeof(data), 0, 99, 0, &requests[0]),
		BCL_OK);
	ck_assert_int_eq(bcl_adi_isend(adi, data, 0, 0, 98, 0, &requests[1]),
			 BCL_OK);
	ck_assert_int_eq(bcl_adi_waitany(adi, requests, 2, &index, &status),
			 BCL_OK);
	ck_assert_uint_eq(index, 1);
	ck_assert_ptr_null(requests[1]);
	ck_assert_int_eq(bcl_adi_cancel(adi, requests[0]), BCL_OK);
	ck_assert_int_eq(bcl_adi_wait(adi, &requests[0], &status),
			 BCL_ERR_CANCELLED);
	ck_assert_int_eq(bcl_adi_recv(adi, data, 4, 0, 98, 0, NULL), BCL_OK);
}

START_TEST(wait_for_any)
{
	world_run(&world_weather[_i], 2, wait_any);
}
END_TEST

static void cancelling(struct bcl_adi *adi, unsigned rank)
{
	struct bcl_adi_request *a, *b;
	struct bcl_adi_status status;
	unsigned data = 0;

	if (rank) {
		world_meet();
		data = 42;
		ck_assert_int_eq(bcl_adi_send(adi, &data, 4, 0, 1, 1), BCL_OK);
		return;
	}
	ck_assert_int_eq(bcl_adi_irecv(adi, &data, 4, 1, 1, 1, &a), BCL_OK);
	ck_assert_int_eq(bcl_adi_irecv(adi, &data, 4, 1, 1, 1, &b), BCL_OK);
	ck_assert_int_eq(bcl_adi_test(adi, &a, &status), BCL_ERR_AGAIN);
	ck_assert(!bcl_adi_done(adi, a));
	ck_assert_int_eq(bcl_adi_cancel(adi, a), BCL_OK);
	ck_assert_int_eq(bcl_adi_wait(adi, &a, &status), BCL_ERR_CANCELLED);
	ck_assert_ptr_null(a);
	world_meet();
	/* the second receive gets the message */
	while (bcl_adi_iprobe(adi, 1, 7, 1, NULL) == BCL_ERR_EMPTY && !data)
		world_yield();
	ck_assert_uint_eq(data, 42);
	ck_assert_int_eq(bcl_adi_cancel(adi, b), BCL_ERR_BUSY);
	while (!bcl_adi_done(adi, b)) {
		bcl_adi_progress(adi);
		world_yield();
	}
	ck_assert_int_eq(bcl_adi_test(adi, &b, &status), BCL_OK);
	ck_assert_uint_eq(status.length, 4);
}

START_TEST(cancelled_receives)
{
	world_run(&world_weather[_i], 2, cancelling);
}
END_TEST

/* ---- arguments, waste ---- */

static void wrong(struct bcl_adi *adi, unsigned rank)
{
	struct bcl_adi_request *r = NULL;
	struct bcl_adi_message *m = NULL;
	struct iovec huge[2] = { { &r, SIZE_MAX }, { &r, 1 } };
	struct iovec null = { NULL, 1 };
	struct bcl_peer *peer;
	unsigned index;
	char c = 0;

	(void)rank;
	ck_assert_uint_eq(bcl_adi_size(adi), 2);
	ck_assert_uint_eq(bcl_adi_rank(adi), rank);
	ck_assert_int_eq(bcl_adi_send(adi, &c, 1, 2, 0, 0), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_send(adi, &c, 1, -1, 0, 0), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_send(adi, &c, 1, 0, -1, 0), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_send(adi, &c, 1, 0, 0, 0xf000), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_isend(adi, &c, 1, 2, 0, 0, &r), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_issend(adi, &c, 1, 0, -2, 0, &r), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_isendv(adi, huge, 2, 0, 0, 0, &r),
			 BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_isendv(adi, &null, 1, 0, 0, 0, &r),
			 BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_irecv(adi, &c, 1, 2, 0, 0, &r), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_irecv(adi, &c, 1, -2, 0, 0, &r), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_irecv(adi, &c, 1, 0, -2, 0, &r), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_irecv(adi, &c, 1, 0, 0, 0xffff, &r),
			 BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_irecvv(adi, huge, 2, 0, 0, 0, &r),
			 BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_recv(adi, &c, 1, 9, 0, 0, NULL), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_iprobe(adi, 5, 0, 0, NULL), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_improbe(adi, 0, -7, 0, &m, NULL), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_imrecv(adi, &c, 1, &m, &r), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_peer(adi, 2, &peer), BCL_ERR_ARG);
	ck_assert_ptr_null(r);
	ck_assert_int_eq(bcl_adi_wait(adi, &r, NULL), BCL_OK);
	ck_assert_int_eq(bcl_adi_test(adi, &r, NULL), BCL_OK);
	ck_assert_int_eq(bcl_adi_waitall(adi, &r, 1, NULL), BCL_OK);
	ck_assert_int_eq(bcl_adi_waitany(adi, &r, 1, &index, NULL),
			 BCL_ERR_EMPTY);
}

START_TEST(wrong_arguments_start_nothing)
{
	world_run(&world_weather[0], 2, wrong);
}
END_TEST

static void steady(struct bcl_adi *adi, unsigned rank)
{
	struct bcl_adi_request *requests[64];
	unsigned char data[64][512];
	unsigned i, round, before = 0;
	int peer = 1 - (int)rank;

	for (round = 0; round < 20; round++) {
		world_meet();
		if (round == 10)
			before = world.allocations;
		/* receives before and after their messages, with and without
		 * waits, with new tags in each round */
		for (i = 0; i < 64; i++)
			ck_assert_int_eq(bcl_adi_irecv(adi, data[i], 512, peer,
						       (int)(round * 100 + i),
						       0, &requests[i]),
					 BCL_OK);
		for (i = 0; i < 64; i++)
			ck_assert_int_eq(bcl_adi_send(adi, data[i], i * 8, peer,
						      (int)(round * 100 + i),
						      0),
					 BCL_OK);
		bcl_adi_waitall(adi, requests, 64, NULL);
		for (i = 0; i < 64; i++)
			ck_assert_int_eq(bcl_adi_isend(adi, data[i], i * 8,
						       peer, 7, 1,
						       &requests[i]),
					 BCL_OK);
		bcl_adi_waitall(adi, requests, 64, NULL);
		world_turns(adi, 100);
		for (i = 0; i < 64; i++)
			ck_assert_int_eq(bcl_adi_recv(adi, data[i], 512, peer,
						      i % 2 ? 7 : BCL_ANY_TAG,
						      1, NULL),
					 BCL_OK);
	}
	world_meet();
	ck_assert_uint_eq(world.allocations, before);
	world_meet();
}

START_TEST(eager_path_allocates_nothing)
{
	world_run(&world_weather[0], 2, steady);
}
END_TEST

static void unasked(struct bcl_adi *adi, unsigned rank)
{
	const struct iovec pieces[] = { { buffers[0], 3 },
					{ buffers[0] + 3, 30000 },
					{ buffers[0] + 30003, 35533 } };
	struct bcl_adi_request *request[2];

	if (rank == 1) {
		for (int tag = 0; tag < 5; tag++)
			ck_assert_int_eq(bcl_adi_recv(adi, buffers[1], LARGEST,
						      0, tag, 0, NULL),
					 BCL_OK);
		return;
	}
	ck_assert_int_eq(bcl_adi_send(adi, buffers[0], 65536, 1, 0, 0), BCL_OK);
	ck_assert_int_eq(bcl_adi_isendv(adi, pieces, 3, 1, 1, 0, &request[0]),
			 BCL_OK);
	ck_assert_int_eq(bcl_adi_wait(adi, &request[0], NULL), BCL_OK);
	ck_assert_uint_eq(mock_sent(world.mock, 0, BCL_ADI_EAGER), 2);
	ck_assert_uint_eq(mock_sent(world.mock, 0, BCL_ADI_ANNOUNCE), 0);
	ck_assert_uint_eq(mock_count(world.mock, 0, BCL_COUNT_adi_sent_long),
			  2);
	/* announced: a message that is too long, a synchronous message, a
	 * message in too many pieces */
	ck_assert_int_eq(bcl_adi_send(adi, buffers[0], 65537, 1, 2, 0), BCL_OK);
	ck_assert_int_eq(
		bcl_adi_issend(adi, buffers[0], 5000, 1, 3, 0, &request[0]),
		BCL_OK);
	ck_assert_int_eq(
		bcl_adi_isendv(adi,
			       (struct iovec[]){ pieces[0], pieces[0],
						 pieces[1], pieces[0] },
			       4, 1, 4, 0, &request[1]),
		BCL_OK);
	ck_assert_int_eq(bcl_adi_waitall(adi, request, 2, NULL), BCL_OK);
	ck_assert_uint_eq(mock_sent(world.mock, 0, BCL_ADI_EAGER), 2);
	ck_assert_uint_eq(mock_sent(world.mock, 0, BCL_ADI_ANNOUNCE), 3);
}

/* If the path takes long messages, a sender sends messages of up to the eager
 * limit without an announcement. */
START_TEST(long_messages_are_not_announced)
{
	const struct mock_options options = { .seed = 1,
					      .longs = true,
					      .eager_max = 65536 };

	world_run(&options, 2, unasked);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("adi");
	TCase *tcase = tcase_create("messages");

#define WEATHERS(test) tcase_add_loop_test(tcase, test, 0, WORLD_WEATHERS)
	WEATHERS(all_sizes_there_and_back);
	WEATHERS(same_tag_stays_in_order);
	WEATHERS(rank_to_itself);
	WEATHERS(buffers_in_pieces);
	WEATHERS(any_source_and_tag_in_order_of_each);
	WEATHERS(probes_and_matched_probes);
	WEATHERS(truncation_tells_the_length);
	WEATHERS(synchronous_sends_wait_for_the_match);
	WEATHERS(wait_for_any);
	WEATHERS(cancelled_receives);
	tcase_add_test(tcase, wrong_arguments_start_nothing);
	tcase_add_test(tcase, eager_path_allocates_nothing);
	tcase_add_test(tcase, long_messages_are_not_announced);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
