/* SPDX-License-Identifier: MIT */
/* The processors, DMA engines and rails of a simulated card; see card.h. */
#include "sim/card.h"

#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"
#include "sim/firmware.h"

enum {
	LEAVING = 64, /* frames per rail, if the costs set no bound */
};

/* A frame that the processor is sending. */
struct departure {
	struct sim_event event;
	struct sim_card_rail *rail;
	struct sim_frame *frame;
};

/* A received frame that waits for the processor. */
struct arrival {
	struct sim_task task;
	struct sim_card *card;
	struct sim_frame *frame;
	unsigned rail;
};

static uint64_t later_time(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- the processor ---- */

static void start_task(struct sim_unit *unit)
{
	struct sim_clock *clock = unit->card->clock;
	struct sim_task *task = unit->first;

	if (unit->current || !task)
		return;
	unit->first = task->next;
	if (!unit->first)
		unit->last = &unit->first;
	task->queued = false;
	unit->current = task;
	sim_clock_set(clock, &unit->turn,
		      later_time(unit->busy, clock->now) +
			      task->takes * unit->card->times);
}

static void finish_task(struct sim_event *event)
{
	struct sim_unit *unit =
		(struct sim_unit *)(void *)((char *)event -
					    offsetof(struct sim_unit, turn));
	struct sim_task *task = unit->current;

	unit->current = NULL;
	unit->busy = later_time(unit->busy, unit->card->clock->now);
	task->run(task);
	start_task(unit);
}

void sim_card_do(struct sim_card *card, struct sim_task *task)
{
	struct sim_unit *unit = &card->unit[task->unit];

	if (task->queued)
		return;
	task->queued = true;
	task->next = NULL;
	*unit->last = task;
	unit->last = &task->next;
	start_task(unit);
}

void sim_card_forget(struct sim_card *card, struct sim_task *task)
{
	struct sim_unit *unit = &card->unit[task->unit];
	struct sim_task **at = &unit->first;

	if (task == unit->current) {
		sim_clock_clear(card->clock, &unit->turn);
		unit->current = NULL;
		start_task(unit);
	} else if (task->queued) {
		while (*at != task)
			at = &(*at)->next;
		*at = task->next;
		if (!*at)
			unit->last = at;
		task->queued = false;
	}
}

/* ---- engines ---- */

uint64_t sim_card_move(struct sim_card *card, unsigned unit,
		       enum bcl_dma_direction direction, uint32_t length)
{
	const struct sim_dma_costs *costs = direction == BCL_DMA_READ
						    ? &card->costs->read
						    : &card->costs->write;
	uint64_t *free = &card->unit[unit].engine[direction];

	*free = later_time(*free,
			   card->clock->now + costs->start * card->times) +
		sim_costs_transfer(length, costs->ps_per_byte) * card->times;
	return *free;
}

/* ---- rails ---- */

static void free_buffer(struct sim_event *event)
{
	struct departure *departure = (struct departure *)event;
	struct sim_card_rail *rail = departure->rail;
	struct sim_card *card = rail->card;
	unsigned i;

	free(departure);
	rail->leaving--;
	rail->first++;
	for (i = 0; i < card->nfirmware; i++) {
		struct sim_firmware *firmware =
			card->firmware[(rail->first + i) % card->nfirmware];

		if (firmware)
			sim_firmware_ready(firmware,
					   (unsigned)(rail - card->rail));
	}
}

static void send_departure(struct sim_event *event)
{
	struct departure *departure = (struct departure *)event;
	struct sim_card_rail *rail = departure->rail;
	struct sim_card *card = rail->card;
	uint64_t free = card->clock->now;

	if (departure->frame->to == rail->port) {
		sim_card_arrived(card, departure->frame);
	} else {
		sim_fabric_send(departure->frame);
		free = sim_fabric_free_at(card->fabric, rail->port);
	}
	departure->event.call = free_buffer;
	sim_clock_set(card->clock, &departure->event, free);
}

bool sim_card_send(struct sim_card *card, unsigned number,
		   struct sim_frame *frame)
{
	struct sim_card_rail *rail = &card->rail[number];
	unsigned most = card->costs->buffers ? card->costs->buffers : LEAVING;
	struct sim_unit *unit = &card->unit[sim_card_unit(card, number)];
	struct departure *departure;

	if (rail->leaving >= most)
		return false;
	departure = sim_need(calloc(1, sizeof(*departure)));
	departure->event.call = send_departure;
	departure->rail = rail;
	departure->frame = frame;
	rail->leaving++;
	unit->busy = later_time(unit->busy, card->clock->now) +
		     card->costs->frame_sent * card->times;
	sim_clock_set(card->clock, &departure->event, unit->busy);
	return true;
}

/* No firmware takes the frame: the sender is told, as by ICMP. */
static void refuse_frame(struct sim_card *card, unsigned rail,
			 const struct sim_frame *frame)
{
	struct sim_frame *answer;

	if (frame->refusal)
		return;
	answer = sim_frame_new(card->fabric, frame->to, frame->from,
			       BCL_FRAME_MIN);
	memset(answer->bytes, 0, BCL_FRAME_MIN);
	answer->source = frame->target;
	answer->target = frame->source;
	answer->refusal = true;
	if (!sim_card_send(card, rail, answer))
		sim_frame_free(answer);
}

static void deliver_frame(struct sim_task *task)
{
	struct arrival *arrival = (struct arrival *)task;
	struct sim_card *card = arrival->card;
	struct sim_frame *frame = arrival->frame;
	unsigned r = arrival->rail;

	free(arrival);
	if (frame->target < card->nfirmware && card->firmware[frame->target]) {
		sim_firmware_frame(card->firmware[frame->target], r, frame);
		return;
	}
	if (!card->off)
		refuse_frame(card, r, frame);
	sim_frame_free(frame);
}

void sim_card_arrived(struct sim_card *card, struct sim_frame *frame)
{
	struct arrival *arrival;

	if (card->off) {
		sim_frame_free(frame);
		return;
	}
	arrival = sim_need(calloc(1, sizeof(*arrival)));
	arrival->task.run = deliver_frame;
	arrival->task.takes = card->costs->frame_received;
	while (card->rail[arrival->rail].port != frame->to)
		arrival->rail++;
	arrival->task.unit = sim_card_unit(card, arrival->rail);
	arrival->card = card;
	arrival->frame = frame;
	sim_card_do(card, &arrival->task);
}

/* ---- opening and closing ---- */

void sim_card_open(struct sim_card *card, struct sim_clock *clock,
		   struct sim_fabric *fabric,
		   const struct sim_card_costs *costs, unsigned nranks)
{
	struct sim_unit *unit;

	*card = (struct sim_card){
		.clock = clock,
		.fabric = fabric,
		.costs = costs,
		.firmware = sim_need(calloc(nranks, sizeof(*card->firmware))),
		.nfirmware = nranks,
		.times = 1,
	};
	for (unit = card->unit; unit < card->unit + BCL_RAILS_MAX; unit++) {
		unit->card = card;
		unit->turn.call = finish_task;
		unit->last = &unit->first;
	}
}

void sim_card_close(struct sim_card *card)
{
	free(card->firmware);
}

void sim_card_rail(struct sim_card *card, uint32_t port)
{
	sim_check(card->nrails < BCL_RAILS_MAX, "too many rails");
	card->rail[card->nrails++] =
		(struct sim_card_rail){ .card = card, .port = port };
}

void sim_card_plug(struct sim_card *card, unsigned rail, bool in)
{
	unsigned i;

	card->rail[rail].unplugged = !in;
	for (i = 0; i < card->nfirmware; i++)
		if (card->firmware[i])
			sim_firmware_rail(card->firmware[i], rail);
}

void sim_card_power(struct sim_card *card, bool on)
{
	struct sim_unit *unit;
	struct sim_task *task;

	card->off = !on;
	for (unit = card->unit; unit < card->unit + BCL_RAILS_MAX; unit++)
		while (card->off &&
		       (task = unit->current ? unit->current : unit->first)) {
			sim_card_forget(card, task);
			task->run(task);
		}
}
