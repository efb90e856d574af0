/* SPDX-License-Identifier: MIT */
/*
 * Bootstrap for programs that know their launcher themselves, as an MPI
 * library does: they lend the ADI the space of keys and values which their
 * ranks share. Programs without one leave this to bcl_adi_open().
 */
#ifndef BCL_BOOT_H
#define BCL_BOOT_H

#include <stddef.h>

#include <bcl/bcl.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bcl_boot;

/*
 * Keys are at most 63 characters of [-0-9a-z]; values are text without
 * blanks. The functions may block; other than OK, what they return ends the
 * call that needed them. That of a job of one is never asked.
 */
struct bcl_boot_space {
	size_t struct_size; /* sizeof(struct bcl_boot_space) of the caller */
	unsigned rank, size;
	unsigned local_ranks; /* of the job, on this host; 0: not known */
	size_t value_max;     /* characters of a value, at least 64 */

	enum bcl_status (*put)(void *arg, const char *key, const char *value);
	/* A value and the zero behind it, in at most `size` bytes; EMPTY:
	 * there is none. */
	enum bcl_status (*get)(void *arg, const char *key, char *value,
			       size_t size);
	/* What was put before is seen by all that have returned. */
	enum bcl_status (*fence)(void *arg);
	void *arg;
};

/*
 * A job that is brought together through this space, which is copied: for
 * bcl_adi_options.boot. All ranks of the space do the same with it, in the same
 * order. ARG, NOMEM.
 */
BCL_API enum bcl_status bcl_boot_lend(const struct bcl_boot_space *space,
				      struct bcl_boot **boot);
/* After bcl_adi_close(). NULL is let through. */
BCL_API void bcl_boot_close(struct bcl_boot *boot);

#ifdef __cplusplus
}
#endif

#endif
