/* SPDX-License-Identifier: MIT */
/*
 * Two processes on virtual nodes of this host. Each process has one port; the
 * two ports are each other's peers and talk through the card. A failure in
 * either process ends the test.
 */
#ifndef BCL_TESTS_PAIR_H
#define BCL_TESTS_PAIR_H

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bcl/bcl.h>

#include "interfaces.h"
#include "tests/unit/counter.h"

#define must(condition)                                            \
	do {                                                       \
		if (!(condition))                                  \
			pair_fail(__FILE__, __LINE__, #condition); \
	} while (0)

/* Seen by both processes. */
struct pair_shared {
	uint8_t address[2][BCL_ADDRESS_MAX];
	_Atomic size_t length[2];
	_Atomic unsigned arrived, left;
	pid_t pid[2];
	_Atomic bool failed;
	char failure[256]; /* of the side that failed first */
};

static struct {
	unsigned side;
	struct pair_shared *shared;
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer *peer;
	const char *net[2]; /* BCL_NET of each side, if not NULL */
	char failure[256];  /* why pair_run() failed */
} pair;

/* pair_run() repeats the message when both sides have ended: at the end of the
 * output a reader finds the cause. */
static inline void pair_fail(const char *file, int line, const char *what)
{
	struct pair_shared *shared = pair.shared;

	fflush(stdout);
	fprintf(stderr, "%s:%d: side %u: not %s\n", file, line, pair.side,
		what);
	if (shared && !atomic_exchange(&shared->failed, true))
		snprintf(shared->failure, sizeof(shared->failure),
			 "side %u: %s:%d: not %s", pair.side, file, line, what);
	_exit(1);
}

static inline double pair_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline uint64_t pair_counter(const char *name)
{
	return counter_of(pair.context, name);
}

/* Wait for the next event, but skip the event of a new connection. */
static inline void pair_event(struct bcl_event *event)
{
	do {
		must(bcl_wait(pair.port, 60000000000) == BCL_OK);
		must(bcl_poll(pair.port, event) == BCL_OK);
	} while (event->kind == BCL_EVENT_PEER && !event->status);
}

static inline void pair_expect(enum bcl_event_kind kind, uint64_t cookie)
{
	struct bcl_event event;

	pair_event(&event);
	if (event.kind != kind || event.status)
		fprintf(stderr, "side %u: event %d, %s\n", pair.side,
			event.kind, bcl_strstatus(event.status));
	must(event.kind == kind);
	must(event.status == BCL_OK);
	must(event.cookie == cookie);
}

static inline void pair_say(unsigned type, const void *data, size_t length)
{
	const struct iovec iov = { (void *)data, length };
	enum bcl_status status;

	while ((status = bcl_send(pair.peer, type, length, &iov, 1, 0)) ==
	       BCL_ERR_AGAIN)
		bcl_wait(pair.port, 100000);
	must(status == BCL_OK);
}

static inline void pair_hear(unsigned type, void *data, size_t length)
{
	struct bcl_event event;

	pair_event(&event);
	must(event.kind == BCL_EVENT_MESSAGE);
	must(event.type == type);
	must(event.length == length);
	if (data)
		memcpy(data, event.data, length);
}

static inline void pair_fill(uint8_t *bytes, size_t length, unsigned seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = (uint8_t)(i * 7 + (i >> 11) + seed);
}

static inline void pair_check(const uint8_t *bytes, size_t length,
			      unsigned seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		must(bytes[i] == (uint8_t)(i * 7 + (i >> 11) + seed));
}

/* Wait until both sides have come here. The port makes progress meanwhile. */
static inline void pair_barrier(_Atomic unsigned *arrived)
{
	unsigned round = (*arrived)++ / 2;

	while (*arrived / 2 == round)
		bcl_wait(pair.port, 1000000);
}

static inline void pair_open(void)
{
	static const struct bcl_context_options options = {
		.struct_size = sizeof(options),
		.flags = BCL_THREADS,
	};
	struct pair_shared *shared = pair.shared;
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	struct bcl_event event;
	size_t length;

	must(bcl_open(&options, &pair.context) == BCL_OK);
	must(bcl_port_open(pair.context, NULL, &pair.port) == BCL_OK);
	must(bcl_port_address(pair.port, shared->address[pair.side], &length) ==
	     BCL_OK);
	shared->length[pair.side] = length;
	while (!shared->length[!pair.side])
		usleep(1000);
	must(bcl_peer_open(pair.port, shared->address[!pair.side],
			   shared->length[!pair.side], &pair.peer) == BCL_OK);
	must(bcl_wait(pair.port, 60000000000) == BCL_OK);
	must(bcl_poll(pair.port, &event) == BCL_OK);
	must(event.kind == BCL_EVENT_PEER && event.status == BCL_OK);
	bcl_peer_info(pair.peer, &info);
	must(info.path == BCL_PATH_CARD);
}

/* Record the wrong end of a side, unless a side failed earlier. */
static inline void pair_note_end(unsigned side, int status)
{
	struct pair_shared *shared = pair.shared;
	bool signalled = WIFSIGNALED(status);

	if (!atomic_exchange(&shared->failed, true))
		snprintf(shared->failure, sizeof(shared->failure),
			 "side %u: ended with %s %d", side,
			 signalled ? "signal" : "status",
			 signalled ? WTERMSIG(status) : WEXITSTATUS(status));
}

/*
 * Run both sides, and return when both have ended. `variables` are NAME=value
 * for both sides, NULL-terminated. Bit n of `killed`: side n must end by a
 * signal. Returns 0 on success.
 */
static inline int pair_run(void (*side)(void), const char *const *variables,
			   unsigned killed)
{
	unsigned i, failed = 0;

	pair.shared = mmap(NULL, sizeof(*pair.shared), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fflush(NULL);
	for (i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid) {
			pair.shared->pid[i] = pid;
			continue;
		}
		pair.side = i;
		alarm(200);
		setenv("BCL_NODE", i ? "b" : "a", 1);
		if (pair.net[i])
			setenv("BCL_NET", pair.net[i], 1);
		while (*variables)
			putenv((char *)*variables++);
		while (!pair.shared->pid[1])
			usleep(1000);
		pair_open();
		side();
		pair_barrier(&pair.shared->left);
		bcl_close(pair.context);
		fflush(NULL);
		_exit(0);
	}
	for (i = 0; i < 2; i++) {
		int status;
		pid_t pid = wait(&status);
		unsigned number = pid == pair.shared->pid[1];

		if (killed & 1u << number ? WIFSIGNALED(status) : !status)
			continue;
		failed = 1;
		pair_note_end(number, status);
		if (!i)
			kill(pair.shared->pid[!number], SIGKILL);
	}
	if (failed) {
		memcpy(pair.failure, pair.shared->failure,
		       sizeof(pair.failure));
		fprintf(stderr, "failed: %s\n", pair.failure);
	}
	munmap(pair.shared, sizeof(*pair.shared));
	pair.shared = NULL;
	return (int)failed;
}

#endif
