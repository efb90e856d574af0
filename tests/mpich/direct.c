/* SPDX-License-Identifier: MIT */
/*
 * Rank 1 waits in MPI_Recv() for a message of rank 0, and gets further messages
 * meanwhile: with another tag, from rank 2, long, synchronous, or too long for
 * the buffer. Each time rank 1 receives the awaited message, in order, and the
 * rest later. MPI_Isend() of a short message completes at once, and a send that
 * is cancelled too late is received.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum {
	TIMES = 200,
	LONG = 1 << 20, /* bytes */
	WINDOW = 50,
	RANKS = 3,
};

enum tag {
	GO,
	AWAITED,
	OTHER,
};

static char buffer[LONG], other[LONG];
static MPI_Comm copy; /* of MPI_COMM_WORLD */
static int round_number;

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "direct: round %d: %s\n", round_number, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void send_to_1(int value, int tag, MPI_Comm comm)
{
	MPI_Send(&value, 1, MPI_INT, 1, tag, comm);
}

/* Receive a number into a larger buffer, and check the status. */
static int receive(int source, int tag, int expected, MPI_Comm comm)
{
	int value[4] = { -1, -1, -1, -1 }, count;
	MPI_Status status;

	memset(&status, 0x55, sizeof(status));
	MPI_Recv(value, 4, MPI_INT, source, tag, comm, &status);
	MPI_Get_count(&status, MPI_INT, &count);
	need(count == 1 && value[1] == -1, "another length");
	need(status.MPI_SOURCE == source, "another source");
	need(status.MPI_TAG == expected, "another tag");
	return value[0];
}

/* ---- sends of rank 0, and receives of rank 1 ---- */

static void send_alone(void)
{
	send_to_1(1, AWAITED, MPI_COMM_WORLD);
}

static void receive_alone(void)
{
	need(receive(0, AWAITED, AWAITED, MPI_COMM_WORLD) == 1, "other data");
}

static void receive_any_tag(void)
{
	need(receive(0, MPI_ANY_TAG, AWAITED, MPI_COMM_WORLD) == 1,
	     "other data");
}

static void send_behind_another(void)
{
	send_to_1(2, OTHER, MPI_COMM_WORLD);
	send_to_1(1, AWAITED, MPI_COMM_WORLD);
}

static void receive_before_another(void)
{
	receive_alone();
	need(receive(0, OTHER, OTHER, MPI_COMM_WORLD) == 2, "other data");
}

static void send_behind_a_copy(void)
{
	send_to_1(2, AWAITED, copy);
	send_to_1(1, AWAITED, MPI_COMM_WORLD);
}

static void receive_before_a_copy(void)
{
	receive_alone();
	need(receive(0, AWAITED, AWAITED, copy) == 2, "other data");
}

static void send_behind_a_long_one(void)
{
	MPI_Request request;

	MPI_Isend(buffer, LONG, MPI_CHAR, 1, OTHER, MPI_COMM_WORLD, &request);
	send_to_1(1, AWAITED, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive_before_a_long_one(void)
{
	receive_alone();
	MPI_Recv(other, LONG, MPI_CHAR, 0, OTHER, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	need(!memcmp(buffer, other, LONG), "other data");
}

static void send_long(void)
{
	MPI_Send(buffer, LONG, MPI_CHAR, 1, AWAITED, MPI_COMM_WORLD);
	send_to_1(1, AWAITED, MPI_COMM_WORLD);
}

static void receive_long(void)
{
	memset(other, 0, LONG);
	MPI_Recv(other, LONG, MPI_CHAR, 0, AWAITED, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	need(!memcmp(buffer, other, LONG), "other data");
	receive_alone();
}

static void send_synchronously(void)
{
	int value = 1;

	MPI_Ssend(&value, 1, MPI_INT, 1, AWAITED, MPI_COMM_WORLD);
}

static void send_too_long(void)
{
	MPI_Send(buffer, 100, MPI_CHAR, 1, AWAITED, MPI_COMM_WORLD);
	send_alone();
}

static void receive_too_long(void)
{
	int class = MPI_SUCCESS, error;

	memset(other, 0, 100);
	error = MPI_Recv(other, 10, MPI_CHAR, 0, AWAITED, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Error_class(error, &class);
	need(class == MPI_ERR_TRUNCATE, "not called too long");
	need(!other[10], "written behind the buffer");
	receive_alone();
}

/* The receive posted first gets the first of two messages. */
static void send_two(void)
{
	send_to_1(1, AWAITED, MPI_COMM_WORLD);
	send_to_1(2, AWAITED, MPI_COMM_WORLD);
}

static void receive_two(void)
{
	MPI_Request request;
	int first = 0;

	MPI_Irecv(&first, 1, MPI_INT, 0, AWAITED, MPI_COMM_WORLD, &request);
	need(receive(0, AWAITED, AWAITED, MPI_COMM_WORLD) == 2, "not in order");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	need(first == 1, "not in order");
}

/* Use the requests of sent messages in every way. */
static void send_window(void)
{
	MPI_Request request[WINDOW];
	int i, index, done, cancelled, value[WINDOW];
	MPI_Status status, all[WINDOW];

	for (i = 0; i < WINDOW; i++) {
		value[i] = i;
		MPI_Isend(&value[i], 1, MPI_INT, 1, AWAITED, MPI_COMM_WORLD,
			  &request[i]);
	}
	MPI_Wait(&request[0], &status);
	need(request[0] == MPI_REQUEST_NULL, "a request after MPI_Wait()");
	MPI_Request_free(&request[1]);
	need(request[1] == MPI_REQUEST_NULL, "a request that was freed");
	MPI_Cancel(&request[2]);
	MPI_Wait(&request[2], &status);
	MPI_Test_cancelled(&status, &cancelled);
	need(!cancelled, "a message that has left is cancelled");
	MPI_Waitany(WINDOW, request, &index, &status);
	need(index > 2 && index < WINDOW, "MPI_Waitany() names another");
	do
		MPI_Testall(WINDOW, request, &done, all);
	while (!done);
}

static void receive_window(void)
{
	int i;

	for (i = 0; i < WINDOW; i++)
		need(receive(0, AWAITED, AWAITED, MPI_COMM_WORLD) == i,
		     "not in order");
}

static const struct {
	void (*send)(void);
	void (*receive)(void);
} rounds[] = {
	{ send_alone, receive_alone },
	{ send_alone, receive_any_tag },
	{ send_behind_another, receive_before_another },
	{ send_behind_a_copy, receive_before_a_copy },
	{ send_behind_a_long_one, receive_before_a_long_one },
	{ send_long, receive_long },
	{ send_synchronously, receive_alone },
	{ send_too_long, receive_too_long },
	{ send_two, receive_two },
	{ send_window, receive_window },
};

/* ---- rounds ---- */

/* Rank 1 tells each rank to send, just before the receive. */
static void go(int rank)
{
	int i;

	if (rank != 1) {
		MPI_Recv(NULL, 0, MPI_INT, 1, GO, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		return;
	}
	for (i = 0; i < RANKS; i++)
		if (i != 1)
			MPI_Send(NULL, 0, MPI_INT, i, GO, MPI_COMM_WORLD);
}

static void run_round(int rank, unsigned i)
{
	go(rank);
	if (rank == 0)
		rounds[i].send();
	else if (rank == 1)
		rounds[i].receive();
	else
		send_to_1(3, AWAITED, MPI_COMM_WORLD);
	if (rank == 1)
		need(receive(2, AWAITED, AWAITED, MPI_COMM_WORLD) == 3,
		     "other data");
}

int main(int argc, char **argv)
{
	int rank, i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	for (i = 0; i < LONG; i++)
		buffer[i] = (char)(i * 7 + 1);
	for (i = 0; i < TIMES * (int)(sizeof(rounds) / sizeof(*rounds)); i++) {
		round_number = i / TIMES;
		run_round(rank, (unsigned)(i / TIMES));
	}
	MPI_Comm_free(&copy);
	MPI_Finalize();
	return 0;
}
