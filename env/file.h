/* SPDX-License-Identifier: MIT */
/* Files of memory: zeroed, of a fixed size, mapped by several processes. */
#ifndef BCL_ENV_FILE_H
#define BCL_ENV_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <bcl/status.h>

/*
 * Makes a file, without pages yet; sealed, so that the size cannot change. The
 * caller closes it. -1: errno says why, as memfd_create() does; EFBIG:
 * RLIMIT_FSIZE is smaller.
 */
int bcl_file_make(const char *name, size_t size);

/*
 * Reserves the pages of a part of the file, so that full memory is an error
 * here, not a SIGBUS later. False: errno says why. ENOMEM: the host or a
 * control group would be full (room.h). Pages reserved before the failure stay
 * with the file until it is closed.
 */
bool bcl_file_reserve(int file, size_t offset, size_t size);

/*
 * The same for a part that is mapped for writing. ENOMEM as above; EINVAL: the
 * system has no such call (it came with Linux 5.14).
 */
bool bcl_file_populate(void *address, size_t size);

/* Maps an errno of these functions to NOMEM or SYSTEM. */
enum bcl_status bcl_file_status(int error);

#endif
