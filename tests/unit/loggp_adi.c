/* SPDX-License-Identifier: MIT */
/*
 * The ADI in virtual time on a LogGP machine, for the tests of collectives. See
 * loggp_adi.h. The model is that of A. Alexandrov, M. Ionescu, K. Schauser, C.
 * Scheiman, SPAA 1995 (sim/bounds/bound.h).
 */
#include "tests/unit/loggp_adi.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "sim/fail.h"

enum {
	CONTROL = 64, /* bytes of an ANNOUNCE or ASK message */
};

enum kind {
	EAGER,
	ANNOUNCE, /* the sender announces a long message */
	ASK, /* the receiver asks for the data: the sender's card answers */
	DATA,
	READ, /* the receiver has all data: the send is over */
	PUT,  /* a long message to a put target that the receiver opened */
};

/* A message in flight, or one that has arrived and is not received yet. */
struct message {
	struct sim_event event;
	struct message *next;
	struct bcl_adi *from, *to; /* ASK, READ: to the sender of the data */
	enum kind kind;
	unsigned tag;
	uint8_t sends, receives; /* lane of the sender, of the receiver */
	size_t length;		 /* bytes of data */
};

/* A receive that has not matched a message yet. */
struct receive {
	struct receive *next;
	unsigned from, tag;
	uint8_t lane;
};

/* ---- lists --------------------------------------------------------------- */

static void append(struct message **list, struct message *message)
{
	while (*list)
		list = &(*list)->next;
	message->next = NULL;
	*list = message;
}

static struct message *first(struct message **list)
{
	struct message *message = *list;

	*list = message->next;
	return message;
}

static struct message *match_message(struct bcl_adi *adi, unsigned from,
				     unsigned tag)
{
	struct message **link = &adi->unexpected;

	while (*link && ((*link)->from->rank != from || (*link)->tag != tag))
		link = &(*link)->next;
	return *link ? first(link) : NULL;
}

static bool match_receive(struct bcl_adi *adi, struct message *message)
{
	struct receive **link = &adi->receives, *receive;

	while (*link && ((*link)->from != message->from->rank ||
			 (*link)->tag != message->tag))
		link = &(*link)->next;
	receive = *link;
	if (!receive)
		return false;
	*link = receive->next;
	message->receives = receive->lane;
	free(receive);
	return true;
}

/* ---- messages ------------------------------------------------------------ */

static bool near(const struct bcl_adi *a, const struct bcl_adi *b)
{
	return a->card == b->card;
}

/* Bytes of the message after the first byte. READ takes no bandwidth. */
static uint64_t more(const struct message *message)
{
	size_t length = message->length;

	if (message->kind == ANNOUNCE || message->kind == ASK)
		length = CONTROL;
	return length && message->kind != READ ? length - 1 : 0;
}

void loggp_attend(struct bcl_adi *adi)
{
	struct sim_clock *clock = &adi->world->clock;

	if (!sim_clock_is_set(&adi->turn))
		sim_clock_set(clock, &adi->turn,
			      loggp_later(clock->now, adi->free));
}

static void inject(struct sim_event *event);

/* The sender's card sends the data that the receiver asked for. The sender's
 * processor has no work. */
static void answer(struct message *ask)
{
	struct bcl_adi *from = ask->to;

	ask->to = ask->from;
	ask->from = from;
	ask->kind = DATA;
	inject(&ask->event);
}

/* Event: the whole message has arrived. */
static void delivered(struct sim_event *event)
{
	struct message *message =
		bcl_container_of(event, struct message, event);

	if (message->kind == ASK) {
		answer(message);
		return;
	}
	append(&message->to->arrived, message);
	loggp_attend(message->to);
}

/*
 * One direction of a card handles the message; *port_free is the time at which
 * the card can begin. Returns the time at which the card does begin. The card
 * handles messages in sequence. But an ASK begins at once, and only delays
 * the next messages: long messages consist of frames, and the ASK goes between
 * two frames.
 */
static uint64_t pass(uint64_t *port_free, const struct message *message)
{
	const struct loggp_world *world = message->to->world;
	uint64_t now = world->clock.now, begin = loggp_later(now, *port_free);

	*port_free = begin + more(message) * world->between.byte +
		     world->between.gap;
	return message->kind == ASK ? now : begin;
}

/* Event: the first byte of the message is at the receiver's card. */
static void arriving(struct sim_event *event)
{
	struct message *message =
		bcl_container_of(event, struct message, event);
	struct loggp_world *world = message->to->world;
	uint64_t begin = pass(&message->to->card->in_free, message);

	event->call = delivered;
	sim_clock_set(&world->clock, event,
		      begin + more(message) * world->between.byte);
}

/* Event: the sender's processor has given the message to the card. */
static void inject(struct sim_event *event)
{
	struct message *message =
		bcl_container_of(event, struct message, event);
	struct loggp_world *world = message->to->world;
	uint64_t begin = pass(&message->from->card->out_free, message);

	event->call = arriving;
	sim_clock_set(&world->clock, event, begin + world->between.latency);
}

/* The sender's processor sends a message: by the card, or inside the node,
 * where the processor copies the bytes. */
static void submit(struct bcl_adi *from, struct bcl_adi *to, enum kind kind,
		   unsigned tag, size_t length)
{
	struct loggp_world *world = from->world;
	struct message *message = sim_need(malloc(sizeof(*message)));
	const struct loggp_net *inside = &world->inside;
	uint64_t begin;

	*message = (struct message){
		.from = from,
		.to = to,
		.kind = kind,
		.tag = tag,
		.sends = from->schedule->lane,
		.length = length,
	};
	from->free = loggp_later(from->free, world->clock.now);
	if (!near(from, to)) {
		from->free += world->between.send;
		message->event.call = inject;
		sim_clock_set(&world->clock, &message->event, from->free);
		return;
	}
	begin = loggp_later(from->free + inside->send, from->port_free);
	from->free = begin + more(message) * inside->byte;
	from->port_free = from->free + inside->gap;
	message->event.call = delivered;
	sim_clock_set(&world->clock, &message->event, begin + inside->latency);
}

/* ps of work of the receiver's processor for a message that has arrived. Inside
 * a node the processor copies the bytes. */
static uint64_t work(const struct message *message)
{
	const struct loggp_world *world = message->to->world;

	if (!near(message->from, message->to))
		return world->between.receive;
	return world->inside.receive + more(message) * world->inside.byte;
}

/* An ANNOUNCE has matched a receive: the receiver fetches the data. */
static void fetch(struct message *message)
{
	struct bcl_adi *from = message->from, *to = message->to;
	struct loggp_world *world = to->world;

	message->event = (struct sim_event){ 0 };
	if (near(from, to)) {
		/* The receiver's processor copies out of the sender's
		 * memory. */
		message->kind = DATA;
		append(&to->arrived, message);
		loggp_attend(to);
		return;
	}
	to->free =
		loggp_later(to->free, world->clock.now) + world->between.send;
	message->from = to;
	message->to = from;
	message->kind = ASK;
	message->event.call = inject;
	sim_clock_set(&world->clock, &message->event, to->free);
}

/* The receiver has all data of a long message: tell the sender, whose send ends
 * then. Takes the latency, but no time of the card. */
static void acknowledge(struct message *message)
{
	struct bcl_adi *from = message->to, *to = message->from;
	struct loggp_world *world = to->world;
	const struct loggp_net *net =
		near(from, to) ? &world->inside : &world->between;

	message->from = from;
	message->to = to;
	message->kind = READ;
	message->event = (struct sim_event){ .call = delivered };
	sim_clock_set(&world->clock, &message->event,
		      world->clock.now + net->latency);
}

/* A send or receive of the lane is pending, until ends(). */
static void begins(struct bcl_adi_schedule *schedule, unsigned lane)
{
	schedule->pending++;
	schedule->lanes[lane]++;
}

static void ends(struct bcl_adi_schedule *schedule, unsigned lane)
{
	schedule->pending--;
	schedule->lanes[lane]--;
}

/* The data of a long message is received. */
static void received(struct message *message)
{
	ends(message->to->schedule, message->receives);
	acknowledge(message);
}

/* The processor has ended the work for an arrived message: match the message,
 * or end the send or receive of the message. Frees or keeps the message. */
static void take(struct bcl_adi *adi, struct message *message)
{
	switch (message->kind) {
	case EAGER:
	case ANNOUNCE:
	case PUT:
		if (!match_receive(adi, message))
			append(&adi->unexpected, message);
		else if (message->kind == ANNOUNCE)
			fetch(message);
		else if (message->kind == PUT)
			received(message);
		else {
			ends(adi->schedule, message->receives);
			free(message);
		}
		break;
	case DATA:
		received(message);
		break;
	case READ:
		ends(adi->schedule, message->sends);
		free(message);
		break;
	case ASK:
		break;
	}
}

static void advance(struct bcl_adi *adi)
{
	struct bcl_adi_schedule *schedule = adi->schedule;

	if (!schedule || !schedule->advance(schedule))
		return;
	adi->schedule = NULL;
	schedule->release(schedule);
	adi->world->running--;
}

void loggp_turn(struct sim_event *event)
{
	struct bcl_adi *adi = bcl_container_of(event, struct bcl_adi, turn);
	struct sim_clock *clock = &adi->world->clock;
	struct message *message = adi->in_hand;

	if (adi->free > clock->now) {
		loggp_attend(adi);
		return;
	}
	adi->free = clock->now;
	adi->in_hand = NULL;
	if (message)
		take(adi, message);
	advance(adi);
	if (adi->arrived) {
		adi->in_hand = first(&adi->arrived);
		adi->free += work(adi->in_hand);
		loggp_attend(adi);
	}
}

/* ---- the ADI ------------------------------------------------------------- */

enum bcl_status bcl_adi_schedule_send(struct bcl_adi_schedule *schedule,
				      const void *buffer, size_t length,
				      unsigned rank, unsigned tag,
				      unsigned context)
{
	struct bcl_adi *adi = schedule->adi;
	bool eager = length <= adi->context.config.eager_max;

	(void)buffer;
	(void)context;
	if (!eager)
		begins(schedule, schedule->lane);
	submit(adi, &adi->world->ranks[rank], eager ? EAGER : ANNOUNCE, tag,
	       length);
	return BCL_OK;
}

enum bcl_status bcl_adi_target_open(struct bcl_adi *adi,
				    struct bcl_adi_target *target, void *memory,
				    size_t length, unsigned tag,
				    unsigned context)
{
	(void)memory;
	(void)length;
	(void)context;
	target->tag = tag;
	target->next = adi->targets;
	adi->targets = target;
	return BCL_OK;
}

void bcl_adi_target_close(struct bcl_adi *adi, struct bcl_adi_target *target)
{
	struct bcl_adi_target **link = &adi->targets;

	while (*link != target)
		link = &(*link)->next;
	*link = target->next;
}

/* All put targets of a rank belong to a single operation, so the tag of any
 * target is the tag of the message. A rank puts to other nodes only. */
enum bcl_status bcl_adi_schedule_put(struct bcl_adi_schedule *schedule,
				     const void *buffer, size_t length,
				     unsigned rank, const uint8_t *key,
				     uint64_t offset)
{
	struct bcl_adi *adi = schedule->adi;
	struct bcl_adi *to = &adi->world->ranks[rank];

	(void)buffer;
	(void)key;
	(void)offset;
	sim_check(to->targets && !near(adi, to),
		  "a put target on another node");
	begins(schedule, schedule->lane);
	submit(adi, to, PUT, to->targets->tag, length);
	return BCL_OK;
}

enum bcl_status bcl_adi_schedule_receive(struct bcl_adi_schedule *schedule,
					 void *buffer, size_t length,
					 unsigned rank, unsigned tag,
					 unsigned context)
{
	struct bcl_adi *adi = schedule->adi;
	struct message *message = match_message(adi, rank, tag);
	struct receive **last = &adi->receives, *receive;

	(void)buffer;
	(void)context;
	if (message && message->kind == EAGER) {
		sim_check(message->length == length, "length of a message");
		free(message);
		return BCL_OK;
	}
	if (message && message->kind == PUT) {
		acknowledge(message);
		return BCL_OK;
	}
	begins(schedule, schedule->lane);
	if (message) {
		sim_check(message->length == length, "length of a message");
		message->receives = schedule->lane;
		fetch(message);
		return BCL_OK;
	}
	receive = sim_need(malloc(sizeof(*receive)));
	*receive = (struct receive){
		.from = rank,
		.tag = tag,
		.lane = schedule->lane,
	};
	while (*last)
		last = &(*last)->next;
	*last = receive;
	return BCL_OK;
}

enum bcl_status bcl_adi_schedule_start(struct bcl_adi *adi,
				       struct bcl_adi_schedule *schedule,
				       struct bcl_adi_request **request)
{
	sim_check(!adi->schedule, "one operation at a time");
	*request = NULL;
	schedule->status = BCL_OK;
	schedule->adi = adi;
	schedule->pending = 0;
	memset(schedule->lanes, 0, sizeof(schedule->lanes));
	adi->schedule = schedule;
	adi->world->running++;
	loggp_attend(adi);
	return BCL_OK;
}

enum bcl_status bcl_adi_schedule_differs(struct bcl_adi *adi, unsigned rank,
					 size_t sent, size_t due)
{
	(void)adi;
	(void)rank;
	sim_check(sent == due, "a message of another length");
	return BCL_ERR_TRUNCATED;
}

void bcl_adi_schedule_fail(struct bcl_adi_schedule *schedule,
			   enum bcl_status status)
{
	(void)schedule;
	(void)status;
	sim_check(false, "a lost team");
}

enum bcl_status bcl_adi_schedule_run(struct bcl_adi *adi,
				     struct bcl_adi_schedule *schedule)
{
	(void)adi;
	(void)schedule;
	sim_check(false, "nothing blocks here");
	return BCL_ERR_SYSTEM;
}

bool bcl_adi_turn(struct bcl_adi *adi)
{
	(void)adi;
	return false;
}

bool bcl_adi_wait_turn(struct bcl_adi *adi)
{
	return bcl_adi_turn(adi);
}

void bcl_adi_idle(struct bcl_adi *adi, struct bcl_adi_idle *idle)
{
	(void)adi;
	(void)idle;
}

bool bcl_adi_linger(struct bcl_adi *adi, struct bcl_adi_idle *idle)
{
	(void)adi;
	(void)idle;
	return true;
}

void bcl_adi_came(struct bcl_adi *adi, struct bcl_adi_idle *idle)
{
	(void)adi;
	(void)idle;
}

void bcl_adi_sleep(struct bcl_adi *adi, uint64_t ns)
{
	(void)adi;
	(void)ns;
}

enum bcl_status bcl_adi_rank_status(const struct bcl_adi *adi, unsigned rank)
{
	(void)adi;
	(void)rank;
	return BCL_OK;
}

struct bcl_adi_client **bcl_adi_client(struct bcl_adi *adi)
{
	return &adi->client;
}

void bcl_adi_oob_send(struct bcl_adi *adi, unsigned rank,
		      const struct bcl_adi_oob *oob)
{
	(void)adi;
	(void)rank;
	(void)oob;
}

void bcl_adi_lock(struct bcl_adi *adi)
{
	(void)adi;
}

void bcl_adi_unlock(struct bcl_adi *adi)
{
	(void)adi;
}

unsigned bcl_adi_rank(const struct bcl_adi *adi)
{
	return adi->rank;
}

unsigned bcl_adi_size(const struct bcl_adi *adi)
{
	return adi->world->size;
}

struct bcl_context *bcl_adi_context(const struct bcl_adi *adi)
{
	return (struct bcl_context *)&adi->context;
}

struct bcl_counter_page *bcl_adi_counters(const struct bcl_adi *adi)
{
	return (struct bcl_counter_page *)&adi->counters;
}

/* Time stands still for the collectives: no member that waits for long checks
 * whether the awaited members are alive. */
static uint64_t now(void *arg)
{
	(void)arg;
	return 0;
}

const struct bcl_env *bcl_adi_env(const struct bcl_adi *adi)
{
	return &adi->world->env;
}

void loggp_env_init(struct loggp_world *world)
{
	world->card = (struct bcl_host_ops){
		.autonomous = true,
		.costs = { .gap = world->machine.between.gap,
			   .receive = world->machine.between.receive },
	};
	world->env = (struct bcl_env){ .now = now, .card = &world->card };
}

enum bcl_status bcl_adi_peer(struct bcl_adi *adi, unsigned rank,
			     struct bcl_peer **peer)
{
	/* An opaque handle for the collectives. Only bcl_peer_info() casts the
	 * handle back to the rank. */
	*peer = (struct bcl_peer *)&adi->world->ranks[rank];
	return BCL_OK;
}

/*
 * The costs of the machine, in us, as the transport would have measured the
 * costs from rank 0 to the peer. Only rank 0 measures: see choose() in
 * coll_loggp.c.
 */
enum bcl_status bcl_peer_info(const struct bcl_peer *peer,
			      struct bcl_peer_info *info)
{
	const struct bcl_adi *adi = (const struct bcl_adi *)peer;
	const struct loggp_world *world = adi->world;
	const struct sim_machine *machine = &world->machine;
	const struct sim_loggp *net = near(adi, &world->ranks[0])
					      ? &machine->inside
					      : &machine->between;

	*info = (struct bcl_peer_info){
		.state = BCL_PEER_UP,
		.latency = (float)(net->latency + net->receive),
		.overhead = (float)net->send,
		.bandwidth = (float)(1 / net->byte),
	};
	return BCL_OK;
}

/* Referred to by the code under test, but not called: teams are set up by
 * init_rank() in coll_loggp.c, without shared memory. */

enum bcl_status bcl_memory_allocate(struct bcl_context *context, size_t length,
				    unsigned rights, struct bcl_memory **memory)
{
	(void)context, (void)length, (void)rights, (void)memory;
	return BCL_ERR_UNSUPPORTED;
}

void *bcl_memory_address(const struct bcl_memory *memory)
{
	(void)memory;
	return NULL;
}

void bcl_memory_release(struct bcl_memory *memory)
{
	(void)memory;
}

void bcl_memory_key(const struct bcl_memory *memory, void *key)
{
	(void)memory, (void)key;
}

enum bcl_status bcl_memory_map(struct bcl_peer *peer, const void *key,
			       void **address)
{
	(void)peer, (void)key, (void)address;
	return BCL_ERR_UNSUPPORTED;
}

void bcl_memory_unmap(struct bcl_peer *peer, const void *key)
{
	(void)peer, (void)key;
}
