/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions that each file of the card offers to the others.
 *
 * The engines: SDMA (sdma.c) fetches requests and payload from the host. SEND
 * (send.c) chooses, packs and transmits. RECV (recv.c) checks frames and hands
 * out their segments. RDMA (rdma.c) moves payload to the host. With
 * BCL_HAL_GATHER each call runs straight through the engines. Otherwise they
 * meet at jobs, one for each pending dma.
 *
 * Names known in nicfw/ only begin with nic_, or with bcl_nic_ where the linker
 * sees them.
 */
#ifndef NICFW_CARD_H
#define NICFW_CARD_H

#include <nicfw/objects.h>

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

static inline uint32_t nic_node_index(const struct bcl_card *card,
				      const struct nic_node *node)
{
	return (uint32_t)(node - card->node);
}

/* ---- arena.c: memory of ports and connections ---- */
void bcl_nic_arena_init(struct bcl_card *card, void *memory, uint32_t size);
void *bcl_nic_arena_take(struct bcl_card *card, uint32_t size); /* zeroed */
void bcl_nic_arena_put(struct bcl_card *card, void *memory);
uint32_t bcl_nic_arena_size(uint32_t size); /* in the arena, with its header */

/* ---- deadline.c: connections by the time of their next timer ---- */
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
/* A dma for the port has ended. Frees a closed port with its last dma. */
void bcl_nic_port_job_done(struct bcl_card *card, struct nic_port *port);
/*
 * The slow paths of nic_port_block_left() and nic_port_block_take(), for a ring
 * with spare blocks, or one that may be full.
 */
bool bcl_nic_port_block_look(struct bcl_card *card, struct nic_port *port,
			     struct nic_ring *ring);
bool bcl_nic_port_block_find(struct bcl_card *card, struct nic_port *port,
			     struct nic_ring *ring, uint32_t *block);
void bcl_nic_port_block_spare(struct nic_ring *ring, uint32_t block);
/* The count of freed blocks of a ring has been read to port->word[]. */
void bcl_nic_port_freed(struct bcl_card *card, struct nic_port *port,
			enum nic_rings which);
/* Look whether starving ports have a free block again. */
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
 * hal.dma(). After BCL_DMA_PENDING bcl_card_dma_done() continues with the
 * object. The caller has made sure that a job is free.
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
/*
 * Move `length` payload bytes to `offset` of the message. A channel's buffer
 * may be shorter: the rest is dropped. Without BCL_HAL_GATHER a free job must
 * be there.
 */
void bcl_nic_rdma_store(struct bcl_card *card, struct nic_inbound *inbound,
			uint32_t offset, const uint8_t *payload,
			uint32_t length, struct nic_buffer *buffer);

/* ---- sdma.c ---- */
/* Read what the ports in card->intake have submitted. */
void bcl_nic_sdma_intake(struct bcl_card *card, unsigned *budget);
/*
 * A port has submitted more requests. Take them now, or put the port into
 * card->intake.
 */
void bcl_nic_sdma_rung(struct bcl_card *card, struct nic_port *port,
		       unsigned *budget);
void bcl_nic_sdma_fetched(struct bcl_card *card, struct nic_port *port,
			  enum bcl_dma_result result);
/*
 * Append `length` bytes of a message to a frame: copied into the head, or as
 * parts. Returns false on a memory fault.
 */
bool bcl_nic_sdma_payload(struct bcl_card *card, struct nic_message *message,
			  uint32_t offset, uint32_t length,
			  struct bcl_tx_frame *frame,
			  struct nic_buffer *buffer);

/* ---- flow.c ---- */
/* A request enters its flow, or waits behind a fence. */
void bcl_nic_flow_submit(struct bcl_card *card, struct nic_message *message);
/* A reply enters a flow of its port, or of the card if it has none. */
void bcl_nic_flow_reply(struct bcl_card *card, struct nic_message *message);
bool bcl_nic_flow_sendable(const struct nic_flow *flow);
/*
 * Make a flow READY if it can send: a message was queued, or an obstacle is
 * gone.
 */
void bcl_nic_flow_wake(struct bcl_card *card, struct nic_flow *flow);
void bcl_nic_flow_wake_list(struct bcl_card *card, struct nic_link *stalled);
void bcl_nic_flow_wake_node(struct bcl_card *card, struct nic_node *node);
/* A flow cannot send now: it leaves the ready list, for `list` if not NULL. */
void bcl_nic_flow_stall(struct nic_flow *flow, struct nic_link *list);
void bcl_nic_flow_free(struct bcl_card *card, struct nic_flow *flow);
/* Keep a message that was refused under `number` for a retry. */
void bcl_nic_flow_park(struct bcl_card *card, struct nic_message *message,
		       uint32_t number);
/*
 * An ORDERED flow has been refused, and its last pending message has its
 * verdict: retry now, or later.
 */
void bcl_nic_flow_judged(struct bcl_card *card, struct nic_flow *flow);
/* A numbered message of the flow has its verdict. */
static inline void nic_flow_verdict(struct bcl_card *card,
				    struct nic_flow *flow)
{
	if (flow->refused && flow->pending == 0)
		bcl_nic_flow_judged(card, flow);
}
/* Retry the refused messages of the flows whose time has come. */
void bcl_nic_flow_retry(struct bcl_card *card, struct nic_conn *conn);
/* The connection ended without a loss: refused messages become new ones. */
void bcl_nic_flow_rewind(struct bcl_card *card, struct nic_node *node);
/* The peer's port has room: retry the messages that it refused. */
void bcl_nic_flow_room(struct bcl_card *card, struct nic_node *node,
		       uint16_t port);
/* All requests before the first fence of the gate are finished. */
void bcl_nic_flow_passed(struct bcl_card *card, struct nic_flow *gate);

/* ---- message.c ---- */
void bcl_nic_message_free(struct bcl_card *card, struct nic_message *message);
/*
 * A message ends: completion to its port, then the fence behind it may pass.
 * The message is freed.
 */
void bcl_nic_message_finish(struct bcl_card *card, struct nic_message *message,
			    enum bcl_status status);
/* The memory of a message cannot be read: withdraw it, with BCL_ERR_MEMORY. */
void bcl_nic_message_fault(struct bcl_card *card, struct nic_conn *conn,
			   struct nic_message *message);
/*
 * Ask for a verdict on the number without the rest of the message (WITHDRAW).
 */
void bcl_nic_message_withdraw(struct bcl_card *card, struct nic_conn *conn,
			      struct nic_message *message);
/*
 * A message did not arrive: retransmit its only frame, or withdraw a long one.
 */
void bcl_nic_message_retransmit(struct bcl_card *card, struct nic_conn *conn,
				struct nic_message *message);
/*
 * The frame of a flight was lost with its rail: its messages go by another
 * rail, or are withdrawn.
 */
void bcl_nic_message_reroute(struct bcl_card *card, struct nic_conn *conn,
			     const struct nic_flight *flight);
/* The peer's verdicts on our messages: all before `done`, or single ones. */
void bcl_nic_message_done(struct bcl_card *card, struct nic_conn *conn,
			  uint32_t done);
void bcl_nic_message_verdicts(struct bcl_card *card, struct nic_conn *conn,
			      uint32_t first, uint32_t n, const uint8_t *bits);
/* The reply to a GET or atomic has come. */
void bcl_nic_message_answered(struct bcl_card *card,
			      struct nic_message *message,
			      enum bcl_status status);
/* The peer has left: drop the replies that we owe it. */
void bcl_nic_message_drop_replies(struct bcl_card *card, struct nic_conn *conn);
/* Finish all messages for a node with `status`. */
void bcl_nic_message_lose(struct bcl_card *card, struct nic_node *node,
			  enum bcl_status status);

/* ---- verdict.c: our verdicts on the peer's messages; verdict.h ---- */
void bcl_nic_verdict_start(struct nic_conn *conn, uint32_t first);
bool bcl_nic_verdict_base_slow(struct bcl_card *card, struct nic_conn *conn,
			       uint32_t base);
void bcl_nic_verdict_give(struct bcl_card *card, struct nic_conn *conn,
			  uint32_t number, enum bcl_verdict verdict);
/*
 * The peer has sent a message once more after its verdict: tell the verdict
 * once more.
 */
void bcl_nic_verdict_repeat(struct bcl_card *card, struct nic_conn *conn,
			    uint32_t number);
/*
 * Write the verdicts from `done` to `top`, four bits each, but no more than
 * `most`. Returns how many.
 */
uint32_t bcl_nic_verdict_bits(const struct nic_conn *conn, uint8_t *bits,
			      uint32_t most);

/* ---- deliver.c ---- */
enum nic_accept {
	NIC_ACCEPTED,
	NIC_NO_ROOM, /* drop the frame; the peer retransmits it */
	NIC_MALFORMED,
	NIC_CORRUPT,  /* the payload checksum is wrong */
	NIC_LONG_WAY, /* assemble.c must handle it */
};
/* Deliver a message that is complete (assemble.c). */
void bcl_nic_deliver(struct bcl_card *card, struct nic_inbound *inbound);
/* End a message to a channel with a completion, delivered or not. */
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
/* Refuse messages that make no progress. */
void bcl_nic_assemble_look(struct bcl_card *card, struct nic_conn *conn);
/*
 * The peer (lose) or the port (close) is gone: end the messages that are
 * arriving.
 */
void bcl_nic_assemble_lose(struct bcl_card *card, struct nic_conn *conn,
			   enum bcl_status status);
void bcl_nic_assemble_close(struct bcl_card *card, struct nic_port *port);

/* ---- reply.c: GET and atomics, requested by a peer ---- */
/* The outcome of a search for memory of ours, or of a request of a peer. */
enum nic_outcome {
	NIC_OUTCOME_OK,	     /* found; executed */
	NIC_OUTCOME_REFUSED, /* not now: the peer is to try again later */
	NIC_OUTCOME_NOPORT,  /* no such port, channel or request, for good */
	NIC_OUTCOME_MEMORY,  /* the peer may not access the memory */
	NIC_OUTCOME_TRUNCATED,
	NIC_OUTCOME_MALFORMED, /* the message deserves no verdict */
};
/* Execute a request and queue the reply. */
enum nic_outcome bcl_nic_reply_get(struct bcl_card *card, struct nic_conn *conn,
				   const struct bcl_segment_header *segment);
enum nic_outcome bcl_nic_reply_atomic(struct bcl_card *card,
				      struct nic_conn *conn,
				      const struct bcl_segment_header *segment,
				      const uint8_t *payload);
/*
 * Find the channel of a message. Returns OK if it is posted, REFUSED if not
 * yet, NOPORT if no longer or if there is none.
 */
enum nic_outcome bcl_nic_channel_find(struct nic_port *port, uint32_t target,
				      bool reading,
				      struct nic_channel **channel);
/*
 * Our request named by `token`, if it is on this connection and waits for a
 * reply of this kind (op). NULL: none.
 */
struct nic_message *bcl_nic_reply_find(struct bcl_card *card,
				       const struct nic_conn *conn, uint8_t op,
				       uint32_t token);
uint32_t bcl_nic_reply_token(const struct bcl_card *card,
			     const struct nic_message *message);
void bcl_nic_reply_delivered(struct bcl_card *card,
			     struct nic_message *message);
/* The port of a reply is closed: send a failure in place of the data. */
void bcl_nic_reply_fail(struct bcl_card *card, struct nic_message *message);
/*
 * The memory of a reply cannot be read, and its number has been refused: send
 * the failure as a new reply.
 */
void bcl_nic_reply_fault(struct bcl_card *card, struct nic_message *message);

/* ---- frame.c ---- */
/*
 * Send an unsequenced frame without a body. Returns false if the rail did not
 * take it.
 */
bool bcl_nic_frame_bare(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail, uint8_t kind);
/*
 * Send an ACK or BYE with all acknowledgements that are due. Returns false if
 * the rail did not take it.
 */
bool bcl_nic_frame_ack(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail, uint8_t kind);
/* Tell the peer by the rail `by` that `rail` is given up. */
void bcl_nic_frame_rail_down(struct bcl_card *card, struct nic_conn *conn,
			     unsigned by, unsigned rail);
/* The fields that differ between HELLO, HELLO_ACK and the PING behind them. */
struct nic_greeting {
	const uint8_t *key;
	uint64_t nonce, peer_nonce, peer_incarnation;
	uint32_t to; /* the peer's connection id; 0: unknown */
};

void bcl_nic_frame_hello(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail, uint8_t kind,
			 const struct nic_greeting *greeting);
/* Send to the source of the frame that is being handled, at a bounded rate. */
void bcl_nic_frame_reset(struct bcl_card *card, unsigned rail,
			 const uint8_t *head);
void bcl_nic_frame_refuse(struct bcl_card *card, unsigned rail, uint8_t version,
			  const struct bcl_hello *hello,
			  enum bcl_status reason);

/* ---- window.c ---- */
/* A frame has arrived that is to be acknowledged. */
static inline void nic_window_owe(const struct bcl_card *card,
				  struct nic_window *window)
{
	if (!window->ack_due)
		window->owed = card->now;
	window->ack_due = 1;
}

void bcl_nic_window_start(struct bcl_card *card, struct nic_conn *conn,
			  unsigned rail);
/* A frame was put in flight and the timer is not running. */
void bcl_nic_window_start_timer(struct bcl_card *card, struct nic_conn *conn,
				unsigned rail);
void bcl_nic_window_free(struct bcl_card *card, struct nic_flight *flight);
/* Remove a flight from its window. The flight stays allocated. */
void bcl_nic_window_take(struct nic_flight *flight);
/*
 * Split a run after `frames` frames. Returns the second half; NULL: no flight
 * is free.
 */
struct nic_flight *bcl_nic_window_part(struct bcl_card *card,
				       struct nic_flight *run, uint32_t frames);
/* The peer's acknowledgements of our frames. */
void bcl_nic_window_ack(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail, uint32_t ack);
void bcl_nic_window_sack(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail, uint32_t ack, uint32_t nbits,
			 const uint8_t *bits);
void bcl_nic_window_timeout(struct bcl_card *card, struct nic_conn *conn,
			    unsigned rail);
uint32_t bcl_nic_window_rto(const struct bcl_card *card,
			    const struct nic_window *window);
/*
 * The rail is dead: single-frame messages go by another rail. Fragments of long
 * messages stay until the peer reports which of them arrived.
 */
void bcl_nic_window_stop(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail);
/*
 * The peer has reported by `ack` and `bits` which frames arrived: send the
 * others by another rail.
 */
void bcl_nic_window_settle(struct bcl_card *card, struct nic_conn *conn,
			   unsigned rail, uint32_t ack, uint32_t nbits,
			   const uint8_t *bits);
/*
 * The peer will not report which frames arrived: the messages of all flights
 * are sent as a whole, or withdrawn.
 */
void bcl_nic_window_abandon(struct bcl_card *card, struct nic_conn *conn,
			    unsigned rail);
/* How to handle a frame of the peer with this sequence number. */
enum nic_seq {
	NIC_SEQ_NEW,
	NIC_SEQ_DUPLICATE,
	NIC_SEQ_OUTSIDE,
	NIC_SEQ_NO_MEMORY, /* to remember that it came out of order */
};
/*
 * The slow paths of nic_window_check() and nic_window_arrived(), for frames out
 * of order.
 */
enum nic_seq bcl_nic_window_check_slow(struct bcl_card *card,
				       struct nic_conn *conn, unsigned rail,
				       uint32_t seq);
void bcl_nic_window_arrived_slow(struct bcl_card *card, struct nic_conn *conn,
				 unsigned rail, uint32_t seq, uint32_t bytes);
/* Receive from another rail of the peer, whose first frame is `seq`. */
void bcl_nic_window_begin(struct nic_conn *conn, unsigned rail, uint32_t seq);
/* The peer will not send frames before `seq` any more. */
void bcl_nic_window_skip(struct nic_conn *conn, unsigned rail, uint32_t seq);
/*
 * Write a bitmap of the frames from expected + 1 that arrived. Returns the
 * number of bits.
 */
uint32_t bcl_nic_window_bits(const struct nic_conn *conn, unsigned rail,
			     uint8_t *bits);

/* ---- send.c ---- */
void bcl_nic_send(struct bcl_card *card, unsigned *budget);
/*
 * Send the first message of an idle flow without queueing it, if nothing else
 * waits and the port has submitted nothing more to share the frame with.
 * Returns false if the caller must queue the message.
 */
bool bcl_nic_send_alone(struct bcl_card *card, struct nic_message *message);
/*
 * Bytes of a long message to put in flight in one call: `left` in all, `stripe`
 * on this rail. Whole frames, or the end of the message.
 */
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
/* The frame of a flight did not arrive: send its contents by any rail. */
void bcl_nic_retransmit_reroute(struct bcl_card *card, struct nic_conn *conn,
				struct nic_flight *flight);
void bcl_nic_retransmit_forget(struct bcl_card *card,
			       struct nic_flight *flight);

/* ---- launch.c ---- */
/* Transmit a run that has its sequence numbers. */
void bcl_nic_launch_run(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail, uint8_t kind, struct bcl_tx_frame *run,
			struct nic_flight *flight);
/*
 * The rail is full and took only `taken` frames. The others wait. Returns true
 * if `flight` has left, split from the waiting frames.
 */
bool bcl_nic_launch_rest(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail, struct nic_flight *flight,
			 unsigned taken);
/* Transmit the buffers of a rail whose payload is complete. */
void bcl_nic_launch_fetched(struct bcl_card *card, unsigned rail);
void bcl_nic_launch_dma_done(struct bcl_card *card, struct nic_buffer *buffer,
			     enum bcl_dma_result result);
/*
 * Reroute the new frames of a connection whose payload is still being fetched
 * for a rail.
 */
void bcl_nic_launch_drop(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail);

/* ---- recv.c ---- */
void bcl_nic_recv(struct bcl_card *card, unsigned rail,
		  const struct bcl_rx_frame *frame);
/* Apply card->answered. */
void bcl_nic_recv_answers(struct bcl_card *card);

/* ---- burst.c ---- */
/*
 * Take the frames behind `first` that continue its long message. RECV has just
 * taken `first`. Returns how many of the next n frames were taken.
 */
unsigned bcl_nic_burst(struct bcl_card *card, unsigned rail,
		       const struct bcl_rx_frame *first, unsigned n);

/* ---- hello.c: the handshake ---- */
/*
 * Send HELLO on each rail that is up, has an address and is not proved (call),
 * or on one rail (say). Send PING on one rail (ping).
 */
void bcl_nic_hello_call(struct bcl_card *card, struct nic_conn *conn);
void bcl_nic_hello_say(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail);
void bcl_nic_hello_ping(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail);
/* `header` may be of a HELLO of any version: the other checks are made here. */
void bcl_nic_hello_received(struct bcl_card *card, unsigned rail,
			    const struct bcl_frame_header *header,
			    const struct bcl_hello *hello);
void bcl_nic_hello_answered(struct bcl_card *card, struct nic_conn *conn,
			    unsigned rail,
			    const struct bcl_frame_header *header,
			    const struct bcl_hello *hello);
void bcl_nic_hello_refused(struct bcl_card *card, uint32_t id,
			   const struct bcl_refuse *refuse);
/* A PING with a proof, perhaps an outdated one. */
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
/* Put the node into card->past if nothing needs its index. */
void bcl_nic_node_rest(struct bcl_card *card, struct nic_node *node);
void bcl_nic_node_set(struct bcl_card *card, struct nic_node *node,
		      enum bcl_node_state state, enum bcl_status status);
/* End the node's connection, and all its messages with `status`. */
void bcl_nic_node_lose(struct bcl_card *card, struct nic_node *node,
		       enum bcl_node_state state, enum bcl_status status);
enum bcl_status bcl_nic_node_call(struct bcl_card *card, struct nic_node *node);
/* Start a handshake unless a connection is there or in the making. */
static inline enum bcl_status nic_node_want(struct bcl_card *card,
					    struct nic_node *node)
{
	return node->conn && node->conn->state >= NIC_CONN_UP
		       ? BCL_OK
		       : bcl_nic_node_call(card, node);
}
/* Serve nodes that wait for a connection: memory may be free, or time over. */
void bcl_nic_node_serve(struct bcl_card *card);

/* ---- conn.c ---- */
static inline struct nic_conn *nic_conn_find(const struct bcl_card *card,
					     uint32_t id)
{
	struct nic_conn *conn = card->conns[id >> 2 & card->conn_mask];

	return conn && conn->id == (id & ~3u) ? conn : NULL;
}
/*
 * Iterate over all connections. *index is 0 at first. Returns NULL at the end.
 */
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
/* End a connection without a loss. */
void bcl_nic_conn_over(struct bcl_card *card, struct nic_conn *conn);
/* True if the peer may have seen requests that are not finished. */
bool bcl_nic_conn_owed(const struct nic_conn *conn);
/*
 * The end of the peer is known, as `why` tells (BCL_OK: by BYE). The connection
 * stays ENDING for a short time, for frames that are still in the rails.
 */
void bcl_nic_conn_end(struct bcl_card *card, struct nic_conn *conn,
		      enum bcl_status why);
/* BYE came by `rail`. */
void bcl_nic_conn_bye(struct bcl_card *card, struct nic_conn *conn,
		      unsigned rail);
/* PARK came by `rail`. */
void bcl_nic_conn_park(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail);
/* Ask the connection that was idle for the longest time to end. */
void bcl_nic_conn_evict(struct bcl_card *card);
void bcl_nic_conn_timer(struct bcl_card *card, struct nic_conn *conn);
/*
 * Put a connection into card->working, for reasons of enum bcl_nic_conn_work.
 */
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
/* Frames were acknowledged: continue the work that waited for the window. */
void bcl_nic_conn_resume(struct bcl_card *card, struct nic_conn *conn);
/* All frames are acknowledged: set a timer to PING if verdicts are missing. */
void bcl_nic_conn_await(struct bcl_card *card, struct nic_conn *conn);

/* ---- rails.c ---- */
enum bcl_status bcl_nic_rails_set(struct bcl_card *card,
				  const struct bcl_control *control);
/* The dispatch rule: the rail for a message of `bytes`; BCL_RAILS_MAX: none. */
static inline unsigned nic_rails_pick(const struct nic_conn *conn,
				      uint32_t bytes)
{
	unsigned rail = conn->small_rail;

	if (rail < BCL_RAILS_MAX && bytes > conn->window[rail].payload)
		rail = conn->bulk_rail;
	return rail;
}
/* True if a message of `bytes` is striped. */
static inline bool nic_rails_striped(const struct nic_conn *conn,
				     uint32_t bytes)
{
	return conn->stripes && bytes > conn->window[conn->small_rail].payload;
}
/* True if no frame of the connection may leave on the rail now. */
static inline bool nic_rails_blocked(const struct bcl_card *card,
				     const struct nic_conn *conn, unsigned rail)
{
	return rail >= BCL_RAILS_MAX || card->rail[rail].busy ||
	       conn->window[rail].state != NIC_RAIL_PROVED ||
	       conn->state == NIC_CONN_ENDING;
}
/* Apply the dispatch rule to the rails that are proved. */
void bcl_nic_rails_choose(struct bcl_card *card, struct nic_conn *conn);
/* Give up a rail of the connection: frames go by other rails. */
void bcl_nic_rails_down(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail);
/*
 * The wire reports that nobody listens at the peer's address on this rail: this
 * is evidence against the rail, and against the peer if no other rail vouches
 * for it.
 */
void bcl_nic_rails_refused(struct bcl_card *card, struct nic_conn *conn,
			   unsigned rail, enum bcl_status why);
/*
 * The peer has not reported yet which frames came by a dead rail: send
 * RAIL_DOWN once more, or give up.
 */
void bcl_nic_rails_send_down(struct bcl_card *card, struct nic_conn *conn,
			     unsigned rail);
/*
 * RAIL_DOWN came by the rail `by`. Returns false if the segment makes no sense.
 */
bool bcl_nic_rails_down_received(struct bcl_card *card, struct nic_conn *conn,
				 unsigned by,
				 const struct bcl_segment_header *segment,
				 const uint8_t *bits);

/* ---- stripe.c: long messages over several rails ---- */
/* Bytes of the next stripe, when `left` bytes remain. */
uint32_t bcl_nic_stripe_length(const struct nic_conn *conn, uint32_t left);
/* The rail for the next stripe; BCL_RAILS_MAX: none now. */
unsigned bcl_nic_stripe_pick(const struct bcl_card *card,
			     const struct nic_conn *conn, uint32_t stripe,
			     uint32_t left);
/*
 * Measure the pace of a rail: a stripe is put in flight (begin), bytes are
 * acknowledged while more are in flight (acked).
 */
void bcl_nic_stripe_begin(struct nic_window *window);
void bcl_nic_stripe_acked(const struct bcl_card *card,
			  struct nic_window *window, uint32_t bytes);

/* ---- rdma.c ---- */
void bcl_nic_rdma_done(struct bcl_card *card, uint32_t cookie,
		       enum bcl_dma_result result);

#endif
