/* SPDX-License-Identifier: MIT */
/*
 * The shared-memory host interface (struct bcl_shm_host) of a simulated node:
 * local sockets and files of memory, for ranks that are fibers of a single
 * process. A file exists once in memory, and every map of a file has the same
 * address. Copy by attach is a memcpy().
 *
 * Descriptors have numbers of their own, above the numbers of objects
 * (object.h).
 */
#ifndef SIM_SHM_H
#define SIM_SHM_H

#include "transport/shm/host.h"

struct sim_world;
struct sim_shm;

/* The table; its `world` is a struct sim_world. */
extern const struct bcl_shm_host sim_shm_host;

struct sim_shm *sim_shm_open(const struct sim_world *world);
/* Frees everything that ranks have left behind. */
void sim_shm_close(struct sim_shm *shm);

/* Frees everything that the ranks of a node had; the ranks are gone. */
void sim_shm_drop(struct sim_shm *shm, unsigned node);

/* Makes a file that is mapped already: share and unshare of struct bcl_env. */
void *sim_shm_share(struct sim_shm *shm, size_t size, int *fd);
void sim_shm_unshare(struct sim_world *world, void *memory, size_t size,
		     int fd);

#endif
