/* SPDX-License-Identifier: MIT */
/*
 * Groups of one name before and after the console's `reset`. The command ends
 * the members and the group server, but spares a task that has set PvmNoReset,
 * as the first task has. The first task starts the members and prints their
 * reports.
 */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MEMBERS = 4,
	RESULT = 1, /* tags */
	END,
};

static char name[] = "reset";
static int tids[MEMBERS];

static int sum(void)
{
	int value = 1;

	pvm_reduce(PvmSum, &value, 1, PVM_INT, 7, name, 0);
	return value;
}

/* Member 0 reports the calls' results; then each member waits for the end. */
static void take_part(int parent)
{
	int seen[4];

	seen[0] = pvm_joingroup(name);
	seen[1] = pvm_freezegroup(name, MEMBERS);
	seen[2] = pvm_barrier(name, MEMBERS);
	seen[3] = sum();
	if (!seen[0]) {
		pvm_initsend(PvmDataRaw);
		pvm_pkint(seen, 4, 1);
		pvm_send(parent, RESULT);
	}
	pvm_recv(parent, END);
	pvm_exit();
}

static void see_group(const char *when)
{
	int seen[4] = { -1, -1, -1, -1 };

	if (pvm_spawn(name, NULL, PvmTaskDefault, NULL, MEMBERS, tids) !=
	    MEMBERS)
		exit(2);
	pvm_recv(-1, RESULT);
	pvm_upkint(seen, 4, 1);
	printf("%s: joined %d, frozen %d, crossed %d, sum %d\n", when, seen[0],
	       seen[1], seen[2], seen[3]);
}

static int members_left(void)
{
	struct pvmtaskinfo *tasks;
	int n, i, left = 0;

	pvm_tasks(0, &n, &tasks);
	for (i = 0; i < n; i++)
		left += !strcmp(tasks[i].ti_a_out, name);
	return left;
}

int main(void)
{
	if (pvm_mytid() < 0)
		return 2;
	if (pvm_parent() >= 0) {
		take_part(pvm_parent());
		return 0;
	}
	pvm_setopt(PvmNoReset, 1);
	see_group("before");
	printf("reset: %d\n",
	       system("printf 'reset\nquit\n' | env -u LD_PRELOAD pvm "
		      ">/dev/null 2>&1"));
	while (members_left())
		;
	see_group("after");
	pvm_initsend(PvmDataRaw);
	pvm_mcast(tids, MEMBERS, END);
	while (members_left())
		;
	pvm_exit();
	return 0;
}
