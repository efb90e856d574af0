/* SPDX-License-Identifier: MIT */
/* Tests of transport/card/ways.c: the ways between the addresses of two cards,
 * and the order of the ways. */
#include "unit.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "transport/card/inside.h"

/* A card: its ends, and the address published for other cards. */
struct side {
	struct bcl_context context;
	struct bcl_host host;
	struct bcl_address address;
};

static struct side a, b;
static struct bcl_host_way ways[BCL_HOST_WAYS];

static void begin(void)
{
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	a.context.card = &a.host;
	b.context.card = &b.host;
	a.context.card_id = 1;
	b.context.card_id = 2;
	a.context.host = 1;
	b.context.host = 2;
}

static void add(struct side *side, unsigned rail, const char *text)
{
	struct bcl_host_end *end = &side->host.end[side->host.nends++];
	bool four = !strchr(text, ':');

	end->rail = (uint8_t)rail;
	end->kind = "udp";
	end->address.kind = four ? BCL_WIRE_UDP4 : BCL_WIRE_UDP6;
	end->address.length = four ? 6 : 18;
	ck_assert_int_eq(
		inet_pton(four ? AF_INET : AF_INET6, text, end->address.bytes),
		1);
	bcl_host_address(&side->context, &side->address);
	side->address.card = side->context.card_id;
	side->address.host = side->context.host;
}

static const char *text_of(const struct bcl_wire_address *address, char to[64])
{
	return inet_ntop(address->kind == BCL_WIRE_UDP4 ? AF_INET : AF_INET6,
			 address->bytes, to, 64);
}

/* The ways from `a` to `b` as text, "0 10.0.0.1>10.0.0.2, ...". The number is
 * the rail of `a`. */
static const char *found(void)
{
	static char text[2048];
	unsigned n = bcl_host_ways(&a.context, &b.address, ways), i;

	text[0] = 0;
	for (i = 0; i < n; i++) {
		const struct bcl_host_end *end = &a.host.end[ways[i].end];
		char from[64], to[64];

		sprintf(text + strlen(text), "%s%u %s>%s", i ? ", " : "",
			end->rail, text_of(&end->address, from),
			text_of(&b.address.wire[ways[i].wire], to));
	}
	return text;
}

/* An IPv4 address is never paired with an IPv6 address. */
START_TEST(by_family)
{
	begin();
	add(&a, 0, "10.0.0.1");
	add(&a, 0, "fd00::1");
	add(&b, 0, "fd00:1::2");
	ck_assert_str_eq(found(), "0 fd00::1>fd00:1::2");
	begin();
	add(&a, 0, "10.0.0.1");
	add(&b, 0, "fd00:1::2");
	ck_assert_str_eq(found(), "");
}
END_TEST

/* Ways with more leading address bits in common come first. */
START_TEST(the_likely_first)
{
	begin();
	add(&a, 0, "10.8.0.1");
	add(&a, 0, "10.77.0.1");
	add(&b, 0, "192.0.2.2");
	add(&b, 0, "10.77.0.2");
	ck_assert_str_eq(found(),
			 "0 10.77.0.1>10.77.0.2, 0 10.8.0.1>10.77.0.2, "
			 "0 10.8.0.1>192.0.2.2, 0 10.77.0.1>192.0.2.2");
}
END_TEST

/* Rails are paired by network, even if the two cards list the networks in
 * different order. */
START_TEST(rails_are_paired)
{
	begin();
	add(&a, 0, "10.1.0.1");
	add(&a, 1, "10.2.0.1");
	add(&b, 0, "10.2.0.2");
	add(&b, 1, "10.1.0.2");
	ck_assert_str_eq(found(), "0 10.1.0.1>10.1.0.2, 1 10.2.0.1>10.2.0.2");
}
END_TEST

/* All pairs of rails fit equally well. Both cards must still choose the same
 * pairs, whichever has the lower card id. */
START_TEST(pairs_are_the_same_on_both_sides)
{
	unsigned n, m, i, j;
	struct side c;

	begin();
	add(&a, 0, "10.128.0.1");
	add(&a, 1, "10.129.0.1");
	add(&b, 0, "10.2.0.2");
	add(&b, 1, "10.3.0.2");
	for (i = 0; i < 2; i++) {
		struct bcl_host_way back[BCL_HOST_WAYS];

		n = bcl_host_ways(&a.context, &b.address, ways);
		m = bcl_host_ways(&b.context, &a.address, back);
		ck_assert_uint_eq(n, 2);
		ck_assert_uint_eq(m, 2);
		for (j = 0; j < 2; j++)
			ck_assert_uint_eq(back[ways[j].end].wire,
					  ways[back[ways[j].end].wire].end);
		c = a;
		a = b;
		b = c;
		a.context.card = &a.host;
		b.context.card = &b.host;
	}
}
END_TEST

/* A rail of the peer without a partner is tried last, by the rail that fits
 * best. A rail of this card without a partner gets no way here; the peer adds
 * one. */
START_TEST(what_is_left_is_tried_at_last)
{
	begin();
	add(&a, 0, "10.1.0.1");
	add(&b, 0, "10.1.0.2");
	add(&b, 1, "10.2.0.2");
	ck_assert_str_eq(found(), "0 10.1.0.1>10.1.0.2, 0 10.1.0.1>10.2.0.2");
	begin();
	add(&a, 0, "10.1.0.1");
	add(&a, 1, "10.2.0.1");
	add(&b, 0, "10.1.0.2");
	ck_assert_str_eq(found(), "0 10.1.0.1>10.1.0.2");
}
END_TEST

/* An address of both cards leads nowhere between two hosts, as frames to the
 * address stay on the sender's host. On one host the address is the best
 * way. */
START_TEST(an_address_that_both_have_comes_last)
{
	begin();
	add(&a, 0, "192.168.56.1");
	add(&a, 1, "10.1.0.1");
	add(&b, 0, "192.168.56.1");
	add(&b, 1, "10.200.0.2");
	ck_assert_str_eq(found(), "1 10.1.0.1>10.200.0.2, "
				  "0 192.168.56.1>192.168.56.1");
	b.address.host = a.context.host;
	ck_assert_str_eq(found(), "0 192.168.56.1>192.168.56.1, "
				  "1 10.1.0.1>10.200.0.2");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ways");
	TCase *tcase = tcase_create("ways");

	tcase_add_test(tcase, by_family);
	tcase_add_test(tcase, the_likely_first);
	tcase_add_test(tcase, rails_are_paired);
	tcase_add_test(tcase, pairs_are_the_same_on_both_sides);
	tcase_add_test(tcase, what_is_left_is_tried_at_last);
	tcase_add_test(tcase, an_address_that_both_have_comes_last);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
