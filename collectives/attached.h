/* SPDX-License-Identifier: MIT */
/*
 * Members of a node copy out of the memory of others, by attach
 * (transport/shm/host.h). A member offers data by a short operation in the
 * node's segment, the others fetch their parts, and the member waits until all
 * have fetched. Each byte is copied once, and nobody waits for pieces: where
 * ranks outnumber processors, a rank needs the processor twice, however long
 * the data is.
 */
#ifndef BCL_COLLECTIVES_ATTACHED_H
#define BCL_COLLECTIVES_ATTACHED_H

#include <stddef.h>
#include <stdint.h>

#include <bcl/coll.h>

struct bcl_schedule;
struct bcl_step;
struct bcl_team;

/* By which the others recognize the process of a member. */
struct bcl_introduction {
	uint64_t process;
	uint64_t address, incarnation; /* of its context */
};

/* Fills in the introduction of the own process. */
void bcl_attached_introduce(const struct bcl_team *team,
			    struct bcl_introduction *own);
/* Tries to attach to all members of the team, which are on one node. Sets
 * team->processes if each attempt succeeds. */
void bcl_attached_try(struct bcl_team *team,
		      const struct bcl_introduction *all);
/* Forgets the processes. */
void bcl_attached_forget(struct bcl_team *team);
/* The team is lost at the own member, whose caller may now change the memory
 * that was offered. A member that fetches from the memory ends with the status
 * of the team. */
void bcl_attached_withdraw(const struct bcl_team *team);

/* ---- for builders, of teams that have BCL_NEEDS_ATTACH ---- */

struct bcl_offer {
	uint64_t address; /* of the data; 0: the data follows the offer */
	uint64_t length;  /* bytes for each member that fetches */
};

/* Bytes of an offer with room for data behind it. An offer of this size to each
 * member goes through the segment in few phases. */
size_t bcl_offer_size(const struct bcl_team *team);
/* Offer data to one member, by an offer of that size. Data that has room there
 * is copied behind the offer when the schedule runs. */
void bcl_step_offer(struct bcl_schedule *schedule, struct bcl_offer *offer,
		    const void *data, size_t length);
/* Get `length` bytes, at `offset` of the data that a member has offered. An
 * offer of another length loses the team. */
void bcl_step_fetch(struct bcl_schedule *schedule, unsigned rank,
		    const struct bcl_offer *offer, size_t offset, void *to,
		    size_t length);

/* ---- for schedule.c ---- */

/* Runs a step that fetches. TRUNCATED: the offer has another length; or the
 * status of the copy, or of a team that another member has lost. */
enum bcl_status bcl_attached_fetch(const struct bcl_team *team,
				   const struct bcl_step *step);

#endif
