/* SPDX-License-Identifier: MIT */
/*
 * Bursts that the system need not copy. The host puts a burst together in
 * memory with a descriptor. sendfile() passes the pages of the memory to the
 * network without a copy (Linux 6.5). So the sender copies only once, in the
 * pass that computes the checksum.
 *
 * The system reads the pages until the receiver has them. So the memory is a
 * ring, longer than the bytes that can be in flight to a destination, and
 * belongs to one destination. If the owner gets no burst between OFTEN bursts
 * for others, the next destination gets new memory in place of the old. The old
 * pages live as long as the system needs them.
 *
 * A frame may lie in a queue for longer than the protocol waits. Then the frame
 * is overwritten: the checksums drop the frame, or the frame has become a copy
 * of another frame to the same destination. So only frames with a checksum of
 * their payload are put in the ring.
 */
#include "wire/udp.h"

#include <assert.h>
#include <errno.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "env/counters.h"
#include "env/env.h"

enum {
	PAGE = 4096,
	ROOM = 1 << 16, /* a burst: the pages of one packet of the system */
	/* A burst leaves up to a quarter of its pages unused, and ROOM at the
	 * end of the ring may stay unused. From 2 MB on the memory may be one
	 * page, which the system passes on with less work. */
	SIZE = 2 << 20,
	LEAST = 3 * PAGE, /* shorter bursts waste pages and gain little */
	OFTEN = 64,	  /* bursts until a destination gets the memory */
};
static_assert(SIZE >= BCL_UDP_WINDOW_MAX / 3 * 4 + 2 * ROOM, "window");

static bool system_can(void)
{
	unsigned major, minor;
	struct utsname name;

	return !uname(&name) &&
	       sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 5));
}

void bcl_udp_stage_close(struct bcl_udp *udp)
{
	const struct bcl_env *env = udp->env;
	struct bcl_udp_stage *stage = &udp->stage;

	if (stage->memory)
		env->unshare(env->world, stage->memory, stage->size, stage->fd);
	*stage = (struct bcl_udp_stage){ .memory = NULL };
}

static void refuse_staging(struct bcl_udp *udp)
{
	udp->stage.refused = true;
	bcl_rail_count(&udp->rail, udp_stage_refused, 1);
}

static bool __attribute__((noinline))
take_stage(struct bcl_udp *udp, const struct bcl_wire_address *destination)
{
	const struct bcl_env *env = udp->env;
	struct bcl_udp_stage *stage = &udp->stage;

	if (++stage->strangers < OFTEN)
		return false;
	bcl_udp_stage_close(udp);
	if (system_can())
		stage->memory =
			env->share(env->world, "bcl-stage", SIZE, &stage->fd);
	if (!stage->memory) {
		refuse_staging(udp);
		return false;
	}
	stage->size = SIZE;
	stage->owner = *destination;
	return true;
}

void *bcl_udp_stage(struct bcl_rail *rail,
		    const struct bcl_wire_address *destination, uint32_t bytes)
{
	struct bcl_udp *udp = (struct bcl_udp *)rail;
	struct bcl_udp_stage *stage = &udp->stage;

	if (bytes < LEAST || bytes > ROOM || stage->refused || !udp->segment)
		return NULL;
	if (memcmp(&stage->owner, destination, sizeof(*destination)) &&
	    !take_stage(udp, destination))
		return NULL;
	stage->strangers = 0;
	return stage->memory + stage->at;
}

void bcl_udp_cut_none(struct bcl_udp *udp)
{
	unsigned i;

	for (i = 0; i < BCL_UDP_PEERS; i++)
		bcl_udp_cut_to(&udp->peers[i], 0);
}

bool bcl_udp_cut_to(struct bcl_udp_socket *socket, uint16_t length)
{
	int value = length;

	if (socket->cut == length)
		return true;
	if (setsockopt(socket->fd, SOL_UDP, UDP_SEGMENT, &value, sizeof(value)))
		return false;
	socket->cut = length;
	return true;
}

static bool lies_in(const struct bcl_udp_stage *stage,
		    const struct iovec *burst)
{
	const uintptr_t at = (uintptr_t)burst->iov_base;
	const uintptr_t first = (uintptr_t)stage->memory + stage->at;

	return stage->memory && at >= first &&
	       at + burst->iov_len <= first + ROOM;
}

/* The system took nothing of the burst. The burst can usually leave by a copy,
 * which reports other errors. */
static enum bcl_udp_outcome handle_refused_burst(struct bcl_udp *udp,
						 struct bcl_udp_socket *from,
						 int error)
{
	switch (error) {
	case EAGAIN:
	case ENOBUFS:
	case ENOMEM:
		return BCL_UDP_FULL;
	case EACCES:
	case EINVAL:
	case EIO:
	case ENOSYS:
	case EOPNOTSUPP:
	case EPERM:
		refuse_staging(udp);
		bcl_udp_cut_to(from, 0);
		break;
	default:
		break;
	}
	return BCL_UDP_UNCUT;
}

/* The system took part of the burst. This part waits in the socket for the rest
 * and is dropped with the socket. */
static enum bcl_udp_outcome handle_halved_burst(struct bcl_udp *udp,
						struct bcl_udp_socket *from,
						unsigned n)
{
	refuse_staging(udp);
	bcl_udp_socket_close(from);
	bcl_rail_count(&udp->rail, udp_send_failed, n);
	return BCL_UDP_LOST;
}

enum bcl_udp_outcome bcl_udp_send_stage(struct bcl_udp *udp,
					struct bcl_udp_socket *from,
					const struct iovec *burst,
					uint16_t length, unsigned n)
{
	struct bcl_udp_stage *stage = &udp->stage;
	long at = (uint8_t *)burst->iov_base - stage->memory;
	ssize_t sent;

	if (from == &udp->bound || stage->refused || !lies_in(stage, burst) ||
	    !bcl_udp_cut_to(from, length))
		return BCL_UDP_UNCUT;
	bcl_rail_count(&udp->rail, udp_sendmsg, 1);
	sent = syscall(SYS_sendfile, from->fd, stage->fd, &at, burst->iov_len);
	if (sent < 0)
		return handle_refused_burst(udp, from, errno);
	if (sent != (ssize_t)burst->iov_len)
		return handle_halved_burst(udp, from, n);
	bcl_rail_count(&udp->rail, udp_staged, 1);
	stage->at = (uint32_t)((at + PAGE - 1) / PAGE * PAGE);
	if (stage->at + ROOM > stage->size)
		stage->at = 0;
	return BCL_UDP_SENT;
}
