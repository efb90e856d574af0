/* SPDX-License-Identifier: MIT */
/*
 * Agreement, with a coordinator that changes. See agreement.h for the algorithm
 * and the sources.
 *
 * A member has a link with each other member: the link receives one message at
 * a time, and sends the own vote whenever the vote has changed and concerns the
 * other member. The messages of a link arrive in order, and the decision is the
 * last. A link runs until both members have told the decision, or until the
 * other member is lost, perhaps after the call has returned. The tag has the
 * number of the agreement, since links of the next agreement may run by then.
 * A member in the decided set may live, and never call: then its link runs
 * until the job ends, but later agreements have no link with that member.
 */
#include "collectives/agreement.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/team.h"
#include "collectives/teams.h"
#include "env/counters.h"
#include "env/log.h"
#include "transport/context.h"

enum {
	IN = 1, /* lanes of a link */
	OUT,
};

/* A message: all that the sender knows. */
struct vote {
	uint64_t flags; /* the AND of the flags that the member knows */
	/* The proposal that the member has accepted, or the decision. */
	uint64_t proposed;
	uint32_t ballot; /* 1 + the coordinator that proposed; 0: none */
	uint32_t decided;
	/* The lost members that the sender knows, then the set of the
	 * proposal. */
	uint64_t sets[];
};

struct link {
	struct bcl_adi_schedule engine; /* first */
	struct bcl_agreement *agreement;
	unsigned rank, job_rank;
	bool runs;
	bool listens;	  /* a receive was started */
	bool due;	  /* the own vote is to be sent */
	bool told, knows; /* the decision was sent; was received */
	/* The coordinator and the ballot in the member's last vote. */
	unsigned coordinator;
	uint32_t ballot;
	struct vote *in, *out;
};

struct bcl_agreement {
	struct bcl_agreements member; /* first */
	struct bcl_teams *teams;
	struct bcl_counter_page *counters;
	unsigned me, size, words, context, tag;
	unsigned running; /* links */
	bool begun;	  /* all links have started */
	/* The own vote, or the deaths in it, since the last send. */
	bool changed, mourns;
	bool waits;	  /* the caller */
	struct vote *own; /* does not change after the decision */
	struct link links[];
};

static size_t vote_size(unsigned words)
{
	return sizeof(struct vote) + 2 * words * sizeof(uint64_t);
}

static uint64_t *proposed_set(const struct bcl_agreement *agreement,
			      struct vote *vote)
{
	return vote->sets + agreement->words;
}

/* The lowest member that is not in the set; the size of the team: none. */
static unsigned first_living(const struct bcl_agreement *agreement,
			     const uint64_t *dead)
{
	unsigned rank = 0;

	while (rank < agreement->size && bcl_members_has(dead, rank))
		rank++;
	return rank;
}

/* ---- telling ---- */

static void send_vote(struct link *link, const struct vote *vote)
{
	struct bcl_agreement *agreement = link->agreement;

	link->engine.lane = OUT;
	bcl_adi_schedule_send(&link->engine, vote, vote_size(agreement->words),
			      link->job_rank, agreement->tag,
			      agreement->context);
}

/* Send the own vote if due. One vote is under way at a time; changes meanwhile
 * share the next vote. The decision waits for nothing. */
static void send_due(struct link *link)
{
	const struct bcl_agreement *agreement = link->agreement;

	if (!link->runs || link->engine.status != BCL_OK)
		return;
	if (agreement->own->decided) {
		if (link->told)
			return;
		link->told = true;
		send_vote(link, agreement->own);
	} else if (link->due && !link->engine.lanes[OUT]) {
		link->due = false;
		memcpy(link->out, agreement->own, vote_size(agreement->words));
		send_vote(link, link->out);
	}
}

/* The own vote has changed: tell the coordinator, or as the coordinator all
 * members. A death is told to all members, too: a member may have lost another
 * one that lives, and each of them may follow another coordinator. */
static void tell(struct bcl_agreement *agreement, unsigned coordinator)
{
	bool all = coordinator == agreement->me || agreement->mourns;
	unsigned i;

	agreement->changed = agreement->mourns = false;
	for (i = 0; i < agreement->size; i++) {
		if (i == agreement->me || (!all && i != coordinator))
			continue;
		agreement->links[i].due = true;
		send_due(&agreement->links[i]);
	}
}

static void decide(struct bcl_agreement *agreement)
{
	unsigned i;

	agreement->own->decided = true;
	bcl_count(agreement->counters, coll_agreed);
	for (i = 0; i < agreement->size; i++)
		send_due(&agreement->links[i]);
}

/* ---- the coordinator ---- */

/* True if all members that live follow this coordinator. With a ballot: if all
 * have accepted its proposal, too. */
static bool all_follow(const struct bcl_agreement *agreement, uint32_t ballot)
{
	unsigned i;

	for (i = 0; i < agreement->size; i++) {
		const struct link *link = &agreement->links[i];

		if (i == agreement->me ||
		    bcl_members_has(agreement->own->sets, i))
			continue;
		if (link->coordinator != agreement->me ||
		    (ballot && link->ballot != ballot))
			return false;
	}
	return true;
}

static void propose(struct bcl_agreement *agreement)
{
	struct vote *own = agreement->own;

	own->proposed = own->flags;
	memcpy(proposed_set(agreement, own), own->sets,
	       agreement->words * sizeof(*own->sets));
}

static void lead(struct bcl_agreement *agreement)
{
	struct vote *own = agreement->own;
	uint32_t ballot = agreement->me + 1;

	if (own->ballot < ballot && all_follow(agreement, 0)) {
		if (!own->ballot)
			propose(agreement);
		own->ballot = ballot;
		agreement->changed = true;
	}
	if (own->ballot == ballot && all_follow(agreement, ballot))
		decide(agreement);
}

/* All members are in the set of the dead, also this member, and no message of a
 * decision will come: decide that. */
static void resign(struct bcl_agreement *agreement)
{
	propose(agreement);
	decide(agreement);
}

/* Do all that follows from the votes known here. */
static void go_on(struct bcl_agreement *agreement)
{
	const struct vote *own = agreement->own;
	unsigned coordinator = first_living(agreement, own->sets);

	if (!agreement->begun || own->decided)
		return;
	if (coordinator == agreement->me)
		lead(agreement);
	else if (coordinator == agreement->size)
		resign(agreement);
	if (!own->decided && agreement->changed)
		tell(agreement, coordinator);
}

/* ---- hearing ---- */

static void add_dead(struct bcl_agreement *agreement, const uint64_t *dead)
{
	uint64_t *known = agreement->own->sets;
	unsigned i;

	for (i = 0; i < agreement->words; i++) {
		agreement->mourns |= (dead[i] & ~known[i]) != 0;
		known[i] |= dead[i];
	}
	agreement->changed |= agreement->mourns;
}

static void hear(struct link *link)
{
	struct bcl_agreement *agreement = link->agreement;
	struct vote *own = agreement->own, *theirs = link->in;

	link->coordinator = first_living(agreement, theirs->sets);
	link->ballot = theirs->ballot;
	link->knows = theirs->decided;
	if (own->decided ||
	    (bcl_members_has(own->sets, link->rank) && !theirs->decided))
		return;
	own->flags &= theirs->flags;
	add_dead(agreement, theirs->sets);
	if (theirs->ballot > own->ballot || theirs->decided) {
		own->ballot = theirs->ballot;
		own->proposed = theirs->proposed;
		memcpy(proposed_set(agreement, own),
		       proposed_set(agreement, theirs),
		       agreement->words * sizeof(*own->sets));
		agreement->changed = true;
	}
	if (theirs->decided)
		decide(agreement);
	else
		go_on(agreement);
}

static void listen(struct link *link)
{
	struct bcl_agreement *agreement = link->agreement;

	link->listens = true;
	link->engine.lane = IN;
	bcl_adi_schedule_receive(&link->engine, link->in,
				 vote_size(agreement->words), link->job_rank,
				 agreement->tag, agreement->context);
}

static void mourn(struct link *link)
{
	struct bcl_agreement *agreement = link->agreement;

	if (!bcl_members_has(agreement->own->sets, link->rank))
		agreement->changed = agreement->mourns = true;
	bcl_members_add(agreement->own->sets, link->rank);
}

static void lose(struct link *link)
{
	if (link->agreement->own->decided)
		return;
	mourn(link);
	go_on(link->agreement);
}

/* ---- links ---- */

static bool advance_link(struct bcl_adi_schedule *engine)
{
	struct link *link = (struct link *)engine;

	while (engine->status == BCL_OK && !engine->lanes[IN] && !link->knows) {
		if (link->listens)
			hear(link);
		link->listens = false;
		if (!link->knows)
			listen(link);
	}
	send_due(link);
	if (engine->pending)
		return false;
	if (engine->status != BCL_OK) {
		link->runs = false;
		lose(link);
		return true;
	}
	return link->knows && link->told;
}

static void end_if_over(struct bcl_agreement *agreement)
{
	if (agreement->running || agreement->waits)
		return;
	bcl_teams_forget(agreement->teams, &agreement->member);
	free(agreement);
}

static void release_link(struct bcl_adi_schedule *engine)
{
	struct link *link = (struct link *)engine;

	link->runs = false;
	link->agreement->running--;
	end_if_over(link->agreement);
}

static void start_link(struct bcl_agreement *agreement, unsigned rank)
{
	struct link *link = &agreement->links[rank];

	link->runs = true;
	agreement->running++;
	if (bcl_adi_schedule_launch(link->engine.adi, &link->engine) == BCL_OK)
		return;
	/* a member to which there is no memory for a message is lost */
	link->runs = false;
	agreement->running--;
	lose(link);
}

/* ---- the call ---- */

static void init_links(struct bcl_agreement *agreement,
		       const struct bcl_team *team)
{
	unsigned char *votes =
		(unsigned char *)&agreement->links[agreement->size];
	size_t size = vote_size(agreement->words);
	unsigned i;

	agreement->own = (struct vote *)votes;
	for (i = 0; i < agreement->size; i++)
		agreement->links[i] = (struct link){
			.engine = { .advance = advance_link,
				    .release = release_link,
				    .adi = team->adi },
			.agreement = agreement,
			.rank = i,
			.job_rank = bcl_team_job_rank(team, i),
			.coordinator = agreement->size,
			.in = (struct vote *)(votes + (2 * i + 1) * size),
			.out = (struct vote *)(votes + (2 * i + 2) * size),
		};
}

static unsigned next_tag(const struct bcl_team *team)
{
	return team->tag | BCL_TEAM_TAG_AGREE |
	       team->agreements % BCL_TEAM_AGREEMENTS;
}

/* NULL: no memory. */
static struct bcl_agreement *create(struct bcl_team *team)
{
	unsigned n = team->size, words = bcl_members_words(n);
	struct bcl_agreement *agreement;

	if (!team->dead)
		team->dead = calloc(words, sizeof(*team->dead));
	if (!team->dead)
		return NULL;
	agreement = calloc(1, sizeof(*agreement) + n * sizeof(struct link) +
				      (2 * (size_t)n + 1) * vote_size(words));
	if (!agreement)
		return NULL;
	agreement->context = team->context;
	agreement->tag = next_tag(team);
	agreement->teams = team->teams;
	agreement->counters = team->counters;
	agreement->me = team->rank;
	agreement->size = n;
	agreement->words = words;
	agreement->changed = true;
	init_links(agreement, team);
	memcpy(agreement->own->sets, team->dead, words * sizeof(*team->dead));
	return agreement;
}

static void wait_turn(struct bcl_adi *adi, struct bcl_adi_idle *idle)
{
	if (bcl_adi_wait_turn(adi))
		*idle = (struct bcl_adi_idle){ 0 };
	else
		bcl_adi_idle(adi, idle);
}

/* The other members wait for this member, so this member waits for memory. */
static struct bcl_agreement *await_memory(struct bcl_team *team)
{
	struct bcl_agreement *agreement = create(team);
	struct bcl_adi_idle idle = { 0 };

	if (!agreement)
		bcl_log(&bcl_adi_context(team->adi)->config, BCL_LOG_ERROR,
			"coll",
			"rank %u: no memory for an agreement of %u members: "
			"waiting for memory",
			bcl_adi_rank(team->adi), team->size);
	while (!agreement) {
		wait_turn(team->adi, &idle);
		agreement = create(team);
	}
	return agreement;
}

/* True if messages of members that have taken part are under way. */
static bool is_under_way(struct bcl_agreement *agreement)
{
	const uint64_t *dead = proposed_set(agreement, agreement->own);
	unsigned i;

	for (i = 0; i < agreement->size; i++)
		if (agreement->links[i].runs && !bcl_members_has(dead, i))
			return true;
	return false;
}

static bool is_free(const struct bcl_team *team, unsigned tag)
{
	struct bcl_agreements *member = team->teams->agreements;

	for (; member; member = member->next) {
		struct bcl_agreement *agreement =
			(struct bcl_agreement *)member;

		if (agreement->context == team->context &&
		    agreement->tag == tag && is_under_way(agreement))
			return false;
	}
	return true;
}

/* The next agreement, when its tag is that of no earlier agreement whose
 * messages are still under way. */
static struct bcl_agreement *next(struct bcl_team *team)
{
	struct bcl_adi_idle idle = { 0 };
	struct bcl_agreement *agreement;

	while (!is_free(team, next_tag(team)))
		wait_turn(team->adi, &idle);
	agreement = await_memory(team);
	team->agreements++;
	bcl_teams_keep(team->teams, &agreement->member);
	return agreement;
}

/* The first vote tells of all losses that are known here, so a loss that ended
 * an operation before is in the decided set. */
static void note_losses(struct bcl_agreement *agreement,
			const struct bcl_adi *adi)
{
	unsigned i;

	for (i = 0; i < agreement->size; i++) {
		struct link *link = &agreement->links[i];

		if (i != agreement->me &&
		    bcl_adi_rank_status(adi, link->job_rank) != BCL_OK)
			mourn(link);
	}
}

/* Members of which an earlier agreement says that they are dead have no
 * link. */
static void start(struct bcl_agreement *agreement, const struct bcl_team *team)
{
	unsigned i;

	note_losses(agreement, team->adi);
	for (i = 0; i < agreement->size; i++)
		if (i != agreement->me && !bcl_members_has(team->dead, i))
			start_link(agreement, i);
	agreement->begun = true;
	go_on(agreement);
}

static void agree(struct bcl_team *team, uint64_t *flags)
{
	struct bcl_agreement *agreement = next(team);
	struct bcl_adi_idle idle = { 0 };

	agreement->waits = true;
	agreement->own->flags = *flags;
	start(agreement, team);
	while (!agreement->own->decided)
		wait_turn(team->adi, &idle);
	*flags = agreement->own->proposed;
	memcpy(team->dead, proposed_set(agreement, agreement->own),
	       agreement->words * sizeof(*team->dead));
	agreement->waits = false;
	end_if_over(agreement);
}

static bool is_out(const struct bcl_team *team)
{
	return team->dead && bcl_members_has(team->dead, team->rank);
}

enum bcl_status bcl_agreement_run(struct bcl_team *team, uint64_t *flags)
{
	uint64_t result = *flags;
	bool out;

	bcl_adi_lock(team->adi);
	if (!is_out(team))
		agree(team, &result);
	out = is_out(team);
	bcl_adi_unlock(team->adi);
	if (out)
		return BCL_ERR_DEAD;
	*flags = result;
	return BCL_OK;
}
