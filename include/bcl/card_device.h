/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The boundary between a process and a card in the kernel: what the library
 * asks of /dev/bcl, and what the two share. The structures of a port's queues
 * are in bcl/card_abi.h.
 *
 * An open file of the device is one card, for one process. OPEN sets the card
 * up; any other call before OPEN fails with EINVAL. The card leaves its peers
 * and is gone when the file is closed for good and no mapping of it is left.
 *
 * A call returns an enum bcl_status (bcl/status.h), or -1 with errno: EFAULT,
 * the argument is not in memory, or, after the call was carried out, cannot be
 * written; EINVAL, the call or its argument makes no
 * sense; ENOTTY, there is no such call; EPERM, another process than the one
 * that called OPEN; EDQUOT, see below. A call that does not return BCL_OK has
 * changed nothing, unless it says otherwise.
 *
 * Each port has two parts of memory, mapped at bcl_device_map():
 *
 *   shown  sends, receives, blocks         written by the card; the process can
 *                                          only read
 *   given  requests, indices, bounce       written by the process; the card
 *                                          reads each request once, at the
 *                                          doorbell, and copies the request
 *
 * A request, or a channel that is posted, names memory of the process by
 * BCL_HANDLE_SELF and an address. The card keeps the pages of this memory until
 * the event, or longer for further messages, except for an address in the part
 * `given` of the port, whose pages the card has anyway. Memory in any other
 * mapping of the device is refused.
 *
 * The module limits what each user, by uid, has in all cards together. Each
 * limit is a parameter of the module. A call for more fails with EDQUOT:
 *
 *   user_cards     OPEN
 *   user_ports     PORT_OPEN
 *   user_memories  MEMORY
 *   user_pages     MEMORY, POST: pinned pages, beside RLIMIT_MEMLOCK, whose
 *                  status is NOMEM; a request ends with ARG
 *   user_peers     CONNECT; the call of a peer gets no answer. A connection
 *                  that was up before is made again in any case
 *   user_frames    no call: a frame that would wait for a card is lost
 */
#ifndef BCL_CARD_DEVICE_H
#define BCL_CARD_DEVICE_H

#ifdef __KERNEL__
#include <linux/ioctl.h>
#else
#include <sys/ioctl.h>
#endif

#include <bcl/card_abi.h>

#define BCL_DEVICE_PATH "/dev/bcl"

enum {
	BCL_DEVICE_ENDS = 6,
	BCL_DEVICE_WAYS = BCL_DEVICE_ENDS * BCL_WIRES_MAX,
	BCL_DEVICE_PORTS = 16,	       /* of a card */
	BCL_DEVICE_NAME = 16,	       /* bytes of an interface's name */
	BCL_DEVICE_CERTAIN = 1u << 31, /* chance of a fault */
};

/* An end of a rail: an interface by which peers reach the card. */
struct bcl_device_end {
	uint32_t interface; /* index of the interface */
	uint32_t mtu;	    /* set by the card: bytes of the longest frame */
	uint8_t rail;	    /* of the card */
	uint8_t up;	    /* set by the card: the interface works */
	uint8_t spare[2];
	/*
	 * The process gives the kind; and for UDP the IP address, which is one
	 * of the interface. The card sets the rest.
	 */
	struct bcl_wire_address address;
	int32_t refused; /* set by the card: errno, if the end cannot be used */
};

struct bcl_device_open {
	uint32_t abi; /* of the library; set by the card to its own, also if
		       * the call returns BCL_ERR_VERSION */
	uint32_t nends;
	uint64_t incarnation;
	uint64_t peer_timeout; /* ns */
	uint8_t key[BCL_KEY_SIZE];
	uint32_t pcrc;
	uint32_t admits; /* 1: COPY may reach all memory of this process */
	uint64_t card;	 /* set by the card: its id */
	struct bcl_device_end end[BCL_DEVICE_ENDS];
};

struct bcl_device_port {
	uint32_t number; /* 1..65535 */
	uint32_t nrequests, nreceives, nblocks, nlongs, nchannels;
	int32_t wake;  /* an eventfd, written when the owner sleeps */
	uint32_t seat; /* set by the card: its name for the port */
};

/*
 * PORT_CLOSE, DOORBELL: the argument is the seat itself.
 *
 * DOORBELL returns ARG if an entry of submits[] names no request, or one that
 * the card has: the card ignores this entry, and takes the others. A request
 * whose memory the card cannot have ends with the status ARG.
 */

struct bcl_device_connect {
	uint64_t card;
	uint8_t key[BCL_KEY_SIZE];
	uint32_t nwires, nways;
	struct bcl_wire_address wire[BCL_WIRES_MAX];
	struct {
		uint8_t end, wire;
	} way[BCL_DEVICE_WAYS];
	uint32_t index; /* set by the card */
};

/* The host's knowledge of a node, as struct bcl_host_node (card/ops.h). ARG:
 * there is no such node; `changes` is set all the same. */
struct bcl_device_node {
	uint32_t index;	  /* given by the process */
	uint32_t changes; /* changes of nodes at that moment */
	uint64_t card;
	uint32_t generation;
	uint8_t state, lost, known, ends;
};

struct bcl_device_node_info {
	uint32_t index; /* given by the process */
	uint32_t spare;
	struct {
		uint64_t card, rtt, last_heard;
		uint64_t frames_sent, frames_received, retransmitted;
		uint32_t state, status, rails, messages_queued;
	} info; /* as struct bcl_node_info (nicfw/hal.h) */
};

/* Memory that peers may reach by `handle`, as long as all of it is mapped. The
 * card keeps its pages until MEMORY_REMOVE, whose argument is the handle
 * itself.
 */
struct bcl_device_memory {
	uint64_t address, length;
	uint64_t base; /* number of the first byte, for peers */
	uint32_t handle;
	uint32_t rights; /* enum bcl_mem_rights; 0: for this process only */
};

/*
 * Copy between this process and the process of another card of the same job and
 * user, which has opened its card with `admits`: as process_vm_readv() and
 * process_vm_writev(), but also into other pid namespaces, and where the system
 * restricts these calls. MEMORY: some address is not mapped, or not writable;
 * then any part may have been copied. DEAD: no process has such a card. PERM:
 * it does not admit this one.
 */
struct bcl_device_copy {
	uint64_t card;
	uint64_t local, remote; /* addresses in the two processes */
	uint64_t length;
	uint32_t write; /* 1: to the other process; 0: from it */
	uint32_t spare;
};

struct bcl_device_counters {
	uint64_t card[BCL_CARD_NCOUNTERS];
	uint64_t pages_pinned, pages_released;
	uint64_t pages_kept;	       /* now: pinned, and used by no one */
	uint64_t bytes_copied_out;     /* to build frames of */
	uint64_t bytes_copied_in;      /* from frames to memory */
	uint64_t bytes_copied_between; /* by COPY */
	uint64_t doorbells, frames, no_address, dma_refused;
	uint64_t packets;    /* that had the frames: one may have several */
	uint64_t joined;     /* packets that came with several frames */
	uint64_t not_sent;   /* frames: no memory, too long, or no device */
	uint64_t queue_full; /* frames that found no room to wait for the card
			      */
	uint64_t over_limit; /* frames refused by a limit of the user */
};

/*
 * ---- calls for administrators ----
 *
 * They need no card: any process may call, before OPEN or after OPEN by another
 * process. A process may see the cards of its user. With CAP_NET_ADMIN over a
 * card's network namespace it may see the card, too, and change something;
 * otherwise a change fails with EPERM. A card that the process may not see is
 * as if it were not there.
 */

enum bcl_device_fault_kind {
	BCL_DEVICE_DROP,
	BCL_DEVICE_DUP,
	BCL_DEVICE_REORDER, /* one to four later frames go first, or a
			     * moment passes */
	BCL_DEVICE_CORRUPT, /* one bit is inverted */
	BCL_DEVICE_FAULTS
};

/* Faults that strike frames that a card sends. ARG: no such card. */
struct bcl_device_fault {
	uint64_t card; /* 0: all cards, also those to come */
	uint64_t seed;
	uint32_t chance[BCL_DEVICE_FAULTS]; /* of BCL_DEVICE_CERTAIN */
};

/* EMPTY: there is none further. */
struct bcl_device_card {
	uint64_t card; /* given by the process; set by the kernel to the next
			* greater id of a card */
	uint32_t job;  /* the same for cards with the same key */
	uint32_t user;
	int32_t process;  /* 0: of another pid namespace */
	uint32_t peers;	  /* nodes that are CONNECTING or UP */
	uint32_t waiting; /* frames that wait for the card */
	uint32_t nports, port[BCL_DEVICE_PORTS];
	uint32_t nends, spare;
	struct {
		char interface[BCL_DEVICE_NAME]; /* empty: gone, or refused */
		uint8_t rail, up;
		uint8_t barred; /* the administrator does not permit it */
		uint8_t spare[5];
	} end[BCL_DEVICE_ENDS];
	struct bcl_device_fault fault;
	uint64_t struck[BCL_DEVICE_FAULTS]; /* frames, by faults */
	struct bcl_device_counters counters;
};

/* ARG: no such card. EMPTY: no further node. */
struct bcl_device_peer {
	uint64_t card;			  /* given by the process */
	struct bcl_device_node_info node; /* the first with index or behind */
};

/* Isolate a peer for all cards that know it, or let the peer in again. ARG: no
 * card knows it, or has isolated it. */
struct bcl_device_isolate {
	uint64_t peer; /* id of a card */
	uint32_t rejoin;
	uint32_t cards; /* set by the kernel: so many did it */
};

/* The page that every process with the card may read, at BCL_DEVICE_NEWS. */
struct bcl_device_news {
	uint32_t changes; /* of nodes' states; store-release */
};

#define BCL_DEVICE_OPEN	      _IOWR('b', 1, struct bcl_device_open)
#define BCL_DEVICE_PORT_OPEN  _IOWR('b', 2, struct bcl_device_port)
#define BCL_DEVICE_PORT_CLOSE _IO('b', 3)
#define BCL_DEVICE_DOORBELL   _IO('b', 4)
/* POST, UNPOST, ISOLATE, REJOIN */
#define BCL_DEVICE_CONTROL	 _IOW('b', 5, struct bcl_control)
#define BCL_DEVICE_CONNECT	 _IOWR('b', 6, struct bcl_device_connect)
#define BCL_DEVICE_NODE		 _IOWR('b', 7, struct bcl_device_node)
#define BCL_DEVICE_NODE_INFO	 _IOWR('b', 8, struct bcl_device_node_info)
#define BCL_DEVICE_MEMORY	 _IOW('b', 9, struct bcl_device_memory)
#define BCL_DEVICE_MEMORY_REMOVE _IO('b', 10)
#define BCL_DEVICE_COUNTERS	 _IOR('b', 11, struct bcl_device_counters)
/* Returns when all earlier effects of the card are visible, and later events
 * see what the process has written before. */
#define BCL_DEVICE_BARRIER _IO('b', 12)
/* Sets state and mtu of all ends. */
#define BCL_DEVICE_WATCH _IOWR('b', 13, struct bcl_device_open)
#define BCL_DEVICE_COPY	 _IOW('b', 18, struct bcl_device_copy)

/* For administrators */
#define BCL_DEVICE_CARD	   _IOWR('b', 14, struct bcl_device_card)
#define BCL_DEVICE_PEER	   _IOWR('b', 15, struct bcl_device_peer)
#define BCL_DEVICE_ISOLATE _IOWR('b', 16, struct bcl_device_isolate)
#define BCL_DEVICE_FAULT   _IOW('b', 17, struct bcl_device_fault)

enum bcl_device_part {
	BCL_DEVICE_SHOWN,
	BCL_DEVICE_GIVEN,
};

#define BCL_DEVICE_NEWS 0ull

/*
 * The offset at which a part of a port's memory is mapped: from its first byte,
 * in full, shared, and once at a time. A forked child does not inherit the
 * mapping, which can neither move nor lose pages.
 */
static inline uint64_t bcl_device_map(uint32_t seat, enum bcl_device_part part)
{
	return (uint64_t)(2 * seat + part + 1) << 32;
}

static inline enum bcl_device_part bcl_device_part(enum bcl_area area)
{
	return area == BCL_AREA_SENDS || area == BCL_AREA_RECEIVES ||
			       area == BCL_AREA_BLOCKS
		       ? BCL_DEVICE_SHOWN
		       : BCL_DEVICE_GIVEN;
}

/*
 * Returns the offset of an area in its part; the argument is a PORT_OPEN. The
 * areas of a part lie in the order of enum bcl_area, each at a multiple of 64.
 * BCL_AREAS: the bytes of the part.
 */
static inline uint64_t bcl_device_area(const struct bcl_control *open,
				       enum bcl_device_part part,
				       enum bcl_area area)
{
	uint64_t at = 0;
	unsigned i;

	for (i = 0; i < (unsigned)area; i++)
		if (bcl_device_part((enum bcl_area)i) == part)
			at += (bcl_area_size(open, (enum bcl_area)i) + 63) &
			      ~(uint64_t)63;
	return at;
}

#endif
