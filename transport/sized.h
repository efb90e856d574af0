/* SPDX-License-Identifier: MIT */
/*
 * Public structs that may grow, with struct_size as their first member. The
 * rule is in bcl/bcl.h.
 *
 * `last` is the last member of the struct's first version, and stays the same
 * when members are appended. No struct ends with padding: a member in the place
 * of padding would not change struct_size.
 */
#ifndef BCL_SIZED_H
#define BCL_SIZED_H

#include <stddef.h>
#include <string.h>

#include <bcl/status.h>

#include "base/base.h"

#define bcl_sized_first(own, last) \
	(offsetof(__typeof__(*(own)), last) + sizeof((own)->last))

/* Copies the caller's struct into *own. Members that the caller's struct lacks
 * become 0; NULL lacks all members. ARG: the struct is too small. UNSUPPORTED:
 * a member that *own lacks is not 0. */
#define bcl_sized_read(own, caller, last)              \
	bcl_sized_copy_in(own, sizeof(*(own)), caller, \
			  bcl_sized_first(own, last))

/* Copies all of *own but struct_size into the caller's struct, as far as the
 * struct goes. ARG: the struct is too small. */
#define bcl_sized_write(caller, own, last)              \
	bcl_sized_copy_out(caller, own, sizeof(*(own)), \
			   bcl_sized_first(own, last))

static inline enum bcl_status
bcl_sized_copy_in(void *own, size_t size, const void *caller, size_t first)
{
	const unsigned char *bytes = caller;
	size_t given;

	memset(own, 0, size);
	if (!caller)
		return BCL_OK;
	memcpy(&given, caller, sizeof(given));
	if (given < first)
		return BCL_ERR_ARG;
	for (size_t i = size; i < given; i++)
		if (bytes[i])
			return BCL_ERR_UNSUPPORTED;
	memcpy(own, caller, bcl_min_size(size, given));
	return BCL_OK;
}

static inline enum bcl_status bcl_sized_copy_out(void *caller, const void *own,
						 size_t size, size_t first)
{
	size_t given;

	memcpy(&given, caller, sizeof(given));
	if (given < first)
		return BCL_ERR_ARG;
	memcpy((char *)caller + sizeof(given),
	       (const char *)own + sizeof(given),
	       bcl_min_size(size, given) - sizeof(given));
	return BCL_OK;
}

#endif
