/* SPDX-License-Identifier: MIT */
/*
 * Bootstrap for programs that talk to their launcher themselves, as an MPI
 * library does. Such a program lends the ADI the key-value space that its ranks
 * share. All other programs leave the bootstrap to bcl_adi_open().
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
 * A key-value space of the caller. A key has at most 63 characters of [-0-9a-z]
 * and is put once; a value is text without blanks. The functions are mandatory,
 * except in a job of one, where the library calls none of them.
 *
 * The functions may block, but must not call the library for this job, whose
 * lock may be held. One thread at a time calls, inside bcl_adi_open() or a call
 * that first needs a rank. The functions keep no pointer. A status other than
 * OK ends the library's call that needed the function, but EMPTY from get() may
 * be an answer. BOOT: the launcher does not answer.
 */
struct bcl_boot_space {
	size_t struct_size; /* sizeof(struct bcl_boot_space) */
	unsigned rank, size;
	unsigned local_ranks; /* of the job on this host; 0: not known */
	size_t value_max;     /* characters of a value, at least 64 */

	enum bcl_status (*put)(void *arg, const char *key, const char *value);
	/* Writes the value, of any rank, and a terminating zero, in at most
	 * `size` bytes. EMPTY: no rank has put the key. */
	enum bcl_status (*get)(void *arg, const char *key, char *value,
			       size_t size);
	/* Returns when all ranks have called it; every get() afterwards
	 * finds every value that was put before. */
	enum bcl_status (*fence)(void *arg);
	/* First argument of the functions. */
	void *arg;
};

/*
 * Makes a job that is brought together through this space, for
 * bcl_adi_options.boot. The library copies *space. The functions are called
 * during bcl_adi_open() and when a rank is first sent to. All ranks of the
 * space open the same jobs with it, in the same order.
 * Errors: ARG, NOMEM, FORKED.
 */
BCL_API enum bcl_status bcl_boot_lend(const struct bcl_boot_space *space,
				      struct bcl_boot **boot);
/* Frees the job; call after bcl_adi_close(). */
BCL_API void bcl_boot_close(struct bcl_boot *boot);

#ifdef __cplusplus
}
#endif

#endif
