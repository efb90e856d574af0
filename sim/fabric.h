/* SPDX-License-Identifier: MIT */
/*
 * The network of a simulated cluster: ports of cards, crossbar switches, and
 * cables between them in any way.
 *
 * A frame occupies each link on its way for as long as its bytes take. A
 * switch passes a frame on when its head has come, as Myrinet's do, or when all
 * of it has, as most of Ethernet's do; where the next link is taken it waits
 * in a queue of bounded size, and is lost when that is full. Ways are shortest
 * ways. Frames of one port to another take one way, so that they do not
 * overtake; destinations are dealt out over ways of equal length in turn,
 * which fills a fat tree evenly (D-mod-k: Zahavi, 2010).
 */
#ifndef SIM_FABRIC_H
#define SIM_FABRIC_H

#include "sim/clock.h"

enum {
	SIM_WAY_MAX = 254, /* switches on a way: their distance is a byte */
};

struct sim_fabric;

struct sim_frame {
	struct sim_event event; /* its head comes to `at` */
	struct sim_fabric *fabric;
	struct sim_frame *next, **place; /* of all */
	uint64_t tail;			 /* ps: its last byte comes there */
	uint32_t from, to;		 /* ports */
	uint32_t at;
	uint32_t spread;	 /* chooses between ways of equal length */
	uint16_t source, target; /* which of a port's own: their business */
	bool refusal;		 /* likewise: `source` is not there */
	uint32_t length;
	uint8_t bytes[];
};

struct sim_cable {
	uint64_t latency; /* ns */
	uint64_t ps_per_byte;
};

struct sim_switch {
	uint64_t latency; /* ns */
	uint64_t queue;	  /* bytes that may wait for a link */
	bool cut_through;
};

struct sim_fabric *sim_fabric_open(struct sim_clock *clock);
/* Frames on their way are gone. */
void sim_fabric_close(struct sim_fabric *fabric);

/*
 * Ports and switches have one kind of number, from 0 on. A port has one cable.
 * `arrived` gets the frame, which is its own then.
 */
uint32_t sim_fabric_port(struct sim_fabric *fabric,
			 void (*arrived)(void *arg, struct sim_frame *frame),
			 void *arg);
uint32_t sim_fabric_switch(struct sim_fabric *fabric,
			   const struct sim_switch *config);
/* Full duplex: the number of the link from a to b, which is even; that from b
 * to a follows. */
uint32_t sim_fabric_wire(struct sim_fabric *fabric, uint32_t a, uint32_t b,
			 const struct sim_cable *cable);
/* All is wired: find the ways. False: one leads through too many switches; no
 * frame may be sent then. */
bool sim_fabric_route(struct sim_fabric *fabric);

struct sim_frame *sim_frame_new(struct sim_fabric *fabric, uint32_t from,
				uint32_t to, uint32_t length);
/* The same once more, at its beginning. */
struct sim_frame *sim_frame_copy(const struct sim_frame *frame);
void sim_frame_free(struct sim_frame *frame);
/* Takes the frame. It leaves its port as soon as the link there is free. */
void sim_fabric_send(struct sim_frame *frame);

/* Every frame that is sent is shown to `watch` first; false: that has taken it.
 * NULL: nobody watches. */
void sim_fabric_watch(struct sim_fabric *fabric,
		      bool (*watch)(void *arg, struct sim_frame *frame),
		      void *arg);
/* sim_fabric_send() past who watches. */
void sim_fabric_enter(struct sim_frame *frame);
/* When the port's link will be free. */
uint64_t sim_fabric_free_at(const struct sim_fabric *fabric, uint32_t port);

/* A link that is down loses what comes to it. */
void sim_fabric_link(struct sim_fabric *fabric, uint32_t link, bool up);
/* Count one more at each link by which a frame would go now. */
void sim_fabric_follow(struct sim_fabric *fabric, uint32_t from, uint32_t to,
		       uint32_t *counts);
/* The link that begins at a port; the other direction is its number ^ 1. */
uint32_t sim_fabric_port_link(const struct sim_fabric *fabric, uint32_t port);

struct sim_link_info {
	uint32_t from, to;
	uint64_t frames, bytes;
	uint64_t busy;	/* ns, until now */
	uint64_t queue; /* bytes that waited, at most */
	uint64_t lost;	/* frames: queue full, or down, or no way from here */
};
uint32_t sim_fabric_links(const struct sim_fabric *fabric);
void sim_fabric_link_info(const struct sim_fabric *fabric, uint32_t link,
			  struct sim_link_info *info);

#endif
