/* SPDX-License-Identifier: MIT */
/*
 * Rank 0 cancels sends. MPI cancels a send without a receive. A short message
 * may have left already, and then arrives. A send that rank 1 is receiving is
 * not cancelled. Last, rank 1 receives long messages.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TIMES = 100,
	SHORT = 10,
	LONG = 1 << 20, /* bytes */
};

enum tag {
	NEVER, /* received */
	RECEIVED,
	SHORT_RECEIVED,
	GO_ON,
};

static char buffer[2 * LONG];

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "cancel: %s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int is_cancelled(MPI_Request request)
{
	MPI_Status status;
	int cancelled;

	MPI_Cancel(&request);
	MPI_Wait(&request, &status);
	MPI_Test_cancelled(&status, &cancelled);
	return cancelled;
}

/* Every second byte: MPICH packs the data. */
static MPI_Datatype sparse(void)
{
	MPI_Datatype type;

	MPI_Type_vector(LONG, 1, 2, MPI_BYTE, &type);
	MPI_Type_commit(&type);
	return type;
}

static void cancel(void)
{
	MPI_Datatype every_other = sparse();
	MPI_Request request;
	int i;

	for (i = 0; i < TIMES; i++) {
		MPI_Issend(buffer, SHORT, MPI_BYTE, 1, NEVER, MPI_COMM_WORLD,
			   &request);
		need(is_cancelled(request), "a short send is not cancelled");
		MPI_Isend(buffer, SHORT, MPI_BYTE, 1, SHORT_RECEIVED,
			  MPI_COMM_WORLD, &request);
		if (is_cancelled(request))
			MPI_Send(buffer, SHORT, MPI_BYTE, 1, SHORT_RECEIVED,
				 MPI_COMM_WORLD);
		MPI_Isend(buffer, LONG, MPI_BYTE, 1, NEVER, MPI_COMM_WORLD,
			  &request);
		need(is_cancelled(request), "a long send is not cancelled");
		MPI_Issend(buffer, 1, every_other, 1, NEVER, MPI_COMM_WORLD,
			   &request);
		need(is_cancelled(request), "a sparse send is not cancelled");
	}
	MPI_Type_free(&every_other);
	memset(buffer, 'x', LONG);
	MPI_Isend(buffer, LONG, MPI_BYTE, 1, RECEIVED, MPI_COMM_WORLD,
		  &request);
	need(!is_cancelled(request), "what is being received is cancelled");
	for (i = 0; i < TIMES; i++)
		MPI_Send(buffer, LONG, MPI_BYTE, 1, GO_ON, MPI_COMM_WORLD);
}

static void receive(void)
{
	MPI_Request request;
	int i, n;

	MPI_Irecv(buffer, LONG, MPI_BYTE, 0, RECEIVED, MPI_COMM_WORLD,
		  &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	for (n = 0; n < LONG && buffer[n] == 'x'; n++)
		;
	need(n == LONG, "other data came");
	for (i = 0; i < TIMES; i++)
		MPI_Recv(buffer, LONG, MPI_BYTE, 0, GO_ON, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	for (i = 0; i < TIMES; i++)
		MPI_Recv(buffer, SHORT, MPI_BYTE, 0, SHORT_RECEIVED,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Iprobe(0, SHORT_RECEIVED, MPI_COMM_WORLD, &n, MPI_STATUS_IGNORE);
	need(!n, "a short message came twice");
	MPI_Iprobe(0, NEVER, MPI_COMM_WORLD, &n, MPI_STATUS_IGNORE);
	need(!n, "what was cancelled is there");
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank)
		receive();
	else
		cancel();
	MPI_Finalize();
	return 0;
}
