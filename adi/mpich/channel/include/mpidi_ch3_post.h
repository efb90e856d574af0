/* SPDX-License-Identifier: MIT */
/* The progress engine, as ch3 calls it. */
#ifndef MPIDI_CH3_POST_H_INCLUDED
#define MPIDI_CH3_POST_H_INCLUDED

#define MPIDI_CH3_Progress_start(state) \
	((state)->ch.completion_count = MPIDI_CH3I_progress_completion_count)
#define MPIDI_CH3_Progress_end(state) ((void)(state))

int bcl_ch3_test(void);
int bcl_ch3_wait(MPID_Progress_state *state);

#define MPIDI_CH3_Progress_test()      bcl_ch3_test()
#define MPIDI_CH3_Progress_poke()      bcl_ch3_test()
#define MPIDI_CH3_Progress_wait(state) bcl_ch3_wait(state)

#endif
