/* SPDX-License-Identifier: MIT */
/* The hardware abstraction (nicfw/hal.h) that a simulated card gives the core,
 * except memory accesses, which are in move.c. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "card/checksum.h"
#include "env/crc32c.h"
#include "sim/fail.h"
#include "sim/firmware.h"
#include "transport/port.h"

enum {
	FEW = 8, /* initial size of the table of nodes */
};

void sim_wake(const struct bcl_host_seat *seat)
{
	const struct bcl_env *env = seat->firmware->setup.env;

	env->wake(env->world, seat->object);
}

/* Nothing to do: the owner was woken when the event landed. */
static void hal_wake(void *arg, uint16_t port)
{
	(void)arg;
	(void)port;
}

/* ---- frames ---- */

static const struct sim_address *address_of(const struct sim_firmware *firmware,
					    unsigned rail, uint32_t node)
{
	if (node == BCL_NODE_NONE)
		return firmware->source_rail == rail ? firmware->source : NULL;
	if (node >= firmware->nnodes)
		return NULL;
	if (firmware->nodes[node].shown.known & 1 << rail)
		return &firmware->nodes[node].address[rail];
	return firmware->connecting ? &firmware->connecting[rail] : NULL;
}

static unsigned hal_transmit(void *arg, unsigned rail, uint32_t node,
			     struct bcl_tx_frame *tx)
{
	struct sim_firmware *firmware = arg;
	struct sim_card *card = firmware->card;
	const struct sim_address *to = address_of(firmware, rail, node);
	struct bcl_frame_header *header;
	struct sim_frame *frame;

	if (!to)
		return tx->frames; /* counts as sent and lost */
	frame = sim_frame_new(card->fabric, card->rail[rail].port, to->port,
			      tx->head_len);
	frame->source = (uint16_t)firmware->place;
	frame->target = to->firmware;
	memcpy(frame->bytes, tx->head, tx->head_len);
	header = (void *)frame->bytes;
	if (tx->flags & BCL_TX_PCRC)
		header->pcrc =
			bcl_put32(bcl_crc32c(0, frame->bytes + BCL_HEADERS_SIZE,
					     tx->head_len - BCL_HEADERS_SIZE));
	if (sim_card_send(card, rail, frame)) {
		sim_trace_frame(firmware, rail, BCL_PCAPNG_OUTBOUND,
				frame->bytes, frame->length);
		return 1;
	}
	sim_frame_free(frame);
	firmware->ready[rail].blocked = true;
	return 0;
}

/* ---- nodes ---- */

struct sim_node *sim_node_make(struct sim_firmware *firmware, uint32_t index,
			       uint64_t card)
{
	uint32_t n = firmware->nnodes ? firmware->nnodes : FEW;
	struct sim_node *node;

	while (n <= index)
		n *= 2;
	if (n != firmware->nnodes) {
		firmware->nodes =
			sim_need(realloc(firmware->nodes, n * sizeof(*node)));
		memset(&firmware->nodes[firmware->nnodes], 0,
		       (n - firmware->nnodes) * sizeof(*node));
		firmware->nnodes = n;
	}
	node = &firmware->nodes[index];
	if (node->shown.card != card) {
		node->shown.card = card;
		node->shown.known = 0;
	}
	return node;
}

static void hal_learn(void *arg, uint32_t index, unsigned rail)
{
	struct sim_firmware *firmware = arg;

	if (index >= firmware->nnodes || !firmware->source ||
	    firmware->source_rail != rail)
		return;
	firmware->nodes[index].address[rail] = *firmware->source;
	firmware->nodes[index].shown.known |= (uint8_t)(1 << rail);
}

static void hal_node(void *arg, uint32_t index, uint64_t card,
		     uint32_t generation, enum bcl_node_state state,
		     enum bcl_status status)
{
	struct sim_firmware *firmware = arg;
	struct sim_node *node = sim_node_make(firmware, index, card);
	unsigned i;

	if (firmware->trace.file)
		bcl_journal_node(&firmware->trace.journal, card, state, status);
	bcl_host_node_set(&node->shown, generation, state, status);
	atomic_fetch_add_explicit(&firmware->changes, 1, memory_order_release);
	for (i = 0; i < SIM_PORTS; i++)
		if (firmware->seats[i].number)
			sim_wake(&firmware->seats[i]);
}

static uint64_t hal_random(void *arg)
{
	struct sim_firmware *firmware = arg;
	const struct bcl_env *env = firmware->setup.env;

	return env->random(env->world);
}

const struct bcl_hal sim_hal = {
	.size = sizeof(struct bcl_hal),
	.transmit = hal_transmit,
	.dma = sim_hal_dma,
	.allowed = sim_hal_allowed,
	.atomic = sim_hal_atomic,
	.event = sim_hal_event,
	.wake = hal_wake,
	.crc32c = bcl_host_crc32c,
	.headers_crc = bcl_host_headers_crc,
	.learn = hal_learn,
	.node = hal_node,
	.random = hal_random,
};
