/* SPDX-License-Identifier: MIT */
/*
 * pvm_pmcast() sends buffers of several lengths to tasks of all kinds, amid
 * ordinary messages. Prints the reports of the tasks.
 *
 *	multicast plain|bare|dies|loads [HOST]...
 *
 * starts the tasks, on the hosts in turn. `bare`: every second task has no
 * glue. `dies`: the first task dies in the middle. `loads`: the tasks get LOADS
 * more buffers.
 */
#include <bcl_pvm.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	OTHERS = 6,
	ROUNDS = 40,
	LOADS = 40,
	LOAD = 65536, /* integers */
	TWICE = 9,    /* in this round each task gets two messages */

	ALL = 1 + 2 * OTHERS,

	DATA = 1, /* tags */
	REPORT,
};

static const int lengths[] = { 0, 1, 1000, 5000, 65536, 300000 };

enum {
	LENGTHS = sizeof(lengths) / sizeof(*lengths),
	LONGEST = 300000,
};

/* tids: this task, the started tasks, and the started tasks once more. */
static int data[LONGEST], tids[ALL];

/* Fill in a round's message: the integers count up from the number of the
 * round. Returns the length in integers. */
static int fill(int round)
{
	int length = lengths[round % LENGTHS];

	for (int i = 0; i < length; i++)
		data[i] = round + i;
	return length;
}

static int wrong(int round, int length)
{
	int i;

	for (i = 0; i < length && data[i] == round + i; i++)
		;
	return i < length || length != lengths[round % LENGTHS];
}

static void pause_ms(int ms)
{
	const struct timespec time = { 0, ms * 1000000 };

	nanosleep(&time, NULL);
}

/* Receive a round's message by one of two calls. Returns whether the message is
 * wrong. */
static int receive(int parent, int round)
{
	int bytes, number;

	if (round % 3) {
		memset(data, 0, sizeof(data));
		pvm_precv(parent, DATA, data, LONGEST, PVM_INT, NULL, NULL,
			  &bytes);
	} else {
		pvm_bufinfo(pvm_recv(parent, DATA), &bytes, NULL, NULL);
		pvm_upkint(data, bytes / (int)sizeof(int), 1);
	}
	number = bytes / (int)sizeof(int);
	return wrong(round, number);
}

static int is_next(int parent, int round)
{
	int number = -1;

	pvm_recv(parent, DATA);
	pvm_upkint(&number, 1, 1);
	return number == round;
}

static int receive_loads(int parent)
{
	int bad = 0, length;

	for (int i = 0; i < LOADS; i++) {
		pvm_precv(parent, DATA, data, LONGEST, PVM_INT, NULL, NULL,
			  &length);
		bad += length != LOAD * (int)sizeof(int) || data[0] != i ||
		       data[LOAD - 1] != i;
	}
	return bad;
}

static void serve(int parent, const char *mode)
{
	int bad = 0;

	for (int round = 0; round < ROUNDS; round++) {
		if (round == TWICE)
			bad += receive(parent, round);
		if (round == ROUNDS / 2 && !strcmp(mode, "mortal"))
			raise(SIGKILL);
		/* some tasks come late, and the rest wait */
		if (round == ROUNDS / 2 && pvm_mytid() % 4 == 0)
			pause_ms(200);
		bad += receive(parent, round);
		bad += !is_next(parent, round);
	}
	if (!strcmp(mode, "loads"))
		bad += receive_loads(parent);
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&bad, 1, 1);
	pvm_send(parent, REPORT);
}

static void send_loads(void)
{
	for (int i = 0; i < LOADS; i++) {
		data[0] = data[LOAD - 1] = i;
		pvm_pmcast(tids, OTHERS + 1, DATA, data, LOAD, PVM_INT);
	}
}

static void lead(const char *mode)
{
	int i, bad, result = 0;

	for (int round = 0; round < ROUNDS; round++) {
		result |= pvm_pmcast(tids, round == TWICE ? ALL : OTHERS + 1,
				     DATA, data, fill(round), PVM_INT);
		memset(data, 0x55, sizeof(data));
		pvm_initsend(PvmDataDefault);
		pvm_pkint(&round, 1, 1);
		pvm_mcast(tids, OTHERS + 1, DATA);
		/* time for the tasks to learn of one another's glue */
		pause_ms(5);
	}
	if (!strcmp(mode, "loads"))
		send_loads();
	printf("pmcast: %d\n", result);
	for (i = 1 + !strcmp(mode, "dies"); i <= OTHERS; i++) {
		pvm_recv(tids[i], REPORT);
		pvm_upkint(&bad, 1, 1);
		printf("of %d rounds bad: %d\n", ROUNDS, bad);
	}
	printf("to myself: %d\n", pvm_nrecv(-1, -1));
	printf("to nobody: %d\n", pvm_pmcast(tids, 0, DATA, data, 1, PVM_BYTE));
	printf("to no task: %d\n",
	       pvm_pmcast(&(int){ -5 }, 1, DATA, data, 1, PVM_BYTE));
	printf("of no type: %d\n", pvm_pmcast(tids + 1, 1, DATA, data, 1, 99));
}

static char *role_of(int i, const char *mode)
{
	static char bare[] = "unglued", mortal[] = "mortal", loads[] = "loads",
		    plain[] = "plain";

	if (!strcmp(mode, "bare") && i % 2)
		return bare;
	if (!strcmp(mode, "dies") && i == 1)
		return mortal;
	return strcmp(mode, "loads") ? plain : loads;
}

static int start(const char *mode, int nhosts, char **hosts)
{
	char name[] = "multicast";

	tids[0] = pvm_mytid();
	for (int i = 1; i <= OTHERS; i++) {
		char *role[] = { role_of(i, mode), NULL };

		if (pvm_spawn(name, role, nhosts ? PvmTaskHost : PvmTaskDefault,
			      nhosts ? hosts[i % nhosts] : NULL, 1,
			      &tids[i]) != 1)
			return 0;
		tids[OTHERS + i] = tids[i];
	}
	return 1;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	/* this task is to have no glue: start again without the library */
	if (!strcmp(argv[1], "unglued") && getenv("LD_PRELOAD")) {
		unsetenv("LD_PRELOAD");
		execv("/proc/self/exe", argv);
	}
	if (pvm_mytid() < 0 || (getenv("LD_PRELOAD") && !bcl_pvm_pmcast))
		return 2;
	if (pvm_parent() >= 0)
		serve(pvm_parent(), argv[1]);
	else if (start(argv[1], argc - 2, argv + 2))
		lead(argv[1]);
	pvm_exit();
	return 0;
}
