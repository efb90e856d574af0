/* SPDX-License-Identifier: MIT */
/*
 * The last rank dies. What the others do with it fails, whatever it is, and
 * they go on with one another.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LONG = 1 << 20, /* bytes */
};

static int rank, size, dead;
static char out[LONG], in[LONG];

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "loss: rank %d: %s\n", rank, what);
	_exit(1);
}

static int status_of(MPI_Request *request)
{
	MPI_Status status;

	return MPI_Wait(request, &status);
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
	need(MPI_Recv(in, LONG, MPI_BYTE, dead, 2, MPI_COMM_WORLD,
		      MPI_STATUS_IGNORE),
	     "a later receive succeeds");
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

int main(int argc, char **argv)
{
	MPI_Request posted, unmatched;

	signal(SIGUSR1, SIG_IGN); /* Hydra's, for who wants to know */
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	dead = size - 1;
	MPI_Issend(out, 4, MPI_BYTE, rank == dead ? 0 : dead, 4, MPI_COMM_WORLD,
		   &unmatched);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == dead)
		raise(SIGKILL);
	MPI_Irecv(in, LONG, MPI_BYTE, dead, 1, MPI_COMM_WORLD, &posted);
	fail_to_send(4, 0);
	fail_to_send(4, 1);
	fail_to_send(LONG, 0);
	fail_to_receive(&posted);
	fail_unmatched(&unmatched);
	go_on(4);
	go_on(LONG);
	printf("loss: rank %d goes on\n", rank);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
