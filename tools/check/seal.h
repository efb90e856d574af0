/* SPDX-License-Identifier: MIT */
/*
 * The seals of connections (bcl/wire.h). A trace does not tell them, but each
 * frame of a connection shows its own: what most frames to one connection have
 * is right.
 */
#ifndef CHECK_SEAL_H
#define CHECK_SEAL_H

#include <stdbool.h>

#include "tools/check/frame.h"

struct check_seals;

struct check_seals *check_seals_open(void);
void check_seals_close(struct check_seals *seals);
/* A frame that came or went, damaged or not. */
void check_seals_note(struct check_seals *seals,
		      const struct check_frame *frame);
/* After all have been noted. */
bool check_seals_right(const struct check_seals *seals,
		       const struct check_frame *frame);

#endif
