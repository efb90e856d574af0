/* SPDX-License-Identifier: MIT */
/*
 * What the ADI offers to the floor above inside the library: schedules that
 * the progress engine runs, and messages that belong to a schedule.
 *
 * All functions are called with the job's lock held (bcl_adi_lock(), which is
 * nothing without BCL_ADI_THREADS). advance() is called with it held.
 */
#ifndef BCL_ADI_INTERNAL_H
#define BCL_ADI_INTERNAL_H

#include <stdbool.h>

#include <bcl/adi.h>

struct bcl_counter_page;
struct bcl_env;

enum {
	/* Contexts beyond the caller's. Their messages do not count against
	 * BCL_UNEXPECTED: whoever uses them bounds what is on its way. */
	BCL_ADI_CONTEXT_COLLECTIVE = 0xf000, /* .. 0xfffe: one per team */
	BCL_ADI_CONTEXT_CLOSE = 0xffff,

	BCL_ADI_LANES = 59, /* of a schedule */
};

/*
 * A state machine that the engine drives, e.g. a collective operation. The
 * memory is the starter's; the engine uses it until release().
 *
 *  state     event                                            next
 *  idle      bcl_adi_schedule_start()                         ready
 *  ready     advance() says false, messages are pending       waiting
 *            advance() says false, nothing is pending         ready
 *            advance() says true (nothing may be pending)     idle
 *  waiting   the last pending message of a lane is complete   ready
 *            a message fails, bcl_adi_schedule_fail(): the
 *              others that have not matched are taken back    waiting
 *
 * advance() is called in the next turn after a schedule became ready, and in
 * every turn while it is `polled`.
 */
struct bcl_adi_schedule {
	/*
	 * Do what can be done now. True: finished, with `status`. When a
	 * message failed `status` is bad before the call.
	 */
	bool (*advance)(struct bcl_adi_schedule *schedule);
	/* The engine is done with the schedule; NULL: nothing to do. */
	void (*release)(struct bcl_adi_schedule *schedule);
	enum bcl_status status; /* the first bad one; set to OK by start */
	/* It waits for memory that others write. advance() may change it. */
	bool polled;
	/* Of the messages that follow: what is counted together. */
	uint8_t lane;

	/* The engine's. */
	struct bcl_adi *adi;
	struct bcl_adi_request *request;
	struct bcl_adi_request *messages;	/* not complete yet */
	unsigned pending, lanes[BCL_ADI_LANES]; /* how many; of each lane */
	bool queued;
	struct bcl_adi_schedule *next;
};

/*
 * Start: advance() is called once before this returns, so that a short
 * operation may be over by then. NOMEM: nothing started, no release().
 */
enum bcl_status bcl_adi_schedule_start(struct bcl_adi *adi,
				       struct bcl_adi_schedule *schedule,
				       struct bcl_adi_request **request);

/* Start and wait, without a request. Blocks. */
enum bcl_status bcl_adi_schedule_run(struct bcl_adi *adi,
				     struct bcl_adi_schedule *schedule);

/*
 * Messages of a schedule. Each that is not complete at return counts in
 * `pending` and in its lane until it is; the buffer must stay until then. A
 * failure, also one that is returned here, goes to schedule->status; so does
 * TRUNCATED, where a message is shorter or longer than what is received.
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
 * A window: memory into which other ranks put messages that both sides know of
 * beforehand, so that nothing has to be announced and fetched. Whoever gets the
 * key may put. What was put matches a receive of the window's tag and context,
 * in order with messages, as one of no bytes would. After it is closed puts
 * fail with BCL_ERR_MEMORY.
 */
struct bcl_adi_target {
	uint8_t key[BCL_KEY_MAX];

	/* The engine's. */
	struct bcl_memory *memory;
	uint32_t handle; /* its name in what comes */
	unsigned tag, context;
	struct bcl_adi_target *next;
};

/* length: not 0. NOMEM */
enum bcl_status bcl_adi_target_open(struct bcl_adi *adi,
				    struct bcl_adi_target *target, void *memory,
				    size_t length, unsigned tag,
				    unsigned context);
void bcl_adi_target_close(struct bcl_adi *adi, struct bcl_adi_target *target);

/* As bcl_adi_schedule_send(), to `offset` of the window that the key names, of
 * a rank on another node. */
enum bcl_status bcl_adi_schedule_put(struct bcl_adi_schedule *schedule,
				     const void *buffer, size_t length,
				     unsigned rank, const uint8_t *key,
				     uint64_t offset);

/*
 * End it with this status, as if a message of it had failed. advance() is not
 * called before this returns; it may be called from there.
 */
void bcl_adi_schedule_fail(struct bcl_adi_schedule *schedule,
			   enum bcl_status status);

/* ---- the floor above ------------------------------------------------------
 */

enum {
	BCL_ADI_OOB_WORDS = 3,
};

struct bcl_adi_oob {
	uint64_t word[BCL_ADI_OOB_WORDS];
};

/* The state that the floor above keeps with the job. */
struct bcl_adi_client {
	/* A rank has sent a notice. Lock held. */
	void (*oob)(struct bcl_adi_client *client, unsigned rank,
		    const struct bcl_adi_oob *oob);
	/* NULL, or: this rank has waited long, and will be told again if it
	 * goes on. True: a notice was sent. Lock held. */
	bool (*wait)(struct bcl_adi_client *client);
	/* The job is being closed. */
	void (*close)(struct bcl_adi_client *client);
};

/* Where it is kept; NULL at first. */
struct bcl_adi_client **bcl_adi_client(struct bcl_adi *adi);

/* Send words to another rank's client, beside all messages. Nothing happens
 * if the rank is lost, or has no client, or there is no memory. */
void bcl_adi_oob_send(struct bcl_adi *adi, unsigned rank,
		      const struct bcl_adi_oob *oob);

/* ---- the engine --------------------------------------------------------- */

void bcl_adi_lock(struct bcl_adi *adi);
void bcl_adi_unlock(struct bcl_adi *adi);

/* One turn; true if there was anything to do. */
bool bcl_adi_turn(struct bcl_adi *adi);

/*
 * One step of waiting for memory that another process writes, after a turn
 * that found nothing: spins, then yields, then naps for at most a
 * millisecond, since nothing would wake it; other threads get the lock
 * meanwhile. Start with a zeroed bcl_adi_idle, zero it when something came.
 */
struct bcl_adi_idle {
	unsigned turns; /* since the last look at the clock */
	uint64_t until; /* now() time: then yields are over, too */
};
void bcl_adi_idle(struct bcl_adi *adi, struct bcl_adi_idle *idle);

/*
 * The same in two parts, where whoever writes wakes this rank with
 * bcl_adi_oob_send(). Spin or yield; false: it is time to sleep.
 */
bool bcl_adi_linger(struct bcl_adi *adi, struct bcl_adi_idle *idle);
/* Sleep until something comes, at most so many ns. */
void bcl_adi_sleep(struct bcl_adi *adi, uint64_t ns);

/* OK, or why this rank is lost. */
enum bcl_status bcl_adi_rank_status(const struct bcl_adi *adi, unsigned rank);

/* The page of the job's port: for what is counted with the lock held. */
struct bcl_counter_page *bcl_adi_counters(const struct bcl_adi *adi);

/* What the job stands on. */
const struct bcl_env *bcl_adi_env(const struct bcl_adi *adi);

#endif
