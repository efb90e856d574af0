/* SPDX-License-Identifier: MIT */
/*
 * A long message to many goes to each host once. All are offered it by its
 * sender, but one task of a host leads the others, and hosts hang on one
 * another by a binomial tree: whoever is not a leader next to the sender asks
 * the task that it hangs on, which keeps a copy for those who ask. Nobody waits
 * for long for one who computes, or is gone, but fetches it from the sender
 * then.
 *
 * It is delivered when its sender's offer has been read, be it of no bytes: one
 * that the sender has taken back to send it by PVM does not come twice.
 */
#include <stdlib.h>
#include <string.h>

#include "pvm-glue/glue.h"
#include "pvm-glue/wire.h"

enum {
	HOST_MASK = 0x3ffc0000, /* of a tid */
	/* us, and for each level of the tree us of so many bytes: then it is
	 * fetched from the sender */
	PATIENCE = 20000,
	PATIENCE_BYTES = 50,
	KEPT_MAX = 32 << 20,   /* bytes of messages, in all */
	KEPT_LONG = 500000000, /* ns: who has not asked until then does not */
	EARLY = 64,	       /* who ask before it is here */
};

/* ---- at the sender ---- */

static bool is_elsewhere(const struct task *task)
{
	struct bcl_peer_info info;

	if (!task || !send_reaches(task) || wait_now() < task->behind)
		return false;
	bcl_peer_info(task->peer, &info);
	return info.path == BCL_PATH_CARD;
}

static void hang(struct route *route, int tid, struct route *on, unsigned level,
		 size_t length)
{
	route->via = tid;
	route->patience =
		PATIENCE + (uint32_t)(level * length / PATIENCE_BYTES);
	on->readers++;
}

/* On one another, and the first ones on the sender. */
static void hang_leaders(const int *tids, const int *leaders, unsigned *levels,
			 int hosts, size_t length, struct route *routes)
{
	for (int i = 0; i < hosts; i++) {
		int on = (i & (i + 1)) - 1; /* the sender is the place before */

		levels[i] = on < 0 ? 0 : levels[on] + 1;
		if (on >= 0)
			hang(&routes[leaders[i]], tids[leaders[on]],
			     &routes[leaders[on]], levels[i], length);
	}
}

/* Which host of the leaders a task is on; their number: it is a new one. */
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
	hang_leaders(tids, leaders, levels, hosts, length, routes);
	for (i = 0; i < n; i++) {
		int host = places[i];

		/* one that is named twice does not wait for itself */
		if (host >= 0 && tids[leaders[host]] != tids[i])
			hang(&routes[i], tids[leaders[host]],
			     &routes[leaders[host]], levels[host] + 1, length);
	}
	free(places);
}

/* ---- at those whom others ask ---- */

struct reader {
	struct reader *next;
	struct loan loan;
};

struct kept {
	struct kept *next;
	struct reader *readers;
	int origin;
	uint32_t serial;
	uint32_t left; /* who have not asked yet */
	uint64_t since;
	size_t length;
	char bytes[];
};

static struct kept *all_kept;
static size_t kept_bytes;
static struct {
	struct task *task; /* NULL: nobody */
	struct share share;
} early[EARLY];
static unsigned earlier;

static void let_fetch(struct kept *kept, struct task *task,
		      const struct share *share)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	kept->left -= kept->left > 0;
	/* it fetches the message from the sender then */
	if (!reader ||
	    !send_have(task, share, kept->bytes, kept->length, &reader->loan)) {
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
			       .since = wait_now(),
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
	       (kept->left && wait_now() - kept->since < KEPT_LONG);
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
