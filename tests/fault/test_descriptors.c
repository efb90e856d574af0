/* SPDX-License-Identifier: MIT */
/*
 * In one rank of a job of two, the n-th call for a descriptor, or for memory,
 * fails: either once, or with all later calls. For every n the job does its
 * work or ends with an error that names the missing resource. The job never
 * hangs.
 *
 * This program defines the system's functions that need descriptors or memory.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

#include <bcl/adi.h>
#include <bcl/coll.h>

#include "env/env.h"
#include "interfaces.h"
#include "tests/tier.h"
#include "tests/unit/counter.h"
#include "tests/unit/need.h"
#include "transport/boot/boot.h"
#include "transport/boot/fork.h"

enum {
	RANKS = 2,
	BULK = 300000, /* bytes: offered and pulled */
	SECONDS = 60,  /* the job counts as hanging after this time */
	REFUSED = 3,   /* exit status: a call of the library failed */
	PROBES = 400,  /* largest n */
	LEAST = 10,    /* calls of each job, at least */
};

enum kind {
	DESCRIPTORS,
	MEMORY,
};

/* The failing calls of this process. */
static struct {
	bool armed, forever;
	unsigned rank; /* the rank with the failing calls */
	enum kind kind;
	int error;
	unsigned n;
	_Atomic unsigned calls;
	_Atomic bool struck;
} fault;

static struct shared {
	_Atomic unsigned calls; /* made by the rank */
} * shared;

static bool fails(enum kind kind)
{
	unsigned call;

	if (!fault.armed || kind != fault.kind)
		return false;
	call = ++fault.calls;
	if (shared)
		shared->calls = call;
	if (call != fault.n && (!fault.forever || call < fault.n))
		return false;
	fault.struck = true;
	errno = fault.error;
	return true;
}

/* ---- the system's functions ---- */

int socket(int domain, int type, int protocol)
{
	if (fails(DESCRIPTORS))
		return -1;
	return (int)syscall(SYS_socket, domain, type, protocol);
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
	if (fails(DESCRIPTORS))
		return -1;
	return (int)syscall(SYS_accept4, fd, address, length, flags);
}

int epoll_create1(int flags)
{
	if (fails(DESCRIPTORS))
		return -1;
	return (int)syscall(SYS_epoll_create1, flags);
}

int eventfd(unsigned count, int flags)
{
	if (fails(DESCRIPTORS))
		return -1;
	return (int)syscall(SYS_eventfd2, count, flags);
}

int memfd_create(const char *name, unsigned flags)
{
	if (fails(DESCRIPTORS))
		return -1;
	return (int)syscall(SYS_memfd_create, name, flags);
}

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	if (fails(DESCRIPTORS))
		return -1;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int fcntl(int fd, int command, ...)
{
	va_list args;
	long argument;

	va_start(args, command);
	argument = va_arg(args, long);
	va_end(args);
	if (command == F_DUPFD_CLOEXEC && fails(DESCRIPTORS))
		return -1;
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

/* A failing call loses the descriptors of its packet and sets MSG_CTRUNC. */
ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t n = syscall(SYS_recvmsg, fd, message, flags);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(message) : NULL;

	if (!c || c->cmsg_type != SCM_RIGHTS || !fails(DESCRIPTORS))
		return n;
	for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++)
		close(((int *)(void *)CMSG_DATA(c))[i]);
	message->msg_controllen = 0;
	message->msg_flags |= MSG_CTRUNC;
	return n;
}

void *mmap(void *at, size_t length, int protection, int flags, int fd,
	   off_t offset)
{
	if (fails(MEMORY))
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, at, length, protection, flags, fd,
			       offset);
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
	if (fails(MEMORY))
		return -1;
	return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	void *memory;

	if (fails(MEMORY) || posix_memalign(&memory, alignment, size))
		return NULL;
	return memory;
}

/* ---- a rank ---- */

static const struct way {
	const char *name;
	const char *rails;
	bool nodes, packet;
	const char *counter; /* not 0 in a job without failures */
} ways[] = {
	{ "shared memory", "none", false, false, "shm.bytes_pulled" },
	{ "shared memory, or UDP", "udp", false, false, "shm.bytes_pulled" },
	{ "UDP", "udp", true, false, "udp.sendmsg" },
	{ "a packet ring", "packet", true, true, "packet.received" },
};

static void must(enum bcl_status status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "%s: %s\n", what, bcl_strstatus(status));
	_exit(REFUSED);
}

static void exchange(struct bcl_adi *adi, size_t length, unsigned seed)
{
	static uint8_t out[BULK], in[BULK];
	struct bcl_adi_request *requests[2];
	int other = !bcl_adi_rank(adi);

	pattern_fill(out, length, seed + bcl_adi_rank(adi));
	must(bcl_adi_irecv(adi, in, length, other, (int)seed, 1, &requests[0]),
	     "irecv");
	must(bcl_adi_isend(adi, out, length, other, (int)seed, 1, &requests[1]),
	     "isend");
	for (unsigned i = 0; i < 2; i++) {
		struct bcl_adi_status status;

		must(bcl_adi_wait(adi, &requests[i], &status), "wait");
	}
	need(pattern_is(in, length, seed + (unsigned)other));
}

static int rank_main(const struct way *way, unsigned rank)
{
	struct bcl_adi_options options = { .struct_size = sizeof(options) };
	struct bcl_team *team;
	struct bcl_boot *boot;
	struct bcl_adi *adi;

	alarm(SECONDS);
	setenv("BCL_RAILS", way->rails, 1);
	setenv("BCL_PEER_TIMEOUT", "1s", 1);
	if (way->nodes)
		setenv("BCL_NODE", rank ? "b" : "a", 1);
	if (way->packet)
		setenv("BCL_NET", rank ? "far0" : "near0", 1);
	/* the launcher notices ranks that end before this point */
	must(bcl_boot_open(&bcl_env_linux, &boot), "boot");
	options.boot = boot;
	fault.struck = rank != fault.rank;
	fault.armed = rank == fault.rank;
	must(bcl_adi_open(&options, &adi), "open");
	exchange(adi, 8, 1);
	exchange(adi, BULK, 2);
	must(bcl_team_world(adi, &team), "team");
	must(bcl_barrier(team), "barrier");
	bcl_team_free(team);
	exchange(adi, BULK, 3);
	if (!fault.struck)
		need(counter_of(bcl_adi_context(adi), way->counter));
	bcl_adi_close(adi);
	bcl_boot_close(boot);
	return 0;
}

/* ---- jobs ---- */

static bool said(FILE *log)
{
	static const char *const names[] = { "descriptor", "memory" };
	char text[8192];
	size_t n;

	rewind(log);
	n = fread(text, 1, sizeof(text) - 1, log);
	text[n] = 0;
	if (strstr(text, names[fault.kind]))
		return true;
	printf("nothing is named in:\n%s", text);
	return false;
}

/* 0 or REFUSED; anything else is a failure. */
static int end_of(pid_t pid)
{
	int status;

	need(waitpid(pid, &status, 0) == pid);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	printf("a rank ended by signal %d%s\n", WTERMSIG(status),
	       WTERMSIG(status) == SIGALRM ? ": it hangs" : "");
	return 1;
}

/* The test tells no rank of the end of another, as launchers do not. */
static bool run(const struct way *way, FILE *log)
{
	struct bcl_boot_job *job;
	int ends[RANKS], worst = 0;
	pid_t pids[RANKS];

	need(!ftruncate(fileno(log), 0));
	rewind(log);
	shared->calls = 0;
	need(!bcl_boot_job_open(RANKS, &job));
	fflush(NULL);
	for (unsigned rank = 0; rank < RANKS; rank++) {
		pids[rank] = fork();
		if (!pids[rank]) {
			dup2(fileno(log), 2);
			need(!bcl_boot_job_enter(job, rank));
			_exit(rank_main(way, rank));
		}
	}
	for (unsigned rank = 0; rank < RANKS; rank++) {
		ends[rank] = end_of(pids[rank]);
		if (ends[rank] > worst || ends[rank] == 1)
			worst = worst == 1 ? 1 : ends[rank];
	}
	bcl_boot_job_close(job);
	return worst == 0 || (worst == REFUSED && said(log));
}

/* Runs jobs for every n, until the rank makes fewer than n calls. */
static bool run_all(const struct way *way, enum kind kind, bool forever)
{
	static const char *const names[] = { "descriptor", "memory" };
	/* the short tier divides the calls among the ranks */
	unsigned step = tier_long() ? 1 : RANKS;
	FILE *log = tmpfile();
	bool right = true;

	need(log);
	shared->calls = 0;
	fault.kind = kind;
	fault.forever = forever;
	fault.error = kind == MEMORY ? ENOMEM : EMFILE;
	for (fault.n = step > 1 ? 1 + fault.rank : 1;
	     shared->calls + step >= fault.n; fault.n += step) {
		need(fault.n < PROBES);
		if (run(way, log))
			continue;
		printf("%s, rank %u: no %s at call %u%s\n", way->name,
		       fault.rank, names[kind], fault.n,
		       forever ? " and from then on" : "");
		right = false;
	}
	printf("%s, rank %u: no %s%s: up to call %u\n", way->name, fault.rank,
	       names[kind], forever ? " any more" : "", fault.n);
	need(fault.n > LEAST);
	fclose(log);
	return right;
}

static const struct mode {
	enum kind kind;
	bool forever;
} modes[] = {
	{ DESCRIPTORS, false },
	{ DESCRIPTORS, true },
	{ MEMORY, false },
};

/* Runs all modes and ranks at the same time: the jobs mostly wait. */
static bool run_way(const struct way *way)
{
	enum {
		RUNS = RANKS * sizeof(modes) / sizeof(modes[0])
	};
	pid_t pids[RUNS];
	bool right = true;

	fflush(NULL);
	for (unsigned i = 0; i < RUNS; i++) {
		const struct mode *mode = &modes[i / RANKS];

		pids[i] = fork();
		if (pids[i])
			continue;
		fault.rank = i % RANKS;
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		need(shared != MAP_FAILED);
		right = run_all(way, mode->kind, mode->forever);
		fflush(NULL);
		_exit(!right);
	}
	for (unsigned i = 0; i < RUNS; i++)
		right &= !end_of(pids[i]);
	return right;
}

int main(int argc, char **argv)
{
	bool right = true;

	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (argc > 1 && strcmp(argv[1], ways[i].name))
			continue;
		if (ways[i].packet && !interfaces()) {
			printf("%s: no network name space here\n",
			       ways[i].name);
			continue;
		}
		right &= run_way(&ways[i]);
	}
	return right ? 0 : 1;
}
