/* SPDX-License-Identifier: MIT */
/*
 * Prints the time of collective operations in virtual time, and the ratio of
 * the time to the lower bound:
 *
 *   coll_bounds [-o OPERATION] [-n NODES] [-r RANKS] [-l BYTES] [-a ALGORITHM]
 *
 * on the machine of dawning.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/coll_loggp.h"
#include "tests/unit/dawning.h"

static const char *const names[SIM_OPERATIONS] = {
	[SIM_BARRIER] = "barrier", [SIM_BROADCAST] = "broadcast",
	[SIM_REDUCE] = "reduce",   [SIM_ALLREDUCE] = "allreduce",
	[SIM_SCATTER] = "scatter", [SIM_GATHER] = "gather",
	[SIM_SHIFT] = "shift",	   [SIM_ALLTOALL] = "alltoall",
};

struct wishes {
	const char *operation, *algorithm;
	unsigned nodes, ranks;
	size_t length;
};

static void print(struct loggp_world *world, const struct sim_machine *machine,
		  enum sim_operation operation, size_t length)
{
	double time = loggp_time(world, operation, length);
	double bound = sim_bound(machine, operation, length);

	printf("%-9s %6zu B %5u x %u  %-14s %10.1f us %10.1f us %6.2f",
	       names[operation], length, machine->nodes, machine->ranks,
	       loggp_algorithm(world, operation, length), time, bound,
	       time / bound);
	if (operation == SIM_BROADCAST || operation == SIM_REDUCE)
		printf(" %6.2f", time / sim_bound_pieces(machine, length));
	printf("\n");
	fflush(stdout);
}

static void run(const struct wishes *wishes, unsigned nodes, unsigned ranks)
{
	struct sim_machine machine = dawning;
	struct loggp_world *world;
	unsigned i;

	machine.nodes = nodes;
	machine.ranks = ranks;
	world = loggp_open(&machine);
	for (i = 0; i < SIM_OPERATIONS; i++) {
		enum sim_operation operation = (enum sim_operation)i;

		if (wishes->operation && strcmp(wishes->operation, names[i]))
			continue;
		if (wishes->algorithm &&
		    !loggp_force(world, operation, wishes->algorithm))
			continue;
		if (wishes->length) {
			print(world, &machine, operation, wishes->length);
			continue;
		}
		print(world, &machine, operation, 8);
		if (operation != SIM_BARRIER)
			print(world, &machine, operation, 131072);
	}
	loggp_close(world);
}

int main(int argc, char **argv)
{
	struct wishes wishes = { 0 };
	unsigned nodes, ranks;
	int option;

	while ((option = getopt(argc, argv, "o:a:n:r:l:")) != -1) {
		if (option == 'o')
			wishes.operation = optarg;
		else if (option == 'a')
			wishes.algorithm = optarg;
		else if (option == 'n')
			wishes.nodes = (unsigned)atoi(optarg);
		else if (option == 'r')
			wishes.ranks = (unsigned)atoi(optarg);
		else if (option == 'l')
			wishes.length = (size_t)atol(optarg);
		else
			return 2;
	}
	printf("operation, length, nodes x ranks, algorithm, time, bound, "
	       "ratio, ratio to the bound for equal pieces\n");
	for (ranks = 1; ranks <= 4; ranks *= 4)
		for (nodes = 2; nodes <= 64; nodes *= 2)
			if ((!wishes.nodes || nodes == 2) &&
			    (!wishes.ranks || ranks == 1))
				run(&wishes,
				    wishes.nodes ? wishes.nodes : nodes,
				    wishes.ranks ? wishes.ranks : ranks);
	return 0;
}
