/* SPDX-License-Identifier: MIT */
/* Functions that the code under test calls only in tests that define the
 * function. */
#include "tests/weak/weak.h"

#define ABSENT(function)                                                \
	__attribute__((weak)) void function(void);                      \
	void function(void)                                             \
	{                                                               \
		weak_fail(__FILE__, __LINE__, "no call of " #function); \
	}

ABSENT(bcl_bell_ring)
ABSENT(bcl_bell_take)
ABSENT(bcl_bounce_fed)
ABSENT(bcl_bounce_feed)
ABSENT(bcl_bounce_fill)
ABSENT(bcl_bounce_reserve)
ABSENT(bcl_bounce_room)
ABSENT(bcl_fed_begin)
ABSENT(bcl_fed_drain)
ABSENT(bcl_fed_ready)
ABSENT(bcl_host_accept)
ABSENT(bcl_card_doorbell)
ABSENT(bcl_host_exclusive)
ABSENT(bcl_host_fds)
ABSENT(bcl_host_offer_ended)
ABSENT(bcl_host_receive)
ABSENT(bcl_host_release)
ABSENT(bcl_host_report)
ABSENT(bcl_host_sleep)
ABSENT(bcl_host_watch)
ABSENT(bcl_channel_done)
ABSENT(bcl_channel_filled)
ABSENT(bcl_connection_end)
ABSENT(bcl_connection_lives)
ABSENT(bcl_leave_take)
ABSENT(bcl_log)
ABSENT(bcl_rma_begin)
ABSENT(bcl_rma_serve)
ABSENT(bcl_nic_dma_job)
ABSENT(bcl_notify_take)
ABSENT(bcl_offer_fetch)
ABSENT(bcl_offer_join)
ABSENT(bcl_offer_read)
ABSENT(bcl_pair_unusual)
ABSENT(bcl_posted_take)
ABSENT(bcl_self_release)
ABSENT(bcl_shm_progress)
