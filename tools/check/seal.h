/* SPDX-License-Identifier: MIT */
/*
 * Finds the seals of connections (bcl/wire.h). A trace does not contain the
 * seal of a connection, but the header checksum of each frame reveals one. A
 * frame was not damaged yet when it was sent. Where the trace has no frame that
 * was sent to a connection, the seal of most received frames is taken to be
 * right.
 */
#ifndef CHECK_SEAL_H
#define CHECK_SEAL_H

#include <stdbool.h>

#include "tools/check/frame.h"

struct check_seals;

struct check_seals *check_seals_open(void);
void check_seals_close(struct check_seals *seals);
/* Counts a frame. sent: it was sent; otherwise it was received, damaged or
 * not. */
void check_seals_note(struct check_seals *seals,
		      const struct check_frame *frame, bool sent);
/* Returns true if the frame has the right seal, or needs none. Call this only
 * after all frames have been noted. */
bool check_seals_right(const struct check_seals *seals,
		       const struct check_frame *frame);

#endif
