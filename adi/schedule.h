/* SPDX-License-Identifier: MIT */
/* Messages of schedules, and their turns. internal.h describes schedules. */
#ifndef BCL_ADI_SCHEDULE_H
#define BCL_ADI_SCHEDULE_H

#include "adi/job.h"

/* Called when a receive of a schedule is over. Sets TRUNCATED if the message
 * was shorter or longer than the receive. */
void bcl_adi_schedule_check(struct bcl_adi *adi,
			    struct bcl_adi_request *request);
/* Called when a message of a schedule is complete. */
void bcl_adi_schedule_message(struct bcl_adi *adi,
			      struct bcl_adi_request *request);
/* BCL_CHORE_SCHEDULES: advances all ready schedules. Returns true if one is
 * over. */
bool bcl_adi_schedules_serve(struct bcl_adi *adi);

#endif
