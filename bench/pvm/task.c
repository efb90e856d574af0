/* SPDX-License-Identifier: MIT */
/*
 * A task that measures a PVM. bench/pvm-compare starts the first task:
 *
 *	task ROUTE TASKS HOST|- TEST...
 *
 * The first task starts the other TASKS - 1 tasks, on HOST or, with -, on the
 * local host. It prints lines of test, bytes, value and unit. ROUTE is `daemon`
 * (the default of PVM) or `direct`. With the glue the route makes no
 * difference.
 */
#include <pvm3.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	TASKS_MAX = 64,
	LONGEST = 1 << 20, /* bytes of a message */
	WINDOW = 16,	   /* messages in flight */
	SHORT = 8,	   /* bytes of a short message */

	SET_UP = 1, /* tags */
	BATCH,
	DATA,
	ANSWER,
};

/*
 * Least time of a batch, in s. In the first hundredths of a second the
 * scheduler still spreads the tasks over the processors.
 */
static const double ENOUGH = 0.1;

/* The description of the job, which the first task sends to all tasks. */
struct job {
	int tasks;
	int bound; /* each task has a processor */
	int direct;
	int tids[TASKS_MAX];
};

static struct job job;
static int rank, partner;
static char buffer[LONGEST], all[TASKS_MAX * SHORT];
static char group[32];

/* ---- batches: the same thing n times ------------------------------------ */

static void send_packed(int bytes, int tag)
{
	pvm_initsend(PvmDataRaw);
	pvm_pkbyte(buffer, bytes, 1);
	pvm_send(partner, tag);
}

static void receive_packed(int bytes, int tag)
{
	pvm_recv(partner, tag);
	pvm_upkbyte(buffer, bytes, 1);
}

static void to_oneself(int n, int bytes)
{
	for (; n && rank == 0; n--) {
		pvm_initsend(PvmDataRaw);
		pvm_pkbyte(buffer, bytes, 1);
		pvm_send(job.tids[0], DATA);
		pvm_recv(job.tids[0], DATA);
		pvm_upkbyte(buffer, bytes, 1);
	}
}

static void exchange(int n, int bytes)
{
	for (; n; n--) {
		if (rank == 0)
			send_packed(bytes, DATA);
		receive_packed(bytes, DATA);
		if (rank)
			send_packed(bytes, DATA);
	}
}

static void psend(int bytes, int tag)
{
	pvm_psend(partner, tag, buffer, bytes, PVM_BYTE);
}

static void precv(int bytes, int tag)
{
	int tid, their_tag, length;

	pvm_precv(partner, tag, buffer, bytes, PVM_BYTE, &tid, &their_tag,
		  &length);
}

static void exchange_buffers(int n, int bytes)
{
	for (; n; n--) {
		if (rank == 0)
			psend(bytes, DATA);
		precv(bytes, DATA);
		if (rank)
			psend(bytes, DATA);
	}
}

/* Sends windows of messages one way. A short message answers each window. */
static void stream(int n, int bytes)
{
	for (; n; n--) {
		for (int i = 0; i < WINDOW; i++) {
			if (rank == 0)
				send_packed(bytes, DATA);
			else
				receive_packed(bytes, DATA);
		}
		if (rank == 0)
			receive_packed(1, ANSWER);
		else
			send_packed(1, ANSWER);
	}
}

static void stream_buffers(int n, int bytes)
{
	for (; n; n--) {
		for (int i = 0; i < WINDOW; i++) {
			if (rank == 0)
				psend(bytes, DATA);
			else
				precv(bytes, DATA);
		}
		if (rank == 0)
			receive_packed(1, ANSWER);
		else
			send_packed(1, ANSWER);
	}
}

static void barrier(int n, int bytes)
{
	(void)bytes;
	for (; n; n--)
		pvm_barrier(group, job.tasks);
}

/* Each broadcast has another root, so that no task runs ahead. */
static void broadcast(int n, int bytes)
{
	for (; n; n--) {
		int root = n % job.tasks;

		if (root == rank) {
			pvm_initsend(PvmDataRaw);
			pvm_pkbyte(buffer, bytes, 1);
			pvm_bcast(group, DATA);
		} else {
			pvm_recv(job.tids[root], DATA);
			pvm_upkbyte(buffer, bytes, 1);
		}
	}
}

static void reduce(int n, int bytes)
{
	for (; n; n--)
		pvm_reduce(PvmMax, buffer, bytes / (int)sizeof(double),
			   PVM_DOUBLE, DATA, group, n % job.tasks);
}

static void gather(int n, int bytes)
{
	for (; n; n--)
		pvm_gather(all, buffer, bytes, PVM_BYTE, DATA, group,
			   n % job.tasks);
}

static void scatter(int n, int bytes)
{
	for (; n; n--)
		pvm_scatter(buffer, all, bytes, PVM_BYTE, DATA, group,
			    n % job.tasks);
}

/* ---- tests ---- */

enum figure {
	HALF_TRIP, /* us */
	WHOLE,	   /* us */
	RATE,	   /* GB/s of windows */
};

static const struct test {
	const char *name;
	void (*batch)(int n, int bytes);
	enum figure figure;
	int grouped;
	int lengths[4]; /* bytes, until 0 */
} tests[] = {
	{ "self", to_oneself, WHOLE, 0, { SHORT } },
	{ "packed", exchange, HALF_TRIP, 0, { SHORT, 1024, 4096 } },
	{ "psend", exchange_buffers, HALF_TRIP, 0, { SHORT, 1024, 65536 } },
	{ "packed-rate", stream, RATE, 0, { 65536, 1 << 20 } },
	{ "psend-rate", stream_buffers, RATE, 0, { 65536, 1 << 20 } },
	{ "barrier", barrier, WHOLE, 1, { SHORT } },
	{ "bcast", broadcast, WHOLE, 1, { SHORT } },
	{ "reduce", reduce, WHOLE, 1, { SHORT } },
	{ "gather", gather, WHOLE, 1, { SHORT } },
	{ "scatter", scatter, WHOLE, 1, { SHORT } },
};

static double time_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int pack_batch(int test, int n, int bytes)
{
	int batch[3] = { test, n, bytes };

	pvm_initsend(PvmDataRaw);
	return pvm_pkint(batch, 3, 1);
}

/* Task 0: runs a batch of n with all tasks. Returns the seconds. */
static double time_batch(int test, int n, int bytes)
{
	double start;
	int i;

	pack_batch(test, n, bytes);
	pvm_mcast(job.tids + 1, job.tasks - 1, BATCH);
	for (i = 1; i < job.tasks; i++)
		pvm_recv(-1, ANSWER);
	start = time_now();
	tests[test].batch(n, bytes);
	return time_now() - start;
}

/* Returns the seconds of one operation. */
static double time_operation(int test, int bytes)
{
	double taken;
	int n = 8;

	time_batch(test, n, bytes);
	for (;;) {
		taken = time_batch(test, n, bytes);
		if (taken >= ENOUGH)
			return taken / n;
		n = taken > ENOUGH / 64 ? (int)(1.2 * n * ENOUGH / taken) + 1
					: 32 * n;
	}
}

static void print_test(int test, int bytes)
{
	double taken = time_operation(test, bytes);

	switch (tests[test].figure) {
	case HALF_TRIP:
		printf("%s %d %.6g us\n", tests[test].name, bytes,
		       taken / 2 * 1e6);
		break;
	case WHOLE:
		printf("%s %d %.6g us\n", tests[test].name, bytes, taken * 1e6);
		break;
	case RATE:
		printf("%s %d %.6g GB/s\n", tests[test].name, bytes,
		       1e-9 * WINDOW * bytes / taken);
		break;
	}
}

/* ---- the job ---- */

enum {
	TESTS = sizeof(tests) / sizeof(*tests),
	LAST = -1, /* in place of a test's number */
	GROUP = -2,
};

/* The name is new for each job: PVM's group server may still have the group of
 * an earlier job. */
static void form_group(void)
{
	snprintf(group, sizeof(group), "compare-%x", (unsigned)job.tids[0]);
	pvm_joingroup(group);
	pvm_freezegroup(group, job.tasks);
}

static void serve_batches(void)
{
	int batch[3];

	for (;;) {
		pvm_recv(job.tids[0], BATCH);
		pvm_upkint(batch, 3, 1);
		pvm_initsend(PvmDataRaw);
		pvm_send(job.tids[0], ANSWER);
		if (batch[0] == LAST)
			return;
		if (batch[0] == GROUP)
			form_group();
		else
			tests[batch[0]].batch(batch[1], batch[2]);
	}
}

static void tell_tasks(int what)
{
	int i;

	pack_batch(what, 0, 0);
	pvm_mcast(job.tids + 1, job.tasks - 1, BATCH);
	for (i = 1; i < job.tasks; i++)
		pvm_recv(-1, ANSWER);
}

static void run_tests(char **names, int n)
{
	const int *bytes;
	int i, test, grouped = 0;

	for (i = 0; i < n; i++) {
		for (test = 0; test < TESTS; test++) {
			if (strcmp(names[i], tests[test].name))
				continue;
			if (tests[test].grouped && !grouped++) {
				tell_tasks(GROUP);
				form_group();
			}
			for (bytes = tests[test].lengths; *bytes; bytes++)
				print_test(test, *bytes);
		}
	}
	tell_tasks(LAST);
}

static void bind_to_processor(void)
{
	cpu_set_t set;

	if (!job.bound)
		return;
	CPU_ZERO(&set);
	CPU_SET(rank, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int begin_job(int argc, char **argv)
{
	int parent = pvm_parent(), started;
	char here[] = ".";

	if (parent >= 0) {
		pvm_recv(parent, SET_UP);
		pvm_upkbyte((char *)&job, sizeof(job), 1);
		return 1;
	}
	if (argc < 5 || atoi(argv[2]) > TASKS_MAX)
		return 0;
	job.tasks = atoi(argv[2]);
	job.direct = !strcmp(argv[1], "direct");
	job.tids[0] = pvm_mytid();
	job.bound = job.tasks <= sysconf(_SC_NPROCESSORS_ONLN);
	started = pvm_spawn(argv[0], NULL, PvmTaskHost,
			    strcmp(argv[3], "-") ? argv[3] : here,
			    job.tasks - 1, job.tids + 1);
	if (started != job.tasks - 1)
		return 0;
	pvm_initsend(PvmDataRaw);
	pvm_pkbyte((char *)&job, sizeof(job), 1);
	pvm_mcast(job.tids + 1, job.tasks - 1, SET_UP);
	return 1;
}

int main(int argc, char **argv)
{
	int me = pvm_mytid();

	if (!begin_job(argc, argv)) {
		fprintf(stderr, "task: no tasks\n");
		pvm_exit();
		return 2;
	}
	while (job.tids[rank] != me)
		rank++;
	partner = job.tids[!rank];
	bind_to_processor();
	if (job.direct)
		pvm_setopt(PvmRoute, PvmRouteDirect);
	if (rank)
		serve_batches();
	else
		run_tests(argv + 4, argc - 4);
	pvm_exit();
	return 0;
}
