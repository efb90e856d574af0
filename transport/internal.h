/* SPDX-License-Identifier: MIT */
/*
 * What the files of transport/ itself share, beside context.h: nothing here
 * is for the paths.
 */
#ifndef BCL_INTERNAL_H
#define BCL_INTERNAL_H

#include "transport/context.h"

/* ---- address.c ---- */

/* Is there room for all of them in a blob? */
bool bcl_address_fits(const struct bcl_wire_address *wires, unsigned n);
/* Into BCL_ADDRESS_MAX bytes; returns how many. Wires that find no room are
 * left out, the last first. */
size_t bcl_address_pack(const struct bcl_address *address, void *blob);
/* ARG: malformed; VERSION: of another version of the library. */
enum bcl_status bcl_address_unpack(const void *blob, size_t length,
				   struct bcl_address *address);
/* struct bcl_address.host: of host name, boot id and virtual node. */
uint64_t bcl_address_host(const char *name, const uint8_t boot_id[16],
			  const char *node);

/* ---- event.c ---- */

/* Room for one more event, so that the next push cannot fail. */
enum bcl_status bcl_event_reserve(struct bcl_port *port);
static inline bool bcl_event_pending(const struct bcl_port *port)
{
	return port->flags & BCL_PORT_EVENTS;
}
/* The oldest event; there is one. */
void bcl_event_pop(struct bcl_port *port, struct bcl_event *event);
void bcl_event_free(struct bcl_port *port);

/* ---- peer.c ---- */

void bcl_peers_free(struct bcl_port *port);
/* A peer for which there was no room has some. take: of each is told once. */
bool bcl_peers_room(struct bcl_port *port, bool take);
/* Forget peers that are lost and that nobody holds. */
void bcl_peers_reap(struct bcl_port *port);

/* ---- channel.c ---- */

enum bcl_status bcl_channels_open(struct bcl_port *port);
void bcl_channels_close(struct bcl_port *port);
/* BCL_EVENT_CHANNEL from the card: its `immediate` is the channel. */
void bcl_channel_filled(struct bcl_port *port, struct bcl_event *event);

/* ---- self.c ---- */

extern const struct bcl_path_ops bcl_self_ops;
enum bcl_status bcl_self_open(struct bcl_port *port);
void bcl_self_close(struct bcl_port *port);
/* The oldest message has been read. */
void bcl_self_release(struct bcl_port *port);

/* ---- memory.c ---- */

void bcl_memories_free(struct bcl_context *context);
/* env->share() gave nothing: says so with errno's reason; NOMEM or SYSTEM. */
enum bcl_status bcl_memory_refused(struct bcl_context *context, size_t length);

/* ---- poll.c ---- */

/* Let the last event's data go. */
void bcl_port_release(struct bcl_port *port);
/* Look for an event and keep it for bcl_poll(). */
bool bcl_port_stash(struct bcl_port *port);
/* The rare work: sockets of the shared path, timers, counters. */
void bcl_port_serve(struct bcl_port *port, uint64_t now);

/* ---- wait.c ---- */

/* From now on senders wake the port; false: there is an event already, and
 * it is not armed. */
bool bcl_port_arm(struct bcl_port *port);
void bcl_port_disarm(struct bcl_port *port);

/* ---- helper.c ---- */

/* Starts the helper thread if the configuration and the environment have
 * one. */
enum bcl_status bcl_helper_open(struct bcl_context *context);
void bcl_helper_close(struct bcl_context *context);
/* It serves the port's sockets from now on, or no more. False: no memory for
 * that in the system. */
bool bcl_helper_watch(struct bcl_port *port);
void bcl_helper_unwatch(struct bcl_port *port);

#endif
