/* SPDX-License-Identifier: MIT */
/*
 * A job without a launcher: processes forked by one parent, which may exec.
 * They meet in memory that they inherit.
 */
#ifndef BCL_BOOT_FORK_H
#define BCL_BOOT_FORK_H

#include <sys/types.h>

#include <bcl/status.h>

struct bcl_boot_job;

/* The parent's side: room for a job of `size` ranks. */
enum bcl_status bcl_boot_job_open(unsigned size, struct bcl_boot_job **job);

/*
 * In the forked child that becomes `rank`: sets BCL_BOOT, so that
 * bcl_boot_open() here, or after an exec, joins the job. May be called again
 * for a process that takes the place of one that has died.
 */
enum bcl_status bcl_boot_job_enter(struct bcl_boot_job *job, unsigned rank);

/* A rank has ended: fences fail from now on, instead of waiting for it. */
void bcl_boot_job_ended(struct bcl_boot_job *job);

/* Children that entered go on. */
void bcl_boot_job_close(struct bcl_boot_job *job);

/*
 * All of it: fork `size` processes, in each call run(rank, argument) and exit
 * with what it returns; wait for all. Returns the number of ranks that ended
 * with anything but 0 (each is reported on stderr), or -1.
 */
int bcl_boot_job_run(unsigned size, int (*run)(unsigned rank, void *argument),
		     void *argument);

#endif
