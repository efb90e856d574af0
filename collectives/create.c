/* SPDX-License-Identifier: MIT */
/*
 * Creation of a team.
 *
 * The first member gives the team its name and broadcasts the name under the
 * tag of the creation. Then, under the new name, the members learn the node of
 * each member, if no parent knows the nodes, and join the segment of their own
 * node. When all members have reported this to the first member, the first
 * member broadcasts the algorithms to use. A member that gets this message
 * knows that all members have the name, and that the loss of any member will be
 * heard.
 */
#include <stdlib.h>
#include <string.h>

#include "collectives/attached.h"
#include "collectives/builders.h"
#include "collectives/teams.h"
#include "env/log.h"
#include "transport/context.h"

enum {
	ROUND_TRIPS = 8, /* messages before the choices: time_messages() */
};

struct naming {
	enum bcl_status status;
	unsigned number, generation;
	unsigned even; /* ranks of each node, as the first member believes */
};

/* To be called once the layout is known: finds the own place in the layout. */
static void find_place(struct bcl_team *team)
{
	const struct bcl_layout *layout = &team->layout;

	team->my_node = bcl_layout_node(layout, team->rank);
	team->my_member = bcl_layout_place(layout, team->rank) -
			  bcl_layout_first(layout, team->my_node);
}

static void set_even(struct bcl_team *team, unsigned even)
{
	bcl_layout_init_even(&team->layout, team->size, even);
	find_place(team);
}

static enum bcl_status set_layout(struct bcl_team *team, const uint64_t *hosts)
{
	enum bcl_status status;

	status = bcl_layout_init(&team->layout, hosts, team->size);
	if (status == BCL_OK)
		find_place(team);
	return status;
}

/* A logical AND over the group: each of the n bytes becomes true if the byte is
 * true at all members. */
static enum bcl_status agree(struct bcl_team *team,
			     const struct bcl_group *group, uint8_t *all,
			     size_t n)
{
	struct bcl_schedule *schedule;
	enum bcl_status status = bcl_schedule_get(team, &schedule);

	if (status != BCL_OK)
		return status;
	bcl_build_reduce_tree(schedule, group, 0, all, all, n,
			      bcl_reduction(BCL_LAND, BCL_UINT8), 1);
	bcl_build_broadcast_tree(schedule, group, 0, all, n, 1);
	return bcl_schedule_run(schedule);
}

/*
 * Find out whether each node has `even` ranks in a row: the launchers of all
 * ranks give this number of ranks for the node, and each rank is on the host of
 * the rank before, unless the rank is the first of its node.
 */
static enum bcl_status check_even(struct bcl_team *team, unsigned even,
				  uint8_t *right)
{
	const struct bcl_context *context = bcl_adi_context(team->adi);
	struct bcl_group group = bcl_group_all(team);
	unsigned member = team->rank % even;
	uint64_t before = context->host;
	struct bcl_schedule *schedule;
	enum bcl_status status = bcl_schedule_get(team, &schedule);

	if (status != BCL_OK)
		return status;
	if (member + 1 < even)
		bcl_step_send(schedule, team->rank + 1, &context->host,
			      sizeof(context->host));
	if (member > 0)
		bcl_step_receive(schedule, team->rank - 1, &before,
				 sizeof(before));
	status = bcl_schedule_run(schedule);
	if (status != BCL_OK)
		return status;
	*right = context->local_ranks == even && before == context->host;
	return agree(team, &group, right, 1);
}

/* Exchange the hosts of all members, each of which still counts as a node. */
static enum bcl_status exchange_hosts(struct bcl_team *team)
{
	const uint64_t *mine = &bcl_adi_context(team->adi)->host;
	struct bcl_group group = bcl_group_all(team);
	uint64_t *hosts = malloc(team->size * sizeof(*hosts));
	struct bcl_schedule *schedule;
	enum bcl_status status;
	unsigned char *blocks;

	if (!hosts)
		return BCL_ERR_NOMEM;
	status = bcl_schedule_get(team, &schedule);
	if (status == BCL_OK) {
		blocks =
			bcl_step_scratch(schedule, team->size * sizeof(*hosts));
		bcl_step_copy(schedule, blocks, mine, sizeof(*mine));
		bcl_build_bruck(schedule, &group, blocks, sizeof(*mine), true,
				1);
		bcl_step_to_ranks(schedule, hosts, blocks, sizeof(*mine),
				  team->rank);
		status = bcl_schedule_run(schedule);
	}
	if (status == BCL_OK)
		status = set_layout(team, hosts);
	free(hosts);
	return status;
}

/* even: the number of ranks of each node, perhaps; or 0. */
static enum bcl_status find_layout(struct bcl_team *team, unsigned even)
{
	enum bcl_status status = BCL_OK;
	uint8_t right = 0;

	/* Until the layout is known, each member is on a node of its own. */
	set_even(team, 1);
	if (even && team->size % even == 0)
		status = check_even(team, even, &right);
	if (status != BCL_OK)
		return status;
	if (!right)
		return exchange_hosts(team);
	set_even(team, even);
	return BCL_OK;
}

struct invitation {
	uint8_t ready;
	unsigned char key[BCL_KEY_MAX];
};

/* Connect to a member and wait until the path is decided. Returns why the
 * member cannot be reached. */
static enum bcl_status connect_member(struct bcl_team *team, unsigned rank,
				      struct bcl_peer **peer)
{
	struct bcl_adi_idle idle = { 0 };
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	enum bcl_status status;

	status = bcl_adi_peer(team->adi, bcl_team_job_rank(team, rank), peer);
	if (status != BCL_OK)
		return status;
	bcl_adi_lock(team->adi);
	for (;;) {
		bcl_peer_info(*peer, &info);
		if (info.state != BCL_PEER_CONNECTING)
			break;
		if (bcl_adi_wait_turn(team->adi))
			idle = (struct bcl_adi_idle){ 0 };
		else
			bcl_adi_idle(team->adi, &idle);
	}
	bcl_adi_unlock(team->adi);
	return info.state == BCL_PEER_UP ? BCL_OK : info.status;
}

/* Map the leader's segment. NULL: not possible. */
static void *join_segment(struct bcl_team *team,
			  const struct invitation *invitation)
{
	unsigned leader = bcl_layout_leader(&team->layout, team->my_node);
	struct bcl_peer *peer;
	void *memory;

	if (!invitation->ready)
		return NULL;
	if (team->segment)
		return bcl_memory_address(team->segment);
	if (connect_member(team, leader, &peer) != BCL_OK ||
	    bcl_memory_map(peer, invitation->key, &memory) != BCL_OK)
		return NULL;
	team->segment_peer = peer;
	memcpy(team->segment_key, invitation->key, BCL_KEY_MAX);
	return memory;
}

void bcl_team_leave_segment(struct bcl_team *team)
{
	if (team->segment_peer)
		bcl_memory_unmap(team->segment_peer, team->segment_key);
	if (team->segment)
		bcl_memory_release(team->segment);
	bcl_attached_forget(team);
	team->segment_peer = NULL;
	team->segment = NULL;
	team->shares = false;
}

/* Make the node's segment and let the members join. Either all members of the
 * node use the segment, or none does. */
static enum bcl_status make_segment(struct bcl_team *team)
{
	struct bcl_group group = bcl_group_node(team);
	struct invitation invitation = { 0 };
	struct bcl_schedule *schedule;
	enum bcl_status status;
	enum {
		JOINED,
		CAN_SLEEP,
		ANSWERS
	};
	uint8_t all[ANSWERS];
	void *memory;

	if (group.size == 1)
		return BCL_OK;
	if (group.me == 0 && bcl_memory_allocate(bcl_adi_context(team->adi),
						 bcl_node_size(group.size), 0,
						 &team->segment) == BCL_OK) {
		bcl_memory_key(team->segment, invitation.key);
		invitation.ready = true;
	}
	status = bcl_schedule_get(team, &schedule);
	if (status != BCL_OK)
		return status;
	bcl_build_broadcast_tree(schedule, &group, 0, &invitation,
				 sizeof(invitation), 1);
	status = bcl_schedule_run(schedule);
	if (status != BCL_OK)
		return status;

	memory = join_segment(team, &invitation);
	all[JOINED] = memory != NULL;
	all[CAN_SLEEP] = bcl_adi_context(team->adi)->barrier;
	status = agree(team, &group, all, ANSWERS);
	if (status == BCL_OK && all[JOINED]) {
		bcl_node_init(&team->node, group.me, group.size, memory);
		team->node.env = bcl_adi_env(team->adi);
		bcl_park_init(&team->node);
		team->shares = true;
		team->can_sleep = all[CAN_SLEEP];
	} else {
		bcl_team_leave_segment(team);
	}
	return status;
}

/* The members of a node with a segment learn the processes of all, and try to
 * attach. */
static enum bcl_status introduce(struct bcl_team *team)
{
	struct bcl_introduction *all = malloc(team->size * sizeof(*all));
	struct bcl_schedule *schedule;
	enum bcl_status status;

	if (!all)
		return BCL_ERR_NOMEM;
	bcl_attached_introduce(team, &all[team->rank]);
	status = bcl_schedule_get(team, &schedule);
	if (status == BCL_OK) {
		bcl_step_node(schedule, BCL_NODE_ALLGATHER, 0, &all[team->rank],
			      all, sizeof(*all), NULL);
		status = bcl_schedule_run(schedule);
	}
	if (status == BCL_OK)
		bcl_attached_try(team, all);
	free(all);
	return status;
}

/* Find out whether all members of a node may attach to all. */
static enum bcl_status meet_by_attach(struct bcl_team *team)
{
	struct bcl_group group = bcl_group_node(team);
	enum bcl_status status;
	uint8_t all;

	if (!team->shares || team->layout.nnodes > 1)
		return BCL_OK;
	status = introduce(team);
	if (status != BCL_OK)
		return status;
	all = team->processes != NULL;
	status = agree(team, &group, &all, 1);
	if (!all)
		bcl_attached_forget(team);
	return status;
}

static enum bcl_status broadcast(struct bcl_team *team, void *buffer,
				 size_t length)
{
	struct bcl_group group = bcl_group_all(team);
	struct bcl_schedule *schedule;
	enum bcl_status status = bcl_schedule_get(team, &schedule);

	if (status != BCL_OK)
		return status;
	bcl_build_broadcast_tree(schedule, &group, 0, buffer, length, 1);
	return bcl_schedule_run(schedule);
}

/* *refused: no number is left for the team, and all members hear so. */
static enum bcl_status hear_name(struct bcl_team *team, unsigned *even,
				 bool *refused)
{
	struct naming naming = {
		.status = BCL_OK,
		.even = bcl_adi_context(team->adi)->local_ranks,
	};
	enum bcl_status status;

	bcl_adi_lock(team->adi);
	if (team->rank == 0)
		naming.status = bcl_teams_number(team->teams, &naming.number,
						 &naming.generation);
	bcl_adi_unlock(team->adi);
	status = broadcast(team, &naming, sizeof(naming));
	if (status != BCL_OK)
		return status;
	*even = naming.even;
	*refused = naming.status != BCL_OK;
	if (*refused)
		return naming.status;
	bcl_adi_lock(team->adi);
	team->context = BCL_ADI_CONTEXT_COLLECTIVE + naming.number;
	team->tag = bcl_team_job_rank(team, 0) * BCL_TEAM_TAG_RANK;
	team->name = bcl_teams_name(naming.number, bcl_team_job_rank(team, 0),
				    naming.generation);
	bcl_teams_named(team->teams, team->name);
	bcl_adi_unlock(team->adi);
	return BCL_OK;
}

/* Log the choices of the first member, for people. */
static void log_choices(const struct bcl_team *team,
			const struct bcl_model *model)
{
	const struct bcl_config *config = &bcl_adi_context(team->adi)->config;
	unsigned i;

	if (!bcl_log_wanted(config, BCL_LOG_INFO, "coll"))
		return;
	bcl_log(config, BCL_LOG_INFO, "coll",
		"team %#llx: %u ranks on %u nodes, a segment: %s; us of a "
		"message %.2f inside, %.2f between",
		(unsigned long long)team->name, model->size, model->nodes,
		model->shares ? "yes" : "no", model->inside.message,
		model->between.message);
	for (i = 0; i < BCL_OPERATIONS; i++) {
		char text[512];

		bcl_choices_print(&team->choices, (enum bcl_operation)i, text,
				  sizeof(text));
		bcl_log(config, BCL_LOG_INFO, "coll", "team %#llx: %s: %s",
			(unsigned long long)team->name, bcl_operation_names[i],
			text);
	}
}

/* In virtual time: exchange short messages between the first member and a
 * member on another node. At the first member *us is the shortest time of one
 * message, one way. */
static enum bcl_status time_messages(struct bcl_team *team, double *us)
{
	const struct bcl_env *env = bcl_adi_env(team->adi);
	unsigned far = bcl_model_far(team), i;
	enum bcl_status status = BCL_OK;
	uint64_t least = UINT64_MAX, word = 0;

	for (i = 0; i < ROUND_TRIPS && status == BCL_OK; i++) {
		struct bcl_schedule *schedule;
		uint64_t begun;

		status = bcl_schedule_get(team, &schedule);
		if (status != BCL_OK)
			break;
		if (team->rank == 0) {
			bcl_step_send(schedule, far, &word, sizeof(word));
			bcl_step_receive(schedule, far, &word, sizeof(word));
		} else if (team->rank == far) {
			bcl_step_receive(schedule, 0, &word, sizeof(word));
			bcl_step_round(schedule);
			bcl_step_send(schedule, 0, &word, sizeof(word));
		}
		bcl_step_round(schedule);
		begun = env->now(env->world);
		status = bcl_schedule_run(schedule);
		if (env->now(env->world) - begun < least)
			least = env->now(env->world) - begun;
	}
	*us = (double)least / 2000;
	return status;
}

/*
 * Learn the figures of other nodes for the model. At the first member *us is
 * the time from time_messages(), or 0. Only in virtual time are times a matter
 * of the network alone. In real time the choices must not depend on when they
 * were made (coll.h).
 */
static enum bcl_status meet_far(struct bcl_team *team, double *us)
{
	struct bcl_peer *peer;

	if (bcl_adi_env(team->adi)->virtual_time)
		return time_messages(team, us);
	if (team->rank > 0)
		return BCL_OK;
	return connect_member(team, bcl_model_far(team), &peer);
}

/* The first member tells this to the other members. */
struct selection {
	struct bcl_basis basis;
	struct bcl_choices choices;
};

static void choose(struct bcl_team *team, double between,
		   struct selection *selection)
{
	const struct bcl_config *config = &bcl_adi_context(team->adi)->config;
	struct bcl_model *model = &selection->basis.model;

	bcl_model_init(model, team);
	bcl_model_measure(model, team, between);
	bcl_choices_init(&selection->choices, model);
	bcl_tuned_apply(config, model, &selection->choices);
	bcl_preferences_read(config, &selection->basis.preferences);
	bcl_preferences_apply(config, &selection->basis.preferences, model,
			      &selection->choices);
}

static enum bcl_status hear_choices(struct bcl_team *team)
{
	struct bcl_group group = bcl_group_all(team);
	struct selection selection = { 0 };
	struct bcl_schedule *schedule;
	enum bcl_status status;
	double between = 0;
	uint8_t present = 1;

	status = bcl_schedule_get(team, &schedule);
	if (status != BCL_OK)
		return status;
	bcl_build_reduce_tree(schedule, &group, 0, &present, &present, 1,
			      bcl_reduction(BCL_LAND, BCL_UINT8), 1);
	status = bcl_schedule_run(schedule);
	if (status == BCL_OK && team->layout.nnodes > 1)
		status = meet_far(team, &between);
	if (status != BCL_OK)
		return status;
	if (team->rank == 0)
		choose(team, between, &selection);
	status = broadcast(team, &selection, sizeof(selection));
	if (status != BCL_OK)
		return status;
	team->basis = selection.basis;
	team->choices = selection.choices;
	if (team->rank == 0)
		log_choices(team, &team->basis.model);
	bcl_call_prepare(team);
	return BCL_OK;
}

enum bcl_status bcl_team_settle(struct bcl_team *team, const uint64_t *hosts,
				const struct bcl_basis *basis)
{
	const struct bcl_config *config = &bcl_adi_context(team->adi)->config;
	struct bcl_model *model = &team->basis.model;
	enum bcl_status status = set_layout(team, hosts);

	if (status != BCL_OK)
		return status;
	bcl_model_derive(model, &basis->model, team);
	team->basis.preferences = basis->preferences;
	bcl_choices_init(&team->choices, model);
	bcl_preferences_apply(config, &basis->preferences, model,
			      &team->choices);
	bcl_call_prepare(team);
	return BCL_OK;
}

enum bcl_status bcl_team_join(struct bcl_team *team, const uint64_t *hosts,
			      bool *refused)
{
	unsigned even;
	enum bcl_status status = hear_name(team, &even, refused);

	if (status == BCL_OK)
		status = hosts ? set_layout(team, hosts)
			       : find_layout(team, even);
	if (status == BCL_OK)
		status = make_segment(team);
	if (status == BCL_OK)
		status = meet_by_attach(team);
	if (status == BCL_OK)
		status = hear_choices(team);
	return status;
}
