/* SPDX-License-Identifier: MIT */
/*
 * A task whose notes are from another version of the glue: prints whether
 * messages come nevertheless, in both directions.
 */
#include <pvm3.h>
#include <stdio.h>

enum {
	TIMES = 1000,
	PLAIN = 1,		/* tags */
	NOTE = 0x62636c01,	/* tag of the glue's notes */
	TASK_CONTEXT = 0x7ffff, /* context of the glue's notes */
};

static void send_number(int to, int number)
{
	pvm_initsend(PvmDataRaw);
	pvm_pkint(&number, 1, 1);
	pvm_send(to, PLAIN);
}

static int receive_number(int from)
{
	int number = -1;

	pvm_recv(from, PLAIN);
	pvm_upkint(&number, 1, 1);
	return number;
}

/* Send a note shorter than the notes of this version. */
static void send_strange_note(int to)
{
	int note[] = { 99, 0, 0, 0 }, before;

	pvm_initsend(PvmDataRaw);
	pvm_pkint(note, 4, 1);
	before = pvm_setcontext(TASK_CONTEXT);
	pvm_send(to, NOTE);
	pvm_setcontext(before);
}

int main(int argc, char **argv)
{
	char unset[] = "-u", preload[] = "LD_PRELOAD";
	char *bare[] = { unset, preload, argv[0], NULL };
	int parent = (pvm_mytid(), pvm_parent()), other, bad = 0;

	(void)argc;
	if (parent >= 0) {
		send_strange_note(parent);
		for (int i = 0; i < TIMES; i++)
			send_number(parent, receive_number(parent) + 1);
		pvm_exit();
		return 0;
	}
	if (pvm_spawn("/usr/bin/env", bare, 0, NULL, 1, &other) != 1) {
		fprintf(stderr, "strangers: no other task\n");
		return 2;
	}
	for (int i = 0; i < TIMES; i++) {
		send_number(other, i);
		bad += receive_number(other) != i + 1;
	}
	printf("wrong answers: %d\n", bad);
	pvm_exit();
	return bad != 0;
}
