/* SPDX-License-Identifier: MIT */
/* pingpong N: N round trips of 8 bytes between two ranks. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, n = argc > 1 ? atoi(argv[1]) : 0;
	double word = 0;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (; n; n--) {
		if (rank)
			MPI_Recv(&word, 1, MPI_DOUBLE, 1 - rank, 0,
				 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Isend(&word, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD,
			  &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (!rank)
			MPI_Recv(&word, 1, MPI_DOUBLE, 1 - rank, 0,
				 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
