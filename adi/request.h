/* SPDX-License-Identifier: MIT */
/* Requests: their states, and request.c, which has their memory, their names,
 * and what follows when a request is done. */
#ifndef BCL_ADI_REQUEST_H
#define BCL_ADI_REQUEST_H

#include <sys/uio.h>

#include "adi/job.h"
#include "adi/match.h"
#include "base/base.h"

/*
 * State of a request: what the request waits for, and the state after that.
 *
 *  state      waits for                            then
 *  NEW        its start                            any state; done at once
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
	BCL_REQUEST_NEW,
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
	BCL_REQUEST_FREE, /* in the free list */
	BCL_REQUEST_STATES,
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

/* The request of all sends that left at once: done, and never written. */
extern const struct bcl_adi_request bcl_request_sent;

static inline struct bcl_adi_request *bcl_request_at_once(void)
{
	return (struct bcl_adi_request *)&bcl_request_sent;
}

/* Puts more requests on the free list. Returns false if there is no memory. */
bool bcl_requests_grow(struct bcl_adi *adi);

/* Takes the first request of the free list, which must not be empty. The caller
 * sets all fields but `generation`, `end` and `niov`, and starts the request.
 */
static inline struct bcl_adi_request *bcl_request_take(struct bcl_adi *adi)
{
	struct bcl_adi_request *request = adi->free;

	bcl_assert(bcl_adi_is_held(adi));
	bcl_assert(request && request->state == BCL_REQUEST_FREE);
	adi->free = request->next;
	request->generation++;
	request->state = BCL_REQUEST_NEW;
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

/* Frees a request that is done, or was never started. */
static inline void bcl_request_free(struct bcl_adi *adi,
				    struct bcl_adi_request *request)
{
	bcl_assert(bcl_adi_is_held(adi));
	bcl_assert(request->state == BCL_REQUEST_DONE ||
		   request->state == BCL_REQUEST_NEW);
	if (request == &bcl_request_sent)
		return;
	request->state = BCL_REQUEST_FREE;
	request->next = adi->free;
	adi->free = request;
}

/* Name of a request, for peers. Never 0. */
uint64_t bcl_request_id(const struct bcl_adi_request *request);
/* Finds a request by name. NULL: no request of this name is in use. */
struct bcl_adi_request *bcl_request_find(struct bcl_adi *adi, uint64_t id);
/* Calls back for each request that was started. The callback may free the
 * request. */
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
	bcl_assert(bcl_adi_is_held(adi));
	bcl_assert(request->state != BCL_REQUEST_DONE &&
		   request->state != BCL_REQUEST_FREE);
	request->status.status = status;
	request->state = BCL_REQUEST_DONE;
	if (bcl_unlikely(request->end))
		bcl_request_end(adi, request);
}

#endif
