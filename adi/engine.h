/* SPDX-License-Identifier: MIT */
/*
 * State of a job and the functions that the files of adi/ call in each other.
 * The lock of the job protects all of the state. The lock exists only with
 * BCL_ADI_THREADS.
 */
#ifndef BCL_ADI_ENGINE_H
#define BCL_ADI_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "adi/internal.h"
#include "adi/match.h"
#include "adi/pool.h"
#include "base/base.h"
#include "transport/boot/boot.h"
#include "transport/context.h"

/*
 * Message types of the transport; 0..15 are packets. The immediate word of
 * EAGER, SYNC and ANNOUNCE is the match key. MATCHED, CALL, TOKEN and DATA
 * carry the name of the sender's request (bcl_request_id()). PUT carries the
 * handle of a window. All types after DATA but PUT carry the sender's rank, as
 * in a match key; all but OOB control the flow between two ranks.
 */
enum bcl_adi_type {
	BCL_ADI_EAGER = BCL_PACKET_TYPES,
	BCL_ADI_SYNC,	  /* 8 bytes: the sender's request; then the data */
	BCL_ADI_ANNOUNCE, /* struct bcl_adi_announcement */
	BCL_ADI_MATCHED,
	BCL_ADI_CALL,	 /* receiver: send what was announced without a token */
	BCL_ADI_TOKEN,	 /* answer to CALL: the token; empty: taken back */
	BCL_ADI_DATA,	 /* answer to CALL: a short message itself */
	BCL_ADI_STOP,	 /* receiver: announce all messages of the caller's
			  * contexts */
	BCL_ADI_GO,	 /* receiver: STOP is over */
	BCL_ADI_HOLD,	 /* sender: has more messages, and keeps them until
			  * announced ones are read or MORE comes */
	BCL_ADI_MORE,	 /* receiver: looks for a message that has not come */
	BCL_ADI_FLUSH,	 /* empty; delivered after all messages before it */
	BCL_ADI_OOB,	 /* words for the client, out of band */
	BCL_ADI_PUT,	 /* BCL_EVENT_NOTIFY: data was put into a window */
	BCL_ADI_WAITING, /* empty; the sender waits for a message of the
			  * receiver */
	BCL_ADI_LEFT,	 /* answer to WAITING: no message will come, the sender
			  * of LEFT is closing */
	BCL_ADI_TYPES,
};

/* How the receiver gets an announced message. `id` is 0: pull with the token.
 * `id` is not 0: CALL the sender's request of that name. */
struct bcl_adi_ticket {
	struct bcl_le64 id;
	uint8_t token[BCL_KEY_MAX];
};

_Static_assert(sizeof(struct bcl_adi_ticket) == BCL_PACKET_TICKET, "ticket");

struct bcl_adi_announcement {
	struct bcl_le64 length;
	struct bcl_adi_ticket ticket;
};

enum {
	BCL_ADI_SYNC_HEAD = 8,	  /* bytes before the data of SYNC */
	BCL_ADI_ANNOUNCED = 4096, /* most announced messages per receiver
				   * without a receive; each MORE allows as many
				   * again */
	BCL_ADI_TOKENS = 32, /* announced with a token and not read yet: the
			      * transport holds few offers, and must have some
			      * left for messages that are called for */
	BCL_ADI_WHY_NOT = 1, /* bytes of the status, published instead of an
			      * address by a rank that could not join */
};

/* ---- requests ------------------------------------------------------------ */

/*
 * State of a request: what the request waits for, and the state after that.
 *
 *  state      waits for                            then
 *  WITHHELD   leave to send or to announce         EAGER
 *               (bcl_adi_may_send())
 *  EAGER      room in the transport                done; SYNC if synchronous;
 *                                                  SENT if long and the path
 *                                                  takes long messages, else
 *                                                  OFFER; OFFER after STOP
 *  SYNC       MATCHED                              done
 *  OFFER      a token and room for its             READ; without a token
 *               announcement, or room for one        LISTED
 *               without a token; ANNOUNCE once
 *               it has the token
 *  LISTED     CALL                                 GRANT
 *  GRANT      a token and room for TOKEN (GIVE     READ; done if short
 *               once it has the token); a short
 *               message: room for DATA
 *  READ       BCL_EVENT_READ                       done
 *
 *  POSTED     a message                            eager: done; synchronous:
 *                                                  ANSWER; announced: PULL,
 *                                                  without a token CALL
 *  ANSWER     room for MATCHED                     done
 *  CALL       room for CALL                        CALLED
 *  CALLED     TOKEN or DATA                        PULL; done after DATA or an
 *                                                  empty TOKEN
 *  PULL       the transport to take the pull       PULLED
 *  PULLED     BCL_EVENT_PULLED                     done
 *
 *  PACKET     room in the transport                done; SENT if the transport
 *                                                  reads the memory later
 *  PUT        the transport to take the put        SENT
 *  SENT       BCL_EVENT_SENT                       done
 *  RUNNING    a schedule to be over                done
 *
 * Requests that wait for room, for a token or for the transport stand in the
 * queue of their peer (bcl_adi_submit()); WITHHELD and CALLED requests stand in
 * the other two queues of the peer. When the peer is lost, all requests in its
 * queues end with its status, and so do SYNC, LISTED, and POSTED that names the
 * peer. Exceptions: ANSWER ends with its own status, because the message has
 * arrived. ANNOUNCE and GIVE become READ; READ, PULLED and SENT end by their
 * event.
 */
enum bcl_request_state {
	BCL_REQUEST_DONE,
	BCL_REQUEST_WITHHELD,
	BCL_REQUEST_EAGER,
	BCL_REQUEST_SYNC,
	BCL_REQUEST_OFFER,
	BCL_REQUEST_ANNOUNCE,
	BCL_REQUEST_LISTED,
	BCL_REQUEST_GRANT,
	BCL_REQUEST_GIVE,
	BCL_REQUEST_READ,
	BCL_REQUEST_POSTED,
	BCL_REQUEST_ANSWER,
	BCL_REQUEST_CALL,
	BCL_REQUEST_CALLED,
	BCL_REQUEST_PULL,
	BCL_REQUEST_PULLED,
	BCL_REQUEST_PACKET,
	BCL_REQUEST_PUT,
	BCL_REQUEST_SENT,
	BCL_REQUEST_RUNNING,
	BCL_REQUEST_FREE,
};

/* Consequences of the completion of a request. No bit: the caller tests or
 * waits for the request. */
enum bcl_request_end {
	BCL_END_SCHEDULE = 1, /* the schedule counts the request */
	BCL_END_PACKET = 2,   /* call complete() of the packet layer */
	BCL_END_FREE = 4,     /* free the request: no caller has it */
	BCL_END_WAKE = 8,     /* a thread sleeps until the request is done */
	BCL_END_COPY = 16,    /* `copy` goes back to the pool */
	BCL_END_EXACT = 32,   /* the length of message and receive must agree */
};

struct bcl_adi_request {
	struct bcl_match_receive receive; /* POSTED; first member */
	uint8_t state;			  /* enum bcl_request_state */
	uint8_t end;			  /* enum bcl_request_end */
	bool eager;    /* EAGER: may go eagerly, else OFFER at once; OFFER,
			* GRANT: DATA answers CALL */
	bool sync;     /* EAGER: wait for MATCHED */
	bool packet;   /* OFFER to READ, CALL to PULLED: belongs to the packet
			* layer */
	bool tokened;  /* counts in adi->tokens */
	uint8_t type;  /* OFFER, ANNOUNCE, PACKET: type of the packet */
	bool limited;  /* carries a message of the caller's contexts: STOP and
			* HOLD apply */
	bool released; /* was withheld: goes before all that is queued */
	uint8_t lane;  /* lane of the schedule */
	uint16_t niov;
	uint32_t generation; /* times that the entry was taken */
	void *buffer;
	size_t length; /* bytes of the buffer, or of all pieces */
	struct bcl_adi_status status;
	struct bcl_adi_peer *peer;
	struct bcl_adi_request *next; /* in a queue or in the free list */

	struct iovec *iov; /* niov != 0: pieces instead of the buffer; PACKET:
			    * the pieces of the packet */
	void *copy;	   /* list of pieces, packed data or packet; from the
			    * pool */
	size_t copy_size;
	void *bounce; /* PULL into pieces: the pull fills this first */
	size_t bounce_size;
	uint64_t key;	 /* immediate word of the message to send */
	uint64_t cookie; /* the packet layer's name for the request */
	uint64_t remote; /* ANSWER, CALL, CALLED: the sender's request; PUT: the
			  * offset */
	struct bcl_adi_schedule *schedule;
	struct bcl_adi_request *schedule_prev, *schedule_next;
	uint32_t index;	    /* position among all requests */
	uint32_t ticket_at; /* offset of the ticket in the packet */
	uint8_t token[BCL_KEY_MAX];
};

/* ---- peers --------------------------------------------------------------- */

/* Messages about flow control and leaving that are due to a peer. Lower bits
 * are sent first. */
enum bcl_adi_owed {
	BCL_OWED_STOP = 1,
	BCL_OWED_GO = 2,
	BCL_OWED_HOLD = 4,
	BCL_OWED_MORE = 8,
	BCL_OWED_LEFT = 16, /* after all messages */
};

struct bcl_request_queue {
	struct bcl_adi_request *first, **last;
};

struct bcl_adi_peer {
	/* hot: read for every message */
	struct bcl_peer *peer; /* NULL: the rank could not be opened, or the
				* handle was forgotten; see `lost` */
	bool direct;  /* a short message may leave at once: the peer is open,
		       * not lost and not stopped, and nothing is queued or
		       * withheld */
	bool dirty;   /* a message was sent since the last flush */
	uint8_t lost; /* enum bcl_status */
	uint8_t gone; /* enum bcl_status: no message will come, because the peer
		       * is lost or has left the job; bcl_adi_close() goes on
		       * with a peer that has left */
	uint8_t owed; /* enum bcl_adi_owed */
	int rank;     /* -1: not known to be a rank of the job */

	/* sending */
	bool stopped;	    /* the peer said STOP, and no GO since */
	bool holding;	    /* HOLD was said, and no MORE came since */
	bool waiting;	    /* in the ring adi->waiting */
	bool opened;	    /* this process opened the handle */
	uint32_t announced; /* messages announced and not read yet */
	uint32_t limit;	    /* most messages that may be announced */
	struct bcl_request_queue queue, withheld, called;
	struct bcl_adi_peer *next_waiting;

	/* receiving */
	bool stops;	    /* STOP was said, and no GO since */
	bool holds;	    /* the peer said HOLD, and was told no MORE since */
	bool waits;	    /* the peer said WAITING */
	uint8_t keepalives; /* turns for a keepalive: is_due() in keepalive.c */
	size_t unexpected;  /* bytes of the peer's unexpected messages */

	struct bcl_table_node node; /* key: `peer` */
	struct bcl_adi_peer *next;
};

enum {
	BCL_ADI_SOME_RANKS = 64,
};

/* Peers of consecutive ranks. A process with few peers has few of these
 * parts. */
struct bcl_adi_some_ranks {
	struct bcl_adi_peer *peer[BCL_ADI_SOME_RANKS]; /* NULL: not used yet */
};

/* ---- messages that wait for a receive ------------------------------------ */

struct bcl_adi_message {
	struct bcl_match_message match; /* first member */
	struct bcl_adi_peer *peer;
	size_t length;	  /* of the message as sent */
	uint64_t sync;	  /* the sender's request; 0: not synchronous */
	uint32_t size;	  /* of this block, as passed to bcl_pool_get() */
	uint32_t charged; /* bytes that count against the peer's budget, or 0 */
	bool announced;	  /* data is the ticket */
	_Alignas(8) uint8_t data[];
};

/* ---- the job ------------------------------------------------------------- */

enum bcl_adi_chore {
	BCL_CHORE_PEERS = 1,	 /* a peer is in adi->waiting */
	BCL_CHORE_SCHEDULES = 2, /* a schedule is in adi->ready */
};

struct bcl_request_slab;

struct bcl_adi {
	/* hot */
	struct bcl_port *port;
	/* Peers by rank, in parts. No part is NULL: see bcl_adi_known(). */
	struct bcl_adi_some_ranks **ranks;
	uint32_t size;
	uint32_t rank;
	uint64_t own;	  /* this rank as the source of a match key */
	size_t eager_max; /* eager by any path, bytes */
	unsigned chores;  /* enum bcl_adi_chore */
	unsigned spins;	  /* turns before bcl_adi_wait_any() */
	/* Fork generation in which a call neither takes the lock nor is refused
	 * with FORKED. With BCL_ADI_THREADS no generation qualifies. */
	uint32_t plain_in;
	bool threads;
	bool stalled; /* `event` waits for memory */
	bool closing; /* the caller receives no more */
	bool leaving; /* ranks that leave are not reported as lost */
	struct bcl_adi_request *free;
	struct bcl_counter_page *counters;

	const struct bcl_env *env;
	struct bcl_context *context;
	struct bcl_boot *boot;
	bool own_context, own_boot;
	enum bcl_status broken; /* the port is lost, or this is a fork */

	struct bcl_event event;
	unsigned tokens; /* see BCL_ADI_TOKENS */

	/* peer.c */
	struct bcl_adi_peer *peers;
	struct bcl_table by_handle;
	struct bcl_adi_peer *waiting; /* circular; the peer served last */
	unsigned nholds;	      /* peers that said HOLD */
	unsigned ngone;		      /* other ranks gone */

	/* request.c */
	struct bcl_adi_request done; /* of all sends that left at once */
	struct bcl_request_slab **slabs;
	uint32_t nslabs, slabs_size;
	struct bcl_pool pool;

	/* unexpected.c */
	size_t unexpected_max; /* budget per peer, bytes */
	size_t unexpected, unexpected_peak;

	/* schedule.c */
	struct bcl_adi_schedule *ready, **ready_last;

	/* send.c */
	size_t eager_long; /* eager by paths that take long messages, bytes */

	/* packet.c */
	struct bcl_adi_packet_ops packet_ops;
	void *packet_arg;
	struct bcl_adi_idle packet_idle; /* since the last event */
	unsigned vain;			 /* polls without an event, since a
					  * yield */
	bool packets_follow;		 /* packets come in a row from one
					  * pair */

	/* keepalive.c */
	uint64_t keepalive_at;	 /* next call, ns; 0: nobody waited yet */
	unsigned keepalive_next; /* first rank to look at */

	/* oob.c */
	struct bcl_adi_client *client;

	/* put.c */
	struct bcl_adi_target *targets;

	/* wait.c: threads */
	pthread_mutex_t lock;
	_Atomic unsigned wanted; /* threads that wait for the lock */
	_Atomic bool woken;	 /* set by bcl_adi_packet_wake() */
	unsigned sleepers;
	bool wake;    /* a sleeper need not wait any longer */
	bool turned;  /* the port was polled, and is disarmed */
	bool napping; /* a sleeper wakes up by itself, for the chores */
	int object;   /* wakes the sleepers */
	int group;    /* `object` and the port, to sleep on both */

	struct bcl_match match;

	struct bcl_adi_some_ranks first; /* part 0 of `ranks` */
};

/* Returns false if the tag of the key has bit 31 set, which no tag has. */
static inline bool bcl_adi_key_valid(uint64_t key)
{
	return !(key & 0x80000000);
}

/* ---- request.c ---- */

/* Puts more requests on the free list. Returns false if there is no memory. */
bool bcl_requests_grow(struct bcl_adi *adi);

/* Takes the first request of the free list, which must not be empty. The caller
 * sets all fields but `generation`, `end` and `niov`. */
static inline struct bcl_adi_request *bcl_request_take(struct bcl_adi *adi)
{
	struct bcl_adi_request *request = adi->free;

	adi->free = request->next;
	request->generation++;
	request->end = 0;
	request->niov = 0;
	return request;
}

/* Takes a request. NULL: no memory. */
static inline struct bcl_adi_request *bcl_request_new(struct bcl_adi *adi)
{
	if (bcl_unlikely(!adi->free) && !bcl_requests_grow(adi))
		return NULL;
	return bcl_request_take(adi);
}

static inline void bcl_request_free(struct bcl_adi *adi,
				    struct bcl_adi_request *request)
{
	if (request == &adi->done)
		return;
	request->state = BCL_REQUEST_FREE;
	request->next = adi->free;
	adi->free = request;
}

/* Name of a request, for peers. Never 0. */
uint64_t bcl_request_id(const struct bcl_adi_request *request);
/* Finds a request by name. NULL: no request of this name is in use. */
struct bcl_adi_request *bcl_request_find(struct bcl_adi *adi, uint64_t id);
/* Calls back for each request in use. The callback may free the request. */
void bcl_requests_each(struct bcl_adi *adi,
		       void (*call)(struct bcl_adi *adi,
				    struct bcl_adi_request *request, void *arg),
		       void *arg);
/* Copies the list of pieces, not their data, into the request. NOMEM. */
enum bcl_status bcl_request_set_iov(struct bcl_adi *adi,
				    struct bcl_adi_request *request,
				    const struct iovec *iov, unsigned niov);
/* Does what `end` says (enum bcl_request_end). */
void bcl_request_end(struct bcl_adi *adi, struct bcl_adi_request *request);
void bcl_requests_close(struct bcl_adi *adi);

static inline void bcl_request_complete(struct bcl_adi *adi,
					struct bcl_adi_request *request,
					enum bcl_status status)
{
	request->status.status = status;
	request->state = BCL_REQUEST_DONE;
	if (bcl_unlikely(request->end))
		bcl_request_end(adi, request);
}

/* ---- peer.c ---- */

/* The peer of a rank, which is opened if need be. NULL: no memory. */
struct bcl_adi_peer *bcl_adi_peer_get(struct bcl_adi *adi, unsigned rank);
/* The record of a handle; makes one if there is none. NULL: no memory. */
struct bcl_adi_peer *bcl_adi_peer_of(struct bcl_adi *adi,
				     struct bcl_peer *handle);
/* Opens the rank if need be. OK: the handle belongs to the rank. ARG: the
 * handle belongs to another port, or there is no such rank. NOMEM. */
enum bcl_status bcl_adi_peer_bind(struct bcl_adi *adi, unsigned rank,
				  struct bcl_peer *handle);
/* Starts a request, or queues the request. The request may be complete on
 * return. */
void bcl_adi_submit(struct bcl_adi *adi, struct bcl_adi_request *request);

/* The same for a request to send a packet of this type, from the packet layer
 * or from the ADI. */
static inline void bcl_adi_submit_packet(struct bcl_adi *adi,
					 struct bcl_adi_request *request,
					 struct bcl_adi_peer *peer,
					 unsigned type, uint64_t key)
{
	request->state = BCL_REQUEST_PACKET;
	request->type = (uint8_t)type;
	request->key = key;
	request->peer = peer;
	request->limited = false;
	request->released = false;
	bcl_adi_submit(adi, request);
}

/* Takes the request out of the queue of its peer. */
void bcl_adi_unqueue(struct bcl_adi_request *request);
/* The record of a handle, or NULL. */
static inline struct bcl_adi_peer *bcl_adi_peer_find(const struct bcl_adi *adi,
						     struct bcl_peer *handle)
{
	struct bcl_table_node *node =
		bcl_table_find(&adi->by_handle, (uintptr_t)handle);

	return node ? bcl_container_of(node, struct bcl_adi_peer, node) : NULL;
}

void bcl_request_append(struct bcl_request_queue *queue,
			struct bcl_adi_request *request);
void bcl_request_remove(struct bcl_request_queue *queue,
			struct bcl_adi_request *request);
void bcl_adi_owe(struct bcl_adi *adi, struct bcl_adi_peer *peer, unsigned owed);
/* Messages that are withheld from the peer may perhaps go now: the peer said
 * MORE or GO, or has read an announced message. */
void bcl_adi_peer_resume(struct bcl_adi *adi, struct bcl_adi_peer *peer);
/* BCL_CHORE_PEERS: serves one peer. Returns true if a request advanced. */
bool bcl_adi_peers_serve(struct bcl_adi *adi);
/* Handles BCL_EVENT_PEER. */
void bcl_adi_peer_event(struct bcl_adi *adi, struct bcl_peer *handle,
			enum bcl_status status);
void bcl_adi_peer_lose(struct bcl_adi *adi, struct bcl_adi_peer *peer,
		       enum bcl_status status);
/* Handles LEFT: receives from the peer end, but not those of
 * bcl_adi_close(). */
void bcl_adi_peer_left(struct bcl_adi *adi, struct bcl_adi_peer *peer);
/* Returns false if there is no memory. bcl_adi_peers_close() must follow in
 * either case. */
bool bcl_adi_peers_open(struct bcl_adi *adi);
void bcl_adi_peers_close(struct bcl_adi *adi);

/* The peer of this rank, or NULL if no peer was opened for the rank yet. */
static inline struct bcl_adi_peer *bcl_adi_known(const struct bcl_adi *adi,
						 unsigned rank)
{
	if (bcl_likely(rank < BCL_ADI_SOME_RANKS))
		return adi->first.peer[rank];
	return adi->ranks[rank / BCL_ADI_SOME_RANKS]
		->peer[rank % BCL_ADI_SOME_RANKS];
}

/* Returns true if all other ranks are gone: no message can come. */
static inline bool bcl_adi_is_alone(const struct bcl_adi *adi)
{
	return bcl_unlikely(adi->ngone && adi->ngone + 1 == adi->size);
}

/* Notes that an eager message has left. */
static inline void bcl_adi_sent(struct bcl_adi *adi, struct bcl_adi_peer *peer)
{
	peer->dirty = true;
	bcl_count(adi->counters, adi_sent_eager);
}

static inline void bcl_adi_peer_judge(struct bcl_adi_peer *peer)
{
	peer->direct = peer->peer && !peer->lost && !peer->stopped &&
		       !peer->queue.first && !peer->withheld.first;
}

/* ---- send.c ---- */

/* Sends an empty message. The request ends when the peer has the message, and
 * with it all messages before. */
void bcl_adi_send_nothing(struct bcl_adi *adi, struct bcl_adi_peer *peer,
			  enum bcl_adi_type type, uint64_t immediate);

/* Sends EAGER with one piece. */
enum bcl_status bcl_adi_send_piece(struct bcl_peer *peer, uint64_t key,
				   const void *data, size_t length);

/* Starts a message that does not leave at once. The caller has set buffer or
 * iov, length, sync, end. */
void bcl_adi_send_queued(struct bcl_adi *adi, struct bcl_adi_request *request,
			 unsigned rank, uint64_t key);
/* Returns true if the message may be sent or announced now. */
bool bcl_adi_may_send(const struct bcl_adi_request *request);
/* bcl_adi_iov_length() for several pieces. */
bool bcl_adi_iov_sum(const struct iovec *iov, unsigned niov, size_t *length);

/* Stores the length of all pieces. Returns false if the list is not valid. */
static inline bool bcl_adi_iov_length(const struct iovec *iov, unsigned niov,
				      size_t *length)
{
	if (niov && bcl_unlikely(!iov))
		return false;
	if (niov > 1)
		return bcl_adi_iov_sum(iov, niov, length);
	*length = niov ? iov->iov_len : 0;
	return !*length || iov->iov_base;
}

/* Advances a request in a state that waits in a queue. AGAIN: the request must
 * wait. OK: the request advanced, or has failed and is complete. */
enum bcl_status bcl_request_push(struct bcl_adi *adi,
				 struct bcl_adi_request *request);
/* Ends a request that cannot go on; the request is in no queue. */
void bcl_request_fail(struct bcl_adi *adi, struct bcl_adi_request *request,
		      enum bcl_status status);
/* Handles MATCHED. */
void bcl_adi_matched(struct bcl_adi *adi, const struct bcl_event *event);
/* Copies the pieces to one place. */
void bcl_adi_gather(void *to, const struct iovec *iov, unsigned niov);
/* Sends one system message of any number of pieces. */
enum bcl_status bcl_adi_send_pieces(struct bcl_peer *peer, unsigned type,
				    uint64_t immediate, const struct iovec *iov,
				    unsigned niov, size_t length);

/* ---- rendezvous.c: the sender ---- */

/* bcl_request_push() for EAGER, OFFER and ANNOUNCE; for GRANT and GIVE. */
enum bcl_status bcl_request_offer(struct bcl_adi *adi,
				  struct bcl_adi_request *request);
enum bcl_status bcl_request_grant(struct bcl_adi *adi,
				  struct bcl_adi_request *request);
/* Handles CALL. */
void bcl_adi_call(struct bcl_adi *adi, const struct bcl_event *event);
/* Handles BCL_EVENT_READ: the receiver has pulled the message, or the offer has
 * failed. */
void bcl_adi_read(struct bcl_adi *adi, struct bcl_adi_request *request,
		  enum bcl_status status);

/* ---- fetch.c: the receiver ---- */

/* Gets an announced message. The caller has set status and buffer. */
void bcl_adi_fetch(struct bcl_adi *adi, struct bcl_adi_request *request,
		   struct bcl_adi_peer *peer, const void *ticket);
/* bcl_request_push() for CALL; for PULL. */
enum bcl_status bcl_request_call(struct bcl_adi *adi,
				 struct bcl_adi_request *request);
enum bcl_status bcl_request_pull(struct bcl_adi *adi,
				 struct bcl_adi_request *request);
/* Handles TOKEN and DATA. */
void bcl_adi_called(struct bcl_adi *adi, const struct bcl_event *event);
/* Handles BCL_EVENT_PULLED. */
void bcl_adi_pulled(struct bcl_adi *adi, struct bcl_adi_request *request,
		    enum bcl_status status);
/* Copies from one place to the pieces. */
void bcl_adi_scatter(const struct iovec *iov, unsigned niov, const void *from,
		     size_t length);

/* ---- receive.c ---- */

/* Returns true if a message to or from this rank can have the tag and the
 * context. */
static inline bool bcl_adi_valid(const struct bcl_adi *adi, int rank, int tag,
				 unsigned context)
{
	/* one comparison for two: a negative tag is beyond all contexts */
	return bcl_likely(adi != NULL) && (unsigned)rank < adi->size &&
	       (context | ((unsigned)tag & 0x80000000)) <= BCL_ADI_CONTEXT_MAX;
}

/* Makes the pattern of a receive. Returns false if an argument is wrong. */
static inline bool bcl_adi_pattern(const struct bcl_adi *adi, int source,
				   int tag, unsigned context, uint64_t *key,
				   enum bcl_match_class *class)
{
	unsigned any = 0;

	if (source == BCL_ANY_SOURCE) {
		any = BCL_MATCH_ANY_SOURCE;
		source = 0;
	}
	if (tag == BCL_ANY_TAG) {
		any |= BCL_MATCH_ANY_TAG;
		tag = 0;
	}
	*class = any;
	*key = bcl_match_key(context, (unsigned)source, (unsigned)tag);
	return bcl_adi_valid(adi, source, tag, context);
}

/* Status of a receive of this pattern without a message. */
static inline struct bcl_adi_status
bcl_adi_unreceived(uint64_t key, enum bcl_match_class class)
{
	return (struct bcl_adi_status){
		.source = class & BCL_MATCH_ANY_SOURCE
				  ? BCL_ANY_SOURCE
				  : (int)bcl_match_source(key),
		.tag = class & BCL_MATCH_ANY_TAG ? BCL_ANY_TAG
						 : (int)bcl_match_tag(key),
	};
}

/* Posts the receive, or receives a message that has come already. */
void bcl_adi_start_receive(struct bcl_adi *adi, struct bcl_adi_request *request,
			   uint64_t key, enum bcl_match_class class);
/* ---- arrive.c ---- */

/* Receives an unexpected message, already out of the tables, and frees the
 * message. */
void bcl_adi_receive_unexpected(struct bcl_adi *adi,
				struct bcl_adi_request *request,
				struct bcl_adi_message *message);
/* Handles SYNC and ANNOUNCE with a valid key of the peer. Returns false if
 * there is no memory to keep the message; then nothing was done. */
bool bcl_adi_arrive(struct bcl_adi *adi, struct bcl_adi_peer *peer,
		    const struct bcl_event *event);
/* Drops the unexpected messages of the caller's contexts. Senders that wait for
 * an answer get one and go on. */
void bcl_adi_discard_unexpected(struct bcl_adi *adi);

/* ---- unexpected.c ---- */

/* An unexpected message with a copy of the data or ticket. The caller fills in
 * the rest. NULL: no memory. */
struct bcl_adi_message *bcl_adi_message_new(struct bcl_adi *adi,
					    struct bcl_adi_peer *peer,
					    const void *data, size_t size);
/* Charges the message to the budget of its sender. */
void bcl_adi_message_count(struct bcl_adi *adi,
			   struct bcl_adi_message *message);
void bcl_adi_message_free(struct bcl_adi *adi, struct bcl_adi_message *message);
/* Frees all unexpected messages, at the end of the job. */
void bcl_adi_drop_unexpected(struct bcl_adi *adi);
/* Called when a receive or probe finds no message: says MORE to senders that
 * said HOLD. */
void bcl_adi_want(struct bcl_adi *adi, uint64_t key,
		  enum bcl_match_class class);
/* Handles HOLD. */
void bcl_adi_hold_received(struct bcl_adi *adi, struct bcl_adi_peer *peer);

/* ---- packet.c ---- */

/* Hands a packet to the packet layer. */
void bcl_adi_packet(struct bcl_adi *adi, const struct bcl_event *event);

/* ---- progress.c ---- */

/* Handles the result of bcl_poll() or bcl_poll_pair(), which is not EMPTY. */
void bcl_adi_polled(struct bcl_adi *adi, enum bcl_status status,
		    const struct bcl_event *event);
/* Does what adi->chores says. Returns true if a request or a schedule
 * advanced. */
bool bcl_adi_do_chores(struct bcl_adi *adi);

/*
 * The sender of a message with this match key. NULL and *taken: the message was
 * dropped, because the key is malformed or the handle is not that of the rank.
 * NULL and not *taken: the message must wait for memory.
 */
struct bcl_adi_peer *bcl_adi_sender(struct bcl_adi *adi, struct bcl_peer *from,
				    uint64_t key, bool *taken);

/* Turns until the request is done; it is not done at the call. A turn takes up
 * to `most` messages, more than 1 if the caller waits for further requests.
 * Error statuses: the job is broken. */
enum bcl_status bcl_adi_wait_for(struct bcl_adi *adi,
				 struct bcl_adi_request *request,
				 unsigned most);

static inline enum bcl_status bcl_adi_wait_done(struct bcl_adi *adi,
						struct bcl_adi_request *request)
{
	return request->state == BCL_REQUEST_DONE
		       ? BCL_OK
		       : bcl_adi_wait_for(adi, request, 1);
}

/* ---- oob.c ---- */

/* Handles OOB. */
void bcl_adi_oob_received(struct bcl_adi *adi, unsigned rank,
			  const struct bcl_event *event);

/* ---- keepalive.c ---- */

/* Called before a wait sleeps until *end. Moves *end to the time of the next
 * call if that is earlier. Returns true if keepalives were sent: the caller
 * turns again instead of sleeping. */
bool bcl_adi_keepalive(struct bcl_adi *adi, uint64_t now, uint64_t *end);

/* ---- put.c ---- */

/* bcl_request_push() for PUT. */
enum bcl_status bcl_request_put(struct bcl_adi *adi,
				struct bcl_adi_request *request);
/* Handles BCL_EVENT_NOTIFY. Returns false if there is no memory to keep the
 * message; then nothing was done. */
bool bcl_adi_put_arrived(struct bcl_adi *adi, const struct bcl_event *event);

/* ---- wait.c ---- */

enum bcl_status bcl_adi_threads_open(struct bcl_adi *adi);
void bcl_adi_threads_close(struct bcl_adi *adi);
/* OK: entered, with the lock held if there are threads. FORKED: not entered. */
enum bcl_status bcl_adi_enter_slowly(struct bcl_adi *adi);
void bcl_adi_unlock_threads(struct bcl_adi *adi);

/*
 * Turns until a request is done, and stores the position of the request in
 * *index. Lock held; released while nothing happens. Error statuses: the job is
 * broken.
 */
enum bcl_status bcl_adi_wait_any(struct bcl_adi *adi,
				 struct bcl_adi_request *const *requests,
				 unsigned n, unsigned *index);

/* Called after a turn that found nothing. Spins, yields or sleeps, at most
 * until `end` (now() time). See bcl_adi_idle(). */
void bcl_adi_rest(struct bcl_adi *adi, struct bcl_adi_idle *idle, uint64_t end);

/* Returns true if only one thread calls, and this is no forked child. */
static inline bool bcl_adi_is_plain(const struct bcl_adi *adi)
{
	return bcl_likely(adi->plain_in == bcl_fork_generation());
}

/* OK: entered. FORKED: not entered. */
static inline enum bcl_status bcl_adi_enter(struct bcl_adi *adi)
{
	return bcl_adi_is_plain(adi) ? BCL_OK : bcl_adi_enter_slowly(adi);
}

static inline void bcl_adi_leave(struct bcl_adi *adi)
{
	if (bcl_unlikely(adi->threads))
		bcl_adi_unlock_threads(adi);
}

/* ---- schedule.c ---- */

/* Called when a receive of a schedule is over. Sets TRUNCATED if the message
 * was shorter or longer than the receive. */
void bcl_adi_schedule_check(struct bcl_adi *adi,
			    struct bcl_adi_request *request);
/* Called when a message of a schedule is complete. */
void bcl_adi_schedule_message(struct bcl_adi *adi,
			      struct bcl_adi_request *request);
/* Takes back a message, with CANCELLED. Returns false if it is too late. */
bool bcl_request_take_back(struct bcl_adi *adi,
			   struct bcl_adi_request *request);
/* BCL_CHORE_SCHEDULES: advances all ready schedules. Returns true if one is
 * over. */
bool bcl_adi_schedules_serve(struct bcl_adi *adi);

#endif
