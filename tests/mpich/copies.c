/* SPDX-License-Identifier: MIT */
/*
 * How often rank 1, the receiver, copies the bytes of a short message after the
 * library has received them: with a receive posted before the send, and with a
 * late receive, posted after the message has come. Rank 1 counts the bytes of
 * memcpy() and memmove(), called by this program, libmpi or libbcl.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum {
	N = 100, /* messages of each length */
	LONGEST = 8192,
	PIECE = 256, /* bytes: a shorter copy belongs to no message */
};

static long copied; /* bytes */
static int rank;

/* ---- counting ---- */

#pragma GCC visibility push(default) /* hides the libraries' functions */
void *memmove(void *to, const void *from, size_t n);
void *memcpy(void *to, const void *from, size_t n);
#pragma GCC visibility pop

void *memmove(void *to, const void *from, size_t n)
{
	static void *(*move)(void *, const void *, size_t);

	if (!move)
		*(void **)&move = dlsym(RTLD_NEXT, "memmove");
	if (n >= PIECE)
		copied += (long)n;
	return move(to, from, n);
}

void *memcpy(void *to, const void *from, size_t n)
{
	return memmove(to, from, n);
}

/* ---- messages ---- */

static void tell(int other)
{
	MPI_Send(NULL, 0, MPI_CHAR, other, 1, MPI_COMM_WORLD);
}

static void hear(int other)
{
	MPI_Recv(NULL, 0, MPI_CHAR, other, 1, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
}

static void receive(int bytes, int late)
{
	static char buffers[N][LONGEST];
	MPI_Request requests[N];
	long before = copied;
	int i;

	if (late) {
		tell(0);
		hear(0);
	}
	for (i = 0; i < N; i++)
		MPI_Irecv(buffers[i], bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD,
			  &requests[i]);
	if (!late)
		tell(0);
	for (i = 0; i < N; i++)
		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
	printf("%d bytes%s: %.0f\n", bytes, late ? ", late" : "",
	       (double)(copied - before) / N / bytes);
}

static void send(int bytes, int late)
{
	static char buffer[LONGEST];

	hear(1);
	for (int i = 0; i < N; i++)
		MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
	if (late)
		tell(1);
}

int main(int argc, char **argv)
{
	static const int lengths[] = { 1000, 4000, LONGEST };

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int late = 0; late < 2; late++)
		for (int i = 0; i < 3; i++)
			if (rank == 0)
				send(lengths[i], late);
			else
				receive(lengths[i], late);
	MPI_Finalize();
	return 0;
}
