/* SPDX-License-Identifier: MIT */
/* Finds the classes of a frame; see frame_class.h. */
#include "sim/frame_class.h"

#include <stdbool.h>

#include <bcl/wire.h>

const char *const sim_frame_classes[] = { "any",  "hello", "data",    "ack",
					  "ping", "end",   "verdict", NULL };

static enum sim_frame_class class_of(uint8_t kind)
{
	switch (kind & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK)) {
	case BCL_FRAME_HELLO:
	case BCL_FRAME_HELLO_ACK:
		return SIM_FRAME_HELLO;
	case BCL_FRAME_DATA:
		return SIM_FRAME_DATA;
	case BCL_FRAME_ACK:
		return SIM_FRAME_ACK;
	case BCL_FRAME_PING:
		return SIM_FRAME_PING;
	case BCL_FRAME_BYE:
	case BCL_FRAME_PARK:
	case BCL_FRAME_RESET:
	case BCL_FRAME_REFUSE:
		return SIM_FRAME_END;
	}
	return SIM_FRAME_ANY;
}

static bool has_verdict(const uint8_t *bytes, uint32_t length)
{
	uint32_t at = sizeof(struct bcl_frame_header);

	while (at + sizeof(struct bcl_segment_header) <= length) {
		const struct bcl_segment_header *segment =
			(const void *)(bytes + at);

		if (segment->op == BCL_SEG_VERDICT)
			return true;
		if (!segment->op)
			return false;
		at += sizeof(*segment) +
		      ((bcl_get16(segment->length) + 7u) & ~7u);
	}
	return false;
}

unsigned sim_frame_classify(const uint8_t *bytes, uint32_t length)
{
	const struct bcl_frame_header *header = (const void *)bytes;
	unsigned classes = 1 << SIM_FRAME_ANY;
	enum sim_frame_class class;

	if (length < BCL_FRAME_MIN ||
	    bcl_get16(header->magic) != BCL_WIRE_MAGIC)
		return classes;
	class = class_of(header->kind);
	classes |= 1 << class;
	if ((class == SIM_FRAME_DATA || class == SIM_FRAME_ACK ||
	     class == SIM_FRAME_END) &&
	    has_verdict(bytes, length))
		classes |= 1 << SIM_FRAME_VERDICT;
	return classes;
}
