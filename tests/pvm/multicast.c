/* SPDX-License-Identifier: MIT */
/*
 * pvm_pmcast() to tasks of all kinds: multicast HOST|- [bare] starts them (on
 * HOST; with `bare` every second one without the glue), sends them buffers of
 * several lengths amid other messages, and prints what they saw.
 */
#include <bcl_pvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	OTHERS = 5,
	ROUNDS = 40,

	DATA = 1, /* tags */
	REPORT,
};

static const int lengths[] = { 0, 1, 1000, 5000, 65536, 300000 };

enum {
	LENGTHS = sizeof(lengths) / sizeof(*lengths),
	LONGEST = 300000,
};

static int data[LONGEST], tids[OTHERS + 1];

/* The message of a round: each begins otherwise. */
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

/* Receives a round's message by either call; whether it is wrong. */
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

static void serve(int parent)
{
	int bad = 0;

	for (int round = 0; round < ROUNDS; round++) {
		/* one of them lets all wait */
		if (round == ROUNDS / 2 && pvm_mytid() % 4 == 0)
			pause_ms(200);
		bad += receive(parent, round);
		bad += !is_next(parent, round);
	}
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&bad, 1, 1);
	pvm_send(parent, REPORT);
}

static void lead(void)
{
	int i, bad, result = 0;

	for (int round = 0; round < ROUNDS; round++) {
		result |= pvm_pmcast(tids, OTHERS + 1, DATA, data, fill(round),
				     PVM_INT);
		memset(data, 0x55, sizeof(data));
		pvm_initsend(PvmDataDefault);
		pvm_pkint(&round, 1, 1);
		pvm_mcast(tids, OTHERS + 1, DATA);
		/* let them learn who has the glue */
		pause_ms(5);
	}
	printf("pmcast: %d\n", result);
	for (i = 1; i <= OTHERS; i++) {
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

static int start(char *host, int bare)
{
	char *bares[] = { "bare", NULL };
	int where = strcmp(host, "-") ? PvmTaskHost : PvmTaskDefault;

	tids[0] = pvm_mytid();
	for (int i = 1; i <= OTHERS; i++) {
		if (pvm_spawn("multicast", bare && i % 2 ? bares : NULL, where,
			      host, 1, &tids[i]) != 1)
			return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	/* started to be without the glue: not before it has been taken out */
	if (argc == 2 && !strcmp(argv[1], "bare") && getenv("LD_PRELOAD")) {
		unsetenv("LD_PRELOAD");
		execv("/proc/self/exe", argv);
	}
	if (pvm_mytid() < 0 || (getenv("LD_PRELOAD") && !bcl_pvm_pmcast))
		return 2;
	if (pvm_parent() >= 0)
		serve(pvm_parent());
	else if (start(argv[1], argc > 2))
		lead();
	pvm_exit();
	return 0;
}
