/* SPDX-License-Identifier: MIT */
/* The wire and the host-card boundary, byte by byte. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <bcl/card_abi.h>
#include <bcl/status.h>

static void same(const void *bytes, const char *hex, size_t length)
{
	char text[256];

	ck_assert_uint_eq(strlen(hex), 2 * length);
	for (size_t i = 0; i < length; i++)
		sprintf(text + 2 * i, "%02x", ((const uint8_t *)bytes)[i]);
	ck_assert_str_eq(text, hex);
}

START_TEST(integers)
{
	struct bcl_le16 a = bcl_put16(0x1234);
	struct bcl_le32 b = bcl_put32(0x12345678);
	struct bcl_le64 c = bcl_put64(0x123456789abcdef0);

	same(&a, "3412", 2);
	same(&b, "78563412", 4);
	same(&c, "f0debc9a78563412", 8);
	ck_assert_uint_eq(bcl_get16(a), 0x1234);
	ck_assert_uint_eq(bcl_get32(b), 0x12345678);
	ck_assert_uint_eq(bcl_get64(c), 0x123456789abcdef0);
	ck_assert(bcl_before(1, 2));
	ck_assert(!bcl_before(2, 2));
	ck_assert(bcl_before(0xffffffff, 0));
	ck_assert(!bcl_before(0, 0xffffffff));
}
END_TEST

START_TEST(frame_header)
{
	struct bcl_frame_header header = {
		.magic = bcl_put16(BCL_WIRE_MAGIC),
		.version = BCL_WIRE_VERSION,
		.kind = BCL_FRAME_DATA | BCL_FRAME_PCRC | BCL_FRAME_ASK,
		.conn = bcl_put32(0x01020304),
		.card = bcl_put64(0x1112131415161718),
		.seq = bcl_put32(0x21222324),
		.ack = bcl_put32(0x31323334),
		.done = bcl_put32(0x41424344),
		.base = bcl_put32(0x51525354),
		.pcrc = bcl_put32(0x61626364),
		.hcrc = bcl_put32(0x71727374),
	};

	same(&header,
	     "13bc03c5"
	     "04030201"
	     "1817161514131211"
	     "24232221"
	     "34333231"
	     "44434241"
	     "54535251"
	     "64636261"
	     "74737271",
	     sizeof(header));
}
END_TEST

START_TEST(segment_header)
{
	struct bcl_segment_header segment = {
		.op = BCL_SEG_PUT_NOTIFY,
		.type = 0x0a,
		.length = bcl_put16(0x0102),
		.src_port = bcl_put16(0x0304),
		.dst_port = bcl_put16(0x0506),
		.msg = bcl_put32(0x11121314),
		.prev = bcl_put32(0x21222324),
		.offset = bcl_put32(0x31323334),
		.total = bcl_put32(0x41424344),
		.target = bcl_put32(0x51525354),
		.arg32 = bcl_put32(0x61626364),
		.targ64 = bcl_put64(0x7172737475767778),
	};

	same(&segment,
	     "040a"
	     "0201"
	     "0403"
	     "0605"
	     "14131211"
	     "24232221"
	     "34333231"
	     "44434241"
	     "54535251"
	     "64636261"
	     "7877767574737271",
	     sizeof(segment));
}
END_TEST

START_TEST(hello_and_refuse)
{
	struct bcl_hello hello = {
		.card = bcl_put64(0x0102030405060708),
		.incarnation = bcl_put64(0x1112131415161718),
		.nonce = bcl_put64(0x3132333435363738),
		.peer_nonce = bcl_put64(0x4142434445464748),
		.peer_incarnation = bcl_put64(0x2122232425262728),
		.conn = bcl_put32(0x31323334),
		.window = bcl_put32(0x41424344),
		.max_frame = bcl_put16(0x5152),
		.features = bcl_put16(BCL_FEATURE_PCRC),
		.first_msg = bcl_put32(0x61626364),
		.first_seq = bcl_put32(0x71727374),
		.rail = 3,
		.turn = 9,
		.heard = 7,
		.seal = bcl_put32(0x81828384),
		.proof = bcl_put64(0x9192939495969798),
	};
	struct bcl_refuse refuse = { bcl_put32(BCL_ERR_VERSION),
				     bcl_put32(BCL_WIRE_VERSION),
				     bcl_put64(0xa1a2a3a4a5a6a7a8) };

	same(&hello,
	     "0807060504030201"
	     "1817161514131211"
	     "3837363534333231"
	     "4847464544434241"
	     "2827262524232221"
	     "34333231"
	     "44434241"
	     "5251"
	     "0100"
	     "64636261"
	     "74737271"
	     "03090700"
	     "84838281"
	     "00000000"
	     "9897969594939291",
	     sizeof(hello));
	same(&refuse,
	     "43000000"
	     "03000000"
	     "a8a7a6a5a4a3a2a1",
	     sizeof(refuse));
}
END_TEST

/* Numbers that older programs were built with. */
START_TEST(numbers)
{
	static const struct {
		unsigned is, was;
	} n[] = {
		{ BCL_WIRE_MAGIC, 0xbc13 },  { BCL_ETHERTYPE, 0x88b5 },
		{ BCL_FRAME_HELLO, 1 },	     { BCL_FRAME_HELLO_ACK, 2 },
		{ BCL_FRAME_REFUSE, 3 },     { BCL_FRAME_RESET, 4 },
		{ BCL_FRAME_DATA, 5 },	     { BCL_FRAME_ACK, 6 },
		{ BCL_FRAME_PING, 7 },	     { BCL_FRAME_BYE, 8 },
		{ BCL_FRAME_PARK, 9 },	     { BCL_SEG_SYSTEM, 1 },
		{ BCL_SEG_CHANNEL, 2 },	     { BCL_SEG_PUT, 3 },
		{ BCL_SEG_PUT_NOTIFY, 4 },   { BCL_SEG_GET, 5 },
		{ BCL_SEG_GET_REPLY, 6 },    { BCL_SEG_FETCH_ADD, 7 },
		{ BCL_SEG_COMPARE_SWAP, 8 }, { BCL_SEG_ATOMIC_REPLY, 9 },
		{ BCL_SEG_SACK, 16 },	     { BCL_SEG_VERDICT, 17 },
		{ BCL_SEG_ROOM, 18 },	     { BCL_SEG_WITHDRAW, 19 },
		{ BCL_SEG_RAIL_DOWN, 20 },   { BCL_VERDICT_DELIVERED, 1 },
		{ BCL_VERDICT_REFUSED, 2 },  { BCL_VERDICT_NOPORT, 3 },
		{ BCL_VERDICT_MEMORY, 4 },   { BCL_VERDICT_TRUNCATED, 5 },
		{ BCL_REQ_FENCE, 32 },	     { BCL_CQ_SENT, 1 },
		{ BCL_CQ_SYSTEM, 2 },	     { BCL_CQ_CHANNEL, 3 },
		{ BCL_CQ_NOTIFY, 4 },	     { BCL_CQ_READ, 5 },
		{ BCL_CQ_REPOST, 6 },
		{ BCL_FRAME_MIN, 80 },	     { BCL_MSG_MEMORY, 2048 },
		{ BCL_MSG_AHEAD, 1024 },     { BCL_BLOCK_SIZE, 4352 },
		{ BCL_BLOCK_SHORT, 128 },    { BCL_REQUEST_INLINE, 160 },
		{ BCL_CARD_ABI, 9 },
	};

	for (unsigned i = 0; i < sizeof(n) / sizeof(n[0]); i++)
		ck_assert_uint_eq(n[i].is, n[i].was);
	ck_assert_uint_eq(bcl_blocks_size(4, 0), 17920);
	ck_assert_uint_eq(bcl_block_at(4, 1, 129), 4352);
	ck_assert_uint_eq(bcl_block_at(4, 1, 128), 17536);
}
END_TEST

/* Offsets in host memory, by a byte that is not 0. */
static size_t offset_of(const void *object, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (((const uint8_t *)object)[i])
			return i;
	return size;
}

#define AT(type, member, offset)                                               \
	do {                                                                   \
		struct type object = { 0 };                                    \
                                                                               \
		memset(&object.member, 1, sizeof(object.member));              \
		ck_assert_uint_eq(offset_of(&object, sizeof(object)), offset); \
	} while (0)

START_TEST(host_memory)
{
	ck_assert_uint_eq(sizeof(struct bcl_request), 256);
	AT(bcl_request, op, 0);
	AT(bcl_request, type, 1);
	AT(bcl_request, dst_port, 2);
	AT(bcl_request, node, 4);
	AT(bcl_request, target, 8);
	AT(bcl_request, length, 12);
	AT(bcl_request, targ64, 16);
	AT(bcl_request, cookie, 24);
	AT(bcl_request, arg32, 32);
	AT(bcl_request, inline_len, 36);
	AT(bcl_request, nref, 38);
	AT(bcl_request, refs, 48);
	AT(bcl_request, inlined, 96);
	ck_assert_uint_eq(sizeof(struct bcl_memref), 16);
	AT(bcl_memref, offset, 0);
	AT(bcl_memref, handle, 8);
	AT(bcl_memref, length, 12);
	ck_assert_uint_eq(sizeof(struct bcl_completion), 64);
	AT(bcl_completion, cookie, 0);
	AT(bcl_completion, targ64, 8);
	AT(bcl_completion, card, 16);
	AT(bcl_completion, length, 24);
	AT(bcl_completion, index, 28);
	AT(bcl_completion, node, 32);
	AT(bcl_completion, arg32, 36);
	AT(bcl_completion, src_port, 40);
	AT(bcl_completion, status, 42);
	AT(bcl_completion, type, 44);
	AT(bcl_completion, kind, 45);
	AT(bcl_completion, lap, 60);
	ck_assert_uint_eq(sizeof(struct bcl_port_indices), 192);
	AT(bcl_port_indices, requests_made, 0);
	AT(bcl_port_indices, blocks_freed, 64);
	AT(bcl_port_indices, sends_read, 128);
	AT(bcl_port_indices, receives_read, 132);
	AT(bcl_port_indices, sleeping, 136);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wire");
	TCase *tcase = tcase_create("bytes");

	tcase_add_test(tcase, integers);
	tcase_add_test(tcase, frame_header);
	tcase_add_test(tcase, segment_header);
	tcase_add_test(tcase, hello_and_refuse);
	tcase_add_test(tcase, numbers);
	tcase_add_test(tcase, host_memory);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
