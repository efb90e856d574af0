/* SPDX-License-Identifier: MIT */
/*
 * A job without a launcher: one parent forks the processes, which may exec.
 * They meet in memory that they inherit.
 */
#ifndef BCL_BOOT_FORK_H
#define BCL_BOOT_FORK_H

#include <sys/types.h>

#include <bcl/status.h>

struct bcl_boot_job;

/* Called by the parent: makes the memory for a job of `size` ranks. Errors:
 * ARG, NOMEM, SYSTEM. */
enum bcl_status bcl_boot_job_open(unsigned size, struct bcl_boot_job **job);

/*
 * Called in the forked child that becomes `rank`: sets BCL_BOOT, so that
 * bcl_boot_open() in this process, or after an exec, joins the job. The parent
 * may let a new process take the rank of a process that has died. NOMEM.
 */
enum bcl_status bcl_boot_job_enter(struct bcl_boot_job *job, unsigned rank);

/* Called by the parent when a rank has ended: from now on a fence fails
 * instead of waiting for the rank. */
void bcl_boot_job_ended(struct bcl_boot_job *job);

/* Frees the parent's part; children that entered the job continue. */
void bcl_boot_job_close(struct bcl_boot_job *job);

/*
 * Runs a whole job: forks `size` processes, calls run(rank, argument) in each,
 * exits the process with the result, and waits for all processes. Returns the
 * number of ranks that ended with anything but 0 (each is reported on stderr);
 * -1: the job could not be made.
 */
int bcl_boot_job_run(unsigned size, int (*run)(unsigned rank, void *argument),
		     void *argument);

#endif
