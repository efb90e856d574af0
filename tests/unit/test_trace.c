/* SPDX-License-Identifier: MIT */
#include "rails.h"

#include <unistd.h>

#include "wire/trace.h"

enum {
	SIZE = 1 << 20
};

static uint8_t file[SIZE];
static size_t file_length;

static uint32_t word(size_t at)
{
	uint32_t value;

	ck_assert_uint_le(at + 4, file_length);
	memcpy(&value, file + at, 4);
	return value;
}

static uint16_t half(size_t at)
{
	uint16_t value;

	memcpy(&value, file + at, 2);
	return value;
}

static void load(const char *name)
{
	FILE *stream = fopen(name, "r");

	ck_assert_ptr_nonnull(stream);
	file_length = fread(file, 1, SIZE, stream);
	fclose(stream);
}

/* The offset of the n-th block. Checks the chain of all blocks before. */
static size_t block(unsigned n)
{
	size_t at = 0;

	for (;; n--) {
		uint32_t length = word(at + 4);

		ck_assert_uint_ge(length, 12);
		ck_assert_uint_eq(length % 4, 0);
		ck_assert_uint_eq(word(at + length - 4), length);
		if (!n)
			return at;
		at += length;
	}
}

static void check_frame(size_t at, unsigned interface, unsigned direction,
			const uint8_t *bytes, size_t length, unsigned ip)
{
	const uint8_t *data = file + at + 28;
	uint32_t captured = word(at + 20), sum = 0, i;

	ck_assert_uint_eq(word(at), 6);
	ck_assert_uint_eq(word(at + 8), interface);
	ck_assert_uint_eq(captured, ip + 8 + length);
	ck_assert_uint_eq(word(at + 24), captured);
	ck_assert_mem_eq(data + ip + 8, bytes, length);
	ck_assert_uint_eq(data[ip + 4] << 8 | data[ip + 5], 8 + length);
	if (ip == 20) {
		ck_assert_uint_eq(data[0], 0x45);
		ck_assert_uint_eq(data[2] << 8 | data[3], captured);
		for (i = 0; i < 20; i += 2)
			sum += (uint32_t)data[i] << 8 | data[i + 1];
		ck_assert_uint_eq((sum & 0xffff) + (sum >> 16), 0xffff);
	} else {
		ck_assert_uint_eq(data[0], 0x60);
	}
	at += 28 + (captured + 3) / 4 * 4;
	ck_assert_uint_eq(half(at), 2);
	ck_assert_uint_eq(word(at + 4), direction);
}

static void check_interface(size_t at, unsigned link, const char *name,
			    const char *description)
{
	ck_assert_uint_eq(word(at), 1);
	ck_assert_uint_eq(half(at + 8), link);
	ck_assert_uint_eq(half(at + 16), 2);
	ck_assert_str_eq((char *)file + at + 20, name);
	at += 20u + half(at + 18);
	ck_assert_uint_eq(half(at), 3);
	ck_assert_str_eq((char *)file + at + 4, description);
}

/* Each field another value. */
static struct bcl_record golden_record(void)
{
	struct bcl_record record;

	memset(&record, 0, sizeof(record));
	record.kind = BCL_RECORD_DELIVERED;
	record.op = 0x04;
	record.type = 0x05;
	record.flags = BCL_RECORD_DIGEST;
	record.card = 0x0807060504030201;
	record.value = 0x1817161514131211;
	record.port = 0x2221;
	record.peer_port = 0x2423;
	record.number = 0x28272625;
	record.length = 0x2c2b2a29;
	record.target = 0x302f2e2d;
	record.arg32 = 0x34333231;
	record.digest = 0x38373635;
	record.freed = 0x3c3b3a39;
	record.status = 0x3e3d;
	return record;
}

START_TEST(a_record_has_these_bytes)
{
	static const uint8_t golden[BCL_RECORD_SIZE] = {
		0x7e, 0xbc, 0x01, 0x08, 0x04, 0x05, 0x01, 0x00, /*  0 */
		0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, /*  8 card */
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, /* 16 value */
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, /* 24 ports */
		0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x30, /* 32 length */
		0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, /* 40 arg32 */
		0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x00, 0x00, /* 48 freed */
	};
	const struct bcl_record record = golden_record();
	struct bcl_record_wire wire;
	struct bcl_record read;

	bcl_record_encode(&record, &wire);
	ck_assert_mem_eq(&wire, golden, sizeof(golden));
	ck_assert_int_eq(bcl_record_decode(golden, sizeof(golden), &read), 1);
	bcl_record_encode(&read, &wire);
	ck_assert_mem_eq(&wire, golden, sizeof(golden));
	ck_assert_int_eq(bcl_record_decode(golden, sizeof(golden) - 1, &read),
			 0);
	wire.version++;
	ck_assert_int_eq(bcl_record_decode(&wire, sizeof(wire), &read), 0);
	wire.version--;
	wire.kind = BCL_RECORD_UNSEEN + 1;
	ck_assert_int_eq(bcl_record_decode(&wire, sizeof(wire), &read), 0);
}
END_TEST

/* Two rails share a trace, so that the file has both directions. */
START_TEST(a_trace_can_be_read_back)
{
	static const char *const networks[] = { "127.0.0.1/32", "::1/128" };
	char name[64], dir[] = "/tmp/bcl-trace-XXXXXX", wanted[64];
	struct bcl_config config = rails_config("udp", networks[_i]);
	struct bcl_rail *a = rails_open(&bcl_rail_udp, &config, 1);
	struct bcl_rail *b = rails_open(&bcl_rail_udp, &config, 2);
	struct inbox *inbox = inbox_new();
	const struct bcl_record record = golden_record();
	struct bcl_record_wire wire;
	struct bcl_trace *trace;
	uint8_t bytes[3][500];
	struct bcl_rail_tx tx[3];
	unsigned i, ip = _i ? 40 : 20;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(wanted, sizeof(wanted), "%s/t.x.pcapng", dir);
	strcpy(config.trace, wanted);
	ck_assert_int_eq(bcl_trace_open(&bcl_env_linux, &config, 0xabc, &trace),
			 BCL_OK);
	ck_assert_int_eq(bcl_trace_wrap(trace, 0, &a), BCL_OK);
	ck_assert_int_eq(bcl_trace_wrap(trace, 1, &b), BCL_OK);
	for (i = 0; i < 3; i++) {
		frame_fill(bytes[i], 500, i, 2);
		tx[i] = (struct bcl_rail_tx){
			.iov = { { bytes[i], 80 }, { bytes[i] + 80, 420 - i } },
			.niov = 2,
			.length = 500 - i,
		};
	}
	tx[1].iov[1].iov_len = 420;
	tx[1].length = 500;
	ck_assert_uint_eq(a->transmit(a, &b->address, tx, 3), 3);
	inbox_wait(inbox, b, 3);
	bcl_trace_record(trace, &record);
	/* Read before anything is closed: a killed process leaves as much. */
	snprintf(name, sizeof(name), "%s/t.x-%016x.pcapng", dir, 0xabc);
	load(name);

	ck_assert_uint_eq(word(block(0)), 0x0a0d0d0a);
	ck_assert_uint_eq(word(block(0) + 8), 0x1a2b3c4d);
	check_interface(block(1), 147, "host", "card 0000000000000abc");
	check_interface(block(2), 101, "lo", "card 0000000000000abc rail 0");
	check_interface(block(3), 101, "lo", "card 0000000000000abc rail 1");
	for (i = 0; i < 3; i++) {
		size_t length = i == 2 ? 498 : 500;

		check_frame(block(4 + i), 1, 2, bytes[i], length, ip);
		check_frame(block(7 + i), 2, 1, bytes[i], length, ip);
	}
	ck_assert_uint_eq(word(block(10) + 8), 0);
	ck_assert_uint_eq(word(block(10) + 20), BCL_RECORD_SIZE);
	bcl_record_encode(&record, &wire);
	ck_assert_mem_eq(file + block(10) + 28, &wire, sizeof(wire));
	ck_assert_uint_eq(rails_counter(BCL_COUNT_trace_frames), 6);
	a->close(a);
	b->close(b);
	bcl_trace_close(trace);
	free(inbox);
	unlink(name);
	rmdir(dir);
}
END_TEST

START_TEST(a_trace_that_cannot_be_written)
{
	struct bcl_config config = rails_config("udp", "lo");
	struct bcl_trace *trace;

	strcpy(config.log, "error");
	strcpy(config.trace, "/nonexistent/trace.pcapng");
	ck_assert_int_eq(bcl_trace_open(&bcl_env_linux, &config, 1, &trace),
			 BCL_ERR_SYSTEM);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace");
	TCase *tcase = tcase_create("trace");
	int families = rails_ipv6() ? 2 : 1;

	tcase_add_loop_test(tcase, a_trace_can_be_read_back, 0, families);
	tcase_add_test(tcase, a_record_has_these_bytes);
	tcase_add_test(tcase, a_trace_that_cannot_be_written);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
