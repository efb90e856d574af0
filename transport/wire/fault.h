/* SPDX-License-Identifier: MIT */
/*
 * Fault injection: a rail around any rail that harms frames in both
 * directions, between the host and the wire.
 *
 * BCL_FAULT=drop:1%,dup:1%,reorder:1%,corrupt:1%,delay:1%@2ms,seed:7
 *
 *  drop     the frame is lost
 *  dup      it comes twice
 *  reorder  it comes after one to four later ones, or after a millisecond
 *  corrupt  one bit of it is turned
 *  delay    it comes late, by up to the time behind the @ (else 1 ms)
 *  seed     of the random numbers; the same seed does the same to the same
 *           frames. It is logged.
 *
 * Each is decided for each frame by itself: a frame may be late and corrupt.
 */
#ifndef BCL_FAULT_H
#define BCL_FAULT_H

#include "transport/wire/rail.h"

enum bcl_fault_kind {
	BCL_FAULT_DROP,
	BCL_FAULT_DUP,
	BCL_FAULT_REORDER,
	BCL_FAULT_CORRUPT,
	BCL_FAULT_DELAY,
	BCL_FAULT_KINDS
};

struct bcl_fault_plan {
	uint32_t chance[BCL_FAULT_KINDS]; /* of 2^31: 1 */
	uint64_t delay_max;		  /* ns */
	uint64_t seed;
	bool seeded;
};

/* ARG: *word says what makes no sense. */
enum bcl_status bcl_fault_parse(const char *text, struct bcl_fault_plan *plan,
				char word[32]);

/*
 * Put the faults that the configuration asks for around *rail, which is
 * rail number `index`. ARG (logged), NOMEM.
 */
enum bcl_status bcl_fault_wrap(const struct bcl_env *env,
			       const struct bcl_config *config, unsigned index,
			       struct bcl_rail **rail);

#endif
