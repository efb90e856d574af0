/* SPDX-License-Identifier: MIT */
/*
 * Tasks leave messages in PVM's mailbox for one another: mailbox [bare] prints
 * the messages found. With `bare` the second task has no glue.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

enum {
	LONG = 20000, /* integers: more than a packet of PVM's */
	GO = 1,	      /* tags */
	DONE,
};

static int data[LONG];

static void put(const char *what, int n, int flags)
{
	char name[32];

	snprintf(name, sizeof(name), "mailbox %s", what);
	for (int i = 0; i < n; i++)
		data[i] = n + i;
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&n, 1, 1);
	pvm_pkint(data, n, 1);
	printf("put %s: %d\n", what,
	       pvm_putinfo(name, pvm_getsbuf(), flags) >= 0);
}

/* Prints how many integers there are, and how many are wrong. */
static void get(const char *what, int flags)
{
	int n = 0, bad = 0, id;
	char name[32];

	snprintf(name, sizeof(name), "mailbox %s", what);
	id = pvm_recvinfo(name, 0, flags);
	if (id <= 0) {
		printf("%s: error %d\n", what, id);
		return;
	}
	pvm_setrbuf(id);
	pvm_upkint(&n, 1, 1);
	pvm_upkint(data, n, 1);
	for (int i = 0; i < n; i++)
		bad += data[i] != n + i;
	printf("%s: %d, %d wrong\n", what, n, bad);
}

static int serve(int parent)
{
	int n;

	receive_number(parent, GO);
	n = pvm_recvinfo("mailbox long", 0, PvmMboxDefault);
	if (n > 0) {
		pvm_setrbuf(n);
		pvm_upkint(&n, 1, 1);
	}
	put("answer", 17, PvmMboxDefault);
	put("theirs", LONG, PvmMboxPersistent);
	send_number(parent, DONE, n);
	receive_number(parent, GO);
	pvm_exit();
	return 0;
}

static int start(int bare, char *program)
{
	char env[] = "/usr/bin/env", unset[] = "-u", preload[] = "LD_PRELOAD";
	char *arguments[] = { unset, preload, program, NULL };
	int other, n = bare ? pvm_spawn(env, arguments, 0, NULL, 1, &other)
			    : pvm_spawn(program, NULL, 0, NULL, 1, &other);

	return n == 1 ? other : -1;
}

int main(int argc, char **argv)
{
	int other, parent = (pvm_mytid(), pvm_parent());

	if (parent >= 0)
		return serve(parent);
	other = start(argc > 1 && !strcmp(argv[1], "bare"), argv[0]);
	if (other < 0) {
		fprintf(stderr, "mailbox: no other task\n");
		pvm_exit();
		return 2;
	}
	get("nothing", PvmMboxDefault);
	put("short", 3, PvmMboxDefault);
	put("long", LONG, PvmMboxDefault);
	get("short", PvmMboxDefault);
	send_number(other, GO, 0);
	printf("they found %d\n", receive_number(other, DONE));
	get("answer", PvmMboxReadAndDelete);
	get("answer", PvmMboxDefault);
	get("theirs", PvmMboxDefault);
	send_number(other, GO, 0);
	get("long", PvmMboxDefault);
	printf("delete: %d\n", pvm_delinfo("mailbox long", 0, PvmMboxDefault));
	get("long", PvmMboxDefault);
	pvm_exit();
	return 0;
}
