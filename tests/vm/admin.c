/* SPDX-License-Identifier: MIT */
/*
 * Tests of what administrators see and change in bcl.ko, in a guest: by the
 * calls of bcl/card_device.h, and by the program bcl-ctl, which is the
 * argument. Further arguments: the interface of the cards.
 */
#define _GNU_SOURCE

#include "kmod_user.h"

#include <stdarg.h>
#include <stdlib.h>

enum {
	FIRST = 1000, /* users */
	SECOND = 1001,
	MESSAGES = 400,
};

static const char *ctl, *interface;
static int admin; /* a file of the device without a card */

static void be(uid_t user)
{
	CHECK(!setresuid(0, 0, 0) && !setresuid(user, user, 0));
}

/* ---- bcl-ctl ---- */

/* Run bcl-ctl with these words. Returns its exit status; `said` gets its
 * output. */
static int run_ctl(char said[8192], const char *words, ...)
{
	char command[256];
	size_t n = (size_t)snprintf(command, sizeof(command), "%s ", ctl);
	va_list args;
	FILE *pipe;

	va_start(args, words);
	vsnprintf(command + n, sizeof(command) - n, words, args);
	va_end(args);
	strcat(command, " 2>&1");
	pipe = popen(command, "r");
	CHECK(pipe);
	n = fread(said, 1, 8191, pipe);
	said[n] = 0;
	return WEXITSTATUS(pclose(pipe));
}

static bool says(const char *said, const char *form, ...)
{
	char text[256];
	va_list args;

	va_start(args, form);
	vsnprintf(text, sizeof(text), form, args);
	va_end(args);
	if (strstr(said, text))
		return true;
	printf("no \"%s\" in:\n%s", text, said);
	return false;
}

/* ---- messages ---- */

static struct bcl_request message_to(const struct user *to)
{
	return (struct bcl_request){
		.op = BCL_REQ_SYSTEM,
		.dst_port = to->port.port.number,
		.length = 60,
		.inline_len = 60,
	};
}

/* Messages arrive, each once and in order. */
static void send_messages(struct user *a, struct user *b, unsigned n)
{
	struct bcl_request request = message_to(b);
	struct bcl_completion entry;
	unsigned i;

	for (i = 0; i < n; i++) {
		fill(request.inlined, 60, i);
		CHECK(submit_and_wait(a, request).status == BCL_OK);
		entry = received(b);
		CHECK(entry.kind == BCL_CQ_SYSTEM && entry.length == 60);
		CHECK(is_filled(b->blocks +
					bcl_block_at(BLOCKS, entry.index, 60),
				60, i));
		free_block(b, 60);
	}
}

/* ---- seeing ---- */

/* What the present user sees of a card. Returns false if the user sees none. */
static bool see(const struct user *user, struct bcl_device_card *card)
{
	*card = (struct bcl_device_card){ .card = user->open.card - 1 };
	return ioctl(admin, BCL_DEVICE_CARD, card) == BCL_OK &&
	       card->card == user->open.card;
}

static unsigned count_cards(void)
{
	struct bcl_device_card card = { .card = 0 };
	uint64_t before = 0;
	unsigned n;

	for (n = 0; ioctl(admin, BCL_DEVICE_CARD, &card) == BCL_OK; n++) {
		CHECK(card.card > before);
		before = card.card;
	}
	return n;
}

static void test_list(const struct user *a, const struct user *b)
{
	struct bcl_device_peer peer = { .card = b->open.card };
	struct bcl_device_card card;
	char said[8192];

	be(FIRST);
	CHECK(count_cards() == 1);
	CHECK(see(a, &card) && !see(b, &card));
	CHECK(ioctl(admin, BCL_DEVICE_PEER, &peer) == BCL_ERR_ARG);
	CHECK(run_ctl(said, "card %lx", b->open.card) == 1);
	CHECK(says(said, "no such card"));
	be(0);
	CHECK(count_cards() == 2);
	CHECK(see(b, &card));
	CHECK(card.user == SECOND && card.process == getpid());
	CHECK(card.nports == 1 && card.port[0] == 2 && card.peers == 1);
	CHECK(card.nends == 1 && card.end[0].up && !card.end[0].barred);
	CHECK(!strcmp(card.end[0].interface, interface));
	CHECK(card.counters.card[BCL_CARD_frames_received] > 0);
	CHECK(ioctl(admin, BCL_DEVICE_PEER, &peer) == BCL_OK);
	CHECK(peer.node.info.card == a->open.card);
	CHECK(peer.node.info.state == BCL_NODE_UP);
	peer.node.index++;
	CHECK(ioctl(admin, BCL_DEVICE_PEER, &peer) == BCL_ERR_EMPTY);
}

/* Cards with the same key are one job's. */
static void test_jobs(const struct user *a, const struct user *b)
{
	struct bcl_device_card one, other;
	struct user c;

	key[0]++;
	open_card(&c, interface);
	key[0]--;
	CHECK(see(a, &one) && see(b, &other) && one.job == other.job);
	CHECK(see(&c, &other) && one.job != other.job);
	CHECK(!close(c.fd) && !munmap((void *)c.news, PAGE));
	CHECK(!see(&c, &other));
}

static void test_ctl_shows(const struct user *a, const struct user *b)
{
	struct bcl_device_card card;
	uint8_t *memory = memory_of(3 * PAGE);
	char said[8192];

	be(0);
	CHECK(post(b, 1, 1, memory, 3 * PAGE, 0) == BCL_OK);
	CHECK(see(b, &card));
	CHECK(run_ctl(said, "") == 0);
	CHECK(says(said, "%016lx %08x 1001 ", b->open.card, card.job));
	CHECK(says(said, "%016lx %08x 1000 ", a->open.card, card.job));
	CHECK(run_ctl(said, "card %lx", b->open.card) == 0);
	CHECK(says(said, "\n3 pages of 4096 bytes pinned"));
	CHECK(says(said, "rail 0  %s: up\n", interface));
	CHECK(says(said, "port 2\n"));
	CHECK(says(said, "peer %016lx up, ", a->open.card));
	CHECK(says(said, "card.frames_received"));
	CHECK(run_ctl(said, "card 12x") == 2);
	CHECK(run_ctl(said, "kard 12") == 2);
	CHECK(unpost(b, 1) == BCL_OK);
	munmap(memory, 3 * PAGE);
}

/* ---- changing ---- */

static void test_rights(const struct user *a, const struct user *b)
{
	struct bcl_device_isolate isolate = { .peer = b->open.card };
	struct bcl_device_fault fault = { .card = a->open.card };
	char said[8192];

	be(FIRST);
	CHECK(ioctl(admin, BCL_DEVICE_ISOLATE, &isolate) < 0 && errno == EPERM);
	CHECK(ioctl(admin, BCL_DEVICE_FAULT, &fault) < 0 && errno == EPERM);
	fault.card = b->open.card;
	CHECK(ioctl(admin, BCL_DEVICE_FAULT, &fault) == BCL_ERR_ARG);
	fault.card = 0;
	CHECK(ioctl(admin, BCL_DEVICE_FAULT, &fault) < 0 && errno == EPERM);
	CHECK(run_ctl(said, "isolate %lx", b->open.card) == 1);
	CHECK(says(said, "CAP_NET_ADMIN"));
	CHECK(run_ctl(said, "interfaces lo") == 1);
	be(0);
	isolate.peer = 0;
	CHECK(ioctl(admin, BCL_DEVICE_ISOLATE, &isolate) == BCL_ERR_ARG);
	isolate.peer = 77;
	CHECK(ioctl(admin, BCL_DEVICE_ISOLATE, &isolate) == BCL_ERR_ARG);
	fault.card = 77;
	CHECK(ioctl(admin, BCL_DEVICE_FAULT, &fault) == BCL_ERR_ARG);
	fault.card = a->open.card;
	fault.chance[0] = BCL_DEVICE_CERTAIN + 1u;
	CHECK(ioctl(admin, BCL_DEVICE_FAULT, &fault) == BCL_ERR_ARG);
}

static void test_isolate(struct user *a, struct user *b)
{
	struct bcl_request request = message_to(b);
	char said[8192];

	CHECK(run_ctl(said, "rejoin %lx", b->open.card) == 1);
	CHECK(run_ctl(said, "isolate %lx", b->open.card) == 0);
	CHECK(says(said, "1 cards isolated"));
	CHECK(node_state(a).state == BCL_NODE_ISOLATED);
	CHECK(submit_and_wait(a, request).status == BCL_ERR_ISOLATED);
	CHECK(run_ctl(said, "card %lx", a->open.card) == 0);
	CHECK(says(said, "peer %016lx isolated", b->open.card));
	CHECK(run_ctl(said, "rejoin %lx", b->open.card) == 0);
	connect_to(a, b);
	send_messages(a, b, 3);
}

static void test_faults(struct user *a, struct user *b)
{
	static const char *const kinds[] = { "drop", "dup", "reorder",
					     "corrupt" };
	struct bcl_device_card card;
	struct user c;
	char said[8192];
	unsigned i;

	CHECK(run_ctl(said, "faults %lx delay:1%%", a->open.card) == 2);
	CHECK(run_ctl(said, "faults 77 drop:1%%") == 1);
	CHECK(run_ctl(said,
		      "faults %lx drop:2%%,dup:5%%,reorder:5%%,"
		      "corrupt:2%%,seed:3",
		      a->open.card) == 0);
	send_messages(a, b, MESSAGES);
	CHECK(see(a, &card));
	for (i = 0; i < BCL_DEVICE_FAULTS; i++) {
		printf("%s has struck %lu\n", kinds[i], card.struck[i]);
		CHECK(card.struck[i] > 0 && card.struck[i] < MESSAGES);
	}
	CHECK(card.fault.seed == 3);
	CHECK(card.counters.card[BCL_CARD_retransmitted] > 0);
	CHECK(run_ctl(said, "card %lx", a->open.card) == 0);
	CHECK(says(said, "fault reorder:5%%"));
	CHECK(see(b, &card) && card.struck[0] == 0);
	/* all cards, also those to come */
	CHECK(run_ctl(said, "faults all drop:100%%") == 0);
	open_card(&c, interface);
	CHECK(see(&c, &card) && card.fault.chance[0] == BCL_DEVICE_CERTAIN);
	CHECK(!close(c.fd) && !munmap((void *)c.news, PAGE));
	CHECK(see(b, &card) && card.fault.chance[0] == BCL_DEVICE_CERTAIN);
	CHECK(run_ctl(said, "faults all off") == 0);
	CHECK(see(b, &card) && card.fault.chance[0] == 0);
	send_messages(a, b, 3);
}

static void test_interfaces(struct user *a, struct user *b)
{
	struct bcl_device_open argument = open_argument(interface);
	struct bcl_request request = message_to(b);
	struct bcl_device_card card;
	char said[8192];
	uint64_t frames;
	int fd = open(BCL_DEVICE_PATH, O_RDWR);

	CHECK(run_ctl(said, "interfaces") == 0 && !strcmp(said, "all\n"));
	CHECK(run_ctl(said, "interfaces x%s,other", interface) == 0);
	CHECK(run_ctl(said, "interfaces") == 0);
	CHECK(says(said, "x%s,other\n", interface));
	CHECK(see(a, &card) && card.end[0].barred && !card.end[0].up);
	CHECK(ioctl(a->fd, BCL_DEVICE_WATCH, &a->open) == BCL_OK);
	CHECK(!a->open.end[0].up);
	CHECK(ioctl(fd, BCL_DEVICE_OPEN, &argument) == BCL_ERR_NORAIL);
	CHECK(argument.end[0].refused == EACCES);
	frames = see(b, &card) ? card.counters.card[BCL_CARD_frames_received]
			       : 0;
	submit(a, request);
	CHECK(doorbell(a) == BCL_OK);
	usleep(100000);
	CHECK(see(b, &card));
	CHECK(card.counters.card[BCL_CARD_frames_received] == frames);
	CHECK(run_ctl(said, "interfaces other,%s", interface) == 0);
	CHECK(see(a, &card) && !card.end[0].barred && card.end[0].up);
	CHECK(sent(a).status == BCL_OK);
	CHECK(received(b).kind == BCL_CQ_SYSTEM);
	free_block(b, 60);
	CHECK(run_ctl(said, "interfaces all") == 0);
	CHECK(run_ctl(said, "interfaces") == 0 && !strcmp(said, "all\n"));
	close(fd);
}

int main(int argc, char **argv)
{
	struct user a, b;

	if (argc != 3)
		return 2;
	ctl = argv[1];
	interface = argv[2];
	pcrc = 1; /* else nobody would see a corrupted payload */
	setvbuf(stdout, NULL, _IONBF, 0);
	admin = open(BCL_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	CHECK(admin >= 0);
	be(FIRST);
	open_card(&a, interface);
	open_port(&a, 1);
	be(SECOND);
	open_card(&b, interface);
	open_port(&b, 2);
	connect_to(&a, &b);
	send_messages(&a, &b, 3);
	TEST(test_list(&a, &b));
	TEST(test_jobs(&a, &b));
	TEST(test_ctl_shows(&a, &b));
	TEST(test_rights(&a, &b));
	TEST(test_isolate(&a, &b));
	TEST(test_faults(&a, &b));
	TEST(test_interfaces(&a, &b));
	close_card(&a);
	close_card(&b);
	CHECK(count_cards() == 0);
	printf("admin: %u checks passed\n", checks);
	return 0;
}
