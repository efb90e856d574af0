/* SPDX-License-Identifier: MIT */
/* lists OPERATION N: N calls of MPI_Gatherv() or its like, of 8 bytes. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum {
	RANKS_MAX = 16,
};

static double out[RANKS_MAX], in[RANKS_MAX];
static int counts[RANKS_MAX], displacements[RANKS_MAX];

static void call(const char *name)
{
	MPI_Comm comm = MPI_COMM_WORLD;
	MPI_Datatype type = MPI_DOUBLE;

	if (!strcmp(name, "gatherv"))
		MPI_Gatherv(out, 1, type, in, counts, displacements, type, 0,
			    comm);
	else if (!strcmp(name, "scatterv"))
		MPI_Scatterv(out, counts, displacements, type, in, 1, type, 0,
			     comm);
	else if (!strcmp(name, "allgatherv"))
		MPI_Allgatherv(out, 1, type, in, counts, displacements, type,
			       comm);
	else if (!strcmp(name, "alltoallv"))
		MPI_Alltoallv(out, counts, displacements, type, in, counts,
			      displacements, type, comm);
	else
		MPI_Abort(comm, 1);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0, i;

	MPI_Init(&argc, &argv);
	for (i = 0; i < RANKS_MAX; i++) {
		counts[i] = 1;
		displacements[i] = i;
	}
	for (; n; n--)
		call(argv[1]);
	MPI_Finalize();
	return 0;
}
