/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The handshake: frames of the peer. */
#ifndef NICFW_HANDSHAKE_H
#define NICFW_HANDSHAKE_H

#include <nicfw/card.h>

/* `header` may be of a HELLO of any version: the other checks are made here. */
void bcl_nic_handshake_received(struct bcl_card *card, unsigned rail,
				const struct bcl_frame_header *header,
				const struct bcl_hello *hello);
void bcl_nic_handshake_answered(struct bcl_card *card, struct nic_conn *conn,
				unsigned rail,
				const struct bcl_frame_header *header,
				const struct bcl_hello *hello);
void bcl_nic_handshake_refused(struct bcl_card *card, uint32_t id,
			       const struct bcl_refuse *refuse);
/* A PING with a proof, perhaps an outdated one. */
void bcl_nic_handshake_proved(struct bcl_card *card, struct nic_conn *conn,
			      unsigned rail,
			      const struct bcl_frame_header *header,
			      const struct bcl_hello *hello);

#endif
