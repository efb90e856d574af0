/* SPDX-License-Identifier: MIT */
#ifndef BCL_TESTS_MPICH_COUNTER_H
#define BCL_TESTS_MPICH_COUNTER_H

#include <mpi.h>
#include <stdio.h>

/* A counter of the library, read as a performance variable of MPI_T. */
static inline unsigned long long counter(const char *name)
{
	unsigned long long value = 0;
	MPI_T_pvar_session session;
	MPI_T_pvar_handle handle;
	int index, count;

	if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index)) {
		fprintf(stderr, "there is no counter %s\n", name);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_T_pvar_session_create(&session);
	MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
	MPI_T_pvar_read(session, handle, &value);
	MPI_T_pvar_handle_free(session, &handle);
	MPI_T_pvar_session_free(&session);
	return value;
}

/* Prints the operations that ran over teams. */
static inline void say_operations(void)
{
	static const char *const operations[] = {
		"barrier",   "broadcast",      "reduce",     "allreduce",
		"gather",    "scatter",	       "allgather",  "alltoall",
		"alltoallv", "reduce_scatter", "scan",	     "exscan",
		"gatherv",   "scatterv",       "allgatherv", "reduce_scatterv",
		"exchange",
	};
	size_t n = sizeof(operations) / sizeof(operations[0]), i;
	char name[64];

	printf("ours:");
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "bcl_coll_%s", operations[i]);
		if (counter(name))
			printf(" %s", operations[i]);
	}
	printf("\n");
}

#endif
