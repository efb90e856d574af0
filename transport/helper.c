/* SPDX-License-Identifier: MIT */
/*
 * The helper thread answers peers while the program computes. It sleeps on a
 * timer, where traffic does not wake it, and looks whether the program has
 * called the library since. If not, it stands in: it sleeps on the sockets
 * and serves what comes, until the program is back.
 *
 *  state     how it sleeps                          goes on to
 *  LOOKING   PERIOD, doubled each time up to        STANDING when the program
 *            PERIOD_MAX (nobody connected:          has not called meanwhile
 *            IDLE_PERIOD)
 *  STANDING  on card and shared-memory descriptors  LOOKING when it has
 *
 * While the program polls it leaves new connections and ends to the helper
 * (poll.c), which sees to them at each look.
 *
 * A look costs 15 us on a virtual machine, hence the doubling: a program that
 * polls all the time pays 0.1 %, one that computes and communicates in turn is
 * found out early.
 *
 * Doorbells that the program holds back (card/hold.h) are rung when the helper
 * stands in: then it looks after PERIOD again.
 *
 * A port that is armed has its owner sleeping on the same descriptors: the
 * traffic is the owner's, and the helper only looks in now and then, in case
 * it is busy elsewhere.
 */
#include "transport/card/card.h"
#include "transport/internal.h"
#include "transport/shm/shm.h"

enum {
	PERIOD = 1000000,	 /* ns */
	PERIOD_MAX = 16000000,	 /* ns */
	IDLE_PERIOD = 100000000, /* ns */
	ARMED_PERIOD = 20000000, /* ns */
	WATCH = 500000000,	 /* ns between looks at the interfaces */
};

struct bcl_helper {
	struct bcl_context *context;
	struct bcl_thread *thread;
	int object; /* woken to end */
	atomic_bool ending;
	uint64_t calls;	  /* context->presence when last seen */
	uint64_t watched; /* now() of the last look at the interfaces */
};

static uint64_t now(const struct bcl_helper *helper)
{
	const struct bcl_env *env = helper->context->env;

	return env->now(env->world);
}

static void sleep_on(struct bcl_helper *helper, int object, uint64_t until)
{
	const struct bcl_env *env = helper->context->env;

	env->wait(env->world, object, until);
}

static bool program_called(struct bcl_helper *helper)
{
	uint64_t calls = atomic_load_explicit(&helper->context->presence,
					      memory_order_relaxed);
	bool called = calls != helper->calls;

	helper->calls = calls;
	return called;
}

/* Since the last call. */
static bool held(struct bcl_helper *helper)
{
	return atomic_exchange_explicit(&helper->context->held, false,
					memory_order_relaxed);
}

static bool armed(const struct bcl_helper *helper)
{
	return atomic_load_explicit(&helper->context->armed,
				    memory_order_relaxed) != 0;
}

static bool ending(const struct bcl_helper *helper)
{
	return atomic_load_explicit(&helper->ending, memory_order_relaxed);
}

static bool connected(struct bcl_helper *helper)
{
	struct bcl_context *context = helper->context;

	return atomic_load_explicit(&context->connected,
				    memory_order_relaxed) ||
	       (context->card && bcl_card_nodes(context));
}

static void assist(struct bcl_helper *helper, uint64_t time)
{
	struct bcl_context *context = helper->context;

	if (context->card && time - helper->watched > WATCH) {
		helper->watched = time;
		bcl_card_watch(context);
	}
	pthread_mutex_lock(&context->lock);
	for (struct bcl_port *port = context->ports; port; port = port->next)
		if (port->ready && port->shm)
			bcl_shm_assist(port, time);
	pthread_mutex_unlock(&context->lock);
}

/* False: another thread has the card, so the program is back. */
static bool serve(struct bcl_helper *helper)
{
	struct bcl_context *context = helper->context;
	bool free = true;

	if (context->card)
		free = bcl_card_poll(context, NULL, true) != BCL_CARD_BUSY;
	assist(helper, now(helper));
	return free;
}

/* The program polls: what it leaves to us. */
static void look_in(struct bcl_helper *helper)
{
	struct bcl_context *context = helper->context;

	/* with a node connected the program asks the network itself */
	if (context->card && !bcl_card_nodes(context))
		bcl_card_poll(context, NULL, true);
	assist(helper, now(helper));
}

/* Of everything that peers may want an answer to; -1: cannot be had. */
static int open_group(struct bcl_helper *helper)
{
	struct bcl_context *context = helper->context;
	const struct bcl_env *env = context->env;
	int fds[64];
	unsigned n = 0;

	fds[n++] = helper->object;
	if (context->card)
		n += bcl_card_fds(context, fds + n);
	pthread_mutex_lock(&context->lock);
	for (struct bcl_port *port = context->ports;
	     port && n < sizeof(fds) / sizeof(*fds); port = port->next)
		if (port->ready && port->shm)
			fds[n++] = bcl_shm_fd(port);
	pthread_mutex_unlock(&context->lock);
	return env->group_open(env->world, fds, n);
}

/* Until the program is back. */
static void stand_in(struct bcl_helper *helper)
{
	struct bcl_context *context = helper->context;
	const struct bcl_env *env = context->env;
	int group = open_group(helper);

	bcl_count(context->counters, core_helper_spells);
	/* who waited here for the card would keep its holder from running */
	while (group >= 0 && serve(helper)) {
		uint64_t until = now(helper) + WATCH;

		if (context->card && bcl_card_deadline(context) < until)
			until = bcl_card_deadline(context);
		sleep_on(helper, group, until);
		bcl_count(context->counters, core_helper_wakes);
		if (ending(helper) || program_called(helper) || armed(helper))
			break;
	}
	if (group >= 0)
		env->object_close(env->world, group);
}

static void helper_main(void *arg)
{
	struct bcl_helper *helper = arg;

	uint64_t period = PERIOD;

	program_called(helper);
	while (!ending(helper)) {
		uint64_t time = now(helper);

		if (armed(helper))
			time += ARMED_PERIOD;
		else
			time += connected(helper) ? period : IDLE_PERIOD;
		sleep_on(helper, helper->object, time);
		bcl_count(helper->context->counters, core_helper_ticks);
		if (ending(helper))
			break;
		if (program_called(helper)) {
			look_in(helper);
			if (held(helper))
				period = PERIOD;
			else if (period < PERIOD_MAX)
				period *= 2;
		} else if (armed(helper)) {
			serve(helper);
		} else {
			stand_in(helper);
			period = PERIOD;
		}
	}
}

enum bcl_status bcl_helper_open(struct bcl_context *context)
{
	const struct bcl_env *env = context->env;
	struct bcl_helper *helper;
	enum bcl_status status;

	if (!context->config.helper || !env->thread_start)
		return BCL_OK;
	helper = env->allocate(env->world, sizeof(*helper));
	if (!helper)
		return BCL_ERR_NOMEM;
	helper->context = context;
	helper->object = env->object_open(env->world);
	status = helper->object < 0
			 ? BCL_ERR_SYSTEM
			 : env->thread_start(env->world, helper_main, helper,
					     &helper->thread);
	if (!status) {
		context->helper = helper;
		return BCL_OK;
	}
	bcl_log(&context->config, BCL_LOG_ERROR, "helper",
		"cannot be started: %s", bcl_strstatus(status));
	if (helper->object >= 0)
		env->object_close(env->world, helper->object);
	env->release(env->world, helper, sizeof(*helper));
	return status;
}

void bcl_helper_close(struct bcl_context *context)
{
	const struct bcl_env *env = context->env;
	struct bcl_helper *helper = context->helper;

	if (!helper)
		return;
	atomic_store_explicit(&helper->ending, true, memory_order_relaxed);
	env->wake(env->world, helper->object);
	env->thread_join(env->world, helper->thread);
	env->object_close(env->world, helper->object);
	env->release(env->world, helper, sizeof(*helper));
	context->helper = NULL;
}
