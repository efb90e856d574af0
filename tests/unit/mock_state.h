/* SPDX-License-Identifier: MIT */
/* What the files of the mock transport share. */
#ifndef MOCK_STATE_H
#define MOCK_STATE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mock_transport.h"

#include "transport/memory.h"
#include "transport/peer.h"

enum {
	MOCK_PORTS = 64,
	MOCK_VALUES = 8,
};

struct mock_offer;

struct mock_peer {
	struct bcl_peer base; /* first */
	struct mock_port *local, *remote;
	uint64_t up_at;	 /* CONNECTING until then */
	uint64_t last;	 /* when the last message to it arrives */
	unsigned on_way; /* messages to it that it has not taken */
	bool blocked, opened, dying;
	struct mock_peer *next;
};

struct mock_event {
	struct mock_event *next;
	uint64_t at;
	struct bcl_event event;
	struct mock_peer *way; /* whose on_way it counts in */
	unsigned char data[];
};

struct mock_port {
	struct bcl_port base; /* first */
	struct mock *mock;
	unsigned number; /* from 1 */
	bool open, dead;
	bool armed;
	struct mock_peer *peers;
	struct mock_event *events; /* in order of time */
	struct mock_event *held;
	struct mock_peer *reserved;
	unsigned char room[BCL_MESSAGE_MAX];
	unsigned offers;
	unsigned sent[BCL_TYPES], cut;
	struct bcl_memory memory; /* of no bytes: none */
	struct bcl_counter_page page;
};

struct mock_value {
	char name[BCL_BOOT_NAME_MAX];
	unsigned char value[128];
	size_t length;
};

struct mock_boot {
	struct bcl_boot base; /* first */
	struct mock *mock;
	struct mock_value values[MOCK_VALUES];
	unsigned nvalues, fences;
};

struct mock {
	const struct bcl_env *env;
	struct mock_options options;
	pthread_mutex_t lock;
	uint64_t random;
	uint64_t ids;
	struct bcl_context context[MOCK_PORTS];
	struct mock_port port[MOCK_PORTS];
	struct mock_boot boot[MOCK_PORTS];
	struct mock_offer *offers;
};

static inline void mock_check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "mock transport: %s\n", what);
	abort();
}

static inline uint64_t mock_draw(struct mock *mock, uint64_t most)
{
	mock->random ^= mock->random >> 12;
	mock->random ^= mock->random << 25;
	mock->random ^= mock->random >> 27;
	return most ? mock->random * 2685821657736338717ull % (most + 1) : 0;
}

static inline uint64_t mock_now(struct mock *mock)
{
	return mock->env->now(mock->env->world);
}

static inline struct mock_port *mock_port_of(struct bcl_port *port)
{
	return (struct mock_port *)port;
}

static inline struct mock_peer *mock_peer_of(struct bcl_peer *peer)
{
	return (struct mock_peer *)peer;
}

/* A call for the port begins: its mock, locked. */
static inline struct mock *mock_enter(struct mock_port *port)
{
	pthread_mutex_lock(&port->mock->lock);
	mock_check(port->open, "a port that is not open");
	return port->mock;
}

static inline void mock_leave(struct mock *mock)
{
	pthread_mutex_unlock(&mock->lock);
}

/* mock_event.c: what a port is told, and when. */
struct mock_event *mock_push(struct mock_port *port, uint64_t at,
			     const struct bcl_event *event, const void *data,
			     size_t length);
void mock_events_drop(struct mock_port *port);

/* mock_peer.c */
struct mock_peer *mock_peer_find(struct mock_port *local,
				 struct mock_port *remote);
void mock_peer_lose(struct mock_peer *peer, enum bcl_status status);
/* May something be handed over for the peer now? */
enum bcl_status mock_peer_ready(struct mock_peer *peer);
/* Those that nobody holds any more; all. */
void mock_peers_reap(struct mock_port *port);
void mock_peers_drop(struct mock_port *port);
/* The others learn that it is gone. */
void mock_port_lost(struct mock *mock, struct mock_port *port);

/* mock_message.c */
enum bcl_status mock_may_send(struct mock_peer *peer);
void mock_say(struct mock_peer *peer, enum bcl_event_kind kind, unsigned type,
	      uint64_t immediate, const void *data, size_t length);

/* mock_offer.c: the peer is lost; and without a word, of a port or all. */
void mock_offers_end(struct mock_peer *peer, enum bcl_status status,
		     uint64_t at);
void mock_offers_drop(struct mock *mock, const struct mock_port *port);

#endif
