/* SPDX-License-Identifier: MIT */
/*
 * The last rank dies, while each of the others is blocked in an operation with
 * it (loss apart), or all in a collective one (loss together), or it falls
 * silent and nothing else tells of it (loss silent). These fail, and so does
 * what they do with it later, whatever it is; they go on with one another. Each
 * says when, in ms.
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
	UNTIL_DEATH = 300000, /* us, in which the others begin to wait */
};

static int rank, size, dead;
static MPI_Comm living;
static char out[LONG], in[LONG];

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "loss: rank %d: %s\n", rank, what);
	_exit(1);
}

/* Of a clock that all processes of a machine share. */
static void say_when(const char *what)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%s %lld\n", what, now.tv_sec * 1000LL + now.tv_nsec / 1000000);
	fflush(stdout);
}

/* The text says what happened, and fits where programs have room for it. */
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

/* One that nobody can finish without the dead. */
static void fail_together(void)
{
	int one = 1, sum;

	need(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
	     "a reduction goes without the dead");
	check_text(MPI_Barrier(MPI_COMM_WORLD));
	need(MPI_Bcast(&one, 1, MPI_INT, dead, MPI_COMM_WORLD),
	     "the dead has broadcast something");
}

/* Some may leave before the loss is known; then they fail. */
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

/* It has left long ago, and nobody will match it. */
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

/* Around the ring of those that live. */
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
