/* SPDX-License-Identifier: MIT */
/* The progress engine: turns, waits, and the keepalives of a long wait. */
#ifndef BCL_ADI_PROGRESS_H
#define BCL_ADI_PROGRESS_H

#include "adi/job.h"
#include "adi/request.h"

/* ---- progress.c ---- */

/* Handles the result of bcl_poll() or bcl_poll_pair(), which is not EMPTY. */
void bcl_adi_polled(struct bcl_adi *adi, enum bcl_status status,
		    const struct bcl_event *event);
/* Does what adi->chores says. Returns true if a request or a schedule
 * advanced. */
bool bcl_adi_do_chores(struct bcl_adi *adi);

/* Turns until the request is done; it is not done at the call. A turn takes up
 * to `most` messages. Returns false if turns have found nothing for a while,
 * and for a job with threads. */
bool bcl_adi_spin_for(struct bcl_adi *adi, struct bcl_adi_request *request,
		      unsigned most);

/* ---- wait.c ---- */

/*
 * Turns until a request is done, and stores the position of the request in
 * *index. Lock held; released while nothing happens. Error statuses: the job is
 * broken.
 */
enum bcl_status bcl_adi_wait_any(struct bcl_adi *adi,
				 struct bcl_adi_request *const *requests,
				 unsigned n, unsigned *index);

/* The same for one request. */
enum bcl_status bcl_adi_wait_one(struct bcl_adi *adi,
				 struct bcl_adi_request *request);

/* Turns until the request is done; it is not done at the call. A turn takes up
 * to `most` messages, more than 1 if the caller waits for further requests; of
 * a job with threads, 1. Error statuses: the job is broken. */
static inline enum bcl_status bcl_adi_wait_for(struct bcl_adi *adi,
					       struct bcl_adi_request *request,
					       unsigned most)
{
	return bcl_likely(bcl_adi_spin_for(adi, request, most))
		       ? BCL_OK
		       : bcl_adi_wait_one(adi, request);
}

static inline enum bcl_status bcl_adi_wait_done(struct bcl_adi *adi,
						struct bcl_adi_request *request)
{
	return request->state == BCL_REQUEST_DONE
		       ? BCL_OK
		       : bcl_adi_wait_for(adi, request, 1);
}

/* Called after a turn that found nothing. Spins, yields or sleeps, at most
 * until `end` (now() time). See bcl_adi_idle(). */
void bcl_adi_rest(struct bcl_adi *adi, struct bcl_adi_idle *idle, uint64_t end);

/* ---- keepalive.c ---- */

/* Called before a wait sleeps until *end. Moves *end to the time of the next
 * call if that is earlier. Returns true if keepalives were sent: the caller
 * turns again instead of sleeping. */
bool bcl_adi_keepalive(struct bcl_adi *adi, uint64_t now, uint64_t *end);

#endif
