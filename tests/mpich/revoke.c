/* SPDX-License-Identifier: MIT */
/*
 * The last rank revokes a communicator. Meanwhile each of the remaining ranks
 * waits in an operation on the communicator (`revoke barrier`, `bcast`,
 * `recv`, `ibarrier`, `ibcast`, `persistent`), and the last rank never joins.
 * The operation fails, and so does each later operation on the communicator.
 * Communicators of two ranks go on.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	LONG = 1 << 20,	     /* bytes */
	UNTIL_THEN = 200000, /* us, for the other ranks to begin to wait */
};

static char buffer[LONG];
static int rank, size;
static MPI_Request persistent; /* a barrier */

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "revoke: rank %d: %s\n", rank, what);
	_exit(1);
}

static int is_revoked(int error)
{
	int class = MPI_SUCCESS;

	if (error)
		MPI_Error_class(error, &class);
	return class == MPIX_ERR_REVOKED;
}

static int receive(MPI_Comm comm, int from)
{
	return MPI_Recv(buffer, 1, MPI_CHAR, from, 0, comm, MPI_STATUS_IGNORE);
}

static int wait_for(int error, MPI_Request *request)
{
	return error ? error : MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Wait in an operation. The last rank does not come. */
static int wait_in(const char *what, MPI_Comm comm)
{
	MPI_Request request;

	if (!strcmp(what, "ibarrier"))
		return wait_for(MPI_Ibarrier(comm, &request), &request);
	if (!strcmp(what, "persistent"))
		return wait_for(MPI_Start(&persistent), &persistent);
	if (!strcmp(what, "ibcast"))
		return wait_for(MPI_Ibcast(buffer, LONG, MPI_CHAR, size - 1,
					   comm, &request),
				&request);
	if (!strcmp(what, "barrier"))
		return MPI_Barrier(comm);
	if (!strcmp(what, "bcast"))
		return MPI_Bcast(buffer, LONG, MPI_CHAR, size - 1, comm);
	return receive(comm, size - 1);
}

/* Meanwhile messages of the communicator lie unreceived. */
static void be_revoked(const char *what, MPI_Comm comm)
{
	MPI_Request request;
	int i;

	if (rank == size - 1) {
		for (i = 0; i < rank; i++)
			MPI_Send(buffer, 1, MPI_CHAR, i, 2, comm);
		usleep(UNTIL_THEN);
		need(!MPIX_Comm_revoke(comm), "it is not revoked");
		return;
	}
	MPI_Irecv(buffer, 1, MPI_CHAR, size - 1, 1, comm, &request);
	need(is_revoked(wait_in(what, comm)), "an operation that waited");
	need(is_revoked(MPI_Wait(&request, MPI_STATUS_IGNORE)),
	     "a receive that waited");
}

static void be_refused(MPI_Comm comm)
{
	MPI_Request request;
	int sum;

	need(is_revoked(wait_for(MPI_Ibarrier(comm, &request), &request)),
	     "a later barrier that does not block");
	need(is_revoked(MPI_Barrier(comm)), "a later barrier");
	need(is_revoked(wait_for(MPI_Start(&persistent), &persistent)),
	     "a later persistent barrier");
	need(is_revoked(MPI_Bcast(buffer, LONG, MPI_CHAR, 0, comm)),
	     "a later broadcast");
	need(is_revoked(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm)),
	     "a later reduction");
	need(is_revoked(receive(comm, (rank + 1) % size)), "a later receive");
	need(is_revoked(
		     MPI_Send(buffer, 1, MPI_CHAR, (rank + 1) % size, 0, comm)),
	     "a later send");
}

static void go_on(MPI_Comm comm)
{
	int one = 1, sum = 0;

	need(!MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) && sum == 2,
	     "a reduction of those who go on");
}

int main(int argc, char **argv)
{
	MPI_Comm comm, pair;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	need(argc == 2, "what is to be waited for?");
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
	MPI_Barrier_init(comm, MPI_INFO_NULL, &persistent);
	MPI_Barrier(comm);
	MPI_Barrier(pair);

	be_revoked(argv[1], comm);
	be_refused(comm);
	MPI_Request_free(&persistent);
	go_on(pair);
	printf("revoke: rank %d goes on\n", rank);
	fflush(stdout);
	MPI_Comm_free(&pair);
	MPI_Finalize();
	return 0;
}
