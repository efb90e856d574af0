/* SPDX-License-Identifier: MIT */
/* Joining the job and leaving it. */
#include "adi/engine.h"

enum {
	/* Turns before a wait leaves the rest to bcl_wait(); and where somebody
	 * else may want the processor: a round trip between nodes. */
	SPINS = 1000,
	SPINS_CROWDED = 64,
};

/* ---- joining ----------------------------------------------------------------
 */

static enum bcl_status open_boot(struct bcl_adi *adi,
				 const struct bcl_adi_options *options)
{
	enum bcl_status status = BCL_OK;

	adi->boot = (struct bcl_boot *)options->boot;
	if (!adi->boot) {
		status = bcl_boot_open(adi->env, &adi->boot);
		adi->own_boot = !status;
	}
	if (status)
		return status;
	adi->rank = adi->boot->rank;
	adi->size = adi->boot->size;
	return adi->size && adi->size <= BCL_ADI_RANKS_MAX &&
			       adi->rank < adi->size
		       ? BCL_OK
		       : BCL_ERR_BOOT;
}

static enum bcl_status open_context(struct bcl_adi *adi,
				    const struct bcl_adi_options *options)
{
	struct bcl_context_options context_options = {
		.local_ranks = adi->boot->local_ranks,
	};
	uint8_t key[BCL_KEY_SIZE];
	enum bcl_status status;

	adi->context = options->context;
	if (adi->context)
		return BCL_OK;
	status = bcl_boot_key(adi->boot, key);
	if (status)
		return status;
	context_options.job_key = key;
	if (options->flags & BCL_ADI_THREADS)
		context_options.flags = BCL_THREADS;
	status = bcl_context_open(&context_options, adi->boot->config.rank,
				  &adi->context);
	adi->own_context = !status;
	return status;
}

static enum bcl_status publish(struct bcl_adi *adi)
{
	uint8_t address[BCL_ADDRESS_MAX];
	enum bcl_status status;
	size_t length;

	status = bcl_port_address(adi->port, address, &length);
	if (!status)
		status = bcl_boot_put(adi->boot, "address", address, length);
	if (!status)
		status = bcl_boot_fence(adi->boot);
	return status;
}

static enum bcl_status open_engine(struct bcl_adi *adi, unsigned flags)
{
	const struct bcl_config *config = &adi->context->config;
	enum bcl_status status;

	status = bcl_port_open(adi->context, NULL, &adi->port);
	if (status)
		return status;
	adi->counters = adi->port->counters;
	adi->plain_in = adi->port->fork_generation;
	adi->own = bcl_match_key(0, adi->rank, 0);
	adi->eager_max = config->eager_max;
	adi->kept_max = config->unexpected;
	adi->done.state = BCL_REQUEST_DONE;
	adi->ready_last = &adi->ready;
	bcl_pool_open(&adi->pool, adi->env);
	bcl_match_open(&adi->match, adi->env);
	if (!bcl_adi_peers_open(adi))
		return BCL_ERR_NOMEM;
	if (flags & BCL_ADI_THREADS)
		return bcl_adi_threads_open(adi);
	if (!adi->env->sleeps_at_once)
		adi->spins = adi->context->crowded ? SPINS_CROWDED : SPINS;
	return BCL_OK;
}

static void release(struct bcl_adi *adi)
{
	const struct bcl_env *env = adi->env;

	if (adi->client)
		adi->client->close(adi->client);
	if (adi->port) {
		bcl_adi_threads_close(adi);
		bcl_port_close(adi->port);
		bcl_match_close(&adi->match);
		bcl_adi_peers_close(adi);
		bcl_requests_close(adi);
		bcl_pool_close(&adi->pool);
	}
	if (adi->own_context)
		bcl_close(adi->context);
	if (adi->own_boot)
		bcl_boot_close(adi->boot);
	env->release(env->world, adi, sizeof(*adi));
}

enum bcl_status bcl_adi_open(const struct bcl_adi_options *options,
			     struct bcl_adi **result)
{
	static const struct bcl_adi_options defaults;
	enum bcl_status status;
	const struct bcl_env *env = &bcl_env_linux;
	struct bcl_adi *adi;

	if (!result)
		return BCL_ERR_ARG;
	if (bcl_process_orphaned())
		return BCL_ERR_FORKED;
	if (!options)
		options = &defaults;
	if (options->context)
		env = options->context->env;
	adi = env->allocate(env->world, sizeof(*adi));
	if (!adi)
		return BCL_ERR_NOMEM;
	adi->env = env;
	status = open_boot(adi, options);
	if (!status)
		status = open_context(adi, options);
	if (!status)
		status = open_engine(adi, options->flags);
	if (!status)
		status = publish(adi);
	if (status) {
		release(adi);
		return status;
	}
	*result = adi;
	return BCL_OK;
}

/* ---- leaving ----------------------------------------------------------------
 */

static void cancel(struct bcl_match_receive *receive, void *arg)
{
	struct bcl_adi *adi = arg;

	if (bcl_match_context(receive->node.key) > BCL_ADI_CONTEXT_MAX)
		return;
	bcl_match_unpost(&adi->match, receive);
	bcl_request_complete(adi, (struct bcl_adi_request *)receive,
			     BCL_ERR_CANCELLED);
}

static void find_busy(struct bcl_adi *adi, struct bcl_adi_request *request,
		      void *arg)
{
	struct bcl_adi_request **busy = arg;

	(void)adi;
	if (request->state != BCL_REQUEST_DONE &&
	    request->state != BCL_REQUEST_POSTED &&
	    request->state != BCL_REQUEST_RUNNING)
		*busy = request;
}

/* Until nothing is on its way from here, or to here by our asking. */
static void drain(struct bcl_adi *adi)
{
	struct bcl_adi_idle idle = { 0 };
	struct bcl_adi_request *busy;
	uint32_t life;

	while (!adi->broken) {
		busy = NULL;
		bcl_requests_each(adi, find_busy, &busy);
		if (!busy)
			return;
		for (life = busy->life;
		     busy->life == life && busy->state != BCL_REQUEST_DONE &&
		     busy->state != BCL_REQUEST_FREE && !adi->broken;) {
			if (bcl_adi_turn(adi))
				idle = (struct bcl_adi_idle){ 0 };
			else
				bcl_adi_idle(adi, &idle);
		}
	}
}

/* Short messages are on their way when sent, which may be when their peer is
 * up: wait until they are there. */
static void flush(struct bcl_adi *adi)
{
	struct bcl_adi_peer *peer;

	drain(adi);
	for (peer = adi->peers; peer; peer = peer->next) {
		if (!peer->dirty || peer->lost)
			continue;
		peer->dirty = false;
		bcl_adi_ask(adi, peer, BCL_ADI_FLUSH);
	}
	drain(adi);
}

static void send_nothing(struct bcl_adi *adi, unsigned rank, uint64_t key)
{
	struct bcl_adi_request *request = bcl_request_new(adi);

	if (!request)
		return;
	request->end = BCL_END_FREE;
	request->sync = false;
	request->buffer = NULL;
	request->length = 0;
	bcl_adi_send_queued(adi, request, rank, key);
}

/*
 * Dissemination (Hensgen, Finkel, Manber 1988): in ceil(log2 n) rounds each
 * rank has heard of all. A rank that is lost counts as having arrived, with
 * those it would have told of.
 */
static void meet(struct bcl_adi *adi)
{
	struct bcl_adi_request request;
	unsigned distance, from, round = 0;

	for (distance = 1; distance < adi->size; distance *= 2, round++) {
		from = (adi->rank + adi->size - distance) % adi->size;
		request.end = 0;
		request.niov = 0;
		request.buffer = NULL;
		request.length = 0;
		bcl_adi_start_receive(
			adi, &request,
			bcl_match_key(BCL_ADI_CONTEXT_CLOSE, from, round),
			BCL_MATCH_EXACT);
		send_nothing(
			adi, (adi->rank + distance) % adi->size,
			bcl_match_key(BCL_ADI_CONTEXT_CLOSE, adi->rank, round));
		if (bcl_adi_wait_done(adi, &request))
			return;
	}
}

static void leave_job(struct bcl_adi *adi)
{
	struct bcl_adi_peer *peer;

	adi->closing = true;
	for (peer = adi->peers; peer; peer = peer->next)
		if (peer->waits)
			bcl_adi_owe(adi, peer, BCL_OWED_LEFT);
	bcl_match_each(&adi->match, cancel, adi);
	bcl_adi_discard_kept(adi);
	flush(adi);
	/* those who are through leave before us */
	adi->leaving = true;
	meet(adi);
	flush(adi);
}

void bcl_adi_close(struct bcl_adi *adi)
{
	if (!adi || bcl_adi_enter(adi))
		return;
	if (!adi->broken)
		leave_job(adi);
	bcl_adi_leave(adi);
	release(adi);
}

/* ---- who and where ---- */

unsigned bcl_adi_rank(const struct bcl_adi *adi)
{
	return adi ? adi->rank : 0;
}

unsigned bcl_adi_size(const struct bcl_adi *adi)
{
	return adi ? adi->size : 0;
}

struct bcl_context *bcl_adi_context(const struct bcl_adi *adi)
{
	return adi ? adi->context : NULL;
}

struct bcl_port *bcl_adi_port(const struct bcl_adi *adi)
{
	return adi ? adi->port : NULL;
}

struct bcl_counter_page *bcl_adi_counters(const struct bcl_adi *adi)
{
	return adi->counters;
}

const struct bcl_env *bcl_adi_env(const struct bcl_adi *adi)
{
	return adi->env;
}

void bcl_adi_lock(struct bcl_adi *adi)
{
	bcl_adi_enter(adi);
}

void bcl_adi_unlock(struct bcl_adi *adi)
{
	bcl_adi_leave(adi);
}
