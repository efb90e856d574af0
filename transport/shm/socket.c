/* SPDX-License-Identifier: MIT */
/* The local sockets of the handshake, for bcl_shm_linux; see socket.h. */
#include "transport/shm/socket.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "env/process.h"

static socklen_t make_name(struct sockaddr_un *name, uint64_t card,
			   uint16_t number)
{
	int n;

	memset(name, 0, sizeof(*name));
	name->sun_family = AF_UNIX;
	n = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
		     "bcl-%016" PRIx64 "-%u", card, number);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)n);
}

static int record(int fd)
{
	if (fd >= 0)
		bcl_process_record(fd);
	return fd;
}

static int open_socket(void)
{
	return record(socket(AF_UNIX,
			     SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

static int close_and_fail(int fd)
{
	int error = errno;

	bcl_process_close(fd);
	errno = error;
	return -1;
}

int bcl_socket_listen(void *world, uint64_t card, uint16_t number)
{
	struct sockaddr_un name;
	socklen_t length = make_name(&name, card, number);
	int fd = open_socket();

	(void)world;
	if (fd < 0)
		return -1;
	if (bind(fd, (struct sockaddr *)&name, length) || listen(fd, SOMAXCONN))
		return close_and_fail(fd);
	return fd;
}

int bcl_socket_call(void *world, uint64_t card, uint16_t number)
{
	struct sockaddr_un name;
	socklen_t length = make_name(&name, card, number);
	int fd = open_socket();

	(void)world;
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&name, length))
		return close_and_fail(fd);
	return fd;
}

int bcl_socket_accept(void *world, int listener)
{
	(void)world;
	return record(
		accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

bool bcl_socket_peer(void *world, int fd, pid_t *pid)
{
	struct ucred cred;
	socklen_t length = sizeof(cred);

	(void)world;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &length) ||
	    cred.uid != geteuid())
		return false;
	*pid = cred.pid;
	return true;
}

union control {
	struct cmsghdr head;
	uint8_t bytes[CMSG_SPACE(BCL_SOCKET_FDS * sizeof(int))];
};

bool bcl_socket_send(void *world, int fd, const void *packet, size_t length,
		     const int *fds, unsigned nfds)
{
	struct iovec iov = { (void *)(uintptr_t)packet, length };
	union control control;
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t sent;

	(void)world;
	if (nfds) {
		memset(&control, 0, sizeof(control));
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, nfds * sizeof(int));
	}
	do
		sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)length;
}

/* Take the descriptors of a packet; close those beyond the caller's room. */
static unsigned take_fds(struct msghdr *message, int *fds)
{
	struct cmsghdr *c;
	unsigned count = 0;

	for (c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		size_t i, n;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (count < BCL_SOCKET_FDS)
				fds[count++] = fd;
			else
				close(fd);
		}
	}
	return count;
}

int bcl_socket_receive(void *world, int fd, void *packet, size_t length,
		       int *fds, unsigned *nfds)
{
	struct iovec iov = { packet, length };
	union control control;
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n;

	(void)world;
	*nfds = 0;
	do
		n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	*nfds = take_fds(&message, fds);
	if (n == (ssize_t)length &&
	    !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return 1;
	while (*nfds)
		close(fds[--*nfds]);
	return n == (ssize_t)length && message.msg_flags & MSG_CTRUNC ? -2 : -1;
}

bool bcl_socket_has_ended(void *world, int fd)
{
	struct pollfd p = { .fd = fd };

	(void)world;
	return poll(&p, 1, 0) == 1 && (p.revents & POLLHUP);
}

void bcl_socket_hang_up(void *world, int fd)
{
	(void)world;
	shutdown(fd, SHUT_RDWR);
}
