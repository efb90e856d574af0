/* SPDX-License-Identifier: MIT */
/* The library refuses memory beyond the limit of a control group: the system
 * would end the process instead. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/counter.h"
#include "tests/unit/need.h"

enum {
	LIMIT = 64 << 20, /* bytes */
	SKIPPED = 77,
};

static char group[300];

static bool put(const char *file, const char *text)
{
	char path[400];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", group, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return done;
}

/* Make a control group of either version, with the limit. */
static bool make_group(void)
{
	static const char *const places[][2] = {
		{ "/sys/fs/cgroup/memory", "memory.limit_in_bytes" },
		{ "/sys/fs/cgroup", "memory.max" },
	};
	char limit[32];

	snprintf(limit, sizeof(limit), "%d", LIMIT);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(group, sizeof(group), "%s/bcl-room-%d", places[i][0],
			 (int)getpid());
		if (mkdir(group, 0755))
			continue;
		if (put(places[i][1], limit))
			return true;
		rmdir(group);
	}
	return false;
}

static void allocate(void)
{
	struct bcl_context *context;
	struct bcl_memory *memory, *more;

	setenv("BCL_RAILS", "none", 1);
	need(!bcl_open(NULL, &context));
	/* more than the group, the host, or any host can hold */
	need(bcl_memory_allocate(context, 2 * (size_t)LIMIT, 7, &memory) ==
	     BCL_ERR_NOMEM);
	need(bcl_memory_allocate(context, LIMIT, 7, &memory) == BCL_ERR_NOMEM);
	need(bcl_memory_allocate(context, (size_t)1 << 50, 7, &memory) ==
	     BCL_ERR_NOMEM);
	need(bcl_memory_allocate(context, SIZE_MAX, 7, &memory) ==
	     BCL_ERR_NOMEM);
	need(counter_of(context, "core.memory_refused") == 4);
	/* one half fits; a second half does not */
	need(!bcl_memory_allocate(context, LIMIT / 2, 7, &memory));
	memset(bcl_memory_address(memory), 1, LIMIT / 2);
	need(bcl_memory_allocate(context, LIMIT / 2, 7, &more) ==
	     BCL_ERR_NOMEM);
	bcl_memory_release(memory);
	need(!bcl_memory_allocate(context, LIMIT / 2, 7, &memory));
	bcl_close(context);
}

int main(void)
{
	int status;
	pid_t pid;

	if (!make_group()) {
		printf("no control group of memory can be made here\n");
		return SKIPPED;
	}
	pid = fork();
	if (!pid) {
		if (!put("cgroup.procs", "0"))
			_exit(SKIPPED);
		allocate();
		_exit(0);
	}
	need(waitpid(pid, &status, 0) == pid);
	rmdir(group);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		printf("no process can be moved to a control group here\n");
		return SKIPPED;
	}
	if (WIFSIGNALED(status))
		printf("ended by signal %d\n", WTERMSIG(status));
	return status ? 1 : 0;
}
