/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Destinations of messages that come in. */
#ifndef NICFW_DESTINATION_H
#define NICFW_DESTINATION_H

#include <nicfw/channel.h>

/* Find the destination of a message, and reserve it. */
enum nic_outcome bcl_nic_destination_find(struct bcl_card *card,
					  struct nic_conn *conn,
					  struct nic_inbound *inbound);
/* The message is not delivered: keep its block, if any, for the next one. */
void bcl_nic_destination_spare(struct nic_inbound *inbound);

#endif
