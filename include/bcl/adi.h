/* SPDX-License-Identifier: MIT */
/*
 * The abstract device interface: a job of ranks that exchange tagged messages.
 *
 * A message carries a context, the rank of its sender and a tag. A receive
 * names a context, a source or BCL_ANY_SOURCE, and a tag or BCL_ANY_TAG.
 * Messages of one sender and context are matched in the order in which they
 * were sent, by receives in the order in which the receives were posted.
 *
 * Short messages are sent eagerly. The receiver buffers an eager message while
 * no receive is posted for it, up to a budget per sender (BCL_UNEXPECTED).
 * Longer messages, and all messages beyond the budget, are only announced; the
 * receiver fetches the data once the message has matched.
 *
 * No function blocks unless its comment says so. If the job was opened with
 * BCL_ADI_THREADS, any thread may call any function; otherwise one thread at a
 * time may call. Wrong arguments: see bcl/bcl.h.
 *
 * The library detects a rank that dies, or that has left (bcl/status.h).
 * Operations that name the rank end with a LOSS_PEER status; other operations
 * continue. A receive also ends with a LOSS_PEER status if its source is in
 * bcl_adi_close() and has not sent the message, or, with BCL_ANY_SOURCE, if all
 * other ranks are lost or have left.
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
	/* The caller may use contexts 0..0xefff; the library uses the rest. */
	BCL_ADI_CONTEXT_MAX = 0xefff,
};

enum bcl_adi_flags {
	BCL_ADI_THREADS = 1, /* several threads call */
};

struct bcl_adi_options {
	size_t struct_size;	     /* sizeof(struct bcl_adi_options) */
	unsigned flags;		     /* enum bcl_adi_flags */
	struct bcl_context *context; /* NULL: the ADI opens and closes one */
	const struct bcl_boot *boot; /* NULL: the launcher that started the
				      * process, or a job of one without a
				      * launcher */
};

/*
 * Joins the job. Collective over the ranks of the job; blocks until all
 * addresses are known. options may be NULL. Ranks connect when they first need
 * each other. A rank that gets an error has told the other ranks, and is lost
 * to them when they need it. A process can join the job of its launcher once: a
 * second call, during the job or after it, returns BUSY. A process may join a
 * job of one, or of a lent key-value space (bcl/boot.h), any number of times.
 * The caller leaves the job with bcl_adi_close().
 * Errors: BOOT, SYSTEM, NOMEM, VERSION, BUSY, FORKED.
 */
BCL_API enum bcl_status bcl_adi_open(const struct bcl_adi_options *options,
				     struct bcl_adi **adi);

/*
 * Leaves the job. Blocks until every message of this rank is delivered or its
 * receiver is lost, and all ranks that live have called bcl_adi_close().
 * Messages that arrived and were not received are dropped.
 */
BCL_API void bcl_adi_close(struct bcl_adi *adi);

BCL_API unsigned bcl_adi_rank(const struct bcl_adi *adi);
BCL_API unsigned bcl_adi_size(const struct bcl_adi *adi);
/*
 * The context below the ADI, the caller's or the ADI's own, and the ADI's port.
 * The peers of bcl_adi_peer() are peers of this port. The ADI takes all events
 * of the port, so the caller opens another port for its own operations.
 */
BCL_API struct bcl_context *bcl_adi_context(const struct bcl_adi *adi);
BCL_API struct bcl_port *bcl_adi_port(const struct bcl_adi *adi);
/* Gives the transport's handle for a rank; begins to connect if the ranks
 * have not talked yet. A LOSS_PEER status: the rank is lost. */
BCL_API enum bcl_status bcl_adi_peer(struct bcl_adi *adi, unsigned rank,
				     struct bcl_peer **peer);

/* ---- tagged messages ----------------------------------------------------- */

/* How a receive, probe or send ended. Does not grow: each message has one, and
 * bcl_adi_waitall() fills in an array. */
struct bcl_adi_status {
	int source;    /* of the message; without a message, as the receive
			* named it */
	int tag;       /* likewise */
	size_t length; /* bytes that arrived; TRUNCATED: bytes that were sent */
	enum bcl_status status;
};

/*
 * Start a send or a receive. The buffer belongs to the library until the
 * request is complete. The call that reports the completion frees the request
 * and sets *request to NULL (bcl_adi_test() etc.). A send is complete when the
 * caller may use the buffer again; a synchronous send (issend) is complete only
 * after the message was matched, too.
 *
 * Errors (nothing was started): ARG, NOMEM, FORKED. A lost peer is reported in
 * the completion of the request.
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
 * The same with a gathered or scattered buffer of up to 65535 pieces; the iovec
 * is copied. The side that has pieces moves a long message through one
 * contiguous buffer: one copy more, and NOMEM if there is no memory for the
 * buffer.
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

/* Start and wait: blocks until the operation ends. status may be NULL. */
BCL_API enum bcl_status bcl_adi_send(struct bcl_adi *adi, const void *buffer,
				     size_t length, int destination, int tag,
				     unsigned context);
BCL_API enum bcl_status bcl_adi_recv(struct bcl_adi *adi, void *buffer,
				     size_t length, int source, int tag,
				     unsigned context,
				     struct bcl_adi_status *status);

/*
 * Completion. A call that reports the end of a request returns the status of
 * the request, frees the request and sets *request to NULL. A NULL request is
 * complete (OK). status, if not NULL, receives the details.
 *
 * bcl_adi_test() does not block. AGAIN: the request is not complete yet.
 */
BCL_API enum bcl_status bcl_adi_test(struct bcl_adi *adi,
				     struct bcl_adi_request **request,
				     struct bcl_adi_status *status);
/* Returns true if the request is complete. Makes no turn of the progress
 * engine, and leaves the request to a call that reports its end. */
BCL_API bool bcl_adi_done(struct bcl_adi *adi,
			  const struct bcl_adi_request *request);
/* Blocks until the request is complete. */
BCL_API enum bcl_status bcl_adi_wait(struct bcl_adi *adi,
				     struct bcl_adi_request **request,
				     struct bcl_adi_status *status);
/* Blocks until all n requests are complete; returns the first status that is
 * not OK. statuses: n entries, or NULL. */
BCL_API enum bcl_status bcl_adi_waitall(struct bcl_adi *adi,
					struct bcl_adi_request **requests,
					unsigned n,
					struct bcl_adi_status *statuses);
/* Blocks until one of n requests is complete; *index is its place. EMPTY:
 * all requests were NULL. */
BCL_API enum bcl_status bcl_adi_waitany(struct bcl_adi *adi,
					struct bcl_adi_request **requests,
					unsigned n, unsigned *index,
					struct bcl_adi_status *status);
/* Takes back a receive that has not matched; the request completes with
 * CANCELLED. BUSY: the receive has matched, and will complete. */
BCL_API enum bcl_status bcl_adi_cancel(struct bcl_adi *adi,
				       struct bcl_adi_request *request);

/*
 * Tells whether there is a message that such a receive would match, and
 * describes the message in *status, which may be NULL. EMPTY: there is none. A
 * LOSS_PEER status: there is none, and the source is lost or has left.
 */
BCL_API enum bcl_status bcl_adi_iprobe(struct bcl_adi *adi, int source, int tag,
				       unsigned context,
				       struct bcl_adi_status *status);
/* The same, and takes the message out: from now on only bcl_adi_imrecv()
 * with this *message can receive it. */
BCL_API enum bcl_status bcl_adi_improbe(struct bcl_adi *adi, int source,
					int tag, unsigned context,
					struct bcl_adi_message **message,
					struct bcl_adi_status *status);
/* Starts to receive the message; sets *message to NULL. NOMEM: nothing was
 * started. */
BCL_API enum bcl_status bcl_adi_imrecv(struct bcl_adi *adi, void *buffer,
				       size_t length,
				       struct bcl_adi_message **message,
				       struct bcl_adi_request **request);

/* Makes one turn of the progress engine. */
BCL_API void bcl_adi_progress(struct bcl_adi *adi);

/* ---- packets: for layers that match for themselves (ch3) ---- */

/*
 * Upcalls of the packet layer, which bcl_adi_packet_open() hands down once,
 * before the first packet. Any function of the ADI may make upcalls before it
 * returns, on its thread and with the job's lock held, which the thread may
 * take again. An upcall may send packets, announce and pull, but must not wait
 * or block. receive NULL: packets are dropped, with a counter. peer NULL: the
 * layer need not know. complete may be NULL only if no operation has a cookie.
 */
struct bcl_adi_packet_ops {
	size_t struct_size; /* sizeof(struct bcl_adi_packet_ops) */

	/* A packet has arrived: header and payload in one piece, 8-byte
	 * aligned, valid during the upcall. `type` is the sender's. */
	void (*receive)(void *arg, struct bcl_peer *peer, unsigned type,
			const void *packet, size_t length);
	/* A send, announcement or pull with this cookie is complete, once: its
	 * memory is the caller's again. The upcall may come before the call
	 * that began the operation returns. */
	void (*complete)(void *arg, uint64_t cookie, enum bcl_status status);
	/* A peer is up (OK), or lost with this status. Operations that were
	 * queued for the peer have been completed with the status before. */
	void (*peer)(void *arg, struct bcl_peer *peer, enum bcl_status status);
};

enum {
	BCL_PACKET_TYPES = 16,	/* packet types 0..15 */
	BCL_PACKET_TICKET = 40, /* bytes that tell a peer how to pull */
};

/* Hands the upcalls down; `arg` is their first argument. The library copies
 * *ops. */
BCL_API enum bcl_status
bcl_adi_packet_open(struct bcl_adi *adi, const struct bcl_adi_packet_ops *ops,
		    void *arg);

/* Gives a peer of the job's port for an address, also beyond the job
 * (connect and accept). Statuses are those of bcl_peer_open(). */
BCL_API enum bcl_status bcl_adi_packet_peer(struct bcl_adi *adi,
					    const void *address, size_t length,
					    struct bcl_peer **peer);

/*
 * Returns the most bytes of a packet for this peer on its present path:
 * BCL_MESSAGE_MAX, or more. A packet of more than BCL_MESSAGE_MAX bytes never
 * leaves at once.
 */
BCL_API size_t bcl_adi_packet_longest(const struct bcl_peer *peer);

/*
 * Sends a packet, in order with all other packets to this peer: header_length
 * bytes, copied before the call returns, then the pieces, at most
 * bcl_adi_packet_longest() bytes in all. cookie 0: there is no completion, and
 * the library also copies the pieces if the packet cannot leave at once.
 * Otherwise the pieces belong to the library until complete(cookie). A packet
 * that cannot leave is queued; the call never returns AGAIN.
 * Errors: ARG (also: too long), NOMEM, LOSS_PEER statuses.
 */
BCL_API enum bcl_status
bcl_adi_packet_send(struct bcl_adi *adi, struct bcl_peer *peer, unsigned type,
		    const void *header, size_t header_length,
		    const struct iovec *iov, unsigned niov, uint64_t cookie);

/*
 * The same without a cookie, and only if the packet can leave at once. AGAIN:
 * the packet cannot, and nothing was sent.
 */
BCL_API enum bcl_status
bcl_adi_packet_try(struct bcl_adi *adi, struct bcl_peer *peer, unsigned type,
		   const void *header, size_t header_length,
		   const struct iovec *iov, unsigned niov);

/* Does the same for a packet of a header of one word and one piece,
 * BCL_MESSAGE_MAX bytes at most. */
BCL_API enum bcl_status bcl_adi_packet_word(struct bcl_adi *adi,
					    struct bcl_peer *peer,
					    unsigned type, uint64_t word,
					    const void *data, size_t length);

/*
 * Offers memory to a peer and sends a packet that announces the offer. The
 * library copies the packet before the call returns, and writes a ticket of
 * BCL_PACKET_TICKET bytes into it at ticket_at. The memory belongs to the
 * library until complete(cookie), which follows when the peer has pulled the
 * memory. Offer and packet are queued if they cannot start at once, in order
 * with other packets.
 */
BCL_API enum bcl_status
bcl_adi_packet_announce(struct bcl_adi *adi, struct bcl_peer *peer,
			unsigned type, const void *packet, size_t packet_length,
			size_t ticket_at, const void *buffer, size_t length,
			uint64_t cookie);

/*
 * Takes back the announcement with this cookie: complete(cookie) is called with
 * CANCELLED before the call returns. BUSY: the peer has begun to pull. EMPTY:
 * no announcement has this cookie, or it has ended.
 */
BCL_API enum bcl_status bcl_adi_packet_withdraw(struct bcl_adi *adi,
						uint64_t cookie);

/* Fetches the first `length` bytes of the memory that the ticket stands for.
 * The buffer belongs to the library until complete(cookie). */
BCL_API enum bcl_status bcl_adi_packet_pull(struct bcl_adi *adi,
					    struct bcl_peer *peer,
					    const void *ticket, void *buffer,
					    size_t length, uint64_t cookie);

/*
 * Progress for a layer that waits by itself.
 *  poll()  handles packets that have arrived, up to a bound if they come by
 *          the same path, and returns how many
 *  next()  blocks until there is a packet, and handles it likewise
 *  wait()  blocks, as bcl_wait() does, until there is an event, `timeout` ns
 *          have passed (TIMEOUT), or another thread calls wake(). While
 *          something is queued wait() returns soon, so that poll() can retry
 *  wake()  ends wait(), but not next(); needs BCL_ADI_THREADS
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
