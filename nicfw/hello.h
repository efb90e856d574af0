/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The handshake. */
#ifndef NICFW_HELLO_H
#define NICFW_HELLO_H

#include <nicfw/objects.h>

/*
 * Send HELLO on each rail that is up, has an address and is not proved (call),
 * or on one rail (say). Send PING on one rail (ping).
 */
void bcl_nic_hello_call(struct bcl_card *card, struct nic_conn *conn);
void bcl_nic_hello_say(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail);
void bcl_nic_hello_ping(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail);
/* `header` may be of a HELLO of any version: the other checks are made here. */
void bcl_nic_hello_received(struct bcl_card *card, unsigned rail,
			    const struct bcl_frame_header *header,
			    const struct bcl_hello *hello);
void bcl_nic_hello_answered(struct bcl_card *card, struct nic_conn *conn,
			    unsigned rail,
			    const struct bcl_frame_header *header,
			    const struct bcl_hello *hello);
void bcl_nic_hello_refused(struct bcl_card *card, uint32_t id,
			   const struct bcl_refuse *refuse);
/* A PING with a proof, perhaps an outdated one. */
void bcl_nic_hello_proved(struct bcl_card *card, struct nic_conn *conn,
			  unsigned rail, const struct bcl_frame_header *header,
			  const struct bcl_hello *hello);

#endif
