/* SPDX-License-Identifier: MIT */
/*
 * Tasks send messages to one another at random, by each call of PVM, and check
 * the received messages: each comes once, in order per sender, with the right
 * data.
 *
 *	traffic TASKS ROUNDS [flip]
 *
 * With `flip` the tasks change their route at random, too. Another number of
 * rounds gives different traffic.
 */
#include <byteswap.h>
#include <pvm3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	TASKS_MAX = 64,
	LONG = 100000, /* integers */
	SHORT = 600,

	SET_UP = 1, /* tags */
	GREET,
	WORK,
	COUNT,
	REPORT,
};

/* The beginning of each message of WORK. */
struct head {
	int one; /* 1; pvm_precv() does not convert the byte order */
	int from;
	int length;
	int number[TASKS_MAX]; /* for each receiver, from 1 on; 0: none */
};

static int tasks, rounds, flip, self;
static int tids[TASKS_MAX], sent[TASKS_MAX], got[TASKS_MAX], bad;
static uint64_t state;
static int data[LONG];

static unsigned pick(unsigned below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % below;
}

static void complain(const char *what, const struct head *head)
{
	bad++;
	fprintf(stderr, "%d: %s of message %d from %d, %d before it\n", self,
		what, head->number[self], head->from, got[head->from]);
}

enum {
	HEAD = sizeof(struct head) / sizeof(int),
};

static void check_message(const struct head *head, const int *its_data)
{
	int i;

	if (head->number[self] != got[head->from] + 1)
		complain("order", head);
	got[head->from] = head->number[self];
	for (i = 0; i < head->length && its_data[i] == head->length + i; i++)
		;
	if (i < head->length)
		complain("data", head);
}

/* Check the received message. */
static void check(void)
{
	struct head head;

	pvm_upkint((int *)&head, HEAD, 1);
	pvm_upkint(data, head.length, 1);
	check_message(&head, data);
}

/* Receive a message into a buffer, and check the message. */
static void check_buffer(int tid)
{
	static int all[HEAD + LONG];
	int i, length, swapped;

	pvm_precv(tid, WORK, all, HEAD + LONG, PVM_INT, NULL, NULL, &length);
	swapped = all[0] != 1;
	for (i = 0; swapped && i < length / (int)sizeof(int); i++)
		all[i] = (int)bswap_32((unsigned)all[i]);
	check_message((struct head *)all, all + HEAD);
}

/* Send a message from a buffer. */
static void psend(int to, const struct head *head)
{
	static int all[HEAD + LONG];

	memcpy(all, head, sizeof(*head));
	memcpy(all + HEAD, data, (size_t)head->length * sizeof(int));
	pvm_psend(tids[to], WORK, all, HEAD + head->length, PVM_INT);
}

static void fill(struct head *head)
{
	head->one = 1;
	head->from = self;
	head->length = (int)pick(pick(4) ? SHORT : LONG);
	for (int i = 0; i < head->length; i++)
		data[i] = head->length + i;
}

static void pack(const struct head *head)
{
	static const int encodings[] = { PvmDataDefault, PvmDataRaw,
					 PvmDataInPlace };
	/* PvmDataInPlace needs the message to stay where it is */
	static struct head copy;

	copy = *head;
	pvm_initsend(encodings[pick(3)]);
	pvm_pkint((int *)&copy, HEAD, 1);
	pvm_pkint(data, head->length, 1);
}

static void send_one(void)
{
	struct head head = { 0 };
	int to;

	do
		to = (int)pick((unsigned)tasks);
	while (to == self);
	head.number[to] = ++sent[to];
	fill(&head);
	if (!pick(4)) {
		psend(to, &head);
		return;
	}
	pack(&head);
	pvm_send(tids[to], WORK);
}

static void send_many(void)
{
	struct head head = { 0 };
	int receivers[TASKS_MAX], n = 0, i;

	for (i = 0; i < tasks; i++) {
		if (i == self || pick(2))
			continue;
		head.number[i] = ++sent[i];
		receivers[n++] = tids[i];
	}
	fill(&head);
	pack(&head);
	if (n)
		pvm_mcast(receivers, n, WORK);
}

static void change_route(void)
{
	static const int routes[] = { PvmDontRoute, PvmAllowDirect,
				      PvmRouteDirect };

	pvm_setopt(PvmRoute, routes[pick(3)]);
}

/* All tasks meet, and go on together. */
static void greet(void)
{
	enum {
		TIMES = 200
	};
	const struct timespec pause = { 0, 2000000 };
	int times, i;

	for (times = 0; times < TIMES; times++) {
		pvm_initsend(PvmDataRaw);
		for (i = 0; i < tasks; i++) {
			if (i != self)
				pvm_send(tids[i], GREET);
		}
		for (i = 0; i < tasks; i++) {
			if (i != self)
				pvm_recv(tids[i], GREET);
		}
		nanosleep(&pause, NULL);
	}
}

static void work(void)
{
	for (int round = 0; round < rounds; round++) {
		if (flip && !pick(20))
			change_route();
		if (pick(5))
			send_one();
		else
			send_many();
		while (pick(3) && pvm_nrecv(-1, WORK) > 0)
			check();
		if (!pick(5) && pvm_probe(-1, WORK) > 0)
			check_buffer(-1);
	}
}

static void finish(void)
{
	int i, from, count, due[TASKS_MAX] = { 0 };

	for (i = 0; i < tasks; i++) {
		if (i == self)
			continue;
		pvm_initsend(PvmDataDefault);
		pvm_pkint(&self, 1, 1);
		pvm_pkint(&sent[i], 1, 1);
		pvm_send(tids[i], COUNT);
	}
	for (i = 1; i < tasks; i++) {
		pvm_recv(-1, COUNT);
		pvm_upkint(&from, 1, 1);
		pvm_upkint(&count, 1, 1);
		due[from] = count;
	}
	for (i = 0; i < tasks; i++) {
		while (got[i] < due[i]) {
			if (pick(2)) {
				check_buffer(tids[i]);
				continue;
			}
			pvm_recv(tids[i], WORK);
			check();
		}
	}
	if (pvm_nrecv(-1, WORK) > 0)
		bad++;
}

static int report(void)
{
	int i, theirs;

	if (self) {
		pvm_initsend(PvmDataDefault);
		pvm_pkint(&bad, 1, 1);
		pvm_send(tids[0], REPORT);
		return bad;
	}
	for (i = 1; i < tasks; i++) {
		pvm_recv(-1, REPORT);
		pvm_upkint(&theirs, 1, 1);
		bad += theirs;
	}
	printf("%d tasks, %d rounds: %d bad\n", tasks, rounds, bad);
	return bad;
}

static int set_up(int argc, char **argv)
{
	int set[3] = { argc > 1 ? atoi(argv[1]) : 0,
		       argc > 2 ? atoi(argv[2]) : 0, argc > 3 };
	int started;

	tids[0] = pvm_mytid();
	if (pvm_parent() >= 0) {
		pvm_recv(pvm_parent(), SET_UP);
		pvm_upkint(set, 3, 1);
		pvm_upkint(tids, set[0], 1);
	} else {
		if (set[0] < 2 || set[0] > TASKS_MAX)
			return 0;
		started = pvm_spawn("traffic", NULL, PvmTaskDefault, NULL,
				    set[0] - 1, tids + 1);
		if (started != set[0] - 1)
			return 0;
		pvm_initsend(PvmDataDefault);
		pvm_pkint(set, 3, 1);
		pvm_pkint(tids, set[0], 1);
		pvm_mcast(tids + 1, set[0] - 1, SET_UP);
	}
	tasks = set[0];
	rounds = set[1];
	flip = set[2];
	return 1;
}

int main(int argc, char **argv)
{
	int me = pvm_mytid(), failed;

	if (me < 0 || !set_up(argc, argv)) {
		fprintf(stderr, "traffic: no tasks\n");
		pvm_exit();
		return 2;
	}
	while (tids[self] != me)
		self++;
	state = (uint64_t)self + 1 + (uint64_t)TASKS_MAX * (unsigned)rounds;
	greet();
	work();
	finish();
	failed = report();
	pvm_exit();
	return failed != 0;
}
