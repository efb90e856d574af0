/* SPDX-License-Identifier: MIT */
/* What the code under test could call, and in these tests never does. */
#include "tests/weak/weak.h"

#define ABSENT(function)                                                \
	void function(void);                                            \
	void function(void)                                             \
	{                                                               \
		weak_fail(__FILE__, __LINE__, "no call of " #function); \
	}

ABSENT(bcl_card_counters)
ABSENT(bcl_card_deadline)
ABSENT(bcl_card_drained)
ABSENT(bcl_card_expected)
ABSENT(bcl_card_timer)
ABSENT(bcl_card_transmit_ready)
ABSENT(bcl_card_fds)
ABSENT(bcl_card_nodes)
ABSENT(bcl_card_poll)
ABSENT(bcl_card_receive)
ABSENT(bcl_card_release)
ABSENT(bcl_card_sleep)
ABSENT(bcl_card_watch)
ABSENT(bcl_channel_filled)
ABSENT(bcl_log)
ABSENT(bcl_message_handle)
ABSENT(bcl_self_release)
ABSENT(bcl_shm_progress)
