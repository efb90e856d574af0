/* SPDX-License-Identifier: MIT */
/* Packet rails over a virtual Ethernet pair, in a network namespace. */
#include "rails.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	CARD_A = 0x1111,
	CARD_B = 0x2222,
	CARD_C = 0x3333,
	FRAMES = 2000, /* more than the ring has slots */
};

static struct bcl_rail *a, *b;
static struct inbox *inbox;

static struct bcl_rail *open_on(const char *interface, uint64_t card)
{
	struct bcl_config config = rails_config("packet", interface);

	return rails_open(&bcl_rail_packet, &config, card);
}

static void setup(void)
{
	memset(&rails_page, 0, sizeof(rails_page));
	a = open_on("bcla", CARD_A);
	b = open_on("bclb", CARD_B);
	inbox = inbox_new();
}

static void teardown(void)
{
	a->close(a);
	b->close(b);
	free(inbox);
}

static void send_one(struct bcl_rail *from, struct bcl_rail *to, uint64_t card,
		     size_t length, unsigned number)
{
	uint8_t bytes[BCL_FRAME_MAX];
	const struct bcl_rail_tx tx = { .iov = { { bytes, 60 },
						 { bytes + 60, length - 60 } },
					.niov = 2,
					.length = (unsigned)length };

	frame_fill(bytes, length, number, card);
	ck_assert_uint_eq(from->transmit(from, &to->address, &tx, 1), 1);
}

START_TEST(frames_of_all_lengths_arrive)
{
	size_t lengths[] = { 80, 81, 144, 1000, 0 };
	unsigned i;

	lengths[4] = a->limits.mtu;
	ck_assert_uint_eq(a->limits.mtu % 8, 0);
	ck_assert_uint_gt(a->limits.mtu, 1400);
	for (i = 0; i < 5; i++) {
		ck_assert(bcl_rail_mapped(b));
		ck_assert(!bcl_rail_waiting(b));
		send_one(a, b, CARD_B, lengths[i], i);
		inbox_wait(inbox, b, i + 1);
		ck_assert_uint_eq(inbox->frame[i].length, lengths[i]);
		ck_assert(frame_right(inbox->frame[i].bytes, lengths[i], i,
				      CARD_B));
		ck_assert_mem_eq(inbox->source.bytes, a->address.bytes, 6);
	}
	ck_assert_uint_eq(rails_counter(BCL_COUNT_packet_sends), 5);
}
END_TEST

START_TEST(the_source_can_be_answered)
{
	struct bcl_rail source = { 0 };

	send_one(a, b, CARD_B, 100, 1);
	inbox_wait(inbox, b, 1);
	source.address = inbox->source;
	send_one(b, &source, CARD_A, 100, 2);
	inbox->n = 0;
	inbox_wait(inbox, a, 1);
	ck_assert(frame_right(inbox->frame[0].bytes, 100, 2, CARD_A));
}
END_TEST

START_TEST(the_ring_goes_round)
{
	unsigned i;

	for (i = 0; i < FRAMES; i++) {
		send_one(a, b, CARD_B, 100, i);
		if (i % 64 == 63)
			inbox_wait(inbox, b, i + 1);
	}
	inbox_wait(inbox, b, FRAMES);
	for (i = 0; i < FRAMES; i++)
		ck_assert(frame_right(inbox->frame[i].bytes, 100, i, CARD_B));
}
END_TEST

START_TEST(a_full_ring_loses_and_counts)
{
	unsigned i;
	bool up = false;

	for (i = 0; i < FRAMES; i++)
		send_one(a, b, CARD_B, 100, i);
	while (b->receive(b, &inbox->sink, 0, 64))
		;
	ck_assert_uint_ge(inbox->n, 256);
	ck_assert_uint_lt(inbox->n, FRAMES);
	b->check(b, &up);
	ck_assert(up);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_packet_lost) + inbox->n,
			  FRAMES);
	inbox->n = 0;
	send_one(a, b, CARD_B, 100, 7);
	inbox_wait(inbox, b, 1);
}
END_TEST

/* Several cards share an interface. Each card must get its own frames. */
START_TEST(cards_share_an_interface)
{
	struct bcl_rail *c = open_on("bclb", CARD_C);
	struct inbox *other = inbox_new();
	unsigned i;

	for (i = 0; i < 20; i++)
		send_one(a, i % 2 ? c : b, i % 2 ? CARD_C : CARD_B, 100, i);
	inbox_wait(inbox, b, 10);
	inbox_wait(other, c, 10);
	for (i = 0; i < 10; i++) {
		ck_assert(
			frame_right(inbox->frame[i].bytes, 100, 2 * i, CARD_B));
		ck_assert(frame_right(other->frame[i].bytes, 100, 2 * i + 1,
				      CARD_C));
	}
	ck_assert_uint_eq(rails_counter(BCL_COUNT_packet_stray), 0);
	c->close(c);
	/* The remaining card must still work. */
	inbox->n = 0;
	send_one(a, b, CARD_B, 100, 99);
	inbox_wait(inbox, b, 1);
	free(other);
}
END_TEST

static struct bcl_rail *open_alone(const char *interface, uint64_t card)
{
	struct bcl_config config = rails_config("packet", interface);

	config.alone = true;
	return rails_open(&bcl_rail_packet, &config, card);
}

/* The first card on an interface, if alone on the host, needs no group. The
 * card drops frames for other cards, and has the system drop later frames for
 * other cards. Cards in a group do the same with frames for the first card. */
START_TEST(who_is_alone_joins_no_group)
{
	struct bcl_rail *other[2];
	struct inbox *own[2] = { inbox_new(), inbox_new() };
	unsigned i, got;

	b->close(b);
	b = open_alone("bclb", CARD_B);
	ck_assert_uint_eq(b->address.bytes[6], 0xff);
	send_one(a, b, CARD_B, 100, 1);
	inbox_wait(inbox, b, 1);
	ck_assert(frame_right(inbox->frame[0].bytes, 100, 1, CARD_B));

	/* later cards get places in the group, whether alone or not */
	for (i = 0; i < 2; i++) {
		other[i] = (i ? open_alone : open_on)("bclb", CARD_C + i);
		ck_assert_uint_eq(other[i]->address.bytes[6], i);
	}
	for (i = 0; i < 2; i++) {
		send_one(a, other[i], CARD_C + i, 100, 2 + i);
		inbox_wait(own[i], other[i], 1);
		ck_assert_uint_eq(b->receive(b, &inbox->sink, 0, 1), !i);
	}
	ck_assert_uint_eq(rails_counter(BCL_COUNT_packet_stray), 1);
	ck_assert_uint_eq(inbox->n, 1);
	for (i = 0; i < 2; i++) {
		send_one(a, b, CARD_B, 100, 4 + i);
		inbox_wait(inbox, b, 2 + i);
		ck_assert(frame_right(inbox->frame[1 + i].bytes, 100, 4 + i,
				      CARD_B));
		got = other[0]->receive(other[0], &own[0]->sink, 0, 1) +
		      other[1]->receive(other[1], &own[1]->sink, 0, 1);
		ck_assert_uint_eq(got, !i);
	}
	ck_assert_uint_eq(rails_counter(BCL_COUNT_packet_stray), 2);
	for (i = 0; i < 2; i++) {
		ck_assert_uint_eq(own[i]->n, 1);
		other[i]->close(other[i]);
		free(own[i]);
	}
}
END_TEST

/* A card that leaves the group changes the index of another card. The hint of
 * the other card is wrong until the card hears a handshake. */
START_TEST(a_wrong_hint_heals)
{
	struct bcl_rail *rails[4] = { b };
	struct inbox *own = inbox_new();
	uint8_t hello[BCL_HEADERS_SIZE];
	const struct bcl_rail_tx tx = { .iov = { { hello, sizeof(hello) } },
					.niov = 1,
					.length = sizeof(hello) };
	unsigned i;

	for (i = 1; i < 4; i++)
		rails[i] = open_on("bclb", CARD_C + i);
	for (i = 0; i < 4; i++)
		ck_assert_uint_eq(rails[i]->address.bytes[6], i);
	rails[1]->close(rails[1]);
	send_one(a, rails[3], CARD_C + 3, 100, 1);
	while (b->receive(b, &inbox->sink, 0, 64))
		;
	ck_assert_uint_eq(inbox->n, 0);
	ck_assert_uint_eq(rails[3]->receive(rails[3], &own->sink, 0, 64), 0);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_packet_stray), 1);

	frame_fill(hello, sizeof(hello), 2, CARD_C + 3);
	hello[offsetof(struct bcl_frame_header, kind)] =
		(_i ? BCL_FRAME_HELLO_ACK : BCL_FRAME_HELLO) | BCL_FRAME_PCRC;
	for (i = 0; i < 32 && !own->n; i++) {
		a->transmit(a, &rails[3]->address, &tx, 1);
		rails[3]->receive(rails[3], &own->sink, 0, 64);
	}
	ck_assert_uint_ge(own->n, 1);
	ck_assert_uint_ne(rails[3]->address.bytes[6], 3);
	own->n = 0;
	send_one(a, rails[3], CARD_C + 3, 100, 3);
	inbox_wait(own, rails[3], 1);
	rails[2]->close(rails[2]);
	rails[3]->close(rails[3]);
	free(own);
}
END_TEST

/* A card alone in a group gets each frame, whichever place the sender tries. A
 * frame then says nothing about the card's place after other cards have come,
 * so the hint must stay. */
START_TEST(a_right_hint_stays)
{
	uint8_t hello[BCL_HEADERS_SIZE];
	const struct bcl_rail_tx tx = { .iov = { { hello, sizeof(hello) } },
					.niov = 1,
					.length = sizeof(hello) };
	struct bcl_rail *c;
	unsigned i;

	ck_assert_uint_eq(b->address.bytes[6], 0);
	for (i = 0; i < 40; i++) {
		frame_fill(hello, sizeof(hello), i, CARD_B);
		hello[offsetof(struct bcl_frame_header, kind)] =
			(_i ? BCL_FRAME_HELLO_ACK : BCL_FRAME_HELLO) |
			BCL_FRAME_PCRC;
		a->transmit(a, &b->address, &tx, 1);
		inbox_wait(inbox, b, 2 * i + 2);
		ck_assert_uint_eq(b->address.bytes[6], 0);
	}
	c = open_on("bclb", CARD_C);
	inbox->n = 0;
	send_one(a, b, CARD_B, 100, 1);
	inbox_wait(inbox, b, 1);
	c->close(c);
}
END_TEST

/* A foreign group has the number that the rail would use: the rail has to
 * filter. */
static int spoil_group(const char *interface)
{
	unsigned index = if_nametoindex(interface);
	int group = ((0xbc13 + (int)index) & 0xffff) | PACKET_FANOUT_HASH << 16;
	const struct sockaddr_ll at = { .sll_family = AF_PACKET,
					.sll_protocol = htons(BCL_ETHERTYPE),
					.sll_ifindex = (int)index };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &group,
				    sizeof(group)),
			 0);
	return fd;
}

/* The sender of RESET does not know the card id. Every rail must let RESET
 * pass, but no other frame without the card id. */
START_TEST(reset_reaches_whoever_it_is_sent_to)
{
	uint8_t reset[BCL_HEADERS_SIZE];
	const struct bcl_rail_tx tx = { .iov = { { reset, sizeof(reset) } },
					.niov = 1,
					.length = sizeof(reset) };
	int fd = -1;

	if (_i) {
		b->close(b);
		fd = spoil_group("bclb");
		b = open_on("bclb", CARD_B);
		ck_assert_uint_eq(b->address.bytes[6], 0xff);
	}
	frame_fill(reset, sizeof(reset), 0, 0);
	reset[offsetof(struct bcl_frame_header, kind)] = BCL_FRAME_RESET;
	a->transmit(a, &b->address, &tx, 1);
	send_one(a, b, CARD_C, 100, 1);
	send_one(a, b, 0, 100, 2);
	send_one(a, b, CARD_B, 100, 3);
	inbox_wait(inbox, b, 2);
	ck_assert_mem_eq(inbox->frame[0].bytes, reset, sizeof(reset));
	ck_assert(frame_right(inbox->frame[1].bytes, 100, 3, CARD_B));
	if (_i)
		close(fd);
}
END_TEST

START_TEST(an_interface_goes_down_and_up)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	bool up = true;
	unsigned i;

	ck_assert_int_eq(system("ip link set bclb down"), 0);
	ck_assert(!b->check(b, &up));
	ck_assert(!up);
	ck_assert_int_eq(system("ip link set bclb up mtu 1400"), 0);
	ck_assert(b->check(b, &up));
	/* The kernel takes some time to notice the carrier. */
	for (i = 0; i < 5000 && !up; i++) {
		nanosleep(&pause, NULL);
		b->check(b, &up);
	}
	ck_assert(up);
	ck_assert_uint_le(b->limits.mtu, 1400);
	inbox->n = 0;
	send_one(a, b, CARD_B, 100, 2);
	inbox_wait(inbox, b, 1);
	ck_assert_int_eq(system("ip link set bclb mtu 1500"), 0);
}
END_TEST

static void skip(const char *why)
{
	printf("skipped: %s\n", why);
	exit(77);
}

int main(void)
{
	Suite *suite = suite_create("packet");
	TCase *tcase = tcase_create("packet");
	struct bcl_config probe = rails_config("packet", "bcla");
	struct bcl_rail *rail;
	char why[96];

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		skip("no network namespaces");
	if (system("ip link add bcla type veth peer name bclb &&"
		   "ip addr add 10.9.0.1/24 dev bcla &&"
		   "ip addr add 10.9.0.2/24 dev bclb &&"
		   "ip link set bcla up && ip link set bclb up"))
		skip("no virtual Ethernet pair");
	if (!bcl_rail_packet.open(&bcl_env_linux, &probe, 1, &rail, 1, why))
		skip(why);
	rail->close(rail);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, frames_of_all_lengths_arrive);
	tcase_add_test(tcase, the_source_can_be_answered);
	tcase_add_test(tcase, the_ring_goes_round);
	tcase_add_test(tcase, a_full_ring_loses_and_counts);
	tcase_add_test(tcase, cards_share_an_interface);
	tcase_add_test(tcase, who_is_alone_joins_no_group);
	tcase_add_loop_test(tcase, a_wrong_hint_heals, 0, 2);
	tcase_add_loop_test(tcase, a_right_hint_stays, 0, 2);
	tcase_add_loop_test(tcase, reset_reaches_whoever_it_is_sent_to, 0, 2);
	tcase_add_test(tcase, an_interface_goes_down_and_up);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
