/* SPDX-License-Identifier: MIT */
/*
 * The inside of a job, shared by the files of adi/. All of it is protected by
 * the job's lock, which exists only with BCL_ADI_THREADS.
 */
#ifndef BCL_ADI_ENGINE_H
#define BCL_ADI_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "adi/internal.h"
#include "adi/match.h"
#include "adi/pool.h"
#include "transport/boot/boot.h"
#include "transport/context.h"

#define bcl_likely(x)	__builtin_expect(!!(x), 1)
#define bcl_unlikely(x) __builtin_expect(!!(x), 0)

/*
 * Transport message types; 0..15 are packets. The immediate of the first
 * three is the match key; of those up to DATA the sender's request; the
 * others, but PUT, have the sender's rank there and are about the flow between
 * two ranks.
 */
enum bcl_adi_type {
	BCL_ADI_EAGER = BCL_PACKET_TYPES,
	BCL_ADI_SYNC,	  /* 8 bytes: the sender's request; then the data */
	BCL_ADI_ANNOUNCE, /* struct bcl_adi_announcement */
	BCL_ADI_MATCHED,
	BCL_ADI_CALL,	/* announced without a token: it is wanted now */
	BCL_ADI_TOKEN,	/* the answer: the token; nothing: it was taken back; */
	BCL_ADI_DATA,	/* or the message itself */
	BCL_ADI_STOP,	/* announce all messages of the caller's contexts, */
	BCL_ADI_GO,	/* until this */
	BCL_ADI_HOLD,	/* there are more, which I keep until you have matched
			 * some of those announced, */
	BCL_ADI_MORE,	/* or until this: I look for one that is not there */
	BCL_ADI_FLUSH,	/* nothing: its delivery shows that of all before it */
	BCL_ADI_OOB, /* words for the client, beside all messages */
	BCL_ADI_PUT,	/* BCL_EVENT_NOTIFY: into the window of this handle */
	BCL_ADI_WAITING, /* nothing: I wait for a message of yours; */
	BCL_ADI_LEFT,	 /* there is none any more: I am closing */
	BCL_ADI_TYPES,
};

/* How to get what was announced: by the token, or, if `id` is not 0, by a
 * CALL for the sender's request of that name. */
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
	BCL_ADI_ANNOUNCED = 4096, /* messages not matched, per receiver, that
				   * it has not asked for */
	BCL_ADI_TOKENS = 32, /* announced with their token, not read yet: the
			      * transport has few, and must have some for
			      * those that are called for */
	BCL_ADI_WHY_NOT = 1, /* bytes instead of the address of a rank that
			      * could not join: the status */
};

/* ---- requests ------------------------------------------------------------ */

/*
 * What a request waits for, and what comes then.
 *
 *  state      waits for                            then
 *  WITHHELD   the receiver to want announcements   EAGER
 *  EAGER      room in the transport                done; SYNC if synchronous;
 *                                                  SENT if it is long, and its
 *                                                  path takes such; OFFER if
 *                                                  not or if STOP has come
 *  SYNC       MATCHED                              done
 *  OFFER      a token and room for its             READ; without a token
 *             announcement, or room for one          LISTED
 *             without; ANNOUNCE when it has
 *             the token
 *  LISTED     CALL                                 GRANT
 *  GRANT      a token and room for it (GIVE when   READ; done if it is short
 *             it has the token); if it is short
 *             room for DATA
 *  READ       BCL_EVENT_READ                       done
 *
 *  POSTED     a message                            eager: done; synchronous:
 *                                                  ANSWER; announced: PULL,
 *                                                  without a token CALL
 *  ANSWER     room for MATCHED                     done
 *  CALL       room for CALL                        CALLED
 *  CALLED     TOKEN or DATA                        PULL; done
 *  PULL       the transport to take the pull       PULLED
 *  PULLED     BCL_EVENT_PULLED                     done
 *
 *  PACKET     room in the transport                done; SENT if the memory
 *                                                  is the caller's
 *  PUT        the transport to take the put        SENT
 *  SENT       BCL_EVENT_SENT                       done
 *  RUNNING    a schedule to be over                done
 *
 * Those that wait for room, a token or the transport are in their peer's
 * queue (bcl_adi_submit()), WITHHELD and CALLED in its other ones. When the
 * peer is lost those, SYNC, LISTED, and POSTED that names it end with its
 * status; READ, PULLED and SENT by their event.
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

/* What its completion entails; nothing if the caller will ask for it. */
enum bcl_request_end {
	BCL_END_SCHEDULE = 1, /* its schedule counts it */
	BCL_END_PACKET = 2,   /* the packet layer's complete() */
	BCL_END_FREE = 4,     /* nobody will ask */
	BCL_END_WAKE = 8,     /* a thread sleeps until then */
	BCL_END_COPY = 16,    /* `copy` goes back to the pool */
	BCL_END_EXACT = 32,   /* what comes has the length that is due */
};

struct bcl_adi_request {
	struct bcl_match_receive receive; /* POSTED; first */
	uint8_t state;			  /* enum bcl_request_state */
	uint8_t end;			  /* enum bcl_request_end */
	bool eager;    /* EAGER: short enough, else OFFER comes at once */
	bool sync;     /* EAGER: wait for MATCHED */
	bool packet;   /* OFFER to READ, CALL to PULLED: of the packet layer */
	bool tokened;  /* it counts in adi->tokens */
	uint8_t type;  /* ANNOUNCE, PACKET: of a packet */
	bool limited;  /* a message of the caller's contexts: it counts */
	bool released; /* it was withheld: it goes before what is queued */
	uint8_t lane;  /* of its schedule */
	uint16_t niov;
	uint32_t generation; /* how often it was used */
	void *buffer;
	size_t length; /* of the buffer, of all pieces */
	struct bcl_adi_status status;
	struct bcl_adi_peer *peer;
	struct bcl_adi_request *next; /* in a queue or the free list */

	struct iovec *iov; /* niov != 0: pieces instead of the buffer; of a
			    * packet: its message */
	void *copy;	   /* the pieces, a packet; from the pool */
	size_t copy_size;
	void *bounce; /* PULL into pieces: goes here first */
	size_t bounce_size;
	uint64_t key;	 /* the immediate of the message sent */
	uint64_t cookie; /* the packet layer's */
	uint64_t remote; /* ANSWER, CALL, CALLED: the sender's request; PUT:
			  * the offset */
	struct bcl_adi_schedule *schedule;
	struct bcl_adi_request *schedule_prev, *schedule_next;
	uint32_t index;	    /* among all requests */
	uint32_t ticket_at; /* of the packet: where the ticket goes */
	uint8_t token[BCL_KEY_MAX];
};

/* ---- peers --------------------------------------------------------------- */

/* Things a peer must be told, in the order in which they are. */
enum bcl_adi_owed {
	BCL_OWED_STOP = 1,
	BCL_OWED_GO = 2,
	BCL_OWED_HOLD = 4,
	BCL_OWED_MORE = 8,
	BCL_OWED_LEFT = 16, /* behind all messages */
};

struct bcl_request_queue {
	struct bcl_adi_request *first, **last;
};

struct bcl_adi_peer {
	/* hot: read by every message */
	struct bcl_peer *peer; /* NULL: it could not be opened; see `lost` */
	bool direct;  /* a short message may leave at once: the peer is open and
		       * not lost, nothing queued, not stopped */
	bool dirty;   /* something was sent since the last flush */
	uint8_t lost; /* enum bcl_status */
	uint8_t gone; /* enum bcl_status: no message will come; it is lost, or
		       * has left the job, though closing goes on with it */
	uint8_t owed; /* enum bcl_adi_owed */
	int rank;     /* -1: not known to be of the job */

	/* sending */
	bool stopped;	    /* it said STOP */
	bool holding;	    /* HOLD was said, and no MORE came since */
	bool waiting;	    /* in adi->waiting */
	bool opened;	    /* the handle is ours */
	uint32_t announced; /* messages not yet read */
	uint32_t limit;	    /* of those */
	struct bcl_request_queue queue, withheld, called;
	struct bcl_adi_peer *next_waiting;

	/* receiving */
	bool stops;    /* STOP was said, and no GO since */
	bool holds;    /* it said HOLD, and was told no MORE since */
	bool waits;    /* it said WAITING */
	uint8_t keepalives; /* so often its turn has come: keepalive.c */
	size_t unexpected;  /* bytes of its messages that wait for a receive */

	struct bcl_table_node node; /* by `peer` */
	struct bcl_adi_peer *next;
};

enum {
	BCL_ADI_SOME_RANKS = 64,
};

/* Peers by rank; who talks to few of many ranks has few of these. */
struct bcl_adi_some_ranks {
	struct bcl_adi_peer *peer[BCL_ADI_SOME_RANKS]; /* NULL: not used yet */
};

/* ---- messages that wait for a receive ------------------------------------ */

struct bcl_adi_message {
	struct bcl_match_message match; /* first */
	struct bcl_adi_peer *peer;
	size_t length;	/* of the message as sent */
	uint64_t sync;	/* the sender's request, never 0, or 0 */
	uint32_t size;	/* of this block, as asked of the pool */
	uint32_t charged; /* bytes that count for the peer, or 0 */
	bool announced; /* data is the ticket */
	_Alignas(8) uint8_t data[];
};

/* ---- the job ------------------------------------------------------------- */

enum bcl_adi_chore {
	BCL_CHORE_PEERS = 1,	 /* adi->waiting */
	BCL_CHORE_SCHEDULES = 2, /* adi->ready */
};

struct bcl_request_slab;

struct bcl_adi {
	/* hot */
	struct bcl_port *port;
	/* The ranks in parts, not NULL: bcl_adi_known(). */
	struct bcl_adi_some_ranks **ranks;
	uint32_t size;
	uint32_t rank;
	uint64_t own;	  /* the rank as it stands in a match key */
	size_t eager_max; /* bytes, by any path */
	unsigned chores;  /* enum bcl_adi_chore */
	unsigned spins;	  /* turns before bcl_wait() */
	/* The fork generation in which calls need neither the lock nor a
	 * refusal: with BCL_ADI_THREADS there is none. */
	uint32_t plain_in;
	bool threads;
	bool stalled; /* on `event`, for lack of memory */
	bool closing; /* the caller receives no more */
	bool leaving; /* ranks that go are not missed */
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
	struct bcl_adi_peer *waiting; /* circular; the last served */
	unsigned nholds;	      /* peers that said HOLD */
	unsigned ngone;		      /* other ranks that are gone */

	/* request.c */
	struct bcl_adi_request done; /* all sends that left at once */
	struct bcl_request_slab **slabs;
	uint32_t nslabs, slabs_size;
	struct bcl_pool pool;

	/* unexpected.c */
	size_t unexpected_max; /* bytes per peer */
	size_t unexpected, unexpected_peak;

	/* schedule.c */
	struct bcl_adi_schedule *ready, **ready_last;

	/* send.c */
	size_t eager_long; /* bytes, by paths that take long messages */

	/* packet.c */
	struct bcl_adi_packet_ops packet_ops;
	void *packet_arg;
	struct bcl_adi_idle packet_idle; /* since the last event */
	unsigned vain;			 /* polls since then, or a yield */
	bool packets_follow;		 /* one another by the same way */

	/* keepalive.c */
	uint64_t keepalive_at;	 /* ns; 0: nobody has waited yet */
	unsigned keepalive_next; /* rank to begin with */

	/* oob.c */
	struct bcl_adi_client *client;

	/* put.c */
	struct bcl_adi_target *targets;

	/* wait.c: threads */
	pthread_mutex_t lock;
	_Atomic unsigned wanted; /* threads that wait for the lock */
	_Atomic bool woken;	 /* bcl_adi_packet_wake() */
	unsigned sleepers;
	bool wake;    /* one of them has what it waits for */
	bool turned;  /* the port was polled: it is armed no longer */
	bool napping; /* a sleeper comes back by itself, for the chores */
	int object;   /* wakes the sleepers */
	int group;    /* it and the port */

	struct bcl_match match;

	struct bcl_adi_some_ranks first; /* part of `ranks` */
};

/* Tags of one context; a set bit cannot be part of a tag. */
static inline bool bcl_adi_key_valid(uint64_t key)
{
	return !(key & 0x80000000);
}

/* ---- request.c ---- */

/* More of them on the free list; false: no memory. */
bool bcl_requests_grow(struct bcl_adi *adi);

/* The first of the free list, which is not empty; nothing else of it is set. */
static inline struct bcl_adi_request *bcl_request_take(struct bcl_adi *adi)
{
	struct bcl_adi_request *request = adi->free;

	adi->free = request->next;
	request->generation++;
	request->end = 0;
	request->niov = 0;
	return request;
}

/* NULL: no memory. */
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

/* Names a request to a peer. */
uint64_t bcl_request_id(const struct bcl_adi_request *request);
/* The request of this name, if it is in use, or NULL. */
struct bcl_adi_request *bcl_request_find(struct bcl_adi *adi, uint64_t id);
/* Call back for each request in use; it may be freed by that. */
void bcl_requests_each(struct bcl_adi *adi,
		       void (*call)(struct bcl_adi *adi,
				    struct bcl_adi_request *request, void *arg),
		       void *arg);
/* Keep a copy of the pieces. */
enum bcl_status bcl_request_set_iov(struct bcl_adi *adi,
				    struct bcl_adi_request *request,
				    const struct iovec *iov, unsigned niov);
/* What `end` says is to be done. */
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

/* The peer that is this rank, opened if need be; NULL: no memory. */
struct bcl_adi_peer *bcl_adi_peer_get(struct bcl_adi *adi, unsigned rank);
/* The record of a handle, made if there is none; NULL: no memory. */
struct bcl_adi_peer *bcl_adi_peer_of(struct bcl_adi *adi,
				     struct bcl_peer *handle);
/* Is the handle that of the rank? Learns it if it was not known. ARG: it is
 * not; NOMEM. */
enum bcl_status bcl_adi_peer_bind(struct bcl_adi *adi, unsigned rank,
				  struct bcl_peer *handle);
/* Send or queue what the request is about; it may be complete after that. */
void bcl_adi_submit(struct bcl_adi *adi, struct bcl_adi_request *request);

/* The same for a request that is a packet, whatever it carries. */
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

/* Take it out of its peer's queue. */
void bcl_adi_unqueue(struct bcl_adi_request *request);
/* The record of a handle, or NULL. */
static inline struct bcl_adi_peer *bcl_adi_peer_find(const struct bcl_adi *adi,
						     struct bcl_peer *handle)
{
	struct bcl_table_node *node =
		bcl_table_find(&adi->by_handle, (uintptr_t)handle);

	return node ? bcl_container(node, struct bcl_adi_peer, node) : NULL;
}

void bcl_request_append(struct bcl_request_queue *queue,
			struct bcl_adi_request *request);
void bcl_request_remove(struct bcl_request_queue *queue,
			struct bcl_adi_request *request);
void bcl_adi_owe(struct bcl_adi *adi, struct bcl_adi_peer *peer, unsigned owed);
/* What the peer keeps back may perhaps be announced now. */
void bcl_adi_peer_resume(struct bcl_adi *adi, struct bcl_adi_peer *peer);
/* BCL_CHORE_PEERS. True: something got on. */
bool bcl_adi_peers_serve(struct bcl_adi *adi);
/* BCL_EVENT_PEER. */
void bcl_adi_peer_event(struct bcl_adi *adi, struct bcl_peer *handle,
			enum bcl_status status);
void bcl_adi_peer_lose(struct bcl_adi *adi, struct bcl_adi_peer *peer,
		       enum bcl_status status);
/* LEFT has come: receives from the peer end, but those of closing. */
void bcl_adi_peer_left(struct bcl_adi *adi, struct bcl_adi_peer *peer);
/* False: no memory. Closing undoes either. */
bool bcl_adi_peers_open(struct bcl_adi *adi);
void bcl_adi_peers_close(struct bcl_adi *adi);

/* NULL: that rank was not talked to yet. */
static inline struct bcl_adi_peer *bcl_adi_known(const struct bcl_adi *adi,
						 unsigned rank)
{
	if (bcl_likely(rank < BCL_ADI_SOME_RANKS))
		return adi->first.peer[rank];
	return adi->ranks[rank / BCL_ADI_SOME_RANKS]
		->peer[rank % BCL_ADI_SOME_RANKS];
}

/* Will no other rank send anything any more? */
static inline bool bcl_adi_is_alone(const struct bcl_adi *adi)
{
	return bcl_unlikely(adi->ngone && adi->ngone + 1 == adi->size);
}

/* An eager message has left. */
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

/* Send the peer a message without bytes. The request is done when that is delivered,
 * and with it all before it. */
void bcl_adi_send_nothing(struct bcl_adi *adi, struct bcl_adi_peer *peer,
			  enum bcl_adi_type type, uint64_t immediate);

/* EAGER, of one piece. */
enum bcl_status bcl_adi_send_piece(struct bcl_peer *peer, uint64_t key,
				   const void *data, size_t length);

/* A message that does not leave at once. Set are buffer or iov, length, sync,
 * end. */
void bcl_adi_send_queued(struct bcl_adi *adi, struct bcl_adi_request *request,
			 unsigned rank, uint64_t key);
/* May the message be sent or announced now? */
bool bcl_adi_may_send(const struct bcl_adi_request *request);
/* Of several pieces: bcl_adi_iov_length(). */
bool bcl_adi_iov_sum(const struct iovec *iov, unsigned niov, size_t *length);

/* The length of all pieces; false: there is none. */
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

/* Advance a request that can be in a queue. AGAIN: it must wait. */
enum bcl_status bcl_request_push(struct bcl_adi *adi,
				 struct bcl_adi_request *request);
/* A request that is off its queue cannot go on. */
void bcl_request_fail(struct bcl_adi *adi, struct bcl_adi_request *request,
		      enum bcl_status status);
/* MATCHED */
void bcl_adi_matched(struct bcl_adi *adi, const struct bcl_event *event);
/* Copy the pieces to one place. */
void bcl_adi_gather(void *to, const struct iovec *iov, unsigned niov);
/* One system message of any number of pieces. */
enum bcl_status bcl_adi_send_pieces(struct bcl_peer *peer, unsigned type,
				    uint64_t immediate, const struct iovec *iov,
				    unsigned niov, size_t length);

/* ---- rendezvous.c: the sender ---- */

/* As bcl_request_push(), from EAGER on; from GRANT on. */
enum bcl_status bcl_request_offer(struct bcl_adi *adi,
				  struct bcl_adi_request *request);
enum bcl_status bcl_request_grant(struct bcl_adi *adi,
				  struct bcl_adi_request *request);
/* CALL */
void bcl_adi_call(struct bcl_adi *adi, const struct bcl_event *event);
/* BCL_EVENT_READ */
void bcl_adi_read(struct bcl_adi *adi, struct bcl_adi_request *request,
		  enum bcl_status status);

/* ---- fetch.c: the receiver ---- */

/* Get what was announced; status and buffer are set. */
void bcl_adi_fetch(struct bcl_adi *adi, struct bcl_adi_request *request,
		   struct bcl_adi_peer *peer, const void *ticket);
/* As bcl_request_push(), in state CALL; in state PULL. */
enum bcl_status bcl_request_call(struct bcl_adi *adi,
				 struct bcl_adi_request *request);
enum bcl_status bcl_request_pull(struct bcl_adi *adi,
				 struct bcl_adi_request *request);
/* TOKEN, DATA */
void bcl_adi_called(struct bcl_adi *adi, const struct bcl_event *event);
/* BCL_EVENT_PULLED */
void bcl_adi_pulled(struct bcl_adi *adi, struct bcl_adi_request *request,
		    enum bcl_status status);
/* Copy to the pieces from one place. */
void bcl_adi_scatter(const struct iovec *iov, unsigned niov, const void *from,
		     size_t length);

/* ---- receive.c ---- */

/* A message to or from a rank, with this tag. */
static inline bool bcl_adi_valid(const struct bcl_adi *adi, int rank, int tag,
				 unsigned context)
{
	/* one comparison for two: a negative tag is beyond all contexts */
	return bcl_likely(adi != NULL) && (unsigned)rank < adi->size &&
	       (context | ((unsigned)tag & 0x80000000)) <= BCL_ADI_CONTEXT_MAX;
}

/* The pattern of a receive; false: an argument is wrong. */
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

/* A receive of this pattern, of which nothing came. */
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

/* Post, or receive what has come already. */
void bcl_adi_start_receive(struct bcl_adi *adi, struct bcl_adi_request *request,
			   uint64_t key, enum bcl_match_class class);
/* ---- arrive.c ---- */

/* Receive a message that was kept, and is off the tables. */
void bcl_adi_receive_unexpected(struct bcl_adi *adi,
				struct bcl_adi_request *request,
				struct bcl_adi_message *message);
/* SYNC and ANNOUNCE, of a valid key that is the peer's. False: there is no
 * memory to keep it; nothing was done. */
bool bcl_adi_arrive(struct bcl_adi *adi, struct bcl_adi_peer *peer,
		    const struct bcl_event *event);
/* Drop the caller's messages that wait, and let their senders go on. */
void bcl_adi_discard_unexpected(struct bcl_adi *adi);

/* ---- unexpected.c ---- */

/* A message with a copy of its data or token; the caller fills in the rest.
 * NULL: no memory. */
struct bcl_adi_message *bcl_adi_message_new(struct bcl_adi *adi,
					    struct bcl_adi_peer *peer,
					    const void *data, size_t size);
/* It counts against the budget of its sender. */
void bcl_adi_message_count(struct bcl_adi *adi,
			   struct bcl_adi_message *message);
void bcl_adi_message_free(struct bcl_adi *adi, struct bcl_adi_message *message);
/* All that nobody has received, at the end. */
void bcl_adi_drop_unexpected(struct bcl_adi *adi);
/* Somebody wants such a message, and none has come. */
void bcl_adi_want(struct bcl_adi *adi, uint64_t key,
		  enum bcl_match_class class);
/* HOLD has come. */
void bcl_adi_hold_received(struct bcl_adi *adi, struct bcl_adi_peer *peer);

/* ---- packet.c ---- */

/* A packet has come. */
void bcl_adi_packet(struct bcl_adi *adi, const struct bcl_event *event);

/* ---- progress.c ---- */

/* bcl_poll() has said something else than EMPTY. */
void bcl_adi_polled(struct bcl_adi *adi, enum bcl_status status,
		    const struct bcl_event *event);
/* What adi->chores says. True: something got on. */
bool bcl_adi_do_chores(struct bcl_adi *adi);

/*
 * The peer whose message of a valid key this is. *taken: NULL says whether
 * it is done with, being malformed or of a stranger, or waits for memory.
 */
struct bcl_adi_peer *bcl_adi_sender(struct bcl_adi *adi, struct bcl_peer *from,
				    uint64_t key, bool *taken);

/* Turn until the request is done, which it is not; with up to so many messages
 * in a turn, if others are waited for, too. Other statuses: the job is
 * broken. */
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

/* NOTICE has come. */
void bcl_adi_oob_received(struct bcl_adi *adi, unsigned rank,
			  const struct bcl_event *event);

/* ---- keepalive.c ---- */

/* To be called when a wait is about to sleep until *end, which becomes the time
 * of the next call if that is sooner. True: ranks that are waited for were
 * asked whether they are there; turn again instead. */
bool bcl_adi_keepalive(struct bcl_adi *adi, uint64_t now, uint64_t *end);

/* ---- put.c ---- */

/* As bcl_request_push(), in state PUT. */
enum bcl_status bcl_request_put(struct bcl_adi *adi,
				struct bcl_adi_request *request);
/* BCL_EVENT_NOTIFY. False: there is no memory to keep it; nothing was done. */
bool bcl_adi_put_arrived(struct bcl_adi *adi, const struct bcl_event *event);

/* ---- wait.c ---- */

enum bcl_status bcl_adi_threads_open(struct bcl_adi *adi);
void bcl_adi_threads_close(struct bcl_adi *adi);
/* FORKED, or the lock is held if there are threads. */
enum bcl_status bcl_adi_enter_slowly(struct bcl_adi *adi);
void bcl_adi_unlock_threads(struct bcl_adi *adi);

/*
 * Turn until one of the requests is done; lock held, given up while nothing
 * happens. Returns its place in *index. Other statuses: the job is broken.
 */
enum bcl_status bcl_adi_wait_any(struct bcl_adi *adi,
				 struct bcl_adi_request *const *requests,
				 unsigned n, unsigned *index);

/*
 * After a turn in vain: spin, yield or sleep, at most until `end` (now()
 * time). See bcl_adi_idle().
 */
void bcl_adi_rest(struct bcl_adi *adi, struct bcl_adi_idle *idle, uint64_t end);

/* Nobody else calls, and this is no forked child. */
static inline bool bcl_adi_is_plain(const struct bcl_adi *adi)
{
	return bcl_likely(adi->plain_in == bcl_fork_generation());
}

/* FORKED: not entered. */
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

/* A receive of a schedule is over: did it get as many bytes as were due? */
void bcl_adi_schedule_check(struct bcl_adi *adi,
			    struct bcl_adi_request *request);
/* A message of the schedule is complete. */
void bcl_adi_schedule_message(struct bcl_adi *adi,
			      struct bcl_adi_request *request);
/* Take a message back: it ends, CANCELLED. False: the peer has begun. */
bool bcl_request_take_back(struct bcl_adi *adi,
			   struct bcl_adi_request *request);
/* BCL_CHORE_SCHEDULES. True: one is over. */
bool bcl_adi_schedules_serve(struct bcl_adi *adi);

#endif
