/* SPDX-License-Identifier: MIT */
/*
 * CRC32C by table, by the crc32 instruction, and by carry-less multiplication
 * in registers of 128 and 512 bits; see crc32c.h.
 *
 * Polynomials over GF(2) are stored reflected: bit i of an n-bit word is the
 * coefficient of x^(n-1-i). Folding by carry-less multiplication follows Gopal
 * et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction", Intel 2009. All constants are powers of x modulo 0x11edc6f41.
 */
#include "env/crc32c.h"

#include <string.h>

#include <bcl/wire.h>

enum {
	CHECKSUMS = offsetof(struct bcl_frame_header, pcrc),
	SEGMENT = sizeof(struct bcl_frame_header), /* the first segment
						    * begins behind the
						    * checksums */
	FOLD_MIN = 128, /* bytes; below, only the crc32 instruction */
	WIDE_MIN = 256, /* bytes; below, no 512-bit registers */
};

static const uint32_t table[256] = {
	0x00000000, 0xf26b8303, 0xe13b70f7, 0x1350f3f4, 0xc79a971f, 0x35f1141c,
	0x26a1e7e8, 0xd4ca64eb, 0x8ad958cf, 0x78b2dbcc, 0x6be22838, 0x9989ab3b,
	0x4d43cfd0, 0xbf284cd3, 0xac78bf27, 0x5e133c24, 0x105ec76f, 0xe235446c,
	0xf165b798, 0x030e349b, 0xd7c45070, 0x25afd373, 0x36ff2087, 0xc494a384,
	0x9a879fa0, 0x68ec1ca3, 0x7bbcef57, 0x89d76c54, 0x5d1d08bf, 0xaf768bbc,
	0xbc267848, 0x4e4dfb4b, 0x20bd8ede, 0xd2d60ddd, 0xc186fe29, 0x33ed7d2a,
	0xe72719c1, 0x154c9ac2, 0x061c6936, 0xf477ea35, 0xaa64d611, 0x580f5512,
	0x4b5fa6e6, 0xb93425e5, 0x6dfe410e, 0x9f95c20d, 0x8cc531f9, 0x7eaeb2fa,
	0x30e349b1, 0xc288cab2, 0xd1d83946, 0x23b3ba45, 0xf779deae, 0x05125dad,
	0x1642ae59, 0xe4292d5a, 0xba3a117e, 0x4851927d, 0x5b016189, 0xa96ae28a,
	0x7da08661, 0x8fcb0562, 0x9c9bf696, 0x6ef07595, 0x417b1dbc, 0xb3109ebf,
	0xa0406d4b, 0x522bee48, 0x86e18aa3, 0x748a09a0, 0x67dafa54, 0x95b17957,
	0xcba24573, 0x39c9c670, 0x2a993584, 0xd8f2b687, 0x0c38d26c, 0xfe53516f,
	0xed03a29b, 0x1f682198, 0x5125dad3, 0xa34e59d0, 0xb01eaa24, 0x42752927,
	0x96bf4dcc, 0x64d4cecf, 0x77843d3b, 0x85efbe38, 0xdbfc821c, 0x2997011f,
	0x3ac7f2eb, 0xc8ac71e8, 0x1c661503, 0xee0d9600, 0xfd5d65f4, 0x0f36e6f7,
	0x61c69362, 0x93ad1061, 0x80fde395, 0x72966096, 0xa65c047d, 0x5437877e,
	0x4767748a, 0xb50cf789, 0xeb1fcbad, 0x197448ae, 0x0a24bb5a, 0xf84f3859,
	0x2c855cb2, 0xdeeedfb1, 0xcdbe2c45, 0x3fd5af46, 0x7198540d, 0x83f3d70e,
	0x90a324fa, 0x62c8a7f9, 0xb602c312, 0x44694011, 0x5739b3e5, 0xa55230e6,
	0xfb410cc2, 0x092a8fc1, 0x1a7a7c35, 0xe811ff36, 0x3cdb9bdd, 0xceb018de,
	0xdde0eb2a, 0x2f8b6829, 0x82f63b78, 0x709db87b, 0x63cd4b8f, 0x91a6c88c,
	0x456cac67, 0xb7072f64, 0xa457dc90, 0x563c5f93, 0x082f63b7, 0xfa44e0b4,
	0xe9141340, 0x1b7f9043, 0xcfb5f4a8, 0x3dde77ab, 0x2e8e845f, 0xdce5075c,
	0x92a8fc17, 0x60c37f14, 0x73938ce0, 0x81f80fe3, 0x55326b08, 0xa759e80b,
	0xb4091bff, 0x466298fc, 0x1871a4d8, 0xea1a27db, 0xf94ad42f, 0x0b21572c,
	0xdfeb33c7, 0x2d80b0c4, 0x3ed04330, 0xccbbc033, 0xa24bb5a6, 0x502036a5,
	0x4370c551, 0xb11b4652, 0x65d122b9, 0x97baa1ba, 0x84ea524e, 0x7681d14d,
	0x2892ed69, 0xdaf96e6a, 0xc9a99d9e, 0x3bc21e9d, 0xef087a76, 0x1d63f975,
	0x0e330a81, 0xfc588982, 0xb21572c9, 0x407ef1ca, 0x532e023e, 0xa145813d,
	0x758fe5d6, 0x87e466d5, 0x94b49521, 0x66df1622, 0x38cc2a06, 0xcaa7a905,
	0xd9f75af1, 0x2b9cd9f2, 0xff56bd19, 0x0d3d3e1a, 0x1e6dcdee, 0xec064eed,
	0xc38d26c4, 0x31e6a5c7, 0x22b65633, 0xd0ddd530, 0x0417b1db, 0xf67c32d8,
	0xe52cc12c, 0x1747422f, 0x49547e0b, 0xbb3ffd08, 0xa86f0efc, 0x5a048dff,
	0x8ecee914, 0x7ca56a17, 0x6ff599e3, 0x9d9e1ae0, 0xd3d3e1ab, 0x21b862a8,
	0x32e8915c, 0xc083125f, 0x144976b4, 0xe622f5b7, 0xf5720643, 0x07198540,
	0x590ab964, 0xab613a67, 0xb831c993, 0x4a5a4a90, 0x9e902e7b, 0x6cfbad78,
	0x7fab5e8c, 0x8dc0dd8f, 0xe330a81a, 0x115b2b19, 0x020bd8ed, 0xf0605bee,
	0x24aa3f05, 0xd6c1bc06, 0xc5914ff2, 0x37faccf1, 0x69e9f0d5, 0x9b8273d6,
	0x88d28022, 0x7ab90321, 0xae7367ca, 0x5c18e4c9, 0x4f48173d, 0xbd23943e,
	0xf36e6f75, 0x0105ec76, 0x12551f82, 0xe03e9c81, 0x34f4f86a, 0xc69f7b69,
	0xd5cf889d, 0x27a40b9e, 0x79b737ba, 0x8bdcb4b9, 0x988c474d, 0x6ae7c44e,
	0xbe2da0a5, 0x4c4623a6, 0x5f16d052, 0xad7d5351,
};

static uint32_t by_table(uint32_t crc, const void *data, size_t length)
{
	const uint8_t *p = data;

	crc = ~crc;
	while (length--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];
	return ~crc;
}

static uint32_t headers_by_table(const uint8_t *p)
{
	return by_table(by_table(0, p, CHECKSUMS), p + SEGMENT,
			BCL_HEADERS_SIZE - SEGMENT);
}

static bool always_usable(void)
{
	return true;
}

#ifdef __x86_64__

#include <immintrin.h>

#define WITH_CRC  __attribute__((target("sse4.2")))
#define WITH_FOLD __attribute__((target("sse4.2,pclmul")))
#define WITH_WIDE __attribute__((target("sse4.2,pclmul,avx512f,vpclmulqdq")))

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Continues a CRC that is not inverted, without the inversions at the ends. */
WITH_CRC static inline uint64_t continue_crc(uint64_t crc, const uint8_t *p,
					     size_t length)
{
	for (; length >= 8; length -= 8, p += 8)
		crc = _mm_crc32_u64(crc, load64(p));
	while (length--)
		crc = _mm_crc32_u8((uint32_t)crc, *p++);
	return crc;
}

/* For short pieces: 32 bytes at a time. The data is also copied to `to`,
 * unless `to` is NULL. */
WITH_CRC static inline uint32_t in_words(uint32_t start, uint8_t *to,
					 const uint8_t *p, size_t length)
{
	uint64_t crc = (uint32_t)~start;

	for (; length >= 32; length -= 32, p += 32) {
		crc = _mm_crc32_u64(crc, load64(p));
		crc = _mm_crc32_u64(crc, load64(p + 8));
		crc = _mm_crc32_u64(crc, load64(p + 16));
		crc = _mm_crc32_u64(crc, load64(p + 24));
		if (!to)
			continue;
		memcpy(to, p, 32);
		to += 32;
	}
	if (to)
		memcpy(to, p, length);
	return (uint32_t)~continue_crc(crc, p, length);
}

WITH_CRC static uint32_t by_words(uint32_t crc, const void *data, size_t length)
{
	return in_words(crc, NULL, data, length);
}

WITH_CRC static uint32_t copy_words(uint32_t crc, void *to, const void *data,
				    size_t length)
{
	return in_words(crc, to, data, length);
}

WITH_CRC static uint32_t headers_by_words(const uint8_t *p)
{
	uint64_t crc = UINT32_MAX;
	size_t at;

#pragma GCC unroll 16
	for (at = 0; at < BCL_HEADERS_SIZE; at += 8)
		if (at != CHECKSUMS)
			crc = _mm_crc32_u64(crc, load64(p + at));
	return (uint32_t)~crc;
}

/*
 * Factors that move 128 bits over a distance of d bits: x^(d + 63) for the
 * first word, x^(d - 1) for the second, as reflected 64-bit words.
 */
#define OVER_128  0x3171d43000000000, 0x3743f7bd00000000
#define OVER_256  0xa2158b3400000000, 0x33ccbbbc00000000
#define OVER_384  0x6051243f00000000, 0xa46ef4aa00000000
#define OVER_512  0x75bba45b00000000, 0x1c19243b00000000
#define OVER_1024 0x7417153f00000000, 0x6577b24500000000
#define OVER_1536 0x31c9460800000000, 0x7ccbbbf200000000
#define OVER_2048 0x1426a81500000000, 0xe9a5d8be00000000

#define FOUR(a, b)                                                 \
	_mm512_set_epi64((long long)a, (long long)b, (long long)a, \
			 (long long)b, (long long)a, (long long)b, \
			 (long long)a, (long long)b)
#define SAME(pair) FOUR(pair)
#define ONE(a, b)  _mm_set_epi64x((long long)a, (long long)b)
#define PAIR(pair) ONE(pair)

/* Returns value moved by `over`, plus next. */
WITH_FOLD static inline __m128i fold(__m128i value, __m128i over, __m128i next)
{
	return _mm_xor_si128(
		_mm_xor_si128(_mm_clmulepi64_si128(value, over, 0x00),
			      _mm_clmulepi64_si128(value, over, 0x11)),
		next);
}

/* Loads 16 bytes, and also copies them to `at`, unless `at` is NULL. */
WITH_FOLD static inline __m128i load_and_copy(const uint8_t *p, uint8_t *at)
{
	const __m128i value = _mm_loadu_si128((const void *)p);

	if (at)
		_mm_storeu_si128((void *)at, value);
	return value;
}

/* Returns the CRC of 64 bytes of folded data and the less than 64 bytes behind
 * it; `to` as for in_words(). */
WITH_FOLD static inline uint32_t end_fold(const __m128i value[4], uint8_t *to,
					  const uint8_t *p, size_t length)
{
	__m128i last = fold(value[2], PAIR(OVER_128), value[3]);
	uint64_t crc;

	last = fold(value[1], PAIR(OVER_256), last);
	last = fold(value[0], PAIR(OVER_384), last);
	crc = _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(last));
	crc = _mm_crc32_u64(crc, (uint64_t)_mm_extract_epi64(last, 1));
	if (to)
		memcpy(to, p, length);
	return (uint32_t)~continue_crc(crc, p, length);
}

/* In 128-bit registers, for at least 64 bytes; `to` as for in_words(). */
WITH_FOLD static inline uint32_t in_fold(uint32_t start, uint8_t *to,
					 const uint8_t *p, size_t length)
{
	__m128i value[4];
	size_t at = 0;

#define TAKE(n) load_and_copy(p + at + (n), to ? to + at + (n) : NULL)
	value[0] = _mm_xor_si128(TAKE(0), _mm_cvtsi32_si128((int)~start));
	value[1] = TAKE(16);
	value[2] = TAKE(32);
	value[3] = TAKE(48);
	for (at = 64; length - at >= 64; at += 64) {
		const __m128i over = PAIR(OVER_512);

		value[0] = fold(value[0], over, TAKE(0));
		value[1] = fold(value[1], over, TAKE(16));
		value[2] = fold(value[2], over, TAKE(32));
		value[3] = fold(value[3], over, TAKE(48));
	}
#undef TAKE
	return end_fold(value, to ? to + at : NULL, p + at, length - at);
}

WITH_FOLD static uint32_t by_fold(uint32_t crc, const void *data, size_t length)
{
	return length < FOLD_MIN ? by_words(crc, data, length)
				 : in_fold(crc, NULL, data, length);
}

WITH_FOLD static uint32_t copy_fold(uint32_t crc, void *to, const void *data,
				    size_t length)
{
	return in_fold(crc, to, data, length);
}

/* As fold(), four values at once. */
WITH_WIDE static inline __m512i fold_wide(__m512i value, __m512i over,
					  __m512i next)
{
	return _mm512_ternarylogic_epi64(
		_mm512_clmulepi64_epi128(value, over, 0x00),
		_mm512_clmulepi64_epi128(value, over, 0x11), next, 0x96);
}

/* Loads 64 bytes, and also copies them to `at`, unless `at` is NULL. */
WITH_WIDE static inline __m512i load_and_copy_wide(const uint8_t *p,
						   uint8_t *at)
{
	const __m512i value = _mm512_loadu_si512(p);

	if (at)
		_mm512_storeu_si512(at, value);
	return value;
}

/* In 512-bit registers, for at least WIDE_MIN bytes; `to` as for in_words(). */
WITH_WIDE static inline uint32_t in_wide(uint32_t start, uint8_t *to,
					 const uint8_t *p, size_t length)
{
	__m512i a, b, c, d;
	__m128i value[4];
	size_t at = 0;

#define TAKE(n) load_and_copy_wide(p + at + (n), to ? to + at + (n) : NULL)
	a = _mm512_xor_si512(TAKE(0), _mm512_zextsi128_si512(
					      _mm_cvtsi32_si128((int)~start)));
	b = TAKE(64);
	c = TAKE(128);
	d = TAKE(192);
	for (at = 256; length - at >= 256; at += 256) {
		const __m512i over = SAME(OVER_2048);

		a = fold_wide(a, over, TAKE(0));
		b = fold_wide(b, over, TAKE(64));
		c = fold_wide(c, over, TAKE(128));
		d = fold_wide(d, over, TAKE(192));
	}
	d = fold_wide(a, SAME(OVER_1536), d);
	d = fold_wide(b, SAME(OVER_1024), d);
	d = fold_wide(c, SAME(OVER_512), d);
	for (; length - at >= 64; at += 64)
		d = fold_wide(d, SAME(OVER_512), TAKE(0));
#undef TAKE
	_mm512_storeu_si512(value, d);
	return end_fold(value, to ? to + at : NULL, p + at, length - at);
}

WITH_WIDE static uint32_t by_wide(uint32_t crc, const void *data, size_t length)
{
	return length < WIDE_MIN ? by_fold(crc, data, length)
				 : in_wide(crc, NULL, data, length);
}

WITH_WIDE static uint32_t copy_wide(uint32_t crc, void *to, const void *data,
				    size_t length)
{
	return in_wide(crc, to, data, length);
}

static bool has_words(void)
{
	return __builtin_cpu_supports("sse4.2");
}

static bool has_wide(void)
{
	return __builtin_cpu_supports("vpclmulqdq") &&
	       __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("sse4.2");
}

static bool has_fold(void)
{
	return __builtin_cpu_supports("pclmul") &&
	       __builtin_cpu_supports("sse4.2");
}

#else

static bool has_words(void)
{
	return false;
}

static bool has_fold(void)
{
	return false;
}

static bool has_wide(void)
{
	return false;
}

#define by_words	 by_table
#define by_fold		 by_table
#define by_wide		 by_table
#define copy_words	 copy_by_table
#define copy_fold	 copy_by_table
#define copy_wide	 copy_by_table
#define headers_by_words headers_by_table

#endif

static uint32_t copy_by_table(uint32_t crc, void *to, const void *data,
			      size_t length)
{
	memcpy(to, data, length);
	return by_table(crc, data, length);
}

const struct bcl_crc32c_way bcl_crc32c_ways[] = {
	{ "VPCLMULQDQ, 512 bits", has_wide, by_wide },
	{ "PCLMULQDQ, 128 bits", has_fold, by_fold },
	{ "crc32q", has_words, by_words },
	{ "table", always_usable, by_table },
};
const unsigned bcl_crc32c_nways =
	sizeof(bcl_crc32c_ways) / sizeof(bcl_crc32c_ways[0]);

/* Each call asks the processor for its features, which is a load and a test. */
uint32_t bcl_crc32c(uint32_t crc, const void *data, size_t length)
{
	if (length >= WIDE_MIN && has_wide())
		return by_wide(crc, data, length);
	if (length >= FOLD_MIN && has_fold())
		return by_fold(crc, data, length);
	return has_words() ? by_words(crc, data, length)
			   : by_table(crc, data, length);
}

uint32_t bcl_crc32c_copy(uint32_t crc, void *to, const void *data,
			 size_t length)
{
	if (length >= WIDE_MIN && has_wide())
		return copy_wide(crc, to, data, length);
	if (length >= FOLD_MIN && has_fold())
		return copy_fold(crc, to, data, length);
	return has_words() ? copy_words(crc, to, data, length)
			   : copy_by_table(crc, to, data, length);
}

uint32_t bcl_crc32c_headers(const void *headers)
{
	return has_words() ? headers_by_words(headers)
			   : headers_by_table(headers);
}
