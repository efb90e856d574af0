/* SPDX-License-Identifier: MIT */
/*
 * Storms over nodes. The nodes crash at any step and come back in a new
 * incarnation, and are isolated, slow, stalled or unplugged. Frames and links
 * have faults, too. The ranks exchange messages through the transport, while a
 * second port of each rank sends a stream (stream.h). An oracle that does not
 * crash knows for each message if it was sent, if its sender was told of the
 * end, and if it was delivered. At the end every rank must reach every other
 * rank.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cluster.h"
#include "oracle.h"
#include "sim/random.h"
#include "stream.h"
#include "tests/unit/need.h"

enum {
	PORT = 1,
	SHORT = 160,
	LONG = 4000,  /* several frames */
	FRAME = 1024, /* the shortest MTU of cluster.c */
	KEPT = 64,    /* buffers of a flow: more than messages can be pending */
	FLOWS = CLUSTER_RANKS * CLUSTER_RANKS,
	NAP = 200 * 1000, /* ns: the longest rest of a rank */
};

const unsigned storm_seeds = 100;
const unsigned storm_ncounts = CLUSTER_ISOLATED + 1;

/* The lives in which two ranks have met. */
struct lives {
	unsigned from, to;
};

/* The state that outlives the ranks. */
static struct {
	struct sim_world *world;
	uint64_t random, rage; /* `rage`: ns, when the faults end */
	unsigned ranks;
	bool odd; /* send single messages, slightly longer than a frame holds */
	unsigned life[CLUSTER_RANKS]; /* counted from 1 */
	bool dead[CLUSTER_RANKS];
	unsigned connections;
	struct oracle_flow flow[FLOWS];
	/* By flow: the lives between which a message was delivered after the
	 * rage, with no message pending. */
	struct lives reached[FLOWS];
	bool over;
} stage;

/* A life of a rank. The actor lies on the stack of the rank. */
struct actor {
	struct sim_rank *rank;
	unsigned me;
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer *peer[CLUSTER_RANKS]; /* NULL: not opened yet */
	unsigned connection[CLUSTER_RANKS];   /* 0: not up */
	uint8_t (*bytes)[KEPT][LONG];	      /* by rank and number */
	struct stream stream;
};

static unsigned below(unsigned n)
{
	return (unsigned)(sim_random(&stage.random) % n);
}

static struct oracle_flow *flow(unsigned from, unsigned to)
{
	return &stage.flow[from * CLUSTER_RANKS + to];
}

static uint64_t now(const struct actor *actor)
{
	const struct bcl_env *env = actor->rank->env;

	return env->now(env->world);
}

/* ---- the oracle's part ---- */

static void begin(struct sim_job *job, unsigned ranks, uint64_t seed)
{
	unsigned i;

	stage.world = sim_job_world(job);
	stage.random = seed;
	stage.odd = seed % 4 == 0;
	stage.rage = sim_world_clock(stage.world)->now + CLUSTER_RAGE;
	stage.ranks = ranks;
	for (i = 0; i < ranks; i++)
		stage.life[i] = 1;
	for (i = 0; i < FLOWS; i++)
		stage.flow[i].number = i;
}

static void crash(unsigned first, unsigned ranks, bool begins)
{
	unsigned rank, to;

	for (rank = first; rank < first + ranks; rank++) {
		stage.dead[rank] = begins;
		stage.life[rank] += !begins;
		for (to = 0; begins && to < stage.ranks; to++)
			oracle_forget(flow(rank, to));
	}
}

static void end(void)
{
	struct oracle_life life = { 0 };
	unsigned from, to;

	for (from = 0; from < stage.ranks; from++)
		for (to = 0; to < stage.ranks; to++) {
			life.card = stage.life[to];
			if (from != to && !stage.dead[to])
				oracle_settle(flow(from, to), life, NULL, 0);
			free(flow(from, to)->ask);
		}
}

/* True if every rank has reached every other rank in the current lives. */
static bool is_over(void)
{
	unsigned from, to;

	for (from = 0; from < stage.ranks; from++)
		for (to = 0; to < stage.ranks; to++) {
			unsigned number = flow(from, to)->number;
			const struct lives *reached = &stage.reached[number];

			if (from != to && (stage.dead[from] ||
					   reached->from != stage.life[from] ||
					   reached->to != stage.life[to]))
				return false;
		}
	return true;
}

/* ---- ranks ---- */

static void look(struct actor *actor, unsigned to)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };

	bcl_peer_info(actor->peer[to], &info);
	actor->connection[to] =
		info.state == BCL_PEER_UP ? ++stage.connections : 0;
}

/* Open the peer, once the rank has published its address. */
static void meet(struct actor *actor, unsigned to)
{
	uint8_t address[BCL_ADDRESS_MAX];
	enum bcl_status status;
	size_t length;

	if (bcl_boot_get(&actor->rank->boot, to, "address", address,
			 sizeof(address), &length))
		return;
	status = bcl_peer_open(actor->port, address, length, &actor->peer[to]);
	need(!status || bcl_status_loss(status) == BCL_LOSS_PEER);
	if (!status) {
		bcl_peer_set_user(actor->peer[to], &actor->connection[to]);
		look(actor, to);
	}
}

static unsigned draw_length(void)
{
	if (stage.odd)
		return FRAME - below(BCL_HEADERS_SIZE);
	return below(below(4) ? SHORT : LONG);
}

static void tell(struct actor *actor, unsigned to)
{
	struct oracle_flow *at = flow(actor->me, to);
	struct oracle_ask *ask = oracle_ask(at);
	uint32_t k = at->n - 1;
	uint8_t *bytes = actor->bytes[to][k % KEPT];
	struct iovec iov;
	enum bcl_status status;

	ask->to.card = stage.life[to];
	ask->connection = actor->connection[to];
	ask->length = draw_length();
	oracle_fill(at, k, bytes, ask->length);
	iov = (struct iovec){ bytes, ask->length };
	status = bcl_send(actor->peer[to], 0, (uint64_t)actor->me << 32 | k,
			  &iov, 1, 1 + ((uint64_t)to << 32 | k));
	need(!status || status == BCL_ERR_AGAIN ||
	     bcl_status_loss(status) == BCL_LOSS_PEER);
	if (status)
		at->n--;
}

static void ended(const struct actor *actor, const struct bcl_event *event)
{
	unsigned to = (unsigned)((event->cookie - 1) >> 32);
	uint32_t k = (uint32_t)(event->cookie - 1);
	struct oracle_flow *at = flow(actor->me, to);

	if (event->status && bcl_status_loss(event->status) != BCL_LOSS_PEER)
		oracle_broken(at, "number %u ended with %s", k,
			      bcl_strstatus(event->status));
	oracle_end(at, k, event->status, NULL, 0);
	if (!event->status && now(actor) > stage.rage && !oracle_waiting(at))
		stage.reached[at->number] =
			(struct lives){ stage.life[actor->me],
					at->ask[k].to.card };
}

static void hear(struct actor *actor, const struct bcl_event *event)
{
	const struct oracle_life life = { stage.life[actor->me], 0 };
	unsigned *connection, from;

	switch (event->kind) {
	case BCL_EVENT_MESSAGE:
		from = (unsigned)(event->immediate >> 32);
		need(from < stage.ranks && from != actor->me);
		oracle_deliver(flow(from, actor->me),
			       (uint32_t)event->immediate, life, event->data,
			       (uint32_t)event->length);
		break;
	case BCL_EVENT_SENT:
		ended(actor, event);
		break;
	default:
		need_equal(event->kind, BCL_EVENT_PEER);
		connection = bcl_peer_user(event->peer);
		if (connection)
			look(actor, (unsigned)(connection - actor->connection));
	}
}

/* In the rage send any number of messages. Afterwards send a single message to
 * a rank that was not reached yet. */
static void talk(struct actor *actor, unsigned to)
{
	const struct lives *reached =
		&stage.reached[flow(actor->me, to)->number];
	bool calm = now(actor) > stage.rage;
	unsigned n = calm || stage.odd ? 1 : below(6);

	if (!actor->connection[to])
		meet(actor, to);
	if (!actor->connection[to] ||
	    (calm && (oracle_waiting(flow(actor->me, to)) ||
		      (reached->from == stage.life[actor->me] &&
		       reached->to == stage.life[to]))))
		return;
	while (n-- && actor->connection[to])
		tell(actor, to);
}

static void rest(struct actor *actor)
{
	if (below(2))
		sim_compute(stage.world, below(NAP));
	else
		bcl_wait(actor->port, below(NAP));
}

static void read_all(struct actor *actor, unsigned most)
{
	struct bcl_event event;

	while (most-- && !bcl_poll(actor->port, &event))
		hear(actor, &event);
}

static void play(struct sim_rank *rank)
{
	const struct bcl_port_options options = { .struct_size =
							  sizeof(options),
						  .number = PORT };
	struct actor actor = { .rank = rank, .me = rank->boot.rank };
	const struct bcl_env *env = rank->env;
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;

	actor.bytes =
		env->allocate(env->world, CLUSTER_RANKS * sizeof(*actor.bytes));
	need(actor.bytes);
	need(!sim_rank_open(rank, &actor.context));
	need(!bcl_port_open(actor.context, &options, &actor.port));
	need(!bcl_port_address(actor.port, address, &length));
	need(!bcl_boot_put(&rank->boot, "address", address, length));
	stream_open(&actor.stream, rank, actor.context);
	while (!stage.over) {
		unsigned to = below(stage.ranks);

		if (to != actor.me && now(&actor) < stage.rage)
			stream_put(&actor.stream, to, &stage.random);
		if (to != actor.me)
			talk(&actor, to);
		read_all(&actor, below(30));
		rest(&actor);
		stage.over = stage.over || is_over();
	}
	while (!bcl_wait(actor.port, NAP))
		read_all(&actor, UINT32_MAX);
	bcl_close(actor.context);
	stream_close(&actor.stream);
	env->release(env->world, actor.bytes,
		     CLUSTER_RANKS * sizeof(*actor.bytes));
}

const struct cluster_play cluster_play = {
	.kinds = (1 << SIM_FAULT_KINDS) - 1,
	.timeout = 200,
	.begin = begin,
	.rank = play,
	.crash = crash,
	.end = end,
};
