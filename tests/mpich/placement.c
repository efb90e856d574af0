/* SPDX-License-Identifier: MIT */
/*
 * Prints a line for each rank: the rank, the name of its node, the ranks with
 * which the rank shares memory, and the processors that the rank may use.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LINE = MPI_MAX_PROCESSOR_NAME + 1000,
};

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int add_neighbours(char *text, int room)
{
	int size, rank, all, length = 0;
	MPI_Group here, world;
	MPI_Comm node;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
			    MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &size);
	MPI_Comm_group(node, &here);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	for (rank = 0; rank < size && length < room; rank++) {
		MPI_Group_translate_ranks(here, 1, &rank, world, &all);
		length += snprintf(text + length, (size_t)(room - length),
				   "%c%d", rank ? ',' : ' ', all);
	}
	MPI_Group_free(&here);
	MPI_Group_free(&world);
	MPI_Comm_free(&node);
	return length;
}

/*
 * Split an intercommunicator by nodes. Rank 0 is alone on one side, and all
 * remaining ranks are on the second side. A node with ranks of both sides gets
 * an intercommunicator of its ranks; any other node gets none. Rank 1 must be
 * on the node of rank 0: MPICH wants the first process of each side to be in an
 * intercommunicator of a node.
 */
static void split_between_groups(int rank, int size)
{
	int sum = 0, one = 1, beside, near, all, i, count = 0;
	MPI_Comm side, between, node, here;
	int *nodes = malloc((size_t)size * sizeof(*nodes));

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
			    MPI_INFO_NULL, &here);
	near = rank;
	MPI_Bcast(&near, 1, MPI_INT, 0, here);
	MPI_Comm_free(&here);
	MPI_Allgather(&near, 1, MPI_INT, nodes, 1, MPI_INT, MPI_COMM_WORLD);
	for (i = 1; i < size; i++)
		count += nodes[i] == nodes[0];
	if (nodes[1] != nodes[0]) {
		free(nodes);
		return;
	}
	MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &side);
	MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, !rank, 0, &between);
	MPI_Comm_split_type(between, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
			    &node);
	all = near == nodes[0];
	if (all != (node != MPI_COMM_NULL))
		fail("an intercommunicator of a node is where it is not");
	if (node != MPI_COMM_NULL) {
		MPI_Comm_remote_size(node, &beside);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, node);
		if (beside != (rank ? 1 : count) || sum != beside)
			fail("an intercommunicator of a node has others");
		MPI_Comm_free(&node);
	}
	MPI_Comm_free(&between);
	MPI_Comm_free(&side);
	free(nodes);
}

/* Add the list of allowed processors, as the kernel writes the list. */
static void add_processors(char *text, int room)
{
	static const char key[] = "Cpus_allowed_list:\t";
	FILE *status = fopen("/proc/self/status", "r");
	char line[LINE];

	while (status && fgets(line, sizeof line, status)) {
		if (strncmp(line, key, strlen(key)))
			continue;
		snprintf(text, (size_t)room, " %s", line + strlen(key));
		fclose(status);
		return;
	}
	fail("no list of processors");
}

int main(int argc, char **argv)
{
	char line[LINE], name[MPI_MAX_PROCESSOR_NAME], *lines;
	int rank, ranks, length;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Get_processor_name(name, &length);
	length = snprintf(line, sizeof line, "%d %s", rank, name);
	length += add_neighbours(line + length, LINE - length);
	add_processors(line + length, LINE - length);
	lines = malloc((size_t)ranks * LINE);
	if (!lines)
		fail("no memory");
	MPI_Gather(line, LINE, MPI_CHAR, lines, LINE, MPI_CHAR, 0,
		   MPI_COMM_WORLD);
	for (int i = 0; rank == 0 && i < ranks; i++)
		fputs(lines + (size_t)i * LINE, stdout);
	free(lines);
	if (ranks > 1)
		split_between_groups(rank, ranks);
	return MPI_Finalize();
}
