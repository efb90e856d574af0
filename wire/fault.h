/* SPDX-License-Identifier: MIT */
/*
 * Fault injection: a decorator around any rail that damages frames of both
 * directions, between the host and the wire.
 *
 * BCL_FAULT=drop:1%,dup:1%,reorder:1%,corrupt:1%,delay:1%@2ms,seed:7
 *
 *  drop     the frame is lost
 *  dup      the frame comes twice
 *  reorder  the frame comes after one to four later frames, or after 1 ms
 *  corrupt  one bit of the frame is flipped
 *  delay    the frame is late by up to the time behind the @ (else 1 ms)
 *  seed     of the random numbers, logged; with the same seed the same faults
 *           strike the same frames
 *
 * Each fault strikes independently: a frame may be late and corrupt.
 */
#ifndef BCL_FAULT_H
#define BCL_FAULT_H

#include "wire/rail.h"

enum bcl_fault_kind {
	BCL_FAULT_DROP,
	BCL_FAULT_DUP,
	BCL_FAULT_REORDER,
	BCL_FAULT_CORRUPT,
	BCL_FAULT_DELAY,
	BCL_FAULT_KINDS
};

/* As in BCL_FAULT. */
extern const char *const bcl_fault_names[BCL_FAULT_KINDS];

struct bcl_fault_plan {
	uint32_t chance[BCL_FAULT_KINDS]; /* 2^31 is certain */
	uint64_t delay_max;		  /* ns */
	uint64_t seed;
	bool seeded;
};

/* Parse BCL_FAULT. ARG: `word` returns the part that makes no sense. */
enum bcl_status bcl_fault_parse(const char *text, struct bcl_fault_plan *plan,
				char word[32]);

/*
 * Put the faults of the configuration around *rail, the rail with number
 * `index`. ARG (logged), NOMEM.
 */
enum bcl_status bcl_fault_wrap(const struct bcl_env *env,
			       const struct bcl_config *config, unsigned index,
			       struct bcl_rail **rail);

#endif
