/* SPDX-License-Identifier: MIT */
/*
 * The progress engine. One thread at a time sleeps in the library, without
 * MPICH's global lock. A condition variable tells the other waiting threads of
 * completions.
 */
#include "channel.h"

enum {
	EVENTS = 64, /* polls by one test, unless a request completes; a poll
		      * may handle several events */
};

volatile unsigned int MPIDI_CH3I_progress_completion_count;
volatile int bcl_ch3_asleep;

static int complaint;

#ifdef MPICH_IS_THREADED
static MPID_Thread_cond_t completion;
#endif

int bcl_ch3_progress_open(void)
{
	int error = 0;

#ifdef MPICH_IS_THREADED
	MPID_Thread_cond_create(&completion, &error);
#endif
	return error ? bcl_ch3_error(BCL_ERR_NOMEM) : MPI_SUCCESS;
}

void bcl_ch3_progress_close(void)
{
#ifdef MPICH_IS_THREADED
	int error;

	MPID_Thread_cond_destroy(&completion, &error);
#endif
}

void bcl_ch3_wake(void)
{
	bcl_adi_packet_wake(bcl_ch3_adi);
}

void bcl_ch3_complain(int mpi_errno)
{
	if (!complaint)
		complaint = mpi_errno;
	if (mpi_errno)
		MPIDI_CH3_Progress_signal_completion();
}

static int take_complaint(void)
{
	int mpi_errno = complaint;

	complaint = MPI_SUCCESS;
	return mpi_errno;
}

int bcl_ch3_test(void)
{
	const unsigned count = MPIDI_CH3I_progress_completion_count;
	int moved = 0, n = EVENTS;
	int mpi_errno = MPIR_Progress_hook_exec_all(&moved);

	moved |= bcl_ch3_pending_progress();
	if (mpi_errno || moved || bcl_ch3_asleep)
		return mpi_errno;
	while (n-- && bcl_adi_packet_poll(bcl_ch3_adi) &&
	       count == MPIDI_CH3I_progress_completion_count)
		;
	bcl_ch3_pending_progress();
	return take_complaint();
}

static int handle_next(void)
{
	enum bcl_status status = bcl_adi_packet_next(bcl_ch3_adi);

	return status ? bcl_ch3_error(status) : MPI_SUCCESS;
}

#ifdef MPICH_IS_THREADED

/* Waits while another thread sleeps in the library, until the sleeper
 * signals. */
static int sleep_beside(unsigned count)
{
	int error;

	while (bcl_ch3_asleep &&
	       count == MPIDI_CH3I_progress_completion_count) {
		MPID_Thread_cond_wait(
			&completion, &MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX, &error);
		MPIR_Assert(!error);
	}
	return MPI_SUCCESS;
}

static void sleep_inside(void)
{
	int error;

	bcl_ch3_asleep = TRUE;
	MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
	bcl_adi_packet_wait(bcl_ch3_adi, UINT64_MAX);
	MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
	bcl_ch3_asleep = FALSE;
	MPID_Thread_cond_broadcast(&completion, &error);
	MPIR_Assert(!error);
}

/* Handles events. Waits for one if there is none. */
static int handle_events(unsigned count)
{
	if (!MPIR_ThreadInfo.isThreaded)
		return handle_next();
	if (!bcl_adi_packet_poll(bcl_ch3_adi) &&
	    count == MPIDI_CH3I_progress_completion_count)
		sleep_inside();
	return MPI_SUCCESS;
}

#else

static int sleep_beside(unsigned count)
{
	(void)count;
	return MPI_SUCCESS;
}

static int handle_events(unsigned count)
{
	(void)count;
	return handle_next();
}

#endif

static int wait_for_events(unsigned count)
{
	return bcl_ch3_asleep ? sleep_beside(count) : handle_events(count);
}

/* Returns when a request has been completed since `state` was taken, or with an
 * error. */
int bcl_ch3_wait(MPID_Progress_state *state)
{
	unsigned count = state->ch.completion_count;
	int moved, mpi_errno;

	for (;;) {
		moved = 0;
		mpi_errno = MPIR_Progress_hook_exec_all(&moved);
		if (mpi_errno)
			break;
		if (moved)
			MPIDI_CH3_Progress_signal_completion();
		else if (!bcl_ch3_pending_progress())
			mpi_errno = wait_for_events(count);
		if (!mpi_errno)
			mpi_errno = take_complaint();
		if (mpi_errno || count != MPIDI_CH3I_progress_completion_count)
			break;
	}
	state->ch.completion_count = MPIDI_CH3I_progress_completion_count;
	return mpi_errno;
}
