/* SPDX-License-Identifier: MIT */
/* Joining the job, bcl_adi_open(), and leaving it, bcl_adi_close(). */
#include "adi/arrive.h"
#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/progress.h"
#include "adi/protocol.h"
#include "adi/receive.h"
#include "adi/request.h"
#include "adi/unexpected.h"
#include "transport/boot/boot.h"
#include "transport/context.h"
#include "transport/peer.h"
#include "transport/sized.h"

enum {
	/* Turns before a wait goes on in bcl_adi_wait_any(). SPINS_CROWDED:
	 * another process may want the processor; about a round trip between
	 * nodes. */
	SPINS = 1000,
	SPINS_CROWDED = 64,
};

/* ---- joining ---- */

static enum bcl_status open_context(struct bcl_adi *adi,
				    const struct bcl_adi_options *options,
				    const uint8_t key[BCL_KEY_SIZE])
{
	const struct bcl_context_options context_options = {
		.struct_size = sizeof(context_options),
		.local_ranks = adi->boot->local_ranks,
		.job_key = key,
		.flags = options->flags & BCL_ADI_THREADS ? BCL_THREADS : 0,
	};
	enum bcl_status status;

	adi->context = options->context;
	if (adi->context)
		return BCL_OK;
	status = bcl_context_open(&bcl_env_linux, &context_options,
				  adi->boot->config.rank, &adi->context);
	adi->own_context = !status;
	return status;
}

/* Publishes the address of this rank, for which all ranks wait. A rank that
 * cannot join publishes the status instead. */
static enum bcl_status publish_address(struct bcl_boot *boot,
				       const struct bcl_adi *adi,
				       enum bcl_status opened)
{
	uint8_t address[BCL_ADDRESS_MAX] = { (uint8_t)opened };
	enum bcl_status status = BCL_OK;
	size_t length = BCL_ADI_WHY_NOT;

	if (!opened)
		status = bcl_port_address(adi->port, address, &length);
	if (!status)
		status = bcl_boot_put(boot, "address", address, length);
	if (!status)
		status = bcl_boot_fence(boot);
	return opened ? opened : status;
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
	adi->eager_long = config->eager_max;
	adi->eager_max = bcl_config_eager_near(config);
	adi->unexpected_max = config->unexpected;
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

/* Releases all of the job but the boot. */
static void release_job(struct bcl_adi *adi)
{
	const struct bcl_env *env = adi->env;

	if (adi->client)
		adi->client->close(adi->client);
	if (adi->port) {
		bcl_adi_threads_close(adi);
		bcl_port_close(adi->port);
		bcl_adi_drop_unexpected(adi);
		bcl_match_close(&adi->match);
		bcl_adi_peers_close(adi);
		bcl_requests_close(adi);
		bcl_pool_close(&adi->pool);
	}
	if (adi->own_context)
		bcl_close(adi->context);
	env->release(env->world, adi, sizeof(*adi));
}

/* Joins the job of `boot`. All ranks of the job pass the same number of fences,
 * whatever fails. */
static enum bcl_status join_job(const struct bcl_env *env,
				struct bcl_boot *boot,
				const struct bcl_adi_options *options,
				struct bcl_adi **result)
{
	uint8_t key[BCL_KEY_SIZE];
	enum bcl_status status = BCL_OK;
	struct bcl_adi *adi;

	if (!boot->size || boot->size > BCL_ADI_RANKS_MAX ||
	    boot->rank >= boot->size)
		return BCL_ERR_BOOT;
	if (!options->context)
		status = bcl_boot_key(boot, key);
	adi = env->allocate(env->world, sizeof(*adi));
	if (!adi)
		return publish_address(boot, NULL, BCL_ERR_NOMEM);
	adi->env = env;
	adi->boot = boot;
	adi->own_boot = !options->boot;
	adi->rank = boot->rank;
	adi->size = boot->size;
	if (!status)
		status = open_context(adi, options, key);
	if (!status)
		status = open_engine(adi, options->flags);
	status = publish_address(boot, adi, status);
	if (status)
		release_job(adi);
	else
		*result = adi;
	return status;
}

enum bcl_status bcl_adi_open(const struct bcl_adi_options *given,
			     struct bcl_adi **result)
{
	const struct bcl_env *env = &bcl_env_linux;
	struct bcl_adi_options options;
	struct bcl_boot *boot;
	enum bcl_status status;

	if (!result)
		return BCL_ERR_ARG;
	status = bcl_sized_read(&options, given, boot);
	if (status)
		return status;
	if (bcl_process_orphaned())
		return BCL_ERR_FORKED;
	if (options.context)
		env = options.context->env;
	boot = (struct bcl_boot *)options.boot;
	if (!boot)
		status = bcl_boot_open(env, &boot);
	if (status)
		return status;
	status = join_job(env, boot, &options, result);
	if (status && !options.boot)
		bcl_boot_close(boot);
	return status;
}

/* ---- leaving ---- */

static void cancel(struct bcl_match_receive *receive, void *arg)
{
	struct bcl_adi *adi = arg;

	if (bcl_match_context(receive->node.key) > BCL_ADI_CONTEXT_MAX)
		return;
	bcl_request_take_back(adi, (struct bcl_adi_request *)receive);
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

/* Turns until no send of this rank is under way, and no call or pull. */
static void drain(struct bcl_adi *adi)
{
	struct bcl_adi_idle idle = { 0 };
	struct bcl_adi_request *busy;
	uint32_t generation;

	while (!adi->broken) {
		busy = NULL;
		bcl_requests_each(adi, find_busy, &busy);
		if (!busy)
			return;
		for (generation = busy->generation;
		     busy->generation == generation &&
		     busy->state != BCL_REQUEST_DONE &&
		     busy->state != BCL_REQUEST_FREE && !adi->broken;) {
			if (bcl_adi_turn(adi))
				idle = (struct bcl_adi_idle){ 0 };
			else
				bcl_adi_idle(adi, &idle);
		}
	}
}

/* Waits until all messages are delivered. A short message is complete when the
 * transport has taken it, perhaps before the peer is up. An empty message
 * follows to each peer, and is complete when the peer has all messages. */
static void flush(struct bcl_adi *adi)
{
	struct bcl_adi_peer *peer;

	drain(adi);
	for (peer = adi->peers; peer; peer = peer->next) {
		if (!peer->dirty || peer->lost)
			continue;
		peer->dirty = false;
		bcl_adi_send_nothing(adi, peer, BCL_ADI_FLUSH, adi->own);
	}
	drain(adi);
}

/*
 * Waits until all ranks are here. A rank comes here after all other messages of
 * the rank. A receiver waits for each message of this function, so no rank
 * calls a rank that has ended.
 *
 * Dissemination (Hensgen, Finkel, Manber 1988): after ceil(log2 n) rounds each
 * rank has heard of all. A lost rank counts as having arrived, together with
 * the ranks of which the lost rank would have told.
 */
static void await_ranks(struct bcl_adi *adi)
{
	struct bcl_adi_request request;
	struct bcl_adi_peer *next;
	unsigned distance, from, round = 0;

	for (distance = 1; distance < adi->size; distance *= 2, round++) {
		from = (adi->rank + adi->size - distance) % adi->size;
		request.state = BCL_REQUEST_NEW;
		request.end = 0;
		request.niov = 0;
		request.buffer = NULL;
		request.length = 0;
		bcl_adi_start_receive(
			adi, &request,
			bcl_match_key(BCL_ADI_CONTEXT_CLOSE, from, round),
			BCL_MATCH_EXACT);
		next = bcl_adi_peer_get(adi,
					(adi->rank + distance) % adi->size);
		if (next)
			bcl_adi_send_nothing(
				adi, next, BCL_ADI_EAGER,
				bcl_match_key(BCL_ADI_CONTEXT_CLOSE, adi->rank,
					      round));
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
	bcl_adi_discard_unexpected(adi);
	flush(adi);
	/* ranks that finish earlier leave; this is no loss to report */
	adi->leaving = true;
	await_ranks(adi);
	drain(adi);
}

void bcl_adi_close(struct bcl_adi *adi)
{
	struct bcl_boot *boot;

	if (!adi || bcl_adi_enter(adi))
		return;
	if (!adi->broken)
		leave_job(adi);
	bcl_adi_leave(adi);
	boot = adi->own_boot ? adi->boot : NULL;
	release_job(adi);
	bcl_boot_close(boot);
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
