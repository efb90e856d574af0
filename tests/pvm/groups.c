/* SPDX-License-Identifier: MIT */
/*
 * Operations on a frozen group. The first member prints the results, which must
 * be the same by every way of messages. To stderr it prints how many messages a
 * reduce takes.
 *
 *	groups TASKS [mixed|starved]
 *
 * `mixed`: one task runs without the library to preload before libpvm.
 * `starved`: one task has no memory, first in an operation, then while the task
 * freezes the group.
 */
#include <bcl/coll.h>
#include <dlfcn.h>
#include <pvm3.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	TASKS_MAX = 32,
	LONG = 30000, /* elements */
	TIMES = 50,
	AGAIN = 3,

	SET_UP = 1, /* tags */
	WORK,
	OTHER,
	REPORT,
};

static int tasks, self, tids[TASKS_MAX];
static bool starving;
static char group[] = "frozen";
static int all[TASKS_MAX * LONG], mine[LONG];

/* The first member adds the numbers of all members and prints the sum. */
static void say(const char *what, int number)
{
	int i, theirs;

	if (self) {
		pvm_initsend(PvmDataDefault);
		pvm_pkint(&number, 1, 1);
		pvm_send(tids[0], REPORT);
		return;
	}
	for (i = 1; i < tasks; i++) {
		pvm_recv(tids[i], REPORT);
		pvm_upkint(&theirs, 1, 1);
		number += theirs;
	}
	printf("%s: %d\n", what, number);
	fflush(stdout);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* No member leaves a barrier before all members have entered. */
static void barriers(void)
{
	double in, out;
	int i, bad = 0;

	for (i = 0; i < TIMES; i++) {
		in = now();
		bad += pvm_barrier(group, tasks) != 0;
		out = now();
		pvm_reduce(PvmMax, &in, 1, PVM_DOUBLE, WORK, group, 0);
		pvm_reduce(PvmMin, &out, 1, PVM_DOUBLE, OTHER, group, 0);
		pvm_barrier(group, tasks);
		bad += self == 0 && out < in;
	}
	say("bad barriers", bad);
}

static void sums(int count)
{
	int root, i, bad = 0, changed = 0;

	for (root = 0; root < tasks; root++) {
		for (i = 0; i < count; i++)
			mine[i] = self + i;
		/* without a barrier PVM's own reduce mixes up two calls */
		bad += pvm_reduce(PvmSum, mine, count, PVM_INT, WORK, group,
				  root) != 0;
		for (i = 0; self == root && i < count; i++)
			bad += mine[i] != tasks * (tasks - 1) / 2 + tasks * i;
		for (i = 0; self != root && i < count; i++)
			changed += mine[i] != self + i;
		pvm_barrier(group, tasks);
	}
	say("bad sums", bad);
	say("changed where no result is", changed);
}

/* Two reduces with different tags, in different orders. */
static void two_tags(void)
{
	int value[2] = { self, 10 * self }, i, bad = 0;

	for (i = 0; i < 2; i++) {
		int which = self % 2 ? 1 - i : i;

		pvm_reduce(PvmSum, &value[which], 1, PVM_INT,
			   which ? OTHER : WORK, group, 0);
	}
	if (self == 0)
		bad = value[1] != 10 * value[0];
	say("tags mixed up", bad);
	pvm_barrier(group, tasks);
}

static void blocks(int count)
{
	int root, i, bad = 0;

	for (root = 0; root < tasks; root++) {
		for (i = 0; i < count; i++)
			mine[i] = self * count + i;
		bad += pvm_gather(all, mine, count, PVM_INT, WORK, group,
				  root) != 0;
		for (i = 0; self == root && i < tasks * count; i++)
			bad += all[i] != i;
		memset(mine, 0, sizeof(mine));
		bad += pvm_scatter(mine, all, count, PVM_INT, WORK, group,
				   root) != 0;
		for (i = 0; i < count; i++)
			bad += mine[i] != self * count + i;
		pvm_barrier(group, tasks);
	}
	say("bad blocks", bad);
}

static void broadcasts(void)
{
	int root, value, bad = 0;

	for (root = 0; root < tasks; root++) {
		if (root == self) {
			pvm_initsend(PvmDataDefault);
			pvm_pkint(&root, 1, 1);
			pvm_bcast(group, WORK);
		} else {
			pvm_recv(tids[root], WORK);
			pvm_upkint(&value, 1, 1);
			bad += value != root;
		}
	}
	say("bad broadcasts", bad);
}

static int calls;

/* A reduction that yields the length of the longest chain of messages. */
static void longest(int *type, void *ours, void *theirs, int *count, int *info)
{
	int *x = ours, *y = theirs;

	(void)type;
	(void)count;
	calls++;
	*info = 0;
	if (*x < *y + 1)
		*x = *y + 1;
}

static void chain(void)
{
	int value = 0;

	pvm_reduce(longest, &value, 1, PVM_INT, WORK, group, 0);
	if (self == 0)
		fprintf(stderr, "reduce: %d messages at the root, chain %d\n",
			calls, value);
}

static void wrong_ones(void)
{
	say("took no root",
	    pvm_reduce(PvmSum, mine, 1, PVM_INT, WORK, group, tasks) >= 0);
	say("took no type", pvm_gather(all, mine, 1, 99, WORK, group, 0) >= 0);
}

/* The last member dies while the remaining members wait in a barrier. */
static void death(void)
{
	int result;

	if (self == tasks - 1) {
		pvm_barrier(group, tasks);
		raise(SIGKILL);
	}
	pvm_barrier(group, tasks);
	tasks--;
	result = pvm_barrier(group, tasks + 1);
	say("met the dead", result >= 0);
}

/* Wait until all tasks have come here, by messages without the group. */
static void meet(void)
{
	int i;

	for (i = 1; !self && i < tasks; i++)
		pvm_recv(tids[i], REPORT);
	pvm_initsend(PvmDataRaw);
	if (self) {
		pvm_send(tids[0], REPORT);
		pvm_recv(tids[0], REPORT);
	} else {
		pvm_mcast(tids + 1, tasks - 1, REPORT);
	}
}

/* The program's function hides the library's, and can fail. */
static bool carriers_fail;
enum bcl_status bcl_carrier_open(const struct bcl_carrier_options *options,
				 struct bcl_carrier **carrier)
{
	static __typeof__(&bcl_carrier_open) call;

	if (carriers_fail)
		return BCL_ERR_NOMEM;
	if (!call)
		*(void **)&call = dlsym(RTLD_NEXT, "bcl_carrier_open");
	return call(options, carrier);
}

/* All members leave the group and freeze the group anew, with the same first
 * member. */
static void freeze_again(void)
{
	int i, joined = 0;

	pvm_lvgroup(group);
	meet();
	if (self)
		pvm_recv(tids[0], WORK);
	joined = pvm_joingroup(group);
	pvm_initsend(PvmDataRaw);
	if (!self)
		pvm_mcast(tids + 1, tasks - 1, WORK);
	meet();
	pvm_freezegroup(group, tasks);
	self = joined;
	for (i = 0; i < tasks; i++)
		tids[i] = pvm_gettid(group, i);
}

/* Operations work again in new groups of the same name. */
static void frozen_again(void)
{
	for (int i = 0; i < AGAIN; i++) {
		freeze_again();
		sums(1);
		blocks(3);
	}
}

static bool starves;
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);

#pragma GCC visibility push(default)
void *malloc(size_t n)
{
	return starves ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return starves ? NULL : __libc_calloc(n, size);
}
#pragma GCC visibility pop

/* The last member has no memory for the messages of an operation. */
static void starved(void)
{
	int value = self, result;

	starves = self == tasks - 1;
	result = pvm_reduce(PvmSum, &value, 1, PVM_INT, WORK, group, 0);
	starves = false;
	/* a member that waits for the last, directly or not, gets the error */
	say("had no memory", result == PvmNoMem);
	freeze_again();
	starves = self == tasks - 1;
	result = pvm_barrier(group, tasks);
	starves = false;
	say("had no memory", result == PvmNoMem);
	say("had nobody to wait for", result == PvmNoGroup);
	/* the last member cannot set up the group: no member uses BCL then */
	carriers_fail = self == tasks - 1;
	freeze_again();
	sums(1);
	blocks(3);
}

static int set_up(int argc, char **argv)
{
	int set[3] = { argc > 1 ? atoi(argv[1]) : 0,
		       argc > 2 && !strcmp(argv[2], "mixed"),
		       argc > 2 && !strcmp(argv[2], "starved") };
	int started, place;
	char name[] = "groups", unset[] = "-u", preload[] = "LD_PRELOAD";
	char *bare[] = { unset, preload, argv[0], NULL };

	tids[0] = pvm_mytid();
	if (pvm_parent() >= 0) {
		pvm_recv(pvm_parent(), SET_UP);
		pvm_upkint(set, 3, 1);
		pvm_upkint(tids, set[0], 1);
	} else {
		if (set[0] < 2 || set[0] > TASKS_MAX)
			return 0;
		place = set[0] - 1 - set[1];
		started = pvm_spawn(name, NULL, 0, NULL, place, tids + 1);
		if (set[1])
			started += pvm_spawn("/usr/bin/env", bare, 0, NULL, 1,
					     tids + 1 + place);
		if (started != set[0] - 1)
			return 0;
		pvm_initsend(PvmDataDefault);
		pvm_pkint(set, 3, 1);
		pvm_pkint(tids, set[0], 1);
		pvm_mcast(tids + 1, set[0] - 1, SET_UP);
	}
	tasks = set[0];
	starving = set[2];
	return 1;
}

/* The parent joins first, becomes the first member and prints. */
static void form(int parent)
{
	if (parent >= 0)
		pvm_recv(parent, WORK);
	self = pvm_joingroup(group);
	if (parent < 0) {
		pvm_initsend(PvmDataRaw);
		pvm_mcast(tids + 1, tasks - 1, WORK);
	}
	pvm_freezegroup(group, tasks);
	/* from now on in order of instances */
	for (int i = 0; i < tasks; i++)
		tids[i] = pvm_gettid(group, i);
}

int main(int argc, char **argv)
{
	if (pvm_mytid() < 0 || !set_up(argc, argv)) {
		fprintf(stderr, "groups: no tasks\n");
		pvm_exit();
		return 2;
	}
	form(pvm_parent());
	if (starving) {
		starved();
		pvm_exit();
		return 0;
	}
	barriers();
	sums(1);
	sums(LONG);
	two_tags();
	blocks(3);
	blocks(LONG);
	broadcasts();
	chain();
	wrong_ones();
	frozen_again();
	death();
	pvm_exit();
	return 0;
}
