/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* SipHash-2-4, after the paper: see siphash.h. */
#include <nicfw/siphash.h>

#include <bcl/wire.h>

#include <nicfw/memory.h>

static inline uint64_t turned(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

/* SipRound, n times. */
static void rounds(uint64_t v[4], unsigned n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = turned(v[1], 13) ^ v[0];
		v[3] = turned(v[3], 16) ^ v[2];
		v[0] = turned(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = turned(v[1], 17) ^ v[2];
		v[3] = turned(v[3], 21) ^ v[0];
		v[2] = turned(v[2], 32);
	}
}

static void take_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

static uint64_t word_at(const uint8_t *at)
{
	struct bcl_le64 word;

	memcpy(&word, at, sizeof(word));
	return bcl_get64(word);
}

uint64_t bcl_nic_siphash(const uint8_t *key, const void *bytes, uint32_t length)
{
	const uint64_t first = word_at(key), second = word_at(key + 8);
	/* "somepseudorandomlygeneratedbytes" */
	uint64_t v[4] = { first ^ 0x736f6d6570736575,
			  second ^ 0x646f72616e646f6d,
			  first ^ 0x6c7967656e657261,
			  second ^ 0x7465646279746573 };
	const uint8_t *at = bytes;
	uint8_t last[8] = { 0 };
	uint32_t left;

	for (left = length; left >= 8; left -= 8, at += 8)
		take_word(v, word_at(at));
	memcpy(last, at, left);
	last[7] = (uint8_t)length;
	take_word(v, word_at(last));
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
