/* SPDX-License-Identifier: MIT */
/*
 * Declarations that only the files of transport/ itself share, beside
 * context.h. The paths use none of them.
 */
#ifndef BCL_INTERNAL_H
#define BCL_INTERNAL_H

#include "transport/context.h"

/* ---- address.c ---- */

/* True if a blob has room for all wires. */
bool bcl_address_fits(const struct bcl_wire_address *wires, unsigned n);
/*
 * Packs the address into a blob of BCL_ADDRESS_MAX bytes and returns the bytes
 * used. A wire for which there is no room is left out; a shorter wire behind it
 * may still have room.
 */
size_t bcl_address_pack(const struct bcl_address *address, void *blob);
/* ARG: the blob is malformed; VERSION: another version of the library made
 * it. */
enum bcl_status bcl_address_unpack(const void *blob, size_t length,
				   struct bcl_address *address);
/* Computes bcl_address.host from host name, boot id and virtual node. */
uint64_t bcl_address_host(const char *name, const uint8_t boot_id[16],
			  const char *node);

/* ---- event.c ---- */

/* Makes room for one more event, so that the next push cannot fail. NOMEM. */
enum bcl_status bcl_event_reserve(struct bcl_port *port);
static inline bool bcl_event_pending(const struct bcl_port *port)
{
	return port->flags & BCL_PORT_EVENTS;
}
/* Takes the oldest event; the caller knows that there is one. */
void bcl_event_pop(struct bcl_port *port, struct bcl_event *event);
void bcl_event_free(struct bcl_port *port);

/* ---- peer.c ---- */

/* The search for a path begins: CONNECTING. */
void bcl_peer_connecting(struct bcl_peer *peer);
/* The program opens the peer. True: the caller has to connect the peer. */
bool bcl_peer_opened(struct bcl_peer *peer, const struct bcl_address *address);
void bcl_peers_free(struct bcl_port *port);
/* True if a peer to which a send was refused has room now. take: report each
 * such peer only once. */
bool bcl_peers_room(struct bcl_port *port, bool take);
/* Frees peers that are lost, or closed on the card path, and that neither
 * the caller nor a path holds. */
void bcl_peers_reap(struct bcl_port *port);

/* ---- channel.c ---- */

enum bcl_status bcl_channels_open(struct bcl_port *port);
void bcl_channels_close(struct bcl_port *port);
/* The card has filled a channel: frees it. `immediate` of the event is the
 * channel's number, and becomes 0. */
void bcl_channel_filled(struct bcl_port *port, struct bcl_event *event);

/* ---- self.c ---- */

extern const struct bcl_path_ops bcl_self_ops;
enum bcl_status bcl_self_open(struct bcl_port *port);
void bcl_self_close(struct bcl_port *port);
/* Frees the slot of the oldest message, which has been read. */
void bcl_self_release(struct bcl_port *port);

/* ---- memory.c ---- */

void bcl_memories_free(struct bcl_context *context);
/* env->share() gave nothing: logs the reason, from errno. Returns NOMEM or
 * SYSTEM. */
enum bcl_status bcl_memory_refused(struct bcl_context *context, size_t length);

/* ---- poll.c ---- */

/* Releases the last event's data. */
void bcl_port_release(struct bcl_port *port);
/* Looks for an event and stores it in port->stash for bcl_poll(). True if
 * there is one. */
bool bcl_port_stash(struct bcl_port *port);
/* Does the rare work: sockets of the shared path, timers, counters. */
void bcl_port_serve(struct bcl_port *port, uint64_t now);

/* ---- wait.c ---- */

/* Arms the port: from now on senders wake it. False: there is an event, or
 * room, already, and the port is not armed. */
bool bcl_port_arm(struct bcl_port *port);
void bcl_port_disarm(struct bcl_port *port);

/* ---- helper.c ---- */

/* Starts the helper thread, if the configuration and the environment have
 * one. */
enum bcl_status bcl_helper_open(struct bcl_context *context);
void bcl_helper_close(struct bcl_context *context);
/* The helper serves the port's sockets from now on, or no more. False: the
 * system has no memory for this. */
bool bcl_helper_watch(struct bcl_port *port);
void bcl_helper_unwatch(struct bcl_port *port);

#endif
