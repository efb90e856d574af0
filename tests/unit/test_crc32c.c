/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <bcl/wire.h>

#include "env/crc32c.h"

enum {
	SIZE = 9100
};

static uint8_t data[SIZE];

static uint32_t bit_by_bit(uint32_t crc, const uint8_t *p, size_t length)
{
	crc = ~crc;
	while (length--) {
		int i;

		crc ^= *p++;
		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static void fill(void)
{
	uint32_t seed = 1;
	size_t i;

	for (i = 0; i < SIZE; i++) {
		seed = seed * 1664525 + 1013904223;
		data[i] = (uint8_t)(seed >> 24);
	}
}

/* RFC 3720, B.4, and the usual check value. */
START_TEST(known_values)
{
	static const struct {
		uint32_t crc;
		int first, step;
	} iscsi[] = {
		{ 0x8a9136aa, 0, 0 },
		{ 0x62a8ab43, 0xff, 0 },
		{ 0x46dd794e, 0, 1 },
		{ 0x113fdb5c, 31, -1 },
	};
	const struct bcl_crc32c_way *way = &bcl_crc32c_ways[_i];
	uint8_t bytes[32];
	unsigned i, j;

	if (!way->usable()) {
		printf("this processor has no %s\n", way->name);
		return;
	}
	ck_assert_uint_eq(way->run(0, "123456789", 9), 0xe3069283);
	ck_assert_uint_eq(way->run(0, "", 0), 0);
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 32; j++)
			bytes[j] = (uint8_t)(iscsi[i].first +
					     iscsi[i].step * (int)j);
		ck_assert_uint_eq(way->run(0, bytes, 32), iscsi[i].crc);
	}
}
END_TEST

START_TEST(all_lengths)
{
	const struct bcl_crc32c_way *way = &bcl_crc32c_ways[_i];
	size_t length;

	if (!way->usable())
		return;
	fill();
	for (length = 0; length <= 4000; length++)
		ck_assert_uint_eq(
			way->run((uint32_t)length, data + 1, length),
			bit_by_bit((uint32_t)length, data + 1, length));
	ck_assert_uint_eq(way->run(7, data + 3, SIZE - 3),
			  bit_by_bit(7, data + 3, SIZE - 3));
}
END_TEST

START_TEST(continued)
{
	size_t cut;

	fill();
	for (cut = 0; cut <= 1400; cut += 7)
		ck_assert_uint_eq(bcl_crc32c(bcl_crc32c(0, data, cut),
					     data + cut, 1400 - cut),
				  bit_by_bit(0, data, 1400));
}
END_TEST

/* The copy must give the checksum of the bytes, and must change no byte around
 * the target. */
START_TEST(copy)
{
	static uint8_t to[SIZE];
	size_t length;

	fill();
	for (length = 0; length <= 4000; length++) {
		const uint8_t *from = data + length % 61;
		uint8_t *at = to + 64 + length % 67;

		memset(to, 0x5a, SIZE);
		ck_assert_uint_eq(
			bcl_crc32c_copy((uint32_t)length, at, from, length),
			bcl_crc32c((uint32_t)length, from, length));
		ck_assert(!memcmp(at, from, length));
		ck_assert_uint_eq(at[-1], 0x5a);
		ck_assert_uint_eq(at[length], 0x5a);
	}
}
END_TEST

/* All bytes of the headers count, except the checksums. */
START_TEST(headers)
{
	uint8_t bytes[BCL_HEADERS_SIZE];
	uint32_t crc;

	fill();
	memcpy(bytes, data, sizeof(bytes));
	crc = bcl_crc32c_headers(bytes);
	ck_assert_uint_eq(crc, bit_by_bit(bit_by_bit(0, bytes, 32), bytes + 40,
					  sizeof(bytes) - 40));
	for (unsigned i = 0; i < sizeof(bytes); i++) {
		bytes[i] ^= 1;
		ck_assert_int_eq(bcl_crc32c_headers(bytes) == crc,
				 i >= 32 && i < 40);
		bytes[i] ^= 1;
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("crc32c");
	TCase *tcase = tcase_create("crc32c");

	tcase_add_loop_test(tcase, known_values, 0, (int)bcl_crc32c_nways);
	tcase_add_loop_test(tcase, all_lengths, 0, (int)bcl_crc32c_nways);
	tcase_add_test(tcase, continued);
	tcase_add_test(tcase, copy);
	tcase_add_test(tcase, headers);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
