/* SPDX-License-Identifier: MIT */
/*
 * BCL's transport: ports, channels, remote memory access, events.
 *
 * A context is a process's access to the network and to shared memory. A
 * port is an end point in it. A peer is a local handle for a remote port,
 * made from the address blob that the remote side published by any means.
 * The caller never says how a peer is reached: inside a host through shared
 * memory, between nodes through the card.
 *
 * Nothing here blocks unless it says so. Every call makes some progress, but
 * only bcl_poll() and bcl_wait() report events. Errors are statuses
 * (bcl/status.h); results are written only on BCL_OK.
 *
 * Threads: a port belongs to one thread at a time (the caller serialises);
 * different ports of a context may be used by different threads if the
 * context was opened with BCL_THREADS. The ADI above is fully thread-safe.
 *
 * Wrong arguments, here and in the other headers: a handle, a result, or bytes
 * (of a length that is not 0) that are NULL, and a number out of its range, are
 * answered with ARG, and nothing happens. What has no status does nothing
 * then, or answers with 0, NULL, or -1. Where NULL means something, it is said.
 * Closing, releasing or freeing NULL is nothing. Handles that were closed are
 * not recognised.
 *
 * Fork: the parent goes on undisturbed. The child of a process that has
 * contexts open may exec or exit; any call in it returns BCL_ERR_FORKED, what
 * closes, releases or frees does nothing, and questions that have no status
 * are answered as in the parent.
 */
#ifndef BCL_BCL_H
#define BCL_BCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <bcl/status.h>
#include <bcl/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BCL_API __attribute__((visibility("default")))

struct bcl_context;
struct bcl_port;
struct bcl_peer;
struct bcl_memory;
struct bcl_env;

enum {
	BCL_ADDRESS_MAX = 96,	/* bytes of an address blob */
	BCL_KEY_MAX = 32,	/* bytes of a memory key, of a token */
	BCL_MESSAGE_MAX = 4352, /* bytes of a system message */
	BCL_LONG_MAX = 65792,	/* of a long one, where the path has these */
	BCL_LONG_PIECES = 3,
	BCL_GATHER_MAX = 16, /* elements of an iovec */
	BCL_TYPES = 64,	     /* message types 0..63 are the caller's */
};

/* A short text for a status, never NULL. */
BCL_API const char *bcl_strstatus(enum bcl_status status);

/* ---- contexts ---------------------------------------------------------- */

enum bcl_context_flags {
	BCL_THREADS = 1, /* ports are used by several threads */
};

struct bcl_context_options {
	unsigned flags;		   /* enum bcl_context_flags */
	const struct bcl_env *env; /* NULL: Linux; else e.g. a simulator */
	const uint8_t *job_key;	   /* 16 bytes, part of an address: who calls
				    * with another is refused; NULL: a new one,
				    * for who has an address of this context */
	unsigned local_ranks;	   /* processes of the job on this host, if
				    * known, else 0: decides about spinning */
};

/*
 * Open a context; options may be NULL. Configuration comes from BCL_...
 * environment variables (bcl-info --config lists them).
 * Errors: SYSTEM (what it refused is logged; without random numbers nothing is
 * opened), NOMEM, ARG (a variable out of its range is logged), FORKED.
 */
BCL_API enum bcl_status bcl_open(const struct bcl_context_options *options,
				 struct bcl_context **context);

/* Close it and all that hangs off it. Waits for nothing: unfinished sends
 * are lost; peers see the end at once. */
BCL_API void bcl_close(struct bcl_context *context);

/*
 * A number of the node: contexts have it in common that may share memory. With
 * BCL_SHM=off it is this context's alone.
 */
BCL_API uint64_t bcl_context_node(const struct bcl_context *context);

/* ---- ports and peers --------------------------------------------------- */

struct bcl_port_options {
	unsigned number;   /* 1..65535; 0: any free one */
	unsigned channels; /* posted at a time, at most; 0: a default */
};

BCL_API enum bcl_status bcl_port_open(struct bcl_context *context,
				      const struct bcl_port_options *options,
				      struct bcl_port **port);
BCL_API void bcl_port_close(struct bcl_port *port);

/*
 * The port's address: self-contained bytes that any process may turn into a
 * peer. address holds BCL_ADDRESS_MAX bytes; *length says how many are used.
 */
BCL_API enum bcl_status bcl_port_address(struct bcl_port *port, void *address,
					 size_t *length);

/*
 * A handle for the port that published the address; the same handle for the
 * same port each time, also if that port has already sent something here.
 * The connection is made in the background: sends answer AGAIN meanwhile.
 * A peer that was lost is connected anew. A port may be its own peer.
 * Errors: ARG (malformed), VERSION, NORAIL (another node, and no network).
 */
BCL_API enum bcl_status bcl_peer_open(struct bcl_port *port,
				      const void *address, size_t length,
				      struct bcl_peer **peer);

/*
 * Give the handle up; blocks for nothing. What was begun ends as always, with
 * its events: by later calls of bcl_poll() or bcl_wait(). Then, inside a host,
 * what the connection holds is given back, unless the other port has this one
 * opened: then it is kept as if that one had made it. A peer that neither ends
 * what it takes part in nor answers is given up after BCL_PEER_TIMEOUT.
 *
 * Messages that come meanwhile still name the handle, which may be used like
 * that of a port which was never opened: until BCL_EVENT_PEER says that it is
 * lost. Without a message there is no such event. The other port, if it has not
 * opened this one, is told so (BCL_ERR_DEAD), behind all that was sent to it.
 */
BCL_API void bcl_peer_close(struct bcl_peer *peer);

/* A pointer of the caller's, kept with the peer; NULL at first. */
BCL_API void bcl_peer_set_user(struct bcl_peer *peer, void *user);
BCL_API void *bcl_peer_user(const struct bcl_peer *peer);

enum bcl_path {
	BCL_PATH_NONE,	 /* not decided yet */
	BCL_PATH_SELF,	 /* the port itself */
	BCL_PATH_SHARED, /* shared memory inside the host */
	BCL_PATH_CARD,	 /* the card protocol */
};

enum bcl_peer_state {
	BCL_PEER_CONNECTING,
	BCL_PEER_UP,
	BCL_PEER_LOST,
};

struct bcl_peer_info {
	enum bcl_path path;
	enum bcl_peer_state state;
	enum bcl_status status; /* why it is lost */
	unsigned level;	  /* hierarchy: 0 self, 1 same host, 2 another node */
	bool attach;	  /* large messages are copied once */
	bool ring;	  /* card path: a packet ring is among the rails */
	uint64_t card;	  /* its card id */
	uint16_t number;  /* its port number */
	unsigned rails;	  /* card path: rails proved, one bit each */
	size_t longest;	  /* bytes of a message for bcl_send() with a cookie */
	double latency;	  /* us one way, typical of the path */
	double overhead;  /* us of processor time per message */
	double bandwidth; /* MB/s */
	char why[96];	  /* how the path was chosen, for people */
};

BCL_API void bcl_peer_info(const struct bcl_peer *peer,
			   struct bcl_peer_info *info);

/* ---- sending ----------------------------------------------------------- */

/*
 * The system channel: small messages, in order per pair of ports. `type` and
 * `immediate` travel with the message; iov holds up to BCL_GATHER_MAX
 * pieces, BCL_MESSAGE_MAX bytes in all. Between nodes it may be longer, with a
 * cookie and in up to BCL_LONG_PIECES pieces: as long as bcl_peer_info() says.
 * It is sent without asking for room, and held by the receiver's port until
 * that takes it; more than some at a time come again until there is room.
 *
 * cookie 0: the message is copied before the call returns and there is no
 * event. Otherwise the memory stays the library's until the event
 * BCL_EVENT_SENT with this cookie, which means: delivered into the
 * receiver's ring, or not (status).
 *
 * AGAIN: nothing was sent; poll, or wait, then repeat. While the peer is
 * CONNECTING (bcl_peer_info()) it is not connected yet, and BCL_EVENT_PEER
 * follows; otherwise a ring or queue is full, and bcl_wait() answers AGAIN when
 * there is room again. UNSUPPORTED: longer than the peer's path takes.
 * LOSS_PEER statuses: the peer is lost.
 */
BCL_API enum bcl_status bcl_send(struct bcl_peer *peer, unsigned type,
				 uint64_t immediate, const struct iovec *iov,
				 unsigned niov, uint64_t cookie);

/*
 * Pack in place: get room for `length` bytes in the path's own buffer, fill
 * it, then commit it as one system message (copied nowhere on the shared
 * path). Nothing else may be sent to this peer in between.
 */
BCL_API enum bcl_status bcl_reserve(struct bcl_peer *peer, size_t length,
				    void **room);
BCL_API enum bcl_status bcl_commit(struct bcl_peer *peer, unsigned type,
				   uint64_t immediate, size_t length);

/* ---- posted channels: rendezvous --------------------------------------- */

/*
 * Post a buffer for one message to this port's channel (0..channels-1). When
 * it has come BCL_EVENT_CHANNEL with the cookie follows (TRUNCATED: it was
 * longer; the event's length is that of the buffer). BUSY: the channel is
 * posted already.
 */
BCL_API enum bcl_status bcl_post(struct bcl_port *port, unsigned channel,
				 void *buffer, size_t length, uint64_t cookie);

/* Take the buffer back. BUSY: data is arriving; the event will come. */
BCL_API enum bcl_status bcl_unpost(struct bcl_port *port, unsigned channel);

/* Send to a channel that the peer has posted; waits there until it is
 * posted. Not ordered with other messages. Event BCL_EVENT_SENT. UNSUPPORTED:
 * 4 GB or more to another node; bcl_offer() takes any length. */
BCL_API enum bcl_status bcl_send_channel(struct bcl_peer *peer,
					 unsigned channel, const void *buffer,
					 size_t length, uint64_t cookie);

/*
 * Offer memory for one reading by a peer: fills a token of BCL_KEY_MAX bytes
 * that the caller sends to the peer in any message. Event BCL_EVENT_READ
 * with the cookie when the peer has it. The memory is the library's until
 * then. Any length.
 */
BCL_API enum bcl_status bcl_offer(struct bcl_peer *peer, const void *buffer,
				  size_t length, uint64_t cookie, void *token);

/* Withdraw an offer that the peer has not begun to read, else BUSY. */
BCL_API enum bcl_status bcl_withdraw(struct bcl_peer *peer, const void *token);

/*
 * Fetch what a peer offered, the first `length` bytes (at most what it
 * offered). Both sides copy at once inside a host; between nodes the peer's
 * card sends without the peer's program. Event BCL_EVENT_PULLED.
 */
BCL_API enum bcl_status bcl_pull(struct bcl_peer *peer, const void *token,
				 void *buffer, size_t length, uint64_t cookie);

/* ---- memory and remote memory access ------------------------------------ */

enum bcl_memory_rights {
	BCL_REMOTE_READ = 1,
	BCL_REMOTE_WRITE = 2,
	BCL_REMOTE_ATOMIC = 4,
};

/* Make [address, address + length) reachable for peers of this context. */
BCL_API enum bcl_status bcl_memory_register(struct bcl_context *context,
					    void *address, size_t length,
					    unsigned rights,
					    struct bcl_memory **memory);

/*
 * Allocate memory that peers inside the host may map: they load and store
 * it directly. Zeroed, page aligned, its pages reserved. NOMEM, and nothing
 * was taken, if that would not leave an eighth of the memory that the host,
 * and the process's control group, have available. SYSTEM: the system refuses
 * such memory, the log says how.
 */
BCL_API enum bcl_status bcl_memory_allocate(struct bcl_context *context,
					    size_t length, unsigned rights,
					    struct bcl_memory **memory);
BCL_API void *bcl_memory_address(const struct bcl_memory *memory);

/* Unregister or free. Accesses on their way fail with BCL_ERR_MEMORY. */
BCL_API void bcl_memory_release(struct bcl_memory *memory);

/* BCL_KEY_MAX bytes that name the memory to peers. */
BCL_API void bcl_memory_key(const struct bcl_memory *memory, void *key);

/*
 * Map a peer's allocated memory into this process; may block for one
 * exchange with the peer's process (its helper answers if it computes).
 * UNSUPPORTED: not on the shared path, or registered, not allocated. NOMEM: 64
 * of the peer's are mapped already.
 */
BCL_API enum bcl_status bcl_memory_map(struct bcl_peer *peer, const void *key,
				       void **address);
/* Once for each time it was mapped, also if the peer was lost since. What is not
 * unmapped stays until the port is closed. */
BCL_API void bcl_memory_unmap(struct bcl_peer *peer, const void *key);

/*
 * Remote access at `offset` into the memory that the key names. Completion
 * is BCL_EVENT_SENT with the cookie (put: visible at the target; get,
 * atomics: the result is in the buffer). The order of accesses among each
 * other and with messages is undefined except by bcl_fence() and
 * bcl_put_notify(). Atomics work on aligned 64-bit words.
 */
BCL_API enum bcl_status bcl_put(struct bcl_peer *peer, const void *key,
				uint64_t offset, const void *buffer,
				size_t length, uint64_t cookie);
BCL_API enum bcl_status bcl_get(struct bcl_peer *peer, const void *key,
				uint64_t offset, void *buffer, size_t length,
				uint64_t cookie);
/* A put, then the event BCL_EVENT_NOTIFY at the target's port with type and
 * immediate, in order with system messages. */
BCL_API enum bcl_status bcl_put_notify(struct bcl_peer *peer, const void *key,
				       uint64_t offset, const void *buffer,
				       size_t length, unsigned type,
				       uint32_t immediate, uint64_t cookie);
BCL_API enum bcl_status bcl_fetch_add(struct bcl_peer *peer, const void *key,
				      uint64_t offset, uint64_t addend,
				      uint64_t *result, uint64_t cookie);
BCL_API enum bcl_status bcl_compare_swap(struct bcl_peer *peer, const void *key,
					 uint64_t offset, uint64_t compare,
					 uint64_t swap, uint64_t *result,
					 uint64_t cookie);

/* Everything before it to this peer is complete there before anything after
 * it begins. Event BCL_EVENT_SENT. */
BCL_API enum bcl_status bcl_fence(struct bcl_peer *peer, uint64_t cookie);

/* ---- events -------------------------------------------------------------- */

enum bcl_event_kind {
	BCL_EVENT_MESSAGE, /* a system message: type, immediate, data */
	BCL_EVENT_SENT,	   /* cookie, status */
	BCL_EVENT_CHANNEL, /* a posted channel: cookie, length, status */
	BCL_EVENT_READ,	   /* an offer was read: cookie, status */
	BCL_EVENT_PULLED,  /* a pull ended: cookie, length, status */
	BCL_EVENT_NOTIFY,  /* put_notify arrived: type, immediate, length */
	BCL_EVENT_PEER,	   /* a peer came up or was lost: status */
};

struct bcl_event {
	enum bcl_event_kind kind;
	enum bcl_status status;
	struct bcl_peer *peer; /* where it came from or went to */
	uint64_t cookie;
	uint64_t immediate;
	const void *data; /* MESSAGE: 8-byte aligned, see bcl_poll() */
	size_t length;
	unsigned type;
};

/*
 * The next event of the port, if any: BCL_OK or BCL_ERR_EMPTY. One progress
 * turn. event->data stays valid until the next bcl_poll(), bcl_release(),
 * bcl_wait() or bcl_arm() on the port. event->peer may be a handle that was
 * never opened; then it is valid until it is reported lost.
 */
BCL_API enum bcl_status bcl_poll(struct bcl_port *port,
				 struct bcl_event *event);

/* Done with the last event's data, sooner than the next bcl_poll(). */
BCL_API void bcl_release(struct bcl_port *port);

/*
 * Wait until an event is there (BCL_OK; bcl_poll() will give it) or the time
 * is over (TIMEOUT), or there is room for a message that bcl_send() refused
 * with AGAIN (AGAIN, once for each such peer). Spins, yields, then sleeps, as
 * it pays. timeout in ns; UINT64_MAX: for ever. Blocks.
 */
BCL_API enum bcl_status bcl_wait(struct bcl_port *port, uint64_t timeout);

/*
 * A descriptor for poll(), select(), epoll: readable when the port may have
 * events, or room after AGAIN. Before sleeping on it call bcl_arm(): AGAIN
 * means there are events, or is room, already; OK means no wake-up will be lost
 * from now on.
 */
BCL_API int bcl_port_fd(struct bcl_port *port);
BCL_API enum bcl_status bcl_arm(struct bcl_port *port);

/* ---- nodes, counters, settings --------------------------------------------
 */

/* Isolate the node of a peer (it is treated as dead) and let it join again. */
BCL_API enum bcl_status bcl_node_isolate(struct bcl_peer *peer);
BCL_API enum bcl_status bcl_node_rejoin(struct bcl_peer *peer);

struct bcl_counter {
	const char *name; /* "area.name" */
	const char *text;
	uint64_t value;
};

/*
 * All counters of a context: fills up to *count entries and sets *count to
 * their number. counters may be NULL to ask for the number.
 */
BCL_API void bcl_counters(struct bcl_context *context,
			  struct bcl_counter *counters, size_t *count);

struct bcl_setting {
	const char *name; /* of the environment's variable: "BCL_..." */
	const char *text;
	char value[256]; /* in use, as one would write it */
};

/*
 * All settings of a context, the environment's or the defaults: fills up to
 * *count entries and sets *count to their number. settings may be NULL to ask
 * for the number.
 */
BCL_API void bcl_settings(const struct bcl_context *context,
			  struct bcl_setting *settings, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
