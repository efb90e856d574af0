/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <string.h>

#include "transport/internal.h"

static const struct bcl_address sample = {
	.host = 0x1122334455667788,
	.card = 0xa1b2c3d4e5f60718,
	.key = { 0x4b, 0x45, 0x59, [15] = 0x7f },
	.number = 0x0203,
	.nwires = 3,
	.second = 4,
	.wire = {
		{ BCL_WIRE_UDP4, 6, { 10, 0, 0, 1, 0xbc, 0x13 } },
		{ BCL_WIRE_PACKET, 6, { 2, 4, 6, 8, 10, 12 } },
		{ BCL_WIRE_UDP6, 22, { 0xfd, [15] = 7, [16] = 0xbc, 0x13 } },
	},
};

static const uint8_t golden[] = {
	3,    0x13, 3,	  2, /* version, wires, port */
	0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* host */
	0x18, 0x07, 0xf6, 0xe5, 0xd4, 0xc3, 0xb2, 0xa1, /* card */
	0x4b, 0x45, 0x59, 0,	0,    0,    0,	  0,	/* key */
	0,    0,    0,	  0,	0,    0,    0,	  0x7f, 0x26,
	10,   0,    0,	  1,	0xbc, 0x13,	/* UDP over IPv4 */
	0x66, 2,    4,	  6,	8,    10,   12, /* packet */
	0x56, 0xfd, 0,	  0,	0,    0,    0,	  0,	0,
	0,    0,    0,	  0,	0,    0,    0,	  7, /* UDP, IPv6 */
	0xbc, 0x13, 0,	  0,	0,    0
};

START_TEST(golden_bytes)
{
	uint8_t blob[BCL_ADDRESS_MAX];
	struct bcl_address address;

	ck_assert_uint_eq(bcl_address_pack(&sample, blob), sizeof(golden));
	ck_assert_mem_eq(blob, golden, sizeof(golden));
	ck_assert_int_eq(bcl_address_unpack(golden, sizeof(golden), &address),
			 BCL_OK);
	ck_assert_mem_eq(&address, &sample, sizeof(sample));
}
END_TEST

START_TEST(what_finds_no_room_is_left_out)
{
	struct bcl_address address = sample, back;
	uint8_t blob[BCL_ADDRESS_MAX + 1];
	size_t length;

	for (unsigned i = 0; i < BCL_WIRES_MAX; i++)
		address.wire[i] = sample.wire[2];
	address.nwires = BCL_WIRES_MAX;
	address.wire[2] = sample.wire[0];
	address.second = 1 << 1 | 1 << 5;
	ck_assert(bcl_address_fits(sample.wire, 3));
	ck_assert(bcl_address_fits(address.wire, 3));
	ck_assert(!bcl_address_fits(address.wire, 4));
	blob[BCL_ADDRESS_MAX] = 0x5a;
	length = bcl_address_pack(&address, blob);
	ck_assert_uint_le(length, BCL_ADDRESS_MAX);
	ck_assert_uint_eq(blob[BCL_ADDRESS_MAX], 0x5a);
	ck_assert_int_eq(bcl_address_unpack(blob, length, &back), BCL_OK);
	ck_assert_uint_eq(back.nwires, 3);
	ck_assert_uint_eq(back.second, 1 << 1);
	ck_assert_mem_eq(&back.wire[1], &sample.wire[2],
			 sizeof(sample.wire[2]));
	ck_assert_mem_eq(&back.wire[2], &sample.wire[0],
			 sizeof(sample.wire[0]));
}
END_TEST

START_TEST(cut_short_anywhere)
{
	uint8_t copy[sizeof(golden)];
	struct bcl_address address;

	for (size_t length = 0; length < sizeof(golden); length++) {
		/* at the end of its memory, for the address sanitizer */
		uint8_t *end = copy + sizeof(copy) - length;

		memcpy(end, golden, length);
		ck_assert_int_eq(bcl_address_unpack(end, length, &address),
				 BCL_ERR_ARG);
	}
}
END_TEST

START_TEST(malformed)
{
	static const struct {
		unsigned at;
		uint8_t value;
		enum bcl_status status;
	} cases[] = {
		{ 0, 2, BCL_ERR_VERSION }, { 0, 4, BCL_ERR_VERSION },
		{ 1, 4, BCL_ERR_ARG },	   { 1, 2, BCL_ERR_ARG },
		{ 1, 7, BCL_ERR_ARG },	   { 1, 0x23, BCL_ERR_ARG },
		{ 1, 255, BCL_ERR_ARG },   { 36, 0x27, BCL_ERR_ARG },
		{ 36, 0x3f, BCL_ERR_ARG }, { 50, 0x57, BCL_ERR_ARG },
	};
	struct bcl_address address;
	uint8_t blob[sizeof(golden)];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memcpy(blob, golden, sizeof(golden));
		blob[cases[i].at] = cases[i].value;
		ck_assert_int_eq(
			bcl_address_unpack(blob, sizeof(blob), &address),
			cases[i].status);
	}
	memcpy(blob, golden, sizeof(golden));
	memset(blob + 2, 0, 2);
	ck_assert_int_eq(bcl_address_unpack(blob, sizeof(blob), &address),
			 BCL_ERR_ARG);
	memcpy(blob, golden, sizeof(golden));
	memset(blob + 12, 0, 8);
	ck_assert_int_eq(bcl_address_unpack(blob, sizeof(blob), &address),
			 BCL_ERR_ARG);
}
END_TEST

START_TEST(any_bytes)
{
	struct bcl_address address;
	uint32_t random = 12345;

	for (int i = 0; i < 200000; i++) {
		uint8_t blob[BCL_ADDRESS_MAX + 8];
		size_t length;

		random = random * 1664525 + 1013904223;
		length = (random >> 16) % sizeof(blob);
		for (size_t j = 0; j < length; j++) {
			random = random * 1664525 + 1013904223;
			blob[j] = (uint8_t)(random >> 24);
		}
		if (length > 1) {
			blob[0] = 3;
			blob[1] &= 31;
		}
		if (bcl_address_unpack(blob, length, &address))
			continue;
		ck_assert_uint_le(length, BCL_ADDRESS_MAX);
		ck_assert_uint_le(address.nwires, BCL_WIRES_MAX);
		for (unsigned j = 0; j < address.nwires; j++)
			ck_assert_uint_le(address.wire[j].length, 22);
	}
}
END_TEST

START_TEST(same_host_or_not)
{
	static const uint8_t boot[16] = { 1, 2, 3 }, reboot[16] = { 1, 2, 4 };
	uint64_t host = bcl_address_host("a", boot, "");

	ck_assert_uint_eq(host, bcl_address_host("a", boot, ""));
	ck_assert_uint_ne(host, bcl_address_host("b", boot, ""));
	ck_assert_uint_ne(host, bcl_address_host("a", reboot, ""));
	ck_assert_uint_ne(host, bcl_address_host("a", boot, "v"));
	ck_assert_uint_ne(bcl_address_host("a", boot, "v"),
			  bcl_address_host("a", boot, "w"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("address");
	TCase *tcase = tcase_create("address");

	tcase_add_test(tcase, golden_bytes);
	tcase_add_test(tcase, what_finds_no_room_is_left_out);
	tcase_add_test(tcase, cut_short_anywhere);
	tcase_add_test(tcase, malformed);
	tcase_add_test(tcase, any_bytes);
	tcase_add_test(tcase, same_host_or_not);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
