/* SPDX-License-Identifier: MIT */
/* Messages of schedules, and their turns. internal.h describes schedules. */
#ifndef BCL_ADI_SCHEDULE_H
#define BCL_ADI_SCHEDULE_H

#include "adi/job.h"

/* ---- lanes.c ---- */

/* Lets the next turn run the schedule. */
void bcl_adi_schedule_ready(struct bcl_adi *adi,
			    struct bcl_adi_schedule *schedule);
/* Counts a message in the schedule's present lane, until the message is
 * complete. */
void bcl_adi_schedule_link(struct bcl_adi_schedule *schedule,
			   struct bcl_adi_request *request);
/* Called when a receive of a schedule is over. Sets TRUNCATED if the message
 * was shorter or longer than the receive. */
void bcl_adi_schedule_check(struct bcl_adi *adi,
			    struct bcl_adi_request *request);
/* Called when a message of a schedule is complete. */
void bcl_adi_schedule_message(struct bcl_adi *adi,
			      struct bcl_adi_request *request);

/* ---- schedule.c ---- */

/* Starts a schedule with a new request. */
void bcl_adi_schedule_begin(struct bcl_adi *adi,
			    struct bcl_adi_schedule *schedule,
			    struct bcl_adi_request *request);
/* BCL_CHORE_SCHEDULES: advances all ready schedules. Returns true if one is
 * over. */
bool bcl_adi_schedules_serve(struct bcl_adi *adi);

#endif
