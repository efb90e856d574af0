/* SPDX-License-Identifier: MIT */
/*
 * Declarations that only the files of transport/ itself share, beside the
 * headers of the objects. The paths use none of them.
 */
#ifndef BCL_INTERNAL_H
#define BCL_INTERNAL_H

#include "transport/channel.h"
#include "transport/event.h"
#include "transport/memory.h"
#include "transport/peer.h"
#include "wire/address.h"

/* ---- self.c ---- */

extern const struct bcl_path_ops bcl_self_ops;
enum bcl_status bcl_self_open(struct bcl_port *port);
void bcl_self_close(struct bcl_port *port);
/* Frees the slot of the oldest message, which has been read. */
void bcl_self_release(struct bcl_port *port);

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
