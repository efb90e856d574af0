/* SPDX-License-Identifier: MIT */
/*
 * Agreement of the members of a team that live, although members die meanwhile
 * and the members do not know the same deaths.
 *
 * A coordinator, the lowest member that lives, collects a vote of each living
 * member, and proposes the result: the AND of all flags, and the members that
 * any voter has lost. When all living members have accepted the proposal, the
 * coordinator decides, and tells the decision. If the coordinator dies, the
 * members send their votes to the next coordinator. A vote also tells the last
 * proposal that its sender has accepted. If the votes tell of proposals, the
 * new coordinator proposes the latest again. So after a decision later
 * coordinators can propose nothing else: all members that outlive the first
 * coordinator have accepted its proposal before the decision. Each member that
 * learns of the decision tells all other members before going on, so no member
 * waits for a member that has gone on. Every vote tells the deaths that its
 * sender knows, and a member that learns of a death tells all others.
 *
 * A member may lose another one that lives. The others then learn of this as of
 * a death, and so does the lost member, from members that have not lost it. As
 * the members hear of each other's losses, the members that nobody has lost end
 * with the same set and the same coordinator. If at least one such member
 * lives, all decide the same.
 *
 * The coordinator that changes is from Chandra and Toueg, "Unreliable failure
 * detectors for reliable distributed systems", J. ACM 43(2), 1996; the number
 * of a proposal is the ballot of Lamport, "The part-time parliament", ACM TOCS
 * 16(2), 1998. The lowest living process as the coordinator, and three phases:
 * Buntinas, "Scalable distributed consensus to support MPI fault tolerance",
 * IPDPS 2012, with a tree where this code has messages to each member.
 * tests/model/agree.pml is a model of the agreement.
 *
 * Without deaths a member sends one message to each other member, and two more
 * to the coordinator; the coordinator sends three to each. Each death costs
 * about one message more from each member to each. In a team of n a member has
 * n * n / 2 bytes of votes, also while messages of up to BCL_TEAM_AGREEMENTS
 * agreements that are over for the caller are still under way.
 */
#ifndef BCL_COLLECTIVES_AGREEMENT_H
#define BCL_COLLECTIVES_AGREEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <bcl/status.h>

struct bcl_team;

/* A set of members: a bit per rank in the team. */
static inline unsigned bcl_members_words(unsigned size)
{
	return (size + 63) / 64;
}

static inline bool bcl_members_has(const uint64_t *set, unsigned rank)
{
	return set[rank / 64] >> rank % 64 & 1;
}

static inline void bcl_members_add(uint64_t *set, unsigned rank)
{
	set[rank / 64] |= UINT64_C(1) << rank % 64;
}

static inline unsigned bcl_members_count(const uint64_t *set, unsigned size)
{
	unsigned n = 0, i;

	for (i = 0; i < bcl_members_words(size); i++)
		n += (unsigned)__builtin_popcountll(set[i]);
	return n;
}

/*
 * Agrees on the AND of all members' *flags, and on a set of dead members: those
 * of earlier agreements, and those that any member has lost. The set becomes
 * team->dead. The team may be lost. All members that are not in team->dead call
 * the function, equally often. Blocks; waits for memory if there is none. But a
 * member without memory for messages with another one has lost it. DEAD: this
 * member is in the set, now or by an earlier agreement; *flags is unchanged.
 */
enum bcl_status bcl_agreement_run(struct bcl_team *team, uint64_t *flags);

#endif
