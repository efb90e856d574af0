/* SPDX-License-Identifier: MIT */
/*
 * PVM's promises, one case per function. Prints the view of a program, which
 * must be the same by every way of messages.
 *
 *	semantics [HOST]	the other task runs on HOST
 */
#include <fcntl.h>
#include <poll.h>
#include <pvm3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PLAIN = 1, /* tags */
	OTHER,
	LAST,
	ORDER, /* an order to the other task: a letter */
	DIED,
};

enum {
	BIG = 300000, /* bytes */
	FIRST = 3000, /* bytes, in one piece; a note of the glue is shorter */
};

static int other; /* the other task */
static char bytes[BIG];

static void say(const char *what, int result)
{
	printf("%s: %d\n", what, result);
	fflush(stdout);
}

static void send_number(int to, int tag, int number)
{
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&number, 1, 1);
	pvm_send(to, tag);
}

static int number(void)
{
	int value = -1;

	pvm_upkint(&value, 1, 1);
	return value;
}

static int receive_number(int from, int tag)
{
	pvm_recv(from, tag);
	return number();
}

/* Exchange messages until the way of messages is settled. */
static void talk(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		send_number(other, PLAIN, 1);
		receive_number(other, PLAIN);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - start.tv_sec < 2);
}

/* ---- the other task ---- */

static void pause_ms(int ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* Enrol anew, and tell the parent the new number. */
static void enrol_again(int parent)
{
	int before = pvm_mytid(), now;

	pvm_exit();
	now = pvm_mytid();
	pvm_initsend(PvmDataDefault);
	now = now == before ? -1 : now;
	pvm_pkint(&now, 1, 1);
	pvm_send(parent, OTHER);
	other = now;
}

/* Send long and short messages, and leave PVM before the parent receives. */
static void say_last_words(int parent)
{
	for (int i = 0; i < 3; i++) {
		pvm_initsend(PvmDataRaw);
		pvm_pkbyte(bytes, BIG, 1);
		pvm_send(parent, LAST);
		send_number(parent, LAST, i);
	}
	enrol_again(parent);
}

/* Send a message of each kind to receive_buffers(). The pauses let
 * receive_buffers() wait for the messages. */
static void send_buffers(int parent)
{
	static const double reals[] = { 1, 2, 3, 4, 5 };

	pause_ms(20);
	pvm_psend(parent, OTHER, "between", 7, PVM_BYTE);
	pvm_psend(parent, PLAIN, "short", 5, PVM_BYTE);
	pause_ms(20);
	pvm_psend(parent, PLAIN, bytes, 100, PVM_BYTE);
	pause_ms(20);
	pvm_psend(parent, PLAIN, bytes, BIG, PVM_BYTE);
	pause_ms(20);
	pvm_psend(parent, PLAIN, bytes, BIG, PVM_BYTE);
	pause_ms(20);
	pvm_psend(parent, PLAIN, (void *)reals, 5, PVM_DOUBLE);
	pause_ms(20);
	pvm_psend(parent, PLAIN, bytes, 0, PVM_BYTE);
	pause_ms(20);
	send_number(parent, PLAIN, 4711);
	pvm_psend(parent, PLAIN, "old", 3, PVM_BYTE);
	pvm_psend(parent, OTHER, "later", 5, PVM_BYTE);
	pause_ms(20);
	pvm_psend(parent, PLAIN, "new", 3, PVM_BYTE);
	pause_ms(20);
	pvm_psend(parent, PLAIN, "unwanted", 8, PVM_BYTE);
	pvm_psend(parent, LAST, "wanted", 6, PVM_BYTE);
}

static void obey(int parent, char order)
{
	int context;

	switch (order) {
	case 'i': /* in order, of several tags */
		for (int i = 0; i < 30; i++)
			send_number(parent, i % 3 ? OTHER : PLAIN, i);
		break;
	case 'b': /* by both calls */
		pvm_psend(parent, PLAIN, bytes, BIG, PVM_BYTE);
		pvm_initsend(PvmDataInPlace);
		pvm_pkbyte(bytes, BIG, 1);
		pvm_send(parent, PLAIN);
		break;
	case 'u':
		send_buffers(parent);
		break;
	case 'm': /* count the messages before the last one */
		for (int n = 0, tag = PLAIN; tag != LAST; n++) {
			pvm_bufinfo(pvm_recv(parent, -1), NULL, &tag, NULL);
			if (tag == LAST)
				send_number(parent, OTHER, n);
		}
		break;
	case 'c': /* first in a new context */
		context = pvm_newcontext();
		pvm_setcontext(context);
		send_number(parent, PLAIN, 1);
		pvm_setcontext(0);
		send_number(parent, PLAIN, 2);
		break;
	case 'r': /* send the received buffer back unchanged */
		pvm_recv(parent, OTHER);
		pvm_setsbuf(pvm_getrbuf());
		pvm_send(parent, OTHER);
		break;
	case 's': /* sleep, then receive all waiting messages */
		pause_ms(700);
		for (int i = 0, bad = 0; i < 3000; i++) {
			bad += receive_number(parent, PLAIN) != i;
			if (i == 2999)
				send_number(parent, OTHER, bad);
		}
		break;
	case 'p': /* sleep, then receive by pvm_precv() */
		pause_ms(300);
		for (int i = 0; i < 4; i++) {
			int tid, tag, length;

			pvm_precv(parent, PLAIN, bytes, BIG, PVM_BYTE, &tid,
				  &tag, &length);
			send_number(parent, OTHER, length + bytes[BIG - 1]);
		}
		break;
	case 'l':
		pause_ms(50);
		send_number(parent, PLAIN, 5);
		break;
	case 'e':
		enrol_again(parent);
		break;
	case 'w':
		say_last_words(parent);
		break;
	case 'k': /* die after some messages */
		for (int i = 0; i < 5; i++)
			send_number(parent, PLAIN, i);
		receive_number(parent, PLAIN);
		raise(SIGKILL);
		break;
	}
}

static int serve(int parent)
{
	int tag;
	char order;

	memset(bytes, 7, BIG);
	for (;;) {
		pvm_bufinfo(pvm_recv(parent, -1), NULL, &tag, NULL);
		switch (tag) {
		case PLAIN:
			send_number(parent, PLAIN, number());
			break;
		case ORDER:
			pvm_upkbyte(&order, 1, 1);
			obey(parent, order);
			break;
		case LAST:
			pvm_exit();
			return 0;
		}
	}
}

/* ---- cases ---- */

static void order(char letter)
{
	pvm_initsend(PvmDataDefault);
	pvm_pkbyte(&letter, 1, 1);
	pvm_send(other, ORDER);
}

/* A list of pvm_mcast() names the other task three times. */
static void named_thrice(const char *when)
{
	int list[] = { other, pvm_mytid(), other, other };

	order('m');
	for (int i = 0; i < 3; i++) {
		pvm_initsend(PvmDataRaw);
		pvm_pkbyte(bytes, i < 2 ? 8 : BIG, 1);
		pvm_mcast(list, 4, PLAIN);
	}
	send_number(other, LAST, 0);
	printf("named three times, %s, got %d of 3, myself: %d\n", when,
	       receive_number(other, OTHER), pvm_nrecv(pvm_mytid(), -1));
}

static void wildcards(void)
{
	int i, bad = 0, tag;

	order('i');
	for (i = 1; i < 30; i += 1 + (i % 3 == 2))
		bad += receive_number(-1, OTHER) != i;
	for (i = 0; i < 30; i += 3)
		bad += receive_number(other, -1) != i;
	say("out of order", bad);
	order('i');
	for (i = 0; i < 30; i++) {
		pvm_bufinfo(pvm_recv(-1, -1), NULL, &tag, NULL);
		bad += number() != i || tag != (i % 3 ? OTHER : PLAIN);
	}
	say("of any tag out of order", bad);
}

static void long_ones(void)
{
	int length, tag, tid, i, bad = 0;

	order('b');
	pvm_precv(other, PLAIN, bytes, BIG, PVM_BYTE, &tid, &tag, &length);
	say("precv of psend", length);
	for (i = 0; i < BIG; i++)
		bad += bytes[i] != 7;
	memset(bytes, 0, BIG);
	pvm_bufinfo(pvm_recv(other, PLAIN), &length, NULL, NULL);
	pvm_upkbyte(bytes, BIG, 1);
	for (i = 0; i < BIG; i++)
		bad += bytes[i] != 7;
	say("recv of a message in place", length);
	say("wrong bytes", bad);
}

/* Receive into a buffer of `count` elements, and print the result. */
static void receive_buffer(const char *what, int tid, int tag, int count,
			   int type)
{
	int from = -1, its_tag = -1, length = -1, result, i, changed = 0;

	memset(bytes, 1, BIG);
	result = pvm_precv(tid, tag, bytes, count, type, &from, &its_tag,
			   &length);
	for (i = 0; i < BIG; i++)
		changed += bytes[i] != 1;
	printf("%s: %d from %d, tag %d, length %d, %d bytes changed: %.4s\n",
	       what, result, from == other, its_tag, length, changed, bytes);
}

static int match_last(int id, int tid, int tag)
{
	int its_tag;

	(void)tid;
	(void)tag;
	pvm_bufinfo(id, NULL, &its_tag, NULL);
	return its_tag == LAST;
}

static void receive_buffers(void)
{
	int (*usual)();

	order('u');
	receive_buffer("short", -1, PLAIN, 1000, PVM_BYTE);
	receive_buffer("what came between", -1, -1, 1000, PVM_BYTE);
	receive_buffer("short, cut", other, -1, 10, PVM_SHORT);
	receive_buffer("long, cut", -1, -1, 5000, PVM_BYTE);
	receive_buffer("long, no room", other, PLAIN, 0, PVM_BYTE);
	receive_buffer("reals", other, PLAIN, 7, PVM_DOUBLE);
	receive_buffer("empty", other, PLAIN, 7, PVM_BYTE);
	receive_buffer("packed", other, PLAIN, 1, PVM_ULONG);
	say("newer", pvm_recv(other, OTHER) > 0);
	receive_buffer("old", -1, -1, 100, PVM_BYTE);
	receive_buffer("new", -1, -1, 100, PVM_BYTE);
	usual = pvm_recvf(match_last);
	receive_buffer("by recvf", other, PLAIN, 100, PVM_BYTE);
	pvm_recvf(usual);
	receive_buffer("not by recvf", other, PLAIN, 100, PVM_BYTE);
	receive_buffer("text", other, PLAIN, 1, PVM_STR);
	receive_buffer("of no type", other, PLAIN, 1, 99);
	say("psend of no type", pvm_psend(other, PLAIN, bytes, 1, 99));
	say("psend of no tag", pvm_psend(other, -5, bytes, 1, PVM_BYTE));
	say("psend to nobody", pvm_psend(-5, PLAIN, bytes, 1, PVM_BYTE));
}

static void contexts(void)
{
	order('c');
	say("of my context", receive_number(other, -1));
	say("of another", pvm_nrecv(other, -1) > 0);
}

static void sent_back(void)
{
	order('r');
	send_number(other, OTHER, 4711);
	say("came back", receive_number(other, OTHER));
}

static void probes(void)
{
	const struct timeval none = { 0 }, a_bit = { 0, 10000 },
			     a_while = { 20, 0 };
	struct timeval time;
	int length;

	say("nrecv of nothing", pvm_nrecv(other, OTHER));
	say("probe of nothing", pvm_probe(-1, -1));
	time = none;
	say("trecv at once", pvm_trecv(other, OTHER, &time));
	time = a_bit;
	say("trecv for a bit", pvm_trecv(other, OTHER, &time));
	order('l');
	time = a_while;
	say("trecv for a while", pvm_trecv(other, PLAIN, &time) > 0);
	say("what came", number());
	order('l');
	while (!pvm_probe(other, PLAIN))
		;
	pvm_bufinfo(pvm_probe(other, PLAIN), &length, NULL, NULL);
	say("probe sees bytes", length);
	say("nrecv has it", pvm_nrecv(-1, PLAIN) > 0);
}

static int matched;

static int match_five(int id, int tid, int tag)
{
	int before, value = 0;

	(void)tag;
	if (tid >= 0 && tid != other)
		return 0;
	before = pvm_setrbuf(id);
	pvm_upkint(&value, 1, 1);
	pvm_setrbuf(before);
	matched += value == 5;
	return value == 5;
}

static void own_match(void)
{
	int (*usual)();

	send_number(other, PLAIN, 1);
	order('l');
	usual = pvm_recvf(match_five);
	pvm_recv(other, -1);
	pvm_recvf(usual);
	say("recvf let through", matched);
	say("before it", receive_number(other, PLAIN));
}

static int handled;

static int handler(int id)
{
	pvm_setrbuf(id);
	handled += number();
	/* a handler may send */
	send_number(other, PLAIN, 1);
	return 0;
}

static void handlers(void)
{
	int id = pvm_addmhf(other, OTHER, -1, handler);

	order('i');
	for (int i = 0; i < 30; i += 3)
		receive_number(other, PLAIN);
	for (int i = 0; i < 20; i++)
		receive_number(other, PLAIN);
	say("handled", handled);
	pvm_delmhf(id);
}

static void who_sleeps(void)
{
	order('s');
	for (int i = 0; i < 3000; i++)
		send_number(other, PLAIN, i);
	say("of 3000 out of order", receive_number(other, OTHER));
}

static void long_to_who_sleeps(void)
{
	int sum = 0;

	order('p');
	for (int i = 0; i < 4; i++) {
		memset(bytes, i, BIG);
		pvm_psend(other, PLAIN, bytes, BIG, PVM_BYTE);
	}
	/* pvm_psend() has returned: the memory may change */
	memset(bytes, 100, BIG);
	for (int i = 0; i < 4; i++)
		sum += receive_number(other, OTHER) - BIG;
	say("last bytes", sum);
}

/* A handler that sends the next lower number to its own task, down to 0. */
static int again(int id)
{
	int n;

	pvm_setrbuf(id);
	n = number();
	send_number(pvm_mytid(), n ? OTHER : PLAIN, n - 1);
	return 0;
}

static void to_myself(void)
{
	int id;

	send_number(pvm_mytid(), PLAIN, 3);
	say("from myself", receive_number(pvm_mytid(), PLAIN));
	id = pvm_addmhf(pvm_mytid(), OTHER, -1, again);
	send_number(pvm_mytid(), OTHER, 100000);
	say("myself over and over", receive_number(pvm_mytid(), PLAIN));
	pvm_delmhf(id);
}

static void descriptors(void)
{
	struct pollfd polled[16];
	int *fds, n, i;

	n = pvm_getfds(&fds);
	for (i = 0; i < n; i++)
		polled[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	order('l');
	while (pvm_nrecv(other, PLAIN) <= 0) {
		if (poll(polled, (nfds_t)n, 20000) <= 0)
			break;
	}
	say("after poll", number());
}

static void forked(void)
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(17);
	waitpid(child, &status, 0);
	say("child", WEXITSTATUS(status));
	talk();
	say("parent goes on", 1);
}

static void routes(void)
{
	static const int values[] = { PvmDontRoute, PvmRouteDirect,
				      PvmAllowDirect, PvmDontRoute,
				      PvmAllowDirect };
	int bad = 0;

	order('s');
	for (int i = 0; i < 3000; i++) {
		if (i % 100 == 0)
			pvm_setopt(PvmRoute, values[i / 100 % 5]);
		send_number(other, PLAIN, i);
	}
	pvm_setopt(PvmRoute, PvmAllowDirect);
	bad = receive_number(other, OTHER);
	say("over changing routes out of order", bad);
}

static void enrolled_again(void)
{
	order('e');
	other = receive_number(-1, OTHER);
	say("under a new number", other > 0);
	say("reaches the old", pvm_nrecv(-1, -1));
}

static void last_words(void)
{
	int length, missing = 0, old = other;

	order('w');
	pause_ms(300);
	for (int i = 0; i < 3; i++) {
		pvm_bufinfo(pvm_recv(old, LAST), &length, NULL, NULL);
		missing += length != BIG;
		missing += receive_number(old, LAST) != i;
	}
	other = receive_number(-1, OTHER);
	say("of the last words missing", missing);
}

static void deaths(void)
{
	int i, bad = 0, tag;

	pvm_notify(PvmTaskExit, DIED, 1, &other);
	order('k');
	send_number(other, PLAIN, 0);
	for (i = 0; i < 5; i++) {
		pvm_bufinfo(pvm_recv(-1, -1), NULL, &tag, NULL);
		bad += tag != PLAIN || number() != i;
	}
	pvm_bufinfo(pvm_recv(-1, -1), NULL, &tag, NULL);
	say("told of its death before its last words", bad || tag != DIED);
	send_number(other, PLAIN, 0);
	say("sending to the dead", 0);
}

/* Send a message right after the start, then create a file as a sign. */
static int be_first(int parent, const char *file)
{
	pvm_initsend(PvmDataRaw);
	pvm_pkbyte(bytes, FIRST, 1);
	pvm_send(parent, PLAIN);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	pvm_recv(parent, LAST);
	pvm_exit();
	return 0;
}

/* pvm_nrecv() at once finds a message that lies at the daemon's socket,
 * whatever lies in front of the message. */
static void first_of_a_task(void)
{
	char file[4096], *arguments[] = { file, NULL };
	int first, lies = 0, *fds;

	if (!getcwd(file, sizeof(file) - 10))
		return;
	strcat(file, "/sent");
	if (pvm_spawn("semantics", arguments, PvmTaskHost, ".", 1, &first) != 1)
		return;
	while (access(file, F_OK))
		pause_ms(1);
	pvm_getfds(&fds);
	while (ioctl(fds[0], FIONREAD, &lies) || lies < FIRST)
		pause_ms(1);
	say("lay there for the first look", pvm_nrecv(first, PLAIN) > 0);
	send_number(first, LAST, 0);
	unlink(file);
}

int main(int argc, char **argv)
{
	int parent = (pvm_mytid(), pvm_parent());

	if (parent >= 0)
		return argc > 1 ? be_first(parent, argv[1]) : serve(parent);
	if (pvm_spawn("semantics", NULL, argc > 1 ? PvmTaskHost : 0,
		      argc > 1 ? argv[1] : NULL, 1, &other) != 1) {
		fprintf(stderr, "semantics: no other task\n");
		pvm_exit();
		return 2;
	}
	named_thrice("at first");
	talk();
	named_thrice("later");
	first_of_a_task();
	wildcards();
	long_ones();
	receive_buffers();
	contexts();
	sent_back();
	probes();
	own_match();
	handlers();
	who_sleeps();
	long_to_who_sleeps();
	to_myself();
	descriptors();
	forked();
	routes();
	enrolled_again();
	talk();
	last_words();
	deaths();
	pvm_exit();
	return 0;
}
