/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* SEND: chooses, packs and transmits. */
#ifndef NICFW_SEND_H
#define NICFW_SEND_H

#include <nicfw/card.h>

void bcl_nic_send(struct bcl_card *card, unsigned *budget);
/*
 * Send the first message of an idle flow without queueing it, if nothing else
 * waits and the port has submitted nothing more to share the frame with.
 * Returns false if the caller must queue the message.
 */
bool bcl_nic_send_alone(struct bcl_card *card, struct nic_message *message);
void bcl_nic_send_ready(struct bcl_card *card, unsigned rail);

#endif
