/* SPDX-License-Identifier: MIT */
/*
 * A long message to many tasks crosses the network once for each host. The
 * sender offers the message to all receivers. One task of each host is the
 * host's leader. The leaders form a binomial tree below the sender:
 *
 *   sender      leaders 0, 1, 3, 7, ...
 *   leader 1    leader 2
 *   leader 3    leaders 4, 5
 *   leader 5    leader 6
 *
 * The other tasks of a host hang on their leader. A task that hangs on another
 * task asks that task, which keeps a copy for the tasks that will ask. If the
 * task is busy or gone, the asking task fetches the message from the sender
 * after a time.
 *
 * A message is delivered when the sender's offer has been read, if only zero
 * bytes of it. So a message that the sender has taken back and sent by PVM does
 * not come twice.
 */
#include <stdlib.h>
#include <string.h>

#include "pvm-glue/glue.h"
#include "pvm-glue/wire.h"

enum {
	HOST_MASK = 0x3ffc0000, /* part of a tid that names the host */
	/* Time to wait for another task before a message is fetched from the
	 * sender: PATIENCE us, and 1 us for each PATIENCE_BYTES bytes in each
	 * level of the tree. */
	PATIENCE = 20000,
	PATIENCE_BYTES = 50,
	KEPT_MAX = 32 << 20,   /* bytes of all copies */
	KEPT_LONG = 500000000, /* ns: later requests are not waited for */
	EARLY = 64, /* requests remembered for messages not here yet */
};

/* ---- at the sender ---- */

/* True if the task is on another host and takes long messages by BCL now. */
static bool is_elsewhere(const struct task *task)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };

	if (!task || !task_reachable(task) || glue_now() < task->behind)
		return false;
	bcl_peer_info(task->peer, &info);
	return info.path == BCL_PATH_CARD;
}

/* Let a task ask task `tid`, whose route is `on`. */
static void set_route(struct route *route, int tid, struct route *on,
		      unsigned level, size_t length)
{
	route->via = tid;
	route->patience =
		PATIENCE + (uint32_t)(level * length / PATIENCE_BYTES);
	on->readers++;
}

/* Hang leaders on each other, and the first leaders on the sender. */
static void route_leaders(const int *tids, const int *leaders, unsigned *levels,
			  int hosts, size_t length, struct route *routes)
{
	for (int i = 0; i < hosts; i++) {
		int on = (i & (i + 1)) - 1; /* -1: the sender */

		levels[i] = on < 0 ? 0 : levels[on] + 1;
		if (on >= 0)
			set_route(&routes[leaders[i]], tids[leaders[on]],
				  &routes[leaders[on]], levels[i], length);
	}
}

/* Number of a task's host among `hosts` leaders. Returns `hosts` for a new
 * host. */
static int host_of(int tid, const int *tids, const int *leaders, int hosts)
{
	int i = 0;

	while (i < hosts && (tids[leaders[i]] ^ tid) & HOST_MASK)
		i++;
	return i;
}

void share_plan(const int *tids, int n, size_t length, struct route *routes)
{
	static uint32_t serial;
	int i, hosts = 0, *places, *leaders;
	unsigned *levels;

	memset(routes, 0, (size_t)n * sizeof(*routes));
	if (n < 2 || length <= BCL_MESSAGE_MAX - sizeof(struct envelope))
		return;
	places = calloc(3 * (size_t)n, sizeof(*places));
	if (!places)
		return;
	leaders = places + n;
	levels = (unsigned *)(leaders + n);
	serial++;
	for (i = 0; i < n; i++) {
		routes[i].serial = serial;
		places[i] = -1;
		if (!is_elsewhere(task_find(tids[i])))
			continue;
		places[i] = host_of(tids[i], tids, leaders, hosts);
		if (places[i] == hosts)
			leaders[hosts++] = i;
	}
	route_leaders(tids, leaders, levels, hosts, length, routes);
	for (i = 0; i < n; i++) {
		int host = places[i];

		/* a task named twice must not wait for itself */
		if (host >= 0 && tids[leaders[host]] != tids[i])
			set_route(&routes[i], tids[leaders[host]],
				  &routes[leaders[host]], levels[host] + 1,
				  length);
	}
	free(places);
}

/* ---- at a receiver ---- */

bool share_ask(struct task *task, const struct share *share)
{
	const struct iovec iov = { (void *)share, sizeof(*share) };

	return task_reachable(task) &&
	       bcl_send(task->peer, WIRE_WANT, task_immediate(task), &iov, 1,
			0) == BCL_OK;
}

/* ---- at a task that other tasks ask ---- */

struct reader {
	struct reader *next;
	struct loan loan;
};

struct kept {
	struct kept *next;
	struct reader *readers;
	int origin;
	uint32_t serial;
	uint32_t left; /* readers that have not asked yet */
	uint64_t since;
	size_t length;
	char bytes[];
};

static struct kept *all_kept;
static size_t kept_bytes;
static struct {
	struct task *task; /* NULL: unused */
	struct share share;
} early[EARLY];
static unsigned earlier;

/* Let a task fetch the message here. False: it cannot. */
static bool lend(struct task *task, const struct share *share,
		 const struct kept *kept, struct loan *loan)
{
	struct share answer = *share;
	const struct iovec iov = { &answer, sizeof(answer) };

	if (!task_reachable(task))
		return false;
	loan_open(loan, task);
	if (bcl_offer(task->peer, kept->bytes, kept->length, (uintptr_t)loan,
		      loan->token)) {
		loan_close(loan);
		return false;
	}
	memcpy(answer.token, loan->token, sizeof(answer.token));
	return !bcl_send(task->peer, WIRE_HAVE, task_immediate(task), &iov, 1,
			 0) ||
	       !loan_withdraw(loan);
}

static void let_fetch(struct kept *kept, struct task *task,
		      const struct share *share)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	kept->left -= kept->left > 0;
	/* otherwise the reader fetches the message from the sender */
	if (!reader || !lend(task, share, kept, &reader->loan)) {
		free(reader);
		return;
	}
	reader->next = kept->readers;
	kept->readers = reader;
}

void share_keep(int origin, const struct route *route, const void *memory,
		size_t length)
{
	struct kept *kept;

	if (!route->readers || kept_bytes + length > KEPT_MAX)
		return;
	kept = malloc(sizeof(*kept) + length);
	if (!kept)
		return;
	*kept = (struct kept){ .next = all_kept,
			       .origin = origin,
			       .serial = route->serial,
			       .left = route->readers,
			       .since = glue_now(),
			       .length = length };
	memcpy(kept->bytes, memory, length);
	all_kept = kept;
	kept_bytes += length;
	for (unsigned i = 0; i < EARLY; i++) {
		if (!early[i].task || early[i].share.origin != origin ||
		    early[i].share.serial != route->serial)
			continue;
		let_fetch(kept, early[i].task, &early[i].share);
		early[i].task = NULL;
	}
}

void share_wanted(struct task *task, const struct share *share)
{
	struct kept *kept = all_kept;

	while (kept &&
	       (kept->origin != share->origin || kept->serial != share->serial))
		kept = kept->next;
	if (kept) {
		let_fetch(kept, task, share);
		return;
	}
	early[earlier].task = task;
	early[earlier].share = *share;
	earlier = (earlier + 1) % EARLY;
}

static bool is_needed(struct kept *kept)
{
	struct reader **place = &kept->readers, *reader;

	while ((reader = *place)) {
		if (reader->loan.fate == FATE_OPEN) {
			place = &reader->next;
			continue;
		}
		*place = reader->next;
		free(reader);
	}
	return kept->readers ||
	       (kept->left && glue_now() - kept->since < KEPT_LONG);
}

void share_tidy(void)
{
	struct kept **place = &all_kept, *kept;

	while ((kept = *place)) {
		if (is_needed(kept)) {
			place = &kept->next;
			continue;
		}
		*place = kept->next;
		kept_bytes -= kept->length;
		free(kept);
	}
}

void share_close(void)
{
	struct kept *kept;
	struct reader *reader;

	while ((kept = all_kept)) {
		all_kept = kept->next;
		while ((reader = kept->readers)) {
			kept->readers = reader->next;
			free(reader);
		}
		free(kept);
	}
	kept_bytes = 0;
	memset(early, 0, sizeof(early));
}
