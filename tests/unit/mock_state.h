/* SPDX-License-Identifier: MIT */
/* State that the files of the mock transport share. */
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
	uint64_t up_at;	 /* end of CONNECTING */
	uint64_t last;	 /* arrival of the last message to `remote` */
	unsigned on_way; /* messages that `remote` has not taken */
	bool blocked, opened, dying;
	struct mock_peer *next;
};

struct mock_event {
	struct mock_event *next;
	uint64_t at;
	struct bcl_event event;
	struct mock_peer *way; /* the event counts in way->on_way */
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
	struct bcl_memory memory; /* length 0: none */
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

/* Begins a call for the port: locks and returns the port's mock. */
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

/* mock_event.c: mock_push() adds an event of the port for the time `at`. */
struct mock_event *mock_push(struct mock_port *port, uint64_t at,
			     const struct bcl_event *event, const void *data,
			     size_t length);
void mock_events_drop(struct mock_port *port);

/* mock_peer.c */
struct mock_peer *mock_peer_find(struct mock_port *local,
				 struct mock_port *remote);
void mock_peer_lose(struct mock_peer *peer, enum bcl_status status);
/* Does the peer take a message, an offer or a pull now? */
enum bcl_status mock_peer_ready(struct mock_peer *peer);
/* mock_peers_reap() frees the dying peers without messages in flight.
 * mock_peers_drop() frees all peers. */
void mock_peers_reap(struct mock_port *port);
void mock_peers_drop(struct mock_port *port);
/* Peers of living ports for the port end with BCL_ERR_DEAD. */
void mock_port_lost(struct mock *mock, struct mock_port *port);

/* mock_message.c */
enum bcl_status mock_may_send(struct mock_peer *peer);
void mock_say(struct mock_peer *peer, enum bcl_event_kind kind, unsigned type,
	      uint64_t immediate, const void *data, size_t length);

/*
 * mock_offer.c: mock_offers_end() ends the offers to a lost peer by events.
 * mock_offers_drop() frees the offers of a port, or of all ports (NULL),
 * without events.
 */
void mock_offers_end(struct mock_peer *peer, enum bcl_status status,
		     uint64_t at);
void mock_offers_drop(struct mock *mock, const struct mock_port *port);

#endif
