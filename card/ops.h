/* SPDX-License-Identifier: MIT */
/*
 * The functions that the library asks of the host of a card: this process
 * (card/inproc/), a kernel module or a simulator. The queues of a port lie in
 * areas that the host provides (bcl/card_abi.h). Everything else about the card
 * is behind this table, which comes with the environment (struct bcl_env).
 */
#ifndef BCL_CARD_OPS_H
#define BCL_CARD_OPS_H

#include <stdatomic.h>

#include "card/ways.h"
#include "nicfw/hal.h"
#include "wire/rail.h"

struct bcl_address;
struct bcl_config;
struct bcl_counter_page;
struct bcl_env;
struct bcl_host;
struct bcl_host_seat; /* a port in the tables of the card's host */
struct bcl_memory;
struct bcl_memory_table;
struct bcl_random;

enum {
	BCL_HOST_LINE = 160,
	BCL_HOST_WHY = 192,
	BCL_HOST_LINES = 2 * BCL_HOST_ENDS + 2,
	BCL_HOST_BUSY = 0x7fffffff,
};

struct bcl_host_area {
	uint8_t *address;
	size_t length;
};

/*
 * What the library gives to the host of its card. The host keeps a copy; what
 * the pointers show stays until close().
 */
struct bcl_host_setup {
	const struct bcl_env *env;
	const struct bcl_config *config;
	uint64_t card; /* the id that the card gets, if the host has none */
	uint64_t incarnation;
	uint8_t key[BCL_KEY_SIZE];
	bool barrier; /* env->barrier() works */
	struct bcl_random *random;
	struct bcl_counter_page *counters;
	/* read under the host's lock */
	const struct bcl_memory_table *memories;
};

/* The host's knowledge of a node. */
struct bcl_host_node {
	uint64_t card;	     /* the node that has the index now */
	uint32_t generation; /* changes at each loss (bcl_hal.node) */
	uint8_t state;	     /* enum bcl_node_state */
	uint8_t lost;	     /* the status of the last loss */
	uint8_t known;	     /* bit r: the host has an address for rail r */
	uint8_t ends;	     /* bit e: end e reaches the node on a known rail */
};

/* Store the arguments of a call of bcl_hal.node. */
static inline void bcl_host_node_set(struct bcl_host_node *node,
				     uint32_t generation,
				     enum bcl_node_state state,
				     enum bcl_status status)
{
	node->generation = generation;
	node->state = (uint8_t)state;
	if (state == BCL_NODE_LOST || state == BCL_NODE_ISOLATED)
		node->lost = (uint8_t)status;
}

/*
 * Costs for the models of the collectives, in microseconds, beyond the figures
 * that bcl_peer_info() has for each peer. 0: not known, or no more than usual.
 */
struct bcl_host_costs {
	double gap; /* from a message of the card to the next */
	/* Time of the card for a message out and a message in; each of the two
	 * carries acknowledgements */
	double exchange;
	double receive; /* time of a processor for a received message */
	double copy;	/* time of a processor per copied byte */
	double inlined; /* likewise, per byte written to the card */
	/* Bytes of the longest message that the processor should write to the
	 * card rather than have the card fetch. */
	uint16_t inline_max;
};

/*
 * Mandatory: all functions but across, taking, defer, memory_add,
 * memory_remove and copy. `seat` is the result of port_open.
 *
 * Threads: functions with a seat are for the owner of the port, who calls one
 * at a time. In poll() and exclusive() a seat is only a hint, and NULL where
 * the caller is not the owner. Functions without a seat are for any thread.
 * A caller may hold memory_lock; the host takes only a lock of its own.
 *
 * Waiting: no function waits for a peer. doorbell(), defer(), taking() and
 * poll() do not wait for the holder of the host's lock either. The others may
 * wait for the lock, which a thread holds for one budget of frames at most.
 * copy() takes as long as the copy. Each function may send frames, and so enter
 * the kernel, except defer(), taking() and across().
 */
struct bcl_host_ops {
	/* The card has a processor of its own: data moves without the program's
	 * processor, and in both directions at once. */
	bool autonomous;
	/*
	 * Long blocks of each port. 0: no port takes messages that need a long
	 * block. Hosts that can be connected with one another either all have
	 * long blocks or none has.
	 */
	uint16_t longs;
	struct bcl_host_costs costs;
	/*
	 * Returns the us that a byte takes if each of the first `nodes` nodes
	 * sends to node to[i], all at once. A node with to[i] == i does not
	 * send. Only computes. NULL: not known.
	 */
	double (*across)(const struct bcl_host_ops *ops, unsigned nodes,
			 const unsigned *to);

	/*
	 * Open the card, before another thread knows the library's context.
	 * NORAIL: no rail could be opened. NOMEM. ARG: a variable of the
	 * configuration makes no sense (logged). A card in the kernel, too:
	 * UNSUPPORTED, it is not there, or a setting excludes it; PERM, it is
	 * not for this user; VERSION, it is of another version; SYSTEM. `why`
	 * says why, except that NOMEM and ARG may leave it as it is. *host is
	 * set only on OK. Any other status has left nothing open.
	 */
	enum bcl_status (*open)(const struct bcl_host_setup *setup,
				char why[BCL_HOST_WHY], struct bcl_host **host);
	/* The caller has closed all ports before, and no other thread uses the
	 * host. Peers get BYE. Frees the host. */
	void (*close)(struct bcl_host *host);

	/*
	 * Make a port's areas, zeroed and each at a multiple of 64 bytes, and
	 * let the card use them until port_close. The library writes to
	 * requests, indices and bounce only; the host may forbid all else. The
	 * host wakes `object` (bcl_env.wake) for the owner of the port.
	 * `control` is a PORT_OPEN, in which the host sets the handles of the
	 * areas if it needs them. NOMEM: the host has no free seat, or host or
	 * card have no memory. ARG, BUSY: the card's answers to a PORT_OPEN
	 * that is wrong, or of a number in use. SYSTEM (logged). `areas` and
	 * *seat count only on OK; otherwise nothing is left.
	 */
	enum bcl_status (*port_open)(struct bcl_host *host, int object,
				     struct bcl_control *control,
				     struct bcl_host_area areas[BCL_AREAS],
				     struct bcl_host_seat **seat);
	/* The areas are gone after the call. */
	void (*port_close)(struct bcl_host *host, struct bcl_host_seat *seat);
	/* The port's requests_made has grown. The card reads the requests in
	 * this call or as soon as possible: if another thread is in the card,
	 * that thread does. */
	void (*doorbell)(struct bcl_host *host, struct bcl_host_seat *seat);

	/* Hosts with virtual time charge the port for taking `next` from
	 * `receives`, before the library takes the entry. NULL: taking an entry
	 * costs real time. */
	void (*taking)(struct bcl_host *host, struct bcl_host_seat *seat,
		       const struct bcl_completion *next);

	/*
	 * The library defers the doorbell for requests that the port has
	 * submitted. Until that doorbell, poll() without a seat sends the
	 * requests. NULL: a doorbell is cheap, so the library defers none.
	 */
	void (*defer)(struct bcl_host *host, struct bcl_host_seat *seat);

	/*
	 * Carry out POST, UNPOST, ISOLATE or REJOIN. Returns the card's
	 * answer.
	 *  POST    OK: the card may access the memory until the event, or
	 *          until UNPOST is OK. BUSY: posted already, or still filling
	 *  UNPOST  OK: the memory is the caller's, and no event follows. BUSY:
	 *          the card moves data, and the event follows. EMPTY: not
	 *          posted; after a POST: the event is in the queue
	 *  REJOIN  ARG: the node is not isolated
	 *  all     ARG: no such port, channel or node
	 */
	enum bcl_status (*control)(struct bcl_host *host,
				   struct bcl_host_seat *seat,
				   const struct bcl_control *control);
	/*
	 * CONNECT to the card at `address` by n ways, the likely ones first.
	 * The host tries the ways of each rail in turn until the node has
	 * answered on that rail. n == 0, `ways` NULL: the ways that the host
	 * knows. Stores the node's index, and the state of the node at that
	 * moment. Copies address and ways. Any status but OK has stored
	 * nothing of use: FULL, the card has no free index; NOMEM; ISOLATED;
	 * UNREACHABLE, none of the node's rails is up; ARG, the node is the
	 * card itself.
	 */
	enum bcl_status (*connect)(struct bcl_host *host,
				   const struct bcl_address *address,
				   const struct bcl_host_way *ways, unsigned n,
				   uint32_t *index, struct bcl_host_node *node);
	/* Store the host's knowledge of a node, whose index came from connect()
	 * or in an event; all 0 if the host had no memory for an entry. Returns
	 * the count of changes at that moment. */
	uint32_t (*node)(struct bcl_host *host, uint32_t index,
			 struct bcl_host_node *node);
	/* Store the card's knowledge of a node. ARG: there is no such node, and
	 * *info is not set. */
	enum bcl_status (*node_info)(struct bcl_host *host, uint32_t index,
				     struct bcl_node_info *info);

	/*
	 * A turn of a card that has no processor of its own: take frames that
	 * wait where a load can find them (host->ring). With `sockets` also
	 * take frames that only a system call can find, and look at timers.
	 * Returns the number of frames, or BCL_HOST_BUSY: another thread has
	 * the card, and nothing was done. Without `sockets` a call makes no
	 * system call but those of frames that the card sends. The helper calls
	 * without a seat; then the host also serves deferred doorbells.
	 */
	unsigned (*poll)(struct bcl_host *host, struct bcl_host_seat *seat,
			 bool sockets);
	/* Look for changes of interfaces: a few system calls. */
	void (*watch)(struct bcl_host *host);

	/*
	 * The library has entered a memory in the table of setup->memories,
	 * and peers do not know its key yet: let the card reach the memory
	 * until memory_remove(). The pages stay the program's. Copies what it
	 * needs of *memory. Any status but OK has kept nothing: NOMEM; ARG,
	 * the card cannot have the memory; SYSTEM (each logged). NULL: the host
	 * reads the table.
	 */
	enum bcl_status (*memory_add)(struct bcl_host *host,
				      const struct bcl_memory *memory);
	/* The memory, still in the table, is about to go: the card does not
	 * reach it after the call. NULL if memory_add is. */
	void (*memory_remove)(struct bcl_host *host, uint32_t handle);

	/*
	 * Copy between this process and the process of another card, by
	 * addresses: as bcl_shm_host.read and write, whose statuses these are.
	 * NULL: the host reaches no other process.
	 */
	enum bcl_status (*copy)(struct bcl_host *host, uint64_t card,
				void *local, uint64_t remote, size_t length,
				bool write);

	/*
	 * Call `run`, once, before the return, while the card does nothing. All
	 * earlier effects of the card are visible to `run`. `run` does not call
	 * the host.
	 */
	void (*exclusive)(struct bcl_host *host, struct bcl_host_seat *seat,
			  void (*run)(void *arg), void *arg);
	/* Store the card's counters for other threads to read, by relaxed
	 * stores. */
	void (*counters)(struct bcl_host *host,
			 _Atomic uint64_t values[BCL_CARD_NCOUNTERS]);
};

/* An end of a rail: one of the addresses by which peers reach the rail. */
struct bcl_host_end {
	struct bcl_wire_address address;
	uint8_t rail;
	const char *kind, *interface;
	bool small; /* meant for short messages */
	/* Readable when poll() would find frames; -1: none. */
	int fd, partner_fd;
};

/*
 * The first member of the host's own object. Any thread may read the atomic
 * fields without a call.
 */
struct bcl_host {
	const struct bcl_host_ops *ops;
	uint64_t card; /* the card's id */
	/* Changes of nodes' states; release. In memory of the host, which stays
	 * where it is until close(). */
	const _Atomic uint32_t *changes;
	_Atomic uint32_t alive;	   /* nodes that need calls of poll() */
	_Atomic uint64_t deadline; /* time of the next poll(); 0: at once */

	/*
	 * Costs of a message between nodes: us of a processor per message, us
	 * one way beyond the round trip that the cards measure, MB/s. 0: the
	 * host does not know, and the library uses typical figures.
	 */
	double overhead, latency, bandwidth;

	const struct bcl_rail *ring; /* with a mapped ring, or NULL */
	unsigned nends;
	struct bcl_host_end end[BCL_HOST_ENDS]; /* the important ones first */
	/* for people: each rail, whether in use, and why */
	unsigned nlines;
	char line[BCL_HOST_LINES][BCL_HOST_LINE];
};

extern const struct bcl_host_ops bcl_host_inproc;
extern const struct bcl_host_ops bcl_host_kernel;

#endif
