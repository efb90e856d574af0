/* SPDX-License-Identifier: MIT */
/* The event loop of a simulation: runs ranks as fibers and charges virtual time
 * for their calls; see world.h. */
#include "sim/world.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "env/charge.h"
#include "sim/costs.h"
#include "sim/crash.h"
#include "sim/fail.h"
#include "sim/fiber.h"
#include "sim/heap.h"
#include "sim/object.h"
#include "sim/random.h"
#include "sim/shm.h"

enum {
	STACK = 512 << 10,
	VARIABLES = 64,
	START = 1000000000,
	LOOKS = 64, /* looks at the clock in a row before they cost
		     * LOOKS_COST */
	LOOKS_COST = 1000,
	LINE = 64, /* bytes */
};

#define NOBODY UINT_MAX

static const struct sim_call_costs standard = {
	.now = 20,
	.wait = 50,
	.yield = 200,
	.wake = 200,
};

/*
 * The time of the running rank is `ahead` of the clock, by the small costs of
 * calls. When the rank waits, yields or computes, it pauses until the clock has
 * caught up.
 */
struct rank {
	struct sim_world *world;
	struct sim_fiber *fiber;
	struct sim_event resume;
	struct sim_waiter waiter;
	struct sim_heap heap;
	void (*run)(void *arg);
	void *arg;
	unsigned number, node;
	unsigned first_of_node; /* ranks of a node have consecutive numbers */
	unsigned looks;		/* at the clock, since the last pause */
	unsigned times;		/* factor by which the rank is slower than
				 * normal */
	bool told;		/* a flag was set since the rank last waited */
	uint64_t ahead;
	uint64_t stalled; /* the rank does not run before */
};

struct sim_world {
	struct bcl_env env;
	struct sim_call_costs costs;
	uint64_t seed, random;
	struct sim_clock clock;
	struct sim_objects objects;
	struct sim_heap heap;
	struct sim_shm *shm;
	struct sim_memory_costs memory;
	struct rank **rank;
	unsigned nranks, running; /* that have not returned */
	struct rank *current;	  /* NULL: the event loop */
	struct {
		const char *name, *value;
	} variable[VARIABLES];
	unsigned nvariables;
	FILE *log; /* NULL: none */
};

/* ---- ranks ---- */

/* The fiber has returned or was killed. */
static void end_rank(struct rank *rank)
{
	sim_fiber_free(rank->fiber);
	rank->fiber = NULL;
	rank->world->running--;
}

static void resume_rank(struct sim_event *event)
{
	struct rank *rank = bcl_container_of(event, struct rank, resume);
	struct sim_world *world = rank->world;

	sim_object_give_up(&world->objects, &rank->waiter);
	if (world->clock.now < rank->stalled) {
		sim_clock_set(&world->clock, event, rank->stalled);
		return;
	}
	if (rank->ahead) { /* charged in the meantime */
		sim_clock_set(&world->clock, event,
			      world->clock.now + rank->ahead);
		rank->ahead = 0;
		return;
	}
	rank->looks = 0;
	world->current = rank;
	if (!sim_fiber_resume(rank->fiber))
		end_rank(rank);
	world->current = NULL;
}

/* The time of the running rank, or of the clock. */
static uint64_t current_time(const struct sim_world *world)
{
	return world->clock.now + (world->current ? world->current->ahead : 0);
}

/* `ns`, or up to half as much more unless costs are exact. */
static uint64_t vary_time(struct sim_world *world, uint64_t ns)
{
	return world->costs.exact || ns < 2
		       ? ns
		       : ns + sim_random(&world->random) % (ns / 2);
}

static void rank_woken(struct sim_waiter *waiter)
{
	struct rank *rank = bcl_container_of(waiter, struct rank, waiter);
	struct sim_world *world = rank->world;

	/* Hardware woke the rank, or another rank, whose store takes time to
	 * arrive. */
	sim_clock_set(&world->clock, &rank->resume,
		      current_time(world) +
			      vary_time(world, world->costs.wake) +
			      (world->current ? world->memory.line : 0));
}

static struct rank *running_rank(struct sim_world *world)
{
	sim_check(world->current, "a wait outside of a rank");
	return world->current;
}

static void charge_time(struct rank *rank, uint64_t ns)
{
	rank->ahead += ns * rank->times;
}

/* Lets all ranks reach the time of this rank. */
static void catch_up(struct rank *rank)
{
	struct sim_clock *clock = &rank->world->clock;

	if (!rank->ahead)
		return;
	sim_clock_set(clock, &rank->resume, clock->now + rank->ahead);
	rank->ahead = 0;
	sim_fiber_pause(rank->fiber);
}

void sim_world_spawn(struct sim_world *world, void (*run)(void *arg), void *arg)
{
	sim_world_spawn_on(world, world->nranks, run, arg);
}

void sim_world_spawn_on(struct sim_world *world, unsigned node,
			void (*run)(void *arg), void *arg)
{
	struct rank *rank = sim_need(calloc(1, sizeof(*rank)));

	*rank = (struct rank){
		.world = world,
		.resume.call = resume_rank,
		.waiter = { .ready = rank_woken, .object = -1 },
		.run = run,
		.arg = arg,
		.number = world->nranks,
		.node = node,
		.first_of_node = world->nranks,
		.times = 1,
	};
	if (world->nranks && world->rank[world->nranks - 1]->node == node)
		rank->first_of_node =
			world->rank[world->nranks - 1]->first_of_node;
	world->rank =
		sim_grow(world->rank, world->nranks, sizeof(struct rank *));
	world->rank[world->nranks++] = rank;
	sim_world_restart(world, rank->number);
}

void sim_world_restart(struct sim_world *world, unsigned number)
{
	struct rank *rank = world->rank[number];

	sim_check(!rank->fiber, "a rank that runs already");
	rank->fiber = sim_fiber_new(STACK, rank->run, rank->arg);
	rank->ahead = 0;
	rank->told = false;
	world->running++;
	sim_clock_set(&world->clock, &rank->resume, world->clock.now);
}

void sim_world_kill(struct sim_world *world, unsigned node)
{
	unsigned i;

	sim_check(!world->current, "a rank that kills");
	sim_shm_drop(world->shm, node);
	for (i = 0; i < world->nranks; i++) {
		struct rank *rank = world->rank[i];

		if (rank->node != node)
			continue;
		sim_clock_clear(&world->clock, &rank->resume);
		sim_object_give_up(&world->objects, &rank->waiter);
		sim_objects_drop(&world->objects, rank->number);
		sim_heap_clear(&rank->heap);
		if (rank->fiber)
			end_rank(rank);
	}
}

void sim_world_slow(struct sim_world *world, unsigned number, unsigned times)
{
	world->rank[number]->times = times;
}

void sim_world_stall(struct sim_world *world, unsigned number, uint64_t until)
{
	sim_check(!world->current, "a rank that stalls others");
	world->rank[number]->stalled = until;
}

void sim_compute(struct sim_world *world, uint64_t ns)
{
	charge_time(running_rank(world), ns);
	catch_up(world->current);
}

unsigned sim_node(const struct sim_world *world)
{
	return world->current ? world->current->node : 0;
}

unsigned sim_self(const struct sim_world *world)
{
	sim_check(world->current, "there is no rank that runs");
	return world->current->number;
}

/* ---- the table ---- */

static uint64_t env_now(void *arg)
{
	struct sim_world *world = arg;

	struct rank *rank = world->current;

	if (rank) {
		charge_time(rank, world->costs.now);
		/* the rank may wait for other ranks in a loop */
		if (!world->costs.now && ++rank->looks % LOOKS == 0) {
			charge_time(rank, LOOKS_COST);
			catch_up(rank);
		}
	}
	return current_time(world);
}

static unsigned current_owner(const struct sim_world *world)
{
	return world->current ? world->current->number : NOBODY;
}

static int env_object_open(void *arg)
{
	struct sim_world *world = arg;

	return sim_object_open(&world->objects, current_owner(world));
}

static int env_group_open(void *arg, const int *members, unsigned n)
{
	struct sim_world *world = arg;
	int group =
		sim_object_open_group(&world->objects, current_owner(world));
	unsigned i;

	for (i = 0; i < n; i++)
		sim_object_add(&world->objects, group, members[i]);
	return group;
}

static bool env_group_add(void *arg, int group, int member)
{
	struct sim_world *world = arg;

	sim_object_add(&world->objects, group, member);
	return true;
}

static void env_group_remove(void *arg, int group, int member)
{
	struct sim_world *world = arg;

	sim_object_remove(&world->objects, group, member);
}

static void env_object_close(void *arg, int object)
{
	struct sim_world *world = arg;

	sim_object_close(&world->objects, object);
}

static void env_wake(void *arg, int object)
{
	struct sim_world *world = arg;

	sim_object_wake(&world->objects, object);
}

static void env_clear(void *arg, int object)
{
	struct sim_world *world = arg;

	sim_object_clear(&world->objects, object);
}

static void env_wait(void *arg, int object, uint64_t until)
{
	struct sim_world *world = arg;
	struct rank *rank = running_rank(world);

	charge_time(rank, world->costs.wait);
	catch_up(rank);
	if (sim_object_readable(&world->objects, object) ||
	    until <= world->clock.now || rank->told) {
		rank->told = false;
		return;
	}
	sim_object_await(&world->objects, object, &rank->waiter);
	if (until != UINT64_MAX)
		sim_clock_set(&world->clock, &rank->resume, until);
	sim_fiber_pause(rank->fiber);
}

static void env_yield(void *arg)
{
	struct sim_world *world = arg;

	charge_time(running_rank(world), vary_time(world, world->costs.yield));
	catch_up(world->current);
}

/* Each rank has a processor of its own. */
static void env_move(void *arg)
{
	(void)arg;
}

static unsigned env_processors(void *arg)
{
	(void)arg;
	return 1;
}

static bool env_barrier_register(void *arg)
{
	(void)arg;
	return true;
}

static void env_barrier(void *arg)
{
	(void)arg;
}

/* Of the running rank, or of the world itself. */
static struct sim_heap *current_heap(struct sim_world *world)
{
	return world->current ? &world->current->heap : &world->heap;
}

static void *env_allocate(void *arg, size_t size)
{
	return sim_heap_take(current_heap(arg), 64, size);
}

static void env_release(void *arg, void *memory, size_t size)
{
	(void)arg;
	(void)size;
	sim_heap_give(memory);
}

static void *env_share(void *arg, const char *name, size_t size, int *fd)
{
	struct sim_world *world = arg;

	(void)name;
	return sim_shm_share(world->shm, size, fd);
}

static void env_unshare(void *arg, void *memory, size_t size, int fd)
{
	sim_shm_unshare(arg, memory, size, fd);
}

static uint64_t env_random(void *arg)
{
	struct sim_world *world = arg;

	return sim_random(&world->random);
}

static void env_log(void *arg, const struct bcl_log_line *line)
{
	struct sim_world *world = arg;

	if (!world->log)
		return;
	fprintf(world->log, "[%.6f node%u seed %llu] %s: %s\n",
		(double)world->clock.now * 1e-9, sim_node(world),
		(unsigned long long)world->seed, line->area, line->text);
}

static const char *env_variable(void *arg, const char *name)
{
	struct sim_world *world = arg;
	unsigned i;

	for (i = 0; i < world->nvariables; i++)
		if (!strcmp(world->variable[i].name, name))
			return world->variable[i].value;
	return NULL;
}

static char **env_variables(void *arg)
{
	(void)arg;
	return NULL;
}

static bool env_host(void *arg, char name[64], uint8_t boot_id[16])
{
	snprintf(name, 64, "node%u", sim_node(arg));
	memset(boot_id, 0, 16);
	return true;
}

/* ---- shared memory ---- */

static uint64_t copy_time(const struct sim_world *world, uint64_t bytes)
{
	return sim_costs_transfer(bytes, world->memory.copy);
}

/* Delays the rank until `time`, unless it waits and will be woken. */
static void go_on_no_earlier(struct rank *rank, uint64_t time)
{
	uint64_t then = rank->ahead;

	if (rank->waiter.object >= 0)
		return;
	then += sim_clock_is_set(&rank->resume) ? rank->resume.time
						: rank->world->clock.now;
	if (then < time)
		rank->ahead += time - then;
}

static void charge_message(void *arg, int object, unsigned lines)
{
	struct sim_world *world = arg;
	const struct sim_memory_costs *costs = &world->memory;
	uint64_t rest = copy_time(world, (uint64_t)(lines - 1) * LINE);
	struct rank *reader;

	charge_time(running_rank(world), costs->send + rest);
	if (sim_object_owner(&world->objects, object) == NOBODY)
		return;
	reader = world->rank[sim_object_owner(&world->objects, object)];
	go_on_no_earlier(reader, current_time(world) + costs->line);
	charge_time(reader, costs->receive + rest);
}

static void charge_flag(void *arg)
{
	struct sim_world *world = arg;
	const struct rank *writer = running_rank(world);
	unsigned i = writer->first_of_node;

	for (; i < world->nranks && world->rank[i]->node == writer->node; i++) {
		struct rank *rank = world->rank[i];

		if (rank == writer)
			continue;
		rank->told = rank->waiter.object < 0;
		if (rank->told)
			continue;
		sim_object_give_up(&world->objects, &rank->waiter);
		rank_woken(&rank->waiter);
	}
}

static void charge_copy(void *arg, size_t bytes)
{
	sim_compute(arg, copy_time(arg, bytes));
}

static const struct bcl_charge charge = {
	.message = charge_message,
	.flag = charge_flag,
	.copy = charge_copy,
};

void sim_attach(struct sim_world *world, size_t bytes)
{
	sim_compute(world, world->memory.attach + copy_time(world, bytes));
}

void sim_world_share(struct sim_world *world,
		     const struct sim_memory_costs *costs)
{
	world->memory = *costs;
	world->env.shm_host = &sim_shm_host;
	world->env.charge = &charge;
}

struct sim_shm *sim_world_shm(struct sim_world *world)
{
	return world->shm;
}

void sim_world_share_object(struct sim_world *world, int object)
{
	sim_object_share(&world->objects, object);
}

/* ---- the world ---- */

struct sim_world *sim_world_open(uint64_t seed, const struct bcl_host_ops *card,
				 const struct bcl_rail_kind *const *rails)
{
	struct sim_world *world = sim_need(calloc(1, sizeof(*world)));

	world->costs = standard;
	world->log = stderr;
	world->seed = seed;
	world->random = seed;
	sim_clock_open(&world->clock, START);
	sim_objects_open(&world->objects);
	world->shm = sim_shm_open(world);
	world->env = (struct bcl_env){
		.world = world,
		.now = env_now,
		.object_open = env_object_open,
		.group_open = env_group_open,
		.group_add = env_group_add,
		.group_remove = env_group_remove,
		.object_close = env_object_close,
		.wake = env_wake,
		.clear = env_clear,
		.wait = env_wait,
		.yield = env_yield,
		.move = env_move,
		.processors = env_processors,
		.barrier_register = env_barrier_register,
		.barrier = env_barrier,
		.allocate = env_allocate,
		.release = env_release,
		.share = env_share,
		.unshare = env_unshare,
		.random = env_random,
		.log = env_log,
		.variable = env_variable,
		.variables = env_variables,
		.host = env_host,
		.sleeps_at_once = true,
		.virtual_time = true,
		.card = card,
		.rails = rails,
	};
	return world;
}

void sim_world_close(struct sim_world *world)
{
	unsigned i;

	for (i = 0; i < world->nranks; i++) {
		if (world->rank[i]->fiber)
			sim_fiber_free(world->rank[i]->fiber);
		sim_heap_clear(&world->rank[i]->heap);
		free(world->rank[i]);
	}
	free(world->rank);
	sim_heap_clear(&world->heap);
	sim_shm_close(world->shm);
	sim_objects_close(&world->objects);
	sim_clock_close(&world->clock);
	free(world);
}

const struct bcl_env *sim_world_env(struct sim_world *world)
{
	return &world->env;
}

struct sim_clock *sim_world_clock(struct sim_world *world)
{
	return &world->clock;
}

static size_t write_place(void *arg, char *line, size_t size)
{
	const struct sim_world *world = arg;
	int length;

	if (world->current)
		length = snprintf(line, size,
				  "crash of rank %u on node%u at %llu ns, "
				  "seed %llu\n",
				  world->current->number, world->current->node,
				  (unsigned long long)current_time(world),
				  (unsigned long long)world->seed);
	else
		length = snprintf(line, size,
				  "crash in an event at %llu ns, seed %llu\n",
				  (unsigned long long)current_time(world),
				  (unsigned long long)world->seed);
	return (size_t)length;
}

unsigned sim_world_run(struct sim_world *world, uint64_t limit)
{
	uint64_t end = world->clock.now + limit;
	struct sim_crash crash;

	sim_crash_begin(&crash, write_place, world);
	while (world->running && sim_clock_next(&world->clock) < end)
		sim_clock_step(&world->clock);
	sim_crash_end(&crash);
	return world->running;
}

void sim_world_costs(struct sim_world *world,
		     const struct sim_call_costs *costs)
{
	world->costs = *costs;
}

void sim_world_log(struct sim_world *world, FILE *to)
{
	world->log = to;
}

void sim_world_set(struct sim_world *world, const char *name, const char *value)
{
	unsigned i = 0;

	while (i < world->nvariables && strcmp(world->variable[i].name, name))
		i++;
	sim_check(i < VARIABLES, "too many variables");
	world->variable[i].name = name;
	world->variable[i].value = value;
	world->nvariables += i == world->nvariables;
}
