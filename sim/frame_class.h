/* SPDX-License-Identifier: MIT */
/* Classes of frames, by which faults choose frames. */
#ifndef SIM_FRAME_CLASS_H
#define SIM_FRAME_CLASS_H

#include <stdint.h>

enum sim_frame_class {
	SIM_FRAME_ANY,
	SIM_FRAME_HELLO, /* or HELLO_ACK */
	SIM_FRAME_DATA,
	SIM_FRAME_ACK,
	SIM_FRAME_PING,
	SIM_FRAME_END,	   /* BYE, PARK, RESET or REFUSE */
	SIM_FRAME_VERDICT, /* DATA, ACK or END with a VERDICT segment */
	SIM_FRAME_CLASSES
};

/* Names in the order of the enum, then NULL. */
extern const char *const sim_frame_classes[];

/* Returns a set: bit 1 << class. Bytes that no card sends are only
 * SIM_FRAME_ANY. */
unsigned sim_frame_classify(const uint8_t *bytes, uint32_t length);

#endif
