/* SPDX-License-Identifier: MIT */
/* Accesses of a simulated card to the memory of the host: DMA transfers, events
 * and atomics. */
#include <stdlib.h>
#include <string.h>

#include <bcl/bcl.h>

#include "card/memory.h"
#include "sim/fail.h"
#include "sim/firmware.h"

struct bcl_host_seat *sim_seat_find(struct sim_firmware *firmware,
				    uint16_t number)
{
	unsigned i;

	for (i = 0; i < SIM_PORTS; i++) {
		struct bcl_host_seat *seat = &firmware->seats[i];

		if (seat->number == number)
			return seat;
	}
	return NULL;
}

static struct bcl_host_seat *seat_of(struct sim_firmware *firmware,
				     uint16_t port,
				     const struct bcl_memref *ref)
{
	uint32_t seat = (ref->handle - 1) / SIM_AREAS;

	if (port)
		return sim_seat_find(firmware, port);
	return ref->handle && seat < SIM_PORTS ? &firmware->seats[seat] : NULL;
}

static uint8_t *area_address(const struct bcl_host_seat *seat,
			     const struct bcl_memref *ref)
{
	uint32_t index = (ref->handle - 1) % SIM_AREAS;
	const struct bcl_host_area *area;

	if (index >= BCL_AREAS || !seat->number)
		return NULL;
	area = &seat->areas[index];
	if (ref->offset > area->length ||
	    ref->length > area->length - ref->offset)
		return NULL;
	return area->address + ref->offset;
}

static bool on_the_card(const struct bcl_host_seat *seat, uint16_t port,
			const struct bcl_memref *ref)
{
	return !port &&
	       (ref->handle == sim_area_handle(seat, BCL_AREA_REQUESTS) ||
		ref->handle == sim_area_handle(seat, BCL_AREA_INDICES));
}

/*
 * Returns the address of the memory, or NULL if the memory does not exist or
 * access is not allowed. Called when a transfer begins and when it ends: by
 * then the memory may be gone.
 */
static uint8_t *resolve_address(struct sim_firmware *firmware, uint16_t port,
				int remote, const struct bcl_memref *ref,
				unsigned rights)
{
	struct bcl_host_seat *seat = seat_of(firmware, port, ref);

	if (!seat)
		return NULL;
	if (!port)
		return area_address(seat, ref);
	if (!remote && ref->handle == BCL_HANDLE_SELF)
		return (uint8_t *)(uintptr_t)ref->offset;
	if (!remote)
		return bcl_memory_check(firmware->setup.memories, ref->handle,
					ref->offset, ref->length, 0);
	return bcl_memory_reach(firmware->setup.memories, ref->handle,
				ref->offset, ref->length, rights);
}

static unsigned needed_right(enum bcl_dma_direction direction)
{
	return direction == BCL_DMA_WRITE ? BCL_REMOTE_WRITE : BCL_REMOTE_READ;
}

int sim_hal_allowed(void *arg, enum bcl_dma_direction direction, uint16_t port,
		    const struct bcl_memref *ref)
{
	return resolve_address(arg, port, 1, ref, needed_right(direction)) !=
	       NULL;
}

enum bcl_dma_result sim_hal_atomic(void *arg, enum bcl_atomic_op op,
				   uint16_t port, const struct bcl_memref *ref,
				   const uint64_t operand[2], uint64_t *old)
{
	uint64_t *word =
		(void *)resolve_address(arg, port, 1, ref, BCL_REMOTE_ATOMIC);

	if (!word || ref->length != sizeof(*old) || (uintptr_t)word % 8)
		return BCL_DMA_FAULT;
	*old = *word;
	if (op == BCL_ATOMIC_ADD)
		*word += operand[0];
	else if (*old == operand[0])
		*word = operand[1];
	return BCL_DMA_DONE;
}

/* ---- moves ---- */

/* A transfer by an engine: payload, or an event. */
struct sim_move {
	struct sim_event done;
	struct sim_task task;
	struct sim_firmware *firmware;
	struct bcl_host_seat *seat; /* NULL: dropped */
	struct sim_move *next, **place;

	/* of payload */
	enum bcl_dma_direction direction;
	enum bcl_dma_result result;
	uint16_t port;
	int remote;
	struct bcl_memref ref;
	void *memory; /* on the card */
	uint32_t cookie;

	/* of an event */
	enum bcl_queue queue;
	uint32_t slot;
	struct bcl_completion entry;
};

static struct sim_move *new_move(struct sim_firmware *firmware,
				 struct bcl_host_seat *seat, unsigned unit,
				 enum bcl_dma_direction direction,
				 uint32_t length,
				 void (*done)(struct sim_event *event))
{
	struct sim_move *move = sim_need(calloc(1, sizeof(*move)));

	move->firmware = firmware;
	move->seat = seat;
	move->direction = direction;
	move->done.call = done;
	move->next = firmware->moves;
	move->place = &firmware->moves;
	if (move->next)
		move->next->place = &move->next;
	firmware->moves = move;
	sim_clock_set(firmware->card->clock, &move->done,
		      sim_card_move(firmware->card, unit, direction, length));
	return move;
}

static void free_move(struct sim_move *move)
{
	*move->place = move->next;
	if (move->next)
		move->next->place = move->place;
	free(move);
}

void sim_moves_drop(struct sim_firmware *firmware,
		    const struct bcl_host_seat *seat)
{
	struct sim_move *move;

	for (move = firmware->moves; move; move = move->next)
		if (move->seat == seat)
			move->seat = NULL;
}

void sim_moves_end(struct sim_firmware *firmware)
{
	struct sim_move *move;

	while ((move = firmware->moves)) {
		sim_clock_clear(firmware->card->clock, &move->done);
		sim_card_forget(firmware->card, &move->task);
		free_move(move);
	}
}

/* Tells the core when the processor has time. */
static void payload_told(struct sim_task *task)
{
	struct sim_move *move =
		(struct sim_move *)(void *)((char *)task -
					    offsetof(struct sim_move, task));
	struct sim_firmware *firmware = move->firmware;
	const struct sim_move was = *move;

	free_move(move);
	sim_firmware_moved(firmware, was.direction, was.cookie, was.result);
}

static void payload_moved(struct sim_event *event)
{
	struct sim_move *move = (struct sim_move *)event;
	uint8_t *memory = NULL;

	if (move->seat)
		memory = resolve_address(move->firmware, move->port,
					 move->remote, &move->ref,
					 needed_right(move->direction));
	move->result = memory ? BCL_DMA_DONE : BCL_DMA_FAULT;
	if (memory && move->direction == BCL_DMA_WRITE)
		memcpy(memory, move->memory, move->ref.length);
	move->task.run = payload_told;
	sim_card_do(move->firmware->card, &move->task);
}

enum bcl_dma_result sim_hal_dma(void *arg, enum bcl_dma_direction direction,
				uint16_t port, int remote,
				const struct bcl_memref *ref, void *card,
				uint32_t cookie)
{
	struct sim_firmware *firmware = arg;
	uint8_t *memory = resolve_address(firmware, port, remote, ref,
					  needed_right(direction));
	struct bcl_host_seat *seat = seat_of(firmware, port, ref);
	struct sim_move *move;
	unsigned unit;

	if (!memory)
		return BCL_DMA_FAULT;
	if (on_the_card(seat, port, ref)) {
		memcpy(card, memory, ref->length);
		return BCL_DMA_DONE;
	}
	/*
	 * Copied now, because the memory may be gone when the engine gets
	 * there: a frame that is retransmitted in vain may be fetched after the
	 * end of its message. Hardware reads from pages that stay pinned.
	 */
	if (direction == BCL_DMA_READ)
		memcpy(card, memory, ref->length);
	unit = sim_card_unit(firmware->card,
			     bcl_card_dma_rail(firmware->core, cookie));
	move = new_move(firmware, seat, unit, direction, ref->length,
			payload_moved);
	move->task.unit = unit;
	move->port = port;
	move->remote = remote;
	move->ref = *ref;
	move->memory = card;
	move->cookie = cookie;
	firmware->stores += direction == BCL_DMA_WRITE;
	return BCL_DMA_PENDING;
}

static void event_landed(struct sim_event *event)
{
	struct sim_move *move = (struct sim_move *)event;
	struct bcl_host_seat *seat = move->seat;
	const struct bcl_completion *entry = &move->entry;
	struct bcl_completion *queue;

	if (seat && move->queue == BCL_QUEUE_RECEIVES) {
		queue = (void *)seat->areas[BCL_AREA_RECEIVES].address;
		queue[move->slot] = *entry;
	} else if (seat) {
		queue = (void *)seat->areas[BCL_AREA_SENDS].address;
		queue[move->slot] = *entry;
	}
	if (seat)
		sim_wake(seat);
	free_move(move);
}

void sim_hal_event(void *arg, uint16_t port, enum bcl_queue queue,
		   uint32_t slot, const struct bcl_completion *entry)
{
	struct sim_firmware *firmware = arg;
	struct sim_move *move =
		new_move(firmware, sim_seat_find(firmware, port), 0,
			 BCL_DMA_WRITE, sizeof(*entry), event_landed);

	if (firmware->trace.file)
		bcl_journal_event(&firmware->trace.journal, port, queue, entry);
	move->queue = queue;
	move->slot = slot;
	move->entry = *entry;
}
