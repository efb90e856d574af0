/* SPDX-License-Identifier: MIT */
/*
 * How often two tasks copy the bytes of a long message from one buffer to the
 * other, whether the copies need new memory from the system each time, and
 * whether tasks sleep amid a message: copies [HOST] prints the result for each
 * way to send. Both tasks count the bytes of memcpy() and the like in this
 * program, libpvm and the glue, page faults, and calls of poll() with hardly a
 * sched_yield() before them. A machine so slow that tasks have to sleep amid a
 * message changes none of these: a task still spins before each sleep. Only
 * rounds in which BCL had all messages count: on a busy machine the glue gives
 * some messages to PVM.
 */
#include <bcl/bcl.h>
#include <dlfcn.h>
#include <limits.h>
#include <poll.h>
#include <pvm3.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>

enum {
	LONG = 2 << 20, /* bytes: a shorter message may be fed, by two copies */
	ROUNDS = 20,
	TRIES = 1000,
	FEW = 100,	/* page faults: a message has 256 pages */
	SPUN = 50,	/* yields at least in a spin of full length */
	FEW_HASTY = 40, /* each wait may begin with a hasty sleep; several
			   messages have thousands of frames */

	DATA = 1, /* tags */
	COST,
	READY,
	RECEIVED,
};

static char buffer[LONG];
static long copied;	  /* bytes */
static long yields;	  /* since the last sleep */
static long hasty_sleeps; /* sleeps with hardly a spin before them */

static long offers; /* offers not withdrawn */

struct cost {
	long copied, faults, hasty_sleeps, offers;
};

/* ---- counting ---- */

#pragma GCC visibility push(default) /* hides the libraries' functions */
void *memmove(void *to, const void *from, size_t n);
void *memcpy(void *to, const void *from, size_t n);
ssize_t process_vm_readv(pid_t pid, const struct iovec *ours, unsigned long n,
			 const struct iovec *theirs, unsigned long m,
			 unsigned long flags);
ssize_t process_vm_writev(pid_t pid, const struct iovec *ours, unsigned long n,
			  const struct iovec *theirs, unsigned long m,
			  unsigned long flags);
int poll(struct pollfd *fds, nfds_t n, int timeout);
int sched_yield(void);
#pragma GCC visibility pop

static void *find(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

void *memmove(void *to, const void *from, size_t n)
{
	static void *(*move)(void *, const void *, size_t);

	if (!move)
		*(void **)&move = find("memmove");
	copied += (long)n;
	return move(to, from, n);
}

void *memcpy(void *to, const void *from, size_t n)
{
	return memmove(to, from, n);
}

static ssize_t between(const char *name, pid_t pid, const struct iovec *ours,
		       unsigned long n, const struct iovec *theirs,
		       unsigned long m, unsigned long flags)
{
	ssize_t (*call)(pid_t, const struct iovec *, unsigned long,
			const struct iovec *, unsigned long, unsigned long);
	ssize_t moved;

	*(void **)&call = find(name);
	moved = call(pid, ours, n, theirs, m, flags);
	if (moved > 0)
		copied += moved;
	return moved;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *ours, unsigned long n,
			 const struct iovec *theirs, unsigned long m,
			 unsigned long flags)
{
	return between("process_vm_readv", pid, ours, n, theirs, m, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *ours, unsigned long n,
			  const struct iovec *theirs, unsigned long m,
			  unsigned long flags)
{
	return between("process_vm_writev", pid, ours, n, theirs, m, flags);
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	static int (*call)(struct pollfd *, nfds_t, int);

	if (!call)
		*(void **)&call = find("poll");
	hasty_sleeps += yields < SPUN;
	yields = 0;
	return call(fds, n, timeout);
}

int sched_yield(void)
{
	static int (*call)(void);

	if (!call)
		*(void **)&call = find("sched_yield");
	yields++;
	return call();
}

enum bcl_status bcl_offer(struct bcl_peer *peer, const void *memory,
			  size_t length, uint64_t cookie, void *token)
{
	__typeof__(&bcl_offer) call;
	enum bcl_status status;

	*(void **)&call = find("bcl_offer");
	status = call(peer, memory, length, cookie, token);
	offers += !status;
	return status;
}

enum bcl_status bcl_withdraw(struct bcl_peer *peer, const void *token)
{
	__typeof__(&bcl_withdraw) call;
	enum bcl_status status;

	*(void **)&call = find("bcl_withdraw");
	status = call(peer, token);
	offers -= !status;
	return status;
}

/* ---- ways ---- */

static void psend(int to)
{
	pvm_psend(to, DATA, buffer, LONG, PVM_BYTE);
}

static void precv(int from)
{
	int tid, tag, length;

	pvm_precv(from, DATA, buffer, LONG, PVM_BYTE, &tid, &tag, &length);
}

static void send_packed(int to)
{
	pvm_initsend(PvmDataRaw);
	pvm_pkbyte(buffer, LONG, 1);
	pvm_send(to, DATA);
}

static void receive_packed(int from)
{
	pvm_recv(from, DATA);
	pvm_upkbyte(buffer, LONG, 1);
}

static const struct way {
	const char *name;
	void (*send)(int to), (*receive)(int from);
	int messages;
} ways[] = {
	{ "psend to precv", psend, precv, 1 },
	{ "packed", send_packed, receive_packed, 1 },
	{ "several packed", send_packed, receive_packed, 12 },
};

enum {
	WAYS = sizeof(ways) / sizeof(*ways),
};

/* ---- both tasks ---- */

static void pause_ms(int ms)
{
	const struct timespec time = { 0, ms * 1000000 };

	nanosleep(&time, NULL);
}

static struct cost cost_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (struct cost){ copied, usage.ru_minflt, hasty_sleeps, offers };
}

static struct cost cost_since(struct cost start)
{
	struct cost now = cost_now();

	return (struct cost){ now.copied - start.copied,
			      now.faults - start.faults,
			      now.hasty_sleeps - start.hasty_sleeps,
			      now.offers - start.offers };
}

static void say(int to, int tag, int way)
{
	pvm_initsend(PvmDataRaw);
	pvm_pkint(&way, 1, 1);
	pvm_send(to, tag);
}

static int next_way(int from)
{
	int way = WAYS;

	pvm_recv(from, READY);
	pvm_upkint(&way, 1, 1);
	return way;
}

/* The receiver has said READY, and begins to wait within the pause. */
static void serve_once(const struct way *way, int parent)
{
	struct cost cost;

	pause_ms(5);
	cost = cost_now();
	for (int i = 0; i < way->messages; i++)
		way->send(parent);
	pvm_recv(parent, RECEIVED);
	cost = cost_since(cost);
	pvm_initsend(PvmDataRaw);
	pvm_pkbyte((char *)&cost, sizeof(cost), 1);
	pvm_send(parent, COST);
}

static struct cost measure_once(const struct way *way, int other)
{
	struct cost cost, its;

	say(other, READY, (int)(way - ways));
	cost = cost_now();
	for (int i = 0; i < way->messages; i++)
		way->receive(other);
	say(other, RECEIVED, 0);
	cost = cost_since(cost);
	pvm_recv(other, COST);
	pvm_upkbyte((char *)&its, sizeof(its), 1);
	return (struct cost){ cost.copied + its.copied,
			      cost.faults + its.faults,
			      cost.hasty_sleeps + its.hasty_sleeps,
			      its.offers };
}

static long lesser(long a, long b)
{
	return a < b ? a : b;
}

static struct cost measure(const struct way *way, int other)
{
	struct cost cost, least = { LONG_MAX, LONG_MAX, LONG_MAX, 0 };

	for (int i = 0, tries = 0; i < ROUNDS && tries < TRIES; tries++) {
		cost = measure_once(way, other);
		if (cost.offers != way->messages)
			continue;
		i++;
		least.copied = lesser(least.copied, cost.copied);
		least.faults = lesser(least.faults, cost.faults);
		least.hasty_sleeps =
			lesser(least.hasty_sleeps, cost.hasty_sleeps);
	}
	return least;
}

int main(int argc, char **argv)
{
	int i, other, parent = (pvm_mytid(), pvm_parent());
	const struct way *way;
	struct cost cost;

	if (parent >= 0) {
		while ((i = next_way(parent)) < WAYS)
			serve_once(&ways[i], parent);
		pvm_exit();
		return 0;
	}
	if (pvm_spawn("copies", NULL, argc > 1 ? PvmTaskHost : 0,
		      argc > 1 ? argv[1] : NULL, 1, &other) != 1)
		return 2;
	for (way = ways; way < ways + WAYS; way++) {
		cost = measure(way, other);
		printf("%s: %.1f times, %s, %s\n", way->name,
		       (double)cost.copied / LONG / way->messages,
		       cost.faults < FEW ? "in old memory" : "in new memory",
		       cost.hasty_sleeps < FEW_HASTY ? "patient" : "hasty");
	}
	say(other, READY, WAYS);
	pvm_exit();
	return 0;
}
