/* SPDX-License-Identifier: MIT */
/* Copies out of the memory of other members; see attached.h. */
#include "collectives/attached.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/builders.h"
#include "transport/context.h"
#include "transport/shm/host.h"

enum {
	/* Bytes of an offer with its data. A longer block is copied by attach
	 * in less time than a member needs to copy it twice. */
	OFFER_MAX = sizeof(struct bcl_offer) + 1024,
	PHASES = 2, /* in which the offers to all members are written */
};

static enum bcl_status read_from(const struct bcl_team *team, unsigned member,
				 void *to, uint64_t from, size_t length)
{
	const struct bcl_env *env = bcl_adi_env(team->adi);

	return env->shm_host->read(env->world, team->processes[member], to,
				   from, length);
}

/* True if the own member may attach to the process, and the process belongs to
 * the other member. */
static bool may_attach(const struct bcl_team *team, unsigned member,
		       const struct bcl_introduction *introduction)
{
	uint64_t seen;

	if (member == team->rank)
		return true;
	return read_from(team, member, &seen, introduction->address,
			 sizeof(seen)) == BCL_OK &&
	       seen == introduction->incarnation;
}

void bcl_attached_introduce(const struct bcl_team *team,
			    struct bcl_introduction *own)
{
	const struct bcl_context *context = bcl_adi_context(team->adi);
	const struct bcl_env *env = bcl_adi_env(team->adi);

	*own = (struct bcl_introduction){
		.process = (uint64_t)env->shm_host->self(env->world),
		.address = (uintptr_t)&context->incarnation,
		.incarnation = context->incarnation,
	};
}

void bcl_attached_try(struct bcl_team *team, const struct bcl_introduction *all)
{
	unsigned i;

	if (!bcl_adi_context(team->adi)->config.attach)
		return;
	team->processes = malloc(team->size * sizeof(*team->processes));
	for (i = 0; team->processes && i < team->size; i++) {
		team->processes[i] = (pid_t)all[i].process;
		if (!may_attach(team, i, &all[i]))
			bcl_attached_forget(team);
	}
}

void bcl_attached_forget(struct bcl_team *team)
{
	free(team->processes);
	team->processes = NULL;
}

void bcl_attached_withdraw(const struct bcl_team *team)
{
	if (!team->processes)
		return;
	atomic_store_explicit(team->node.lost, (uint32_t)team->lost,
			      memory_order_relaxed);
	/* before the caller writes; partner: the fence in fetch_memory() */
	atomic_thread_fence(memory_order_release);
}

static enum bcl_status fetch_memory(const struct bcl_team *team,
				    const struct bcl_step *step,
				    const struct bcl_offer *offer)
{
	enum bcl_status status =
		read_from(team, step->rank, step->to,
			  offer->address + step->offset, step->length);
	enum bcl_status lost;

	/* after the copy; partner: the fence in bcl_attached_withdraw() */
	atomic_thread_fence(memory_order_acquire);
	lost = (enum bcl_status)atomic_load_explicit(team->node.lost,
						     memory_order_relaxed);
	return lost == BCL_OK ? status : lost;
}

size_t bcl_offer_size(const struct bcl_team *team)
{
	const size_t head = sizeof(struct bcl_offer);
	size_t size = PHASES * team->node.chunk / team->size / head * head;

	return bcl_min_size(size > head ? size : head, OFFER_MAX);
}

enum bcl_status bcl_attached_fetch(const struct bcl_team *team,
				   const struct bcl_step *step)
{
	const struct bcl_offer *offer = step->from;

	if (offer->length != step->length)
		return bcl_adi_schedule_differs(
			team->adi, bcl_team_job_rank(team, step->rank),
			offer->length, step->length);
	if (!step->length)
		return BCL_OK;
	if (offer->address)
		return fetch_memory(team, step, offer);
	memcpy(step->to, offer + 1, step->length);
	return BCL_OK;
}
