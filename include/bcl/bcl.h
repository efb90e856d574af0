/* SPDX-License-Identifier: MIT */
/*
 * BCL's transport: ports, channels, remote memory access, events.
 *
 * A context is a process's access to the network and to shared memory. A port
 * is an end point in a context. A peer is a local handle for a remote port;
 * bcl_peer_open() makes a peer from the address blob that the remote side
 * published by any means. The caller never says how a peer is reached: the
 * library uses shared memory inside a host and the card between nodes.
 *
 * No function blocks unless its comment says so. Every call makes some
 * progress, but only bcl_poll() and bcl_wait() report events. Errors are
 * statuses (bcl/status.h). A function writes its results only if it returns
 * BCL_OK.
 *
 * Threads: one thread at a time uses a port, and the caller serialises.
 * Different threads may use different ports of a context if the context was
 * opened with BCL_THREADS. The ADI above is fully thread-safe.
 *
 * Wrong arguments, in this header and in the other headers: a handle, a result
 * pointer or a buffer of non-zero length that is NULL, and a number out of its
 * range, make the function return ARG, and nothing happens. A function that
 * returns no status then does nothing, or returns 0, NULL or -1. Where NULL has
 * a meaning, the comment of the function or field says it. Closing, releasing
 * or freeing NULL does nothing. The library does not recognise a handle that
 * was closed.
 *
 * Structs: a struct whose first member is struct_size may get more members at
 * its end in later versions. The caller sets struct_size to the sizeof of the
 * struct and initialises the other members; the library reads and writes only
 * that many bytes. Members that only the library's version has count as 0.
 * Members that only the caller's version has must be 0 in a struct that the
 * library reads (else UNSUPPORTED), and stay as they are in a struct that the
 * library fills in. A size below that of the first version, such as a size that
 * was forgotten, is refused (ARG). Structs without struct_size do not change.
 *
 * Fork: the parent continues undisturbed. The child of a process that has
 * contexts open may exec or exit. In the child every function that returns a
 * status returns BCL_ERR_FORKED, functions that close, release or free do
 * nothing, and queries without a status answer as in the parent.
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

enum {
	BCL_ADDRESS_MAX = 96,	/* bytes of an address blob */
	BCL_KEY_MAX = 32,	/* bytes of a memory key, of a token */
	BCL_MESSAGE_MAX = 4352, /* bytes of a system message */
	BCL_LONG_MAX = 65792,	/* of a long one, see bcl_send() */
	/* Pieces of a long message, at most. */
	BCL_LONG_PIECES = 3,
	BCL_GATHER_MAX = 16, /* elements of an iovec */
	BCL_TYPES = 64,	     /* types 0..63 belong to the caller */
};

/* Returns a short text for a status, never NULL. */
BCL_API const char *bcl_strstatus(enum bcl_status status);

/* ---- contexts ---------------------------------------------------------- */

enum bcl_context_flags {
	BCL_THREADS = 1, /* several threads use ports of the context */
};

struct bcl_context_options {
	size_t struct_size; /* sizeof(struct bcl_context_options) */
	unsigned flags;	    /* enum bcl_context_flags */
	/* Processes of the job on this host, 0: not known; decides whether
	 * waits spin. */
	unsigned local_ranks;
	/*
	 * 16 bytes, part of every address of the context. A card that calls
	 * with another key is refused. NULL: the library draws a key, for
	 * callers that have an address of this context.
	 */
	const uint8_t *job_key;
};

/*
 * Opens a context. options may be NULL. The configuration comes from the
 * environment variables BCL_... ("bcl-info --config" lists them). The caller
 * closes the context with bcl_close().
 * Errors: SYSTEM (the log says what the system refused; without random numbers
 * no context is opened), NOMEM, ARG (the log says which variable is out of its
 * range), FORKED. If BCL_CARD asks for the card in the kernel, also UNSUPPORTED
 * (there is none, or another setting excludes it), PERM, VERSION.
 */
BCL_API enum bcl_status bcl_open(const struct bcl_context_options *options,
				 struct bcl_context **context);

/* Closes the context and all ports, peers and memory of the context. Waits
 * for nothing: unfinished sends are lost, and peers see the end at once. */
BCL_API void bcl_close(struct bcl_context *context);

/*
 * Returns a number of the node. Contexts that may share memory have the same
 * number. With BCL_SHM=off no other context has the number.
 */
BCL_API uint64_t bcl_context_node(const struct bcl_context *context);

/* ---- ports and peers --------------------------------------------------- */

struct bcl_port_options {
	size_t struct_size; /* sizeof(struct bcl_port_options) */
	unsigned number;    /* 1..65535; 0: any free number */
	unsigned channels;  /* channels that may be posted; 0: a default */
};

/*
 * Opens a port; options may be NULL. The caller closes the port with
 * bcl_port_close().
 * Errors: BUSY (the number is taken), NOMEM (also: no space in shared memory,
 * no free number), SYSTEM, ARG, FORKED.
 */
BCL_API enum bcl_status bcl_port_open(struct bcl_context *context,
				      const struct bcl_port_options *options,
				      struct bcl_port **port);
/* Closes the port and its peers. A send to the port afterwards fails at the
 * sender: NOPORT. */
BCL_API void bcl_port_close(struct bcl_port *port);

/*
 * Writes the port's address: self-contained bytes from which any process may
 * make a peer. `address` has room for BCL_ADDRESS_MAX bytes; *length receives
 * the number of bytes used.
 */
BCL_API enum bcl_status bcl_port_address(struct bcl_port *port, void *address,
					 size_t *length);

/*
 * Makes a handle for the port that published the address. The same port has the
 * same handle each time, also if the port has already sent something to this
 * one. The library connects in the background; until the peer is UP, sends
 * return AGAIN. Opening a peer that was lost connects the peer anew. A port may
 * be its own peer.
 * Errors: ARG (the address is malformed), VERSION (the address comes from
 * another version of the protocol), NORAIL (the port is on another node, and
 * there is no network), NOMEM.
 */
BCL_API enum bcl_status bcl_peer_open(struct bcl_port *port,
				      const void *address, size_t length,
				      struct bcl_peer **peer);

/*
 * Gives the handle up; does not block. Operations that were begun end as
 * always, and later calls of bcl_poll() or bcl_wait() report their events.
 * After that, inside a host, both sides give back the descriptors, mappings and
 * memory of the connection. If the other port has opened this one, the
 * connection stays, as if only the other port had made it. After
 * BCL_PEER_TIMEOUT the library gives up a peer that neither ends the operations
 * it takes part in nor answers.
 *
 * Messages that arrive later still name the handle. The caller may use the
 * handle like the handle of a port that was never opened, until BCL_EVENT_PEER
 * says that the peer is lost. Without such a message there is no such event. If
 * the other port has not opened this one, the other port sees its peer lost
 * (BCL_ERR_DEAD) behind everything that was sent to it.
 */
BCL_API void bcl_peer_close(struct bcl_peer *peer);

/* A pointer that the caller keeps with the peer; NULL at first. */
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
	size_t struct_size; /* sizeof(struct bcl_peer_info), by the caller */
	enum bcl_path path;
	enum bcl_peer_state state;
	enum bcl_status status; /* LOST: the reason */
	unsigned level;	  /* hierarchy: 0 self, 1 same host, 2 another node */
	bool attach;	  /* large messages are copied only once */
	bool ring;	  /* card path: a packet ring is among the rails */
	uint64_t card;	  /* card id of the peer */
	uint16_t number;  /* port number of the peer */
	unsigned rails;	  /* card path: bit r: rail r is proved */
	size_t longest;	  /* bytes that bcl_send() takes with a cookie */
	double latency;	  /* us one way, typical of the path */
	double overhead;  /* us of processor time per message */
	double bandwidth; /* MB/s */
	char why[96];	  /* how the path was chosen, for people */
};

/* Fills in *info; a query, which reports no event. Errors: ARG, FORKED. */
BCL_API enum bcl_status bcl_peer_info(const struct bcl_peer *peer,
				      struct bcl_peer_info *info);

/* ---- sending ----------------------------------------------------------- */

/*
 * Sends a message on the system channel: small messages, in order from one port
 * to another. `type` (0..BCL_TYPES - 1) and `immediate` travel with the
 * message; iov holds up to BCL_GATHER_MAX pieces, BCL_MESSAGE_MAX bytes in all.
 * To another node a message may be longer if it has a cookie and at most
 * BCL_LONG_PIECES pieces: up to bcl_peer_info.longest bytes. A long message
 * leaves without a rendezvous, and the receiver's port stores it until the
 * receiver takes it. The port has room for some long messages at a time; the
 * sender's card sends the rest again when there is room.
 *
 * cookie 0: the library copies the message before the call returns, and there
 * is no event. Otherwise the memory belongs to the library until the event
 * BCL_EVENT_SENT with this cookie. The event means that the message was
 * delivered into the receiver's ring, or, if its status says so, that the
 * message was not delivered.
 *
 * AGAIN: nothing was sent; call bcl_poll() or bcl_wait(), then repeat. While
 * the peer is CONNECTING (bcl_peer_info()), BCL_EVENT_PEER follows when the
 * peer is up or lost. Otherwise a ring or queue is full, and bcl_wait() returns
 * AGAIN when there is room.
 * Other errors: UNSUPPORTED (longer than the path to the peer takes), a
 * LOSS_PEER status (the peer is lost), NOMEM, ARG, FORKED.
 */
BCL_API enum bcl_status bcl_send(struct bcl_peer *peer, unsigned type,
				 uint64_t immediate, const struct iovec *iov,
				 unsigned niov, uint64_t cookie);

/*
 * Packs a message in place: bcl_reserve() gives room for `length` bytes (at
 * most BCL_MESSAGE_MAX) in the path's own buffer; the caller fills the room and
 * sends the message with bcl_commit(), of at most the reserved length. There is
 * no event. On the shared path nothing is copied. Between the two calls the
 * caller sends nothing else to this peer. Statuses are those of bcl_send().
 */
BCL_API enum bcl_status bcl_reserve(struct bcl_peer *peer, size_t length,
				    void **room);
BCL_API enum bcl_status bcl_commit(struct bcl_peer *peer, unsigned type,
				   uint64_t immediate, size_t length);

/* ---- posted channels: rendezvous --------------------------------------- */

/*
 * Posts a buffer to this port's channel (0..channels-1), for one message. The
 * buffer belongs to the library until BCL_EVENT_CHANNEL with the cookie, which
 * follows when the message has arrived. The status TRUNCATED in the event means
 * that the message was longer; the event's length is then that of the buffer.
 * BUSY: the channel is posted already.
 *
 * A channel whose last buffer was this one, with this length, is most often
 * posted without a system call, unless a message waits for it. If the card in
 * the kernel finds later that it cannot have the buffer any more, the event
 * comes without a message, and without a peer: `peer` is NULL. Its status is
 * then that of the call: ARG, not all of the buffer is memory that can be
 * written; NOMEM.
 */
BCL_API enum bcl_status bcl_post(struct bcl_port *port, unsigned channel,
				 void *buffer, size_t length, uint64_t cookie);

/* Takes the buffer back. BUSY: data is arriving, and the event will follow.
 * ARG: the channel is not posted. */
BCL_API enum bcl_status bcl_unpost(struct bcl_port *port, unsigned channel);

/*
 * Sends to a channel of the peer. The message waits at the receiver until the
 * channel is posted, and is not ordered with other messages. The buffer belongs
 * to the library until BCL_EVENT_SENT. UNSUPPORTED: 4 GB or more to another
 * node; bcl_offer() takes any length. AGAIN and LOSS_PEER statuses as for
 * bcl_send(), here and for all operations below.
 */
BCL_API enum bcl_status bcl_send_channel(struct bcl_peer *peer,
					 unsigned channel, const void *buffer,
					 size_t length, uint64_t cookie);

/*
 * Offers memory, of any length, for one pull by the peer, and fills in `token`,
 * BCL_KEY_MAX bytes that the caller sends to the peer in any message. The
 * memory belongs to the library until BCL_EVENT_READ with the cookie, which
 * says that the peer has the data.
 */
BCL_API enum bcl_status bcl_offer(struct bcl_peer *peer, const void *buffer,
				  size_t length, uint64_t cookie, void *token);

/* Withdraws an offer; there is no event then. BUSY: the peer has begun to
 * read, and the event will follow. ARG: the token names no offer, or none
 * any more. */
BCL_API enum bcl_status bcl_withdraw(struct bcl_peer *peer, const void *token);

/*
 * Fetches the first `length` bytes of the peer's offer (ARG: more than the peer
 * offered). Inside a host both sides copy at once; between nodes the peer's
 * card sends without the peer's program. The buffer belongs to the library
 * until BCL_EVENT_PULLED.
 */
BCL_API enum bcl_status bcl_pull(struct bcl_peer *peer, const void *token,
				 void *buffer, size_t length, uint64_t cookie);

/* ---- memory and remote memory access ------------------------------------ */

enum bcl_memory_rights {
	BCL_REMOTE_READ = 1,
	BCL_REMOTE_WRITE = 2,
	BCL_REMOTE_ATOMIC = 4,
};

/*
 * Makes [address, address + length) reachable for peers of this context. The
 * caller owns the memory and leaves it mapped until bcl_memory_release().
 * `rights`: enum bcl_memory_rights.
 */
BCL_API enum bcl_status bcl_memory_register(struct bcl_context *context,
					    void *address, size_t length,
					    unsigned rights,
					    struct bcl_memory **memory);

/*
 * Allocates memory that peers inside the host may also map, to load and store
 * directly. The memory is zeroed and page aligned, and its pages are reserved.
 * NOMEM: the allocation would not leave an eighth of the memory that the host,
 * and the control group of the process, have available; nothing was taken.
 * SYSTEM: the system refuses shared memory; the log says why.
 */
BCL_API enum bcl_status bcl_memory_allocate(struct bcl_context *context,
					    size_t length, unsigned rights,
					    struct bcl_memory **memory);
BCL_API void *bcl_memory_address(const struct bcl_memory *memory);

/* Unregisters or frees the memory. Accesses that are under way fail at the
 * peer with BCL_ERR_MEMORY. */
BCL_API void bcl_memory_release(struct bcl_memory *memory);

/* Writes BCL_KEY_MAX bytes that name the memory to peers; the caller sends
 * them in any message. */
BCL_API void bcl_memory_key(const struct bcl_memory *memory, void *key);

/*
 * Maps memory that the peer allocated into this process. May block for one
 * exchange with the peer's process; the helper there answers while the program
 * computes. UNSUPPORTED: the peer is not on the shared path, or the memory was
 * registered, not allocated. NOMEM: 64 memories of the peer are mapped already.
 * ARG: the key belongs to another peer.
 */
BCL_API enum bcl_status bcl_memory_map(struct bcl_peer *peer, const void *key,
				       void **address);
/*
 * Undoes one bcl_memory_map(): the caller unmaps as often as it mapped, also if
 * the peer was lost since. A mapping that is left stays until the port is
 * closed.
 */
BCL_API void bcl_memory_unmap(struct bcl_peer *peer, const void *key);

/*
 * Remote access at `offset` bytes into the memory that the key names. An access
 * is complete with BCL_EVENT_SENT and its cookie: put data is then visible at
 * the target, and the result of get and atomics is in the buffer. Until then
 * the buffer belongs to the library. Accesses are ordered neither with one
 * another nor with messages, except by bcl_fence() and bcl_put_notify().
 * Atomics work on aligned 64-bit words and write the old value to *result.
 * ARG: an unaligned word, or a key of another peer. MEMORY, from the call or in
 * the event: no memory with this key, out of bounds, or without the right.
 * NOPORT in the event: the peer's port is closed.
 */
BCL_API enum bcl_status bcl_put(struct bcl_peer *peer, const void *key,
				uint64_t offset, const void *buffer,
				size_t length, uint64_t cookie);
BCL_API enum bcl_status bcl_get(struct bcl_peer *peer, const void *key,
				uint64_t offset, void *buffer, size_t length,
				uint64_t cookie);
/* A put, then the event BCL_EVENT_NOTIFY with `type` (0..BCL_TYPES - 1) and
 * `immediate` at the target's port, in order with system messages. */
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

/*
 * Every access and message to this peer before the fence is complete at the
 * peer before any access or message after the fence begins. BCL_EVENT_SENT
 * follows when the fence is complete.
 */
BCL_API enum bcl_status bcl_fence(struct bcl_peer *peer, uint64_t cookie);

/* ---- events -------------------------------------------------------------- */

enum bcl_event_kind {
	BCL_EVENT_MESSAGE, /* a system message: type, immediate, data */
	BCL_EVENT_SENT,	   /* cookie, status */
	BCL_EVENT_CHANNEL, /* a posted channel: cookie, length, status */
	BCL_EVENT_READ,	   /* the peer has read an offer: cookie, status */
	BCL_EVENT_PULLED,  /* a pull ended: cookie, length, status */
	BCL_EVENT_NOTIFY,  /* a put_notify arrived: type, immediate, length */
	BCL_EVENT_PEER,	   /* a peer came up (OK) or was lost: status */
};

/* Does not grow: bcl_poll() fills one in for each message. */
struct bcl_event {
	enum bcl_event_kind kind;
	enum bcl_status status;
	struct bcl_peer *peer; /* source or destination */
	uint64_t cookie;
	uint64_t immediate;
	const void *data; /* MESSAGE: 8-byte aligned, see bcl_poll() */
	size_t length;
	unsigned type;
};

/*
 * Makes one progress turn and fills in the port's next event. EMPTY: there is
 * none. event->data stays valid until the next bcl_poll(), bcl_release(),
 * bcl_wait() or bcl_arm() on the port. event->peer may be a handle that the
 * caller never opened; the handle is then valid until the peer is reported
 * lost.
 */
BCL_API enum bcl_status bcl_poll(struct bcl_port *port,
				 struct bcl_event *event);

/* Releases the last event's data before the next bcl_poll() does. */
BCL_API void bcl_release(struct bcl_port *port);

/*
 * Blocks until the port has an event, room, or the time is over.
 *  OK       there is an event; bcl_poll() gives it
 *  AGAIN    a peer has room for a message that a send refused with AGAIN;
 *           one AGAIN may stand for several peers
 *  TIMEOUT  `timeout` ns have passed; UINT64_MAX: wait for ever
 * The wait spins, then yields, then sleeps, as it pays.
 */
BCL_API enum bcl_status bcl_wait(struct bcl_port *port, uint64_t timeout);

/*
 * bcl_port_fd() returns a descriptor for poll(), select() or epoll that is
 * readable when the port may have events, or room after AGAIN. The port owns
 * the descriptor. The caller calls bcl_arm() before it sleeps on the
 * descriptor. OK: from now on no wake-up is lost. AGAIN: there is an event, or
 * room, already. -1: the port cannot be used.
 */
BCL_API int bcl_port_fd(struct bcl_port *port);
BCL_API enum bcl_status bcl_arm(struct bcl_port *port);

/* ---- nodes, counters, settings ---- */

/*
 * bcl_node_isolate() isolates the node of a peer: the library treats the node
 * as dead, and sends to its peers end with ISOLATED. bcl_node_rejoin() lets the
 * node join again. UNSUPPORTED: the peer is not on another node. ARG from
 * bcl_node_rejoin(): the node is not isolated.
 */
BCL_API enum bcl_status bcl_node_isolate(struct bcl_peer *peer);
BCL_API enum bcl_status bcl_node_rejoin(struct bcl_peer *peer);

/* Does not grow: bcl_counters() fills in an array. */
struct bcl_counter {
	const char *name; /* "area.name" */
	const char *text;
	uint64_t value;
};

/*
 * Fills in up to *count entries with counters of the context, and sets *count
 * to the number of counters that there are. counters may be NULL to ask for the
 * number. The texts belong to the library.
 */
BCL_API void bcl_counters(struct bcl_context *context,
			  struct bcl_counter *counters, size_t *count);

/* Does not grow: bcl_settings() fills in an array. */
struct bcl_setting {
	const char *name; /* of the environment variable: "BCL_..." */
	const char *text;
	char value[256]; /* in use, written as in the environment */
};

/*
 * Fills in up to *count entries with the settings of the context, from the
 * environment or by default, and sets *count to the number of settings that
 * there are. settings may be NULL to ask for the number. The texts belong to
 * the library.
 */
BCL_API void bcl_settings(const struct bcl_context *context,
			  struct bcl_setting *settings, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
