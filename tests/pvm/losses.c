/* SPDX-License-Identifier: MIT */
/*
 * Tasks die, vanish or do not receive. Prints the messages that a task gets and
 * misses.
 *
 *	losses killed [HOST]	tasks on HOST die while they send
 *	losses unread [HOST]	a task on HOST dies before this task receives
 *				its messages
 *	losses asleep		a task receives nothing for long; a task waits
 *				for long
 *	losses gone HOST	the link of HOST is cut
 */
#include <pvm3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/pvm/number.h"

enum {
	ECHO = 1, /* tags of orders from the first task: */
	STREAM,	  /* send long messages for ever */
	CUT,	  /* take the task's host off the network */
	SLEEP,	  /* until a signal, then receive COUNT messages */
	IGNORED,
	LATE,	    /* as ECHO, after a while */
	LAST_WORDS, /* send by every call, then die */
	LAST,
	WORK, /* a long message: each byte is the number */
	RESULT,
	DIED,
};

enum {
	LONG = 1 << 20, /* bytes */
	ROUNDS = 8,
	WORDS = 6,	     /* long messages of a dying task */
	COUNT = 96,	     /* long messages for a sleeping task */
	SHORT_MAX = 20000,   /* short messages: more than fit in a ring */
	A_WHILE = 500,	     /* ms */
	TURNS_MAX = 5000,    /* fewer yields than in A_WHILE awake */
	KEPT_MAX = 40 << 10, /* kB that the sender of long messages may keep */
};

static char bytes[LONG], here[] = ".";

static void say(const char *what, int result)
{
	printf("%s: %d\n", what, result);
	fflush(stdout);
}

static void send_long(int to, int number)
{
	memset(bytes, number, LONG);
	pvm_psend(to, WORK, bytes, LONG, PVM_BYTE);
}

static void pack_long(int number)
{
	memset(bytes, number, LONG);
	pvm_initsend(number % 2 ? PvmDataInPlace : PvmDataRaw);
	pvm_pkbyte(bytes, LONG, 1);
}

/* Send long messages by each call. The parent receives them only after the
 * death of this task. */
static void say_last_words(int parent)
{
	for (int i = 0; i < WORDS; i++) {
		if (i % 3 == 0) {
			send_long(parent, i);
			continue;
		}
		pack_long(i);
		if (i % 3 == 1)
			pvm_send(parent, WORK);
		else
			pvm_mcast(&parent, 1, WORK);
	}
	raise(SIGKILL);
}

/* Whether the received message is whole and has this number. */
static int is_long(int number)
{
	int length;

	pvm_bufinfo(pvm_getrbuf(), &length, NULL, NULL);
	memset(bytes, number + 1, LONG);
	pvm_upkbyte(bytes, LONG, 1);
	return length == LONG && bytes[0] == (char)number &&
	       !memcmp(bytes, bytes + 1, LONG - 1);
}

/* ---- the other tasks ---- */

static int serve(int parent)
{
	int tag, i, bad = 0;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (;;) {
		pvm_bufinfo(pvm_recv(parent, -1), NULL, &tag, NULL);
		switch (tag) {
		case ECHO:
			send_number(parent, ECHO, 0);
			break;
		case LATE:
			nanosleep(&(struct timespec){ 0, A_WHILE * 1000000 },
				  NULL);
			send_number(parent, ECHO, 0);
			break;
		case LAST_WORDS:
			send_number(parent, RESULT, getpid());
			pvm_recv(parent, ECHO);
			say_last_words(parent);
			break;
		case STREAM:
			for (i = 0;; i++)
				send_long(parent, i);
		case CUT:
			return system("ip link set eth0 down");
		case SLEEP:
			sigwait(&set, &tag);
			for (i = 0; i < COUNT; i++) {
				pvm_recv(parent, WORK);
				bad += !is_long(i);
			}
			send_number(parent, RESULT, bad);
			break;
		case LAST:
			pvm_exit();
			return 0;
		}
	}
}

static int start(char *host)
{
	char name[] = "losses";
	int tid;

	if (pvm_spawn(name, NULL, PvmTaskHost, host, 1, &tid) != 1) {
		fprintf(stderr, "losses: no task on %s\n", host);
		exit(2);
	}
	return tid;
}

static void echo(int tid)
{
	send_number(tid, ECHO, 0);
	receive_number(tid, ECHO);
}

/* Exchange messages until the way of messages is settled. */
static void talk(int tid)
{
	const struct timespec pause = { 0, 1000000 };

	for (int i = 0; i < 300; i++) {
		echo(tid);
		nanosleep(&pause, NULL);
	}
}

/* ---- cases ---- */

/* Receive messages of the victim, kill the victim after some, and receive until
 * PVM reports the death. False: a message was wrong. */
static int outlive(int victim, int messages)
{
	int i, tag, bad = 0;

	pvm_notify(PvmTaskExit, DIED, 1, &victim);
	talk(victim);
	send_number(victim, STREAM, 0);
	for (i = 0;; i++) {
		if (i == messages)
			pvm_sendsig(victim, SIGKILL);
		pvm_bufinfo(pvm_recv(-1, -1), NULL, &tag, NULL);
		if (tag == DIED)
			break;
		bad += tag != WORK || !is_long(i);
	}
	return !bad && i >= messages;
}

static void killed(char *host)
{
	int other = start(host), whole = 0;

	for (int round = 0; round < ROUNDS; round++) {
		whole += outlive(start(host), 3 + 2 * round);
		echo(other);
	}
	say("streams cut between messages", whole);
	say("more after it", pvm_nrecv(-1, -1));
	send_number(other, LAST, 0);
}

/* This task waits for the victim's death outside of the library. */
static void unread(char *host)
{
	const struct timespec pause = { 0, 1000000 };
	int victim = start(host), pid, tag, whole = 0;

	pvm_notify(PvmTaskExit, DIED, 1, &victim);
	talk(victim);
	send_number(victim, LAST_WORDS, 0);
	pid = receive_number(victim, RESULT);
	send_number(victim, ECHO, 0);
	while (!kill(pid, 0))
		nanosleep(&pause, NULL);
	for (;;) {
		pvm_bufinfo(pvm_recv(-1, -1), NULL, &tag, NULL);
		if (tag == DIED)
			break;
		whole += tag == WORK && is_long(whole);
	}
	say("of its last words came", whole);
}

/* The most memory that this process has had so far, in kB. */
static long most_kept(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long most = 0;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "VmHWM: %ld", &most);
	if (file)
		fclose(file);
	return most;
}

static int yields;

/* The program's function hides libc's, also from the glue. */
__attribute__((visibility("default"))) int sched_yield(void)
{
	yields++;
	return (int)syscall(SYS_sched_yield);
}

static void wait_long(int other)
{
	send_number(other, LATE, 0);
	yields = 0;
	receive_number(other, ECHO);
	say("slept until it came", yields < TURNS_MAX);
}

/* Send short messages until a send has yielded. The receiver may need this
 * processor. */
static void fill_ring(int other)
{
	yields = 0;
	for (int i = 0; i < SHORT_MAX && !yields; i++)
		send_number(other, IGNORED, i);
	say("gave others a turn", yields > 0);
}

static void asleep(void)
{
	int other = start(here);
	long before;

	talk(other);
	wait_long(other);
	send_number(other, SLEEP, 0);
	fill_ring(other);
	before = most_kept();
	for (int i = 0; i < COUNT; i++)
		send_long(other, i);
	say("kept too much", !before || most_kept() - before > KEPT_MAX);
	pvm_sendsig(other, SIGUSR1);
	say("wrong ones", receive_number(other, RESULT));
	send_number(other, LAST, 0);
}

/* PVM itself takes minutes to report a lost host. */
static void gone(char *host)
{
	int far = start(host), near = start(here), i;

	talk(far);
	talk(near);
	send_number(far, CUT, 0);
	for (i = 0; i < 20; i++) {
		send_long(far, i);
		echo(near);
	}
	say("others go on", 1);
	send_number(near, LAST, 0);
}

int main(int argc, char **argv)
{
	int parent = (pvm_mytid(), pvm_parent());

	if (parent >= 0)
		return serve(parent);
	if (argc > 1 && !strcmp(argv[1], "killed"))
		killed(argc > 2 ? argv[2] : here);
	else if (argc > 1 && !strcmp(argv[1], "unread"))
		unread(argc > 2 ? argv[2] : here);
	else if (argc > 1 && !strcmp(argv[1], "asleep"))
		asleep();
	else if (argc > 2 && !strcmp(argv[1], "gone"))
		gone(argv[2]);
	pvm_exit();
	return 0;
}
