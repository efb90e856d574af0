/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The card: set-up of its memory, and the inputs (bcl_card_*).
 */
#include <nicfw/card.h>

#include <nicfw/arena.h>
#include <nicfw/arrived.h>
#include <nicfw/assemble.h>
#include <nicfw/burst.h>
#include <nicfw/channel.h>
#include <nicfw/conn.h>
#include <nicfw/contact.h>
#include <nicfw/control.h>
#include <nicfw/dma.h>
#include <nicfw/gate.h>
#include <nicfw/inbound.h>
#include <nicfw/launch.h>
#include <nicfw/node.h>
#include <nicfw/port.h>
#include <nicfw/rails.h>
#include <nicfw/recv.h>
#include <nicfw/sdma.h>
#include <nicfw/send.h>
#include <nicfw/timer.h>

enum {
	ALIGN = 64,
	CONTROL_BUDGET = 64,
	EXPECTED = 16, /* messages of a list that bcl_card_expected() reads */
};

static uint32_t power_above(uint32_t n)
{
	uint32_t power = 1;

	while (power < n)
		power += power;
	return power;
}

static uint32_t jobs_of(const struct bcl_card_config *config)
{
	return config->buffers * 16 + 64;
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
	to->jobs = carve(base, &at, jobs_of(config), sizeof(*to->jobs));
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
	nic_pool_init(&card->jobs, from->jobs, jobs_of(config),
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
	return card;
}

/*
 * Every input begins here. After a long time without any input the silence was
 * the host's own: peers get their full time anew.
 */
static void wake_up(struct bcl_card *card, uint64_t now)
{
	if (now - card->now > card->config.peer_timeout / 2)
		card->back_at = now;
	card->now = now;
}

/*
 * All inputs but the most urgent ones begin here, and first apply the
 * acknowledgements in card->answered.
 */
static void begin_input(struct bcl_card *card, uint64_t now)
{
	wake_up(card, now);
	if (card->answered.conn)
		bcl_nic_recv_answers(card);
}

/* Run the engines and set *next. */
static void run_engines(struct bcl_card *card, unsigned budget,
			struct bcl_card_next *next)
{
	if (!nic_list_empty(&card->gates))
		bcl_nic_gate_open(card);
	if (card->now >= card->starving_at && !nic_list_empty(&card->starving))
		bcl_nic_port_feed(card);
	if (card->now >= card->wanting_at && !nic_list_empty(&card->wanting))
		bcl_nic_contact_serve(card);
	if (!nic_list_empty(&card->intake))
		bcl_nic_sdma_intake(card, &budget);
	if (!nic_list_empty(&card->active) || !nic_list_empty(&card->working) ||
	    !nic_list_empty(&card->waiting))
		bcl_nic_send(card, &budget);
	if (!nic_list_empty(&card->news))
		bcl_nic_port_wake(card);
	next->more = budget == 0 || card->answered.conn;
	next->deadline = card->nheap ? card->heap[0]->due : NIC_NEVER;
	if (!nic_list_empty(&card->starving) &&
	    card->starving_at < next->deadline)
		next->deadline = card->starving_at;
	if (!nic_list_empty(&card->wanting) &&
	    card->wanting_at < next->deadline)
		next->deadline = card->wanting_at;
}

/*
 * The owner may have written any count there. The count is wrong if it exceeds
 * the ring, or takes back entries that may be read by now.
 */
static bool made_more(struct bcl_card *card, struct nic_port *port,
		      uint32_t made)
{
	uint32_t left = made - port->taken;

	if (left > port->nrequests || left < port->made - port->taken) {
		nic_count(card, submits_wrong);
		return false;
	}
	port->made = made;
	return true;
}

void bcl_card_doorbell(struct bcl_card *card, uint16_t number, uint32_t made,
		       uint64_t now, unsigned budget,
		       struct bcl_card_next *next)
{
	struct nic_port *port = nic_port_find(card, number);

	wake_up(card, now);
	/* A short message leaves before any other work. */
	if (port && made_more(card, port, made))
		bcl_nic_sdma_rung(card, port, &budget);
	if (card->answered.conn)
		bcl_nic_recv_answers(card);
	run_engines(card, budget, next);
}

void bcl_card_frames(struct bcl_card *card, unsigned rail,
		     const struct bcl_rx_frame *frames, unsigned n,
		     uint64_t now, unsigned budget, struct bcl_card_next *next)
{
	unsigned i;

	wake_up(card, now);
	for (i = 0; i < n && rail < BCL_RAILS_MAX; i++) {
		bcl_nic_recv(card, rail, &frames[i]);
		if (i + 1 < n)
			i += bcl_nic_burst(card, rail, &frames[i], n - i - 1);
	}
	run_engines(card, budget, next);
}

void bcl_card_drained(struct bcl_card *card, unsigned rail, uint64_t now,
		      unsigned budget, struct bcl_card_next *next)
{
	struct nic_conn *conn;

	begin_input(card, now);
	while (rail < BCL_RAILS_MAX &&
	       (conn = nic_list_first(&card->drain, struct nic_conn, drain))) {
		nic_list_remove(&conn->drain);
		nic_conn_work(card, conn, NIC_WORK_ACK << rail);
	}
	run_engines(card, budget, next);
}

void bcl_card_transmit_ready(struct bcl_card *card, unsigned rail, uint64_t now,
			     unsigned budget, struct bcl_card_next *next)
{
	begin_input(card, now);
	if (rail < BCL_RAILS_MAX)
		bcl_nic_send_ready(card, rail);
	run_engines(card, budget, next);
}

/* The owner of the job continues. */
static void job_done(struct bcl_card *card, const struct nic_job *job,
		     enum bcl_dma_result result)
{
	struct nic_port *port = job->object;

	switch ((enum nic_job_kind)job->kind) {
	case NIC_JOB_INTAKE:
		if (!port->closed)
			bcl_nic_sdma_fetched(card, port, result);
		bcl_nic_port_job_done(card, port);
		break;
	case NIC_JOB_FREED:
		port->freed_due = 0;
		if (!port->closed && result == BCL_DMA_DONE)
			bcl_nic_port_freed(card, port, NIC_BLOCKS);
		bcl_nic_port_job_done(card, port);
		break;
	case NIC_JOB_SLEEPING:
		port->sleeping_due = 0;
		if (!port->closed && result == BCL_DMA_DONE)
			bcl_nic_port_slept(card, port);
		bcl_nic_port_job_done(card, port);
		break;
	case NIC_JOB_FETCH:
		bcl_nic_launch_dma_done(card, job->buffer, result);
		break;
	case NIC_JOB_STORE:
		bcl_nic_assemble_stored(card, job->object, job->buffer, result);
		break;
	}
}

void bcl_card_dma_done(struct bcl_card *card, uint32_t cookie,
		       enum bcl_dma_result result, uint64_t now,
		       unsigned budget, struct bcl_card_next *next)
{
	struct nic_job job;

	begin_input(card, now);
	if (cookie < jobs_of(&card->config) &&
	    bcl_nic_dma_end(card, cookie, &job))
		job_done(card, &job, result);
	run_engines(card, budget, next);
}

void bcl_card_timer(struct bcl_card *card, uint64_t now, unsigned budget,
		    struct bcl_card_next *next)
{
	begin_input(card, now);
	for (; budget && card->nheap && card->heap[0]->due <= now; budget--)
		bcl_nic_timer(card, card->heap[0]);
	run_engines(card, budget, next);
}

void bcl_card_node_gone(struct bcl_card *card, uint32_t index, unsigned rail,
			enum bcl_status why, uint64_t now, unsigned budget,
			struct bcl_card_next *next)
{
	struct nic_node *node = nic_node_at(card, index);
	struct nic_conn *conn = node ? node->conn : NULL;

	begin_input(card, now);
	if (conn && rail < BCL_RAILS_MAX &&
	    conn->window[rail].state != NIC_RAIL_OFF &&
	    bcl_nic_rails_refused(card, conn, rail))
		bcl_nic_contact_end(card, conn, why);
	run_engines(card, budget, next);
}

enum bcl_status bcl_card_control(struct bcl_card *card,
				 const struct bcl_control *control,
				 uint64_t now, uint32_t *result,
				 struct bcl_card_next *next)
{
	enum bcl_status status;

	begin_input(card, now);
	status = bcl_nic_control(card, control, result);
	run_engines(card, CONTROL_BUDGET, next);
	return status;
}

/* Bytes that the first EXPECTED messages of a list request from the peer. */
static uint64_t requested_bytes(const struct nic_link *list)
{
	const struct nic_message *message;
	const struct nic_link *link = list->next;
	uint64_t bytes = 0;
	unsigned i;

	for (i = 0; i < EXPECTED && link != list; i++, link = link->next) {
		message = bcl_container_of(link, struct nic_message, numbered);
		if (message->op == BCL_SEG_GET && !message->answering)
			bytes += message->length;
	}
	return bytes;
}

uint64_t bcl_card_expected(const struct bcl_card *card, unsigned rail)
{
	const struct nic_inbound *inbound;

	inbound = rail < BCL_RAILS_MAX ? card->rail[rail].arriving : NULL;
	if (!inbound)
		return 0;
	return inbound->total - inbound->received +
	       requested_bytes(&inbound->conn->awaiting) +
	       requested_bytes(&inbound->conn->numbered);
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

const uint64_t *bcl_card_counters(const struct bcl_card *card)
{
	return card->counters;
}

enum bcl_status bcl_card_node_info(const struct bcl_card *card, uint32_t index,
				   struct bcl_node_info *info)
{
	const struct nic_node *node = nic_node_at(card, index);
	const struct nic_conn *conn;
	unsigned rail;

	if (!node)
		return BCL_ERR_ARG;
	memset(info, 0, sizeof(*info));
	info->card = node->card;
	info->state = (enum bcl_node_state)node->state;
	info->status = (enum bcl_status)node->status;
	info->messages_queued = node->messages;
	conn = node->conn;
	if (!conn)
		return BCL_OK;
	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		if (conn->window[rail].state == NIC_RAIL_PROVED)
			info->rails |= 1u << rail;
	if (conn->small_rail < BCL_RAILS_MAX)
		info->rtt = conn->window[conn->small_rail].min_rtt;
	info->last_heard = conn->heard;
	info->frames_sent = conn->frames_sent;
	info->frames_received = conn->frames_received;
	info->retransmitted = conn->retransmitted;
	return BCL_OK;
}
