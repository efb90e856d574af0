/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Connections by the time of their next timer. */
#ifndef NICFW_DEADLINE_H
#define NICFW_DEADLINE_H

#include <nicfw/card.h>

void bcl_nic_deadline_add(struct bcl_card *card, struct nic_conn *conn);
void bcl_nic_deadline_remove(struct bcl_card *card, struct nic_conn *conn);
void bcl_nic_deadline_move(struct bcl_card *card, struct nic_conn *conn);

#endif
