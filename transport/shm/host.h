/* SPDX-License-Identifier: MIT */
/*
 * The calls that shared memory makes to the host of its processes: sockets,
 * descriptors, mappings and attach. bcl_shm_linux implements them by the
 * system; the simulator by a node whose ranks are fibers of one process.
 * `world` is a member of struct bcl_env.
 *
 * All functions are mandatory. All may enter the kernel and none blocks, but
 * read() and write() take as long as the copy. Any thread may call. The callers
 * hold the service lock of the port, except while the port is opened or closed;
 * and the owner of the port calls has_ended, read, write, reserve, populate and
 * unmap without the lock.
 *
 * A descriptor that a function returns belongs to the caller, who closes it. -1
 * means that the system gives none; errno says why. Descriptors in arguments
 * stay the caller's.
 */
#ifndef BCL_SHM_HOST_H
#define BCL_SHM_HOST_H

#include <sys/types.h>

#include "env/env.h"

/* A part of a file, in bytes; both numbers are multiples of the page size. */
struct bcl_shm_part {
	size_t offset, size;
};

struct bcl_shm_host {
	/* ---- descriptors, among them the objects of struct bcl_env ---- */
	/* Another descriptor for the same. */
	int (*copy)(void *world, int fd);
	/* A group has to be left before. */
	void (*close)(void *world, int fd);
	/* True if the descriptor is an object that can be woken without
	 * blocking. */
	bool (*wakes)(void *world, int fd);

	/* ---- groups: readable while a member is readable ---- */
	int (*group_open)(void *world);
	/* `who` must be valid until group_remove(). False: the system refused,
	 * and errno says why. */
	bool (*group_add)(void *world, int group, int fd, void *who);
	void (*group_remove)(void *world, int group, int fd);
	/* Returns the `who` of a member that is readable; NULL: none is. */
	void *(*group_next)(void *world, int group);

	/* ---- local sockets: results are described in socket.h ---- */
	int (*listen)(void *world, uint64_t card, uint16_t number);
	int (*call)(void *world, uint64_t card, uint16_t number);
	int (*accept)(void *world, int listener);
	bool (*peer)(void *world, int fd, pid_t *pid);
	/* The peer gets copies of the descriptors. False: nothing was sent. */
	bool (*send)(void *world, int fd, const void *packet, size_t length,
		     const int *fds, unsigned nfds);
	int (*receive)(void *world, int fd, void *packet, size_t length,
		       int *fds, unsigned *nfds);
	bool (*has_ended)(void *world, int fd);
	/* Shut the connection down, also for processes that inherited the
	 * descriptor. */
	void (*hang_up)(void *world, int fd);

	/* ---- processes ---- */
	/* The id by which other processes of the host attach to this one. */
	pid_t (*self)(void *world);
	/* From now on the other processes that the parent of this one started,
	 * and theirs, may attach, also where the system permits only ancestors.
	 */
	void (*admit)(void *world);
	/* Copy by attach: attach.h. OK: all bytes. MEMORY: some address is not
	 * mapped; DEAD: the process is gone; PERM: attach is forbidden. Then
	 * any part may have been copied. */
	enum bcl_status (*read)(void *world, pid_t pid, void *local,
				uint64_t remote, size_t length);
	enum bcl_status (*write)(void *world, pid_t pid, const void *local,
				 uint64_t remote, size_t length);

	/* ---- files of memory: zeroed, of fixed size ---- */
	/* Make a file; its first `reserved` bytes have pages. NOMEM, SYSTEM:
	 * *fd is not set, and errno says why. */
	enum bcl_status (*make)(void *world, size_t size, size_t reserved,
				int *fd);
	/* Give pages to a part. False: full memory, or the system refused; a
	 * part of the pages may be there. */
	bool (*reserve)(void *world, int fd, size_t offset, size_t size);
	/* The same by the address of a mapping. NOMEM: as false above.
	 * UNSUPPORTED: not on this system. */
	enum bcl_status (*populate)(void *world, void *address, size_t size);
	/* Map the parts of a file one behind the other. The mapping is the
	 * caller's until unmap(), and outlives the descriptor. NULL: no room,
	 * or the file is, or can become, smaller than the parts. */
	void *(*map)(void *world, int fd, const struct bcl_shm_part *parts,
		     unsigned nparts, bool writable);
	/* size: the sum of all parts. */
	void (*unmap)(void *world, void *address, size_t size);
	/* From now on only processes that have the file mapped already can
	 * write to the file, if the system can do this. */
	void (*protect)(void *world, int fd);
};

extern const struct bcl_shm_host bcl_shm_linux;

#endif
