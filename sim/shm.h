/* SPDX-License-Identifier: MIT */
/*
 * What the ranks of a simulated node share: local sockets and files of memory,
 * as shared memory asks for them (struct bcl_shm_host), in a world whose ranks
 * are fibers of one process. A file is memory that is there once; whoever maps
 * it gets the same address. Attach is a copy.
 *
 * Descriptors have numbers of their own, behind those of objects (object.h).
 */
#ifndef SIM_SHM_H
#define SIM_SHM_H

#include "transport/shm/host.h"

struct sim_world;
struct sim_shm;

/* The table; its `world` is a struct sim_world. */
extern const struct bcl_shm_host sim_shm_host;

struct sim_shm *sim_shm_open(const struct sim_world *world);
/* With whatever ranks have left behind. */
void sim_shm_close(struct sim_shm *shm);

/* What the ranks of a node had, which are gone. */
void sim_shm_drop(struct sim_shm *shm, unsigned node);

/* A file that is mapped already: share and unshare of struct bcl_env. */
void *sim_shm_share(struct sim_shm *shm, size_t size, int *fd);
void sim_shm_unshare(struct sim_world *world, void *memory, size_t size,
		     int fd);

#endif
