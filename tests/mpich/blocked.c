/* SPDX-License-Identifier: MIT */
/*
 * Rank 0 sleeps, outside MPI, before it sends to the remaining ranks. Each of
 * the receiving ranks waits in MPI_Recv, in THREADS threads (0:
 * MPI_THREAD_SINGLE). No rank may use more processor time than a tenth of the
 * waiting time. Processor time does not grow on a busy machine.
 * Usage: blocked THREADS
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	WAIT = 2,	 /* seconds */
	TOLERATED = 100, /* processor time, thousandths of the time waited */
	THREADS_MAX = 8,
};

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Processor time of all threads of the process, with the library's. */
static double processor_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void *receive(void *tag)
{
	MPI_Recv(NULL, 0, MPI_INT, 0, *(int *)tag, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	return NULL;
}

static void receive_in_threads(int threads)
{
	pthread_t id[THREADS_MAX];
	int tag[THREADS_MAX], i;

	for (i = 0; i < threads; i++) {
		tag[i] = i;
		if (pthread_create(&id[i], NULL, receive, &tag[i]))
			fail("no thread");
	}
	for (i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
}

/* Processor time, thousandths of the time waited. */
static int wait_for_rank_0(int threads)
{
	double spent = processor_seconds(), start = MPI_Wtime();
	int tag = 0;

	if (threads)
		receive_in_threads(threads);
	else
		receive(&tag);
	spent = processor_seconds() - spent;
	return (int)(1000 * spent / (MPI_Wtime() - start));
}

static void let_wait(int ranks, int threads)
{
	const struct timespec time = { .tv_sec = WAIT };
	int rank, tag;

	nanosleep(&time, NULL);
	for (rank = 1; rank < ranks; rank++)
		for (tag = 0; tag < (threads ? threads : 1); tag++)
			MPI_Send(NULL, 0, MPI_INT, rank, tag, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int threads = argc == 2 ? atoi(argv[1]) : -1;
	int wanted = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
	int rank, ranks, got, share = 0, most;

	MPI_Init_thread(&argc, &argv, wanted, &got);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (threads < 0 || threads > THREADS_MAX)
		fail("usage: blocked THREADS");
	if (got < wanted)
		fail("no threads");
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank)
		share = wait_for_rank_0(threads);
	else
		let_wait(ranks, threads);
	MPI_Reduce(&share, &most, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		printf("%d ranks, %d threads: at most %d.%d %% of a "
		       "processor\n",
		       ranks, threads, most / 10, most % 10);
		fflush(stdout);
		if (most > TOLERATED)
			fail("who waits burns processors");
	}
	return MPI_Finalize();
}
