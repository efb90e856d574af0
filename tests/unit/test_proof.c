/* SPDX-License-Identifier: MIT */
/* The proof of a key: the function, and the fields of a HELLO that the proof
 * covers. */
#include "unit.h"

#include <string.h>

#include <nicfw/proof.h>
#include <nicfw/siphash.h>

/* The values that the authors published: of the bytes 0 to n - 1, by the key 0
 * to 15. The paper works out the value of 15 bytes. */
START_TEST(as_published)
{
	static const struct {
		uint32_t length;
		uint64_t is;
	} values[] = {
		{ 0, 0x726fdb47dd0e0e31 },  { 1, 0x74f839c593dc67fd },
		{ 2, 0x0d6c8009d9a94f5a },  { 8, 0x93f5f5799a932462 },
		{ 15, 0xa129ca6149be45e5 },
	};
	uint8_t bytes[16];
	unsigned i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	for (i = 0; i < sizeof(values) / sizeof(*values); i++)
		ck_assert_uint_eq(
			bcl_nic_siphash(bytes, bytes, values[i].length),
			values[i].is);
}
END_TEST

struct greeting {
	struct bcl_frame_header header;
	struct bcl_hello hello;
};

static const uint8_t key[BCL_KEY_SIZE] = "a key of sixteen";

static void fill(struct greeting *greeting)
{
	uint8_t *bytes = (void *)greeting;
	unsigned i;

	for (i = 0; i < sizeof(*greeting); i++)
		bytes[i] = (uint8_t)(3 * i);
}

static uint64_t proof(const struct greeting *greeting, uint8_t kind)
{
	return bcl_nic_proof(key, kind, &greeting->header, &greeting->hello);
}

static uint32_t veil(const struct greeting *greeting, uint8_t kind)
{
	return bcl_nic_proof_veil(key, kind, &greeting->header,
				  &greeting->hello);
}

/* A changed byte in the callee's names, or in the HELLO before the proof, must
 * give another proof. A changed byte before the seal must give another veil. */
START_TEST(each_byte_counts)
{
	const unsigned head = sizeof(struct bcl_frame_header);
	struct greeting greeting, other;
	unsigned at;

	fill(&greeting);
	for (at = 0; at < sizeof(other); at++) {
		int to = at >= 4 && at < 16; /* conn, card */

		other = greeting;
		((uint8_t *)&other)[at] ^= 0x10;
		ck_assert_int_eq(
			proof(&other, BCL_FRAME_HELLO) !=
				proof(&greeting, BCL_FRAME_HELLO),
			to || (at >= head &&
			       at < head + offsetof(struct bcl_hello, proof)));
		ck_assert_int_eq(
			veil(&other, BCL_FRAME_HELLO) !=
				veil(&greeting, BCL_FRAME_HELLO),
			to || (at >= head &&
			       at < head + offsetof(struct bcl_hello, seal)));
	}
}
END_TEST

START_TEST(each_kind_has_its_own)
{
	static const uint8_t kinds[] = { BCL_FRAME_HELLO, BCL_FRAME_HELLO_ACK,
					 BCL_FRAME_PING };
	const uint8_t other[BCL_KEY_SIZE] = "a key of SIXTEEN";
	struct greeting greeting;
	unsigned i, k;

	fill(&greeting);
	for (i = 0; i < 3; i++) {
		ck_assert_uint_ne(proof(&greeting, kinds[i]),
				  bcl_nic_proof(other, kinds[i],
						&greeting.header,
						&greeting.hello));
		ck_assert_uint_ne((uint32_t)proof(&greeting, kinds[i]),
				  veil(&greeting, kinds[i]));
		for (k = 0; k < i; k++)
			ck_assert_uint_ne(proof(&greeting, kinds[i]),
					  proof(&greeting, kinds[k]));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("proof");
	TCase *tcase = tcase_create("proof");

	tcase_add_test(tcase, as_published);
	tcase_add_test(tcase, each_byte_counts);
	tcase_add_test(tcase, each_kind_has_its_own);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
