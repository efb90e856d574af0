/* SPDX-License-Identifier: MIT */
/* The system joins frames on the way, and the rail must cut the frames as they
 * were. */
#include "rails.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	FRAMES = 40,
	LONGEST = 1400,
	ROUNDS = 300,
};

static struct bcl_config config;
static struct bcl_rail *rail;
static struct inbox *inbox;
static int sender;
static uint64_t state;
static uint8_t bytes[FRAMES * LONGEST];

static void setup(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET };

	config = rails_config("udp", "127.0.0.1/32");
	rail = rails_open(&bcl_rail_udp, &config, 1);
	inbox = inbox_new();
	memcpy(&to.sin_addr, rail->address.bytes, 4);
	memcpy(&to.sin_port, rail->address.bytes + 4, 2);
	sender = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert(!connect(sender, (struct sockaddr *)&to, sizeof(to)));
	state = 1;
}

static void teardown(void)
{
	close(sender);
	rail->close(rail);
	free(inbox);
}

static unsigned draw(unsigned n)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(state >> 33) % n;
}

static void noise(uint8_t *at, size_t length)
{
	while (length--)
		*at++ = (uint8_t)draw(256);
}

/* `total` bytes, cut into frames by `length` and, on the way, joined. */
static void send_joined(size_t total, uint16_t length)
{
	union {
		struct cmsghdr header;
		uint8_t space[CMSG_SPACE(sizeof(length))];
	} control = { 0 };
	struct iovec iov = { bytes, total };
	struct msghdr message = { .msg_iov = &iov,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	control.header.cmsg_level = SOL_UDP;
	control.header.cmsg_type = UDP_SEGMENT;
	control.header.cmsg_len = CMSG_LEN(sizeof(length));
	memcpy(CMSG_DATA(&control.header), &length, sizeof(length));
	ck_assert_int_eq(sendmsg(sender, &message, 0), (ssize_t)total);
}

/* One receive must take all frames, and no byte may be lost or moved. */
static void receive(size_t total)
{
	time_t end = time(NULL) + RAILS_PATIENCE;
	unsigned asked = 0;

	inbox->n = 0;
	inbox->used = 0;
	while (!inbox->n && time(NULL) < end) {
		rail->receive(rail, &inbox->sink, 0, 64);
		asked++;
	}
	ck_assert_uint_gt(asked, 0);
	ck_assert_uint_eq(inbox->used, total);
	ck_assert_mem_eq(inbox->memory, bytes, total);
}

static void check_cut(size_t total, size_t length)
{
	unsigned i, n = (unsigned)((total + length - 1) / length);

	receive(total);
	ck_assert_uint_eq(inbox->n, n);
	for (i = 0; i + 1 < n; i++)
		ck_assert_uint_eq(inbox->frame[i].length, length);
}

static void put_header(uint8_t *at, uint8_t kind)
{
	const struct bcl_frame_header header = {
		.magic = bcl_put16(BCL_WIRE_MAGIC),
		.version = BCL_WIRE_VERSION,
		.kind = kind,
		.seq = bcl_put32(draw(1u << 31)),
	};

	memcpy(at, &header, sizeof(header));
}

static void put_segment(uint8_t *at, size_t length)
{
	const struct bcl_segment_header segment = {
		.op = (uint8_t)(BCL_SEG_SYSTEM + draw(BCL_SEG_ATOMIC_REPLY)),
		.type = (uint8_t)draw(256),
		.length = bcl_put16((uint16_t)length),
		.msg = bcl_put32(draw(1u << 31)),
	};

	memcpy(at, &segment, sizeof(segment));
	noise(at + sizeof(segment), length);
}

/* A frame of up to five segments, as a card packs segments: all but the last
 * are padded. */
static void put_frame(uint8_t *at, size_t length)
{
	size_t used = 40, payload;
	unsigned more = draw(5);

	put_header(at, BCL_FRAME_DATA | BCL_FRAME_PCRC);
	while (more-- && length - used >= 40 + 8 + 40) {
		payload = draw((unsigned)(length - used - 40 - 8 - 40 + 1));
		put_segment(at + used, payload);
		used += 40 + payload;
		memset(at + used, 0, -used & 7);
		used += -used & 7;
	}
	put_segment(at + used, length - used - 40);
}

START_TEST(frames_of_segments)
{
	unsigned round;

	for (round = 0; round < ROUNDS; round++) {
		size_t length = BCL_HEADERS_SIZE + draw(LONGEST - 80 + 1);
		size_t last =
			BCL_HEADERS_SIZE + draw((unsigned)(length - 80 + 1));
		unsigned n = 1 + draw(FRAMES), i;

		for (i = 0; i + 1 < n; i++)
			put_frame(bytes + i * length, length);
		put_frame(bytes + i * length, last);
		send_joined(i * length + last, (uint16_t)length);
		check_cut(i * length + last, length);
	}
}
END_TEST

START_TEST(frames_without_segments)
{
	static const struct {
		uint8_t kind;
		size_t length;
	} kinds[] = {
		{ BCL_FRAME_HELLO, 40 + sizeof(struct bcl_hello) },
		{ BCL_FRAME_HELLO_ACK, 40 + sizeof(struct bcl_hello) },
		{ BCL_FRAME_REFUSE, BCL_HEADERS_SIZE },
		{ BCL_FRAME_RESET, 40 + BCL_HEADERS_SIZE },
		{ BCL_FRAME_ACK, BCL_HEADERS_SIZE },
		{ BCL_FRAME_PING, BCL_HEADERS_SIZE },
		{ BCL_FRAME_PING | BCL_FRAME_PCRC,
		  40 + sizeof(struct bcl_hello) },
		{ BCL_FRAME_PARK, BCL_HEADERS_SIZE },
	};
	size_t length = kinds[_i].length, total;
	const struct bcl_refuse refuse = { bcl_put32(BCL_ERR_JOBKEY),
					   bcl_put32(BCL_WIRE_VERSION),
					   bcl_put64(0x3132333435363738) };
	unsigned n, i;

	for (n = 1; n <= FRAMES; n++) {
		memset(bytes, 0, sizeof(bytes));
		for (i = 0; i < n; i++) {
			uint8_t *at = bytes + i * length;

			put_header(at, kinds[_i].kind);
			if (length > BCL_HEADERS_SIZE)
				noise(at + 40, sizeof(struct bcl_hello));
			if (kinds[_i].kind == BCL_FRAME_RESET)
				put_header(at + 40, BCL_FRAME_DATA);
			if (kinds[_i].kind == BCL_FRAME_REFUSE)
				memcpy(at + 40, &refuse, sizeof(refuse));
		}
		total = n * length;
		send_joined(total, (uint16_t)length);
		check_cut(total, length);
		/* A shorter frame behind the burst. */
		put_header(bytes + total, BCL_FRAME_PING);
		total += BCL_HEADERS_SIZE;
		send_joined(total, (uint16_t)length);
		check_cut(total, length);
	}
}
END_TEST

/* The headers lie. The rail must deliver all bytes nevertheless, and no empty
 * frame. */
START_TEST(frames_that_lie)
{
	unsigned round, i;

	state = (uint64_t)_i;
	for (round = 0; round < ROUNDS; round++) {
		size_t length = 1 + draw(draw(2) ? 200 : LONGEST), total;
		unsigned n = 1 + draw(FRAMES);

		total = n * length - draw((unsigned)length);
		noise(bytes, total);
		for (i = 0; i < n; i++) {
			uint8_t *at = bytes + i * length;
			size_t room = total - i * length;

			if (room < 80 || length < 80 || !draw(4))
				continue;
			put_header(at, (uint8_t)draw(256));
			put_segment(at + 40, 0);
			if (draw(2)) /* the segment's length */
				at[42] = (uint8_t)draw(256), at[43] = 0;
		}
		send_joined(total, (uint16_t)length);
		receive(total);
		for (i = 0; i < inbox->n; i++)
			ck_assert_uint_gt(inbox->frame[i].length, 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("udp joined");
	TCase *tcase = tcase_create("udp joined");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, frames_of_segments);
	tcase_add_loop_test(tcase, frames_without_segments, 0, 8);
	tcase_add_loop_test(tcase, frames_that_lie, 0, 10);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
