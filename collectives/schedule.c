/* SPDX-License-Identifier: MIT */
/*
 * Runs schedules by the ADI's engine, stores them for the team between
 * operations, and has the functions by which builders add steps. See
 * schedule.h.
 */
#include "collectives/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "collectives/attached.h"
#include "collectives/compare.h"
#include "collectives/loss.h"
#include "collectives/team.h"
#include "env/env.h"
#include "transport/context.h"

enum {
	SCRATCH_ALIGNMENT = 64,
	FIRST_STEPS = 32,
	FIRST_NODE_OPS = 4,
	/* BCL_PEER_TIMEOUT divided by this: how long a member waits for the
	 * reason why the team is lost. */
	PATIENCE = 4,
};

/* ---- running ------------------------------------------------------------- */

/* The lane of the message that brings a grant. */
static uint8_t lane_of(unsigned granted)
{
	return (uint8_t)(BCL_SCHEDULE_LANES + granted);
}

static void open_window(struct bcl_schedule *schedule,
			const struct bcl_step *step)
{
	const struct bcl_team *team = schedule->team;
	enum bcl_status status;

	status = bcl_adi_target_open(team->adi, &schedule->window[step->window],
				     step->to, step->length, schedule->tag,
				     team->context);
	if (status == BCL_OK)
		schedule->nopen++;
	else
		bcl_adi_schedule_fail(&schedule->engine, status);
}

static void begin_step(struct bcl_schedule *schedule,
		       const struct bcl_step *step)
{
	const struct bcl_team *team = schedule->team;
	enum bcl_status status;

	bcl_assert(step->kind <= BCL_STEP_FETCH);
	schedule->engine.lane = step->lane;
	switch ((enum bcl_step_kind)step->kind) {
	case BCL_STEP_SEND:
		bcl_adi_schedule_send(&schedule->engine, step->from,
				      step->length,
				      bcl_team_job_rank(team, step->rank),
				      schedule->tag, team->context);
		break;
	case BCL_STEP_RECEIVE:
		bcl_adi_schedule_receive(&schedule->engine, step->to,
					 step->length,
					 bcl_team_job_rank(team, step->rank),
					 schedule->tag, team->context);
		break;
	case BCL_STEP_COMBINE:
		step->reduction->apply(step->from, step->to, step->length,
				       step->reduction->arg);
		break;
	case BCL_STEP_CALL:
		step->call(team, step);
		break;
	case BCL_STEP_CHECK:
		status = step->check(team, step);
		if (status != BCL_OK)
			bcl_adi_schedule_fail(&schedule->engine, status);
		break;
	case BCL_STEP_FETCH:
		status = bcl_attached_fetch(team, step);
		if (status != BCL_OK)
			bcl_adi_schedule_fail(&schedule->engine, status);
		break;
	case BCL_STEP_WINDOW:
		open_window(schedule, step);
		break;
	case BCL_STEP_GRANT:
		bcl_adi_schedule_send(
			&schedule->engine, schedule->window[step->window].key,
			BCL_KEY_MAX, bcl_team_job_rank(team, step->rank),
			schedule->tag | BCL_TEAM_TAG_GRANT, team->context);
		break;
	case BCL_STEP_GRANTED:
		bcl_adi_schedule_receive(
			&schedule->engine, schedule->granted[step->window],
			BCL_KEY_MAX, bcl_team_job_rank(team, step->rank),
			schedule->tag | BCL_TEAM_TAG_GRANT, team->context);
		break;
	case BCL_STEP_PUT:
		bcl_adi_schedule_put(
			&schedule->engine, step->from, step->length,
			bcl_team_job_rank(team, step->rank),
			schedule->granted[step->window], step->offset);
		break;
	case BCL_STEP_NODE:
	case BCL_STEP_AWAIT:
		break;
	}
}

static void leave_node(struct bcl_schedule *schedule)
{
	if (schedule->shares_node)
		schedule->team->turn++;
	schedule->shares_node = false;
}

/* Returns true when the operation inside the node is over. */
static bool advance_node(struct bcl_schedule *schedule,
			 const struct bcl_step *step)
{
	struct bcl_team *team = schedule->team;

	bcl_assert(schedule->shares_node && step->node < schedule->nnode);
	bool over =
		team->turn == schedule->ticket &&
		bcl_node_advance(&team->node, &schedule->node[step->node], 0);

	bcl_park_tell(team, &team->node, &schedule->park);
	if (over) {
		if (step->node + 1 == schedule->nnode)
			leave_node(schedule);
		schedule->engine.polled = false;
		schedule->park = (struct bcl_park){ 0 };
		return true;
	}
	schedule->engine.polled = true;
	if (team->node.differs)
		bcl_compare_node(team, schedule->sequence,
				 &schedule->node[step->node]);
	bcl_park_watch(team, &schedule->park);
	return false;
}

static bool finish_schedule(struct bcl_schedule *schedule)
{
	struct bcl_adi_schedule *engine = &schedule->engine;

	leave_node(schedule);
	while (schedule->nopen)
		bcl_adi_target_close(schedule->team->adi,
				     &schedule->window[--schedule->nopen]);
	if (engine->status != BCL_OK)
		bcl_team_lose(schedule->team, engine->status);
	return true;
}

/*
 * After a member has learned that the team is lost, the member takes back
 * messages that peers are fetching, and closes windows into which peers put. A
 * peer then fails with CANCELLED, MEMORY or (between nodes) NOPORT, perhaps
 * before the peer hears why the team is lost. Returns true as long as this
 * member waits to hear the reason. After a wait in vain the member reports its
 * own failure.
 */
static bool awaits_news(struct bcl_schedule *schedule)
{
	const struct bcl_team *team = schedule->team;
	const struct bcl_env *env = bcl_adi_env(team->adi);
	struct bcl_adi_schedule *engine = &schedule->engine;

	if (engine->status != BCL_ERR_CANCELLED &&
	    engine->status != BCL_ERR_MEMORY &&
	    engine->status != BCL_ERR_NOPORT)
		return false;
	if (team->lost != BCL_OK) {
		engine->status = team->lost;
		return false;
	}
	if (!schedule->patient)
		schedule->patient =
			env->now(env->world) +
			bcl_adi_context(team->adi)->config.peer_timeout /
				PATIENCE;
	return env->now(env->world) < schedule->patient;
}

static bool waits(const struct bcl_schedule *schedule,
		  const struct bcl_step *step)
{
	const unsigned *lanes = schedule->engine.lanes;

	return (step->kind == BCL_STEP_AWAIT && lanes[step->lane]) ||
	       (step->kind == BCL_STEP_PUT && lanes[lane_of(step->window)]);
}

static bool advance_steps(struct bcl_adi_schedule *engine)
{
	struct bcl_schedule *schedule = (struct bcl_schedule *)engine;

	for (;;) {
		unsigned at = schedule->at;
		bool begins = !at || schedule->steps[at - 1].last;
		const struct bcl_step *step;

		if (engine->pending && (begins || engine->status != BCL_OK))
			return false;
		if (engine->status != BCL_OK || at == schedule->nsteps)
			return !awaits_news(schedule) &&
			       finish_schedule(schedule);
		step = &schedule->steps[at];
		if (waits(schedule, step))
			return false;
		if (step->kind == BCL_STEP_NODE &&
		    !advance_node(schedule, step))
			return false;
		begin_step(schedule, step);
		schedule->at++;
	}
}

static void unlink_running(struct bcl_schedule *schedule)
{
	struct bcl_team *team = schedule->team;
	struct bcl_schedule **link = &team->running;

	while (*link != schedule) {
		bcl_assert(*link);
		link = &(*link)->next;
	}
	*link = schedule->next;
	if (!*link)
		team->running_last = link;
	team->nrunning--;
	schedule->running = false;
}

static void put_idle(struct bcl_schedule *schedule)
{
	struct bcl_team *team = schedule->team;
	unsigned i;

	for (i = 0; i < BCL_SCHEDULE_SCRATCH; i++) {
		struct bcl_scratch *scratch = &schedule->scratch[i];

		if (scratch->size <= BCL_SCHEDULE_KEEP)
			continue;
		free(scratch->memory);
		*scratch = (struct bcl_scratch){ 0 };
	}
	schedule->next = team->idle;
	team->idle = schedule;
}

/* The schedule is not running any more. */
static void go_back(struct bcl_schedule *schedule)
{
	if (!schedule->kept)
		put_idle(schedule);
}

static void release_schedule(struct bcl_adi_schedule *engine)
{
	struct bcl_schedule *schedule = (struct bcl_schedule *)engine;

	unlink_running(schedule);
	go_back(schedule);
}

static struct bcl_schedule *create(struct bcl_team *team)
{
	struct bcl_schedule *schedule = calloc(1, sizeof(*schedule));

	if (!schedule)
		return NULL;
	schedule->team = team;
	schedule->engine.advance = advance_steps;
	schedule->engine.release = release_schedule;
	return schedule;
}

/* True if the team has BCL_TEAM_RUNNING_MAX running operations, or if the
 * oldest one has the tag of the next. */
static bool all_run(const struct bcl_team *team)
{
	return team->nrunning == BCL_TEAM_RUNNING_MAX ||
	       (team->nrunning &&
		team->sequence - team->running->sequence > team->sequence_mask);
}

/* Returns OK if an operation of the team may begin, or why none may. Lock
 * held. */
static enum bcl_status may_begin(const struct bcl_team *team)
{
	if (team->lost != BCL_OK)
		return team->lost;
	return all_run(team) ? BCL_ERR_AGAIN : BCL_OK;
}

/* Forget the last run. */
static void forget_run(struct bcl_schedule *schedule)
{
	schedule->shares_node = false;
	schedule->patient = 0;
	schedule->engine.polled = false;
	schedule->park = (struct bcl_park){ 0 };
	schedule->at = 0;
}

void bcl_schedule_empty(struct bcl_schedule *schedule)
{
	forget_run(schedule);
	schedule->status = BCL_OK;
	schedule->call = 0;
	schedule->nsteps = 0;
	schedule->lane = 0;
	schedule->nnode = 0;
	schedule->nscratch = 0;
	schedule->nwindows = 0;
	schedule->ngranted = 0;
}

enum bcl_status bcl_schedule_get(struct bcl_team *team,
				 struct bcl_schedule **result)
{
	struct bcl_schedule *schedule;
	enum bcl_status status;

	bcl_adi_lock(team->adi);
	status = may_begin(team);
	schedule = status == BCL_OK ? team->idle : NULL;
	if (schedule) {
		team->idle = schedule->next;
	} else if (status == BCL_OK) {
		schedule = create(team);
		if (!schedule) {
			status = BCL_ERR_NOMEM;
			bcl_team_lose(team, status);
		}
	}
	bcl_adi_unlock(team->adi);
	if (!schedule)
		return status;
	bcl_schedule_empty(schedule);
	*result = schedule;
	return BCL_OK;
}

/* The schedule is built: it takes its place in the order of the team's
 * operations. */
static enum bcl_status enter_order(struct bcl_schedule *schedule)
{
	struct bcl_team *team = schedule->team;

	bcl_step_round(schedule);
	bcl_calls_note(&team->calls, team->sequence, schedule->call);
	schedule->sequence = team->sequence++;
	schedule->tag = team->tag | (schedule->sequence & team->sequence_mask);
	if (schedule->status != BCL_OK)
		bcl_team_lose(team, schedule->status);
	if (team->lost != BCL_OK) {
		go_back(schedule);
		return team->lost;
	}
	if (schedule->nnode) {
		schedule->shares_node = true;
		schedule->ticket = team->tickets++;
	}
	schedule->next = NULL;
	if (!team->running)
		team->running_last = &team->running;
	*team->running_last = schedule;
	team->running_last = &schedule->next;
	team->nrunning++;
	schedule->running = true;
	return BCL_OK;
}

enum bcl_status bcl_schedule_run(struct bcl_schedule *schedule)
{
	struct bcl_adi *adi = schedule->team->adi;
	enum bcl_status status;

	bcl_adi_lock(adi);
	status = enter_order(schedule);
	if (status == BCL_OK)
		status = bcl_adi_schedule_run(adi, &schedule->engine);
	bcl_adi_unlock(adi);
	return status;
}

/* Lock held. */
static enum bcl_status start_schedule(struct bcl_schedule *schedule,
				      struct bcl_adi_request **request)
{
	struct bcl_team *team = schedule->team;
	enum bcl_status status = enter_order(schedule);

	if (status != BCL_OK)
		return status;
	status = bcl_adi_schedule_start(team->adi, &schedule->engine, request);
	if (status == BCL_ERR_NOMEM) {
		leave_node(schedule);
		release_schedule(&schedule->engine);
		bcl_team_lose(team, status);
	}
	return status;
}

enum bcl_status bcl_schedule_start(struct bcl_schedule *schedule,
				   struct bcl_adi_request **request)
{
	struct bcl_adi *adi = schedule->team->adi;
	enum bcl_status status;

	bcl_adi_lock(adi);
	status = start_schedule(schedule, request);
	bcl_adi_unlock(adi);
	return status;
}

void bcl_schedule_keep(struct bcl_schedule *schedule)
{
	schedule->kept = true;
}

enum bcl_status bcl_schedule_resume(struct bcl_schedule *schedule,
				    const struct bcl_node_op *op,
				    struct bcl_adi_request **request)
{
	bcl_assert(schedule->nsteps == 1 && schedule->nnode == 1);
	forget_run(schedule);
	schedule->node[0] = *op;
	return start_schedule(schedule, request);
}

enum bcl_status bcl_schedule_rewind(struct bcl_schedule *schedule)
{
	enum bcl_status status;
	unsigned i;

	bcl_adi_lock(schedule->team->adi);
	status = schedule->running ? BCL_ERR_AGAIN : may_begin(schedule->team);
	if (status == BCL_OK) {
		forget_run(schedule);
		for (i = 0; i < schedule->nnode; i++)
			bcl_node_rewind(&schedule->node[i]);
	}
	bcl_adi_unlock(schedule->team->adi);
	return status;
}

void bcl_schedule_give(struct bcl_schedule *schedule)
{
	struct bcl_adi *adi = schedule->team->adi;

	bcl_adi_lock(adi);
	schedule->kept = false;
	if (!schedule->running)
		put_idle(schedule);
	bcl_adi_unlock(adi);
}

void bcl_schedule_free(struct bcl_schedule *schedule)
{
	unsigned i;

	for (i = 0; i < BCL_SCHEDULE_SCRATCH; i++)
		free(schedule->scratch[i].memory);
	free(schedule->granted);
	free(schedule->steps);
	free(schedule->node);
	free(schedule);
}

void bcl_schedule_drain(struct bcl_team *team)
{
	struct bcl_schedule *schedule;

	while ((schedule = team->idle)) {
		team->idle = schedule->next;
		bcl_schedule_free(schedule);
	}
}

/* ---- building ------------------------------------------------------------ */

static struct bcl_step *add_step(struct bcl_schedule *schedule,
				 enum bcl_step_kind kind)
{
	struct bcl_step *step;

	if (schedule->nsteps == schedule->room) {
		unsigned room =
			schedule->room ? 2 * schedule->room : FIRST_STEPS;

		step = realloc(schedule->steps, room * sizeof(*step));
		if (!step) {
			schedule->status = BCL_ERR_NOMEM;
			return NULL;
		}
		schedule->steps = step;
		schedule->room = room;
	}
	step = &schedule->steps[schedule->nsteps++];
	step->kind = kind;
	step->last = false;
	step->lane = schedule->lane;
	return step;
}

static struct bcl_node_op *add_node(struct bcl_schedule *schedule)
{
	struct bcl_node_op *node = schedule->node;

	if (schedule->nnode == schedule->node_room) {
		unsigned room = schedule->node_room ? 2 * schedule->node_room
						    : FIRST_NODE_OPS;

		node = realloc(node, room * sizeof(*node));
		if (!node) {
			schedule->status = BCL_ERR_NOMEM;
			return NULL;
		}
		schedule->node = node;
		schedule->node_room = room;
	}
	return &node[schedule->nnode++];
}

void bcl_step_send(struct bcl_schedule *schedule, unsigned rank,
		   const void *from, size_t length)
{
	struct bcl_step *step = add_step(schedule, BCL_STEP_SEND);

	bcl_assert(rank < schedule->team->size);
	if (!step)
		return;
	step->rank = rank;
	step->from = from;
	step->length = length;
}

void bcl_step_receive(struct bcl_schedule *schedule, unsigned rank, void *to,
		      size_t length)
{
	struct bcl_step *step = add_step(schedule, BCL_STEP_RECEIVE);

	bcl_assert(rank < schedule->team->size);
	if (!step)
		return;
	step->rank = rank;
	step->to = to;
	step->length = length;
}

void bcl_step_combine(struct bcl_schedule *schedule,
		      const struct bcl_reduction *reduction, const void *from,
		      void *to, size_t count)
{
	struct bcl_step *step;

	if (!count)
		return;
	step = add_step(schedule, BCL_STEP_COMBINE);
	if (!step)
		return;
	step->reduction = reduction;
	step->from = from;
	step->to = to;
	step->length = count;
}

void bcl_step_call(struct bcl_schedule *schedule,
		   void (*call)(const struct bcl_team *team,
				const struct bcl_step *step),
		   void *to, const void *from, size_t length, unsigned rank)
{
	struct bcl_step *step = add_step(schedule, BCL_STEP_CALL);

	if (!step)
		return;
	step->call = call;
	step->to = to;
	step->from = from;
	step->length = length;
	step->rank = rank;
}

void bcl_step_check(struct bcl_schedule *schedule,
		    enum bcl_status (*check)(const struct bcl_team *team,
					     const struct bcl_step *step),
		    void *to, const void *from, size_t length)
{
	struct bcl_step *step = add_step(schedule, BCL_STEP_CHECK);

	if (!step)
		return;
	step->check = check;
	step->to = to;
	step->from = from;
	step->length = length;
}

static void copy_block(const struct bcl_team *team, const struct bcl_step *step)
{
	(void)team;
	memcpy(step->to, step->from, step->length);
}

void bcl_step_copy(struct bcl_schedule *schedule, void *to, const void *from,
		   size_t length)
{
	if (length && to != from)
		bcl_step_call(schedule, copy_block, to, from, length, 0);
}

void bcl_step_offer(struct bcl_schedule *schedule, struct bcl_offer *offer,
		    const void *data, size_t length)
{
	size_t room = bcl_offer_size(schedule->team) - sizeof(*offer);

	*offer = (struct bcl_offer){ .length = length };
	if (length > room)
		offer->address = (uintptr_t)data;
	else
		bcl_step_copy(schedule, offer + 1, data, length);
}

void bcl_step_fetch(struct bcl_schedule *schedule, unsigned rank,
		    const struct bcl_offer *offer, size_t offset, void *to,
		    size_t length)
{
	struct bcl_step *step = add_step(schedule, BCL_STEP_FETCH);

	if (!step)
		return;
	step->rank = rank;
	step->from = offer;
	step->offset = offset;
	step->to = to;
	step->length = length;
}

/* The arrays of an operation are the caller's, who may change them. */
static void copy_arrays(struct bcl_schedule *schedule, struct bcl_node_op *op)
{
	size_t size = schedule->team->node.members * sizeof(size_t);
	unsigned char *copy;

	if (!op->lengths)
		return;
	copy = bcl_step_scratch(schedule, 2 * size);
	if (schedule->status != BCL_OK)
		return;
	memcpy(copy, op->lengths, size);
	memcpy(copy + size, op->offsets, size);
	op->lengths = (const size_t *)copy;
	op->offsets = (const size_t *)(copy + size);
}

void bcl_step_node(struct bcl_schedule *schedule, enum bcl_node_kind kind,
		   unsigned root, const void *send, void *receive,
		   size_t length, const struct bcl_reduction *reduction)
{
	struct bcl_node_op op;

	bcl_node_begin(&op, kind, root, send, receive, length, reduction);
	bcl_step_operation(schedule, &op);
}

void bcl_step_operation(struct bcl_schedule *schedule,
			const struct bcl_node_op *op)
{
	struct bcl_step *step = add_step(schedule, BCL_STEP_NODE);
	struct bcl_node_op *room;

	bcl_assert(schedule->team->shares &&
		   op->root < schedule->team->node.members);
	if (!step)
		return;
	step->node = schedule->nnode;
	room = add_node(schedule);
	if (!room)
		return;
	*room = *op;
	copy_arrays(schedule, room);
}

void bcl_step_round(struct bcl_schedule *schedule)
{
	if (schedule->nsteps)
		schedule->steps[schedule->nsteps - 1].last = true;
}

void bcl_step_lane(struct bcl_schedule *schedule, unsigned lane)
{
	bcl_assert(lane < BCL_SCHEDULE_LANES);
	schedule->lane = (uint8_t)lane;
}

void bcl_step_await(struct bcl_schedule *schedule, unsigned lane)
{
	struct bcl_step *step = add_step(schedule, BCL_STEP_AWAIT);

	bcl_assert(lane < BCL_SCHEDULE_LANES);
	if (step)
		step->lane = (uint8_t)lane;
}

/* True if a builder takes more of something than a schedule has. That is a
 * fault of the builder; without assertions the operation fails instead. */
static bool is_full(struct bcl_schedule *schedule, unsigned n, unsigned most)
{
	bcl_assert(n < most);
	if (n < most)
		return false;
	schedule->status = BCL_ERR_UNSUPPORTED;
	return true;
}

unsigned bcl_step_window(struct bcl_schedule *schedule, void *memory,
			 size_t length)
{
	struct bcl_step *step = add_step(schedule, BCL_STEP_WINDOW);

	if (!step ||
	    is_full(schedule, schedule->nwindows, BCL_SCHEDULE_WINDOWS))
		return 0;
	step->to = memory;
	step->length = length;
	step->window = (uint8_t)schedule->nwindows;
	return schedule->nwindows++;
}

void bcl_step_grant(struct bcl_schedule *schedule, unsigned rank,
		    unsigned window)
{
	struct bcl_step *step = add_step(schedule, BCL_STEP_GRANT);

	bcl_assert(window < schedule->nwindows || schedule->status != BCL_OK);
	if (!step)
		return;
	step->rank = rank;
	step->window = (uint8_t)window;
}

unsigned bcl_step_granted(struct bcl_schedule *schedule, unsigned rank)
{
	struct bcl_step *step = add_step(schedule, BCL_STEP_GRANTED);

	if (!schedule->granted)
		schedule->granted =
			calloc(BCL_SCHEDULE_GRANTS, sizeof(*schedule->granted));
	if (!schedule->granted)
		schedule->status = BCL_ERR_NOMEM;
	if (!step || is_full(schedule, schedule->ngranted, BCL_SCHEDULE_GRANTS))
		return 0;
	step->rank = rank;
	step->window = (uint8_t)schedule->ngranted;
	step->lane = lane_of(schedule->ngranted);
	return schedule->ngranted++;
}

void bcl_step_put(struct bcl_schedule *schedule, unsigned rank,
		  const void *from, size_t length, unsigned granted,
		  size_t offset)
{
	struct bcl_step *step = add_step(schedule, BCL_STEP_PUT);

	bcl_assert(granted < schedule->ngranted || schedule->status != BCL_OK);
	if (!step)
		return;
	step->rank = rank;
	step->from = from;
	step->length = length;
	step->window = (uint8_t)granted;
	step->offset = offset;
}

void *bcl_step_scratch(struct bcl_schedule *schedule, size_t length)
{
	struct bcl_scratch *scratch;

	if (is_full(schedule, schedule->nscratch, BCL_SCHEDULE_SCRATCH))
		return schedule;
	scratch = &schedule->scratch[schedule->nscratch++];
	if (scratch->size < length) {
		size_t size = (length + SCRATCH_ALIGNMENT - 1) /
			      SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;

		free(scratch->memory);
		scratch->memory = aligned_alloc(SCRATCH_ALIGNMENT, size);
		scratch->size = scratch->memory ? size : 0;
	}
	if (!scratch->memory && length) {
		/* An address to count from; the schedule will not run. */
		schedule->status = BCL_ERR_NOMEM;
		return schedule;
	}
	return scratch->memory;
}
