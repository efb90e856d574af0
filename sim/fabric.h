/* SPDX-License-Identifier: MIT */
/*
 * The network of a simulated cluster: ports of cards, crossbar switches, and
 * cables between them in any topology.
 *
 * A frame occupies each link of the route for as long as the bytes take. A
 * switch forwards a frame when the head has arrived, as Myrinet does, or when
 * all of the frame has arrived, as most Ethernet switches do. If the next link
 * is busy, the frame waits in a queue of bounded size, and a full queue drops
 * the frame. Routes are shortest routes. All frames from a port to a port take
 * the same route and so do not overtake each other. Destinations are dealt out
 * in turn over routes of equal length, which fills a fat tree evenly (D-mod-k:
 * Zahavi, 2010).
 */
#ifndef SIM_FABRIC_H
#define SIM_FABRIC_H

#include "sim/clock.h"

enum {
	SIM_WAY_MAX = 254, /* switches on a route: distances are stored in a
			    * byte */
};

struct sim_fabric;

struct sim_frame {
	struct sim_event event; /* the head arrives at `at` */
	struct sim_fabric *fabric;
	struct sim_frame *next, **place; /* list of all frames */
	uint64_t tail;			 /* ps: when the last byte arrives at
					  * `at` */
	uint32_t from, to;		 /* ports */
	uint32_t at;
	uint32_t spread;	 /* chooses between routes of equal length */
	uint16_t source, target; /* set and used by the cards: firmware at
				  * either port */
	bool refusal;		 /* likewise: the firmware `source` does not
				  * exist */
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
/* Frames in flight are freed. */
void sim_fabric_close(struct sim_fabric *fabric);

/*
 * Adds a port or switch. Both share one range of numbers, from 0 on. A port has
 * a single cable. `arrived` gets the frame and owns it.
 */
uint32_t sim_fabric_port(struct sim_fabric *fabric,
			 void (*arrived)(void *arg, struct sim_frame *frame),
			 void *arg);
uint32_t sim_fabric_switch(struct sim_fabric *fabric,
			   const struct sim_switch *config);
/* Adds a cable, which is full duplex. Returns the number of the link from a to
 * b, which is even; the link from b to a is the next number. */
uint32_t sim_fabric_wire(struct sim_fabric *fabric, uint32_t a, uint32_t b,
			 const struct sim_cable *cable);
/* Computes the routes, after all wiring. Returns false if a route leads through
 * too many switches; no frame may be sent then. */
bool sim_fabric_route(struct sim_fabric *fabric);

struct sim_frame *sim_frame_new(struct sim_fabric *fabric, uint32_t from,
				uint32_t to, uint32_t length);
/* A copy of the frame, at the beginning of the route. */
struct sim_frame *sim_frame_copy(const struct sim_frame *frame);
void sim_frame_free(struct sim_frame *frame);
/* Takes ownership of the frame, which leaves the port as soon as the link is
 * free. */
void sim_fabric_send(struct sim_frame *frame);

/* `watch` sees every frame before it is sent. If `watch` returns false, it has
 * taken the frame. NULL: no watcher. */
void sim_fabric_watch(struct sim_fabric *fabric,
		      bool (*watch)(void *arg, struct sim_frame *frame),
		      void *arg);
/* Like sim_fabric_send(), without the watcher. */
void sim_fabric_enter(struct sim_frame *frame);
/* ns: when the link of the port will be free. */
uint64_t sim_fabric_free_at(const struct sim_fabric *fabric, uint32_t port);

/* Sets a link up or down. A link that is down drops frames. */
void sim_fabric_link(struct sim_fabric *fabric, uint32_t link, bool up);
/* Adds 1 to the count of each link on the current route. */
void sim_fabric_follow(struct sim_fabric *fabric, uint32_t from, uint32_t to,
		       uint32_t *counts);
/* The link that begins at a port; the opposite direction is that number ^ 1. */
uint32_t sim_fabric_port_link(const struct sim_fabric *fabric, uint32_t port);

struct sim_link_info {
	uint32_t from, to;
	uint64_t frames, bytes;
	uint64_t busy;	/* ns, until now */
	uint64_t queue; /* most bytes that ever waited */
	uint64_t lost;	/* frames: queue full, link down, or no route from
			 * here */
};
uint32_t sim_fabric_links(const struct sim_fabric *fabric);
void sim_fabric_link_info(const struct sim_fabric *fabric, uint32_t link,
			  struct sim_link_info *info);

#endif
