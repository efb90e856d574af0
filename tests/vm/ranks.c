/* SPDX-License-Identifier: MIT */
/*
 * ranks N PID PROGRAM [ARGUMENT]...: runs a job of N ranks where there is no
 * launcher. Odd ranks run on the node of process PID, in its namespaces, and
 * ODD_CARD and ODD_FAULT are their BCL_CARD and BCL_FAULT.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "transport/boot/fork.h"

static void enter(const char *pid, const char *space)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", pid, space);
	if (!setns(open(path, O_RDONLY | O_CLOEXEC), 0))
		return;
	perror(path);
	exit(1);
}

static void set_if_given(const char *name, const char *from)
{
	if (getenv(from))
		setenv(name, getenv(from), 1);
}

static int run_program(unsigned rank, void *argument)
{
	char **word = argument;

	if (rank % 2) {
		enter(word[0], "net");
		enter(word[0], "uts");
		set_if_given("BCL_CARD", "ODD_CARD");
		set_if_given("BCL_FAULT", "ODD_FAULT");
	}
	execv(word[1], word + 1);
	perror(word[1]);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	return bcl_boot_job_run((unsigned)atoi(argv[1]), run_program,
				argv + 2) != 0;
}
