/* SPDX-License-Identifier: MIT */
#include "transport/shm/attach.h"

#include <errno.h>
#include <sys/uio.h>

enum {
	CALL_MAX = 1 << 30, /* bytes; a call copies less than 2 GB */
};

typedef ssize_t copy_call(pid_t, const struct iovec *, unsigned long,
			  const struct iovec *, unsigned long, unsigned long);

static enum bcl_status copy(copy_call *call, pid_t pid, void *local,
			    uint64_t remote, size_t length)
{
	uint8_t *at = local;

	while (length) {
		size_t n = length < CALL_MAX ? length : CALL_MAX;
		struct iovec l = { at, n };
		struct iovec r = { (void *)(uintptr_t)remote, n };
		ssize_t done = call(pid, &l, 1, &r, 1, 0);

		if (done <= 0) {
			if (done < 0 && errno == EINTR)
				continue;
			if (done < 0 && errno == ESRCH)
				return BCL_ERR_DEAD;
			if (done < 0 && errno != EFAULT && errno != ENOMEM)
				return BCL_ERR_PERM;
			return BCL_ERR_MEMORY;
		}
		at += done;
		remote += (size_t)done;
		length -= (size_t)done;
	}
	return BCL_OK;
}

enum bcl_status bcl_attach_read(pid_t pid, void *local, uint64_t remote,
				size_t length)
{
	return copy(process_vm_readv, pid, local, remote, length);
}

enum bcl_status bcl_attach_write(pid_t pid, const void *local, uint64_t remote,
				 size_t length)
{
	return copy(process_vm_writev, pid, (void *)(uintptr_t)local, remote,
		    length);
}

enum bcl_status bcl_attach_prove(pid_t pid, uint64_t nonce_address,
				 uint64_t nonce, uint64_t scratch_address,
				 uint64_t scratch)
{
	enum bcl_status status;
	uint64_t seen;

	status = bcl_attach_read(pid, &seen, nonce_address, sizeof(seen));
	if (status)
		return status;
	if (seen != nonce)
		return BCL_ERR_MEMORY;
	return bcl_attach_write(pid, &scratch, scratch_address,
				sizeof(scratch));
}
