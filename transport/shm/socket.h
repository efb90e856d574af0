/* SPDX-License-Identifier: MIT */
/*
 * The local sockets of the handshake, as struct bcl_shm_host declares them.
 * Names are abstract: they leave nothing behind and end at the border of a
 * network namespace. Sockets carry sequenced packets and never block. Exec and
 * fork close the descriptors in the child, so a socket ends with its process.
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

/* Listen for the callers of a port, or call a port. -1: errno says why (call:
 * ECONNREFUSED: there is no such port here; EAGAIN: it has too many callers
 * just now). */
int bcl_socket_listen(void *world, uint64_t card, uint16_t number);
int bcl_socket_call(void *world, uint64_t card, uint16_t number);

/* Returns the socket of the next caller. -1: no caller now, or errno says
 * why. */
int bcl_socket_accept(void *world, int listener);

/*
 * Find the process at the other end. *pid is 0 if the process is not visible in
 * this namespace. Returns false if the process belongs to another user.
 */
bool bcl_socket_peer(void *world, int fd, pid_t *pid);

/* Returns false if the other end is gone or does not read. */
bool bcl_socket_send(void *world, int fd, const void *packet, size_t length,
		     const int *fds, unsigned nfds);

/*
 * Receive a packet of exactly `length` bytes and up to BCL_SOCKET_FDS
 * descriptors, which the caller has to close. 1: there was a packet; 0: none
 * now; -1: the other end is gone or sent something else; -2: the packet came,
 * but no descriptor was left for those in it.
 */
int bcl_socket_receive(void *world, int fd, void *packet, size_t length,
		       int *fds, unsigned *nfds);

/* True if the other end is gone; packets of it may still have to be read. */
bool bcl_socket_has_ended(void *world, int fd);

/* Shut the socket down. The other end sees the end of the socket even if a
 * forked child still has it open. */
void bcl_socket_hang_up(void *world, int fd);

#endif
