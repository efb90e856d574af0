/* SPDX-License-Identifier: MIT */
/*
 * The last rank dies. The argument says in what operation each living rank
 * waits: `apart`: an operation with the dead rank; `together`: a collective
 * operation. With `silent` the last rank stops instead, the living ranks wait
 * as with `apart`, and only the silence tells of the loss. The operations of
 * the living ranks fail, and so does each later operation with the dead rank.
 * The living ranks go on with one another. Each rank prints the time of its
 * death, or of its failures, in ms.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	LONG = 1 << 20,	      /* bytes */
	UNTIL_DEATH = 300000, /* us, for the living ranks to begin to wait */
};

static int rank, size, dead;
static MPI_Comm living, ring;
static MPI_Request counted, counted_later; /* persistent reductions */
static int ones;
static char out[LONG], in[LONG];

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "loss: rank %d: %s\n", rank, what);
	_exit(1);
}

/* Print the time, in ms of a clock shared by all processes of a machine. */
static void say_when(const char *what)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%s %lld\n", what, now.tv_sec * 1000LL + now.tv_nsec / 1000000);
	fflush(stdout);
}

/* The text names the loss, and fits into a program's buffer of
 * MPI_MAX_ERROR_STRING bytes. */
static void check_text(int error)
{
	char text[4 * MPI_MAX_ERROR_STRING];
	int class, length;

	MPI_Error_class(error, &class);
	need(class == MPIX_ERR_PROC_FAILED, "a loss is of another class");
	memset(text, 'x', sizeof(text));
	MPI_Error_string(error, text, &length);
	need(length < MPI_MAX_ERROR_STRING && text[MPI_MAX_ERROR_STRING] == 'x',
	     "the text of a loss is too long");
	need(!strncmp(text, "Process failed", 14), text);
}

static void init_count(MPI_Request *request)
{
	static int one = 1;

	MPI_Allreduce_init(&one, &ones, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
			   MPI_INFO_NULL, request);
}

static int status_of(MPI_Request *request)
{
	MPI_Status status;

	return MPI_Wait(request, &status);
}

static void fail_apart(void)
{
	MPI_Request request;

	switch (rank % 3) {
	case 0:
		need(MPI_Recv(in, LONG, MPI_BYTE, dead, 5, MPI_COMM_WORLD,
			      MPI_STATUS_IGNORE),
		     "a receive that waited succeeds");
		break;
	case 1:
		need(MPI_Send(out, LONG, MPI_BYTE, dead, 5, MPI_COMM_WORLD),
		     "a send that waited succeeds");
		break;
	case 2:
		MPI_Irecv(in, 4, MPI_BYTE, dead, 5, MPI_COMM_WORLD, &request);
		need(status_of(&request), "a request that waited succeeds");
		break;
	}
}

/* No rank can finish a collective operation without the dead rank. */
static void fail_together(void)
{
	int one = 1, sum, other, error;
	MPI_Request request;

	MPI_Start(&counted);
	error = MPI_Iallreduce(&one, &other, 1, MPI_INT, MPI_SUM,
			       MPI_COMM_WORLD, &request);
	need(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
	     "a reduction goes without the dead");
	check_text(error ? error : status_of(&request));
	check_text(status_of(&counted));
	error = MPI_Start(&counted_later);
	check_text(error ? error : status_of(&counted_later));
	MPI_Request_free(&counted);
	MPI_Request_free(&counted_later);
	check_text(MPI_Barrier(MPI_COMM_WORLD));
	need(MPI_Bcast(&one, 1, MPI_INT, dead, MPI_COMM_WORLD),
	     "the dead has broadcast something");
	error = MPI_Neighbor_alltoall(out, 1, MPI_BYTE, in, 1, MPI_BYTE, ring);
	if (rank == 0 || rank == dead - 1)
		check_text(error);
}

/* Sends may succeed until the rank knows of the loss; then all fail. */
static void fail_to_send(int length, int synchronous)
{
	MPI_Request request;
	int error;

	do {
		error = (synchronous ? MPI_Issend
				     : MPI_Isend)(out, length, MPI_BYTE, dead,
						  1, MPI_COMM_WORLD, &request);
		if (!error)
			error = status_of(&request);
	} while (!error);
}

/* The message left long before the death, and no receive matches. */
static void fail_unmatched(MPI_Request *sent)
{
	need(status_of(sent), "a synchronous send was not told of the loss");
}

static void fail_to_receive(MPI_Request *posted)
{
	need(status_of(posted), "a receive was not told of the loss");
	check_text(MPI_Recv(in, LONG, MPI_BYTE, dead, 2, MPI_COMM_WORLD,
			    MPI_STATUS_IGNORE));
}

/* Exchange messages around the ring of living ranks. */
static void go_on(int length)
{
	int to = (rank + 1) % dead, from = (rank + dead - 1) % dead;

	memset(out, 'a' + rank, length);
	need(!MPI_Sendrecv(out, length, MPI_BYTE, to, 3, in, length, MPI_BYTE,
			   from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
	     "a message to the living fails");
	need(in[0] == 'a' + from && in[length - 1] == 'a' + from,
	     "other data came");
}

static void go_on_together(MPI_Comm comm)
{
	int one = 1, sum;

	need(!MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm),
	     "a reduction among the living fails");
	need(sum == dead, "some of the living were left out");
}

int main(int argc, char **argv)
{
	MPI_Request posted, unmatched;
	MPI_Comm later;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	need(argc == 2, "usage: loss apart|together|silent");
	dead = size - 1;
	MPI_Comm_split(MPI_COMM_WORLD, rank == dead, rank, &living);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){ 1 }, 0, &ring);
	init_count(&counted);
	init_count(&counted_later);
	MPI_Issend(out, 4, MPI_BYTE, rank == dead ? 0 : dead, 4, MPI_COMM_WORLD,
		   &unmatched);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == dead) {
		usleep(UNTIL_DEATH);
		printf("process %d\n", getpid());
		say_when("ends");
		raise(strcmp(argv[1], "silent") ? SIGKILL : SIGSTOP);
	}
	MPI_Irecv(in, LONG, MPI_BYTE, dead, 1, MPI_COMM_WORLD, &posted);
	if (strcmp(argv[1], "together"))
		fail_apart();
	fail_together();
	fail_to_send(4, 0);
	fail_to_send(4, 1);
	fail_to_send(LONG, 0);
	fail_to_receive(&posted);
	fail_unmatched(&unmatched);
	say_when("failed");
	go_on(4);
	go_on(LONG);
	go_on_together(living);
	MPI_Comm_dup(living, &later);
	go_on_together(later);
	printf("loss: rank %d goes on\n", rank);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
