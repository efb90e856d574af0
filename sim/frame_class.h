/* SPDX-License-Identifier: MIT */
/* What a frame of a card is, to those who choose frames by that. */
#ifndef SIM_FRAME_CLASS_H
#define SIM_FRAME_CLASS_H

#include <stdint.h>

enum sim_frame_class {
	SIM_FRAME_ANY,
	SIM_FRAME_HELLO, /* or its answer */
	SIM_FRAME_DATA,
	SIM_FRAME_ACK,
	SIM_FRAME_PING,
	SIM_FRAME_END,	   /* BYE, PARK, RESET or REFUSE */
	SIM_FRAME_VERDICT, /* of any kind, with a VERDICT segment */
	SIM_FRAME_CLASSES
};

/* In that order; NULL behind the last. */
extern const char *const sim_frame_classes[];

/* A set: bit 1 << class. What no card sends is only SIM_FRAME_ANY. */
unsigned sim_frame_classify(const uint8_t *bytes, uint32_t length);

#endif
