/* SPDX-License-Identifier: MIT */
/*
 * Teams for communicators. The job has a team from the beginning, if all its
 * ranks want an operation over teams. Another group gets a team with its first
 * collective operation, and all communicators of the group share the team. All
 * ranks of a group decide together, because an operation goes over the team at
 * all ranks or at none.
 *
 * A team stays until the end of the job. A communicator may be freed while a
 * member is busy, and to free the team then would keep the other members
 * waiting. A group without a team leaves no record, so a program may make any
 * number of communicators.
 *
 * Operations that do not block need a team of the communicator's own
 * (bcl_ch3_icoll.h). Where several threads call, all operations need it. Such a
 * team is derived from the job's, with the number in the communicator's context
 * id as its id, and freed with the communicator.
 */
#include "collective.h"

enum {
	TEAMS_MAX = 64, /* teams per process; further groups have none */
};

/* A group that has a team. */
struct group {
	struct group *next;
	struct bcl_team *team;
	int size;
	unsigned *ranks; /* ranks in the job */
};

static struct bcl_team *world;
static struct group *groups, **last = &groups;
static int nteams;

int bcl_ch3_combine(MPIR_Comm *comm, int *value, MPI_Op op)
{
	MPIR_Errflag_t errflag = MPIR_ERR_NONE;
	int mpi_errno;

	mpi_errno = MPIR_Allreduce_impl(MPI_IN_PLACE, value, 1, MPI_INT, op,
					comm, &errflag);
	return !mpi_errno && !errflag;
}

int bcl_ch3_all_agree(MPIR_Comm *comm, int yes)
{
	return bcl_ch3_combine(comm, &yes, MPI_MIN) && yes;
}

static MPIDI_VC_t *member(const MPIR_Comm *comm, int rank)
{
	MPIDI_VC_t *vc;

	MPIDI_Comm_get_vc(comm, rank, &vc);
	return vc;
}

/* Returns true if all processes are of this job. All processes get the same
 * result, because in a mixed communicator each job sees a process of another
 * job. */
static int is_within_job(const MPIR_Comm *comm)
{
	int i = 0;

	while (i < comm->local_size &&
	       member(comm, i)->pg == MPIDI_Process.my_pg)
		i++;
	return i == comm->local_size;
}

unsigned *bcl_ch3_ranks(const MPIR_Comm *comm)
{
	unsigned *ranks;
	int i;

	ranks = MPL_malloc((size_t)comm->local_size * sizeof(*ranks),
			   MPL_MEM_COMM);
	MPIR_Assert(ranks); /* all members count on this rank */
	for (i = 0; i < comm->local_size; i++)
		ranks[i] = (unsigned)member(comm, i)->pg_rank;
	return ranks;
}

static struct group *group_of(const MPIR_Comm *comm)
{
	struct group *group = MPL_calloc(1, sizeof(*group), MPL_MEM_COMM);

	MPIR_Assert(group); /* all members count on this rank */
	group->size = comm->local_size;
	group->ranks = bcl_ch3_ranks(comm);
	return group;
}

static void free_group(struct group *group)
{
	MPL_free(group->ranks);
	MPL_free(group);
}

static const struct group *find_group(const struct group *like)
{
	const struct group *group = groups;

	while (group && (group->size != like->size ||
			 memcmp(group->ranks, like->ranks,
				like->size * sizeof(*like->ranks))))
		group = group->next;
	return group;
}

static int is_world(const struct group *group)
{
	int i;

	for (i = 0; i < group->size && group->ranks[i] == (unsigned)i; i++)
		;
	return i == group->size && i == MPIDI_Process.my_pg->size;
}

/* Makes a team if all members want one and can. Collective. NULL: no team. */
static struct bcl_team *create(MPIR_Comm *comm, const struct group *group)
{
	unsigned id = bcl_ch3_number(comm->context_id) % 1024;
	struct bcl_team *team = NULL;

	if (is_world(group))
		return world;
	if (!bcl_ch3_all_agree(comm, nteams < TEAMS_MAX))
		return NULL;
	if (!bcl_team_create(world, group->ranks, (unsigned)group->size, id,
			     &team))
		nteams++;
	return bcl_ch3_all_agree(comm, team != NULL) ? team : NULL;
}

/* Records a group that has a team; frees a group that has none. */
static struct bcl_team *record_group(struct group *group)
{
	struct bcl_team *team = group->team;

	if (team) {
		*last = group;
		last = &group->next;
	} else {
		free_group(group);
	}
	return team;
}

int bcl_ch3_may_have_team(const MPIR_Comm *comm)
{
	return world && comm->comm_kind == MPIR_COMM_KIND__INTRACOMM &&
	       comm->local_size > 1 &&
	       comm->hierarchy_kind != MPIR_COMM_HIERARCHY_KIND__NODE &&
	       comm->hierarchy_kind != MPIR_COMM_HIERARCHY_KIND__NODE_ROOTS &&
	       is_within_job(comm);
}

/* The team that all communicators of a group share. Collective. */
static struct bcl_team *team_of_group(MPIR_Comm *comm)
{
	const struct group *known;
	struct group *group;

	if (!bcl_ch3_may_have_team(comm))
		return NULL;
	group = group_of(comm);
	known = find_group(group);
	if (known) {
		free_group(group);
		return known->team;
	}
	group->team = create(comm, group);
	return record_group(group);
}

/* ---- teams of communicators ---- */

static struct bcl_ch3_own *owned; /* all that have a team */

static struct bcl_ch3_own *make_own(MPIR_Comm *comm)
{
	unsigned *ranks = bcl_ch3_ranks(comm);
	struct bcl_ch3_own *own = MPL_calloc(1, sizeof(*own), MPL_MEM_COMM);
	enum bcl_status status;

	MPIR_Assert(own); /* all members count on this rank */
	status = bcl_team_derive(world, ranks, (unsigned)comm->local_size,
				 bcl_ch3_number(comm->context_id), &own->team);
	MPIR_Assert(!status);
	MPL_free(ranks);
	own->comm = comm;
	own->next = owned;
	if (owned)
		owned->link = &own->next;
	own->link = &owned;
	owned = own;
	return own;
}

/* Its team is NULL if the communicator has none. The last number of a
 * communicator is no id of a derived team. */
static struct bcl_ch3_own *own_of(MPIR_Comm *comm)
{
	static struct bcl_ch3_own none;

	if (!comm->dev.ch.own)
		comm->dev.ch.own =
			bcl_ch3_may_have_team(comm) &&
					bcl_ch3_number(comm->context_id) <
						BCL_CH3_OWN_IDS
				? make_own(comm)
				: &none;
	return comm->dev.ch.own;
}

struct bcl_ch3_own *bcl_ch3_own(MPIR_Comm *comm,
				enum bcl_ch3_operation operation)
{
	if (!bcl_ch3_wants(operation) || !own_of(comm)->team)
		return NULL;
	return own_of(comm);
}

struct bcl_team *bcl_ch3_team_make(MPIR_Comm *comm)
{
	comm->dev.ch.team =
		bcl_ch3_threads ? own_of(comm)->team : team_of_group(comm);
	return comm->dev.ch.team;
}

static void free_own(struct bcl_ch3_own *own)
{
	*own->link = own->next;
	if (own->next)
		own->next->link = own->link;
	own->comm->dev.ch.own = NULL;
	bcl_team_free(own->team);
	MPL_free(own);
}

/* ---- from the first communicator to the last ---- */

static int created(MPIR_Comm *comm, void *arg)
{
	(void)arg;
	comm->dev.ch.team = BCL_CH3_UNDECIDED;
	comm->dev.ch.own = NULL;
	return MPI_SUCCESS;
}

static int destroyed(MPIR_Comm *comm, void *arg)
{
	(void)arg;
	if (comm->dev.ch.own && comm->dev.ch.own->team)
		free_own(comm->dev.ch.own);
	comm->dev.ch.own = NULL;
	return MPI_SUCCESS;
}

struct bcl_team *bcl_ch3_world(void)
{
	return world;
}

int bcl_ch3_teams_prepare(void)
{
	int mpi_errno = MPIDI_CH3U_Comm_register_create_hook(created, NULL);

	return mpi_errno
		       ? mpi_errno
		       : MPIDI_CH3U_Comm_register_destroy_hook(destroyed, NULL);
}

int bcl_ch3_teams_open(void)
{
	enum bcl_status status;

	if (MPIDI_Process.my_pg->size == 1)
		return MPI_SUCCESS;
	if (!bcl_ch3_wanted_open())
		return MPI_SUCCESS;
	status = bcl_team_world(bcl_ch3_adi, &world);
	return status ? bcl_ch3_error(status) : MPI_SUCCESS;
}

/* All processes are here. Frees the teams in order of creation. */
void bcl_ch3_teams_close(void)
{
	struct group *group;

	while (owned)
		free_own(owned);
	bcl_ch3_leases_close();
	while ((group = groups)) {
		groups = group->next;
		if (group->team && group->team != world)
			bcl_team_free(group->team);
		free_group(group);
	}
	last = &groups;
	nteams = 0;
	if (world)
		bcl_team_free(world);
	world = NULL;
	bcl_ch3_wanted_close();
}
