/* SPDX-License-Identifier: MIT */
/*
 * Ports: opening, closing and the address. The parts of a port (queues at the
 * card, shared-memory side, channels, counters) are in files of their own.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "transport/card/card.h"
#include "transport/internal.h"
#include "transport/shm/shm.h"
#include "transport/sized.h"

enum {
	CHANNELS = 16, /* by default */
	CHANNELS_MAX = 4096,
	NUMBER_MAX = 65535,
};

static struct bcl_port *find_port(const struct bcl_context *context,
				  unsigned number)
{
	struct bcl_port *port = context->ports;

	while (port && port->number != number)
		port = port->next;
	return port;
}

/* Finds a free number, unless `number` is given, and enters the port in the
 * list. The caller holds context->lock. */
static enum bcl_status enter_port(struct bcl_port *port, unsigned number)
{
	struct bcl_context *context = port->context;

	bcl_assert(bcl_is_locked(&context->lock));
	if (number && find_port(context, number))
		return BCL_ERR_BUSY;
	if (!number)
		for (number = 1; number <= NUMBER_MAX; number++)
			if (!find_port(context, number))
				break;
	if (number > NUMBER_MAX)
		return BCL_ERR_NOMEM;
	port->number = (uint16_t)number;
	port->next = context->ports;
	context->ports = port;
	return BCL_OK;
}

/* Takes the port out of the list, and adds its counters to those of closed
 * ports. The caller holds context->lock. */
static void remove_port(struct bcl_port *port)
{
	struct bcl_context *context = port->context;
	struct bcl_port **place = &context->ports;

	bcl_assert(bcl_is_locked(&context->lock));
	while (*place != port)
		place = &(*place)->next;
	*place = port->next;
	if (!port->counters)
		return;
	for (unsigned i = 0; i < BCL_NCOUNTERS; i++)
		context->counters->ended[i] +=
			bcl_counter_get(port->counters, i);
}

/* Closes everything but the entry in the list; the port may be only partly
 * open. */
static void close_parts(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;

	if (port->shm)
		bcl_shm_port_close(port);
	if (port->card)
		bcl_host_port_close(port);
	bcl_self_close(port);
	bcl_channels_close(port);
	bcl_peers_free(port);
	bcl_event_free(port);
	if (port->flags & BCL_PORT_ARMED)
		atomic_fetch_sub_explicit(&port->context->armed, 1,
					  memory_order_relaxed);
	if (port->group >= 0)
		env->object_close(env->world, port->group);
	if (port->object >= 0)
		env->object_close(env->world, port->object);
}

static enum bcl_status open_group(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;
	int fds[2];
	unsigned n = 0;

	/* the rails join the group while the port is armed */
	fds[n++] = port->object;
	if (port->shm)
		fds[n++] = bcl_shm_fd(port);
	port->group = env->group_open(env->world, fds, n);
	return port->group < 0 ? BCL_ERR_SYSTEM : BCL_OK;
}

static enum bcl_status open_parts(struct bcl_port *port)
{
	struct bcl_context *context = port->context;
	const struct bcl_env *env = context->env;
	struct bcl_counter_page *counters;
	enum bcl_status status;

	counters = bcl_counters_open(env, context->card_id, port->number,
				     &port->counters_fd);
	if (!counters)
		return bcl_memory_refused(context, sizeof(*counters));
	/* The port is in the list already, and other threads sum its
	 * counters up. */
	pthread_mutex_lock(&context->lock);
	port->counters = counters;
	pthread_mutex_unlock(&context->lock);
	port->object = env->object_open(env->world);
	if (port->object < 0)
		return BCL_ERR_SYSTEM;
	status = bcl_channels_open(port);
	if (!status && context->card)
		status = bcl_host_port_open(port);
	if (status)
		return status;
	status = bcl_shm_port_open(port, port->shm_why);
	if (status)
		bcl_log(&context->config,
			status == BCL_ERR_UNSUPPORTED ? BCL_LOG_INFO
						      : BCL_LOG_WARN,
			"shm", "port %u has no shared memory: %s", port->number,
			port->shm_why);
	status = open_group(port);
	if (!status && !bcl_helper_watch(port))
		status = BCL_ERR_SYSTEM;
	return status;
}

static void release_port(struct bcl_port *port)
{
	struct bcl_context *context = port->context;
	const struct bcl_env *env = context->env;

	pthread_mutex_lock(&context->lock);
	remove_port(port);
	pthread_mutex_unlock(&context->lock);
	/* the port counts until here */
	bcl_counters_close(env, port->counters, port->counters_fd);
	env->release(env->world, port, sizeof(*port));
}

enum bcl_status bcl_port_open(struct bcl_context *context,
			      const struct bcl_port_options *given,
			      struct bcl_port **result)
{
	enum bcl_status status = bcl_context_usable(context);
	struct bcl_port_options options;
	const struct bcl_env *env;
	struct bcl_port *port;

	if (status)
		return status;
	env = context->env;
	status = bcl_sized_read(&options, given, channels);
	if (status)
		return status;
	if (!result || options.number > NUMBER_MAX ||
	    options.channels > CHANNELS_MAX)
		return BCL_ERR_ARG;
	bcl_presence(context);
	port = env->allocate(env->world, sizeof(*port));
	if (!port)
		return BCL_ERR_NOMEM;
	port->context = context;
	port->fork_generation = context->fork_generation;
	port->nchannels = options.channels ? options.channels : CHANNELS;
	port->object = port->group = -1;
	port->network.empty = port->clock.looks = port->clock.messages = 1;

	pthread_mutex_lock(&context->lock);
	status = enter_port(port, options.number);
	pthread_mutex_unlock(&context->lock);
	if (status) {
		env->release(env->world, port, sizeof(*port));
		return status;
	}
	status = open_parts(port);
	if (status) {
		bcl_log(&context->config, BCL_LOG_ERROR, "context",
			"port %u cannot be opened: %s", port->number,
			status == BCL_ERR_SYSTEM ? bcl_log_reason(errno)
						 : bcl_strstatus(status));
		close_parts(port);
		release_port(port);
		return status;
	}
	pthread_mutex_lock(&context->lock);
	port->service.changed = context->env->now(context->env->world);
	port->ready = true;
	pthread_mutex_unlock(&context->lock);
	*result = port;
	return BCL_OK;
}

void bcl_port_close(struct bcl_port *port)
{
	struct bcl_context *context;

	if (bcl_port_usable(port))
		return;
	context = port->context;
	bcl_presence(context);
	/* from now on the helper thread leaves the port alone */
	pthread_mutex_lock(&context->lock);
	port->ready = false;
	pthread_mutex_unlock(&context->lock);
	bcl_helper_unwatch(port);
	close_parts(port);
	release_port(port);
}

enum bcl_status bcl_port_address(struct bcl_port *port, void *blob,
				 size_t *length)
{
	enum bcl_status status = bcl_port_usable(port);
	const struct bcl_context *context;
	struct bcl_address address;

	if (status)
		return status;
	if (!blob || !length)
		return BCL_ERR_ARG;
	context = port->context;
	address = (struct bcl_address){
		.host = context->host,
		.card = context->card_id,
		.number = port->number,
	};
	memcpy(address.key, context->key, BCL_KEY_SIZE);
	if (context->card)
		bcl_host_address(context, &address);
	*length = bcl_address_pack(&address, blob);
	return BCL_OK;
}
