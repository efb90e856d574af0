/* SPDX-License-Identifier: MIT */
/*
 * The calls that shared memory makes to the host of its processes: sockets,
 * descriptors, mappings and attach. bcl_shm_linux implements them by the
 * system; the simulator by a node whose ranks are fibers of one process.
 * `world` is a member of struct bcl_env. Functions that return a descriptor
 * return -1 if none is left; errno says why.
 */
#ifndef BCL_SHM_HOST_H
#define BCL_SHM_HOST_H

#include <sys/types.h>

#include "transport/env/env.h"

/* A part of a file, in bytes; both numbers are multiples of the page size. */
struct bcl_shm_part {
	size_t offset, size;
};

struct bcl_shm_host {
	/* ---- descriptors, among them the objects of struct bcl_env ---- */
	int (*copy)(void *world, int fd);
	void (*close)(void *world, int fd);
	/* True if the descriptor is an object that can be woken without
	 * blocking. */
	bool (*wakes)(void *world, int fd);

	/* ---- groups: readable while a member is readable ---- */
	int (*group_open)(void *world);
	bool (*group_add)(void *world, int group, int fd, void *who);
	void (*group_remove)(void *world, int group, int fd);
	/* Returns the `who` of a member that is readable; NULL: none is. */
	void *(*group_next)(void *world, int group);

	/* ---- local sockets: socket.h ---- */
	int (*listen)(void *world, uint64_t card, uint16_t number);
	int (*call)(void *world, uint64_t card, uint16_t number);
	int (*accept)(void *world, int listener);
	bool (*peer)(void *world, int fd, pid_t *pid);
	bool (*send)(void *world, int fd, const void *packet, size_t length,
		     const int *fds, unsigned nfds);
	int (*receive)(void *world, int fd, void *packet, size_t length,
		       int *fds, unsigned *nfds);
	/* Shut the connection down, also for processes that inherited the
	 * descriptor. */
	void (*hang_up)(void *world, int fd);

	/* ---- processes ---- */
	/* A descriptor that is readable when the process has ended. -1: the
	 * system has none; then the socket tells the end. */
	int (*process)(void *world, pid_t pid);
	bool (*has_ended)(void *world, int process);
	/* attach.h */
	enum bcl_status (*read)(void *world, pid_t pid, void *local,
				uint64_t remote, size_t length);
	enum bcl_status (*write)(void *world, pid_t pid, const void *local,
				 uint64_t remote, size_t length);

	/* ---- files of memory: zeroed, of fixed size ---- */
	/* Make a file; its first `reserved` bytes have pages. NOMEM, SYSTEM. */
	enum bcl_status (*make)(void *world, size_t size, size_t reserved,
				int *fd);
	bool (*reserve)(void *world, int fd, size_t offset, size_t size);
	/* The same by the address of a mapping. NOMEM; UNSUPPORTED: not on this
	 * system. */
	enum bcl_status (*populate)(void *world, void *address, size_t size);
	/* Map the parts of a file one behind the other. NULL: no room, or the
	 * file is, or can become, smaller than the parts. */
	void *(*map)(void *world, int fd, const struct bcl_shm_part *parts,
		     unsigned nparts, bool writable);
	/* size: the sum of all parts. */
	void (*unmap)(void *world, void *address, size_t size);
	/* From now on only processes that have the file mapped already can
	 * write to the file. */
	void (*protect)(void *world, int fd);
};

extern const struct bcl_shm_host bcl_shm_linux;

#endif
