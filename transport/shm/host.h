/* SPDX-License-Identifier: MIT */
/*
 * What shared memory asks of the host that its processes run on: the system's
 * sockets, descriptors, mappings and attach (bcl_shm_linux), or those of a
 * simulated node, whose ranks are fibers of one process. `world` is that of
 * struct bcl_env. Descriptors that are asked for are -1 if there are none left,
 * and errno says why.
 */
#ifndef BCL_SHM_HOST_H
#define BCL_SHM_HOST_H

#include <sys/types.h>

#include "transport/env/env.h"

/* A part of a file, in bytes, whole pages. */
struct bcl_shm_part {
	size_t offset, size;
};

struct bcl_shm_host {
	/* ---- descriptors; objects of struct bcl_env are some ---- */
	int (*copy)(void *world, int fd);
	void (*close)(void *world, int fd);
	/* It is an object whose waking never blocks. */
	bool (*wakes)(void *world, int fd);

	/* ---- groups: readable while a member has something to say ---- */
	int (*group_open)(void *world);
	bool (*group_add)(void *world, int group, int fd, void *who);
	void (*group_remove)(void *world, int group, int fd);
	/* Whose member has something to say; NULL: nobody's. */
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
	/* For all who have it open. */
	void (*hang_up)(void *world, int fd);

	/* ---- processes ---- */
	/* A descriptor with something to say when the process has ended; -1:
	 * there is none, sockets tell. */
	int (*process)(void *world, pid_t pid);
	bool (*has_ended)(void *world, int process);
	/* attach.h */
	enum bcl_status (*read)(void *world, pid_t pid, void *local,
				uint64_t remote, size_t length);
	enum bcl_status (*write)(void *world, pid_t pid, const void *local,
				 uint64_t remote, size_t length);

	/* ---- files of memory, zeroed, of a size that stays ---- */
	/* The first `reserved` bytes have their pages. NOMEM, SYSTEM. */
	enum bcl_status (*make)(void *world, size_t size, size_t reserved,
				int *fd);
	bool (*reserve)(void *world, int fd, size_t offset, size_t size);
	/* The same for what is mapped, without its descriptor. NOMEM;
	 * UNSUPPORTED: not on this system. */
	enum bcl_status (*populate)(void *world, void *address, size_t size);
	/* Parts one behind the other; NULL: no room, or the file can be, or
	 * become, smaller. */
	void *(*map)(void *world, int fd, const struct bcl_shm_part *parts,
		     unsigned nparts, bool writable);
	/* size: of all parts. */
	void (*unmap)(void *world, void *address, size_t size);
	/* Who has it mapped already may write to it, nobody else. */
	void (*protect)(void *world, int fd);
};

extern const struct bcl_shm_host bcl_shm_linux;

#endif
