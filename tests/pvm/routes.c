/* SPDX-License-Identifier: MIT */
/*
 * Counts the messages that the glue sends to a second task by BCL: before
 * PvmDontRoute, while PvmDontRoute is set, and afterwards. At first the second
 * task comes up before its note.
 *
 *	routes [HOST]		the second task runs on HOST
 *	routes deaf [HOST]	no connection ever comes up in the first task
 */
#include <bcl/bcl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bcl_pvm.h"
#include "number.h"

enum {
	LONG = 300000, /* bytes */
	TIMES = 20,
	UP_LIMIT = 300, /* ms */
	/* messages, a millisecond apart; a few suffice, as messages of PVM
	 * between the tasks come in between */
	A_WHILE = 30,
	LONG_ENOUGH = 5000,
	ANSWERS = 200,

	PLAIN = 1, /* tags */
	COUNTED,   /* asks for the number of bytes received */
	LAST,
};

static char bytes[LONG];
static long sent; /* messages, by BCL */

/* ---- counting ---- */

/* This function hides the library's. */
enum bcl_status bcl_send(struct bcl_peer *peer, unsigned type,
			 uint64_t immediate, const struct iovec *iov,
			 unsigned niov, uint64_t cookie)
{
	static __typeof__(&bcl_send) call;
	enum bcl_status status;

	if (!call)
		*(void **)&call = dlsym(RTLD_NEXT, "bcl_send");
	status = call(peer, type, immediate, iov, niov, cookie);
	sent += !status;
	return status;
}

/* ---- peer before note ---- */

static bool waits; /* bcl_peer_open() waits for the peer */
/* An event, not of the peer, that ended the wait. */
static struct bcl_event other_event;
static bool is_other;
/* The first task sees no connection come up; the second task does. */
static bool deaf;

/* This function hides the library's. */
enum bcl_status bcl_poll(struct bcl_port *port, struct bcl_event *event)
{
	static __typeof__(&bcl_poll) call;

	if (!call)
		*(void **)&call = dlsym(RTLD_NEXT, "bcl_poll");
	if (deaf) {
		while (call(port, event) == BCL_OK)
			;
		return BCL_ERR_EMPTY;
	}
	if (!is_other)
		return call(port, event);
	is_other = false;
	*event = other_event;
	return BCL_OK;
}

/* This function hides the library's. The peer of the second task comes up
 * before PVM has brought the note, as with slow daemons. */
enum bcl_status bcl_peer_open(struct bcl_port *port, const void *address,
			      size_t length, struct bcl_peer **peer)
{
	const struct timespec pause = { 0, 1000000 };
	static __typeof__(&bcl_peer_open) call;
	struct bcl_event event;

	if (!call)
		*(void **)&call = dlsym(RTLD_NEXT, "bcl_peer_open");
	if (deaf)
		return BCL_ERR_DEAD;
	for (int i = 0; waits && !is_other && i < UP_LIMIT; i++) {
		if (bcl_poll(port, &event) != BCL_OK) {
			nanosleep(&pause, NULL);
			continue;
		}
		if (event.kind == BCL_EVENT_PEER)
			break;
		other_event = event;
		is_other = true;
	}
	return call(port, address, length, peer);
}

/* ---- the second task ---- */

static int serve(int parent)
{
	int tag, length, all = 0;

	for (;;) {
		pvm_bufinfo(pvm_recv(parent, -1), &length, &tag, NULL);
		if (tag == LAST)
			break;
		if (tag == PLAIN) {
			all += length;
			continue;
		}
		send_number(parent, COUNTED, all);
		all = 0;
	}
	pvm_exit();
	return 0;
}

/* ---- the first task ---- */

static int bytes_got(int other)
{
	pvm_initsend(PvmDataRaw);
	pvm_send(other, COUNTED);
	return receive_number(other, COUNTED);
}

/* Exchange messages, at most `times`, until the way of messages is BCL. Returns
 * the number of exchanges. */
static int talk(int other, int times)
{
	const struct timespec pause = { 0, 1000000 };
	int n;

	sent = 0;
	for (n = 0; n < times && !sent; n++) {
		bytes_got(other);
		nanosleep(&pause, NULL);
	}
	return n;
}

/* Send by every call of PVM and the glue. Returns the number of bytes. */
static int send_all(int other)
{
	int i;

	for (i = 0; i < TIMES; i++) {
		pvm_initsend(PvmDataRaw);
		pvm_pkbyte(bytes, 8, 1);
		pvm_send(other, PLAIN);
		pvm_mcast(&other, 1, PLAIN);
		pvm_initsend(PvmDataInPlace);
		pvm_pkbyte(bytes, LONG, 1);
		pvm_send(other, PLAIN);
		pvm_psend(other, PLAIN, bytes, 8, PVM_BYTE);
		pvm_psend(other, PLAIN, bytes, LONG, PVM_BYTE);
		pvm_pmcast(&other, 1, PLAIN, bytes, LONG, PVM_BYTE);
	}
	return TIMES * (8 + 8 + LONG + 8 + LONG + LONG);
}

static void say(const char *when, int talked, int other)
{
	int length, got;

	sent = 0;
	length = send_all(other);
	fprintf(stderr, "routes: %s: after %d messages: %ld by BCL\n", when,
		talked, sent);
	got = bytes_got(other);
	printf("%s: by BCL %s, all came: %d\n", when, sent ? "some" : "none",
	       got == length);
	fflush(stdout);
	if (got != length)
		fprintf(stderr, "routes: %s: %d bytes of %d came\n", when, got,
			length);
}

static void say_all(int other)
{
	waits = true;
	pvm_setopt(PvmRoute, PvmDontRoute);
	say("not asked", talk(other, A_WHILE), other);
	pvm_setopt(PvmRoute, PvmAllowDirect);
	say("allowed", talk(other, LONG_ENOUGH), other);
	pvm_setopt(PvmRoute, PvmDontRoute);
	say("forbidden", 0, other);
	say("still forbidden", talk(other, A_WHILE), other);
	pvm_setopt(PvmRoute, PvmRouteDirect);
	say("wanted", 0, other);
}

/* The second task answers on a connection that is up only there. */
static void be_deaf(int other)
{
	const struct timespec pause = { 0, 1000000 };
	int n;

	deaf = true;
	for (n = 0; n < ANSWERS && bytes_got(other) >= 0; n++)
		nanosleep(&pause, NULL);
	printf("answers: %d\n", n);
}

int main(int argc, char **argv)
{
	int spawned, other, parent = (pvm_mytid(), pvm_parent());
	bool is_deaf = argc > 1 && !strcmp(argv[1], "deaf");

	if (parent >= 0)
		return serve(parent);
	argc -= is_deaf;
	argv += is_deaf;
	spawned = pvm_spawn("routes", NULL, argc > 1 ? PvmTaskHost : 0,
			    argc > 1 ? argv[1] : NULL, 1, &other);
	if (spawned != 1) {
		fprintf(stderr, "routes: no other task: %d\n",
			spawned ? spawned : other);
		pvm_exit();
		return 2;
	}
	if (is_deaf)
		be_deaf(other);
	else
		say_all(other);
	pvm_initsend(PvmDataRaw);
	pvm_send(other, LAST);
	pvm_exit();
	return 0;
}
