/* SPDX-License-Identifier: MIT */
/* Windows: packets do it all, in order. */
#include "channel.h"

int MPIDI_CH3_Win_fns_init(MPIDI_CH3U_Win_fns_t *functions)
{
	(void)functions;
	return MPI_SUCCESS;
}

int MPIDI_CH3_Win_hooks_init(MPIDI_CH3U_Win_hooks_t *hooks)
{
	(void)hooks;
	return MPI_SUCCESS;
}

int MPIDI_CH3_Win_pkt_orderings_init(MPIDI_CH3U_Win_pkt_ordering_t *orderings)
{
	orderings->am_flush_ordered = 1;
	return MPI_SUCCESS;
}
