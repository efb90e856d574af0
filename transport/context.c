/* SPDX-License-Identifier: MIT */
/*
 * Contexts: bcl_open() and bcl_close(), counters and settings of a context.
 * Ports, peers and memory have files of their own.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "transport/card/card.h"
#include "transport/internal.h"
#include "transport/sized.h"
#include "transport/shm/shm.h"

enum {
	/* ns of a yield to one thread: more than half a slice of the
	 * scheduler */
	YIELD_LONG = 700000,
};

/* Draws the random numbers of a context: card id, incarnation, and the job
 * key if the caller gives none. */
static enum bcl_status
draw_random_numbers(struct bcl_context *context,
		    const struct bcl_context_options *options)
{
	uint64_t key[BCL_KEY_SIZE / 8];

	if (!bcl_random_open(&context->random, context->env)) {
		bcl_log(&context->config, BCL_LOG_ERROR, "context",
			"the system gives no random numbers; permit "
			"getrandom() (a seccomp filter?)");
		return BCL_ERR_SYSTEM;
	}
	context->card_id = bcl_random_draw(&context->random);
	context->incarnation = bcl_random_draw(&context->random);
	key[0] = bcl_random_draw(&context->random);
	key[1] = bcl_random_draw(&context->random);
	memcpy(context->key, options->job_key ? options->job_key : (void *)key,
	       BCL_KEY_SIZE);
	return BCL_OK;
}

/* ranks: of this job on this host */
static void judge_crowd(struct bcl_context *context, unsigned ranks)
{
	const struct bcl_env *env = context->env;
	unsigned processors = env->processors(env->world);

	context->crowded = ranks > processors;
	context->yield_long = YIELD_LONG;
	if (context->crowded)
		context->yield_long *= (ranks + processors - 1) / processors;
}

static enum bcl_status open_parts(struct bcl_context *context,
				  const struct bcl_context_options *options,
				  int rank)
{
	const struct bcl_env *env = context->env;
	enum bcl_status status = bcl_config_read(env, &context->config);
	uint8_t boot_id[16];
	char name[64];

	if (status)
		return status;
	context->config.rank = rank;
	bcl_config_warn(&context->config);
	context->config.alone = options->local_ranks == 1;
	status = draw_random_numbers(context, options);
	if (status)
		return status;
	if (!env->host(env->world, name, boot_id))
		bcl_log(&context->config, BCL_LOG_WARN, "context",
			"this host is known by its name only, and takes others "
			"for other hosts: its boot id cannot be read: %s",
			bcl_log_reason(errno));
	context->host = bcl_address_host(name, boot_id, context->config.node);
	judge_crowd(context, options->local_ranks);
	context->barrier = env->barrier_register(env->world);
	if (!context->barrier)
		bcl_log(&context->config, BCL_LOG_INFO, "context",
			"no membarrier: each send inside the host has a fence");
	context->counters = bcl_counters_open(env, context->card_id, 0,
					      &context->counters_fd);
	if (!context->counters)
		return bcl_memory_refused(context, sizeof(*context->counters));
	if (bcl_config_listed(context->config.rails, "none"))
		strcpy(context->no_card, "BCL_RAILS is none");
	else
		status = bcl_host_open(context);
	if (status && status != BCL_ERR_NORAIL)
		return status;
	if (status)
		bcl_log(&context->config, BCL_LOG_INFO, "context",
			"no network: %s", context->no_card);
	return bcl_helper_open(context);
}

enum bcl_status bcl_context_open(const struct bcl_env *env,
				 const struct bcl_context_options *given,
				 int rank, struct bcl_context **result)
{
	struct bcl_context_options options;
	struct bcl_context *context;
	enum bcl_status status;

	status = bcl_sized_read(&options, given, job_key);
	if (status)
		return status;
	if (!result || options.flags & ~(unsigned)BCL_THREADS)
		return BCL_ERR_ARG;
	bcl_process_init();
	if (bcl_process_orphaned())
		return BCL_ERR_FORKED;
	context = env->allocate(env->world, sizeof(*context));
	if (!context)
		return BCL_ERR_NOMEM;
	context->env = env;
	context->flags = options.flags;
	context->local_ranks = options.local_ranks;
	context->fork_generation = bcl_fork_generation();
	bcl_process_count(1);
	pthread_mutex_init(&context->lock, NULL);
	pthread_mutex_init(&context->memory_lock, NULL);
	status = open_parts(context, &options, rank);
	if (status)
		bcl_close(context);
	else
		*result = context;
	return status;
}

enum bcl_status bcl_open(const struct bcl_context_options *options,
			 struct bcl_context **result)
{
	return bcl_context_open(&bcl_env_linux, options, -1, result);
}

static void print_counters(struct bcl_context *context)
{
	struct bcl_counter counters[BCL_NCOUNTERS];
	size_t n = BCL_NCOUNTERS;
	char line[128];

	bcl_counters(context, counters, &n);
	for (size_t i = 0; i < n; i++) {
		if (!counters[i].value)
			continue;
		snprintf(line, sizeof(line), "%12" PRIu64 " %-24s %s",
			 counters[i].value, counters[i].name, counters[i].text);
		bcl_log_line(&context->config, BCL_LOG_INFO, "stats", line);
	}
}

void bcl_close(struct bcl_context *context)
{
	const struct bcl_env *env;

	if (bcl_context_usable(context))
		return;
	env = context->env;
	bcl_helper_close(context);
	while (context->ports)
		bcl_port_close(context->ports);
	if (context->config.stats && context->counters)
		print_counters(context);
	bcl_memories_free(context);
	if (context->card)
		bcl_host_close(context);
	bcl_counters_close(env, context->counters, context->counters_fd);
	pthread_mutex_destroy(&context->lock);
	pthread_mutex_destroy(&context->memory_lock);
	bcl_process_count(-1);
	env->release(env->world, context, sizeof(*context));
}

uint64_t bcl_context_node(const struct bcl_context *context)
{
	if (!context)
		return 0;
	return context->config.shm ? context->host : context->card_id;
}

void bcl_counters(struct bcl_context *context, struct bcl_counter *counters,
		  size_t *count)
{
	size_t room;

	if (!context || !count)
		return;
	room = counters ? *count : 0;
	*count = BCL_NCOUNTERS;
	if (!room || bcl_context_usable(context))
		return;
	if (context->card)
		bcl_host_counters_copy(context);
	if (room > BCL_NCOUNTERS)
		room = BCL_NCOUNTERS;
	pthread_mutex_lock(&context->lock);
	/* The counters of shared memory at ports of other threads are up to
	 * date within a tenth of a second. */
	for (struct bcl_port *port = context->ports;
	     port && !(context->flags & BCL_THREADS); port = port->next)
		if (port->shm)
			bcl_shm_count(port);
	for (size_t i = 0; i < room; i++) {
		uint64_t value = bcl_counter_get(context->counters, i) +
				 context->counters->ended[i];

		for (struct bcl_port *port = context->ports; port;
		     port = port->next)
			if (port->counters)
				value += bcl_counter_get(port->counters, i);
		counters[i] = (struct bcl_counter){
			.name = bcl_counter_names[i],
			.text = bcl_counter_texts[i],
			.value = value,
		};
	}
	pthread_mutex_unlock(&context->lock);
}

_Static_assert(sizeof(((struct bcl_setting *)0)->value) >= BCL_CONFIG_TEXT_MAX,
	       "each setting fits");

void bcl_settings(const struct bcl_context *context,
		  struct bcl_setting *settings, size_t *count)
{
	size_t room;

	if (!context || !count)
		return;
	room = settings ? *count : 0;
	*count = bcl_config_nentries;
	for (size_t i = 0; i < room && i < bcl_config_nentries; i++) {
		settings[i].name = bcl_config_entries[i].name;
		settings[i].text = bcl_config_entries[i].text;
		bcl_config_print(&context->config, &bcl_config_entries[i],
				 settings[i].value, sizeof(settings[i].value));
	}
}
