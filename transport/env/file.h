/* SPDX-License-Identifier: MIT */
/* Files of memory: zeroed, of a size that stays, mapped by several processes.
 */
#ifndef BCL_ENV_FILE_H
#define BCL_ENV_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <bcl/status.h>

/*
 * Make one, without pages yet; sealed, so that its size stays. -1: errno says
 * why: that of memfd_create(), or EFBIG: RLIMIT_FSIZE is less.
 */
int bcl_file_make(const char *name, size_t size);

/*
 * Give a part its pages: full memory is an error here, not SIGBUS later. False:
 * errno says why: ENOMEM, the host or a control group would be full (room.h);
 * what was taken until then is given back with the file.
 */
bool bcl_file_reserve(int file, size_t offset, size_t size);

/*
 * The same for a part that is mapped, to be written to. ENOMEM as above;
 * EINVAL: the system has no call for that (it came with Linux 5.14).
 */
bool bcl_file_populate(void *address, size_t size);

/* What such an error is: NOMEM or SYSTEM. */
enum bcl_status bcl_file_status(int error);

#endif
