/* SPDX-License-Identifier: MIT */
/*
 * Which collective operations go over teams, as a control variable of MPI_T
 * says. The processes of a job agree on the operations in MPI_Init(), because a
 * variable may differ between them: an operation that one process does not want
 * is MPICH's at all processes. They also agree on what threads need.
 */
#include "collective.h"

/* MPICH's scripts read the next comment, which needs blanks. */
/* clang-format off */
/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_CH3_BCL_COLLECTIVES
      category    : CH3
      type        : string
      default     : all
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_ALL_EQ
      description : |-
        Names the collective operations that BCL carries out, blocking, not
        blocking or persistent, for communicators within MPI_COMM_WORLD: all
        (or 1), none (or 0), or names with commas in between, such as
        bcast,reduce. A name with - or ^ before it is left out; a list that
        begins with such a name leaves out of all. An operation is BCL's if
        all processes of the job want it. The names are barrier, bcast,
        reduce, allreduce, gather, scatter, allgather, alltoall, alltoallv,
        reduce_scatter, reduce_scatter_block, scan, exscan, gatherv, scatterv,
        allgatherv, alltoallw, neighbor_allgather, neighbor_allgatherv,
        neighbor_alltoall, neighbor_alltoallv and neighbor_alltoallw.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/
/* clang-format on */

enum {
	ALL = (1 << BCL_CH3_OPERATIONS) - 1,
	/* bits beside these */
	NAMES_RIGHT = 1 << BCL_CH3_OPERATIONS,
	ONE_THREAD = 2 << BCL_CH3_OPERATIONS,
	WORD_MAX = 32,
};

unsigned bcl_ch3_wanted;
int bcl_ch3_threads;

static const char *const names[BCL_CH3_OPERATIONS] = {
	[BCL_CH3_BARRIER] = "barrier",
	[BCL_CH3_BCAST] = "bcast",
	[BCL_CH3_REDUCE] = "reduce",
	[BCL_CH3_ALLREDUCE] = "allreduce",
	[BCL_CH3_GATHER] = "gather",
	[BCL_CH3_SCATTER] = "scatter",
	[BCL_CH3_ALLGATHER] = "allgather",
	[BCL_CH3_ALLTOALL] = "alltoall",
	[BCL_CH3_ALLTOALLV] = "alltoallv",
	[BCL_CH3_REDUCE_SCATTER] = "reduce_scatter",
	[BCL_CH3_REDUCE_SCATTER_BLOCK] = "reduce_scatter_block",
	[BCL_CH3_SCAN] = "scan",
	[BCL_CH3_EXSCAN] = "exscan",
	[BCL_CH3_GATHERV] = "gatherv",
	[BCL_CH3_SCATTERV] = "scatterv",
	[BCL_CH3_ALLGATHERV] = "allgatherv",
	[BCL_CH3_ALLTOALLW] = "alltoallw",
	[BCL_CH3_NEIGHBOR_ALLGATHER] = "neighbor_allgather",
	[BCL_CH3_NEIGHBOR_ALLGATHERV] = "neighbor_allgatherv",
	[BCL_CH3_NEIGHBOR_ALLTOALL] = "neighbor_alltoall",
	[BCL_CH3_NEIGHBOR_ALLTOALLV] = "neighbor_alltoallv",
	[BCL_CH3_NEIGHBOR_ALLTOALLW] = "neighbor_alltoallw",
};

static int is_either(const char *name, const char *one, const char *other)
{
	return !strcmp(name, one) || !strcmp(name, other);
}

/* Gives the operations of a name. Returns false if there is no such name. */
static int find_name(const char *name, int *operations)
{
	int i = 0;

	while (i < BCL_CH3_OPERATIONS && strcmp(name, names[i]))
		i++;
	*operations = is_either(name, "all", "1") ? ALL : 1 << i & ALL;
	return *operations || is_either(name, "none", "0");
}

static int is_left_out(const char *name)
{
	return *name == '-' || *name == '^';
}

/* Returns the operations that a list names. `wrong` gets the first wrong name,
 * if there is one. */
static int read_list(const char *list, char wrong[WORD_MAX])
{
	int wanted = !*list || is_left_out(list) ? ALL : 0, out, operations;
	char *copy = MPL_strdup(list), *rest, *name;

	MPIR_Assert(copy);
	*wrong = '\0';
	for (name = strtok_r(copy, ",", &rest); name;
	     name = strtok_r(NULL, ",", &rest)) {
		out = is_left_out(name);
		if (!find_name(name + out, &operations)) {
			if (!*wrong)
				snprintf(wrong, WORD_MAX, "%s", name + out);
		} else if (out) {
			wanted &= ~operations;
		} else {
			wanted |= operations;
		}
	}
	MPL_free(copy);
	return wanted;
}

/* Of the processes whose list has a wrong name, the first one warns.
 * Collective. */
static void warn_once(MPIR_Comm *comm, const char *wrong)
{
	int first = *wrong ? comm->rank : comm->local_size, i;
	char known[BCL_CH3_OPERATIONS * WORD_MAX] = "all none";

	if (!bcl_ch3_combine(comm, &first, MPI_MIN) || first != comm->rank)
		return;
	for (i = 0; i < BCL_CH3_OPERATIONS; i++) {
		strcat(known, " ");
		strcat(known, names[i]);
	}
	fprintf(stderr,
		"MPIR_CVAR_CH3_BCL_COLLECTIVES: there is no %s, but %s; "
		"-NAME leaves one out\n",
		wrong, known);
}

unsigned bcl_ch3_wanted_open(void)
{
	MPIR_Comm *comm = MPIR_Process.comm_world;
	char wrong[WORD_MAX];
	int bits = read_list(MPIR_CVAR_CH3_BCL_COLLECTIVES, wrong);

	if (MPIR_ThreadInfo.thread_provided != MPI_THREAD_MULTIPLE)
		bits |= ONE_THREAD;
	if (!*wrong)
		bits |= NAMES_RIGHT;
	if (!bcl_ch3_combine(comm, &bits, MPI_BAND))
		return 0;
	if (!(bits & NAMES_RIGHT))
		warn_once(comm, wrong);
	bcl_ch3_threads = !(bits & ONE_THREAD);
	bcl_ch3_wanted = (unsigned)bits & ALL;
	return bcl_ch3_wanted;
}

void bcl_ch3_wanted_close(void)
{
	bcl_ch3_wanted = 0;
}
