/* SPDX-License-Identifier: MIT */
#include "mock_state.h"

enum bcl_status bcl_context_open(const struct bcl_env *env,
				 const struct bcl_context_options *options,
				 int rank, struct bcl_context **context)
{
	(void)env;
	(void)options;
	(void)rank;
	(void)context;
	mock_check(false, "a context comes from mock_context()");
	return BCL_ERR_SYSTEM;
}

void bcl_close(struct bcl_context *context)
{
	(void)context;
}

enum bcl_status bcl_port_open(struct bcl_context *context,
			      const struct bcl_port_options *options,
			      struct bcl_port **result)
{
	struct mock *mock = (struct mock *)context->helper;
	struct mock_port *port = &mock->port[context - mock->context];

	(void)options;
	pthread_mutex_lock(&mock->lock);
	mock_check(!port->open, "a second port of a process");
	port->open = true;
	port->base.context = context;
	port->base.counters = &port->page;
	port->base.fork_generation = bcl_fork_generation();
	port->base.object = mock->env->object_open(mock->env->world);
	*result = &port->base;
	pthread_mutex_unlock(&mock->lock);
	return BCL_OK;
}

/* Counts the port's messages that have not arrived yet. A port that closes may
 * lose these messages. */
static unsigned on_way(struct mock *mock, const struct mock_port *port)
{
	uint64_t now = mock_now(mock);
	const struct mock_event *event;
	unsigned i, n = 0;

	for (i = 0; i < mock->options.ports; i++)
		for (event = mock->port[i].events; event; event = event->next)
			n += event->way && event->way->local == port &&
			     event->at > now;
	return n;
}

void bcl_port_close(struct bcl_port *base)
{
	struct mock_port *port = mock_port_of(base);
	struct mock *mock = mock_enter(port);

	port->cut = on_way(mock, port);
	mock_events_drop(port);
	port->open = false;
	mock_port_lost(mock, port);
	mock->env->object_close(mock->env->world, port->base.object);
	mock_leave(mock);
}

enum bcl_status bcl_port_address(struct bcl_port *base, void *address,
				 size_t *length)
{
	struct mock_port *port = mock_port_of(base);

	memcpy(address, &port->number, sizeof(port->number));
	*length = sizeof(port->number);
	return BCL_OK;
}

/* ---- the world ---- */

struct mock *mock_open(const struct bcl_env *env,
		       const struct mock_options *options)
{
	struct mock *mock = calloc(1, sizeof(*mock));
	pthread_mutexattr_t recursive;
	struct bcl_context *context;

	mock_check(mock && options->ports <= MOCK_PORTS, "too many ports");
	mock->env = env;
	mock->options = *options;
	mock->random = options->seed * 0x9e3779b97f4a7c15ull + 1;
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&mock->lock, &recursive);
	for (unsigned i = 0; i < options->ports; i++) {
		mock->port[i].mock = mock;
		mock->port[i].number = i + 1;
		context = &mock->context[i];
		context->env = env;
		context->helper = (struct bcl_helper *)mock;
		context->config.env = env;
		context->config.eager_max =
			options->eager_max ? options->eager_max : 4096;
		context->config.unexpected =
			options->unexpected ? options->unexpected : 4 << 20;
		context->config.peer_timeout = 30000000000;
		strcpy(context->config.log, "error");
	}
	return mock;
}

void mock_close(struct mock *mock)
{
	for (unsigned i = 0; i < mock->options.ports; i++) {
		mock_events_drop(&mock->port[i]);
		mock_peers_drop(&mock->port[i]);
	}
	mock_offers_drop(mock, NULL);
	pthread_mutex_destroy(&mock->lock);
	free(mock);
}

struct bcl_context *mock_context(struct mock *mock, unsigned i)
{
	return &mock->context[i];
}

void mock_kill(struct mock *mock, unsigned i)
{
	pthread_mutex_lock(&mock->lock);
	mock->port[i].dead = true;
	if (mock->port[i].open)
		mock->env->wake(mock->env->world, mock->port[i].base.object);
	mock_port_lost(mock, &mock->port[i]);
	mock_offers_drop(mock, &mock->port[i]);
	pthread_mutex_unlock(&mock->lock);
}

void mock_block(struct mock *mock, unsigned i, unsigned j, bool blocked)
{
	pthread_mutex_lock(&mock->lock);
	mock_peer_find(&mock->port[i], &mock->port[j])->blocked = blocked;
	pthread_mutex_unlock(&mock->lock);
}

void mock_inject(struct mock *mock, unsigned i, unsigned j, unsigned type,
		 uint64_t immediate, const void *data, size_t length)
{
	pthread_mutex_lock(&mock->lock);
	mock_say(mock_peer_find(&mock->port[i], &mock->port[j]),
		 BCL_EVENT_MESSAGE, type, immediate, data, length);
	pthread_mutex_unlock(&mock->lock);
}

unsigned mock_cut(struct mock *mock, unsigned i)
{
	return mock->port[i].cut;
}

unsigned mock_sent(struct mock *mock, unsigned i, int type)
{
	unsigned sum = 0;
	int t;

	pthread_mutex_lock(&mock->lock);
	for (t = 0; t < BCL_TYPES; t++)
		sum += type < 0 || type == t ? mock->port[i].sent[t] : 0;
	pthread_mutex_unlock(&mock->lock);
	return sum;
}

uint64_t mock_count(struct mock *mock, unsigned i, enum bcl_counter_id id)
{
	return bcl_counter_get(&mock->port[i].page, id);
}

void bcl_port_late(struct bcl_port *port, uint64_t ns)
{
	(void)port;
	(void)ns;
}
