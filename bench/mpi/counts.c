/* SPDX-License-Identifier: MIT */
/*
 * Prints what a message between two nodes costs through MPICH ch3:bcl: system
 * calls, frames and copied bytes, by the library's counters, as a table. For
 * each length the ranks send MESSAGES messages to and fro.
 *
 *	mpicc -Itests/mpich -o counts bench/mpi/counts.c
 *	scripts/cluster run scripts/cluster mpiexec 1 ./counts
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "counter.h"

enum {
	MESSAGES = 500, /* each way */
	LONGEST = 4 << 20,
};

static const char *const names[] = {
	"bcl_packet_sends",	   "bcl_udp_sendmsg",
	"bcl_udp_recvmsg",	   "bcl_udp_recvmsg_empty",
	"bcl_card_frames_sent",	   "bcl_host_bytes_packed",
	"bcl_host_bytes_gathered", "bcl_host_bytes_placed",
};

enum {
	PACKETS,
	SENDS,
	RECEIVES,
	EMPTY,
	FRAMES,
	PACKED,
	GATHERED,
	PLACED,
	COUNTS,
};

static void read_counts(double *to)
{
	for (int i = 0; i < COUNTS; i++)
		to[i] = (double)counter(names[i]);
}

static void exchange(int rank, char *buffer, int bytes)
{
	for (int i = 0; i < MESSAGES; i++) {
		if (rank == 0)
			MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(buffer, bytes, MPI_CHAR, !rank, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
	}
}

static void measure(int rank, char *buffer, int bytes)
{
	double from[COUNTS], n[COUNTS];

	exchange(rank, buffer, bytes); /* paths are known, memory is there */
	MPI_Barrier(MPI_COMM_WORLD);
	read_counts(from);
	exchange(rank, buffer, bytes);
	read_counts(n);
	for (int i = 0; i < COUNTS; i++)
		n[i] = (n[i] - from[i]) / MESSAGES;
	if (rank == 0)
		printf("| %d | %.2f | %.2f | %.2f | %.1f | %.2f | %.2f | %.2f "
		       "|\n",
		       bytes, n[PACKETS], n[SENDS], n[RECEIVES] - n[EMPTY],
		       n[FRAMES], n[PACKED] / bytes, n[GATHERED] / bytes,
		       n[PLACED] / bytes);
}

int main(int argc, char **argv)
{
	char *buffer = calloc(1, LONGEST);
	int rank, provided, bytes;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!buffer)
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (rank == 0)
		puts("| bytes | sends, ring | sends, UDP | receives, UDP "
		     "| frames | packed | gathered | placed |\n"
		     "|---|---|---|---|---|---|---|---|");
	for (bytes = 8; bytes <= LONGEST; bytes *= bytes < 64 ? 8 : 4)
		measure(rank, buffer, bytes);
	MPI_Finalize();
	free(buffer);
	return 0;
}
