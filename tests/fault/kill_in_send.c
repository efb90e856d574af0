/* SPDX-License-Identifier: MIT */
/*
 * The killer ends a sender after its n-th instruction inside bcl_send(). Inside
 * a host n takes every value, or every fifth where time is short (tier.h).
 * Between nodes n takes some values from the first instruction to the last.
 * After each death the receiver and another peer exchange 1,000 more messages,
 * and the receiver sees one death per victim.
 *
 * There are four processes. The killer is the main process: it forks the rest,
 * single-steps a victim and kills the victim. The receiver and the other peer
 * exchange messages all the time. The victims come one after another.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bcl/bcl.h>

#include "interfaces.h"
#include "tests/tier.h"
#include "tests/unit/counter.h"

enum {
	EXCHANGE = 1000,
	LONG = 200, /* bytes, at most, of the other peer's messages */
	VICTIM = 1,
	OTHER = 2,
	GREETING = 3, /* message types */
	STEPS_MAX = 100000,
	STRIDE = 5,   /* instructions, where time is short */
	SAMPLES = 12, /* victims of each kind, between nodes */
	LONG_SAMPLES = 24,
};

struct kind {
	const char *name;
	size_t length; /* of the victim's message */
	bool asleep;   /* the receiver sleeps and has to be woken */
};

static const struct kind inside_host[] = {
	{ "half", 8, false }, /* the pair line */
	{ "slot", 48, false }, { "slots", 200, false },
	{ "asleep", 8, true }, /* the pair line, too */
	{ NULL, 0, false },
};

static const struct kind between_nodes[] = {
	{ "short", 8, false },
	{ "frames", 4000, false }, /* several frames at an MTU of 1,500 bytes */
	{ NULL, 0, false },
};

/* How messages travel. */
static const struct way {
	const char *name, *rails;
	const char *node[2], *net[2]; /* of the receiver, of its peers */
	const char *counter; /* of the receiver's frames; NULL inside a host */
	const struct kind *kinds;
} ways[] = {
	{ "inside a host",
	  "none",
	  { "a", "a" },
	  { "", "" },
	  NULL,
	  inside_host },
	{ "UDP",
	  "udp",
	  { "a", "b" },
	  { "", "" },
	  "udp.recvmsg",
	  between_nodes },
	{ "packet ring",
	  "packet",
	  { "a", "b" },
	  { "near0", "far0" },
	  "packet.received",
	  between_nodes },
};

static const struct way *way;

/* The processes end in steps, so that none takes the end of another for a
 * death. */
enum quit {
	QUIT_OTHER = 1, /* stop exchanging */
	QUIT_RECEIVER,	/* end */
	QUIT_ALL,
};

static struct shared {
	uint8_t address[BCL_ADDRESS_MAX];
	_Atomic unsigned ready;
	_Atomic unsigned in_send, sent;		/* by the victim */
	_Atomic unsigned up, deaths, delivered; /* seen by the receiver */
	_Atomic unsigned exchanged;
	/* the other peer shall pause; the receiver is about to sleep */
	_Atomic unsigned pause, paused;
	_Atomic unsigned quit;	/* enum quit */
	_Atomic unsigned rests; /* the other peer has nothing in flight */
	size_t length;
	_Atomic unsigned failed;
} * shared;

static void fail(const char *who, const char *what, long value)
{
	fprintf(stderr, "kill_in_send: %s: %s (%ld)\n", who, what, value);
	atomic_store(&shared->failed, 1);
	exit(1);
}

#define must(who, condition)                             \
	do {                                             \
		if (!(condition))                        \
			fail(who, #condition, __LINE__); \
	} while (0)

static void await(const char *what, _Atomic unsigned *word, unsigned least)
{
	time_t end = time(NULL) + 30;

	while (atomic_load(word) < least) {
		if (atomic_load(&shared->failed))
			exit(1);
		if (time(NULL) > end)
			fail("await", what, atomic_load(word));
		sched_yield();
	}
}

/* Open a port on the receiver's node or, with `others`, on the node of the
 * receiver's peers. */
static void open_port(const char *who, bool others,
		      struct bcl_context **context, struct bcl_port **port)
{
	/* a receiver on a packet ring notices a death by this time-out at the
	 * latest */
	if (way->counter)
		setenv("BCL_PEER_TIMEOUT", "8s", 1);
	setenv("BCL_RAILS", way->rails, 1);
	setenv("BCL_NODE", way->node[others], 1);
	setenv("BCL_NET", way->net[others], 1);
	must(who, !bcl_open(NULL, context));
	must(who, !bcl_port_open(*context, NULL, port));
}

/* Connect to the receiver and greet: a card reports a new peer only after a
 * first message from the peer. */
static struct bcl_peer *call(const char *who, struct bcl_port *port)
{
	struct bcl_peer *peer;
	struct bcl_event event;

	must(who, !bcl_peer_open(port, shared->address, shared->length, &peer));
	while (bcl_poll(port, &event))
		sched_yield();
	must(who, event.kind == BCL_EVENT_PEER && !event.status);
	must(who, !bcl_send(peer, GREETING, 0, NULL, 0, 1));
	while (bcl_poll(port, &event))
		sched_yield();
	must(who, event.kind == BCL_EVENT_SENT && !event.status);
	return peer;
}

/* ---- the receiver ---- */

static void take(const struct bcl_event *event)
{
	static uint8_t bytes[LONG];
	static char alive, spoken; /* a peer has greeted; its message came */
	enum bcl_status status;
	struct iovec iov = { bytes, sizeof(bytes) };
	size_t i;

	switch (event->kind) {
	case BCL_EVENT_PEER:
		if (event->status) {
			must("receiver", event->status == BCL_ERR_DEAD);
			must("receiver", bcl_peer_user(event->peer));
			bcl_peer_set_user(event->peer, NULL);
			atomic_fetch_add(&shared->deaths, 1);
		}
		return;
	case BCL_EVENT_MESSAGE:
		if (event->type == GREETING) {
			bcl_peer_set_user(event->peer, &alive);
			atomic_fetch_add(&shared->up, 1);
			return;
		}
		if (event->type == VICTIM) {
			must("receiver", bcl_peer_user(event->peer) == &alive);
			bcl_peer_set_user(event->peer, &spoken);
			must("receiver", event->immediate == event->length);
			for (i = 0; i < event->length; i++)
				must("receiver",
				     ((const uint8_t *)event->data)[i] == 0xa5);
			atomic_fetch_add(&shared->delivered, 1);
			return;
		}
		must("receiver", event->type == OTHER);
		iov.iov_len = event->immediate % LONG;
		while ((status = bcl_send(event->peer, OTHER, event->immediate,
					  &iov, 1, 0)))
			must("receiver", status == BCL_ERR_AGAIN);
		return;
	default:
		fail("receiver", "event", event->kind);
	}
}

static void receiver(void)
{
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_event event;

	open_port("receiver", false, &context, &port);
	must("receiver",
	     !bcl_port_address(port, shared->address, &shared->length));
	atomic_store(&shared->ready, 1);
	while (atomic_load(&shared->quit) < QUIT_RECEIVER) {
		if (!bcl_poll(port, &event)) {
			take(&event);
		} else if (atomic_load(&shared->pause)) {
			/* 20 s: only a wake-up ends this sleep in time */
			atomic_store(&shared->paused, 1);
			bcl_wait(port, UINT64_C(20000000000));
		} else {
			sched_yield();
		}
	}
	if (way->counter)
		must("receiver", counter_of(context, way->counter) > EXCHANGE);
	else
		must("receiver", counter_of(context, "core.sleeps") > 0);
	must("receiver", counter_of(context, "core.peers_lost") ==
				 atomic_load(&shared->deaths));
	bcl_close(context);
	exit(0);
}

/* ---- the other peer ---- */

static void other(void)
{
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer *peer;
	struct bcl_event event;
	static uint8_t bytes[LONG];
	uint64_t n;

	open_port("other", true, &context, &port);
	peer = call("other", port);
	for (n = 0; !atomic_load(&shared->quit); n++) {
		struct iovec iov = { bytes, n * 7 % LONG };

		while (atomic_load(&shared->pause))
			usleep(100);
		while (bcl_send(peer, OTHER, n, &iov, 1, 0))
			must("other", bcl_poll(port, &event));
		while (bcl_poll(port, &event))
			sched_yield();
		must("other", event.kind == BCL_EVENT_MESSAGE &&
				      event.immediate == n &&
				      event.length == n % LONG);
		atomic_fetch_add(&shared->exchanged, 1);
	}
	atomic_store(&shared->rests, 1);
	await("end", &shared->quit, QUIT_ALL);
	exit(0);
}

/* ---- the victim ---- */

static void victim(const struct kind *kind)
{
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer *peer;
	uint8_t bytes[BCL_MESSAGE_MAX];
	struct iovec iov = { bytes, kind->length };

	/* one thread: the killer steps every instruction */
	setenv("BCL_HELPER", "0", 1);
	memset(bytes, 0xa5, sizeof(bytes));
	open_port("victim", true, &context, &port);
	peer = call("victim", port);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	atomic_store(&shared->in_send, 1);
	bcl_send(peer, VICTIM, iov.iov_len, &iov, 1, 0);
	atomic_store(&shared->sent, 1);
	raise(SIGSTOP);
	exit(1);
}

/* ---- the killer ---- */

/* As fork(). The child ends with the killer, also after a failure. */
static pid_t fork_child(void)
{
	pid_t pid = fork();

	must("killer", pid >= 0);
	if (!pid)
		must("child", !prctl(PR_SET_PDEATHSIG, SIGKILL));
	return pid;
}

static void await_stop(pid_t pid)
{
	int status;

	must("killer", waitpid(pid, &status, 0) == pid);
	must("killer", WIFSTOPPED(status));
}

static void step(pid_t pid)
{
	must("killer", !ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL));
	await_stop(pid);
}

/* Kill a victim after *n instructions inside bcl_send(), or at the end of
 * bcl_send(). Set *n to the number of instructions. True: the victim was still
 * inside. */
static bool kill_after(const struct kind *kind, unsigned *n, unsigned *killed)
{
	unsigned before, delivered = atomic_load(&shared->delivered), i;
	bool inside;
	pid_t pid;

	atomic_store(&shared->in_send, 0);
	atomic_store(&shared->sent, 0);
	pid = fork_child();
	if (!pid)
		victim(kind);
	await_stop(pid);
	await("victim up", &shared->up, *killed + 2);
	if (kind->asleep) {
		atomic_store(&shared->paused, 0);
		atomic_store(&shared->pause, 1);
		await("receiver pauses", &shared->paused, 1);
		usleep(25000); /* for BCL_SPIN and the receiver's yields */
	}
	for (i = 0; !atomic_load(&shared->in_send); i++) {
		must("killer", i < STEPS_MAX);
		step(pid);
	}
	for (i = 0; i < *n && !atomic_load(&shared->sent); i++)
		step(pid);
	*n = i;
	inside = !atomic_load(&shared->sent);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	++*killed;
	/* inside a host the receiver notices the death without help, asleep or
	 * awake; a card notices only when a sign of life is missing, too late
	 * to wait for each death */
	if (way->kinds == inside_host)
		await("death", &shared->deaths, *killed);
	atomic_store(&shared->pause, 0);
	before = atomic_load(&shared->exchanged);
	await("exchange", &shared->exchanged, before + EXCHANGE);
	must("killer", atomic_load(&shared->deaths) <= *killed);
	delivered = atomic_load(&shared->delivered) - delivered;
	must("killer", way->counter || delivered <= 1);
	must("killer", way->counter || inside || delivered == 1);
	return inside;
}

static pid_t start(void (*run)(void))
{
	pid_t pid = fork_child();

	if (!pid)
		run();
	return pid;
}

/* Kill after every stride-th instruction, from one of the first to the last. In
 * the short tier each kind begins with a different instruction. */
static void kill_everywhere(const struct kind *kind, unsigned *killed)
{
	unsigned stride = tier_long() ? 1 : STRIDE;
	unsigned most = (unsigned)(kind - way->kinds) % stride, n = most;

	for (; kill_after(kind, &n, killed); n = most)
		most += stride;
	printf("%s, %s: killed after %u of %u instructions\n", way->name,
	       kind->name, most / stride, n);
	must("killer", most > 20);
}

/* Find the number of instructions, then kill after some of them, from the first
 * to the last. */
static void kill_here_and_there(const struct kind *kind, unsigned *killed)
{
	unsigned samples = tier_long() ? LONG_SAMPLES : SAMPLES;
	unsigned all = STEPS_MAX, i, n, delivered;

	delivered = atomic_load(&shared->delivered);
	must("killer", !kill_after(kind, &all, killed));
	for (i = 0; i < samples; i++) {
		n = i * (all - 1) / (samples - 1);
		kill_after(kind, &n, killed);
	}
	printf("%s, %s: killed after %u of %u instructions, from 0 on\n",
	       way->name, kind->name, samples, all);
	must("killer", all > 20 * samples);
	/* no process retransmits the frames of a dead victim, but some messages
	 * arrive */
	delivered = atomic_load(&shared->delivered) - delivered;
	must("killer", delivered > 0 && delivered <= samples);
}

static void run(void)
{
	unsigned killed = 0;
	const struct kind *kind;
	pid_t pids[2];
	int status, i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must("killer", shared != MAP_FAILED);
	pids[0] = start(receiver);
	await("receiver", &shared->ready, 1);
	pids[1] = start(other);
	for (kind = way->kinds; kind->name; kind++) {
		if (way->kinds == inside_host)
			kill_everywhere(kind, &killed);
		else
			kill_here_and_there(kind, &killed);
		fflush(stdout);
	}
	await("deaths", &shared->deaths, killed);
	atomic_store(&shared->quit, QUIT_OTHER);
	await("rest", &shared->rests, 1);
	for (i = 0; i < 2; i++) {
		atomic_store(&shared->quit, QUIT_RECEIVER + (unsigned)i);
		must("killer", waitpid(pids[i], &status, 0) == pids[i]);
		must("killer", WIFEXITED(status) && !WEXITSTATUS(status));
	}
	munmap(shared, sizeof(*shared));
}

int main(void)
{
	for (way = ways; way < ways + sizeof(ways) / sizeof(*ways); way++) {
		if (*way->net[0] && !interfaces()) {
			puts("without packet rings: no network namespaces");
			break;
		}
		run();
	}
	return 0;
}
