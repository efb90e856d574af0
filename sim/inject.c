/* SPDX-License-Identifier: MIT */
/* Applies a script of faults to frames, links and nodes at the right time; see
 * inject.h. */
#include "sim/inject.h"

#include <stdlib.h>

#include "sim/fail.h"
#include "sim/frame_class.h"

enum {
	PATIENCE = 1000000, /* ns that a frame waits for later frames */
};

/* A fault of the script. */
struct state {
	struct sim_event event; /* the fault begins, or ends */
	struct sim_injector *injector;
	const struct sim_fault *fault;
	uint64_t seen; /* matching frames seen */
	bool active;
};

/* A frame that waits until later frames have overtaken it. */
struct held {
	struct sim_event event; /* PATIENCE is over: too few frames have come */
	struct sim_injector *injector;
	struct held *next, **place;
	struct sim_frame *frame;
	uint32_t left;
};

struct sim_injector {
	const struct sim_cluster *cluster;
	struct sim_fabric *fabric;
	struct sim_clock *clock;
	void (*node)(void *arg, const struct sim_fault *fault, bool begins);
	void *arg;
	struct state *states;
	size_t n;
	uint64_t *sent; /* [node]: frames sent */
	struct held *held;
	uint64_t count[SIM_FAULT_KINDS];
};

/* ---- links and nodes ---- */

static uint32_t link_of(const struct sim_injector *injector,
			const struct sim_fault *fault)
{
	if (fault->kind == SIM_FAULT_CUT)
		return fault->link;
	return sim_fabric_port_link(
		injector->fabric,
		sim_cluster_port(injector->cluster, fault->node, fault->rail));
}

static bool at_same_place(const struct sim_fault *a, const struct sim_fault *b)
{
	return a->kind == b->kind && a->node == b->node && a->rail == b->rail &&
	       a->link == b->link;
}

static bool is_down(const struct sim_injector *injector, uint32_t link)
{
	size_t i;

	for (i = 0; i < injector->n; i++) {
		const struct state *state = &injector->states[i];
		const struct sim_fault *fault = state->fault;

		if (!state->active)
			continue;
		if (fault->kind == SIM_FAULT_CUT && fault->link == link)
			return true;
		if (fault->kind == SIM_FAULT_UNPLUG &&
		    (link_of(injector, fault) | 1) == (link | 1))
			return true;
	}
	return false;
}

static void set_links(const struct sim_injector *injector,
		      const struct sim_fault *fault)
{
	uint32_t link;

	if (fault->kind != SIM_FAULT_CUT && fault->kind != SIM_FAULT_UNPLUG)
		return;
	link = link_of(injector, fault);
	sim_fabric_link(injector->fabric, link, !is_down(injector, link));
	sim_fabric_link(injector->fabric, link ^ 1,
			!is_down(injector, link ^ 1));
}

static void apply_fault(const struct state *state)
{
	const struct sim_injector *injector = state->injector;

	set_links(injector, state->fault);
	if (state->fault->kind != SIM_FAULT_CUT && injector->node)
		injector->node(injector->arg, state->fault, state->active);
}

static void end_fault(struct sim_event *event)
{
	struct state *state = (struct state *)event;

	state->active = false;
	apply_fault(state);
}

static void has_begun(struct sim_event *event)
{
	struct state *state = (struct state *)event;
	uint64_t lasts = state->fault->lasts;

	apply_fault(state);
	state->event.call = end_fault;
	if (lasts)
		sim_clock_set(state->injector->clock, event,
			      state->injector->clock->now + lasts);
}

static void begin_fault(struct state *state)
{
	struct sim_injector *injector = state->injector;
	size_t i;

	for (i = 0; i < injector->n; i++)
		if (injector->states[i].active &&
		    at_same_place(injector->states[i].fault, state->fault))
			return;
	state->active = true;
	injector->count[state->fault->kind]++;
	state->event.call = has_begun;
	sim_clock_set(injector->clock, &state->event, injector->clock->now);
}

static void begin_due(struct sim_event *event)
{
	begin_fault((struct state *)event);
}

/* Counts a frame that the node sends. Returns false if the node has crashed and
 * cannot send. */
static bool count_sent(struct sim_injector *injector, uint32_t node)
{
	uint64_t sent = ++injector->sent[node];
	bool alive = true;
	size_t i;

	for (i = 0; i < injector->n; i++) {
		struct state *state = &injector->states[i];
		const struct sim_fault *fault = state->fault;

		if (fault->kind < SIM_FAULT_UNPLUG || fault->node != node)
			continue;
		if (fault->sent == sent)
			begin_fault(state);
		alive &= !(state->active && fault->kind == SIM_FAULT_CRASH);
	}
	return alive;
}

/* ---- frames ---- */

static void free_held(struct held *held)
{
	sim_clock_clear(held->injector->clock, &held->event);
	*held->place = held->next;
	if (held->next)
		held->next->place = held->place;
	free(held);
}

static void release_held(struct sim_event *event)
{
	struct held *held = (struct held *)event;
	struct sim_frame *frame = held->frame;

	free_held(held);
	sim_fabric_enter(frame);
}

static void hold_frame(struct sim_injector *injector, struct sim_frame *frame,
		       uint32_t behind)
{
	struct held *held = sim_need(malloc(sizeof(*held)));

	*held = (struct held){
		.injector = injector,
		.next = injector->held,
		.place = &injector->held,
		.event.call = release_held,
		.frame = frame,
		.left = behind,
	};
	if (held->next)
		held->next->place = &held->next;
	injector->held = held;
	sim_clock_set(injector->clock, &held->event,
		      injector->clock->now + PATIENCE);
}

/* A frame was sent: releases waiting frames that enough frames
 * have overtaken. */
static void release_overtaken(struct sim_injector *injector, uint32_t from,
			      uint32_t to)
{
	struct held *held = injector->held, *next;

	for (; held; held = next) {
		next = held->next;
		if (held->frame->from == from && held->frame->to == to &&
		    !--held->left)
			release_held(&held->event);
	}
}

static void comes_late(struct sim_event *event)
{
	sim_fabric_enter((struct sim_frame *)event);
}

/* The combined effect of all faults on a frame. */
struct harm {
	bool drop;
	uint32_t copies, behind;
	uint64_t by;
};

static void add_harm(struct harm *harm, const struct sim_fault *fault,
		     struct sim_frame *frame)
{
	uint32_t bit;

	switch (fault->kind) {
	case SIM_FAULT_DROP:
		harm->drop = true;
		break;
	case SIM_FAULT_DUPLICATE:
		harm->copies++;
		break;
	case SIM_FAULT_REORDER:
		harm->behind += fault->behind;
		break;
	case SIM_FAULT_CORRUPT:
		bit = fault->bit % (8 * frame->length);
		frame->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		break;
	default:
		harm->by += fault->by;
		break;
	}
}

static bool concerns_frame(const struct sim_fault *fault, uint32_t from,
			   uint32_t to, unsigned classes)
{
	return fault->kind < SIM_FAULT_CUT && (classes >> fault->frame & 1) &&
	       (fault->from == SIM_ANY || fault->from == from) &&
	       (fault->to == SIM_ANY || fault->to == to);
}

static struct harm find_harm(struct sim_injector *injector,
			     struct sim_frame *frame)
{
	const struct sim_cluster *cluster = injector->cluster;
	uint32_t from = sim_cluster_node(cluster, frame->from);
	uint32_t to = sim_cluster_node(cluster, frame->to);
	unsigned classes = sim_frame_classify(frame->bytes, frame->length);
	struct harm harm = { .drop = !count_sent(injector, from) };
	size_t i;

	for (i = 0; i < injector->n; i++) {
		struct state *state = &injector->states[i];
		const struct sim_fault *fault = state->fault;

		if (!concerns_frame(fault, from, to, classes) ||
		    ++state->seen < fault->nth ||
		    state->seen - fault->nth >= fault->count)
			continue;
		injector->count[fault->kind]++;
		add_harm(&harm, fault, frame);
	}
	return harm;
}

static bool watch_frame(void *arg, struct sim_frame *frame)
{
	struct sim_injector *injector = arg;
	struct harm harm = find_harm(injector, frame);
	uint32_t from = frame->from, to = frame->to;

	if (harm.drop) {
		sim_frame_free(frame);
		return false;
	}
	while (harm.copies--)
		sim_fabric_enter(sim_frame_copy(frame));
	if (harm.by) {
		frame->event.call = comes_late;
		sim_clock_set(injector->clock, &frame->event,
			      injector->clock->now + harm.by);
	} else if (harm.behind) {
		hold_frame(injector, frame, harm.behind);
	} else {
		sim_fabric_enter(frame);
		release_overtaken(injector, from, to);
	}
	return false;
}

/* ---- the whole ---- */

struct sim_injector *
sim_inject(const struct sim_faults *faults, const struct sim_cluster *cluster,
	   struct sim_fabric *fabric, struct sim_clock *clock,
	   void (*node)(void *arg, const struct sim_fault *fault, bool begins),
	   void *arg)
{
	struct sim_injector *injector = sim_need(calloc(1, sizeof(*injector)));
	size_t i;

	injector->cluster = cluster;
	injector->fabric = fabric;
	injector->clock = clock;
	injector->node = node;
	injector->arg = arg;
	injector->n = faults->n;
	injector->states =
		sim_need(calloc(faults->n + 1, sizeof(*injector->states)));
	injector->sent =
		sim_need(calloc(cluster->nodes, sizeof(*injector->sent)));
	for (i = 0; i < faults->n; i++) {
		struct state *state = &injector->states[i];
		const struct sim_fault *fault = &faults->fault[i];

		*state = (struct state){ .injector = injector,
					 .fault = fault,
					 .event.call = begin_due };
		if (fault->kind >= SIM_FAULT_CUT && !fault->sent)
			sim_clock_set(clock, &state->event,
				      clock->now + fault->at);
	}
	sim_fabric_watch(fabric, watch_frame, injector);
	return injector;
}

void sim_injector_close(struct sim_injector *injector)
{
	size_t i;

	sim_fabric_watch(injector->fabric, NULL, NULL);
	for (i = 0; i < injector->n; i++)
		sim_clock_clear(injector->clock, &injector->states[i].event);
	while (injector->held) {
		sim_frame_free(injector->held->frame);
		free_held(injector->held);
	}
	free(injector->states);
	free(injector->sent);
	free(injector);
}

uint64_t sim_injector_count(const struct sim_injector *injector,
			    enum sim_fault_kind kind)
{
	return injector->count[kind];
}

uint64_t sim_injector_sent(const struct sim_injector *injector, uint32_t node)
{
	return injector->sent[node];
}
