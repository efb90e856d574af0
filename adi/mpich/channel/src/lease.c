/* SPDX-License-Identifier: MIT */
/*
 * Teams for persistent operations, each of which borrows a team alone. Ranks
 * may start the operations of a communicator in different orders, while the
 * operations of a team need the same order at all members.
 *
 * Where no process has several threads, the ranks of a group make a team as for
 * operations that block, with a segment on each node. The team serves again
 * when all members have ended the lease: a rank that borrows asks the other
 * members. If there are too many teams with segments, or several threads call,
 * each rank derives a team from the job's. The id of the team is a number that
 * MPICH would give to a communicator, and goes back to MPICH at the end.
 */
#include "collective.h"

enum {
	MADE_MAX = 16,	    /* teams with segments, per process */
	DERIVED_MAX = 1024, /* teams without, per process; the rest of
			     * MPICH's numbers is for communicators */
	MAY_MAKE = 1 << MADE_MAX,
};

/* A team with segments, which the ranks have made together. */
struct made {
	struct bcl_ch3_own own;
	struct made *next;
	unsigned *ranks; /* in the job */
	int size;
	int number; /* in the group, from 0 on */
	int lent;
};

struct derived {
	struct bcl_ch3_own own;
	MPIR_Context_id_t id;
};

static struct made *made, **last = &made;
static int nmade, nderived;
static struct bcl_ch3_own *all_derived;

/* ---- teams made together ---- */

static struct made *first_made(struct made *team, const unsigned *ranks,
			       int size)
{
	while (team &&
	       (team->size != size ||
		memcmp(team->ranks, ranks, (size_t)size * sizeof(*ranks))))
		team = team->next;
	return team;
}

/* Makes the group's team `number`. Collective. NULL: not all ranks could. */
static struct made *make(MPIR_Comm *comm, const unsigned *ranks, int number)
{
	const unsigned size = (unsigned)comm->local_size;
	struct made *team = MPL_calloc(1, sizeof(*team), MPL_MEM_COMM);
	enum bcl_status status;

	MPIR_Assert(team); /* all members count on this rank */
	nmade++;
	status = bcl_team_create(bcl_ch3_world(), ranks, size,
				 bcl_ch3_number(comm->context_id) % 1024,
				 &team->own.team);
	if (!bcl_ch3_all_agree(comm, !status)) {
		MPL_free(team);
		return NULL;
	}
	team->ranks = bcl_ch3_ranks(comm);
	team->size = comm->local_size;
	team->number = number;
	*last = team;
	last = &team->next;
	return team;
}

/* The group's team `number`. */
static struct made *find(const unsigned *ranks, int size, int number)
{
	struct made *team = first_made(made, ranks, size);

	while (team && team->number != number)
		team = first_made(team->next, ranks, size);
	return team;
}

/* Borrows the first team that is free at all ranks, or a new team. Collective.
 * NULL: all ranks have none. */
static struct bcl_ch3_own *borrow_made(MPIR_Comm *comm, const unsigned *ranks)
{
	const int size = comm->local_size;
	int choice = nmade < MADE_MAX ? MAY_MAKE : 0, number = 0, n = 0;
	struct made *team;

	for (team = first_made(made, ranks, size); team;
	     team = first_made(team->next, ranks, size)) {
		if (!team->lent)
			choice |= 1 << team->number;
		n++;
	}
	if (!bcl_ch3_combine(comm, &choice, MPI_BAND) || !choice)
		return NULL;
	while (!(choice >> number & 1))
		number++;
	team = number < MADE_MAX ? find(ranks, size, number)
				 : make(comm, ranks, n);
	if (!team)
		return NULL;
	team->lent = TRUE;
	return &team->own;
}

/* ---- derived teams ---- */

static void derive(struct derived *team, MPIR_Comm *comm, const unsigned *ranks)
{
	struct bcl_ch3_own *own = &team->own;
	enum bcl_status status;

	status = bcl_team_derive(bcl_ch3_world(), ranks,
				 (unsigned)comm->local_size,
				 bcl_ch3_number(team->id), &own->team);
	MPIR_Assert(!status); /* all members count on this rank */
	own->next = all_derived;
	if (all_derived)
		all_derived->link = &own->next;
	own->link = &all_derived;
	all_derived = own;
	nderived++;
}

static void free_derived(struct bcl_ch3_own *own)
{
	*own->link = own->next;
	if (own->next)
		own->next->link = own->link;
	bcl_team_free(own->team);
	MPL_free(own);
	nderived--;
}

/* Collective. NULL: no number is left, at all ranks. */
static struct bcl_ch3_own *borrow_derived(MPIR_Comm *comm,
					  const unsigned *ranks)
{
	struct derived *team;
	int mpi_errno;

	if (!bcl_ch3_all_agree(comm, nderived < DERIVED_MAX))
		return NULL;
	team = MPL_calloc(1, sizeof(*team), MPL_MEM_COMM);
	MPIR_Assert(team); /* all members count on this rank */
	mpi_errno = MPIR_Get_contextid_sparse(comm, &team->id, FALSE);
	if (bcl_ch3_all_agree(comm, !mpi_errno && bcl_ch3_number(team->id) <
							  BCL_CH3_OWN_IDS)) {
		derive(team, comm, ranks);
		return &team->own;
	}
	if (!mpi_errno)
		MPIR_Free_contextid(team->id);
	MPL_free(team);
	return NULL;
}

/* ---- both ---- */

struct bcl_ch3_own *bcl_ch3_lease(MPIR_Comm *comm)
{
	unsigned *ranks = bcl_ch3_ranks(comm);
	struct bcl_ch3_own *own = NULL;

	if (!bcl_ch3_threads)
		own = borrow_made(comm, ranks);
	if (!own)
		own = borrow_derived(comm, ranks);
	if (own)
		own->comm = comm;
	MPL_free(ranks);
	return own;
}

static struct made *as_made(const struct bcl_ch3_own *own)
{
	struct made *team = made;

	while (team && &team->own != own)
		team = team->next;
	return team;
}

/* A lost team stays lent. */
void bcl_ch3_lease_end(struct bcl_ch3_own *own)
{
	struct made *team = as_made(own);
	MPIR_Context_id_t id;

	if (own->kept)
		return;
	if (team) {
		team->lent = FALSE;
		return;
	}
	id = ((struct derived *)own)->id;
	free_derived(own);
	MPIR_Free_contextid(id);
}

/* Frees teams with segments in the order of creation. */
void bcl_ch3_leases_close(void)
{
	struct made *team;

	while (all_derived)
		free_derived(all_derived);
	while ((team = made)) {
		made = team->next;
		bcl_team_free(team->own.team);
		MPL_free(team->ranks);
		MPL_free(team);
	}
	last = &made;
	nmade = 0;
}
