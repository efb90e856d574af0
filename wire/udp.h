/* SPDX-License-Identifier: MIT */
/*
 * A rail over UDP, for which no privilege is needed. This header is shared by
 * the files of the rail:
 *
 *  udp.c          opening, watching, closing
 *  udp_address.c  conversion between wire addresses and socket addresses
 *  udp_error.c    errors that the system and the network report for our frames
 *  udp_socket.c   the sockets, and the choice of the socket for a frame
 *  udp_send.c     sending frames, alone or in bursts
 *  udp_stage.c    sending bursts that the system need not copy
 *  udp_receive.c  receiving frames, alone or joined; the choice of the socket
 *
 * The rail makes system calls by number. The functions of the C library are
 * cancellation points of threads, and a thread must not be cancelled under the
 * card's lock. They also take longer.
 */
#ifndef BCL_UDP_H
#define BCL_UDP_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wire/rail.h"

enum {
	BCL_UDP_BURST_FRAMES = 64, /* the least limit of all kernels */
	BCL_UDP_BURST_BYTES = 65507,
	BCL_UDP_BATCH = 16,    /* datagrams in one recvmmsg() */
	BCL_UDP_SLOT = 9088,   /* bytes for each datagram: a frame */
	BCL_UDP_DELIVER = 128, /* frames delivered in one call */
	BCL_UDP_MTU_MIN = 576,
	BCL_UDP_PEERS = 32, /* destinations with a socket of their own */
	/* More bytes in flight than this do not fit into the second-level
	 * cache. */
	BCL_UDP_WINDOW_MAX = 1 << 20,
};

struct bcl_udp_socket {
	int fd;		   /* -1: none */
	bool errors;	   /* its error queue may hold something */
	uint16_t cut;	   /* segment size for longer sends; 0: none */
	int32_t strangers; /* frames for others since the peer's last */
	struct bcl_wire_address peer; /* the socket is connected to this peer */
};

/* Memory of the bursts that sendfile() sends. */
struct bcl_udp_stage {
	struct bcl_wire_address owner; /* the destination of all bursts here */
	uint8_t *memory;	       /* NULL: none */
	uint32_t size;
	int fd;
	uint32_t at;	    /* start of the next burst, on a page */
	uint32_t strangers; /* bursts for others since the owner's last */
	bool refused;	    /* sendfile() failed: not used any more */
};

struct bcl_ip;

struct bcl_udp {
	struct bcl_rail rail;
	const struct bcl_env *env;
	const struct bcl_config *config;
	uint32_t scope;
	uint32_t headers;    /* bytes of IP and UDP before a frame */
	uint32_t path_mtu;   /* the least reported MTU, else UINT32_MAX */
	uint64_t path_until; /* end of that report: env->now() */
	bool segment;	     /* the system cuts bursts (UDP_SEGMENT) */
	bool join;	     /* the system joins frames (UDP_GRO) */
	bool errors;	     /* a socket's error queue may hold something */
	int told;	     /* the last errno that was logged */
	size_t size;	     /* bytes of this object and `flat` */
	uint8_t *flat;	     /* BATCH slots, or one joined datagram */
	struct bcl_udp_socket bound; /* bound to the rail's address; receives */
	struct bcl_udp_socket partner; /* likewise, from one source */
	struct bcl_wire_address last; /* source of the last frames by `bound` */
	/* Receives from `last` in a row. A frame of the partner ends the
	 * row. */
	uint32_t row;
	uint64_t believed; /* sink->believed() before the row */
	uint32_t turns;	   /* calls of receive with a partner */
	struct bcl_udp_socket peers[BCL_UDP_PEERS]; /* by destination */
	struct bcl_udp_stage stage;
	uint32_t empty; /* receives that found nothing */
	uint32_t turn;	/* the next of `peers` to look at for errors */
	struct iovec out[BCL_UDP_BURST_FRAMES * 6];
	struct mmsghdr messages[BCL_UDP_BURST_FRAMES];
	struct bcl_rx_frame frames[BCL_UDP_DELIVER];
};

/* Returns the length of the socket address. */
socklen_t bcl_udp_to_system(const struct bcl_udp *udp,
			    const struct bcl_wire_address *address,
			    struct sockaddr_storage *storage);
void bcl_udp_from_system(const struct sockaddr_storage *storage,
			 struct bcl_wire_address *address);

/* Open the sockets and set rail.fd and rail.address. Returns false on failure,
 * with errno set. */
bool bcl_udp_sockets_open(struct bcl_udp *udp, const struct bcl_ip *ip);
void bcl_udp_sockets_close(struct bcl_udp *udp);
void bcl_udp_socket_close(struct bcl_udp_socket *socket);

/* Make `source` the partner: frames of this source come in by their own socket
 * from now on. */
void bcl_udp_meet(struct bcl_udp *udp, const struct bcl_wire_address *source);

/* The socket by which a frame to the destination leaves. A frame of a kind
 * whose receiver needs the source address leaves by `bound`. */
struct bcl_udp_socket *
bcl_udp_socket_of(struct bcl_udp *udp,
		  const struct bcl_wire_address *destination,
		  const struct bcl_rail_tx *frame);

enum bcl_udp_outcome {
	BCL_UDP_SENT,
	BCL_UDP_FULL,  /* try again later */
	BCL_UDP_RETRY, /* the error belongs to an earlier frame */
	BCL_UDP_LOST,  /* counted, like a loss on the wire */
	BCL_UDP_UNCUT, /* the system cannot cut: send each frame */
};

/* Handle the error of a send of n frames. `cut`: the system was to cut the
 * burst. */
enum bcl_udp_outcome bcl_udp_failed(struct bcl_udp *udp,
				    struct bcl_udp_socket *from, int error,
				    bool cut, unsigned n);

/* The error queue of the socket may hold an error. */
void bcl_udp_suspect(struct bcl_udp *udp, struct bcl_udp_socket *socket);

/* A receive found nothing. The rail does not receive from connected sockets, so
 * their errors go unseen: look at one of them now and then. */
void bcl_udp_came_nothing(struct bcl_udp *udp);

/* Read the error queues: errors of the network for frames sent earlier. The
 * sink hears of destinations that are gone. */
void bcl_udp_read_errors(struct bcl_udp *udp, const struct bcl_rail_sink *sink,
			 unsigned index);

/*
 * Let the system cut sends of the socket into frames of `length` bytes, unless
 * the call says otherwise; 0: no cutting. Returns false if the system refuses.
 */
bool bcl_udp_cut_to(struct bcl_udp_socket *socket, uint16_t length);
void bcl_udp_cut_none(struct bcl_udp *udp);

/*
 * Send a burst of n frames of `length` bytes that lies in memory of
 * bcl_udp_stage(). BCL_UDP_UNCUT: the burst lies elsewhere, or the system does
 * not permit sendfile().
 */
enum bcl_udp_outcome bcl_udp_send_stage(struct bcl_udp *udp,
					struct bcl_udp_socket *from,
					const struct iovec *burst,
					uint16_t length, unsigned n);
void bcl_udp_stage_close(struct bcl_udp *udp);

/* The rail's stage(), transmit() and receive(). */
void *bcl_udp_stage(struct bcl_rail *rail,
		    const struct bcl_wire_address *destination, uint32_t bytes);
unsigned bcl_udp_transmit(struct bcl_rail *rail,
			  const struct bcl_wire_address *destination,
			  const struct bcl_rail_tx *frames, unsigned n);
unsigned bcl_udp_receive(struct bcl_rail *rail,
			 const struct bcl_rail_sink *sink, unsigned index,
			 unsigned max);

#endif
