/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What each file of the card offers to the others.
 *
 * The engines: SDMA (sdma.c) fetches requests and payload from the host, SEND
 * (send.c) chooses, packs and transmits, RECV (recv.c) checks frames and
 * deals out segments, RDMA (rdma.c) moves payload to the host. With
 * BCL_HAL_GATHER each call runs straight through them; otherwise they meet at
 * jobs, one for each dma that is on its way.
 *
 * What only nicfw/ knows is named nic_*, with bcl_ before it where the linker
 * sees it.
 */
#ifndef NICFW_CARD_H
#define NICFW_CARD_H

#include <nicfw/objects.h>

#define nic_count(card, name) ((card)->counters[BCL_CARD_##name]++)

static inline uint32_t nic_min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t nic_max32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Times to wait that grow: `wait`, ns, doubled so many times, but no longer
 * than the longest, nor than what fits. */
static inline uint32_t nic_backoff(uint64_t wait, unsigned times,
				   uint64_t longest)
{
	if (longest > UINT32_MAX)
		longest = UINT32_MAX;
	while (times-- && wait < longest)
		wait *= 2;
	return (uint32_t)(wait < longest ? wait : longest);
}

/* A time as 2^20 ns, which takes half the memory; never 0. */
static inline uint32_t nic_coarse(uint64_t ns)
{
	return nic_max32((uint32_t)(ns >> 20), 1);
}

static inline uint32_t nic_pad8(uint32_t n)
{
	return (n + 7) & ~7u;
}

static inline uint32_t nic_node_index(const struct bcl_card *card,
				      const struct nic_node *node)
{
	return (uint32_t)(node - card->node);
}

/* ---- arena.c: memory of ports and connections ---- */
void bcl_nic_arena_init(struct bcl_card *card, void *memory, uint32_t size);
void *bcl_nic_arena_take(struct bcl_card *card, uint32_t size); /* zeroed */
void bcl_nic_arena_put(struct bcl_card *card, void *memory);
uint32_t bcl_nic_arena_size(uint32_t size); /* with what the arena adds */

/* ---- deadline.c: connections by the time at which they want attention ---- */
void bcl_nic_deadline_add(struct bcl_card *card, struct nic_conn *conn);
void bcl_nic_deadline_remove(struct bcl_card *card, struct nic_conn *conn);
void bcl_nic_deadline_move(struct bcl_card *card, struct nic_conn *conn);

static inline void nic_deadline(struct bcl_card *card, struct nic_conn *conn,
				uint64_t at)
{
	if (at < conn->due) {
		conn->due = at;
		bcl_nic_deadline_move(card, conn);
	}
}

/* ---- port.c; port.h ---- */
uint32_t bcl_nic_port_size(uint32_t nblocks, uint32_t nlongs,
			   uint32_t nchannels);
enum bcl_status bcl_nic_port_open(struct bcl_card *card,
				  const struct bcl_control *control);
enum bcl_status bcl_nic_port_close(struct bcl_card *card, uint16_t number);
enum bcl_status bcl_nic_port_post(struct bcl_card *card,
				  const struct bcl_control *control);
enum bcl_status bcl_nic_port_unpost(struct bcl_card *card,
				    const struct bcl_control *control);
void bcl_nic_port_init(struct nic_port *port);
/* One dma less is on its way for a port; it may be the last of a closed one. */
void bcl_nic_port_job_done(struct bcl_card *card, struct nic_port *port);
/* nic_port_block_left(), nic_port_block_take(), when the next block in turn is
 * perhaps not it. */
int bcl_nic_port_block_look(struct bcl_card *card, struct nic_port *port,
			    struct nic_ring *ring);
int bcl_nic_port_block_find(struct bcl_card *card, struct nic_port *port,
			    struct nic_ring *ring, uint32_t *block);
void bcl_nic_port_block_spare(struct nic_ring *ring, uint32_t block);
/* What was freed of a ring has been read. */
void bcl_nic_port_freed(struct bcl_card *card, struct nic_port *port,
			enum nic_rings which);
/* Look whether ports that refused have room again. */
void bcl_nic_port_feed(struct bcl_card *card);
void bcl_nic_port_wake(struct bcl_card *card);
void bcl_nic_port_slept(struct bcl_card *card, struct nic_port *port);

/* ---- rdma.c ---- */
enum bcl_dma_result bcl_nic_dma_job(struct bcl_card *card,
				    enum bcl_dma_direction direction,
				    uint16_t port, int remote,
				    const struct bcl_memref *ref, void *mem,
				    enum nic_job_kind kind, void *object,
				    struct nic_buffer *buffer);
/*
 * hal.dma(); PENDING goes on in bcl_card_dma_done() with the object. The
 * caller made sure that a job is free.
 */
static inline enum bcl_dma_result
nic_dma(struct bcl_card *card, enum bcl_dma_direction direction, uint16_t port,
	int remote, const struct bcl_memref *ref, void *mem,
	enum nic_job_kind kind, void *object, struct nic_buffer *buffer)
{
	return card->gather ? card->hal.dma(card->host, direction, port, remote,
					    ref, mem, 0)
			    : bcl_nic_dma_job(card, direction, port, remote,
					      ref, mem, kind, object, buffer);
}
/* Move payload of a message to where it belongs. 0: no card memory now. */
void bcl_nic_rdma_store(struct bcl_card *card, struct nic_inbound *inbound,
			uint32_t offset, const uint8_t *payload,
			uint32_t length, struct nic_buffer *buffer);

/* ---- sdma.c ---- */
/* What the ports that wait have submitted. */
void bcl_nic_sdma_intake(struct bcl_card *card, unsigned *budget);
/* A port has submitted more; it waits if it has to. */
void bcl_nic_sdma_rung(struct bcl_card *card, struct nic_port *port,
		       unsigned *budget);
void bcl_nic_sdma_fetched(struct bcl_card *card, struct nic_port *port,
			  enum bcl_dma_result result);
/*
 * Append `length` bytes of a message to a frame: copied into the head, or as
 * parts. 0: a fault.
 */
int bcl_nic_sdma_payload(struct bcl_card *card, struct nic_message *message,
			 uint32_t offset, uint32_t length,
			 struct bcl_tx_frame *frame, struct nic_buffer *buffer);

/* ---- flow.c ---- */
/* A request enters, and waits at a fence if there is one. */
void bcl_nic_flow_submit(struct bcl_card *card, struct nic_message *message);
/* A reply enters, on behalf of its port or of the card itself. */
void bcl_nic_flow_reply(struct bcl_card *card, struct nic_message *message);
int bcl_nic_flow_sendable(const struct nic_flow *flow);
/* Something to send may have come, or a hindrance may be gone. */
void bcl_nic_flow_wake(struct bcl_card *card, struct nic_flow *flow);
void bcl_nic_flow_wake_list(struct bcl_card *card, struct nic_link *stalled);
void bcl_nic_flow_wake_node(struct bcl_card *card, struct nic_node *node);
/* It cannot go on: leave the ready list, for another list or none. */
void bcl_nic_flow_stall(struct nic_flow *flow, struct nic_link *list);
void bcl_nic_flow_free(struct bcl_card *card, struct nic_flow *flow);
/* Its message was refused, under this number. */
void bcl_nic_flow_park(struct bcl_card *card, struct nic_message *message,
		       uint32_t number);
/* Refused before: the last one that was on its way may have its verdict. */
void bcl_nic_flow_judged(struct bcl_card *card, struct nic_flow *flow);
/* One of its numbered messages has its verdict. */
static inline void nic_flow_verdict(struct bcl_card *card,
				    struct nic_flow *flow)
{
	if (flow->refused && flow->pending == 0)
		bcl_nic_flow_judged(card, flow);
}
/* Send refused messages again: those whose time has come, or all to a port. */
void bcl_nic_flow_retry(struct bcl_card *card, struct nic_conn *conn);
/* The connection ended quietly: refused messages are like new ones. */
void bcl_nic_flow_rewind(struct bcl_card *card, struct nic_node *node);
void bcl_nic_flow_room(struct bcl_card *card, struct nic_node *node,
		       uint16_t port);
/* All requests before the first fence are finished. */
void bcl_nic_flow_passed(struct bcl_card *card, struct nic_flow *gate);

/* ---- message.c ---- */
void bcl_nic_message_free(struct bcl_card *card, struct nic_message *message);
/* The end of a message: its event, the fence behind it, its memory. */
void bcl_nic_message_finish(struct bcl_card *card, struct nic_message *message,
			    enum bcl_status status);
/* Its memory cannot be read. */
void bcl_nic_message_fault(struct bcl_card *card, struct nic_conn *conn,
			   struct nic_message *message);
/* Its number shall get a verdict without the rest of it. */
void bcl_nic_message_withdraw(struct bcl_card *card, struct nic_conn *conn,
			      struct nic_message *message);
/* It did not come: its only frame goes again, or it is withdrawn. */
void bcl_nic_message_retransmit(struct bcl_card *card, struct nic_conn *conn,
				struct nic_message *message);
/* A frame was lost with its rail: its messages go by another way. */
void bcl_nic_message_reroute(struct bcl_card *card, struct nic_conn *conn,
			     const struct nic_flight *flight);
/* What the peer says of our messages. */
void bcl_nic_message_done(struct bcl_card *card, struct nic_conn *conn,
			  uint32_t done);
void bcl_nic_message_verdicts(struct bcl_card *card, struct nic_conn *conn,
			      uint32_t first, uint32_t n, const uint8_t *bits);
/* The reply to a GET or atomic has come. */
void bcl_nic_message_answered(struct bcl_card *card,
			      struct nic_message *message,
			      enum bcl_status status);
/* The peer left: nobody waits for what we owe it. */
void bcl_nic_message_drop_replies(struct bcl_card *card, struct nic_conn *conn);
/* Finish all that is queued for a node. */
void bcl_nic_message_lose(struct bcl_card *card, struct nic_node *node,
			  enum bcl_status status);

/* ---- verdict.c: what we say of the peer's messages; verdict.h ---- */
void bcl_nic_verdict_start(struct nic_conn *conn, uint32_t first);
int bcl_nic_verdict_base_slow(struct bcl_card *card, struct nic_conn *conn,
			      uint32_t base);
void bcl_nic_verdict_give(struct bcl_card *card, struct nic_conn *conn,
			  uint32_t number, enum bcl_verdict verdict);
/* The peer asked again: it has not heard of this one. */
void bcl_nic_verdict_repeat(struct bcl_card *card, struct nic_conn *conn,
			    uint32_t number);
/* Verdicts beyond `done`, four bits each; returns how many, at most `most`. */
uint32_t bcl_nic_verdict_bits(const struct nic_conn *conn, uint8_t *bits,
			      uint32_t most);

/* ---- deliver.c ---- */
enum nic_accept {
	NIC_ACCEPTED,
	NIC_NO_ROOM, /* the frame must come again */
	NIC_MALFORMED,
	NIC_CORRUPT,  /* payload checksum */
	NIC_LONG_WAY, /* it is to be assembled */
};
/* One that was assembled. */
void bcl_nic_deliver(struct bcl_card *card, struct nic_inbound *inbound);
/* The end of a message to a channel, delivered or not. */
void bcl_nic_deliver_channel(struct bcl_card *card,
			     const struct nic_inbound *inbound,
			     enum bcl_status status);

/* ---- assemble.c ---- */
enum nic_accept bcl_nic_assemble(struct bcl_card *card, struct nic_conn *conn,
				 unsigned rail,
				 const struct bcl_segment_header *segment,
				 const uint8_t *payload,
				 struct nic_buffer *buffer);
void bcl_nic_assemble_withdraw(struct bcl_card *card, struct nic_conn *conn,
			       uint32_t msg);
void bcl_nic_assemble_stored(struct bcl_card *card,
			     struct nic_inbound *inbound);
/* Refuse what does not go on. */
void bcl_nic_assemble_look(struct bcl_card *card, struct nic_conn *conn);
/* The peer or the port is gone. */
void bcl_nic_assemble_lose(struct bcl_card *card, struct nic_conn *conn,
			   enum bcl_status status);
void bcl_nic_assemble_close(struct bcl_card *card, struct nic_port *port);

/* ---- reply.c: GET and atomics, asked by a peer ---- */
/* Execute and queue the reply; a verdict, or UNKNOWN: malformed. */
enum bcl_verdict bcl_nic_reply_get(struct bcl_card *card, struct nic_conn *conn,
				   const struct bcl_segment_header *segment);
enum bcl_verdict bcl_nic_reply_atomic(struct bcl_card *card,
				      struct nic_conn *conn,
				      const struct bcl_segment_header *segment,
				      const uint8_t *payload);
/* A message for a channel: UNKNOWN: it is posted; REFUSED: not yet; NOPORT:
 * no longer, or there is none. */
enum bcl_verdict bcl_nic_channel_find(struct nic_port *port, uint32_t target,
				      int reading,
				      struct nic_channel **channel);
/* Our request that a token names and that waits for such a reply (op) by this
 * connection, or NULL. */
struct nic_message *bcl_nic_reply_find(struct bcl_card *card,
				       const struct nic_conn *conn, uint8_t op,
				       uint32_t token);
uint32_t bcl_nic_reply_token(const struct bcl_card *card,
			     const struct nic_message *message);
void bcl_nic_reply_delivered(struct bcl_card *card,
			     struct nic_message *message);
/* The memory of a reply is gone with its port: say so instead. */
void bcl_nic_reply_fail(struct bcl_card *card, struct nic_message *message);
/* Its memory is gone, and the peer has forgotten what it got: say so. */
void bcl_nic_reply_fault(struct bcl_card *card, struct nic_message *message);

/* ---- frame.c ---- */
/* Unsequenced frames. 0: the rail did not take it. */
int bcl_nic_frame_bare(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail, uint8_t kind);
/* kind ACK, or BYE. */
int bcl_nic_frame_ack(struct bcl_card *card, struct nic_conn *conn,
		      unsigned rail, uint8_t kind);
/* That `rail` is down, by the rail `by`. */
void bcl_nic_frame_rail_down(struct bcl_card *card, struct nic_conn *conn,
			     unsigned by, unsigned rail);
/* What is particular to a HELLO, a HELLO_ACK, or the PING behind it. */
struct nic_greeting {
	const uint8_t *key;
	uint64_t nonce, peer_nonce, peer_incarnation;
	uint32_t to; /* the peer's connection id; 0: not known */
};

void bcl_nic_frame_hello(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail, uint8_t kind,
			 const struct nic_greeting *greeting);
/* To the source of the frame being handled, a bounded number per time. */
void bcl_nic_frame_reset(struct bcl_card *card, unsigned rail,
			 const uint8_t *head);
void bcl_nic_frame_refuse(struct bcl_card *card, unsigned rail, uint8_t version,
			  const struct bcl_hello *hello,
			  enum bcl_status reason);

/* ---- window.c ---- */
/* Something has come that the peer shall be told of. */
static inline void nic_window_owe(const struct bcl_card *card,
				  struct nic_window *window)
{
	if (!window->ack_due)
		window->owed = card->now;
	window->ack_due = 1;
}

void bcl_nic_window_start(struct bcl_card *card, struct nic_conn *conn,
			  unsigned rail);
/* Something is in flight, and nothing was. */
void bcl_nic_window_start_timer(struct bcl_card *card, struct nic_conn *conn,
				unsigned rail);
void bcl_nic_window_free(struct bcl_card *card, struct nic_flight *flight);
/* It is in flight no more, but still there. */
void bcl_nic_window_take(struct nic_flight *flight);
/* Make two of a run, the first of so many frames. Returns the second; NULL: no
 * flight is free. */
struct nic_flight *bcl_nic_window_part(struct bcl_card *card,
				       struct nic_flight *run, uint32_t frames);
/* What the peer says of our frames. */
void bcl_nic_window_ack(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail, uint32_t ack);
void bcl_nic_window_sack(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail, uint32_t ack, uint32_t nbits,
			 const uint8_t *bits);
void bcl_nic_window_timeout(struct bcl_card *card, struct nic_conn *conn,
			    unsigned rail);
uint32_t bcl_nic_window_rto(const struct bcl_card *card,
			    const struct nic_window *window);
/* The rail is dead: short messages go again. Parts of long ones stay, until it
 * is known which of them came. */
void bcl_nic_window_stop(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail);
/* It is: those that did not come go again. */
void bcl_nic_window_settle(struct bcl_card *card, struct nic_conn *conn,
			   unsigned rail, uint32_t ack, uint32_t nbits,
			   const uint8_t *bits);
/* It will not be: their messages go again. */
void bcl_nic_window_abandon(struct bcl_card *card, struct nic_conn *conn,
			    unsigned rail);
/* The peer's frames. */
enum nic_seq {
	NIC_SEQ_NEW,
	NIC_SEQ_DUPLICATE,
	NIC_SEQ_OUTSIDE,
	NIC_SEQ_NO_MEMORY, /* to remember that it came before its turn */
};
/* nic_window_check(), nic_window_arrived(), when it is not the next in order.
 */
enum nic_seq bcl_nic_window_check_slow(struct bcl_card *card,
				       struct nic_conn *conn, unsigned rail,
				       uint32_t seq);
void bcl_nic_window_arrived_slow(struct bcl_card *card, struct nic_conn *conn,
				 unsigned rail, uint32_t seq, uint32_t bytes);
/* Frames come from another rail of the peer now, the first of which is seq. */
void bcl_nic_window_begin(struct nic_conn *conn, unsigned rail, uint32_t seq);
/* The peer will never send frames before seq again. */
void bcl_nic_window_skip(struct nic_conn *conn, unsigned rail, uint32_t seq);
/* One bit per frame from expected + 1 on; returns how many. */
uint32_t bcl_nic_window_bits(const struct nic_conn *conn, unsigned rail,
			     uint8_t *bits);

/* ---- send.c ---- */
void bcl_nic_send(struct bcl_card *card, unsigned *budget);
/*
 * A message of a flow that has no other, at once, if nothing else waits and
 * its port has no more requests that could share the frame. 0: queue it.
 */
int bcl_nic_send_alone(struct bcl_card *card, struct nic_message *message);
/* How many of the next bytes of a long message may go in one call: those of
 * whole frames, or the last. */
uint32_t bcl_nic_send_bytes(const struct bcl_card *card, unsigned rail,
			    const struct nic_window *window, uint32_t left,
			    uint32_t stripe, unsigned budget);
void bcl_nic_send_ready(struct bcl_card *card, unsigned rail);

/* ---- retransmit.c ---- */
void bcl_nic_retransmit_lost(struct bcl_card *card, struct nic_conn *conn,
			     unsigned rail, unsigned *budget);
void bcl_nic_retransmit_messages(struct bcl_card *card, struct nic_conn *conn,
				 unsigned *budget);
void bcl_nic_retransmit_parts(struct bcl_card *card, struct nic_conn *conn,
			      unsigned *budget);
/* A flight did not come: what it carries goes again, by any rail. */
void bcl_nic_retransmit_reroute(struct bcl_card *card, struct nic_conn *conn,
				struct nic_flight *flight);
void bcl_nic_retransmit_forget(struct bcl_card *card,
			       struct nic_flight *flight);

/* ---- launch.c ---- */
/* A run that is numbered. */
void bcl_nic_launch_run(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail, uint8_t kind, struct bcl_tx_frame *run,
			struct nic_flight *flight);
/* The rail is full: the frames that it has not taken wait. Returns whether
 * `flight` has left, parted from those. */
int bcl_nic_launch_rest(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail, struct nic_flight *flight,
			unsigned taken);
/* Those of a rail whose payload has come. */
void bcl_nic_launch_fetched(struct bcl_card *card, unsigned rail);
void bcl_nic_launch_dma_done(struct bcl_card *card, struct nic_buffer *buffer,
			     enum bcl_dma_result result);
/* New frames that are still being fetched for a rail: never mind. */
void bcl_nic_launch_drop(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail);

/* ---- recv.c ---- */
void bcl_nic_recv(struct bcl_card *card, unsigned rail,
		  const struct bcl_rx_frame *frame);
/* card->answered */
void bcl_nic_recv_answers(struct bcl_card *card);

/* ---- burst.c ---- */
/* After RECV took a frame: take those of the n behind it that continue a long
 * message. Returns how many. */
unsigned bcl_nic_burst(struct bcl_card *card, unsigned rail,
		       const struct bcl_rx_frame *first, unsigned n);

/* ---- hello.c: the handshake ---- */
/* Send HELLO on each rail that is up, known and not proved; on one rail; PING
 * there. */
void bcl_nic_hello_call(struct bcl_card *card, struct nic_conn *conn);
void bcl_nic_hello_say(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail);
void bcl_nic_hello_ping(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail);
/* `header` of a HELLO of any version; the rest is checked here. */
void bcl_nic_hello_received(struct bcl_card *card, unsigned rail,
			    const struct bcl_frame_header *header,
			    const struct bcl_hello *hello);
void bcl_nic_hello_answered(struct bcl_card *card, struct nic_conn *conn,
			    unsigned rail,
			    const struct bcl_frame_header *header,
			    const struct bcl_hello *hello);
void bcl_nic_hello_refused(struct bcl_card *card, uint32_t id,
			   const struct bcl_refuse *refuse);
/* A PING with a proof, or with what once was one. */
void bcl_nic_hello_proved(struct bcl_card *card, struct nic_conn *conn,
			  unsigned rail, const struct bcl_frame_header *header,
			  const struct bcl_hello *hello);

/* ---- node.c ---- */
static inline struct nic_node *nic_node_at(const struct bcl_card *card,
					   uint32_t index)
{
	if (index >= card->config.max_nodes || !card->node[index].used)
		return NULL;
	return &card->node[index];
}
struct nic_node *bcl_nic_node_find(const struct bcl_card *card, uint64_t id);
struct nic_node *bcl_nic_node_make(struct bcl_card *card, uint64_t id);
void bcl_nic_node_free(struct bcl_card *card, struct nic_node *node);
/* Has nobody a use for it any more? Then its place is for others. */
void bcl_nic_node_rest(struct bcl_card *card, struct nic_node *node);
void bcl_nic_node_set(struct bcl_card *card, struct nic_node *node,
		      enum bcl_node_state state, enum bcl_status status);
/* Everything queued for it ends with the status; so does its connection. */
void bcl_nic_node_lose(struct bcl_card *card, struct nic_node *node,
		       enum bcl_node_state state, enum bcl_status status);
enum bcl_status bcl_nic_node_call(struct bcl_card *card, struct nic_node *node);
/* See that a connection is there or being made. */
static inline enum bcl_status nic_node_want(struct bcl_card *card,
					    struct nic_node *node)
{
	return node->conn && node->conn->state >= NIC_CONN_UP
		       ? BCL_OK
		       : bcl_nic_node_call(card, node);
}
/* Nodes that want a connection: memory may have become free. */
void bcl_nic_node_serve(struct bcl_card *card);

/* ---- conn.c ---- */
static inline struct nic_conn *nic_conn_find(const struct bcl_card *card,
					     uint32_t id)
{
	struct nic_conn *conn = card->conns[id >> 2 & card->conn_mask];

	return conn && conn->id == (id & ~3u) ? conn : NULL;
}
/* All of them, one after the other, with *index 0 at first; then NULL. */
static inline struct nic_conn *nic_conn_next(const struct bcl_card *card,
					     uint32_t *index)
{
	struct nic_conn *conn = NULL;

	while (!conn && *index < card->conns_end)
		conn = card->conns[(*index)++];
	return conn;
}
struct nic_conn *bcl_nic_conn_make(struct bcl_card *card,
				   struct nic_node *node);
void bcl_nic_conn_rename(struct bcl_card *card, struct nic_conn *conn);
void bcl_nic_conn_free(struct bcl_card *card, struct nic_conn *conn);
void bcl_nic_conn_up(struct bcl_card *card, struct nic_conn *conn);
/* It ends and nothing is lost. */
void bcl_nic_conn_over(struct bcl_card *card, struct nic_conn *conn);
/* Has it requests that the peer may have seen? */
int bcl_nic_conn_owed(const struct nic_conn *conn);
/* The peer's end is known, by something else than BYE: soon it is over. */
void bcl_nic_conn_end(struct bcl_card *card, struct nic_conn *conn,
		      enum bcl_status why);
/* BYE came by a rail. */
void bcl_nic_conn_bye(struct bcl_card *card, struct nic_conn *conn,
		      unsigned rail);
void bcl_nic_conn_park(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail);
/* Ask the connection that was idle longest to end. */
void bcl_nic_conn_evict(struct bcl_card *card);
void bcl_nic_conn_timer(struct bcl_card *card, struct nic_conn *conn);
/* Something for SEND to do: enum bcl_nic_conn_work. */
void bcl_nic_conn_work(struct bcl_card *card, struct nic_conn *conn,
		       unsigned what);
void bcl_nic_conn_ack(struct bcl_card *card, struct nic_conn *conn,
		      unsigned rail);
static inline void nic_conn_ack_soon(struct bcl_card *card,
				     struct nic_conn *conn)
{
	if (conn->ack_at != NIC_NEVER)
		return;
	conn->ack_at = card->now + card->config.ack_delay;
	nic_deadline(card, conn, conn->ack_at);
}
/* Frames were acknowledged: whatever waited for that may go on. */
void bcl_nic_conn_resume(struct bcl_card *card, struct nic_conn *conn);
/* All frames are acknowledged: ask if verdicts fail to come. */
void bcl_nic_conn_await(struct bcl_card *card, struct nic_conn *conn);

/* ---- rails.c ---- */
enum bcl_status bcl_nic_rails_set(struct bcl_card *card,
				  const struct bcl_control *control);
/* The dispatch rule: the rail for so many bytes; BCL_RAILS_MAX: none. */
static inline unsigned nic_rails_pick(const struct nic_conn *conn,
				      uint32_t bytes)
{
	unsigned rail = conn->small_rail;

	if (rail < BCL_RAILS_MAX && bytes > conn->window[rail].payload)
		rail = conn->bulk_rail;
	return rail;
}
/* Is a message of so many bytes striped? */
static inline int nic_rails_striped(const struct nic_conn *conn, uint32_t bytes)
{
	return conn->stripes && bytes > conn->window[conn->small_rail].payload;
}
/* May no frame of the connection leave there now? */
static inline int nic_rails_blocked(const struct bcl_card *card,
				    const struct nic_conn *conn, unsigned rail)
{
	return rail >= BCL_RAILS_MAX || card->rail[rail].busy ||
	       conn->window[rail].state != NIC_RAIL_PROVED ||
	       conn->state == NIC_CONN_ENDING;
}
/* Rails were proved or lost: what the rule chooses from. */
void bcl_nic_rails_choose(struct bcl_card *card, struct nic_conn *conn);
/* The rail is dead for this connection: its frames go by another. */
void bcl_nic_rails_down(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail);
/* The wire says that nobody is there: evidence against the rail, and against
 * the peer if no other rail speaks for it. */
void bcl_nic_rails_refused(struct bcl_card *card, struct nic_conn *conn,
			   unsigned rail, enum bcl_status why);
/* What came by a dead rail is not known yet: ask again, or give up. */
void bcl_nic_rails_send_down(struct bcl_card *card, struct nic_conn *conn,
			     unsigned rail);
/* RAIL_DOWN came by the rail `by`. 0: it makes no sense. */
int bcl_nic_rails_down_received(struct bcl_card *card, struct nic_conn *conn,
				unsigned by,
				const struct bcl_segment_header *segment,
				const uint8_t *bits);

/* ---- stripe.c: long messages over several rails ---- */
/* Of so many bytes that are left, how many should take the same rail? */
uint32_t bcl_nic_stripe_length(const struct nic_conn *conn, uint32_t left);
/* The rail for them; BCL_RAILS_MAX: none now. */
unsigned bcl_nic_stripe_pick(const struct bcl_card *card,
			     const struct nic_conn *conn, uint32_t stripe,
			     uint32_t left);
/* A stripe is put into flight; bytes were acknowledged, and more are in
 * flight: measure what the rail delivers. */
void bcl_nic_stripe_begin(struct nic_window *window);
void bcl_nic_stripe_acked(const struct bcl_card *card,
			  struct nic_window *window, uint32_t bytes);

/* rdma.c */
void bcl_nic_rdma_done(struct bcl_card *card, uint32_t cookie,
		       enum bcl_dma_result result);

#endif
