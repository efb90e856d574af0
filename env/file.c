/* SPDX-License-Identifier: MIT */
/* Files of memory, by memfd_create(); see file.h. */
#include "env/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "env/room.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum {
	PAGE = 4096,
};

static int close_and_fail(int file, int error)
{
	close(file);
	errno = error;
	return -1;
}

int bcl_file_make(const char *name, size_t size)
{
	struct rlimit limit;
	int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (file < 0)
		return -1;
	/* a larger size would raise SIGXFSZ */
	if (size > INT64_MAX ||
	    (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < size))
		return close_and_fail(file, EFBIG);
	if (ftruncate(file, (off_t)size) ||
	    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		return close_and_fail(file, errno);
	return file;
}

bool bcl_file_populate(void *address, size_t size)
{
	uint8_t *at = address;

	while (size) {
		size_t piece = size < BCL_ROOM_PIECE ? size : BCL_ROOM_PIECE;

		if (!bcl_room_for(size)) {
			errno = ENOMEM;
			return false;
		}
		if (!madvise(at, piece, MADV_POPULATE_WRITE)) {
			at += piece;
			size -= piece;
		} else if (errno != EINTR && errno != EAGAIN) {
			return false;
		}
	}
	return true;
}

bool bcl_file_reserve(int file, size_t offset, size_t size)
{
	size_t most = BCL_ROOM_PIECE;

	/* in pieces, since other processes may take memory at the same time */
	while (size) {
		size_t piece = size < most ? size : most;

		if (!bcl_room_for(size)) {
			errno = ENOMEM;
			return false;
		}
		if (!fallocate(file, 0, (off_t)offset, (off_t)piece)) {
			offset += piece;
			size -= piece;
		} else if (errno != EINTR) {
			return false;
		} else if (most > PAGE) {
			/* shorter pieces, so that a timer cannot interrupt
			 * each of them */
			most /= 2;
		}
	}
	return true;
}

enum bcl_status bcl_file_status(int error)
{
	return error == ENOMEM || error == ENOSPC || error == EFBIG
		       ? BCL_ERR_NOMEM
		       : BCL_ERR_SYSTEM;
}
