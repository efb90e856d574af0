/* SPDX-License-Identifier: MIT */
/*
 * A mock of the ADI and of shared memory, for tests of the collectives. One
 * lock per job protects all messages. See coll_mock.h.
 */
#include "tests/unit/coll_mock.h"

#include <pthread.h>
#include <sched.h>
#include <check.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adi/internal.h"
#include "transport/context.h"
#include "transport/memory.h"
#include "transport/peer.h"
#include "transport/shm/host.h"

enum {
	EAGER_MAX = 4096, /* bytes */
	NOTICES = 256,
	RANKS = 64,
};

/*
 * A send or a receive. An owned item is in its owner's `outstanding` list until
 * the owner collects the finished item. Until a match, the item is also in one
 * of the receiver's lists. A send that is not owned has a copy of its data:
 * no rank waits for its end.
 */
struct item {
	struct item *next;  /* in the receiver's list */
	struct item *other; /* in the owner's list */
	bool sends, owned, done;
	uint8_t lane;
	unsigned from, to, context, tag;
	void *buffer;
	size_t length;
	struct bcl_adi_schedule *schedule;
	enum bcl_status status;
};

struct bcl_adi {
	struct mock_world *world;
	unsigned rank;
	struct bcl_context context;
	struct bcl_counter_page counters;
	struct bcl_adi_client *client;
	struct item *messages, *receives; /* unmatched, oldest first */
	struct item *outstanding;	  /* owned sends and receives */
	struct {
		unsigned rank;
		struct bcl_adi_oob oob;
	} notices[NOTICES];
	unsigned first_notice, nnotices;
	struct bcl_adi_schedule *schedules; /* of this rank, running */
	struct bcl_adi_target *targets;
	bool connected[RANKS];
	unsigned dies_at; /* messages until the rank dies; 0: never */
};

/*
 * Shared memory. The world frees a block when the world closes: another rank
 * may be about to map the block when the owner releases it.
 */
struct block {
	struct block *next;
	atomic_int users; /* the owner and the mappings */
	struct bcl_memory memory;
	max_align_t space[];
};

enum {
	ALIGNMENT = 64, /* bytes */
};

struct mock_world {
	struct mock_options options;
	pthread_mutex_t lock;
	bool dead[RANKS], parted[RANKS][RANKS];
	unsigned sent[RANKS][RANKS]; /* messages: [from][to] */
	struct bcl_adi *ranks;
	struct block *blocks;
};

struct bcl_adi_request {
	bool done;
	bool unwatched; /* nobody waits: freed at its end */
	enum bcl_status status;
};

/* ---- the world ---- */

static uint64_t now(void *world)
{
	struct timespec time;

	(void)world;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Drops the log: tests make mistakes on purpose. */
static void ignore(void *world, const struct bcl_log_line *line)
{
	(void)world, (void)line;
}

/* A test may let allocations fail, but not those of the mock. */
static void *get(size_t size)
{
	void *memory;

	do
		memory = calloc(1, size);
	while (!memory);
	return memory;
}

/* The ranks are threads of one process. */
static pid_t own_process(void *world)
{
	(void)world;
	return 1;
}

static enum bcl_status attach_read(void *world, pid_t pid, void *local,
				   uint64_t remote, size_t length)
{
	(void)world;
	(void)pid;
	memcpy(local, (const void *)(uintptr_t)remote, length);
	return BCL_OK;
}

static const struct bcl_shm_host shm_host = {
	.self = own_process,
	.read = attach_read,
};
static const struct bcl_env env = {
	.now = now,
	.log = ignore,
	.shm_host = &shm_host,
};

static unsigned two(void *world)
{
	(void)world;
	return 2;
}

static const struct bcl_env crowded_env = {
	.now = now,
	.log = ignore,
	.shm_host = &shm_host,
	.real_time = true,
	.processors = two,
};

struct mock_world *mock_open(const struct mock_options *options)
{
	struct mock_world *world = get(sizeof(*world));
	unsigned i;

	world->options = *options;
	pthread_mutex_init(&world->lock, NULL);
	world->ranks = get(options->size * sizeof(*world->ranks));
	for (i = 0; i < options->size; i++) {
		world->ranks[i].world = world;
		world->ranks[i].rank = i;
		world->ranks[i].context.config.env =
			options->crowded ? &crowded_env : &env;
		world->ranks[i].context.crowded = options->crowded;
		world->ranks[i].context.config.eager_max = EAGER_MAX;
		world->ranks[i].context.config.attach = true;
		world->ranks[i].context.config.peer_timeout = 30000000000;
		world->ranks[i].context.config.coll_fixed = options->coll_fixed;
		if (options->coll)
			strcpy(world->ranks[i].context.config.coll,
			       options->coll);
		world->ranks[i].context.local_ranks = options->local_ranks;
		world->ranks[i].context.host =
			options->hosts ? 77 * options->hosts[i] + 5 : 5;
	}
	return world;
}

static void free_blocks(struct block *block)
{
	while (block) {
		struct block *next = block->next;

		/* The owner and all mappings are released. */
		ck_assert_int_eq(block->users, 0);
		free(block);
		block = next;
	}
}

/* The requests of schedules that run for nobody. */
static void drop_unwatched(struct bcl_adi *adi)
{
	struct bcl_adi_schedule *schedule = adi->schedules;

	for (; schedule; schedule = schedule->next)
		if (schedule->request->unwatched)
			free(schedule->request);
}

void mock_close(struct mock_world *world)
{
	unsigned i;

	for (i = 0; i < world->options.size; i++) {
		struct bcl_adi *adi = &world->ranks[i];
		struct item *item;

		drop_unwatched(adi);
		if (adi->client)
			adi->client->close(adi->client);
		while ((item = adi->messages)) {
			adi->messages = item->next;
			if (item->owned)
				continue;
			free(item->buffer);
			free(item);
		}
	}
	/* Dead ranks leave items that were never collected. */
	for (i = 0; i < world->options.size; i++) {
		struct bcl_adi *adi = &world->ranks[i];
		struct item *item;

		while ((item = adi->outstanding)) {
			adi->outstanding = item->other;
			free(item);
		}
	}
	free_blocks(world->blocks);
	pthread_mutex_destroy(&world->lock);
	free(world->ranks);
	free(world);
}

struct start {
	struct bcl_adi *adi;
	void (*run)(struct bcl_adi *adi, void *arg);
	void *arg;
};

static void *begin(void *arg)
{
	struct start *start = arg;

	start->run(start->adi, start->arg);
	return NULL;
}

void mock_run(struct mock_world *world,
	      void (*run)(struct bcl_adi *adi, void *arg), void *arg)
{
	unsigned size = world->options.size, i;
	struct start starts[RANKS];
	pthread_t threads[RANKS];

	for (i = 0; i < size; i++) {
		starts[i] = (struct start){ &world->ranks[i], run, arg };
		pthread_create(&threads[i], NULL, begin, &starts[i]);
	}
	for (i = 0; i < size; i++)
		pthread_join(threads[i], NULL);
}

unsigned mock_left_over(const struct mock_world *world)
{
	unsigned i, n = 0;

	for (i = 0; i < world->options.size; i++) {
		const struct item *item = world->ranks[i].messages;

		for (; item; item = item->next)
			n++;
	}
	return n;
}

/* ---- messages: with the world's lock held, except item_new(), mock_die() ---
 */

static void append(struct item **list, struct item *item)
{
	while (*list)
		list = &(*list)->next;
	item->next = NULL;
	*list = item;
}

static struct item *match(struct item **list, const struct item *like)
{
	for (; *list; list = &(*list)->next) {
		struct item *item = *list;

		if (item->from == like->from &&
		    item->context == like->context && item->tag == like->tag) {
			*list = item->next;
			return item;
		}
	}
	return NULL;
}

static void unlink_item(struct item **list, const struct item *item)
{
	while (*list && *list != item)
		list = &(*list)->next;
	if (*list)
		*list = item->next;
}

static void finish(struct item *item, enum bcl_status status)
{
	item->status = status;
	item->done = true;
	if (item->owned)
		return;
	free(item->buffer);
	free(item);
}

static void deliver(struct item *receive, struct item *message)
{
	bool fits = message->length == receive->length;

	if (fits && message->length)
		memcpy(receive->buffer, message->buffer, message->length);
	finish(receive, fits ? BCL_OK : BCL_ERR_TRUNCATED);
	finish(message, BCL_OK);
}

/* Take back a send or a receive, unless a match has finished the item. */
static void give_up(struct bcl_adi *adi, struct item *item,
		    enum bcl_status status)
{
	struct mock_world *world = adi->world;

	if (item->done)
		return;
	unlink_item(item->sends ? &world->ranks[item->to].messages
				: &adi->receives,
		    item);
	finish(item, status);
}

static struct item *item_new(struct bcl_adi_schedule *schedule, bool sends,
			     unsigned from, unsigned to, unsigned context,
			     unsigned tag, const void *buffer, size_t length)
{
	struct item *item = get(sizeof(*item));

	*item = (struct item){
		.sends = sends,
		.owned = true,
		.from = from,
		.to = to,
		.context = context,
		.tag = tag,
		.buffer = (void *)buffer,
		.length = length,
		.schedule = schedule,
		.lane = schedule->lane,
	};
	schedule->adi->connected[sends ? to : from] = true;
	return item;
}

/* The owner will collect the finished item, with collect(). */
static void await(struct bcl_adi *adi, struct item *item)
{
	item->other = adi->outstanding;
	adi->outstanding = item;
	item->schedule->pending++;
	item->schedule->lanes[item->lane]++;
}

static void copy_data(struct item *item)
{
	void *copy = get(item->length + 1);

	if (item->length)
		memcpy(copy, item->buffer, item->length);
	item->buffer = copy;
	item->owned = false;
}

void mock_die(struct bcl_adi *adi)
{
	pthread_mutex_lock(&adi->world->lock);
	adi->world->dead[adi->rank] = true;
	pthread_mutex_unlock(&adi->world->lock);
}

void mock_die_at(struct bcl_adi *adi, unsigned n)
{
	adi->dies_at = n;
}

void mock_part(struct bcl_adi *adi, unsigned rank)
{
	struct mock_world *world = adi->world;

	pthread_mutex_lock(&world->lock);
	world->parted[adi->rank][rank] = true;
	world->parted[rank][adi->rank] = true;
	pthread_mutex_unlock(&world->lock);
}

unsigned mock_sent(struct bcl_adi *adi, unsigned from, unsigned to)
{
	unsigned sent;

	pthread_mutex_lock(&adi->world->lock);
	sent = adi->world->sent[from][to];
	pthread_mutex_unlock(&adi->world->lock);
	return sent;
}

/* Nothing that this rank sends arrives at the other rank. Lock held. */
static bool is_cut_off(const struct bcl_adi *adi, unsigned rank)
{
	const struct mock_world *world = adi->world;

	return world->dead[adi->rank] || world->parted[adi->rank][rank];
}

/* Lock held. */
static bool is_lost(const struct bcl_adi *adi, unsigned rank)
{
	return adi->world->dead[rank] || is_cut_off(adi, rank);
}

bool mock_is_dead(const struct bcl_adi *adi)
{
	bool dead;

	pthread_mutex_lock(&adi->world->lock);
	dead = adi->world->dead[adi->rank];
	pthread_mutex_unlock(&adi->world->lock);
	return dead;
}

/* ---- schedules ---- */

enum bcl_status bcl_adi_schedule_send(struct bcl_adi_schedule *schedule,
				      const void *buffer, size_t length,
				      unsigned rank, unsigned tag,
				      unsigned context)
{
	struct bcl_adi *adi = schedule->adi, *peer = &adi->world->ranks[rank];
	struct mock_world *world = adi->world;
	struct item *item = item_new(schedule, true, adi->rank, rank, context,
				     tag, buffer, length);
	struct item *receive;

	if (adi->dies_at && !--adi->dies_at)
		mock_die(adi);
	pthread_mutex_lock(&world->lock);
	world->sent[adi->rank][rank]++;
	if (is_cut_off(adi, rank)) {
		pthread_mutex_unlock(&world->lock);
		free(item);
		return BCL_OK;
	}
	receive = match(&peer->receives, item);
	if (receive || !world->options.synchronous)
		copy_data(item);
	else
		await(adi, item);
	if (receive)
		deliver(receive, item);
	else
		append(&peer->messages, item);
	pthread_mutex_unlock(&world->lock);
	return BCL_OK;
}

/* The key holds the address of the target. */
enum bcl_status bcl_adi_target_open(struct bcl_adi *adi,
				    struct bcl_adi_target *target, void *memory,
				    size_t length, unsigned tag,
				    unsigned context)
{
	*target = (struct bcl_adi_target){
		.memory = get(sizeof(*target->memory)),
		.tag = tag,
		.context = context,
	};
	target->memory->address = memory;
	target->memory->length = length;
	memcpy(target->key, &target, sizeof(target));
	pthread_mutex_lock(&adi->world->lock);
	target->next = adi->targets;
	adi->targets = target;
	pthread_mutex_unlock(&adi->world->lock);
	return BCL_OK;
}

void bcl_adi_target_close(struct bcl_adi *adi, struct bcl_adi_target *target)
{
	struct bcl_adi_target **link = &adi->targets;

	pthread_mutex_lock(&adi->world->lock);
	while (*link != target)
		link = &(*link)->next;
	*link = target->next;
	pthread_mutex_unlock(&adi->world->lock);
	free(target->memory);
}

enum bcl_status bcl_adi_schedule_put(struct bcl_adi_schedule *schedule,
				     const void *buffer, size_t length,
				     unsigned rank, const uint8_t *key,
				     uint64_t offset)
{
	struct mock_world *world = schedule->adi->world;
	struct bcl_adi_target *target;
	unsigned tag = 0, context = 0;
	void *granted;

	memcpy(&granted, key, sizeof(granted));
	pthread_mutex_lock(&world->lock);
	target = world->ranks[rank].targets;
	while (target && target != granted)
		target = target->next;
	if (target) {
		ck_assert(offset <= target->memory->length &&
			  length <= target->memory->length - offset);
		memcpy((char *)target->memory->address + offset, buffer,
		       length);
		tag = target->tag;
		context = target->context;
	}
	pthread_mutex_unlock(&world->lock);
	if (target)
		return bcl_adi_schedule_send(schedule, NULL, 0, rank, tag,
					     context);
	bcl_adi_schedule_fail(schedule, BCL_ERR_MEMORY);
	return BCL_ERR_MEMORY;
}

enum bcl_status bcl_adi_schedule_receive(struct bcl_adi_schedule *schedule,
					 void *buffer, size_t length,
					 unsigned rank, unsigned tag,
					 unsigned context)
{
	struct bcl_adi *adi = schedule->adi;
	struct item *item = item_new(schedule, false, rank, adi->rank, context,
				     tag, buffer, length);
	struct item *message;

	pthread_mutex_lock(&adi->world->lock);
	message = match(&adi->messages, item);
	await(adi, item);
	if (message)
		deliver(item, message);
	else
		append(&adi->receives, item);
	pthread_mutex_unlock(&adi->world->lock);
	return BCL_OK;
}

static void fail_locked(struct bcl_adi_schedule *schedule,
			enum bcl_status status)
{
	struct item *item = schedule->adi->outstanding;

	if (schedule->status == BCL_OK)
		schedule->status = status;
	for (; item; item = item->other)
		if (item->schedule == schedule)
			give_up(schedule->adi, item, BCL_ERR_CANCELLED);
}

enum bcl_status bcl_adi_schedule_differs(struct bcl_adi *adi, unsigned rank,
					 size_t sent, size_t due)
{
	(void)adi;
	(void)rank;
	(void)sent;
	(void)due;
	return BCL_ERR_TRUNCATED;
}

void bcl_adi_schedule_fail(struct bcl_adi_schedule *schedule,
			   enum bcl_status status)
{
	pthread_mutex_lock(&schedule->adi->world->lock);
	fail_locked(schedule, status);
	pthread_mutex_unlock(&schedule->adi->world->lock);
}

/* Remove finished items from the owner's list. Items of dead peers fail first.
 * Returns true if any item was removed. Lock held. */
static bool collect(struct bcl_adi *adi)
{
	struct item **link = &adi->outstanding;
	bool found = false;

	while (*link) {
		struct item *item = *link;
		unsigned other = item->sends ? item->to : item->from;

		if (!item->done && is_lost(adi, other))
			give_up(adi, item, BCL_ERR_DEAD);
		if (!item->done) {
			link = &item->other;
			continue;
		}
		*link = item->other;
		item->schedule->pending--;
		item->schedule->lanes[item->lane]--;
		if (item->status != BCL_OK)
			fail_locked(item->schedule, item->status);
		free(item);
		found = true;
	}
	return found;
}

static bool hear(struct bcl_adi *adi)
{
	struct bcl_adi_oob oob;
	unsigned rank;

	pthread_mutex_lock(&adi->world->lock);
	if (adi->first_notice == adi->nnotices) {
		pthread_mutex_unlock(&adi->world->lock);
		return false;
	}
	rank = adi->notices[adi->first_notice % NOTICES].rank;
	oob = adi->notices[adi->first_notice++ % NOTICES].oob;
	pthread_mutex_unlock(&adi->world->lock);
	if (adi->client)
		adi->client->oob(adi->client, rank, &oob);
	return true;
}

static bool run_schedules(struct bcl_adi *adi)
{
	struct bcl_adi_schedule **link = &adi->schedules;
	bool found = false;

	while (*link) {
		struct bcl_adi_schedule *schedule = *link;
		struct bcl_adi_request *request = schedule->request;

		if (!schedule->advance(schedule)) {
			link = &schedule->next;
			continue;
		}
		*link = schedule->next;
		request->status = schedule->status;
		request->done = true;
		if (request->unwatched)
			free(request);
		schedule->release(schedule);
		found = true;
	}
	return found;
}

bool bcl_adi_turn(struct bcl_adi *adi)
{
	bool found = hear(adi);

	pthread_mutex_lock(&adi->world->lock);
	found |= collect(adi);
	pthread_mutex_unlock(&adi->world->lock);
	return run_schedules(adi) || found;
}

bool bcl_adi_wait_turn(struct bcl_adi *adi)
{
	return bcl_adi_turn(adi);
}

static struct bcl_adi_request *begin_schedule(struct bcl_adi *adi,
					      struct bcl_adi_schedule *schedule,
					      bool unwatched)
{
	struct bcl_adi_request *request = get(sizeof(*request));
	struct bcl_adi_schedule **last = &adi->schedules;

	request->unwatched = unwatched;
	schedule->status = BCL_OK;
	schedule->adi = adi;
	schedule->request = request;
	schedule->pending = 0;
	memset(schedule->lanes, 0, sizeof(schedule->lanes));
	schedule->next = NULL;
	while (*last)
		last = &(*last)->next;
	*last = schedule;
	return request;
}

enum bcl_status bcl_adi_schedule_start(struct bcl_adi *adi,
				       struct bcl_adi_schedule *schedule,
				       struct bcl_adi_request **request)
{
	*request = begin_schedule(adi, schedule, false);
	bcl_adi_turn(adi);
	return BCL_OK;
}

enum bcl_status bcl_adi_schedule_launch(struct bcl_adi *adi,
					struct bcl_adi_schedule *schedule)
{
	begin_schedule(adi, schedule, true);
	return BCL_OK;
}

enum bcl_status bcl_adi_test(struct bcl_adi *adi,
			     struct bcl_adi_request **request,
			     struct bcl_adi_status *status)
{
	enum bcl_status result = BCL_OK;

	(void)status;
	bcl_adi_turn(adi);
	if (!*request)
		return BCL_OK;
	if (!(*request)->done)
		return BCL_ERR_AGAIN;
	result = (*request)->status;
	free(*request);
	*request = NULL;
	return result;
}

enum bcl_status bcl_adi_wait(struct bcl_adi *adi,
			     struct bcl_adi_request **request,
			     struct bcl_adi_status *status)
{
	enum bcl_status result;

	while ((result = bcl_adi_test(adi, request, status)) == BCL_ERR_AGAIN)
		sched_yield();
	return result;
}

enum bcl_status bcl_adi_schedule_run(struct bcl_adi *adi,
				     struct bcl_adi_schedule *schedule)
{
	struct bcl_adi_request *request;

	bcl_adi_schedule_start(adi, schedule, &request);
	return bcl_adi_wait(adi, &request, NULL);
}

/* ---- the rest ---- */

struct bcl_adi_client **bcl_adi_client(struct bcl_adi *adi)
{
	return &adi->client;
}

void bcl_adi_oob_send(struct bcl_adi *adi, unsigned rank,
		      const struct bcl_adi_oob *oob)
{
	struct bcl_adi *peer = &adi->world->ranks[rank];

	pthread_mutex_lock(&adi->world->lock);
	if (!is_cut_off(adi, rank) &&
	    peer->nnotices - peer->first_notice < NOTICES) {
		peer->notices[peer->nnotices % NOTICES].rank = adi->rank;
		peer->notices[peer->nnotices % NOTICES].oob = *oob;
		peer->nnotices++;
	}
	pthread_mutex_unlock(&adi->world->lock);
}

void bcl_adi_lock(struct bcl_adi *adi)
{
	(void)adi;
}

void bcl_adi_unlock(struct bcl_adi *adi)
{
	(void)adi;
}

void bcl_adi_idle(struct bcl_adi *adi, struct bcl_adi_idle *idle)
{
	(void)adi;
	idle->turns++;
	sched_yield();
}

bool bcl_adi_linger(struct bcl_adi *adi, struct bcl_adi_idle *idle)
{
	bcl_adi_idle(adi, idle);
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
	bool dead;

	pthread_mutex_lock(&adi->world->lock);
	dead = adi->connected[rank] && is_lost(adi, rank);
	pthread_mutex_unlock(&adi->world->lock);
	return dead ? BCL_ERR_DEAD : BCL_OK;
}

unsigned bcl_adi_rank(const struct bcl_adi *adi)
{
	return adi->rank;
}

unsigned bcl_adi_size(const struct bcl_adi *adi)
{
	return adi->world->options.size;
}

struct bcl_context *bcl_adi_context(const struct bcl_adi *adi)
{
	return (struct bcl_context *)&adi->context;
}

struct bcl_counter_page *bcl_adi_counters(const struct bcl_adi *adi)
{
	return (struct bcl_counter_page *)&adi->counters;
}

const struct bcl_env *bcl_adi_env(const struct bcl_adi *adi)
{
	return adi->context.config.env;
}

enum bcl_status bcl_adi_peer(struct bcl_adi *adi, unsigned rank,
			     struct bcl_peer **peer)
{
	pthread_mutex_lock(&adi->world->lock);
	adi->connected[rank] = true;
	pthread_mutex_unlock(&adi->world->lock);
	/* The rank serves as the handle: only the mock looks into a peer. */
	*peer = (struct bcl_peer *)&adi->world->ranks[rank];
	return BCL_OK;
}

enum bcl_status bcl_peer_info(const struct bcl_peer *peer,
			      struct bcl_peer_info *info)
{
	const struct bcl_adi *adi = (const struct bcl_adi *)peer;
	const struct mock_options *options = &adi->world->options;
	const unsigned *hosts = options->hosts;
	/* Only rank 0 measures peers, for all members. */
	const struct bcl_peer_info *known =
		!hosts || hosts[adi->rank] == hosts[0] ? options->inside
						       : options->between;

	*info = known ? *known : (struct bcl_peer_info){ 0 };
	info->state = BCL_PEER_UP;
	return BCL_OK;
}

/* ---- memory -------------------------------------------------------------- */

static struct block *block_of(const void *key)
{
	struct block *block;

	memcpy(&block, key, sizeof(block));
	return block;
}

enum bcl_status bcl_memory_allocate(struct bcl_context *context, size_t length,
				    unsigned rights, struct bcl_memory **memory)
{
	size_t size = sizeof(struct block) + length + ALIGNMENT;
	struct mock_world *world =
		((struct bcl_adi *)((char *)context -
				    offsetof(struct bcl_adi, context)))
			->world;
	struct block *block = get(size);
	uintptr_t space = (uintptr_t)block->space;

	(void)rights;
	block->users = 1;
	space = (space + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	block->memory.address = (void *)space;
	pthread_mutex_lock(&world->lock);
	block->next = world->blocks;
	world->blocks = block;
	pthread_mutex_unlock(&world->lock);
	*memory = &block->memory;
	return BCL_OK;
}

void *bcl_memory_address(const struct bcl_memory *memory)
{
	return memory->address;
}

static struct block *owner_of(const struct bcl_memory *memory)
{
	return (struct block *)((char *)memory -
				offsetof(struct block, memory));
}

void bcl_memory_release(struct bcl_memory *memory)
{
	owner_of(memory)->users--;
}

void bcl_memory_key(const struct bcl_memory *memory, void *key)
{
	struct block *block = owner_of(memory);

	memset(key, 0, BCL_KEY_MAX);
	memcpy(key, &block, sizeof(block));
}

enum bcl_status bcl_memory_map(struct bcl_peer *peer, const void *key,
			       void **address)
{
	struct bcl_adi *owner = (struct bcl_adi *)peer;
	struct block *block = block_of(key);

	if (owner->world->options.private)
		return BCL_ERR_UNSUPPORTED;
	block->users++;
	*address = block->memory.address;
	return BCL_OK;
}

void bcl_memory_unmap(struct bcl_peer *peer, const void *key)
{
	(void)peer;
	block_of(key)->users--;
}
