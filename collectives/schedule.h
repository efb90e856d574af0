/* SPDX-License-Identifier: MIT */
/*
 * Schedules: the form in which collective algorithms are written.
 *
 * An operation is an array of steps in rounds. All steps of a round begin in
 * the order in which they were added; the next round begins when all of them
 * are over. Messages are sent and received in the background. A copy or combine
 * step is done when it begins, so arriving data is combined in the round after.
 * If messages of several rounds are to be in flight at once they use lanes
 * instead: a step can wait for the messages of one lane. The ADI's engine
 * carries the schedule on (adi/internal.h).
 *
 * A member that knows which data will come can have the data put in its place:
 * the member opens a window, on memory that no other step needs until then, and
 * grants the window to the members that will put. Then no message is announced,
 * however long, and one grant is enough for many messages.
 *
 * Two members that exchange several messages in one operation send and receive
 * these messages in the same order.
 *
 * Builders add steps without looking at errors: the schedule stores the first
 * error, and bcl_schedule_run() and _start() return it. The team stores
 * schedules, with their steps and their scratch memory, for the next operation.
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
	BCL_STEP_SEND,	  /* send `length` bytes of `from` to `rank` */
	BCL_STEP_RECEIVE, /* receive `length` bytes from `rank` to `to` */
	BCL_STEP_COMBINE, /* `length` elements: to[] = from[] op to[] */
	BCL_STEP_CALL,	  /* a function of the algorithm */
	BCL_STEP_CHECK,	  /* a function that may end the operation */
	BCL_STEP_NODE,	  /* run an operation inside the node to its end */
	BCL_STEP_AWAIT,	  /* wait for the messages of a lane */
	BCL_STEP_WINDOW,  /* let others put into `length` bytes at `to` */
	BCL_STEP_GRANT,	  /* tell `rank` that it may put into the window */
	BCL_STEP_GRANTED, /* wait for such a grant from `rank` */
	BCL_STEP_PUT,	  /* as SEND, to `offset` of the window granted */
	/* get `length` bytes, at `offset` of the data that `rank` has put into
	 * the offer `from` (attached.h) */
	BCL_STEP_FETCH,
};

struct bcl_step {
	uint8_t kind;
	bool last;	/* ends its round */
	uint8_t lane;	/* SEND, RECEIVE, AWAIT, GRANTED */
	uint8_t window; /* WINDOW, GRANT: own windows; GRANTED, PUT: grants */
	uint32_t rank;	/* in the team; CALL: free */
	size_t length;	/* CALL, CHECK: free */
	const void *from;
	void *to;
	union {
		const struct bcl_reduction *reduction;
		void (*call)(const struct bcl_team *team,
			     const struct bcl_step *step);
		enum bcl_status (*check)(const struct bcl_team *team,
					 const struct bcl_step *step);
		unsigned node; /* index in node[] */
		size_t offset; /* PUT, FETCH */
	};
};

enum {
	BCL_SCHEDULE_SCRATCH = 8,
	/* Bytes; longer scratch memory is freed after each operation. */
	BCL_SCHEDULE_KEEP = 1 << 20,

	BCL_SCHEDULE_WINDOWS = 4,
	/* Windows of other members. Each grant has a lane behind the lanes of
	 * the builders. */
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
	struct bcl_schedule *next; /* of the team's idle or running schedules */
	enum bcl_status status;	   /* of building: the first error */
	unsigned sequence, tag;
	uint64_t call;	  /* for bcl_calls_note() */
	bool running;	  /* among the team's running schedules */
	bool kept;	  /* stays built when it is over: bcl_schedule_keep() */
	bool shares_node; /* has a ticket for the node's segment */
	uint64_t ticket;  /* compared with the team's `turn` */
	uint64_t patient; /* ns: wait until then for the reason of a loss; 0: no
			     wait yet */
	struct bcl_park park;

	struct bcl_step *steps;
	unsigned nsteps, room;
	unsigned at;  /* the step that begins next */
	uint8_t lane; /* lane of the steps that are added next */
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
 * Get an empty schedule for the team's next operation. AGAIN: too many
 * operations are running, or one that has the next tag. NOMEM: also loses the
 * team, since the other members go on with the operation. Or the status of a
 * lost team.
 */
enum bcl_status bcl_schedule_get(struct bcl_team *team,
				 struct bcl_schedule **schedule);

/* Run the schedule to its end and give it back to the team. Blocks. */
enum bcl_status bcl_schedule_run(struct bcl_schedule *schedule);
/* Run the schedule in the background; it goes back to the team at its end. */
enum bcl_status bcl_schedule_start(struct bcl_schedule *schedule,
				   struct bcl_adi_request **request);
/*
 * A schedule that its owner keeps: after bcl_schedule_keep() the schedule runs
 * as often as the owner likes, one run at a time, and is built only once. The
 * owner calls bcl_schedule_rewind() before each bcl_schedule_run() or _start(),
 * and neither allocates memory for the schedule. rewind() returns AGAIN: the
 * schedule is running, or as for bcl_schedule_get(); or the status of a lost
 * team. bcl_schedule_give() gives the schedule to the team, at the end of its
 * run if it is running.
 */
void bcl_schedule_keep(struct bcl_schedule *schedule);
enum bcl_status bcl_schedule_rewind(struct bcl_schedule *schedule);
/*
 * In place of rewind() and start(), of a kept schedule that is one operation
 * inside the node. The operation has begun past the schedule, while the team
 * had no running schedule, and goes on from there. Lock held.
 */
enum bcl_status bcl_schedule_resume(struct bcl_schedule *schedule,
				    const struct bcl_node_op *op,
				    struct bcl_adi_request **request);
void bcl_schedule_give(struct bcl_schedule *schedule);

/* Free the team's idle schedules. */
void bcl_schedule_drain(struct bcl_team *team);

/* For schedules that no team stores: bcl_schedule_empty() prepares a schedule
 * that is not running for a new build; bcl_schedule_free() frees it and its
 * memory. */
void bcl_schedule_empty(struct bcl_schedule *schedule);
void bcl_schedule_free(struct bcl_schedule *schedule);

/* ---- for builders ------------------------------------------------------- */

void bcl_step_send(struct bcl_schedule *schedule, unsigned rank,
		   const void *from, size_t length);
void bcl_step_receive(struct bcl_schedule *schedule, unsigned rank, void *to,
		      size_t length);
/* to[] = from[] op to[]; `from` is the data of the lower ranks. */
void bcl_step_combine(struct bcl_schedule *schedule,
		      const struct bcl_reduction *reduction, const void *from,
		      void *to, size_t count);
void bcl_step_copy(struct bcl_schedule *schedule, void *to, const void *from,
		   size_t length);
/* call() gets the step with from, to, length and rank as given here. */
void bcl_step_call(struct bcl_schedule *schedule,
		   void (*call)(const struct bcl_team *team,
				const struct bcl_step *step),
		   void *to, const void *from, size_t length, unsigned rank);
/* The same for check(). If its result is not OK, the operation ends with it,
 * and the team is lost. */
void bcl_step_check(struct bcl_schedule *schedule,
		    enum bcl_status (*check)(const struct bcl_team *team,
					     const struct bcl_step *step),
		    void *to, const void *from, size_t length);
/* Add an operation as by bcl_node_begin(). It runs beside the messages of the
 * round, and the next step begins after it. The team must have a segment. */
void bcl_step_node(struct bcl_schedule *schedule, enum bcl_node_kind kind,
		   unsigned root, const void *send, void *receive,
		   size_t length, const struct bcl_reduction *reduction);
/* The same with an operation that has begun. Its arrays are copied. */
void bcl_step_operation(struct bcl_schedule *schedule,
			const struct bcl_node_op *op);
/* End the round: later steps begin after all earlier steps are over. */
void bcl_step_round(struct bcl_schedule *schedule);
/* Messages of later steps are in this lane, 0..BCL_SCHEDULE_LANES - 1; first
 * 0. */
void bcl_step_lane(struct bcl_schedule *schedule, unsigned lane);
/* Later steps begin after all earlier messages of the lane are complete. */
void bcl_step_await(struct bcl_schedule *schedule, unsigned lane);

/*
 * Open a window on one byte or more, from this step on until the operation is
 * over; at most BCL_SCHEDULE_WINDOWS times. A put into the window is received
 * as a message of no bytes. Returns the number of the window.
 */
unsigned bcl_step_window(struct bcl_schedule *schedule, void *memory,
			 size_t length);
/* Let a member on another node put into the window with this number. */
void bcl_step_grant(struct bcl_schedule *schedule, unsigned rank,
		    unsigned window);
/* Get the grant of a window from a member; at most BCL_SCHEDULE_GRANTS times.
 * Returns the number of the grant. */
unsigned bcl_step_granted(struct bcl_schedule *schedule, unsigned rank);
/* Put into the window of a grant. The step and all later ones begin after the
 * grant has arrived. */
void bcl_step_put(struct bcl_schedule *schedule, unsigned rank,
		  const void *from, size_t length, unsigned granted,
		  size_t offset);

/* Memory for the time of the operation, 64-byte aligned; at most
 * BCL_SCHEDULE_SCRATCH times per schedule. Never NULL if length is not 0. */
void *bcl_step_scratch(struct bcl_schedule *schedule, size_t length);

#endif
