/* SPDX-License-Identifier: MIT */
/* What files of ch3 take from the channel. */
#ifndef MPIDI_CH3_IMPL_H_INCLUDED
#define MPIDI_CH3_IMPL_H_INCLUDED

#include "mpidimpl.h"

#define MPIDI_CH3I_SHM_MUTEX_LOCK(win)
#define MPIDI_CH3I_SHM_MUTEX_UNLOCK(win)
#define MPIDI_CH3I_SHM_MUTEX_INIT(win)
#define MPIDI_CH3I_SHM_MUTEX_DESTROY(win)

#endif
