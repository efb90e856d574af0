/* SPDX-License-Identifier: MIT */
/*
 * The local sockets of the handshake, as struct bcl_shm_host has them: abstract
 * names, which leave nothing behind and end at the border of a network
 * namespace; sequenced packets; never blocking. Descriptors are closed by exec.
 */
#ifndef BCL_SHM_SOCKET_H
#define BCL_SHM_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	BCL_SOCKET_FDS = 4, /* descriptors in a packet */
};

/* Listen for, or call, a port. -1: errno says why (connect: ECONNREFUSED no
 * such port here, EAGAIN it has too many callers just now). */
int bcl_socket_listen(void *world, uint64_t card, uint16_t number);
int bcl_socket_call(void *world, uint64_t card, uint16_t number);

/* The next caller's. -1: none now, or errno says why. */
int bcl_socket_accept(void *world, int listener);

/*
 * The process at the other end. pid 0: not visible in this namespace. False:
 * another user's.
 */
bool bcl_socket_peer(void *world, int fd, pid_t *pid);

/* False: the other end is gone, or does not read what it is sent. */
bool bcl_socket_send(void *world, int fd, const void *packet, size_t length,
		     const int *fds, unsigned nfds);

/*
 * One packet of exactly `length` bytes and up to BCL_SOCKET_FDS descriptors,
 * which are the caller's to close. 1: there was one; 0: none now; -1: the
 * other end is gone or sent something else; -2: no descriptor is left for those
 * that came with it.
 */
int bcl_socket_receive(void *world, int fd, void *packet, size_t length,
		       int *fds, unsigned *nfds);

/* A forked child may hold it open: the other end sees its end all the same. */
void bcl_socket_hang_up(void *world, int fd);

#endif
