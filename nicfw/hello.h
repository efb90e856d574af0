/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The frames of the handshake that this card sends. */
#ifndef NICFW_HELLO_H
#define NICFW_HELLO_H

#include <nicfw/card.h>

/*
 * Send HELLO on each rail that is up, has an address and is not proved (call),
 * or on one rail (say). Send PING on one rail (ping).
 */
void bcl_nic_hello_call(struct bcl_card *card, struct nic_conn *conn);
void bcl_nic_hello_say(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail);
void bcl_nic_hello_ping(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail);
/*
 * Answer a HELLO. All HELLO_ACKs of an exchange have one nonce. The exchange
 * ends with the PING that repeats the nonce.
 */
void bcl_nic_hello_ack(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail, const uint8_t *key,
		       const struct bcl_hello *hello);

#endif
