/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The card, and small helpers for all its files.
 *
 * The objects of a card, and what each of them owns:
 *
 *   card     clock, pools, tables of ports, nodes and connections
 *   port     queues, blocks and channels of a user, and the flows from there
 *   node     a peer by its card id, as long as the host knows the peer, and
 *            the flows that lead there
 *   flow     messages of one port to one node (and port) that wait to be sent
 *            or, after a refusal, to be sent under a new number
 *   message  something to send: a request, or a reply to a peer's GET or
 *            atomic. A message gets its number with its first frame
 *   conn     a connection with one incarnation of a node: numbered messages
 *            without a verdict, verdicts given, messages that come in
 *   window   one rail of a connection: frames in flight, frames that arrived
 *   flight   a frame in flight, or a run of frames, with all that is needed
 *            to build them once more; or a part of a message whose rail died
 *            and which waits for another rail
 *   inbound  a message that comes in: in pieces, early, or by a slow dma
 *   buffer   card memory for one frame (without BCL_HAL_GATHER)
 *
 * The engines: SDMA (sdma.c) fetches requests and payload from the host. SEND
 * (send.c) chooses, packs and transmits. RECV (recv.c) checks frames and hands
 * out their segments. STORE (dma.c) moves payload to the host. With
 * BCL_HAL_GATHER each call runs straight through the engines. Otherwise they
 * meet at jobs, one for each pending dma.
 *
 * Each file declares its functions and its objects in the header of its name.
 * Short functions that each short message needs are inline there.
 *
 * Names known in nicfw/ only begin with nic_, or with bcl_nic_ where the linker
 * sees them.
 */
#ifndef NICFW_CARD_H
#define NICFW_CARD_H

#include <nicfw/hal.h>
#include <nicfw/list.h>
#include <nicfw/memory.h>
#include <nicfw/order.h>

#define NIC_NEVER UINT64_MAX

enum {
	NIC_COPY_MAX = 256,   /* longer payloads are gathered, not copied */
	NIC_SMALL_MAX = 1024, /* messages of more bytes are bulk */
	NIC_INBOUND_MAX = 64, /* per connection: messages that are arriving */
	/* of these: messages that wait for their predecessor */
	NIC_EARLY_MAX = 48,
	NIC_ROOMS = 4, /* per connection: ports that owe the peer a ROOM */
	NIC_ACK_BYTES = 262144,	 /* received but unacknowledged, at most */
	NIC_MTU_MIN = 576,	 /* bytes a rail must carry */
	NIC_REORDER = 3,	 /* lost once so many later frames came */
	NIC_RAIL_TIMEOUTS = 4,	 /* until a rail is given up for another */
	NIC_RAIL_DOWN_TRIES = 5, /* RAIL_DOWN segments without an answer */
	NIC_PATIENCE = 8,	 /* times peer_timeout without progress */
	NIC_PORT_BUCKETS = 64,
};

struct nic_arrived;
struct nic_buffer;
struct nic_channel;
struct nic_conn;
struct nic_flight;
struct nic_flow;
struct nic_inbound;
struct nic_job;
struct nic_message;
struct nic_node;
struct nic_port;
struct nic_window;

struct nic_rail {
	struct nic_link flows; /* flows that wait until the rail takes frames */
	struct nic_link fetched; /* buffers to be sent, in order */
	/* message of the last fragment of an incomplete message */
	struct nic_inbound *arriving;
	uint32_t mtu, burst, window;
	uint8_t up, busy, small, bulk;
};

struct bcl_card {
	struct bcl_hal hal;
	void *host;
	uint64_t now;
	struct bcl_card_config config;
	uint32_t gather; /* BCL_HAL_GATHER */
	uint64_t counters[BCL_CARD_NCOUNTERS];

	struct nic_link intake, active, news, starving; /* ports */
	struct nic_link working, drain;			/* connections */
	struct nic_link waiting; /* flows that wait for card memory */
	struct nic_link gates;	 /* flows that are gates and may be opened */
	struct nic_link wanting; /* nodes without memory for a connection */
	struct nic_link past;	 /* may be replaced, longest gone first */
	struct nic_link free;	 /* free pieces, see arena.c */

	struct nic_pool messages, flows, flights, inbounds, jobs;
	struct nic_pool out, in;     /* buffers */
	struct nic_message *message; /* array of the pool */
	struct nic_flow *flow;	     /* array of the pool */
	struct nic_buffer *buffer;   /* array of the pool `out` */
	struct nic_job *job;
	struct nic_flow **flow_buckets;
	struct nic_node *node;
	uint32_t *node_buckets;
	struct nic_conn **conns; /* by the index in a connection id */
	struct nic_conn **heap;
	struct nic_port *ports[NIC_PORT_BUCKETS];
	struct nic_port *self; /* for replies without a port */

	uint32_t reserve; /* messages for replies, and as many for requests */
	uint32_t replies; /* messages in use by replies */
	uint32_t mask;	  /* of flow_buckets[] */
	uint32_t node_mask, conn_mask;
	uint32_t conn_shift; /* bits of a connection id below the turn */
	uint32_t conn_turn, conn_step;
	uint32_t free_node, free_conn, nheap;
	uint32_t conns_end; /* 1 + the highest index that was ever used */
	uint32_t arena_used, arena_most; /* bytes in use: now, at most */
	uint32_t flow_hand; /* where the search for an idle flow begins */
	/* RESET and REFUSE frames that may be sent until answers_at */
	uint32_t answers;
	uint64_t answers_at;
	uint64_t starving_at, starving_wait, wanting_at;
	/*
	 * Time of the first input after a long pause in the calls: silence of a
	 * peer before that was the host's own.
	 */
	uint64_t back_at;
	struct { /* `done` and `ack` of the last frame, not yet applied */
		struct nic_conn *conn; /* NULL: none */
		uint32_t done, ack;
		uint8_t rail;
	} answered;
	struct nic_rail rail[BCL_RAILS_MAX];

	/* Scratch of the engines, valid within one input only. */
	struct bcl_completion event; /* without BCL_HAL_GATHER */
	struct bcl_tx_frame out_frame;
	uint8_t frame[BCL_FRAME_MAX + 8];
};

#define nic_count(card, name) ((card)->counters[BCL_CARD_##name]++)

/*
 * An exponential back-off: `wait` (ns), doubled `times` times, at most
 * `longest` and at most UINT32_MAX.
 */
static inline uint32_t nic_backoff(uint64_t wait, unsigned times,
				   uint64_t longest)
{
	if (longest > UINT32_MAX)
		longest = UINT32_MAX;
	while (times-- && wait < longest)
		wait *= 2;
	return (uint32_t)(wait < longest ? wait : longest);
}

/*
 * A time in units of 2^20 ns, which takes half the memory. Wraps, but is never
 * 0.
 */
static inline uint32_t nic_coarse(uint64_t ns)
{
	return bcl_max32((uint32_t)(ns >> 20), 1);
}

static inline uint32_t nic_pad8(uint32_t n)
{
	return (n + 7) & ~7u;
}

#endif
