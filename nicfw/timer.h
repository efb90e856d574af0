/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The timers of a connection. */
#ifndef NICFW_TIMER_H
#define NICFW_TIMER_H

#include <nicfw/card.h>

/* The earliest timer of the connection is due. The connection may end. */
void bcl_nic_timer(struct bcl_card *card, struct nic_conn *conn);

#endif
