/* SPDX-License-Identifier: MIT */
/*
 * The virtual machine loses a host and gets the host back, while tasks talk:
 * prints the view of a task.
 *
 *	hosts HOST
 */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/pvm/number.h"

enum {
	LIVES = 2, /* of the host */

	ECHO = 1, /* tags */
	LAST,
	DIED,
	DELETED,
	ADDED,
};

static void serve(int parent)
{
	int tag, number;

	for (;;) {
		pvm_bufinfo(pvm_recv(parent, -1), NULL, &tag, NULL);
		if (tag == LAST)
			return;
		pvm_upkint(&number, 1, 1);
		send_number(parent, ECHO, number);
	}
}

static int start(char *host)
{
	char name[] = "hosts";
	int tid = -1;

	if (pvm_spawn(name, NULL, PvmTaskHost, host, 1, &tid) != 1) {
		fprintf(stderr, "hosts: no task on %s\n", host);
		exit(2);
	}
	return tid;
}

/* Exchange messages until the way of messages is settled. Returns the number of
 * wrong answers. */
static int talk(int tid)
{
	const struct timespec pause = { 0, 1000000 };
	int bad = 0;

	for (int i = 0; i < 300; i++) {
		send_number(tid, ECHO, i);
		bad += receive_number(tid, ECHO) != i;
		nanosleep(&pause, NULL);
	}
	return bad;
}

/* Talk with a task on this host until a message with the tag has come. */
static void talk_until(int near, int tag)
{
	while (pvm_nrecv(-1, tag) <= 0) {
		send_number(near, ECHO, 0);
		receive_number(near, ECHO);
	}
}

static void live(int life, int near, char *host)
{
	int far = start(host), daemon = pvm_tidtohost(far), info = 0;
	int gone, back;

	printf("life %d: wrong answers: %d there", life, talk(far));
	printf(", %d here\n", talk(near));
	pvm_notify(PvmTaskExit, DIED, 1, &far);
	pvm_notify(PvmHostDelete, DELETED, 1, &daemon);
	gone = pvm_delhosts(&host, 1, &info);
	talk_until(near, DIED);
	talk_until(near, DELETED);
	printf("deleted: %d, %d; wrong answers here: %d\n", gone, info,
	       talk(near));
	pvm_notify(PvmHostAdd, ADDED, -1, NULL);
	back = pvm_addhosts(&host, 1, &info);
	talk_until(near, ADDED);
	printf("added: %d, task: %d\n", back, info > 0);
}

int main(int argc, char **argv)
{
	char here[] = ".";
	int near;

	if (pvm_mytid() < 0)
		return 2;
	if (pvm_parent() >= 0) {
		serve(pvm_parent());
	} else if (argc > 1) {
		near = start(here);
		for (int life = 1; life <= LIVES; life++)
			live(life, near, argv[1]);
		send_number(near, LAST, 0);
	}
	pvm_exit();
	return 0;
}
