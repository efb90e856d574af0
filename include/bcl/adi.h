/* SPDX-License-Identifier: MIT */
/*
 * The abstract device interface: a job of ranks that exchange tagged
 * messages.
 *
 * A message carries (context, source rank, tag). A receive names a context
 * and either a source and a tag or wildcards; messages of one sender and
 * context are matched in the order in which they were sent, by the receives
 * in the order in which they were posted.
 *
 * Short messages are sent eagerly and buffered at the receiver when no
 * receive is posted, up to a budget per sender (BCL_UNEXPECTED); longer ones,
 * and all beyond the budget, announce themselves and are fetched by the
 * receiver when it has matched them.
 *
 * Nothing blocks unless it says so. Any thread may call anything if the job
 * was opened with BCL_ADI_THREADS; else one thread at a time.
 *
 * A rank that dies, or that has left, is found out (bcl/status.h): operations
 * that name it end with a LOSS_PEER status, the others go on. A receive from a
 * rank that is in bcl_adi_close(), of a message that it has not sent, ends so,
 * too; and one of any source when all other ranks are lost or have left.
 */
#ifndef BCL_ADI_H
#define BCL_ADI_H

#include <bcl/bcl.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bcl_adi;
struct bcl_adi_request;
struct bcl_adi_message;
struct bcl_boot;

enum {
	BCL_ANY_SOURCE = -1,
	BCL_ANY_TAG = -1, /* tags are 0..INT32_MAX */
	BCL_ADI_RANKS_MAX = 65536,
	/* Contexts 0..0xefff are the caller's; the rest are the library's. */
	BCL_ADI_CONTEXT_MAX = 0xefff,
};

enum bcl_adi_flags {
	BCL_ADI_THREADS = 1, /* several threads will call */
};

struct bcl_adi_options {
	unsigned flags;
	struct bcl_context *context; /* NULL: one is opened, and closed */
	const struct bcl_boot *boot; /* NULL: the launcher that started us;
				      * none: a job of one */
};

/*
 * Join the job: collective over its ranks, blocks until all addresses are
 * known. options may be NULL. Connections are made when first used. A rank that
 * gets an error has told the others, to whom it is lost when they need it.
 * A process can join its launcher's job once: BUSY, beside that or after it. A
 * job of one, or of a space that is lent, may be joined as often as one likes.
 * Errors: BOOT, SYSTEM, NOMEM, VERSION, BUSY, FORKED.
 */
BCL_API enum bcl_status bcl_adi_open(const struct bcl_adi_options *options,
				     struct bcl_adi **adi);

/*
 * Leave it: blocks until every own message is delivered or its receiver is
 * lost, and all ranks that live have arrived here. Messages that came and
 * were not received are dropped.
 */
BCL_API void bcl_adi_close(struct bcl_adi *adi);

BCL_API unsigned bcl_adi_rank(const struct bcl_adi *adi);
BCL_API unsigned bcl_adi_size(const struct bcl_adi *adi);
/* The transport below; peers are those of this port, which takes its events
 * for its own: operations of the caller need another port. */
BCL_API struct bcl_context *bcl_adi_context(const struct bcl_adi *adi);
BCL_API struct bcl_port *bcl_adi_port(const struct bcl_adi *adi);
/* The transport's handle for a rank; connects if it was not yet. */
BCL_API enum bcl_status bcl_adi_peer(struct bcl_adi *adi, unsigned rank,
				     struct bcl_peer **peer);

/* ---- tagged messages ----------------------------------------------------- */

/* How a receive, probe or send ended. */
struct bcl_adi_status {
	int source;    /* of the message; if none came: as was asked for */
	int tag;       /* likewise */
	size_t length; /* bytes that arrived; TRUNCATED: that were sent */
	enum bcl_status status;
};

/*
 * Start a send or a receive. The buffer is the library's until the request
 * is complete. *request is freed by the call that reports its completion.
 * A send is complete when its buffer may be used again; a synchronous one
 * (issend) also only after its message was matched.
 *
 * Errors (nothing started): ARG, NOMEM; a lost peer is reported by the
 * request's completion.
 */
BCL_API enum bcl_status bcl_adi_isend(struct bcl_adi *adi, const void *buffer,
				      size_t length, int destination, int tag,
				      unsigned context,
				      struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_adi_issend(struct bcl_adi *adi, const void *buffer,
				       size_t length, int destination, int tag,
				       unsigned context,
				       struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_adi_irecv(struct bcl_adi *adi, void *buffer,
				      size_t length, int source, int tag,
				      unsigned context,
				      struct bcl_adi_request **request);

/*
 * The same with a gathered or scattered buffer of up to 65535 pieces; the
 * iovec is copied. Long messages go through one piece of memory on the side
 * that has pieces: a copy more, and NOMEM if there is none for it.
 */
BCL_API enum bcl_status bcl_adi_isendv(struct bcl_adi *adi,
				       const struct iovec *iov, unsigned niov,
				       int destination, int tag,
				       unsigned context,
				       struct bcl_adi_request **request);
BCL_API enum bcl_status bcl_adi_irecvv(struct bcl_adi *adi,
				       const struct iovec *iov, unsigned niov,
				       int source, int tag, unsigned context,
				       struct bcl_adi_request **request);

/* Start and wait. Block. status may be NULL. */
BCL_API enum bcl_status bcl_adi_send(struct bcl_adi *adi, const void *buffer,
				     size_t length, int destination, int tag,
				     unsigned context);
BCL_API enum bcl_status bcl_adi_recv(struct bcl_adi *adi, void *buffer,
				     size_t length, int source, int tag,
				     unsigned context,
				     struct bcl_adi_status *status);

/*
 * Completion. On OK, or when the status is that of the request's end, the
 * request is freed and *request set to NULL. NULL requests are complete.
 * AGAIN: not complete yet. The returned status is the request's; status, if
 * not NULL, has the details.
 */
BCL_API enum bcl_status bcl_adi_test(struct bcl_adi *adi,
				     struct bcl_adi_request **request,
				     struct bcl_adi_status *status);
/* Blocks. */
BCL_API enum bcl_status bcl_adi_wait(struct bcl_adi *adi,
				     struct bcl_adi_request **request,
				     struct bcl_adi_status *status);
/* All of n; statuses: n entries or NULL; returns the first bad one. Blocks. */
BCL_API enum bcl_status bcl_adi_waitall(struct bcl_adi *adi,
					struct bcl_adi_request **requests,
					unsigned n,
					struct bcl_adi_status *statuses);
/* One of n: its place in *index. EMPTY: all were NULL. Blocks. */
BCL_API enum bcl_status bcl_adi_waitany(struct bcl_adi *adi,
					struct bcl_adi_request **requests,
					unsigned n, unsigned *index,
					struct bcl_adi_status *status);
/* Take back a receive that has not matched (it completes with CANCELLED);
 * BUSY: it has matched and will complete. */
BCL_API enum bcl_status bcl_adi_cancel(struct bcl_adi *adi,
				       struct bcl_adi_request *request);

/* Is there a message that such a receive would match? EMPTY: no. */
BCL_API enum bcl_status bcl_adi_iprobe(struct bcl_adi *adi, int source, int tag,
				       unsigned context,
				       struct bcl_adi_status *status);
/* The same, and take it out: only bcl_adi_imrecv() can receive it now. */
BCL_API enum bcl_status bcl_adi_improbe(struct bcl_adi *adi, int source,
					int tag, unsigned context,
					struct bcl_adi_message **message,
					struct bcl_adi_status *status);
BCL_API enum bcl_status bcl_adi_imrecv(struct bcl_adi *adi, void *buffer,
				       size_t length,
				       struct bcl_adi_message **message,
				       struct bcl_adi_request **request);

/* One turn of the progress engine. */
BCL_API void bcl_adi_progress(struct bcl_adi *adi);

/* ---- packets: for layers that match for themselves (ch3, PVM) -------------
 */

/*
 * Handed down once, before the first packet. Called from the progress
 * engine, with its lock held: may send packets, not wait.
 */
struct bcl_adi_packet_ops {
	size_t size; /* sizeof(struct bcl_adi_packet_ops) of the caller */

	/* A packet has come: header and payload in one piece, 8-byte aligned,
	 * valid during the call. `type` as sent. */
	void (*receive)(void *arg, struct bcl_peer *peer, unsigned type,
			const void *packet, size_t length);
	/* A send, announcement or pull with this cookie is complete: perhaps
	 * before the call that began it returns. */
	void (*complete)(void *arg, uint64_t cookie, enum bcl_status status);
	/* A peer is up, or lost with its status. What was queued for it has
	 * been completed with the status before. */
	void (*peer)(void *arg, struct bcl_peer *peer, enum bcl_status status);
};

enum {
	BCL_PACKET_TYPES = 16,	/* packet types 0..15 */
	BCL_PACKET_TICKET = 40, /* bytes that say how to pull */
};

BCL_API enum bcl_status
bcl_adi_packet_open(struct bcl_adi *adi, const struct bcl_adi_packet_ops *ops,
		    void *arg);

/* A peer of the job's port, also beyond the job (connect and accept). */
BCL_API enum bcl_status bcl_adi_packet_peer(struct bcl_adi *adi,
					    const void *address, size_t length,
					    struct bcl_peer **peer);

/* The most bytes of a packet for this peer, by the path that it has now:
 * BCL_MESSAGE_MAX, or more. What is longer than that cannot leave at once. */
BCL_API size_t bcl_adi_packet_longest(const struct bcl_peer *peer);

/*
 * Send a packet, in order with all others to this peer: header_length bytes
 * (copied before the call returns), then the pieces, at most
 * bcl_adi_packet_longest() bytes in all. cookie 0: the pieces are copied, too,
 * if they cannot leave at once, and there is no completion; else they stay the
 * library's until complete(cookie). Never AGAIN: what cannot leave is
 * queued. ARG: too long; NOMEM; LOSS_PEER statuses.
 */
BCL_API enum bcl_status
bcl_adi_packet_send(struct bcl_adi *adi, struct bcl_peer *peer, unsigned type,
		    const void *header, size_t header_length,
		    const struct iovec *iov, unsigned niov, uint64_t cookie);

/*
 * The same, without a cookie, if it can leave at once. AGAIN: it cannot, and
 * nothing was sent.
 */
BCL_API enum bcl_status
bcl_adi_packet_try(struct bcl_adi *adi, struct bcl_peer *peer, unsigned type,
		   const void *header, size_t header_length,
		   const struct iovec *iov, unsigned niov);

/* Likewise, of a header that is one word, and one piece. */
BCL_API enum bcl_status bcl_adi_packet_word(struct bcl_adi *adi,
					    struct bcl_peer *peer,
					    unsigned type, uint64_t word,
					    const void *data, size_t length);

/*
 * Offer memory to a peer and tell it so by a packet, copied before the call
 * returns, in which a ticket of BCL_PACKET_TICKET bytes is put at ticket_at.
 * complete(cookie) when the peer has pulled the memory. Queued when it cannot
 * start at once, in order with other packets.
 */
BCL_API enum bcl_status
bcl_adi_packet_announce(struct bcl_adi *adi, struct bcl_peer *peer,
			unsigned type, const void *packet, size_t packet_length,
			size_t ticket_at, const void *buffer, size_t length,
			uint64_t cookie);

/*
 * Take back what was announced with this cookie: complete(cookie) is called
 * before the call returns, with CANCELLED. BUSY: the peer has begun to pull it.
 * EMPTY: nothing is announced with this cookie, or not any more.
 */
BCL_API enum bcl_status bcl_adi_packet_withdraw(struct bcl_adi *adi,
						uint64_t cookie);

/* Fetch what such a ticket is for, the first `length` bytes. */
BCL_API enum bcl_status bcl_adi_packet_pull(struct bcl_adi *adi,
					    struct bcl_peer *peer,
					    const void *ticket, void *buffer,
					    size_t length, uint64_t cookie);

/*
 * Progress for a layer with its own waiting. poll() handles what has come, up
 * to some events if they are by the same way, and says how many; next() waits
 * until there is something, and handles it likewise. wait() sleeps as
 * bcl_wait() does, until there is an event, the time (ns) is over, or another
 * thread calls wake() (which takes BCL_ADI_THREADS, and does not end next()).
 * While something is queued it returns soon, so that poll() can try again.
 */
BCL_API unsigned bcl_adi_packet_poll(struct bcl_adi *adi);
BCL_API enum bcl_status bcl_adi_packet_next(struct bcl_adi *adi);
BCL_API enum bcl_status bcl_adi_packet_wait(struct bcl_adi *adi,
					    uint64_t timeout);
BCL_API void bcl_adi_packet_wake(struct bcl_adi *adi);

#ifdef __cplusplus
}
#endif

#endif
