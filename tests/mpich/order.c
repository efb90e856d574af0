/* SPDX-License-Identifier: MIT */
/*
 * Rank 0 sends messages to rank 1, all with one tag, in modes, lengths and
 * kinds of types drawn at random (order SEED). The messages arrive in the order
 * of the sends, with the right data. The ranks use three communicators in turn:
 * MPI_COMM_WORLD, a copy, and an intercommunicator. Before, each rank sends to
 * MPI_PROC_NULL and to itself. `order SEED announced`: rank 0 announces
 * messages above MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE, and sends only on request.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counter.h"

enum {
	TAG = 7,
	ROUNDS = 12,	 /* in each communicator */
	MESSAGES = 100,	 /* of a round */
	SHORT = 500,	 /* bytes */
	LONGEST = 40000, /* bytes; a round's messages do not fit in a ring */
	EXTENT = 2 * LONGEST,
	NAP = 2000, /* us: the receiver begins when the ring is full */
};

enum mode {
	PLAIN, /* MPI_Send(), twice as often as the rest */
	PLAIN_AGAIN,
	LATER,
	SYNCHRONOUS,
	BUFFERED,
	MODES,
};

enum shape {
	BYTES,
	BYTES_AGAIN,
	WORDS,
	DENSE, /* a derived type without gaps */
	APART, /* every second byte */
	SHAPES,
};

struct message {
	enum mode mode;
	enum shape shape;
	int bytes;
	unsigned char first;
};

static int rank, wrong;
static uint64_t state; /* of the random numbers, the same at both ranks */
static MPI_Datatype types[SHAPES];
static unsigned char room[MESSAGES][EXTENT], got[EXTENT];

static unsigned draw(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

/* Lengths near the limits between two ways of messages, and any length. */
static int draw_bytes(void)
{
	static const int some[] = { 0,	 8,    16,   40,   48,	 64,
				    512, 2048, 4096, 8191, 16384 };
	int near = some[draw(sizeof(some) / sizeof(some[0]))];

	switch (draw(4)) {
	case 0:
		return (int)draw(64);
	case 1:
		return (int)draw(LONGEST);
	default:
		near += (int)draw(5) - 2;
		return near > 0 ? near : 0;
	}
}

static struct message draw_message(void)
{
	struct message message = {
		.mode = draw(MODES),
		.shape = draw(SHAPES),
		.bytes = draw_bytes(),
		.first = (unsigned char)draw(256),
	};

	if (message.shape == WORDS || message.shape == DENSE)
		message.bytes &= ~7;
	return message;
}

static int count_of(const struct message *message)
{
	return message->shape == WORDS || message->shape == DENSE
		       ? message->bytes / 8
		       : message->bytes;
}

static void fill(unsigned char *to, const struct message *message)
{
	int step = message->shape == APART ? 2 : 1;

	memset(to, 0, (size_t)message->bytes * (size_t)step);
	for (int i = 0; i < message->bytes; i++)
		to[i * step] = (unsigned char)(message->first + 31 * i);
}

static void send(unsigned char *from, const struct message *message,
		 MPI_Comm comm, int other, MPI_Request *request)
{
	MPI_Datatype type = types[message->shape];
	int count = count_of(message);

	*request = MPI_REQUEST_NULL;
	switch (message->mode) {
	case LATER:
		MPI_Isend(from, count, type, other, TAG, comm, request);
		break;
	case SYNCHRONOUS:
		MPI_Issend(from, count, type, other, TAG, comm, request);
		break;
	case BUFFERED:
		MPI_Bsend(from, count, type, other, TAG, comm);
		break;
	default:
		MPI_Send(from, count, type, other, TAG, comm);
	}
}

static void say(const struct message *messages, MPI_Comm comm, int other)
{
	MPI_Request requests[MESSAGES];
	MPI_Status statuses[MESSAGES];
	int flag;

	for (int i = 0; i < MESSAGES; i++) {
		fill(room[i], &messages[i]);
		send(room[i], &messages[i], comm, other, &requests[i]);
		/* some queued messages leave before the next send */
		if (i % 2)
			MPI_Iprobe(other, TAG, comm, &flag, &statuses[0]);
	}
	MPI_Waitall(MESSAGES, requests, statuses);
}

static void hear(const struct message *message, MPI_Comm comm, int i)
{
	unsigned char *expected = room[0];
	MPI_Status status;
	int bytes;

	memset(got, 0, sizeof(got));
	MPI_Recv(got, sizeof(got), MPI_BYTE, draw(2) ? 0 : MPI_ANY_SOURCE, TAG,
		 comm, &status);
	MPI_Get_count(&status, MPI_BYTE, &bytes);
	for (int at = 0; at < message->bytes; at++)
		expected[at] = (unsigned char)(message->first + 31 * at);
	if (bytes != message->bytes || status.MPI_SOURCE != 0 ||
	    memcmp(got, expected, (size_t)message->bytes) != 0) {
		printf("message %d, mode %d, shape %d: %d bytes, not %d, or "
		       "not these\n",
		       i, (int)message->mode, (int)message->shape, bytes,
		       message->bytes);
		wrong = 1;
	}
}

static void round_of(MPI_Comm comm, int other)
{
	struct message messages[MESSAGES];
	int i;

	for (i = 0; i < MESSAGES; i++)
		messages[i] = draw_message();
	if (rank == 0) {
		say(messages, comm, other);
	} else {
		if (draw(2))
			usleep(NAP);
		for (i = 0; i < MESSAGES; i++)
			hear(&messages[i], comm, i);
	}
	/* rank 1 has drawn more numbers than rank 0: share the state */
	MPI_Bcast(&state, sizeof(state), MPI_BYTE, 1, MPI_COMM_WORLD);
}

static void nobody_and_oneself(void)
{
	int sent = 5, received = 0;
	MPI_Request request;

	MPI_Send(&sent, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
	MPI_Irecv(&received, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, &request);
	MPI_Send(&sent, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (received != sent) {
		printf("rank %d: nothing from itself\n", rank);
		wrong = 1;
	}
}

/* The messages are short, but rank 0 announces them, and rank 1 pulls. */
static void announced(void)
{
	unsigned long long before = counter("bcl_shm_bytes_pulled"), pulled;

	for (int i = 0; i < MESSAGES; i++)
		if (rank == 0)
			MPI_Send(room[0], SHORT, MPI_BYTE, 1, TAG,
				 MPI_COMM_WORLD);
		else
			MPI_Recv(got, SHORT, MPI_BYTE, 0, TAG, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
	pulled = counter("bcl_shm_bytes_pulled") - before;
	if (rank == 1 && pulled != MESSAGES * SHORT) {
		printf("announced: %llu bytes\n", pulled);
		wrong = 1;
	}
}

static void make_types(void)
{
	types[BYTES] = types[BYTES_AGAIN] = MPI_BYTE;
	types[WORDS] = MPI_UINT64_T;
	MPI_Type_contiguous(2, MPI_UINT32_T, &types[DENSE]);
	MPI_Type_commit(&types[DENSE]);
	MPI_Type_create_resized(MPI_BYTE, 0, 2, &types[APART]);
	MPI_Type_commit(&types[APART]);
}

int main(int argc, char **argv)
{
	int size = MESSAGES * (EXTENT + MPI_BSEND_OVERHEAD), provided;
	MPI_Comm copy, between;
	char *buffer = malloc((size_t)size);

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	make_types();
	MPI_Buffer_attach(buffer, size);
	nobody_and_oneself();
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, TAG,
			     &between);
	for (int i = 0; i < ROUNDS; i++) {
		round_of(MPI_COMM_WORLD, 1);
		round_of(copy, 1);
		round_of(between, 0);
	}
	if (argc > 2)
		announced();
	MPI_Comm_free(&between);
	MPI_Comm_free(&copy);
	MPI_Buffer_detach(&buffer, &size);
	free(buffer);
	MPI_Type_free(&types[DENSE]);
	MPI_Type_free(&types[APART]);
	MPI_Finalize();
	MPI_T_finalize();
	return wrong;
}
