/* SPDX-License-Identifier: MIT */
/*
 * The interface of the ADI for the layer above inside the library, the
 * collectives: schedules that the progress engine runs, and messages that
 * belong to a schedule.
 *
 * The caller holds the lock of the job (bcl_adi_lock(), which does nothing
 * without BCL_ADI_THREADS) in every call. The engine holds the lock when it
 * calls advance().
 */
#ifndef BCL_ADI_INTERNAL_H
#define BCL_ADI_INTERNAL_H

#include <stdbool.h>

#include <bcl/adi.h>

struct bcl_counter_page;
struct bcl_env;

enum {
	/* Contexts beyond the caller's. Messages in these contexts do not count
	 * against BCL_UNEXPECTED: the code that uses a context bounds the
	 * number of its messages in flight. */
	BCL_ADI_CONTEXT_COLLECTIVE = 0xf000, /* .. 0xfffe: one per team */
	BCL_ADI_CONTEXT_CLOSE = 0xffff,

	BCL_ADI_LANES = 59, /* of a schedule */
};

/*
 * A state machine that the engine drives, for example a collective operation.
 * The starter owns the memory; the engine uses the memory until release().
 *
 *  state     event                                            next
 *  idle      bcl_adi_schedule_start()                         ready
 *  ready     advance() returns false, messages are pending    waiting
 *            advance() returns false, nothing is pending      ready
 *            advance() returns true (nothing may be pending)  idle
 *  waiting   the last pending message of a lane is complete   ready
 *            a message fails, or bcl_adi_schedule_fail(): the
 *              engine takes back the messages that have not
 *              matched, and goes on when none is pending      waiting
 *
 * The engine calls advance() in the next turn after a schedule became ready,
 * and in every turn while the schedule is `polled`. Any thread that takes a
 * turn may be the one that calls, with the job's lock held; calls for one
 * schedule do not overlap.
 */
struct bcl_adi_schedule {
	/*
	 * Does what can be done now. Returns true if the schedule is finished,
	 * with `status`. After the failure of a message `status` is bad before
	 * the call. May start messages of the schedule, but must not block or
	 * take a turn of the engine. Mandatory.
	 */
	bool (*advance)(struct bcl_adi_schedule *schedule);
	/* Called once, when the engine is done with the schedule, after the
	 * request is complete: may free the schedule. Must not block. NULL:
	 * nothing to do. */
	void (*release)(struct bcl_adi_schedule *schedule);
	enum bcl_status status; /* first error; set to OK by start */
	/* The schedule waits for memory of other processes. advance() may
	 * change `polled`. */
	bool polled;
	/* Lane of the messages that are started from now on. The messages of a
	 * lane are counted together. */
	uint8_t lane;

	/* The engine's. */
	struct bcl_adi *adi;
	struct bcl_adi_request *request;
	struct bcl_adi_request *messages;	/* not complete yet */
	unsigned pending, lanes[BCL_ADI_LANES]; /* in all; in each lane */
	bool queued;
	struct bcl_adi_schedule *next;
};

/*
 * Starts a schedule. advance() is called once before this function returns, so
 * a short operation may be over by then. NOMEM: nothing was started, and
 * release() is not called.
 */
enum bcl_status bcl_adi_schedule_start(struct bcl_adi *adi,
				       struct bcl_adi_schedule *schedule,
				       struct bcl_adi_request **request);

/* The same for a schedule for whose end nobody waits: there is no request. */
enum bcl_status bcl_adi_schedule_launch(struct bcl_adi *adi,
					struct bcl_adi_schedule *schedule);

/* Starts a schedule and waits for its end, without a request. Blocks. */
enum bcl_status bcl_adi_schedule_run(struct bcl_adi *adi,
				     struct bcl_adi_schedule *schedule);

/*
 * Start a message of a schedule. A message that is not complete on return
 * counts in `pending` and in its lane, and the buffer must stay, until the
 * message is complete. All failures go to schedule->status, also the returned
 * ones. A message shorter or longer than its receive fails with TRUNCATED.
 */
enum bcl_status bcl_adi_schedule_send(struct bcl_adi_schedule *schedule,
				      const void *buffer, size_t length,
				      unsigned rank, unsigned tag,
				      unsigned context);
enum bcl_status bcl_adi_schedule_receive(struct bcl_adi_schedule *schedule,
					 void *buffer, size_t length,
					 unsigned rank, unsigned tag,
					 unsigned context);

/*
 * A window: memory into which other ranks put messages. Both sides know of
 * these messages beforehand, so nothing is announced or fetched. Every rank
 * that has the key may put. A put matches a receive of the window's tag and
 * context, in order with messages, as a message of no bytes would. After the
 * window is closed, puts fail with BCL_ERR_MEMORY.
 */
struct bcl_adi_target {
	uint8_t key[BCL_KEY_MAX];

	/* The engine's. */
	struct bcl_memory *memory;
	uint32_t handle; /* name of the window in BCL_ADI_PUT */
	unsigned tag, context;
	struct bcl_adi_target *next;
};

/* Opens a window of `length` bytes, not 0. NOMEM. */
enum bcl_status bcl_adi_target_open(struct bcl_adi *adi,
				    struct bcl_adi_target *target, void *memory,
				    size_t length, unsigned tag,
				    unsigned context);
void bcl_adi_target_close(struct bcl_adi *adi, struct bcl_adi_target *target);

/* As bcl_adi_schedule_send(), to `offset` of the window that the key names. The
 * rank must be on another node. */
enum bcl_status bcl_adi_schedule_put(struct bcl_adi_schedule *schedule,
				     const void *buffer, size_t length,
				     unsigned rank, const uint8_t *key,
				     uint64_t offset);

/* A rank has sent other bytes than are due: logs it, and returns TRUNCATED. */
enum bcl_status bcl_adi_schedule_differs(struct bcl_adi *adi, unsigned rank,
					 size_t sent, size_t due);

/*
 * Ends the schedule with this status, as if a message of the schedule had
 * failed. The function does not call advance(), but advance() may call the
 * function.
 */
void bcl_adi_schedule_fail(struct bcl_adi_schedule *schedule,
			   enum bcl_status status);

/* ---- the floor above ---- */

enum {
	BCL_ADI_OOB_WORDS = 3,
};

struct bcl_adi_oob {
	uint64_t word[BCL_ADI_OOB_WORDS];
};

/* The engine's view of the layer above, embedded in the layer's own state of
 * the job. oob and close are mandatory. The job's lock is held for oob() and
 * wait(), which must not block or take a turn, but may send out-of-band
 * messages. */
struct bcl_adi_client {
	/* A rank has sent an out-of-band message; *oob is valid during the
	 * call. */
	void (*oob)(struct bcl_adi_client *client, unsigned rank,
		    const struct bcl_adi_oob *oob);
	/* NULL, or called when this rank has waited for long, and again if the
	 * wait goes on. Returns true if an out-of-band message was sent. */
	bool (*wait)(struct bcl_adi_client *client);
	/* The job is being closed: no other thread uses it, and no function of
	 * the job may be called any more. Frees the client. */
	void (*close)(struct bcl_adi_client *client);
};

/* Where the job keeps its client; NULL at first. */
struct bcl_adi_client **bcl_adi_client(struct bcl_adi *adi);

/* Sends words to the client of another rank, out of band. Nothing happens if
 * the rank is lost or has no client, or if there is no memory. */
void bcl_adi_oob_send(struct bcl_adi *adi, unsigned rank,
		      const struct bcl_adi_oob *oob);

/* ---- the engine --------------------------------------------------------- */

void bcl_adi_lock(struct bcl_adi *adi);
void bcl_adi_unlock(struct bcl_adi *adi);

/* Takes one turn. Returns true if there was anything to do. */
bool bcl_adi_turn(struct bcl_adi *adi);
/* The same in a wait. Afterwards another thread that wants the lock gets the
 * lock for a moment, even if every turn finds something to do. */
bool bcl_adi_wait_turn(struct bcl_adi *adi);

/*
 * One step of a wait for memory of another process, after a turn that found
 * nothing. Spins, then yields, then sleeps for at most a millisecond, because
 * nothing wakes this rank for a write. Other threads get the lock meanwhile.
 * The caller begins with a zeroed bcl_adi_idle, and zeroes it whenever
 * something came, best by bcl_adi_came().
 */
struct bcl_adi_idle {
	unsigned turns;	  /* since the last look at the clock */
	uint64_t until;	  /* now() time when yields end, too */
	uint64_t yielded; /* ns of the last yield; 0 while the wait spins */
};
void bcl_adi_idle(struct bcl_adi *adi, struct bcl_adi_idle *idle);

/* Zeroes `idle`, since something came. May move the thread to another
 * processor: bcl_port_late(). */
void bcl_adi_came(struct bcl_adi *adi, struct bcl_adi_idle *idle);

/* The same in two parts, if the writer wakes this rank with bcl_adi_oob_send().
 * Spins or yields. Returns false when it is time to sleep. */
bool bcl_adi_linger(struct bcl_adi *adi, struct bcl_adi_idle *idle);
/* Sleeps until an event comes, at most `ns`. */
void bcl_adi_sleep(struct bcl_adi *adi, uint64_t ns);

/* OK, or why no message of this rank will come: lost, or left
 * (BCL_ERR_DEAD). */
enum bcl_status bcl_adi_rank_status(const struct bcl_adi *adi, unsigned rank);

/* Counter page of the job's port, for counters that change with the lock
 * held. */
struct bcl_counter_page *bcl_adi_counters(const struct bcl_adi *adi);

/* Environment of the job. */
const struct bcl_env *bcl_adi_env(const struct bcl_adi *adi);

#endif
