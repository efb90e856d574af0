/* SPDX-License-Identifier: MIT */
/*
 * A rail over UDP: no privilege. What its files share.
 *
 *  udp.c          opening, watching, closing
 *  udp_address.c  addresses as the wire and as the system write them
 *  udp_error.c    what the system and the network say against our frames
 *  udp_socket.c   the sockets, and which one a frame leaves by
 *  udp_send.c     frames out, alone or in bursts
 *  udp_stage.c    bursts out that the system need not copy
 *  udp_receive.c  frames in, alone or joined; which socket is asked for them
 *
 * System calls are made by hand: the library's functions are points where a
 * thread can be cancelled, which must not happen under the card's lock, and
 * cost more.
 */
#ifndef BCL_UDP_H
#define BCL_UDP_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transport/wire/rail.h"

enum {
	BCL_UDP_BURST_FRAMES = 64, /* as every kernel takes them */
	BCL_UDP_BURST_BYTES = 65507,
	BCL_UDP_BATCH = 16,    /* datagrams in one recvmmsg() */
	BCL_UDP_SLOT = 9088,   /* bytes for each of them: a frame */
	BCL_UDP_DELIVER = 128, /* frames delivered in one call */
	BCL_UDP_MTU_MIN = 576,
	BCL_UDP_PEERS = 32, /* destinations with a socket of their own */
	/* More in flight than this falls out of the second-level cache. */
	BCL_UDP_WINDOW_MAX = 1 << 20,
};

struct bcl_udp_socket {
	int fd;		   /* -1: none */
	bool errors;	   /* its error queue may hold something */
	uint16_t cut;	   /* what is longer is cut to that; 0: nothing is */
	int32_t strangers; /* frames for others since the last for the peer */
	struct bcl_wire_address peer; /* whom it is connected to */
};

/* Memory that sendfile() takes bursts from. */
struct bcl_udp_stage {
	struct bcl_wire_address owner; /* the destination of what is there */
	uint8_t *memory;	       /* NULL: none */
	uint32_t size;
	int fd;
	uint32_t at;	    /* where the next burst begins: a page */
	uint32_t strangers; /* bursts for others since the owner's last */
	bool refused;	    /* the system would not: never again */
};

struct bcl_ip;

struct bcl_udp {
	struct bcl_rail rail;
	const struct bcl_env *env;
	const struct bcl_config *config;
	uint32_t scope;
	uint32_t headers;    /* bytes of IP and UDP before a frame */
	uint32_t path_mtu;   /* least that was reported, else UINT32_MAX */
	uint64_t path_until; /* then the report is old: env->now() */
	bool segment;	     /* the system cuts what is sent */
	bool join;	     /* and joins what is received */
	bool errors;	     /* a socket's error queue may hold something */
	int told;	     /* the last errno that was logged */
	size_t size;	     /* of this and flat */
	uint8_t *flat;	     /* BATCH slots, or one joined datagram */
	struct bcl_udp_socket bound; /* has the rail's address, receives */
	struct bcl_udp_socket
		partner;	      /* likewise, what comes from one source */
	struct bcl_wire_address last; /* source of frames that came by bound */
	uint32_t row;	   /* how many in a row, since the partner's last */
	uint64_t believed; /* frames by the card before the row */
	uint32_t turns;	   /* of receiving, beside a partner */
	struct bcl_udp_socket peers[BCL_UDP_PEERS]; /* by destination */
	struct bcl_udp_stage stage;
	uint32_t empty; /* receives that found nothing */
	uint32_t turn;	/* whose errors are looked at next, of peers */
	struct iovec out[BCL_UDP_BURST_FRAMES * 6];
	struct mmsghdr messages[BCL_UDP_BURST_FRAMES];
	struct bcl_rx_frame frames[BCL_UDP_DELIVER];
};

/* Returns the length of what was filled in. */
socklen_t bcl_udp_to_system(const struct bcl_udp *udp,
			    const struct bcl_wire_address *address,
			    struct sockaddr_storage *storage);
void bcl_udp_from_system(const struct sockaddr_storage *storage,
			 struct bcl_wire_address *address);

/* Sets rail.fd and rail.address. False: errno says why. */
bool bcl_udp_sockets_open(struct bcl_udp *udp, const struct bcl_ip *ip);
void bcl_udp_sockets_close(struct bcl_udp *udp);
void bcl_udp_socket_close(struct bcl_udp_socket *socket);

/* Frames of this source come in by a socket of their own from now on. */
void bcl_udp_meet(struct bcl_udp *udp, const struct bcl_wire_address *source);

/* The socket by which a frame leaves. */
struct bcl_udp_socket *
bcl_udp_socket_of(struct bcl_udp *udp,
		  const struct bcl_wire_address *destination,
		  const struct bcl_rail_tx *frame);

enum bcl_udp_outcome {
	BCL_UDP_SENT,
	BCL_UDP_FULL,  /* try again later */
	BCL_UDP_RETRY, /* the error was an earlier frame's */
	BCL_UDP_LOST,  /* counted; like a loss on the wire */
	BCL_UDP_UNCUT, /* cannot be cut by the system: send frame by frame */
};

/* The system refused to send n frames, which it was to cut or was not. */
enum bcl_udp_outcome bcl_udp_failed(struct bcl_udp *udp,
				    struct bcl_udp_socket *from, int error,
				    bool cut, unsigned n);

/* The socket's error queue may hold something. */
void bcl_udp_suspect(struct bcl_udp *udp, struct bcl_udp_socket *socket);

/* A receive found nothing. From connected sockets nobody receives, which would
 * tell of errors: so one of them is looked at now and then. */
void bcl_udp_came_nothing(struct bcl_udp *udp);

/* Take what the network said about frames sent earlier; the sink is told of
 * destinations that are gone. */
void bcl_udp_read_errors(struct bcl_udp *udp, const struct bcl_rail_sink *sink,
			 unsigned index);

/* What the socket sends is cut to so many bytes, 0: not at all, unless a call
 * says otherwise. */
bool bcl_udp_cut_to(struct bcl_udp_socket *socket, uint16_t length);
void bcl_udp_cut_none(struct bcl_udp *udp);

/* A burst of n such frames from where bcl_udp_stage() said. BCL_UDP_UNCUT: it
 * is elsewhere, or that way is barred. */
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
