/* SPDX-License-Identifier: MIT */
/*
 * The parts of MPI's binary interface that end up in a compiled program:
 * handles, constants, the layout of a status, attributes, a callback. Rank 0
 * names the device of its MPI library.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
	const double *from = in;
	double *to = inout;

	(void)type;
	for (int i = 0; i < *length; i++)
		to[i] += from[i];
}

static void check(int right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "%s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void say_device(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	const char *device;
	int length;

	MPI_Get_library_version(text, &length);
	device = strstr(text, "Device:");
	check(device != NULL, "no device");
	device += strcspn(device, " \t");
	device += strspn(device, " \t");
	printf("%.*s\n", (int)strcspn(device, "\n"), device);
}

int main(int argc, char **argv)
{
	double mine[2] = { 1, 2 }, sum[2] = { 0, 0 }, ring[2];
	int rank, ranks, count, flag, *tag_limit;
	MPI_Datatype pair;
	MPI_Status status;
	MPI_Win window;
	MPI_Op op;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Op_create(add, 1, &op);
	MPI_Allreduce(mine, sum, 2, MPI_DOUBLE, op, MPI_COMM_WORLD);
	check(sum[0] == ranks && sum[1] == 2 * ranks, "wrong sum");
	MPI_Op_free(&op);

	MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
	MPI_Type_commit(&pair);
	MPI_Sendrecv(mine, 1, pair, (rank + 1) % ranks, 7, ring, 2, MPI_DOUBLE,
		     MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_DOUBLE, &count);
	check(status.MPI_SOURCE == (rank + ranks - 1) % ranks &&
		      status.MPI_TAG == 7 && count == 2,
	      "wrong status");
	MPI_Type_free(&pair);

	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_limit, &flag);
	check(flag && *tag_limit >= 32767, "wrong attribute");
	MPI_Win_create(ring, sizeof ring, sizeof *ring, MPI_INFO_NULL,
		       MPI_COMM_WORLD, &window);
	MPI_Win_fence(0, window);
	MPI_Put(sum, 2, MPI_DOUBLE, (rank + 1) % ranks, 0, 2, MPI_DOUBLE,
		window);
	MPI_Win_fence(0, window);
	check(ring[0] == ranks && ring[1] == 2 * ranks, "wrong put");
	MPI_Win_free(&window);
	if (rank == 0)
		say_device();
	return MPI_Finalize();
}
