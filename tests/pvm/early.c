/* SPDX-License-Identifier: MIT */
/*
 * A parent sends messages to children that do not know their own number yet.
 * The children enrol when they find FILE, and the parent writes FILE after
 * BEFORE messages. More messages follow at once. The children answer the last
 * messages one by one.
 *
 *	early FILE [HOST]	prints how many messages were wrong
 */
#include <pvm3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/pvm/number.h"

enum {
	CHILDREN = 3,
	BEFORE = 60, /* messages until the children may enrol, */
	SOON = 120,  /* and until the children answer each message */
	ALL = 200,

	DATA = 1, /* tags */
	ANSWER,
};

static char buffer[100000];

static int length_of(int i)
{
	static const int lengths[] = { 8, 5000, 8, 700, sizeof(buffer) };

	return lengths[i % 5];
}

/* ---- the parent ---- */

static void send_packed(int child, int i, int encoding)
{
	pvm_initsend(encoding);
	pvm_pkbyte(buffer, length_of(i), 1);
	pvm_send(child, DATA);
}

static void send_to_all(int *children, int i)
{
	static const int encodings[] = { PvmDataRaw, PvmDataDefault,
					 PvmDataInPlace };
	int child, way = i % 7;

	memset(buffer, i, (size_t)length_of(i));
	if (way == 3) {
		pvm_initsend(PvmDataRaw);
		pvm_pkbyte(buffer, length_of(i), 1);
		pvm_mcast(children, CHILDREN, DATA);
		return;
	}
	for (child = 0; child < CHILDREN; child++) {
		if (way == 4)
			pvm_psend(children[child], DATA, buffer, length_of(i),
				  PVM_BYTE);
		else
			send_packed(children[child], i, encodings[way % 3]);
	}
}

static int be_parent(char **argv, char *host)
{
	char child_argument[] = "child";
	char *arguments[] = { argv[1], child_argument, NULL };
	int children[CHILDREN], i, child;
	FILE *file;

	if (pvm_spawn("early", arguments, host ? PvmTaskHost : 0, host,
		      CHILDREN, children) != CHILDREN) {
		fprintf(stderr, "early: no children\n");
		return 2;
	}
	for (i = 0; i < BEFORE; i++)
		send_to_all(children, i);
	file = fopen(argv[1], "w");
	if (!file || fclose(file)) {
		perror(argv[1]);
		return 2;
	}
	for (; i < SOON; i++)
		send_to_all(children, i);
	for (; i < ALL; i++) {
		send_to_all(children, i);
		for (child = 0; child < CHILDREN; child++)
			receive_number(children[child], ANSWER);
	}
	for (child = 0; child < CHILDREN; child++) {
		printf("%d messages, %d wrong\n", ALL,
		       receive_number(children[child], ANSWER));
	}
	return 0;
}

/* ---- a child ---- */

static int is_wrong(int i)
{
	int length, k;

	pvm_bufinfo(pvm_recv(-1, DATA), &length, NULL, NULL);
	if (length != length_of(i))
		return 1;
	pvm_upkbyte(buffer, length, 1);
	for (k = 0; k < length; k++) {
		if (buffer[k] != (char)i)
			return 1;
	}
	return 0;
}

static void be_child(const char *file)
{
	const struct timespec a_bit = { 0, 1000000 };
	int i, bad = 0, parent;

	while (access(file, F_OK))
		nanosleep(&a_bit, NULL);
	pvm_mytid();
	parent = pvm_parent();
	for (i = 0; i < ALL; i++) {
		bad += is_wrong(i);
		if (i >= SOON)
			send_number(parent, ANSWER, i);
	}
	send_number(parent, ANSWER, bad);
}

int main(int argc, char **argv)
{
	int status = 0;

	if (argc < 2)
		return 2;
	if (argc > 2 && !strcmp(argv[2], "child"))
		be_child(argv[1]);
	else
		status = be_parent(argv, argc > 2 ? argv[2] : NULL);
	pvm_exit();
	return status;
}
