/* SPDX-License-Identifier: MIT */
#include "rails.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/udp.h"

enum {
	FRAME = 1472,
	PAYLOAD = FRAME - BCL_HEADERS_SIZE,
	BURST = 44,
	MANY = 60, /* destinations */
};

static struct bcl_config config;
static struct bcl_rail *a, *b;
static struct inbox *inbox;
static uint8_t bytes[128][BCL_FRAME_MAX];
static struct bcl_rail_tx tx[128];
static const char *networks[] = { "127.0.0.1/32", "::1/128" };

static void prepare(unsigned n, size_t length, size_t last)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		size_t size = i == n - 1 ? last : length;

		frame_fill(bytes[i], size, i, 2);
		/* In pieces, as a card's host gathers a frame. */
		tx[i].iov[0] = (struct iovec){ bytes[i], BCL_HEADERS_SIZE };
		tx[i].iov[1] = (struct iovec){ bytes[i] + BCL_HEADERS_SIZE,
					       size - BCL_HEADERS_SIZE };
		tx[i].niov = 2;
		tx[i].length = (unsigned)size;
	}
}

static void empty_inbox(void)
{
	inbox->n = 0;
	inbox->used = 0;
}

/* Send n frames of the kind, one by one. */
static void say(uint8_t kind, struct bcl_rail *to, unsigned n)
{
	unsigned i;

	frame_kind = kind;
	prepare(1, 144, 144);
	for (i = 0; i < n; i++)
		ck_assert_uint_eq(a->transmit(a, &to->address, tx, 1), 1);
}

/* The same, received. */
static void tell(uint8_t kind, struct bcl_rail *to, unsigned n)
{
	empty_inbox();
	say(kind, to, n);
	inbox_wait(inbox, to, n);
}

/* Send a frame to `nobody`. Rail a must report that the address is dead. */
static void hears_of_the_end(const struct bcl_wire_address *nobody)
{
	time_t end = time(NULL) + RAILS_PATIENCE;

	ck_assert_uint_eq(a->transmit(a, nobody, tx, 1), 1);
	while (!inbox->gone && time(NULL) < end)
		a->receive(a, &inbox->sink, 0, 64);
	ck_assert_uint_eq(inbox->gone, 1);
	ck_assert_mem_eq(&inbox->source, nobody, sizeof(*nobody));
}

static bool from_a(void)
{
	return !memcmp(&inbox->source, &a->address, sizeof(a->address));
}

/*
 * Loops run over: offload with IPv4, without, offload with IPv6, without; and
 * the same with a socket connected from a to b.
 */
static bool connected(int which)
{
	return which / 4;
}

static void open_pair(int which)
{
	memset(&rails_page, 0, sizeof(rails_page));
	config = rails_config("udp", networks[which / 2 % 2]);
	config.offload = which % 2 == 0;
	a = rails_open(&bcl_rail_udp, &config, 1);
	b = rails_open(&bcl_rail_udp, &config, 2);
	inbox = inbox_new();
	frame_kind = 0;
	if (!connected(which))
		return;
	tell(BCL_FRAME_DATA, b, 100);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_connected), 1);
	ck_assert(!from_a());
	memset(&rails_page, 0, sizeof(rails_page));
	empty_inbox();
}

static void close_pair(void)
{
	a->close(a);
	b->close(b);
	free(inbox);
}

static void check_inbox(unsigned n, size_t length, size_t last)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		size_t size = i == n - 1 ? last : length;

		ck_assert_uint_eq(inbox->frame[i].length, size);
		ck_assert(frame_right(inbox->frame[i].bytes, size, i, 2));
	}
}

START_TEST(one_frame_costs_one_call)
{
	open_pair(_i);
	prepare(1, 144, 144);
	ck_assert_uint_eq(a->transmit(a, &b->address, tx, 1), 1);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_sendmsg), 1);
	inbox_wait(inbox, b, 1);
	check_inbox(1, 144, 144);
	ck_assert(from_a() == !connected(_i));
	ck_assert_uint_eq(b->receive(b, &inbox->sink, 0, 64), 0);
	close_pair();
}
END_TEST

START_TEST(a_burst_arrives_whole)
{
	bool offload = _i % 2 == 0;

	open_pair(_i);
	prepare(BURST, FRAME, 1000);
	ck_assert_uint_eq(a->transmit(a, &b->address, tx, BURST), BURST);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_sendmsg), 1);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_bursts), offload);
	inbox_wait(inbox, b, BURST);
	check_inbox(BURST, FRAME, 1000);
	if (offload)
		ck_assert_uint_eq(
			rails_counter(BCL_COUNT_udp_recvmsg) -
				rails_counter(BCL_COUNT_udp_recvmsg_empty),
			1);
	close_pair();
}
END_TEST

/* The system does not cut bursts that the system may not checksum. After the
 * first refusal frames must leave one by one, and the rail must not try
 * again. */
START_TEST(a_refusal_to_cut_costs_nothing_but_calls)
{
	const int no_checksum = 1;
	unsigned round;

	open_pair(0);
	ck_assert(!setsockopt(((struct bcl_udp *)a)->bound.fd, SOL_SOCKET,
			      SO_NO_CHECK, &no_checksum, sizeof(no_checksum)));
	prepare(BURST, FRAME, 1000);
	for (round = 1; round < 3; round++) {
		empty_inbox();
		ck_assert_uint_eq(a->transmit(a, &b->address, tx, BURST),
				  BURST);
		inbox_wait(inbox, b, BURST);
		check_inbox(BURST, FRAME, 1000);
		ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_offload_lost), 1);
		ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_bursts), 1);
		ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_sendmsg),
				  1 + round);
	}
	close_pair();
}
END_TEST

START_TEST(more_than_a_burst_and_mixed_lengths)
{
	unsigned i;

	open_pair(_i);
	prepare(100, FRAME, FRAME);
	tx[30].iov[1].iov_len = 300 - BCL_HEADERS_SIZE;
	tx[30].length = 300;
	frame_fill(bytes[30], 300, 30, 2);
	ck_assert_uint_eq(a->transmit(a, &b->address, tx, 100), 100);
	inbox_wait(inbox, b, 100);
	for (i = 0; i < 100; i++)
		ck_assert(frame_right(inbox->frame[i].bytes,
				      i == 30 ? 300 : FRAME, i, 2));
	close_pair();
}
END_TEST

START_TEST(frames_alone)
{
	open_pair(_i);
	/* A short frame, a longer frame, headers alone. */
	prepare(1, 200, 200);
	a->transmit(a, &b->address, tx, 1);
	inbox_wait(inbox, b, 1);
	check_inbox(1, 200, 200);
	inbox->n = 0;
	prepare(1, FRAME, FRAME);
	a->transmit(a, &b->address, tx, 1);
	inbox_wait(inbox, b, 1);
	check_inbox(1, FRAME, FRAME);
	inbox->n = 0;
	prepare(1, BCL_HEADERS_SIZE, BCL_HEADERS_SIZE);
	a->transmit(a, &b->address, tx, 1);
	inbox_wait(inbox, b, 1);
	check_inbox(1, BCL_HEADERS_SIZE, BCL_HEADERS_SIZE);
	close_pair();
}
END_TEST

START_TEST(a_refusal_is_reported)
{
	struct bcl_wire_address nobody;
	struct bcl_rail *gone;

	open_pair(_i);
	gone = rails_open(&bcl_rail_udp, &config, 3);
	nobody = gone->address;
	gone->close(gone);
	prepare(1, 100, 100);
	hears_of_the_end(&nobody);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_connected), 0);
	/* The rail goes on, also when the report comes first. */
	a->transmit(a, &nobody, tx, 1);
	ck_assert_uint_eq(a->transmit(a, &b->address, tx, 1), 1);
	inbox_wait(inbox, b, 1);
	close_pair();
}
END_TEST

START_TEST(limits_are_sane)
{
	bool up = false;

	open_pair(_i);
	ck_assert_uint_le(a->limits.mtu, BCL_FRAME_MAX);
	ck_assert_uint_ge(a->limits.mtu, 8192); /* loopback */
	ck_assert_uint_eq(a->limits.mtu % 8, 0);
	ck_assert_uint_ge(a->limits.burst, 7);
	ck_assert_uint_ge(a->limits.window, 64 << 10);
	ck_assert_uint_le(a->limits.window, 1 << 20);
	ck_assert(a->limits.bulk && !bcl_rail_mapped(a));
	ck_assert(!a->check(a, &up));
	ck_assert(up);
	close_pair();
}
END_TEST

/* A receiver may answer some kinds of frames, or remember their source, so
 * frames of the kinds must come from the rail's address. */
START_TEST(kinds_that_show_where_we_are)
{
	static const uint8_t kinds[] = { BCL_FRAME_HELLO,  BCL_FRAME_HELLO_ACK,
					 BCL_FRAME_REFUSE, BCL_FRAME_RESET,
					 BCL_FRAME_PING,   BCL_FRAME_PARK };
	static const uint8_t others[] = { BCL_FRAME_DATA, BCL_FRAME_ACK,
					  BCL_FRAME_BYE };
	unsigned i;

	open_pair(_i);
	for (i = 0; i < sizeof(kinds); i++) {
		tell(kinds[i], b, 50);
		ck_assert(from_a());
	}
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_connected), 0);
	tell(BCL_FRAME_DATA, b, 50);
	for (i = 0; i < sizeof(others); i++) {
		tell(others[i] | BCL_FRAME_PCRC, b, 1);
		ck_assert(!from_a());
	}
	for (i = 0; i < sizeof(kinds); i++) {
		tell(kinds[i], b, 1);
		ck_assert(from_a());
	}
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_connected), 1);
	close_pair();
}
END_TEST

/* No frame may wait in a socket that nobody reads, and no child may inherit a
 * socket. */
START_TEST(a_connected_socket_takes_nothing)
{
	struct bcl_wire_address address;
	unsigned sockets = 0, fd, queue, port;
	unsigned long inode;
	char line[256];
	FILE *table;

	open_pair(_i);
	for (fd = 3; fd < 100; fd++) {
		struct stat status;

		if (fstat((int)fd, &status) || !S_ISSOCK(status.st_mode))
			continue;
		ck_assert(fcntl((int)fd, F_GETFD) & FD_CLOEXEC);
		sockets++;
	}
	/* a, a's socket to b, b; where frames are joined, a partner's socket of
	 * each rail */
	ck_assert_uint_eq(sockets, config.offload ? 5 : 3);
	tell(BCL_FRAME_DATA, b, 1);
	address = inbox->source;
	prepare(1, 144, 144);
	for (fd = 0; fd < 10; fd++)
		ck_assert_uint_eq(b->transmit(b, &address, tx, 1), 1);
	ck_assert_uint_eq(a->receive(a, &inbox->sink, 0, 64), 0);
	table = fopen(_i % 4 < 2 ? "/proc/net/udp" : "/proc/net/udp6", "r");
	ck_assert_ptr_nonnull(table);
	sockets = 0;
	while (fgets(line, sizeof(line), table)) {
		if (sscanf(line,
			   "%*u: %*[0-9A-F]:%x %*s %*s %*x:%x %*s %*s "
			   "%*s %*s %lu",
			   &port, &queue, &inode) != 3 ||
		    htons((uint16_t)port) !=
			    *(uint16_t *)(address.bytes + address.length - 2))
			continue;
		ck_assert_uint_eq(queue, 0);
		sockets++;
	}
	fclose(table);
	ck_assert_uint_eq(sockets, 1);
	close_pair();
}
END_TEST

/* Nobody receives from a connected socket, yet the rail must find errors of the
 * socket. */
START_TEST(a_refusal_is_found_without_a_send)
{
	struct bcl_wire_address nobody;

	open_pair(_i);
	nobody = b->address;
	b->close(b);
	prepare(1, 100, 100);
	hears_of_the_end(&nobody);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_sendmsg), 1);
	/* The next send gets an error, and must go out nevertheless. */
	a->transmit(a, &nobody, tx, 1);
	ck_assert_uint_eq(a->transmit(a, &nobody, tx, 1), 1);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_send_failed), 0);
	b = rails_open(&bcl_rail_udp, &config, 2);
	tell(BCL_FRAME_DATA, b, 100);
	ck_assert(!from_a());
	close_pair();
}
END_TEST

static void b_hears(struct bcl_rail *from, uint8_t kind, unsigned n)
{
	struct bcl_rail *was = a;

	a = from;
	tell(kind, b, n);
	a = was;
}

static void check_source(struct bcl_rail *from, uint8_t kind,
			 const struct bcl_wire_address *source)
{
	b_hears(from, kind, 20);
	ck_assert_mem_eq(&inbox->source, source, sizeof(*source));
}

/* b hears frames of `from` until b has a socket that is connected to the
 * source. Returns the source. */
static struct bcl_wire_address make_partner(struct bcl_rail *from)
{
	const uint64_t before = rails_counter(BCL_COUNT_udp_partners);

	b_hears(from, BCL_FRAME_DATA, 100);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_partners), before);
	b->receive(b, &inbox->sink, 0, 64); /* when nothing waits any more */
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_partners), before + 1);
	return inbox->source;
}

static bool readable(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, RAILS_PATIENCE * 1000) == 1;
}

/* The rail that sends most must get a socket of its own at the receiver. The
 * receiver must hear all rails, and report the same sources as before. */
START_TEST(partners)
{
	struct bcl_wire_address of_a, of_c;
	struct bcl_rail *c;
	unsigned i;

	open_pair(_i);
	c = rails_open(&bcl_rail_udp, &config, 3);
	if (!config.offload) {
		tell(BCL_FRAME_DATA, b, 100);
		b->receive(b, &inbox->sink, 0, 64);
		ck_assert_int_eq(b->partner_fd, -1);
		ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_partners), 0);
		goto out;
	}
	tell(BCL_FRAME_DATA, b, 50);
	/* A sender that the card does not know must get no such socket. */
	b_hears(c, BCL_FRAME_PING, 1); /* the row is broken */
	inbox->doubts = true;
	b_hears(a, BCL_FRAME_DATA, 100);
	b->receive(b, &inbox->sink, 0, 64);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_partners), 0);
	inbox->doubts = false;
	b_hears(c, BCL_FRAME_PING, 1);
	of_a = make_partner(a);
	empty_inbox();
	say(BCL_FRAME_DATA, b, 1);
	ck_assert(readable(b->partner_fd));
	inbox_wait(inbox, b, 1);
	check_source(a, BCL_FRAME_DATA, &of_a);
	check_source(a, BCL_FRAME_PING, &a->address);
	check_source(c, BCL_FRAME_PING, &c->address);
	/* The rails send in turn: no rail may take the place of another. */
	for (i = 0; i < 10; i++) {
		b_hears(c, BCL_FRAME_DATA, 20);
		check_source(a, BCL_FRAME_DATA, &of_a);
	}
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_partners), 1);
	of_c = make_partner(c);
	ck_assert(memcmp(&of_a, &of_c, sizeof(of_a)));
	check_source(a, BCL_FRAME_DATA, &of_a);
	check_source(c, BCL_FRAME_DATA, &of_c);
	check_source(b, BCL_FRAME_PING, &b->address);
out:
	c->close(c);
	close_pair();
}
END_TEST

/* More destinations than places. All frames must arrive in order, and a
 * destination that gets all frames for a while must get a place. */
START_TEST(many_destinations)
{
	struct bcl_rail *to[MANY];
	unsigned i, round;

	open_pair(_i);
	config.socket_buffer = 1 << 16;
	for (i = 0; i < MANY; i++)
		to[i] = rails_open(&bcl_rail_udp, &config, 3 + i);
	for (round = 0; round < 50; round++)
		for (i = 0; i < MANY; i++)
			tell(BCL_FRAME_DATA, to[i], 1);
	ck_assert_uint_gt(rails_counter(BCL_COUNT_udp_connected), 8);
	ck_assert_uint_le(rails_counter(BCL_COUNT_udp_connected),
			  BCL_UDP_PEERS);
	for (i = 0; i < MANY; i++) {
		tell(BCL_FRAME_DATA, to[i], 50);
		ck_assert(!from_a());
	}
	ck_assert_uint_gt(rails_counter(BCL_COUNT_udp_connected),
			  BCL_UDP_PEERS);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_unconnected), 0);
	for (i = 0; i < MANY; i++)
		to[i]->close(to[i]);
	close_pair();
}
END_TEST

/* The rail must leave the last descriptors to the program. */
START_TEST(few_descriptors)
{
	struct rlimit limit;
	int free_one;

	open_pair(_i);
	free_one = dup(a->fd);
	close(free_one);
	ck_assert(!getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = (rlim_t)free_one + (_i ? 100 : 0);
	ck_assert(!setrlimit(RLIMIT_NOFILE, &limit));
	tell(BCL_FRAME_DATA, b, 100);
	ck_assert(from_a());
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_connected), 0);
	ck_assert_uint_eq(rails_counter(BCL_COUNT_udp_unconnected), 1);
	ck_assert_int_eq(dup(a->fd), _i ? free_one : -1);
	close_pair();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("udp");
	TCase *tcase = tcase_create("udp");
	int ways = rails_ipv6() ? 4 : 2, first;

	tcase_add_loop_test(tcase, a_refusal_is_reported, 0, ways);
	tcase_add_loop_test(tcase, limits_are_sane, 0, ways);
	tcase_add_loop_test(tcase, kinds_that_show_where_we_are, 0, ways);
	tcase_add_loop_test(tcase, many_destinations, 0, ways);
	tcase_add_loop_test(tcase, few_descriptors, 0, 2);
	tcase_add_test(tcase, a_refusal_to_cut_costs_nothing_but_calls);
	for (first = 0; first < 8; first += 4) {
		int end = first + ways;

		tcase_add_loop_test(tcase, one_frame_costs_one_call, first,
				    end);
		tcase_add_loop_test(tcase, a_burst_arrives_whole, first, end);
		tcase_add_loop_test(tcase, more_than_a_burst_and_mixed_lengths,
				    first, end);
		tcase_add_loop_test(tcase, frames_alone, first, end);
	}
	tcase_add_loop_test(tcase, a_connected_socket_takes_nothing, 4,
			    4 + ways);
	tcase_add_loop_test(tcase, partners, 4, 4 + ways);
	tcase_add_loop_test(tcase, a_refusal_is_found_without_a_send, 4,
			    4 + ways);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
