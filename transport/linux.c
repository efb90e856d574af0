/* SPDX-License-Identifier: MIT */
/* The environment of a Linux process; see env.h. */
#include "card/ops.h"
#include "env/env.h"
#include "env/file.h"
#include "env/room.h"
#include "env/say.h"
#include "transport/shm/host.h"
#include "wire/rail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	CPUS_MAX = 16384,
	/* from this size on memory is mmap()ed, zeroed when touched */
	MAP_FROM = 64 << 10,
	ASK_FROM = 16 << 20, /* from this size on available memory is checked */
	ALIGN = 64,
	HUGE = 2 << 20, /* a page that all processors with such pages have */
};

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static uint64_t linux_now(void *world)
{
	struct timespec t;

	(void)world;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int linux_object_open(void *world)
{
	(void)world;
	return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static bool linux_group_add(void *world, int group, int member)
{
	struct epoll_event event = { .events = EPOLLIN };

	(void)world;
	return !epoll_ctl(group, EPOLL_CTL_ADD, member, &event);
}

static void linux_group_remove(void *world, int group, int member)
{
	(void)world;
	epoll_ctl(group, EPOLL_CTL_DEL, member, NULL);
}

static int linux_group_open(void *world, const int *members, unsigned n)
{
	int group = epoll_create1(EPOLL_CLOEXEC);

	for (unsigned i = 0; group >= 0 && i < n; i++) {
		if (!linux_group_add(world, group, members[i])) {
			close(group);
			return -1;
		}
	}
	return group;
}

static void linux_object_close(void *world, int object)
{
	(void)world;
	close(object);
}

static void linux_wake(void *world, int object)
{
	static const uint64_t one = 1;
	ssize_t done;

	(void)world;
	/* an object whose counter is full is awake already */
	do
		done = write(object, &one, sizeof(one));
	while (done < 0 && errno == EINTR);
}

static void linux_clear(void *world, int object)
{
	uint64_t count;
	ssize_t done;

	(void)world;
	do
		done = read(object, &count, sizeof(count));
	while (done < 0 && errno == EINTR);
}

static void linux_wait(void *world, int object, uint64_t until)
{
	struct pollfd pollfd = { .fd = object, .events = POLLIN };
	uint64_t now = linux_now(world);
	uint64_t ns = until > now ? until - now : 0;
	struct timespec timeout = { .tv_sec = (time_t)(ns / 1000000000),
				    .tv_nsec = (long)(ns % 1000000000) };

	ppoll(&pollfd, 1, until == UINT64_MAX ? NULL : &timeout, NULL);
}

static void linux_yield(void *world)
{
	(void)world;
	sched_yield();
}

static int processors_of(pid_t pid)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	int n = 0;

	if (set && !sched_getaffinity(pid, size, set))
		n = CPU_COUNT_S(size, set);
	CPU_FREE(set);
	return n;
}

static unsigned linux_processors(void *world)
{
	int own = processors_of(0), starter = processors_of(getppid());

	(void)world;
	if (own < 1 && starter < 1)
		return 1;
	return (unsigned)(own > starter ? own : starter);
}

/* The processors that the thread may use are the same afterwards. */
static void linux_move(void *world)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *all = CPU_ALLOC(CPUS_MAX), *others = CPU_ALLOC(CPUS_MAX);
	int here = sched_getcpu();

	(void)world;
	if (all && others && here >= 0 && !sched_getaffinity(0, size, all)) {
		memcpy(others, all, size);
		CPU_CLR_S((size_t)here, size, others);
		if (!sched_setaffinity(0, size, others))
			sched_setaffinity(0, size, all);
	}
	CPU_FREE(all);
	CPU_FREE(others);
}

static long membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

static bool linux_barrier_register(void *world)
{
	(void)world;
	return !membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) &&
	       !membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

static void linux_barrier(void *world)
{
	(void)world;
	membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

static void *linux_allocate(void *world, size_t size)
{
	void *memory;

	(void)world;
	if (size >= ASK_FROM && !bcl_room_for(size))
		return NULL;
	if (size >= MAP_FROM) {
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		return memory == MAP_FAILED ? NULL : memory;
	}
	if (posix_memalign(&memory, ALIGN, size ? size : 1))
		return NULL;
	return memset(memory, 0, size);
}

static void linux_release(void *world, void *memory, size_t size)
{
	(void)world;
	if (!memory)
		return;
	if (size >= MAP_FROM)
		munmap(memory, size);
	else
		free(memory);
}

/* Map the file. Memory of a huge page or more begins where a huge page can. */
static uint8_t *map_file(int file, size_t size)
{
	const int shared = PROT_READ | PROT_WRITE;
	uint8_t *room, *mapped;
	size_t before;

	if (size < HUGE)
		return mmap(NULL, size, shared, MAP_SHARED, file, 0);
	room = mmap(NULL, size + HUGE, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return room;
	before = -(uintptr_t)room % HUGE;
	if (before)
		munmap(room, before);
	munmap(room + before + size, HUGE - before);
	mapped = mmap(room + before, size, shared, MAP_SHARED | MAP_FIXED, file,
		      0);
	if (mapped == MAP_FAILED)
		munmap(room + before, size);
	return mapped;
}

static void *linux_share(void *world, const char *name, size_t size, int *fd)
{
	int file = bcl_file_make(name, size), error;
	uint8_t *mapped;

	(void)world;
	if (file < 0)
		return NULL;
	/* map first, since mapping takes no memory yet */
	mapped = map_file(file, size);
	if (mapped != MAP_FAILED && bcl_file_reserve(file, 0, size)) {
		/* Linux 6.1; without it, small pages serve as well. */
		if (size >= HUGE)
			madvise(mapped, size, MADV_COLLAPSE);
		*fd = file;
		return mapped;
	}
	error = errno;
	if (mapped != MAP_FAILED)
		munmap(mapped, size);
	close(file);
	errno = error;
	return NULL;
}

static void linux_unshare(void *world, void *memory, size_t size, int fd)
{
	(void)world;
	munmap(memory, size);
	close(fd);
}

static uint64_t linux_random(void *world)
{
	uint64_t value = 0;
	ssize_t got;

	(void)world;
	do
		got = getrandom(&value, sizeof(value), 0);
	while ((got < 0 && errno == EINTR) || (got > 0 && !value));
	return got == sizeof(value) ? value : 0;
}

static void linux_log(void *world, const struct bcl_log_line *line)
{
	static const char *const names[] = { "error", "warning", "info",
					     "debug" };

	char who[24], text[BCL_SAID_MAX];

	(void)world;
	if (line->rank < 0)
		snprintf(who, sizeof(who), "[%d]", (int)getpid());
	else
		snprintf(who, sizeof(who), "/%d", line->rank);
	snprintf(text, sizeof(text), "%s: %s: %s", names[line->level],
		 line->area, line->text);
	bcl_say(line->node, who, text);
}

struct bcl_thread {
	pthread_t thread;
	void (*run)(void *arg);
	void *arg;
};

static void *thread_main(void *arg)
{
	struct bcl_thread *thread = arg;

	pthread_setname_np(pthread_self(), "bcl-helper");
	thread->run(thread->arg);
	return NULL;
}

static enum bcl_status linux_thread_start(void *world, void (*run)(void *arg),
					  void *arg, struct bcl_thread **result)
{
	struct bcl_thread *thread = malloc(sizeof(*thread));
	sigset_t all, before;
	int error;

	(void)world;
	if (!thread)
		return BCL_ERR_NOMEM;
	thread->run = run;
	thread->arg = arg;
	/* the signals are for the program's own threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread->thread, NULL, thread_main, thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		free(thread);
		errno = error;
		return BCL_ERR_SYSTEM;
	}
	*result = thread;
	return BCL_OK;
}

static void linux_thread_join(void *world, struct bcl_thread *thread)
{
	(void)world;
	pthread_join(thread->thread, NULL);
	free(thread);
}

static const char *linux_variable(void *world, const char *name)
{
	(void)world;
	return getenv(name);
}

static char **linux_variables(void *world)
{
	(void)world;
	return environ;
}

static bool linux_host(void *world, char name[64], uint8_t boot_id[16])
{
	char text[40] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	unsigned n = 0;

	(void)world;
	memset(name, 0, 64);
	gethostname(name, 63);
	memset(boot_id, 0, 16);
	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	for (const char *p = text; *p && n < 32; p++) {
		char digit[2] = { *p, 0 };

		if (*p == '-')
			continue;
		boot_id[n / 2] = (uint8_t)(boot_id[n / 2] << 4 |
					   strtoul(digit, NULL, 16));
		n++;
	}
	return true;
}

static const struct bcl_rail_kind *const linux_rails[] = { &bcl_rail_udp,
							   &bcl_rail_packet,
							   NULL };

const struct bcl_env bcl_env_linux = {
	.now = linux_now,
	.real_time = true,
	.object_open = linux_object_open,
	.group_open = linux_group_open,
	.group_add = linux_group_add,
	.group_remove = linux_group_remove,
	.object_close = linux_object_close,
	.wake = linux_wake,
	.clear = linux_clear,
	.wait = linux_wait,
	.yield = linux_yield,
	.move = linux_move,
	.processors = linux_processors,
	.barrier_register = linux_barrier_register,
	.barrier = linux_barrier,
	.allocate = linux_allocate,
	.release = linux_release,
	.share = linux_share,
	.unshare = linux_unshare,
	.random = linux_random,
	.log = linux_log,
	.thread_start = linux_thread_start,
	.thread_join = linux_thread_join,
	.variable = linux_variable,
	.variables = linux_variables,
	.host = linux_host,
	.shm_host = &bcl_shm_linux,
	.card = &bcl_host_inproc,
	.kernel_card = &bcl_host_kernel,
	.rails = linux_rails,
};
