/* SPDX-License-Identifier: MIT */
/* Sends N messages of 8 bytes to another task, and receives N: cost N. */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SHORT = 8, /* bytes */
	TAG = 1,
};

static void send_short(int to)
{
	char bytes[SHORT] = { 0 };

	pvm_initsend(PvmDataRaw);
	pvm_pkbyte(bytes, SHORT, 1);
	pvm_send(to, TAG);
}

int main(int argc, char **argv)
{
	int parent = (pvm_mytid(), pvm_parent()), n, other;

	if (argc != 2)
		return 2;
	n = atoi(argv[1]);
	if (parent >= 0) {
		for (; n; n--) {
			pvm_recv(parent, TAG);
			send_short(parent);
		}
		pvm_exit();
		return 0;
	}
	if (pvm_spawn("cost", argv + 1, 0, NULL, 1, &other) != 1) {
		fprintf(stderr, "cost: no other task\n");
		pvm_exit();
		return 2;
	}
	for (; n; n--) {
		send_short(other);
		pvm_recv(other, TAG);
	}
	pvm_exit();
	return 0;
}
