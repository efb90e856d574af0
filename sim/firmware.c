/* SPDX-License-Identifier: MIT */
/* Opens the card core on a simulated card, and calls it on doorbells, frames,
 * timers and finished transfers. */
#include "sim/firmware.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "sim/fail.h"
#include "transport/port.h"

enum {
	BUDGET = 64,
	BUFFERS = 16, /* of the core, at most: they take memory */
	WINDOW_MIN = 64 << 10,
	ACK_DELAY = 400 * 1000,
	RTO_MIN = 1000 * 1000,
	RTO_MAX = 100 * 1000 * 1000,
};

/* A received frame that waits until the core has buffers. */
struct sim_held {
	struct sim_held *next;
	struct sim_frame *frame;
	unsigned rail;
};

/* ---- work that the core wants ---- */

/* The deadline may have moved to a later time since the event was set. To check
 * here is cheaper than to set the event on each change. */
static void check_deadline(struct sim_event *event)
{
	struct sim_firmware *firmware =
		bcl_container_of(event, struct sim_firmware, deadline);
	uint64_t due = firmware->next.deadline;

	if (due <= sim_firmware_now(firmware))
		sim_card_do(firmware->card, &firmware->timer);
	else if (due != UINT64_MAX)
		sim_clock_set(firmware->card->clock, event, due);
}

/* All received frames are handled: a good moment for acknowledgements. */
static void report_drained(struct sim_firmware *firmware)
{
	unsigned rail;

	for (rail = 0; rail < firmware->card->nrails; rail++)
		if (sim_card_idle(firmware->card, rail))
			bcl_card_drained(firmware->core, rail,
					 sim_firmware_now(firmware), BUDGET,
					 &firmware->next);
	sim_firmware_settle(firmware);
}

static void report_timer(struct sim_task *task)
{
	struct sim_firmware *firmware =
		bcl_container_of(task, struct sim_firmware, timer);

	if (!firmware->core)
		return;
	bcl_card_timer(firmware->core, sim_firmware_now(firmware), BUDGET,
		       &firmware->next);
	report_drained(firmware);
}

void sim_firmware_settle(struct sim_firmware *firmware)
{
	uint64_t due = firmware->next.deadline;

	if (firmware->next.more)
		sim_card_do(firmware->card, &firmware->timer);
	if (due != UINT64_MAX && (!sim_clock_is_set(&firmware->deadline) ||
				  due < firmware->deadline.time))
		sim_clock_set(firmware->card->clock, &firmware->deadline, due);
}

static void report_doorbell(struct sim_task *task)
{
	struct bcl_host_seat *seat =
		bcl_container_of(task, struct bcl_host_seat, doorbell);
	struct sim_firmware *firmware = seat->firmware;

	if (!firmware->core || !seat->number)
		return;
	bcl_card_doorbell(firmware->core, seat->number, seat->written,
			  sim_firmware_now(firmware), BUDGET, &firmware->next);
	report_drained(firmware);
}

/* ---- frames ---- */

/* Tells the core that nodes with that address are gone. */
static void report_gone(struct sim_firmware *firmware, unsigned rail,
			const struct sim_address *address)
{
	uint32_t i;

	for (i = 0; i < firmware->nnodes; i++) {
		const struct sim_node *node = &firmware->nodes[i];
		const struct sim_address *own = &node->address[rail];

		if ((node->shown.state != BCL_NODE_CONNECTING &&
		     node->shown.state != BCL_NODE_UP) ||
		    !(node->shown.known & 1 << rail) ||
		    own->port != address->port ||
		    own->firmware != address->firmware)
			continue;
		bcl_card_node_gone(firmware->core, i, rail, BCL_ERR_DEAD,
				   sim_firmware_now(firmware), BUDGET,
				   &firmware->next);
		sim_firmware_settle(firmware);
	}
}

static void handle_frame(struct sim_firmware *firmware, unsigned rail,
			 struct sim_frame *frame)
{
	const struct sim_address source = {
		.port = frame->from,
		.firmware = frame->source,
	};
	const struct bcl_rx_frame rx = {
		.head = frame->bytes,
		.head_len = (uint16_t)frame->length,
	};
	uint64_t now = sim_firmware_now(firmware);

	if (frame->refusal) {
		report_gone(firmware, rail, &source);
		sim_frame_free(frame);
		return;
	}
	sim_trace_frame(firmware, rail, BCL_PCAPNG_INBOUND, frame->bytes,
			frame->length);
	firmware->source = &source;
	firmware->source_rail = rail;
	bcl_card_frames(firmware->core, rail, &rx, 1, now, BUDGET,
			&firmware->next);
	firmware->source = NULL;
	sim_frame_free(frame);
	report_drained(firmware);
}

void sim_firmware_frame(struct sim_firmware *firmware, unsigned rail,
			struct sim_frame *frame)
{
	struct sim_held *held;

	if (!firmware->held && firmware->stores < firmware->stores_most) {
		handle_frame(firmware, rail, frame);
		return;
	}
	held = sim_need(calloc(1, sizeof(*held)));
	held->frame = frame;
	held->rail = rail;
	*firmware->held_last = held;
	firmware->held_last = &held->next;
}

/* Takes the frame off the list before it is handled. */
static struct sim_frame *take_held(struct sim_firmware *firmware,
				   unsigned *rail)
{
	struct sim_held *held = firmware->held;
	struct sim_frame *frame = held->frame;

	*rail = held->rail;
	firmware->held = held->next;
	if (!firmware->held)
		firmware->held_last = &firmware->held;
	free(held);
	return frame;
}

void sim_firmware_moved(struct sim_firmware *firmware,
			enum bcl_dma_direction direction, uint32_t cookie,
			enum bcl_dma_result result)
{
	struct sim_frame *frame;
	unsigned rail;

	if (!firmware->core)
		return;
	firmware->stores -= direction == BCL_DMA_WRITE;
	bcl_card_dma_done(firmware->core, cookie, result,
			  sim_firmware_now(firmware), BUDGET, &firmware->next);
	sim_firmware_settle(firmware);
	while (firmware->held && firmware->stores < firmware->stores_most) {
		frame = take_held(firmware, &rail);
		handle_frame(firmware, rail, frame);
	}
	report_drained(firmware);
}

/* ---- rails ---- */

static void report_ready(struct sim_task *task)
{
	struct sim_ready *rail = bcl_container_of(task, struct sim_ready, task);
	struct sim_firmware *firmware = rail->firmware;

	if (!firmware->core)
		return;
	bcl_card_transmit_ready(
		firmware->core, (unsigned)(rail - firmware->ready),
		sim_firmware_now(firmware), BUDGET, &firmware->next);
	report_drained(firmware);
}

void sim_firmware_ready(struct sim_firmware *firmware, unsigned rail)
{
	if (!firmware->ready[rail].blocked)
		return;
	firmware->ready[rail].blocked = false;
	sim_card_do(firmware->card, &firmware->ready[rail].task);
}

void sim_firmware_rail(struct sim_firmware *firmware, unsigned rail)
{
	const struct sim_card_costs *costs = firmware->card->costs;
	uint32_t window = costs->buffers * costs->mtu;
	const struct bcl_control control = {
		.op = BCL_CTL_RAIL,
		.rail = { .number = rail,
			  .up = !firmware->card->rail[rail].unplugged,
			  .mtu = costs->mtu,
			  .burst = 1,
			  .window = window > WINDOW_MIN ? window : WINDOW_MIN,
			  .small = 1,
			  .bulk = 1 },
	};
	uint32_t result;

	bcl_card_control(firmware->core, &control, sim_firmware_now(firmware),
			 &result, &firmware->next);
	sim_firmware_settle(firmware);
}

/* ---- opening and closing ---- */

static void set_up_tasks(struct sim_firmware *firmware)
{
	unsigned r;

	firmware->deadline.call = check_deadline;
	firmware->timer.run = report_timer;
	firmware->held_last = &firmware->held;
	for (r = 0; r < BCL_RAILS_MAX; r++) {
		firmware->ready[r].task.run = report_ready;
		firmware->ready[r].task.unit = sim_card_unit(firmware->card, r);
		firmware->ready[r].firmware = firmware;
	}
	for (r = 0; r < SIM_PORTS; r++) {
		firmware->seats[r].firmware = firmware;
		firmware->seats[r].doorbell.run = report_doorbell;
	}
}

bool sim_firmware_open(struct sim_firmware *firmware,
		       const struct sim_firmware_limits *limits)
{
	const struct bcl_host_setup *setup = &firmware->setup;
	const struct bcl_env *env = setup->env;
	uint32_t buffers = firmware->card->costs->buffers;
	struct bcl_card_config config = {
		.card = setup->card,
		.incarnation = setup->incarnation,
		.peer_timeout = setup->config->peer_timeout,
		.ack_delay = ACK_DELAY,
		.rto_min = RTO_MIN,
		.rto_max = RTO_MAX,
		.max_nodes = limits->nodes,
		.max_messages = limits->messages,
		.buffers = buffers && buffers < BUFFERS ? buffers : BUFFERS,
		.frame = firmware->card->costs->mtu,
		.pcrc = setup->config->pcrc,
	};
	unsigned r;

	memcpy(config.key, setup->key, sizeof(config.key));
	set_up_tasks(firmware);
	firmware->stores_most = config.buffers;
	firmware->arena_size = bcl_card_arena(
		&config, SIM_PORTS, limits->connections, limits->channels);
	firmware->arena = env->allocate(env->world, firmware->arena_size);
	if (!firmware->arena)
		return false;
	firmware->core = bcl_card_open(firmware->arena, firmware->arena_size,
				       &sim_hal, firmware, &config);
	for (r = 0; firmware->core && r < firmware->card->nrails; r++)
		sim_firmware_rail(firmware, r);
	return firmware->core;
}

void sim_firmware_close(struct sim_firmware *firmware)
{
	const struct bcl_env *env = firmware->setup.env;
	struct sim_card *card = firmware->card;
	struct bcl_card_peaks peaks;
	unsigned i;

	bcl_card_peaks(firmware->core, &peaks);
	card->peaks.memory += peaks.memory;
	card->peaks.sending += peaks.sending;
	card->peaks.held += peaks.held;
	firmware->core = NULL;
	sim_moves_end(firmware);
	while (firmware->held)
		sim_frame_free(take_held(firmware, &i));
	sim_clock_clear(card->clock, &firmware->deadline);
	sim_card_forget(card, &firmware->timer);
	for (i = 0; i < BCL_RAILS_MAX; i++)
		sim_card_forget(card, &firmware->ready[i].task);
	for (i = 0; i < SIM_PORTS; i++)
		sim_card_forget(card, &firmware->seats[i].doorbell);
	env->release(env->world, firmware->arena, firmware->arena_size);
	free(firmware->nodes);
	firmware->nodes = NULL;
}
