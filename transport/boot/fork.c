/* SPDX-License-Identifier: MIT */
/*
 * Bootstrap of a job that one parent forks, through shared memory: a memfd that
 * the children inherit by its number. The memory holds a barrier and, for each
 * rank, a log of values that only the rank itself writes. A fence waits for
 * `size` arrivals, or for the end of a rank.
 */
#include "transport/boot/fork.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env/env.h"
#include "env/log.h"
#include "env/say.h"
#include "transport/boot/boot.h"

enum {
	MAGIC = 0xbc1b0071,
	AREA = 16384, /* bytes for the values of a rank */
	RANKS_MAX = 4096,
};

/* The values of one rank. */
struct area {
	_Atomic uint32_t used; /* bytes of `log` */
	uint32_t spare;
	uint8_t log[AREA - 8];
};

struct space {
	uint32_t magic;
	uint32_t size;		  /* ranks of the job */
	_Atomic uint32_t arrived; /* at the fence in progress */
	_Atomic uint32_t fences;  /* fences completed */
	_Atomic uint32_t ended;	  /* ranks that will not arrive any more */
	_Atomic uint32_t changes; /* of `fences` and `ended`; futex */
	struct area area[];
};

/* One value in a log; the next begins at a multiple of 8 bytes. */
struct record {
	uint32_t length;
	uint32_t spare;
	char name[BCL_BOOT_NAME_MAX];
	uint8_t bytes[];
};

struct bcl_boot_job {
	int fd;
	size_t bytes;
	struct space *space;
};

static size_t space_bytes(unsigned size)
{
	return sizeof(struct space) + (size_t)size * AREA;
}

/* Counts a change and wakes the ranks that wait at a fence, to look again. */
static void announce_change(struct space *space)
{
	/* pairs with the acquire in fork_fence() */
	atomic_fetch_add_explicit(&space->changes, 1, memory_order_release);
	syscall(SYS_futex, &space->changes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- the parent ---- */

static enum bcl_status report_no_memory(const char *call)
{
	char who[16], text[128];

	snprintf(text, sizeof(text), "error: boot: no memory for a job: %s: %s",
		 call, strerror(errno));
	snprintf(who, sizeof(who), "[%d]", (int)getpid());
	bcl_say(getenv("BCL_NODE"), who, text);
	return BCL_ERR_SYSTEM;
}

enum bcl_status bcl_boot_job_open(unsigned size, struct bcl_boot_job **result)
{
	size_t bytes = space_bytes(size);
	struct bcl_boot_job *job;
	struct space *space;
	int fd;

	if (!size || size > RANKS_MAX)
		return BCL_ERR_ARG;
	/* not close-on-exec: a child may exec */
	fd = memfd_create("bcl-boot", 0);
	if (fd < 0)
		return report_no_memory("memfd_create");
	if (ftruncate(fd, (off_t)bytes) < 0) {
		close(fd);
		return report_no_memory("ftruncate");
	}
	space = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	job = malloc(sizeof(*job));
	if (space == MAP_FAILED || !job) {
		if (space != MAP_FAILED)
			munmap(space, bytes);
		free(job);
		close(fd);
		return BCL_ERR_NOMEM;
	}
	space->magic = MAGIC;
	space->size = size;
	*job = (struct bcl_boot_job){ fd, bytes, space };
	*result = job;
	return BCL_OK;
}

enum bcl_status bcl_boot_job_enter(struct bcl_boot_job *job, unsigned rank)
{
	char text[64];

	snprintf(text, sizeof(text), "fork:%d:%u", job->fd, rank);
	return setenv("BCL_BOOT", text, 1) ? BCL_ERR_NOMEM : BCL_OK;
}

void bcl_boot_job_ended(struct bcl_boot_job *job)
{
	atomic_fetch_add_explicit(&job->space->ended, 1, memory_order_release);
	announce_change(job->space);
}

void bcl_boot_job_close(struct bcl_boot_job *job)
{
	munmap(job->space, job->bytes);
	close(job->fd);
	free(job);
}

static unsigned rank_of(const pid_t *pids, unsigned size, pid_t pid)
{
	unsigned rank = 0;

	while (rank < size && pids[rank] != pid)
		rank++;
	return rank;
}

static void report_end(unsigned rank, int status)
{
	char who[16], text[64];

	snprintf(who, sizeof(who), "/%u", rank);
	snprintf(text, sizeof(text), "error: boot: ended with %s %d",
		 WIFSIGNALED(status) ? "signal" : "status",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	bcl_say(getenv("BCL_NODE"), who, text);
}

int bcl_boot_job_run(unsigned size, int (*run)(unsigned rank, void *argument),
		     void *argument)
{
	struct bcl_boot_job *job;
	unsigned started, left;
	int failed = 0, status;
	pid_t *pids, pid;

	if (bcl_boot_job_open(size, &job))
		return -1;
	pids = calloc(size, sizeof(*pids));
	fflush(NULL);
	for (started = 0; pids && started < size; started++) {
		pid = fork();
		if (pid == 0) {
			free(pids);
			if (bcl_boot_job_enter(job, started))
				_exit(127);
			exit(run(started, argument));
		}
		if (pid < 0)
			break;
		pids[started] = pid;
	}
	if (started < size) {
		failed = (int)(size - started);
		bcl_boot_job_ended(job);
	}
	for (left = started; left;) {
		pid = waitpid(-1, &status, 0);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			break;
		if (rank_of(pids, started, pid) == started)
			continue;
		left--;
		bcl_boot_job_ended(job);
		if (!status)
			continue;
		failed++;
		report_end(rank_of(pids, started, pid), status);
	}
	free(pids);
	bcl_boot_job_close(job);
	return failed;
}

/* ---- the ranks ---- */

static enum bcl_status fork_open(struct bcl_boot *boot, const char *argument)
{
	struct space *space;
	unsigned rank;
	off_t bytes;
	int fd;

	if (sscanf(argument, "%d:%u", &fd, &rank) != 2) {
		bcl_log(&boot->config, BCL_LOG_ERROR, "boot",
			"BCL_BOOT=fork:%s is malformed", argument);
		return BCL_ERR_BOOT;
	}
	bytes = lseek(fd, 0, SEEK_END);
	space = bytes < (off_t)sizeof(*space)
			? MAP_FAILED
			: mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
			       MAP_SHARED, fd, 0);
	if (space == MAP_FAILED || space->magic != MAGIC ||
	    space_bytes(space->size) != (size_t)bytes) {
		if (space != MAP_FAILED)
			munmap(space, (size_t)bytes);
		bcl_log(&boot->config, BCL_LOG_ERROR, "boot",
			"descriptor %d of BCL_BOOT is not a job's memory", fd);
		return BCL_ERR_BOOT;
	}
	if (rank >= space->size) {
		munmap(space, (size_t)bytes);
		bcl_log(&boot->config, BCL_LOG_ERROR, "boot",
			"BCL_BOOT=fork:%s is a rank too many", argument);
		return BCL_ERR_BOOT;
	}
	boot->state = space;
	boot->rank = rank;
	boot->size = space->size;
	boot->local_ranks = space->size;
	return BCL_OK;
}

static void fork_close(struct bcl_boot *boot)
{
	munmap(boot->state, space_bytes(boot->size));
}

static size_t record_bytes(size_t length)
{
	return (sizeof(struct record) + length + 7) & ~(size_t)7;
}

static enum bcl_status fork_put(struct bcl_boot *boot, const char *name,
				const void *value, size_t length)
{
	struct space *space = boot->state;
	struct area *area = &space->area[boot->rank];
	uint32_t used = atomic_load_explicit(&area->used, memory_order_relaxed);
	struct record *record = (struct record *)(area->log + used);

	if (used + record_bytes(length) > sizeof(area->log)) {
		bcl_log(&boot->config, BCL_LOG_ERROR, "boot",
			"no room for %s: %u of %zu bytes used", name, used,
			sizeof(area->log));
		return BCL_ERR_BOOT;
	}
	record->length = (uint32_t)length;
	memcpy(record->name, name, strlen(name) + 1);
	memcpy(record->bytes, value, length);
	/* pairs with the acquire in fork_get() */
	atomic_store_explicit(&area->used,
			      used + (uint32_t)record_bytes(length),
			      memory_order_release);
	return BCL_OK;
}

static enum bcl_status fork_get(struct bcl_boot *boot, unsigned rank,
				const char *name, void *value, size_t size,
				size_t *length)
{
	struct space *space = boot->state;
	struct area *area = &space->area[rank];
	uint32_t used = atomic_load_explicit(&area->used, memory_order_acquire);
	const struct record *record, *found = NULL;

	/* the last record wins: a process that took the place of a dead one
	 * put it */
	for (uint32_t at = 0; at < used; at += record_bytes(record->length)) {
		record = (const struct record *)(area->log + at);
		if (!strcmp(record->name, name))
			found = record;
	}
	if (!found)
		return BCL_ERR_EMPTY;
	if (found->length > size)
		return BCL_ERR_TRUNCATED;
	memcpy(value, found->bytes, found->length);
	*length = found->length;
	return BCL_OK;
}

static enum bcl_status fork_fence(struct bcl_boot *boot)
{
	struct space *space = boot->state;
	uint32_t fences =
		atomic_load_explicit(&space->fences, memory_order_acquire);

	/* acquire and release: values put before the fence are seen after it */
	if (atomic_fetch_add_explicit(&space->arrived, 1,
				      memory_order_acq_rel) +
		    1 ==
	    space->size) {
		atomic_store_explicit(&space->arrived, 0, memory_order_relaxed);
		atomic_fetch_add_explicit(&space->fences, 1,
					  memory_order_release);
		announce_change(space);
		return BCL_OK;
	}
	for (;;) {
		uint32_t changes = atomic_load_explicit(&space->changes,
							memory_order_acquire);

		/* load before `fences`: a rank that ended may have completed
		 * the fence */
		uint32_t ended = atomic_load_explicit(&space->ended,
						      memory_order_acquire);

		if (atomic_load_explicit(&space->fences,
					 memory_order_acquire) != fences)
			return BCL_OK;
		if (ended)
			break;
		syscall(SYS_futex, &space->changes, FUTEX_WAIT, changes, NULL,
			NULL, 0);
	}
	bcl_log(&boot->config, BCL_LOG_ERROR, "boot",
		"a rank has ended that should have come");
	return BCL_ERR_BOOT;
}

const struct bcl_boot_kind bcl_boot_fork = {
	.name = "fork",
	.open = fork_open,
	.close = fork_close,
	.put = fork_put,
	.get = fork_get,
	.fence = fork_fence,
};
