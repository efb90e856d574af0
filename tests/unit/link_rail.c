/* SPDX-License-Identifier: MIT */
#include "link_rail.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <bcl/wire.h>

enum {
	RAILS = 16,
	LATENCY = 1000, /* ns */
	MTU = 1472,
	BURST = 44,
	WINDOW = 256 << 10,
	QUEUED = 4096, /* arrived frames that a rail can hold */
};

struct frame {
	struct sim_event arrival;
	struct frame *next;
	struct bcl_wire_address source;
	unsigned to;
	uint16_t length;
	uint8_t bytes[MTU];
};

struct link {
	struct bcl_rail rail;
	const struct bcl_env *env;
	struct frame *first, **last;
	unsigned queued;
	bool cut;
};

static struct sim_world *current;
static struct link *links[RAILS];
static unsigned nlinks;

void link_world(struct sim_world *world)
{
	current = world;
	memset(links, 0, sizeof(links));
	nlinks = 0;
}

void link_cut(unsigned n, bool cut)
{
	links[n]->cut = cut;
}

static void arrive(struct sim_event *event)
{
	struct frame *frame = (struct frame *)event;
	struct link *link = links[frame->to];

	if (!link || link->cut || link->queued == QUEUED) {
		free(frame);
		return;
	}
	*link->last = frame;
	link->last = &frame->next;
	link->queued++;
	link->env->wake(link->env->world, link->rail.fd);
}

static unsigned link_transmit(struct bcl_rail *rail,
			      const struct bcl_wire_address *destination,
			      const struct bcl_rail_tx *frames, unsigned n)
{
	struct link *link = (struct link *)rail;
	unsigned i, j;

	for (i = 0; i < n; i++) {
		struct frame *frame;

		ck_assert_uint_le(frames[i].length, MTU);
		if (link->cut)
			continue;
		frame = calloc(1, sizeof(*frame));
		frame->arrival.call = arrive;
		frame->source = rail->address;
		frame->to = destination->bytes[0];
		for (j = 0; j < frames[i].niov; j++) {
			memcpy(frame->bytes + frame->length,
			       frames[i].iov[j].iov_base,
			       frames[i].iov[j].iov_len);
			frame->length += (uint16_t)frames[i].iov[j].iov_len;
		}
		ck_assert_uint_eq(frame->length, frames[i].length);
		sim_clock_set(sim_world_clock(current), &frame->arrival,
			      link->env->now(link->env->world) + LATENCY);
	}
	return n;
}

static unsigned link_receive(struct bcl_rail *rail,
			     const struct bcl_rail_sink *sink, unsigned index,
			     unsigned max)
{
	struct link *link = (struct link *)rail;
	unsigned n = 0;

	link->env->clear(link->env->world, rail->fd);
	while (link->first && n < max) {
		struct frame *frame = link->first;
		struct bcl_rx_frame rx = { .head = frame->bytes,
					   .head_len = frame->length };

		link->first = frame->next;
		if (!link->first)
			link->last = &link->first;
		link->queued--;
		sink->deliver(sink->host, index, &frame->source, &rx, 1);
		free(frame);
		n++;
	}
	if (link->first)
		link->env->wake(link->env->world, rail->fd);
	return n;
}

static bool link_check(struct bcl_rail *rail, bool *up)
{
	*up = !((struct link *)rail)->cut;
	return false;
}

static void link_close(struct bcl_rail *rail)
{
	struct link *link = (struct link *)rail;

	links[rail->address.bytes[0]] = NULL;
	while (link->first) {
		struct frame *frame = link->first;

		link->first = frame->next;
		free(frame);
	}
	link->env->object_close(link->env->world, rail->fd);
	free(link);
}

static unsigned link_open(const struct bcl_env *env,
			  const struct bcl_config *config, uint64_t card,
			  struct bcl_rail **rails, unsigned max, char why[96])
{
	struct link *link = calloc(1, sizeof(*link));

	(void)config;
	(void)card;
	(void)max;
	*why = 0;
	ck_assert_uint_lt(nlinks, RAILS);
	link->env = env;
	link->last = &link->first;
	link->rail = (struct bcl_rail){
		.kind = link_rails[0],
		.limits = { .mtu = MTU,
			    .burst = BURST,
			    .window = WINDOW,
			    .small = true,
			    .bulk = true },
		.address = { BCL_WIRE_SIM, 1, { (uint8_t)nlinks } },
		.interface = "link",
		.about = "inside this process",
		.fd = env->object_open(env->world),
		.partner_fd = -1,
		.transmit = link_transmit,
		.receive = link_receive,
		.check = link_check,
		.close = link_close,
	};
	links[nlinks++] = link;
	rails[0] = &link->rail;
	return 1;
}

static const struct bcl_rail_kind link_kind = { "link", false, link_open };
const struct bcl_rail_kind *const link_rails[] = { &link_kind, NULL };
