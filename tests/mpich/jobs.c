/* SPDX-License-Identifier: MIT */
/*
 * Jobs that meet:
 *
 *	jobs serve FILE   opens a port, writes the port's name to FILE, accepts
 *	jobs call FILE    connects to the port
 *	jobs spawn        starts as many processes as the job has
 *
 * All ranks of both sides exchange messages, short and long, several times.
 * Each meeting is a new connection.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MEETINGS = 3,
	LONG = 1 << 18, /* ints */
	TRIES = 3000,	/* to find the file, of 10 ms */
};

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "jobs: %s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void exchange_with(MPI_Comm other, int rank, int n)
{
	int *out = malloc(n * sizeof(*out)), *in = calloc(n, sizeof(*in));
	int i;

	need(out && in, "no memory");
	for (i = 0; i < n; i++)
		out[i] = i + n;
	MPI_Sendrecv(out, n, MPI_INT, rank, 1, in, n, MPI_INT, rank, 1, other,
		     MPI_STATUS_IGNORE);
	need(!memcmp(in, out, n * sizeof(*in)), "other data came");
	free(in);
	free(out);
}

/* Rank i with ranks i, i + 1, ... of the other side. */
static void meet(MPI_Comm other)
{
	int me, mine, theirs, i, sum, one = 1;
	MPI_Comm all;

	MPI_Comm_rank(other, &me);
	MPI_Comm_size(other, &mine);
	MPI_Comm_remote_size(other, &theirs);
	need(mine == theirs, "the sides are of one size");
	for (i = 0; i < theirs; i++) {
		int rank = (i + theirs - me) % theirs;

		exchange_with(other, rank, 1);
		exchange_with(other, rank, LONG);
	}
	MPI_Intercomm_merge(other, 0, &all);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
	need(sum == mine + theirs, "all are there");
	MPI_Comm_free(&all);
	MPI_Comm_disconnect(&other);
}

static void write_port(const char *file, const char *port)
{
	char name[4096];
	FILE *f;

	snprintf(name, sizeof(name), "%s.new", file);
	f = fopen(name, "w");
	need(f && fputs(port, f) >= 0 && !fclose(f), "cannot write the port");
	need(!rename(name, file), "cannot rename the file");
}

static void read_port(const char *file, char *port)
{
	FILE *f = NULL;
	int i;

	for (i = 0; i < TRIES && !f; i++) {
		f = fopen(file, "r");
		if (!f)
			usleep(10000);
	}
	need(f && fgets(port, MPI_MAX_PORT_NAME, f), "no port");
	fclose(f);
}

static void serve(const char *file, int rank)
{
	char port[MPI_MAX_PORT_NAME];
	MPI_Comm other;
	int i;

	if (!rank) {
		MPI_Open_port(MPI_INFO_NULL, port);
		write_port(file, port);
	}
	for (i = 0; i < MEETINGS; i++) {
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
		meet(other);
	}
	if (!rank)
		MPI_Close_port(port);
}

static void call(const char *file, int rank)
{
	char port[MPI_MAX_PORT_NAME];
	MPI_Comm other;
	int i;

	if (!rank)
		read_port(file, port);
	for (i = 0; i < MEETINGS; i++) {
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
				 &other);
		meet(other);
	}
}

static void spawn(char *program)
{
	char *argv[] = { "spawn", NULL };
	MPI_Comm other;
	int size;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_spawn(program, argv, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
		       &other, MPI_ERRCODES_IGNORE);
	meet(other);
}

int main(int argc, char **argv)
{
	MPI_Comm parent;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL)
		meet(parent);
	else if (argc == 3 && !strcmp(argv[1], "serve"))
		serve(argv[2], rank);
	else if (argc == 3 && !strcmp(argv[1], "call"))
		call(argv[2], rank);
	else
		spawn(argv[0]);
	MPI_Finalize();
	return 0;
}
