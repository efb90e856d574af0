/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Set-up of a card: the layout of its memory, and how much of it was used. */
#include <nicfw/arena.h>
#include <nicfw/arrived.h>
#include <nicfw/card.h>
#include <nicfw/channel.h>
#include <nicfw/dma.h>
#include <nicfw/inbound.h>
#include <nicfw/message.h>
#include <nicfw/port.h>

enum {
	ALIGN = 64,
};

static uint32_t power_above(uint32_t n)
{
	uint32_t power = 1;

	while (power < n)
		power += power;
	return power;
}

/* Memory with a fixed place. The rest is the arena of ports and connections. */
struct layout {
	struct nic_port *self;
	struct nic_message *messages;
	struct nic_flow *flows;
	struct nic_flight *flights;
	struct nic_inbound *inbounds;
	struct nic_job *jobs;
	struct nic_flow **flow_buckets;
	struct nic_node *nodes;
	uint32_t *node_buckets;
	struct nic_conn **conns, **heap;
	struct nic_buffer *buffers;
	uint8_t *bytes;
};

static uint32_t frame_of(const struct bcl_card_config *config)
{
	return config->frame && config->frame < BCL_FRAME_MAX ? config->frame
							      : BCL_FRAME_MAX;
}

/* Bytes of a buffer. */
static uint32_t frame_size(const struct bcl_card_config *config)
{
	return (frame_of(config) + ALIGN - 1) & ~(ALIGN - 1u);
}

static uint32_t conns_of(const struct bcl_card_config *config)
{
	return power_above(config->max_nodes + 8); /* room for candidates */
}

/* Reserve n objects at *at. Returns NULL if base is NULL. */
static void *carve(uint8_t *base, uint32_t *at, uint32_t n, size_t size)
{
	void *objects = base ? base + *at : NULL;

	*at += (uint32_t)((n * size + ALIGN - 1) & ~(size_t)(ALIGN - 1));
	return objects;
}

/*
 * Lay out the memory at `base`; NULL: only measure. Touches nothing. Returns
 * the bytes used.
 */
static uint32_t lay_out(struct layout *to, uint8_t *base,
			const struct bcl_card_config *config)
{
	uint32_t messages = config->max_messages, at = 0;

	carve(base, &at, 1, sizeof(struct bcl_card));
	to->self = carve(base, &at, 1, sizeof(*to->self));
	to->messages = carve(base, &at, messages, sizeof(*to->messages));
	to->flows = carve(base, &at, 2 * messages, sizeof(*to->flows));
	to->flights = carve(base, &at, 4 * messages, sizeof(*to->flights));
	to->inbounds = carve(base, &at, messages, sizeof(*to->inbounds));
	to->jobs = carve(base, &at, nic_dma_jobs(config), sizeof(*to->jobs));
	to->flow_buckets =
		carve(base, &at, messages, sizeof(*to->flow_buckets));
	to->nodes = carve(base, &at, config->max_nodes, sizeof(*to->nodes));
	to->node_buckets = carve(base, &at, power_above(config->max_nodes),
				 sizeof(*to->node_buckets));
	to->conns = carve(base, &at, conns_of(config), sizeof(*to->conns));
	to->heap = carve(base, &at, conns_of(config), sizeof(*to->heap));
	to->buffers =
		carve(base, &at, 2 * config->buffers, sizeof(*to->buffers));
	to->bytes = carve(base, &at, 2 * config->buffers, frame_size(config));
	return at;
}

static void set_up_pools(struct bcl_card *card, const struct layout *from,
			 const struct bcl_card_config *config)
{
	uint32_t messages = config->max_messages, i;

	card->message = from->messages;
	card->flow = from->flows;
	card->job = from->jobs;
	card->flow_buckets = from->flow_buckets;
	card->node = from->nodes;
	card->node_buckets = from->node_buckets;
	card->conns = from->conns;
	card->heap = from->heap;
	card->buffer = from->buffers;
	card->mask = messages - 1;
	card->conn_mask = conns_of(config) - 1;
	card->node_mask = power_above(config->max_nodes) - 1;
	for (i = 0; i < 2 * config->buffers; i++)
		from->buffers[i].bytes =
			from->bytes + (size_t)i * frame_size(config);
	nic_pool_init(&card->messages, from->messages, messages,
		      sizeof(*from->messages));
	nic_pool_init(&card->flows, from->flows, 2 * messages,
		      sizeof(*from->flows));
	nic_pool_init(&card->flights, from->flights, 4 * messages,
		      sizeof(*from->flights));
	nic_pool_init(&card->inbounds, from->inbounds, messages,
		      sizeof(*from->inbounds));
	nic_pool_init(&card->jobs, from->jobs, nic_dma_jobs(config),
		      sizeof(*from->jobs));
	nic_pool_init(&card->out, from->buffers, config->buffers,
		      sizeof(*from->buffers));
	nic_pool_init(&card->in, from->buffers + config->buffers,
		      config->buffers, sizeof(*from->buffers));
	card->messages.named = true; /* by flights and reply tokens */
	card->jobs.named = true;     /* by cookies */
	card->out.named = true;	     /* by launch.c, all of them */
	card->in.named = true; /* buffers keep the address of their bytes */
}

static bool config_right(const struct bcl_hal *hal,
			 const struct bcl_card_config *config)
{
	uint32_t messages = config->max_messages;

	return hal->size == sizeof(*hal) && config->card != 0 &&
	       messages >= 16 && messages <= 32768 &&
	       (messages & (messages - 1)) == 0 && config->max_nodes > 0 &&
	       config->max_nodes <= 1 << 20 && config->buffers <= 1024 &&
	       (config->frame == 0 || config->frame >= NIC_MTU_MIN) &&
	       (hal->features & BCL_HAL_GATHER || config->buffers > 0) &&
	       config->ack_delay > 0 && config->rto_min > 0 &&
	       config->rto_max >= config->rto_min &&
	       config->rto_max <= UINT32_MAX / 2 &&
	       config->peer_timeout >= config->rto_max;
}

uint32_t bcl_card_arena(const struct bcl_card_config *config, uint32_t ports,
			uint32_t connections, uint32_t channels)
{
	struct layout layout;

	return lay_out(&layout, NULL, config) +
	       ports * bcl_nic_arena_size(bcl_nic_port_size(1024, 1024, 0)) +
	       connections *
		       (bcl_nic_arena_size((uint32_t)sizeof(struct nic_conn)) +
			bcl_nic_arena_size(
				(uint32_t)sizeof(struct nic_arrived))) +
	       channels * (uint32_t)sizeof(struct nic_channel) + 2 * ALIGN;
}

struct bcl_card *bcl_card_open(void *arena, uint32_t size,
			       const struct bcl_hal *hal, void *host,
			       const struct bcl_card_config *config)
{
	struct bcl_card *card = arena;
	struct nic_link *const lists[] = {
		&card->intake,	&card->active, &card->news,    &card->starving,
		&card->working, &card->drain,  &card->waiting, &card->gates,
		&card->wanting, &card->past,
	};
	struct layout layout;
	uint32_t used, i;

	if (!config_right(hal, config) ||
	    size < bcl_card_arena(config, 0, 0, 0))
		return NULL;
	used = lay_out(&layout, arena, config);
	set_up_pools(card, &layout, config);
	bcl_nic_arena_init(card, (uint8_t *)arena + used, size - used);
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		nic_list_init(lists[i]);
	for (i = 0; i < BCL_RAILS_MAX; i++) {
		nic_list_init(&card->rail[i].flows);
		nic_list_init(&card->rail[i].fetched);
	}
	card->self = layout.self;
	bcl_nic_port_init(card->self);
	card->hal = *hal;
	card->host = host;
	card->config = *config;
	card->config.frame = frame_of(config);
	card->gather = hal->features & BCL_HAL_GATHER;
	card->reserve = config->max_messages / 4;
	card->conn_shift = 2;
	while (card->conn_mask >> (card->conn_shift - 2))
		card->conn_shift++;
	card->conn_turn = (uint32_t)hal->random(host);
	card->conn_step = (uint32_t)hal->random(host) | 1;
	return card;
}

static uint32_t most_of(const struct nic_pool *pool)
{
	return pool->most * pool->size;
}

/*
 * Tables of connections and nodes count up to the highest index of a connection
 * that was ever used; hash tables count in full.
 */
void bcl_card_peaks(const struct bcl_card *card, struct bcl_card_peaks *peaks)
{
	const uint32_t buffers = card->out.most + card->in.most;
	const uint32_t conn = 2 * sizeof(struct nic_conn *);

	*peaks = (struct bcl_card_peaks){
		.memory = (uint32_t)(sizeof(*card) + sizeof(*card->self)) +
			  most_of(&card->messages) + most_of(&card->flows) +
			  most_of(&card->flights) + most_of(&card->inbounds) +
			  most_of(&card->jobs) + most_of(&card->out) +
			  most_of(&card->in) +
			  buffers * frame_size(&card->config) +
			  (card->mask + 1) * (uint32_t)sizeof(void *) +
			  (card->node_mask + 1) * (uint32_t)sizeof(uint32_t) +
			  card->conns_end *
				  (conn + (uint32_t)sizeof(struct nic_node)) +
			  card->arena_most,
		.sending = card->messages.most,
		.held = card->inbounds.most,
	};
}
