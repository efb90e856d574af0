/* SPDX-License-Identifier: MIT */
/* The part of the channel that ch3's own files use. */
#ifndef MPIDI_CH3_IMPL_H_INCLUDED
#define MPIDI_CH3_IMPL_H_INCLUDED

#include "mpidimpl.h"

/* window.c: the lock of a window's shared memory. */
void bcl_ch3_window_lock(MPIR_Win *win);
void bcl_ch3_window_unlock(MPIR_Win *win);

#define MPIDI_CH3I_SHM_MUTEX_LOCK(win)	 bcl_ch3_window_lock(win)
#define MPIDI_CH3I_SHM_MUTEX_UNLOCK(win) bcl_ch3_window_unlock(win)

#endif
