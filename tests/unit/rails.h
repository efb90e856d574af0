/* SPDX-License-Identifier: MIT */
/* Rails under test, and a sink that keeps the received frames. */
#ifndef BCL_TESTS_RAILS_H
#define BCL_TESTS_RAILS_H

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <bcl/wire.h>

#include "env/config.h"
#include "env/counters.h"
#include "env/env.h"
#include "unit.h"
#include "wire/rail.h"

enum {
	RAILS_FRAMES = 4096,
	RAILS_BYTES = 1 << 24,
	RAILS_PATIENCE = 30, /* seconds to wait for frames */
};

struct inbox {
	struct bcl_rail_sink sink;
	unsigned n, gone;
	uint64_t believed; /* frames that the inbox believed */
	bool doubts;
	struct bcl_wire_address source;
	struct {
		uint8_t *bytes;
		size_t length;
	} frame[RAILS_FRAMES];
	size_t used;
	uint8_t memory[RAILS_BYTES];
};

static struct bcl_counter_page rails_page;

static inline uint64_t rails_counter(enum bcl_counter_id id)
{
	return bcl_counter_get(&rails_page, id);
}

static inline void inbox_deliver(void *arg, unsigned index,
				 const struct bcl_wire_address *source,
				 const struct bcl_rx_frame *frames, unsigned n)
{
	struct inbox *inbox = arg;
	unsigned i;

	(void)index;
	inbox->source = *source;
	for (i = 0; i < n; i++) {
		uint8_t *to = inbox->memory + inbox->used;

		ck_assert_uint_lt(inbox->n, RAILS_FRAMES);
		ck_assert_uint_lt(inbox->used + 65536, RAILS_BYTES);
		ck_assert_uint_eq(frames[i].body_len, 0);
		memcpy(to, frames[i].head, frames[i].head_len);
		inbox->believed += !inbox->doubts;
		inbox->frame[inbox->n].bytes = to;
		inbox->frame[inbox->n].length = frames[i].head_len;
		inbox->used += inbox->frame[inbox->n++].length;
	}
}

static inline void inbox_gone(void *arg, unsigned index,
			      const struct bcl_wire_address *address,
			      enum bcl_status why)
{
	struct inbox *inbox = arg;

	(void)index;
	inbox->source = *address;
	inbox->gone++;
	ck_assert_int_eq(why, BCL_ERR_DEAD);
}

static inline uint64_t inbox_believed(void *arg)
{
	const struct inbox *inbox = arg;

	return inbox->believed;
}

static inline struct inbox *inbox_new(void)
{
	struct inbox *inbox = calloc(1, sizeof(*inbox));

	inbox->sink = (struct bcl_rail_sink){ inbox, inbox_deliver, inbox_gone,
					      inbox_believed };
	return inbox;
}

/* Receives until the inbox has `n` frames. */
static inline void inbox_wait(struct inbox *inbox, struct bcl_rail *rail,
			      unsigned n)
{
	time_t end = time(NULL) + RAILS_PATIENCE;

	while (inbox->n < n && time(NULL) < end)
		rail->receive(rail, &inbox->sink, 0, 64);
	ck_assert_uint_eq(inbox->n, n);
}

static inline struct bcl_config rails_config(const char *rails, const char *net)
{
	struct bcl_config config = { .env = &bcl_env_linux,
				     .offload = true,
				     .socket_buffer = 4 << 20 };

	strcpy(config.rails, rails);
	strcpy(config.net, net);
	strcpy(config.log, "warn");
	return config;
}

/* Does the host have IPv6 addresses? If not, prints the reason. */
static inline bool rails_ipv6(void)
{
	struct bcl_config probe = rails_config("udp", "::1/128");
	struct bcl_rail *rail;
	char why[96];

	if (!bcl_rail_udp.open(&bcl_env_linux, &probe, 1, &rail, 1, why)) {
		printf("IPv6 is not tested: %s\n", why);
		return false;
	}
	rail->close(rail);
	return true;
}

static inline struct bcl_rail *rails_open(const struct bcl_rail_kind *kind,
					  const struct bcl_config *config,
					  uint64_t card)
{
	struct bcl_rail *rail = NULL;
	char why[96];

	ck_assert_msg(kind->open(&bcl_env_linux, config, card, &rail, 1, why),
		      "%s", why);
	rail->counters = &rails_page;
	return rail;
}

static uint8_t frame_kind; /* of the frames of frame_fill(); 0: no kind */

/* Makes a frame of the given length with bytes that depend on `number`. The
 * headers look real enough for rails: the frame has a single segment. */
static inline void frame_fill(uint8_t *bytes, size_t length, unsigned number,
			      uint64_t card)
{
	struct bcl_frame_header header = { .magic = bcl_put16(BCL_WIRE_MAGIC),
					   .version = BCL_WIRE_VERSION,
					   .kind = frame_kind,
					   .card = bcl_put64(card),
					   .seq = bcl_put32(number),
					   .hcrc = bcl_put32(number + 1) };
	struct bcl_segment_header segment = {
		.op = BCL_SEG_SYSTEM,
		.length = bcl_put16((uint16_t)(length - BCL_HEADERS_SIZE)),
		.msg = bcl_put32(number),
	};
	size_t i;

	for (i = BCL_HEADERS_SIZE; i < length; i++)
		bytes[i] = (uint8_t)(number * 31 + i * 7 + (i >> 8));
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), &segment, sizeof(segment));
}

static inline bool frame_right(const uint8_t *bytes, size_t length,
			       unsigned number, uint64_t card)
{
	uint8_t expected[BCL_FRAME_MAX];

	frame_fill(expected, length, number, card);
	return !memcmp(bytes, expected, length);
}

#endif
