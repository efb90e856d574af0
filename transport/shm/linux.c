/* SPDX-License-Identifier: MIT */
/* The host's part of shared memory in a Linux process, by system calls; see
 * host.h. */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "env/file.h"
#include "env/process.h"
#include "transport/shm/host.h"
#include "transport/shm/socket.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010 /* Linux 5.1 */
#endif

enum {
	COPY_MAX = 1 << 30, /* bytes; a call copies less than 2 GB */
};

/* ---- descriptors ---- */

static int linux_copy(void *world, int fd)
{
	(void)world;
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static void linux_close(void *world, int fd)
{
	(void)world;
	bcl_process_close(fd);
}

static bool linux_wakes(void *world, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	(void)world;
	return flags >= 0 && (flags & O_NONBLOCK);
}

static int linux_group_open(void *world)
{
	(void)world;
	return epoll_create1(EPOLL_CLOEXEC);
}

static bool linux_group_add(void *world, int group, int fd, void *who)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = who };

	(void)world;
	return !epoll_ctl(group, EPOLL_CTL_ADD, fd, &event);
}

static void linux_group_remove(void *world, int group, int fd)
{
	(void)world;
	epoll_ctl(group, EPOLL_CTL_DEL, fd, NULL);
}

static void *linux_group_next(void *world, int group)
{
	struct epoll_event event;

	(void)world;
	return epoll_wait(group, &event, 1, 0) == 1 ? event.data.ptr : NULL;
}

/* ---- processes ---- */

static pid_t linux_self(void *world)
{
	(void)world;
	return getpid();
}

/* Yama (ptrace_scope 1) knows one exception for each process: another process,
 * with all its descendants. Kernels without Yama refuse the call. */
static void linux_admit(void *world)
{
	(void)world;
	prctl(PR_SET_PTRACER, (unsigned long)getppid(), 0, 0, 0);
}

typedef ssize_t attach_call(pid_t, const struct iovec *, unsigned long,
			    const struct iovec *, unsigned long, unsigned long);

static enum bcl_status copy_by_attach(attach_call *call, pid_t pid, void *local,
				      uint64_t remote, size_t length)
{
	uint8_t *at = local;

	while (length) {
		size_t n = length < COPY_MAX ? length : COPY_MAX;
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

static enum bcl_status linux_read(void *world, pid_t pid, void *local,
				  uint64_t remote, size_t length)
{
	(void)world;
	return copy_by_attach(process_vm_readv, pid, local, remote, length);
}

static enum bcl_status linux_write(void *world, pid_t pid, const void *local,
				   uint64_t remote, size_t length)
{
	(void)world;
	return copy_by_attach(process_vm_writev, pid, (void *)(uintptr_t)local,
			      remote, length);
}

/* ---- files ---- */

static enum bcl_status linux_make(void *world, size_t size, size_t reserved,
				  int *fd)
{
	int file = bcl_file_make("bcl-pair", size), error;

	(void)world;
	if (file >= 0 && bcl_file_reserve(file, 0, reserved) &&
	    !fcntl(file, F_ADD_SEALS, F_SEAL_SEAL)) {
		*fd = file;
		return BCL_OK;
	}
	error = errno;
	if (file >= 0)
		close(file);
	return bcl_file_status(error);
}

static bool linux_reserve(void *world, int fd, size_t offset, size_t size)
{
	(void)world;
	return bcl_file_reserve(fd, offset, size);
}

static enum bcl_status linux_populate(void *world, void *address, size_t size)
{
	(void)world;
	if (bcl_file_populate(address, size))
		return BCL_OK;
	return errno == EINVAL ? BCL_ERR_UNSUPPORTED : BCL_ERR_NOMEM;
}

/* True if the file can never become smaller than `size`. */
static bool is_fixed(int fd, size_t size)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & F_SEAL_SHRINK) && !fstat(fd, &st) &&
	       st.st_size >= 0 && (size_t)st.st_size >= size;
}

static void *linux_map(void *world, int fd, const struct bcl_shm_part *parts,
		       unsigned nparts, bool writable)
{
	int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
	size_t end = 0, size = 0, at = 0;
	uint8_t *base;
	unsigned i;

	(void)world;
	for (i = 0; i < nparts; i++) {
		size += parts[i].size;
		if (end < parts[i].offset + parts[i].size)
			end = parts[i].offset + parts[i].size;
	}
	if (!is_fixed(fd, end))
		return NULL;
	base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == MAP_FAILED)
		return NULL;
	for (i = 0; i < nparts; at += parts[i++].size)
		if (mmap(base + at, parts[i].size, protection,
			 MAP_SHARED | MAP_FIXED, fd,
			 (off_t)parts[i].offset) == MAP_FAILED) {
			munmap(base, size);
			return NULL;
		}
	return base;
}

static void linux_unmap(void *world, void *address, size_t size)
{
	(void)world;
	munmap(address, size);
}

/* A system without this seal protects nothing. */
static void linux_protect(void *world, int fd)
{
	(void)world;
	fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
}

const struct bcl_shm_host bcl_shm_linux = {
	.copy = linux_copy,
	.close = linux_close,
	.wakes = linux_wakes,
	.group_open = linux_group_open,
	.group_add = linux_group_add,
	.group_remove = linux_group_remove,
	.group_next = linux_group_next,
	.listen = bcl_socket_listen,
	.call = bcl_socket_call,
	.accept = bcl_socket_accept,
	.peer = bcl_socket_peer,
	.send = bcl_socket_send,
	.receive = bcl_socket_receive,
	.hang_up = bcl_socket_hang_up,
	.has_ended = bcl_socket_has_ended,
	.self = linux_self,
	.admit = linux_admit,
	.read = linux_read,
	.write = linux_write,
	.make = linux_make,
	.reserve = linux_reserve,
	.populate = linux_populate,
	.map = linux_map,
	.unmap = linux_unmap,
	.protect = linux_protect,
};
