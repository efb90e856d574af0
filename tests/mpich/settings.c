/* SPDX-License-Identifier: MIT */
/*
 * Prints the library's settings, a line each: NAME=VALUE. The settings are
 * control variables of MPI_T, and a program cannot write them.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum {
	VALUE_MAX = 256,
};

static int print(int index, const char *name)
{
	char value[VALUE_MAX];
	MPI_T_cvar_handle handle;
	int count, error;

	MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
	if (count > VALUE_MAX || MPI_T_cvar_read(handle, value))
		return 0;
	error = MPI_T_cvar_write(handle, value);
	MPI_T_cvar_handle_free(&handle);
	printf("%s=%s\n", name, value);
	return error == MPI_T_ERR_CVAR_SET_NEVER;
}

int main(int argc, char **argv)
{
	int provided, n, right = 1;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_Init(&argc, &argv);
	MPI_T_cvar_get_num(&n);
	for (int i = 0; i < n; i++) {
		int length = VALUE_MAX, verbosity, bind, scope;
		char name[VALUE_MAX];
		MPI_Datatype type;

		MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, NULL,
				    NULL, NULL, &bind, &scope);
		if (!strncmp(name, "BCL_", 4))
			right = right && type == MPI_CHAR && print(i, name);
	}
	MPI_Finalize();
	MPI_T_finalize();
	return !right;
}
