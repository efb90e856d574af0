/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Retransmission of frames, messages and parts of messages. */
#ifndef NICFW_RETRANSMIT_H
#define NICFW_RETRANSMIT_H

#include <nicfw/card.h>

void bcl_nic_retransmit_lost(struct bcl_card *card, struct nic_conn *conn,
			     unsigned rail, unsigned *budget);
void bcl_nic_retransmit_messages(struct bcl_card *card, struct nic_conn *conn,
				 unsigned *budget);
void bcl_nic_retransmit_parts(struct bcl_card *card, struct nic_conn *conn,
			      unsigned *budget);
/* The frame of a flight did not arrive: send its contents by any rail. */
void bcl_nic_retransmit_reroute(struct bcl_card *card, struct nic_conn *conn,
				struct nic_flight *flight);

#endif
