/* SPDX-License-Identifier: MIT */
/*
 * Schedules: the form in which collective algorithms are written.
 *
 * An operation is an array of steps in rounds. All steps of a round begin in
 * the order in which they were added; the next round begins when all of them
 * are over. Messages are sent and received in the background; copying and
 * combining happen as they begin, so data that arrives is combined in the
 * round after. Where messages of several rounds are to be on their way at once
 * they have lanes instead: a step can wait for those of one. The ADI's engine
 * carries the schedule on (adi/internal.h).
 *
 * A member that knows what will come can have it put in its place: it opens a
 * window, on memory that nobody else needs until then, and grants it to those
 * who will put. Nothing is announced then, however long it is, and one grant
 * is enough for many messages.
 *
 * Two members that exchange several messages in one operation send and
 * receive them in the same order.
 *
 * Builders add steps without looking at errors: the first one is kept, and
 * bcl_schedule_run() and _start() return it. Schedules, their steps and their
 * scratch memory are kept by the team for the next operation.
 */
#ifndef BCL_COLLECTIVES_SCHEDULE_H
#define BCL_COLLECTIVES_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcl/coll.h>

#include "adi/internal.h"
#include "collectives/node.h"
#include "collectives/park.h"

enum bcl_step_kind {
	BCL_STEP_SEND,	  /* `length` bytes of `from` to `rank` */
	BCL_STEP_RECEIVE, /* `length` bytes from `rank` to `to` */
	BCL_STEP_COMBINE, /* `length` elements: to[] = from[] op to[] */
	BCL_STEP_CALL,	  /* a function of the algorithm's */
	BCL_STEP_NODE,	  /* an operation inside the node, to its end */
	BCL_STEP_AWAIT,	  /* the messages of a lane */
	BCL_STEP_WINDOW,  /* others may put into `length` bytes at `to` */
	BCL_STEP_GRANT,	  /* tell `rank` that it may put into the window */
	BCL_STEP_GRANTED, /* be told so by `rank` */
	BCL_STEP_PUT,	  /* as SEND, at `offset` of the window granted */
};

struct bcl_step {
	uint8_t kind;
	bool last;	/* of its round */
	uint8_t lane;	/* SEND, RECEIVE, AWAIT, GRANTED */
	uint8_t window; /* WINDOW, GRANT: of the own; GRANTED, PUT: of those
			 * granted */
	uint32_t rank;	/* in the team; CALL: free */
	size_t length;	/* CALL: free */
	const void *from;
	void *to;
	union {
		const struct bcl_reduction *reduction;
		void (*call)(const struct bcl_team *team,
			     const struct bcl_step *step);
		unsigned node; /* index in node[] */
		size_t offset; /* PUT */
	};
};

enum {
	BCL_SCHEDULE_SCRATCH = 6,
	/* Scratch memory beyond it is given back after each operation. */
	BCL_SCHEDULE_KEEP = 1 << 20,

	BCL_SCHEDULE_WINDOWS = 4,
	/* Of other members; for each there is a lane, behind the others. */
	BCL_SCHEDULE_GRANTS = 32,
	BCL_SCHEDULE_LANES = BCL_ADI_LANES - BCL_SCHEDULE_GRANTS,
};

struct bcl_scratch {
	void *memory;
	size_t size;
};

struct bcl_schedule {
	struct bcl_adi_schedule engine;
	struct bcl_team *team;
	struct bcl_schedule *next; /* of the team's free or running ones */
	enum bcl_status status;	   /* of building */
	unsigned sequence, tag;
	uint64_t call;	  /* whose it is (calls.h) */
	bool shares_node; /* has its turn in the node's segment */
	uint64_t ticket;  /* which */
	uint64_t patient; /* ns: news are waited for until then; 0: not yet */
	struct bcl_park park;

	struct bcl_step *steps;
	unsigned nsteps, room;
	unsigned at;  /* the step that begins next */
	uint8_t lane; /* of the steps that are added */
	struct bcl_node_op *node;
	unsigned nnode, node_room;
	struct bcl_scratch scratch[BCL_SCHEDULE_SCRATCH];
	unsigned nscratch;
	struct bcl_adi_target window[BCL_SCHEDULE_WINDOWS];
	unsigned nwindows, nopen;
	uint8_t (*granted)[BCL_KEY_MAX]; /* BCL_SCHEDULE_GRANTS, or NULL */
	unsigned ngranted;
};

/*
 * An empty schedule for the team's next operation. AGAIN: too many are
 * running, or one that has its tag; NOMEM, which loses the team, since the
 * others go on; the status of a lost team.
 */
enum bcl_status bcl_schedule_get(struct bcl_team *team,
				 struct bcl_schedule **schedule);

/* Run it, and wait for its end. Blocks. */
enum bcl_status bcl_schedule_run(struct bcl_schedule *schedule);
/* Run it in the background. */
enum bcl_status bcl_schedule_start(struct bcl_schedule *schedule,
				   struct bcl_adi_request **request);
/* Free for good those of a team that are not running. */
void bcl_schedule_drain(struct bcl_team *team);

/* Begin anew to build one that is not running; and give it back, with its
 * memory: for those that no team keeps. */
void bcl_schedule_empty(struct bcl_schedule *schedule);
void bcl_schedule_free(struct bcl_schedule *schedule);

/* ---- for builders ------------------------------------------------------- */

void bcl_step_send(struct bcl_schedule *schedule, unsigned rank,
		   const void *from, size_t length);
void bcl_step_receive(struct bcl_schedule *schedule, unsigned rank, void *to,
		      size_t length);
/* to[] = from[] op to[]; `from` is of the lower ranks. */
void bcl_step_combine(struct bcl_schedule *schedule,
		      const struct bcl_reduction *reduction, const void *from,
		      void *to, size_t count);
void bcl_step_copy(struct bcl_schedule *schedule, void *to, const void *from,
		   size_t length);
/* call() sees the step with from, to, length and rank as given here. */
void bcl_step_call(struct bcl_schedule *schedule,
		   void (*call)(const struct bcl_team *team,
				const struct bcl_step *step),
		   void *to, const void *from, size_t length, unsigned rank);
/* As bcl_node_begin(), beside the messages of the round. What follows begins
 * after it. The team must have a segment. */
void bcl_step_node(struct bcl_schedule *schedule, enum bcl_node_kind kind,
		   unsigned root, const void *send, void *receive,
		   size_t length, const struct bcl_reduction *reduction);
/* What follows begins after what is before. */
void bcl_step_round(struct bcl_schedule *schedule);
/* Messages from here on are of this lane, 0..BCL_SCHEDULE_LANES - 1; 0 at
 * first. */
void bcl_step_lane(struct bcl_schedule *schedule, unsigned lane);
/* What follows begins after the messages of the lane that are before. */
void bcl_step_await(struct bcl_schedule *schedule, unsigned lane);

/*
 * A window from here until the operation is over, of one byte or more; at most
 * BCL_SCHEDULE_WINDOWS. What is put there is received as a message of no bytes.
 */
unsigned bcl_step_window(struct bcl_schedule *schedule, void *memory,
			 size_t length);
/* Let a member on another node put into it. */
void bcl_step_grant(struct bcl_schedule *schedule, unsigned rank,
		    unsigned window);
/* Be granted a window by a member; at most BCL_SCHEDULE_GRANTS times. */
unsigned bcl_step_granted(struct bcl_schedule *schedule, unsigned rank);
/* Begins, as what follows does, when that has come. */
void bcl_step_put(struct bcl_schedule *schedule, unsigned rank,
		  const void *from, size_t length, unsigned granted,
		  size_t offset);

/* Memory for the time of the operation, 64-byte aligned; at most
 * BCL_SCHEDULE_SCRATCH times per schedule. */
void *bcl_step_scratch(struct bcl_schedule *schedule, size_t length);

#endif
