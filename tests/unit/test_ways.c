/* SPDX-License-Identifier: MIT */
/* Which addresses of two cards are paired, and in which order. */
#include "unit.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "transport/card/inside.h"

/* A side: its ends, and what it tells others of them. */
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

/* "0 10.0.0.1>10.0.0.2, ...": those of a's, with the rail. */
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

/* Both sides find the same pairs, of networks in another order, too. */
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

/* Nothing speaks for one pair or the other: each side takes the same. */
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

/* Of the rails of a host with more of them none is left out. */
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

/* What both have is nobody's but on one host. */
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
