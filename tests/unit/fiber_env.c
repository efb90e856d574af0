/* SPDX-License-Identifier: MIT */
#include "fiber_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_THREAD__)
#define FIBER_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN
#endif
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

enum {
	STACK = 512 << 10,
	GUARD = 4096,
	FIBERS = 64,
	OBJECTS = 4096,
	MEMBERS = 16,
	VARIABLES = 64,
	NOW_COSTS = 20, /* ns, so that a loop that looks at the clock ends */
	YIELD_COSTS = 200,
};

enum object_kind {
	UNUSED,
	OBJECT,
	GROUP,
};

struct object {
	enum object_kind kind;
	bool woken;
	int member[MEMBERS];
	unsigned nmembers;
};

enum fiber_state {
	READY,
	WAITING,
	DONE,
};

struct fiber {
	struct fiber_world *world;
	ucontext_t context;
	void *stack, *tsan;
	void (*run)(void *arg);
	void *arg;
	enum fiber_state state;
	int object;
	uint64_t until;
};

struct timer {
	struct timer *next;
	uint64_t time;
	void (*call)(void *arg);
	void *arg;
};

struct fiber_world {
	struct bcl_env env;
	uint64_t seed, random;
	uint64_t now;
	ucontext_t loop;
	void *tsan;
	struct fiber *fiber[FIBERS];
	unsigned nfibers;
	struct fiber *current; /* NULL: the loop */
	struct object object[OBJECTS];
	struct timer *timers; /* in order of time */
	struct {
		const char *name, *value;
	} variable[VARIABLES];
	unsigned nvariables;
};

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fiber_env: %s\n", what);
	abort();
}

/* xorshift64*, Vigna 2016. */
static uint64_t draw(struct fiber_world *world)
{
	world->random ^= world->random >> 12;
	world->random ^= world->random << 25;
	world->random ^= world->random >> 27;
	return world->random * 2685821657736338717ull;
}

static void switch_to_loop(struct fiber_world *world)
{
	struct fiber *self = world->current;

	world->current = NULL;
#ifdef FIBER_TSAN
	__tsan_switch_to_fiber(world->tsan, 0);
#endif
	swapcontext(&self->context, &world->loop);
}

static void switch_to_fiber(struct fiber_world *world, struct fiber *fiber)
{
	world->current = fiber;
#ifdef FIBER_TSAN
	__tsan_switch_to_fiber(fiber->tsan, 0);
#endif
	swapcontext(&world->loop, &fiber->context);
}

static void fiber_main(unsigned high, unsigned low)
{
	struct fiber *self =
		(struct fiber *)((uintptr_t)high << 32 | (uintptr_t)low);

	self->run(self->arg);
	self->state = DONE;
	switch_to_loop(self->world);
}

static struct object *object_get(struct fiber_world *world, int object)
{
	check(object >= 0 && object < OBJECTS &&
		      world->object[object].kind != UNUSED,
	      "an object that is not open");
	return &world->object[object];
}

static bool readable(struct fiber_world *world, int object)
{
	struct object *o = object_get(world, object);

	if (o->kind == OBJECT)
		return o->woken;
	for (unsigned i = 0; i < o->nmembers; i++)
		if (readable(world, o->member[i]))
			return true;
	return false;
}

static void run_timers(struct fiber_world *world)
{
	while (world->timers && world->timers->time <= world->now) {
		struct timer *timer = world->timers;

		world->timers = timer->next;
		timer->call(timer->arg);
		free(timer);
	}
}

static bool may_run(struct fiber_world *world, struct fiber *fiber)
{
	if (fiber->state == WAITING &&
	    (fiber->until <= world->now || readable(world, fiber->object)))
		fiber->state = READY;
	return fiber->state == READY;
}

/* ---- the table ---- */

static uint64_t env_now(void *arg)
{
	struct fiber_world *world = arg;

	return world->now += NOW_COSTS;
}

static int new_object(struct fiber_world *world, enum object_kind kind)
{
	for (int i = 0; i < OBJECTS; i++) {
		if (world->object[i].kind == UNUSED) {
			world->object[i] = (struct object){ .kind = kind };
			return i;
		}
	}
	return -1;
}

static int env_object_open(void *arg)
{
	return new_object(arg, OBJECT);
}

static int env_group_open(void *arg, const int *members, unsigned n)
{
	struct fiber_world *world = arg;
	int group = new_object(world, GROUP);

	check(n <= MEMBERS, "too many members in a group");
	for (unsigned i = 0; group >= 0 && i < n; i++)
		world->object[group].member[i] = members[i];
	if (group >= 0)
		world->object[group].nmembers = n;
	return group;
}

static bool env_group_add(void *arg, int number, int member)
{
	struct object *group = object_get(arg, number);

	check(group->nmembers < MEMBERS, "too many members in a group");
	group->member[group->nmembers++] = member;
	return true;
}

static void env_group_remove(void *arg, int number, int member)
{
	struct object *group = object_get(arg, number);
	unsigned i;

	for (i = 0; group->member[i] != member; i++)
		check(i + 1 < group->nmembers, "not a member of the group");
	group->member[i] = group->member[--group->nmembers];
}

static void env_object_close(void *arg, int object)
{
	object_get(arg, object)->kind = UNUSED;
}

static void env_wake(void *arg, int object)
{
	object_get(arg, object)->woken = true;
}

static void env_clear(void *arg, int object)
{
	object_get(arg, object)->woken = false;
}

static void env_wait(void *arg, int object, uint64_t until)
{
	struct fiber_world *world = arg;
	struct fiber *self = world->current;

	check(self, "a wait outside of a fiber");
	object_get(world, object);
	self->state = WAITING;
	self->object = object;
	self->until = until;
	switch_to_loop(world);
}

static void env_yield(void *arg)
{
	struct fiber_world *world = arg;

	check(world->current, "a yield outside of a fiber");
	world->now += YIELD_COSTS;
	switch_to_loop(world);
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

static void *zeroed(size_t align, size_t size)
{
	void *memory;

	size = (size + align - 1) & ~(align - 1);
	memory = aligned_alloc(align, size ? size : align);
	return memory ? memset(memory, 0, size) : NULL;
}

static void *env_allocate(void *arg, size_t size)
{
	(void)arg;
	return zeroed(64, size);
}

static void env_release(void *arg, void *memory, size_t size)
{
	(void)arg;
	(void)size;
	free(memory);
}

static void *env_share(void *arg, const char *name, size_t size, int *fd)
{
	(void)arg;
	(void)name;
	*fd = -1;
	return zeroed(4096, size);
}

static void env_unshare(void *arg, void *memory, size_t size, int fd)
{
	(void)fd;
	env_release(arg, memory, size);
}

static uint64_t env_random(void *arg)
{
	return draw(arg);
}

static void env_log(void *arg, enum bcl_log_level level, const char *area,
		    const char *line)
{
	struct fiber_world *world = arg;

	(void)level;
	fprintf(stderr, "[%.6f seed %llu] %s: %s\n", (double)world->now * 1e-9,
		(unsigned long long)world->seed, area, line);
}

static const char *env_variable(void *arg, const char *name)
{
	struct fiber_world *world = arg;

	for (unsigned i = 0; i < world->nvariables; i++)
		if (!strcmp(world->variable[i].name, name))
			return world->variable[i].value;
	return NULL;
}

static char **env_variables(void *arg)
{
	(void)arg;
	return NULL;
}

static void env_host(void *arg, char name[64], uint8_t boot_id[16])
{
	struct fiber_world *world = arg;
	unsigned i = 0;

	while (i < world->nfibers && world->fiber[i] != world->current)
		i++;
	snprintf(name, 64, "node%u", i);
	memset(boot_id, 0, 16);
}

/* ---- the world ---- */

struct fiber_world *fiber_world_open(uint64_t seed,
				     const struct bcl_rail_kind *const *rails)
{
	struct fiber_world *world = calloc(1, sizeof(*world));

	check(world, "no memory");
	world->seed = seed;
	world->random = seed * 0x9e3779b97f4a7c15ull + 1;
	world->now = 1000000000;
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
		.rails = rails,
	};
	return world;
}

void fiber_world_close(struct fiber_world *world)
{
	while (world->timers) {
		struct timer *timer = world->timers;

		world->timers = timer->next;
		free(timer);
	}
	for (unsigned i = 0; i < world->nfibers; i++) {
#ifdef FIBER_TSAN
		__tsan_destroy_fiber(world->fiber[i]->tsan);
#endif
		munmap(world->fiber[i]->stack, STACK + GUARD);
		free(world->fiber[i]);
	}
	free(world);
}

void fiber_spawn(struct fiber_world *world, void (*run)(void *arg), void *arg)
{
	struct fiber *fiber = calloc(1, sizeof(*fiber));
	uintptr_t self = (uintptr_t)fiber;

	check(fiber && world->nfibers < FIBERS, "no room for a fiber");
	fiber->world = world;
	fiber->run = run;
	fiber->arg = arg;
	fiber->stack = mmap(NULL, STACK + GUARD, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(fiber->stack != MAP_FAILED, "no memory for a stack");
	mprotect(fiber->stack, GUARD, PROT_NONE);
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = (char *)fiber->stack + GUARD;
	fiber->context.uc_stack.ss_size = STACK;
	makecontext(&fiber->context, (void (*)(void))fiber_main, 2,
		    (unsigned)(self >> 32), (unsigned)self);
#ifdef FIBER_TSAN
	fiber->tsan = __tsan_create_fiber(0);
#endif
	world->fiber[world->nfibers++] = fiber;
}

const struct bcl_env *fiber_world_env(struct fiber_world *world)
{
	return &world->env;
}

/* The earliest moment at which something can happen. */
static uint64_t next_moment(struct fiber_world *world)
{
	uint64_t next = world->timers ? world->timers->time : UINT64_MAX;

	for (unsigned i = 0; i < world->nfibers; i++) {
		struct fiber *fiber = world->fiber[i];

		if (fiber->state == WAITING && fiber->until < next)
			next = fiber->until;
	}
	return next;
}

unsigned fiber_world_run(struct fiber_world *world, uint64_t limit)
{
	uint64_t end = world->now + limit;
	unsigned left = 0;

#ifdef FIBER_TSAN
	world->tsan = __tsan_get_current_fiber();
#endif
	while (world->now < end) {
		struct fiber *ready[FIBERS];
		unsigned nready = 0;

		run_timers(world);
		left = 0;
		for (unsigned i = 0; i < world->nfibers; i++) {
			left += world->fiber[i]->state != DONE;
			if (may_run(world, world->fiber[i]))
				ready[nready++] = world->fiber[i];
		}
		if (nready) {
			switch_to_fiber(world, ready[draw(world) % nready]);
			continue;
		}
		if (!left || next_moment(world) == UINT64_MAX)
			break;
		if (next_moment(world) > world->now)
			world->now = next_moment(world);
	}
	return left;
}

void fiber_setenv(struct fiber_world *world, const char *name,
		  const char *value)
{
	check(world->nvariables < VARIABLES, "too many variables");
	world->variable[world->nvariables].name = name;
	world->variable[world->nvariables++].value = value;
}

void fiber_compute(struct fiber_world *world, uint64_t ns)
{
	struct fiber *self = world->current;
	int object = env_object_open(world);

	check(self && object >= 0, "a fiber that cannot compute");
	for (uint64_t end = world->now + ns; world->now < end;)
		env_wait(world, object, end);
	env_object_close(world, object);
}

void fiber_at(struct fiber_world *world, uint64_t time, void (*call)(void *arg),
	      void *arg)
{
	struct timer **place = &world->timers;
	struct timer *timer = malloc(sizeof(*timer));

	check(timer, "no memory");
	while (*place && (*place)->time <= time)
		place = &(*place)->next;
	*timer = (struct timer){ *place, time, call, arg };
	*place = timer;
}
