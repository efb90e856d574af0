/* SPDX-License-Identifier: MIT */
/*
 * The helper thread answers peers while the program computes. It looks now and
 * then whether the program has called the library since the last look. If not,
 * the helper stands in: it sleeps on the card's descriptors, too, and serves
 * the traffic until the program calls again.
 *
 *  state     how the helper sleeps                  goes on to
 *  LOOKING   PERIOD, doubled each time up to        STANDING when the program
 *            PERIOD_MAX (nobody connected:          has not called meanwhile
 *            IDLE_PERIOD), or until a socket of
 *            shared memory is readable
 *  STANDING  on the card's descriptors, too         LOOKING when the program
 *                                                   has called or sleeps on
 *                                                   an armed port
 *
 * Only rare messages arrive on the sockets of shared memory: new connections,
 * ends, and questions of peers whose message was not answered at once, because
 * the owner of the port computes or waits at another port.
 *
 * A look costs 15 us on a virtual machine, hence the doubling: a program that
 * polls all the time pays 0.1 %, and a program that computes and communicates
 * in turn is noticed early.
 *
 * When the helper stands in it rings the doorbells that the program holds back
 * (card/doorbell_batch.h). So while doorbells are held back the helper looks
 * after PERIOD again.
 *
 * If a port is armed, its owner sleeps on the same descriptors and takes the
 * traffic. The helper then looks in only every ARMED_PERIOD, in case the owner
 * is busy elsewhere.
 */
#include <errno.h>

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
	int object; /* woken to end the thread */
	int group;  /* group of the object, the ports' sockets and, while the
		     * program is away, the card's descriptors */
	atomic_bool ending;
	uint64_t calls;	  /* context->presence when last seen */
	uint64_t watched; /* now() of the last look at the interfaces */
};

static uint64_t read_clock(const struct bcl_helper *helper)
{
	const struct bcl_env *env = helper->context->env;

	return env->now(env->world);
}

static void sleep_until(struct bcl_helper *helper, uint64_t until)
{
	const struct bcl_env *env = helper->context->env;

	env->wait(env->world, helper->group, until);
}

/* True if the program has called the library since the last call. */
static bool program_called(struct bcl_helper *helper)
{
	uint64_t calls = atomic_load_explicit(&helper->context->presence,
					      memory_order_relaxed);
	bool called = calls != helper->calls;

	helper->calls = calls;
	return called;
}

/* True if the program has held doorbells back since the last call. */
static bool has_held_doorbells(struct bcl_helper *helper)
{
	return atomic_exchange_explicit(&helper->context->deferred, false,
					memory_order_relaxed);
}

static bool is_armed(const struct bcl_helper *helper)
{
	return atomic_load_explicit(&helper->context->armed,
				    memory_order_relaxed) != 0;
}

static bool is_ending(const struct bcl_helper *helper)
{
	return atomic_load_explicit(&helper->ending, memory_order_relaxed);
}

static bool is_connected(struct bcl_helper *helper)
{
	struct bcl_context *context = helper->context;

	return atomic_load_explicit(&context->connected,
				    memory_order_relaxed) ||
	       (context->card && bcl_host_nodes(context));
}

static void assist_ports(struct bcl_helper *helper, uint64_t time)
{
	struct bcl_context *context = helper->context;

	if (context->card && time - helper->watched > WATCH) {
		helper->watched = time;
		bcl_host_watch(context);
	}
	pthread_mutex_lock(&context->lock);
	for (struct bcl_port *port = context->ports; port; port = port->next)
		if (port->ready && port->shm)
			bcl_shm_assist(port, time);
	pthread_mutex_unlock(&context->lock);
}

/* Serves card and ports. False: another thread has the card, so the program
 * is back. */
static bool serve_ports(struct bcl_helper *helper)
{
	struct bcl_context *context = helper->context;
	bool free = true;

	if (context->card)
		free = bcl_host_poll(context, NULL, true) != BCL_HOST_BUSY;
	assist_ports(helper, read_clock(helper));
	return free;
}

/* The program polls: does the work that it leaves to the helper. */
static void poll_and_assist(struct bcl_helper *helper)
{
	struct bcl_context *context = helper->context;

	/* with a node connected the program itself polls the network */
	if (context->card && !bcl_host_nodes(context))
		bcl_host_poll(context, NULL, true);
	assist_ports(helper, read_clock(helper));
}

/* Adds the card's descriptors to the group of the helper, or removes them. */
static void watch_card(struct bcl_helper *helper, const int *fds, unsigned n,
		       bool watch)
{
	const struct bcl_env *env = helper->context->env;

	for (unsigned i = 0; i < n; i++) {
		if (watch)
			env->group_add(env->world, helper->group, fds[i]);
		else
			env->group_remove(env->world, helper->group, fds[i]);
	}
}

/* Serves the traffic until the program is back. */
static void serve_for_program(struct bcl_helper *helper)
{
	struct bcl_context *context = helper->context;
	int fds[BCL_HOST_FDS];
	unsigned n = context->card ? bcl_host_fds(context, fds) : 0;

	bcl_count(context->counters, core_helper_spells);
	watch_card(helper, fds, n, true);
	/* Waiting for the card here would keep the holder of the card from
	 * running. */
	while (serve_ports(helper)) {
		uint64_t until = read_clock(helper) + WATCH;

		if (context->card && bcl_host_deadline(context) < until)
			until = bcl_host_deadline(context);
		sleep_until(helper, until);
		bcl_count(context->counters, core_helper_wakes);
		if (is_ending(helper) || program_called(helper) ||
		    is_armed(helper))
			break;
	}
	watch_card(helper, fds, n, false);
}

/* Sleeps until then, but serves the sockets of the ports. */
static void sleep_and_assist(struct bcl_helper *helper, uint64_t until)
{
	for (;;) {
		uint64_t time;

		sleep_until(helper, until);
		time = read_clock(helper);
		if (is_ending(helper) || time >= until)
			return;
		assist_ports(helper, time);
	}
}

static void helper_main(void *arg)
{
	struct bcl_helper *helper = arg;

	uint64_t period = PERIOD;

	program_called(helper);
	while (!is_ending(helper)) {
		uint64_t time = read_clock(helper);

		if (is_armed(helper))
			time += ARMED_PERIOD;
		else
			time += is_connected(helper) ? period : IDLE_PERIOD;
		sleep_and_assist(helper, time);
		bcl_count(helper->context->counters, core_helper_ticks);
		if (is_ending(helper))
			break;
		if (program_called(helper)) {
			poll_and_assist(helper);
			if (has_held_doorbells(helper))
				period = PERIOD;
			else if (period < PERIOD_MAX)
				period *= 2;
		} else if (is_armed(helper)) {
			serve_ports(helper);
		} else {
			serve_for_program(helper);
			period = PERIOD;
		}
	}
}

static void release_helper(struct bcl_helper *helper)
{
	const struct bcl_env *env = helper->context->env;

	if (helper->group >= 0)
		env->object_close(env->world, helper->group);
	if (helper->object >= 0)
		env->object_close(env->world, helper->object);
	env->release(env->world, helper, sizeof(*helper));
}

enum bcl_status bcl_helper_open(struct bcl_context *context)
{
	const struct bcl_env *env = context->env;
	struct bcl_helper *helper;
	const char *step = "eventfd";
	enum bcl_status status;

	if (!context->config.helper || !env->thread_start)
		return BCL_OK;
	helper = env->allocate(env->world, sizeof(*helper));
	if (!helper)
		return BCL_ERR_NOMEM;
	helper->context = context;
	helper->group = -1;
	helper->object = env->object_open(env->world);
	if (helper->object >= 0) {
		step = "epoll";
		helper->group = env->group_open(env->world, &helper->object, 1);
	}
	status = BCL_ERR_SYSTEM;
	if (helper->group >= 0) {
		step = "a thread";
		status = env->thread_start(env->world, helper_main, helper,
					   &helper->thread);
	}
	if (!status) {
		context->helper = helper;
		return BCL_OK;
	}
	bcl_log(&context->config, BCL_LOG_ERROR, "helper",
		"cannot be started: %s: %s; BCL_HELPER=off does without it",
		step,
		status == BCL_ERR_SYSTEM ? bcl_log_reason(errno)
					 : bcl_strstatus(status));
	release_helper(helper);
	return status;
}

bool bcl_helper_watch(struct bcl_port *port)
{
	struct bcl_helper *helper = port->context->helper;
	const struct bcl_env *env = port->context->env;

	return !helper || !port->shm ||
	       env->group_add(env->world, helper->group, bcl_shm_fd(port));
}

void bcl_helper_unwatch(struct bcl_port *port)
{
	struct bcl_helper *helper = port->context->helper;
	const struct bcl_env *env = port->context->env;

	if (helper && port->shm)
		env->group_remove(env->world, helper->group, bcl_shm_fd(port));
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
	release_helper(helper);
	context->helper = NULL;
}
