/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel as the host of a card core: one card for each open file of
 * /dev/bcl. doc/kernel.md describes the boundary and the locks.
 *
 * The core runs under `lock`, with bottom halves off, in turns:
 * bcl_kmod_enter(), inputs of the core, bcl_kmod_leave(). Frames that the core
 * sends wait in `out` until the turn is over.
 */
#ifndef BCL_KMOD_HOST_H
#define BCL_KMOD_HOST_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kref.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/nospec.h>
#include <linux/rwsem.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <bcl/card_device.h>

#include "card/ways.h"
#include "nicfw/hal.h"
#include "fault.h"
#include "user.h"

struct bcl_kmod_kind;
struct bcl_kmod_pin;
struct bcl_kmod_udp_end;

enum {
	BCL_KMOD_SEATS = 16,
	BCL_KMOD_NODES = 8192,
	BCL_KMOD_MESSAGES = 4096,
	BCL_KMOD_CONNECTIONS = 1024,
	BCL_KMOD_CHANNELS = 1024, /* per port, on average */
	BCL_KMOD_BUDGET = 256,
	BCL_KMOD_BURST = 32,	   /* frames in one input, or in one run */
	BCL_KMOD_QUEUE = 4096,	   /* frames that wait for the card */
	BCL_KMOD_WINDOW = 1 << 20, /* bytes that they hold */
	BCL_KMOD_AREAS = 8,	   /* handles per port: a power of two */
};

/* ---- memory ---- */

/* A piece of memory that a handle of the core names, by kind. */
enum bcl_kmod_span_kind {
	BCL_KMOD_NOTHING,
	BCL_KMOD_LINEAR, /* of the kernel: `memory`, `length` bytes */
	BCL_KMOD_PINNED, /* pages of the process: `pin`, from byte `offset` on
			  */
	BCL_KMOD_NAMED,	 /* registered memory `handle`, from byte `offset` on:
			  * looked up at each access */
};

struct bcl_kmod_span {
	enum bcl_kmod_span_kind kind;
	u32 handle;
	union {
		u8 *memory;
		struct bcl_kmod_pin *pin;
	};
	u64 offset;
	u64 length;
};

/* Memory that peers may reach (BCL_DEVICE_MEMORY). */
struct bcl_kmod_memory {
	struct bcl_device_memory named;
	struct bcl_kmod_pin *pin; /* NULL: of no bytes */
	unsigned int first;	  /* byte of the pin */
};

/* ---- ports ---- */

/* A part of a port's memory (enum bcl_device_part), which stays until neither
 * port nor mapping needs it. */
struct bcl_kmod_part {
	struct kref users;
	void *memory;
	size_t size;
	unsigned long mapped; /* address in the process, or 0 */
};

/* What the core has of a request. */
struct bcl_kmod_slot {
	bool busy; /* from the doorbell to the event */
	struct bcl_kmod_span span[BCL_REQUEST_REFS];
};

/* What the core has of a channel, and what the process named in the last POST.
 */
struct bcl_kmod_channel {
	struct bcl_kmod_span span;
	u64 address, length;
};

/* The reader of a completion queue, beside the owner of the port. */
struct bcl_kmod_reader {
	const struct bcl_completion *entries;
	u32 n, next, lap;
};

struct bcl_kmod_port {
	struct bcl_control opened; /* PORT_OPEN */
	struct bcl_kmod_part *part[2];
	/* In the parts, by enum bcl_area. Requests that the core reads are not
	 * there, but in `shadow`. */
	u8 *area[BCL_AREAS];
	struct bcl_request *shadow;
	u32 made;		  /* entries of the shadow's submits[] */
	u32 taken;		  /* entries of the process's submits[] */
	struct eventfd_ctx *wake; /* may be NULL */
	struct bcl_kmod_reader sends, receives;
	struct bcl_kmod_slot *slot;
	struct bcl_kmod_channel *channel;
};

/*
 * A place for a port. `mutex`, for intake, open and close, is taken before the
 * card's lock; `port` changes with both.
 */
struct bcl_kmod_seat {
	struct mutex mutex;
	struct bcl_kmod_port *port; /* NULL: free */
	u16 number;		    /* of the port; 0: free */
};

/* ---- rails and nodes ---- */

/* An end of a rail: an interface, or an IP address of an interface. */
struct bcl_kmod_end {
	const struct bcl_kmod_kind *kind; /* NULL: refused */
	struct bcl_kmod_udp_end *udp;	  /* of UDP only */
	u8 *flat; /* for the frames of a packet in pieces; NULL: none come */
	struct net_device *dev; /* held; NULL: gone, or refused */
	struct bcl_wire_address address;
	u32 interface;
	u32 mtu; /* of frames of the card */
	u8 rail;
	bool up;
	bool barred; /* by the administrator */
	bool used;   /* reaches a node, or is the first of its rail */
	bool wet;    /* frames came since bcl_card_drained() */
};

struct bcl_kmod_rail {
	u32 up; /* bit e: end e works */
	u32 mtu;
};

/* The host's knowledge of a node; the index is the core's. */
struct bcl_kmod_node {
	/* without index, changes, known and ends */
	struct bcl_device_node shown;
	bool charged; /* to the user, as a peer */
	struct bcl_ways ways;
};

/* ---- the host ---- */

struct bcl_kmod_host {
	struct mutex mutex; /* serialises control calls; outermost */
	bool open;	    /* OPEN was successful; then constant: */
	u64 id;
	struct mm_struct *mm;	  /* grabbed */
	struct mmu_notifier ends; /* calls when the process ends */
	unsigned long ended;	  /* bit 0: it has called */
	struct net *net;
	struct bcl_kmod_user *user;
	struct pid *process;
	u64 job;		      /* the same for cards with the same key */
	bool admits;		      /* COPY by its job */
	struct bcl_device_news *news; /* a page, mapped read-only */
	u64 peer_timeout;
	struct hlist_node hashed; /* by id; read under RCU */
	struct list_head listed;  /* in the list of all hosts */
	struct list_head known;	  /* to administrators, by id */
	/* Held for reading while another thread has the card release pins. */
	struct rw_semaphore giving;

	spinlock_t lock;
	/* Below: constant, or protected by the lock. */
	struct bcl_card *card;
	void *arena;
	bool closing;
	u64 deadline; /* that the core wants; 0: at once */
	u64 armed;    /* of the timer; U64_MAX: not armed */
	unsigned int nends, nrails;
	struct bcl_kmod_end end[BCL_DEVICE_ENDS];
	struct bcl_kmod_rail rail[BCL_RAILS_MAX];
	bool grown; /* an end came into use, or its frames became shorter */
	struct bcl_kmod_node *node; /* BCL_KMOD_NODES */
	u32 nodes_end;	     /* the highest that the core named, plus 1 */
	unsigned int npeers; /* nodes that are charged */
	struct bcl_ways
		*connecting; /* to the node of the CONNECT in progress */
	struct bcl_kmod_seat seat[BCL_KMOD_SEATS];
	unsigned long taken;	/* bit s: seat s has a port */
	struct xarray memories; /* by handle */
	/* Source of the frames that the core handles now, or NULL. */
	const struct bcl_wire_address *source;
	unsigned int source_end;
	struct bcl_rx_frame burst[BCL_KMOD_BURST];
	struct bcl_device_counters count; /* without those of the core */

	/* Pins without a user: those for further users, the one that was used
	 * last at the end; and those that process context will release. */
	struct list_head kept;
	struct list_head unpinned;
	struct work_struct release;
	struct mutex unpinning; /* below seat->mutex */

	/* Pins by address; see mapping.c. */
	spinlock_t mapping_lock;
	unsigned int changing; /* changes that the kernel has announced */
	struct rb_root_cached mapped;
	struct list_head doubts;
	struct work_struct compare;
	struct mutex comparing; /* taken before the process's mmap lock */

	/* ---- with locks of their own ---- */
	struct sk_buff_head in, out;
	atomic_t frames;       /* in `in` */
	unsigned long sending; /* bit 0: a thread empties `out` */
	/* Changed by the interfaces' threads: hints. */
	u64 queue_full, over_limit;
	u64 not_taken; /* packets, by the system; changed by that thread */
	u8 hello_turn; /* a hint */
	struct bcl_kmod_fault fault;
	struct tasklet_struct tasklet;
	struct hrtimer timer;
	atomic_long_t charged; /* pages, against RLIMIT_MEMLOCK */
};

/* ---- turn.c ---- */

void bcl_kmod_enter(struct bcl_kmod_host *host) __acquires(&host->lock);
void bcl_kmod_leave(struct bcl_kmod_host *host) __releases(&host->lock);
/* Store the next call that the core wants. */
void bcl_kmod_wants(struct bcl_kmod_host *host,
		    const struct bcl_card_next *next);
enum bcl_status bcl_kmod_command(struct bcl_kmod_host *host,
				 const struct bcl_control *control,
				 u32 *result);
void bcl_kmod_tasklet(struct tasklet_struct *tasklet);
enum hrtimer_restart bcl_kmod_timer(struct hrtimer *timer);

/* ---- hal.c, transmit.c, crc.c ---- */

extern const struct bcl_hal bcl_kmod_hal;

unsigned int bcl_kmod_transmit(void *host, unsigned int rail, u32 node,
			       struct bcl_tx_frame *frame);
/* Send the frames that wait. The caller has bottom halves off. */
void bcl_kmod_flush(struct bcl_kmod_host *host);

u32 bcl_kmod_crc32c(u32 crc, const void *data, size_t length);
u32 bcl_kmod_headers_crc(const void *headers);

/* ---- receive.c ---- */

/* NULL: there is no such card. Under rcu_read_lock(). */
struct bcl_kmod_host *bcl_kmod_card(u64 id);
/* Under rcu_read_lock(). */
void bcl_kmod_each_card(void (*call)(struct bcl_kmod_host *host, void *arg),
			void *arg);
/* Give the card a free id, and let frames to it come. */
void bcl_kmod_receive_open(struct bcl_kmod_host *host);
/* Wait for a grace period. No frame comes by the id of the card after this. */
void bcl_kmod_receive_close(struct bcl_kmod_host *host);
/* Feed waiting frames to the core, in a turn. Returns true if none is left. */
bool bcl_kmod_receive(struct bcl_kmod_host *host);

/* ---- ether.c ---- */

void bcl_kmod_ether_init(void);
void bcl_kmod_ether_exit(void);

/* ---- end.c ---- */

int bcl_kmod_ends_init(void);
void bcl_kmod_ends_exit(void);
/* Find the interfaces; each end gets the answer to the process. Returns the
 * number of ends that can be used. The host gets notice of changes. */
unsigned int bcl_kmod_ends_open(struct bcl_kmod_host *host,
				struct bcl_device_open *open);
/* No notice comes after this, and no frame by an end a grace period later. */
void bcl_kmod_ends_stop(struct bcl_kmod_host *host);
/* No thread uses the ends. */
void bcl_kmod_ends_close(struct bcl_kmod_host *host);
/* Tell the core what has changed, in a turn. */
void bcl_kmod_ends_tell(struct bcl_kmod_host *host);
void bcl_kmod_ends_show(const struct bcl_kmod_host *host,
			struct bcl_device_open *open);

/* Look at all interfaces again. Under the rtnl lock. */
void bcl_kmod_ends_measure(void);

/* ---- interface.c ---- */

/* True if the administrator permits the interface. Under the rtnl lock. */
bool bcl_kmod_interface_permitted(const struct net_device *dev);

/* ---- node.c ---- */

/* The entry for the node that the core knows by this index; NULL: none. */
struct bcl_kmod_node *bcl_kmod_node_make(struct bcl_kmod_host *host, u32 index,
					 u64 card);
long bcl_kmod_connect(struct bcl_kmod_host *host,
		      struct bcl_device_connect *connect);
/* Charge the user with the node, or discharge, as the node's state wants. In a
 * turn. */
void bcl_kmod_node_count(struct bcl_kmod_host *host,
			 struct bcl_kmod_node *node);
/* False: the user has as many peers as are permitted, and the card with this id
 * is none of them. Outside a turn this is a hint. */
bool bcl_kmod_may_meet(const struct bcl_kmod_host *host, u64 card);
/* The network refused frames that went from the end to the address. Outside a
 * turn. */
void bcl_kmod_nodes_refused(struct bcl_kmod_host *host, unsigned int end,
			    const struct bcl_wire_address *address);
/* Stores `changes` even if there is no such node. */
long bcl_kmod_node_show(struct bcl_kmod_host *host,
			struct bcl_device_node *node);

/* An index of a node that the process gave, as the core may have it: no thread
 * that guesses wrong reads beyond the core's nodes. */
static inline u32 bcl_kmod_node_index(u32 index)
{
	return index < BCL_KMOD_NODES
		       ? array_index_nospec(index, BCL_KMOD_NODES)
		       : BCL_NODE_NONE;
}

/* ---- port.c, intake.c ---- */

long bcl_kmod_port_open(struct bcl_kmod_host *host,
			struct bcl_device_port *port);
long bcl_kmod_port_close(struct bcl_kmod_host *host, unsigned long seat);
long bcl_kmod_doorbell(struct bcl_kmod_host *host, unsigned long seat);
long bcl_kmod_post(struct bcl_kmod_host *host, struct bcl_control *control);
long bcl_kmod_unpost(struct bcl_kmod_host *host, struct bcl_control *control);
int bcl_kmod_repost(void *host, u16 port, u32 channel); /* bcl_hal.repost */
/* Release what finished requests and channels had, at the end of a turn. */
void bcl_kmod_ports_settle(struct bcl_kmod_host *host);
/* NULL: no such port. */
struct bcl_kmod_seat *bcl_kmod_seat_of(struct bcl_kmod_host *host, u32 number);
/* A part of a port, for a mapping, with a reference; NULL: none. */
struct bcl_kmod_part *bcl_kmod_part_get(struct bcl_kmod_host *host, u64 offset);
void bcl_kmod_part_put(struct bcl_kmod_part *part);

/* Core's handles of the memory that requests and channels name. */
static inline u32 bcl_kmod_request_handle(unsigned int seat, u32 slot,
					  unsigned int ref)
{
	return 1u << 31 | seat << 18 | slot << 2 | ref;
}

static inline u32 bcl_kmod_channel_handle(unsigned int seat, u32 channel)
{
	return 1u << 30 | seat << 16 | channel;
}

/* ---- span.c ---- */

/*
 * Prepare memory of the process for the core: a BCL_HANDLE_SELF or registered
 * memory. `write`: the core will write there. May sleep. ARG: there is no such
 * memory, or the process may not write there; NOMEM; or -EDQUOT. The span is
 * the caller's.
 */
long bcl_kmod_span_open(struct bcl_kmod_host *host,
			const struct bcl_kmod_port *port, u32 handle,
			u64 offset, u64 length, bool write,
			struct bcl_kmod_span *span);
/* As bcl_kmod_span_open(), of BCL_HANDLE_SELF, for writing, in a turn: by a pin
 * that is there. Returns false if there is none that a new pin would equal. */
bool bcl_kmod_span_reopen(struct bcl_kmod_host *host, u64 offset, u64 length,
			  struct bcl_kmod_span *span);
/* True if bcl_kmod_span_reopen() may do in place of bcl_kmod_span_open() for
 * this memory, after the card has written there. */
bool bcl_kmod_span_lasts(const struct bcl_kmod_span *span);
/* In a turn. */
void bcl_kmod_span_close(struct bcl_kmod_host *host,
			 struct bcl_kmod_span *span);
/*
 * Find the memory that a reference of the core names, in a turn; see
 * bcl_hal.dma. `rights` are for peers. Returns false if there is no such
 * memory. *at is where the reference begins in *span.
 */
bool bcl_kmod_span_find(struct bcl_kmod_host *host, u16 port, int remote,
			const struct bcl_memref *ref, u32 rights, bool write,
			struct bcl_kmod_span *span, u64 *at);
/* False if the process has unmapped the memory. Then the memory cannot be
 * written, but the pages can still be read. */
bool bcl_kmod_span_mapped(const struct bcl_kmod_span *span);
void bcl_kmod_span_read(const struct bcl_kmod_span *span, u64 at, void *to,
			size_t length);
void bcl_kmod_span_write(const struct bcl_kmod_span *span, u64 at,
			 const void *from, size_t length);
/* An aligned word in pinned memory; see bcl_hal.atomic. */
u64 bcl_kmod_span_atomic(const struct bcl_kmod_span *span, u64 at,
			 enum bcl_atomic_op op, const u64 operand[2]);

/* ---- memory.c ---- */

long bcl_kmod_memory_add(struct bcl_kmod_host *host,
			 const struct bcl_device_memory *named);
long bcl_kmod_memory_remove(struct bcl_kmod_host *host, unsigned long handle);
void bcl_kmod_memories_close(struct bcl_kmod_host *host);

/* ---- copy.c ---- */

/* The call COPY. May sleep, and takes as long as the copy. */
long bcl_kmod_copy(struct bcl_kmod_host *host,
		   const struct bcl_device_copy *copy);

/* ---- host.c ---- */

struct bcl_kmod_host *bcl_kmod_host_make(void);
long bcl_kmod_open(struct bcl_kmod_host *host, struct bcl_device_open *open);
/* The file is closed for good: the host is freed. */
void bcl_kmod_close(struct bcl_kmod_host *host);

/* ---- show.c, in a turn ---- */

void bcl_kmod_counters_show(const struct bcl_kmod_host *host,
			    struct bcl_device_counters *counters);
/* Fills in all but the index. ARG: there is no such node. */
enum bcl_status bcl_kmod_node_info(const struct bcl_kmod_host *host,
				   struct bcl_device_node_info *node);
void bcl_kmod_card_show(struct bcl_kmod_host *host,
			struct bcl_device_card *card);

/* ---- admin.c ---- */

/* Tells which cards have the same key, and nothing else about the key. */
u64 bcl_kmod_job_of(const u8 key[BCL_KEY_SIZE]);
/* The card is open: administrators may reach it, until the removal. */
void bcl_kmod_admin_add(struct bcl_kmod_host *host);
void bcl_kmod_admin_remove(struct bcl_kmod_host *host);
/* Release what the cards of the host's process keep for later, or all cards of
 * its user. May sleep. */
void bcl_kmod_admin_give(const struct bcl_kmod_host *needy, bool of_user);
/* The calls of bcl/card_device.h. */
long bcl_kmod_admin_card(struct bcl_device_card *card);
long bcl_kmod_admin_peer(struct bcl_device_peer *peer);
long bcl_kmod_admin_isolate(struct bcl_device_isolate *asked);
long bcl_kmod_admin_fault(const struct bcl_device_fault *plan);

/* ---- device.c ---- */

int bcl_kmod_device_init(void);
void bcl_kmod_device_exit(void);

#endif
