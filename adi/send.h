/* SPDX-License-Identifier: MIT */
/* Sending of a short message that may leave at once, in line. */
#ifndef BCL_ADI_SEND_H
#define BCL_ADI_SEND_H

#include "adi/job.h"
#include "adi/peer.h"
#include "adi/protocol.h"
#include "transport/send.h"

/* The peer, if a message of this length may leave at once. NULL: it may not. */
static inline struct bcl_adi_peer *bcl_adi_direct(const struct bcl_adi *adi,
						  unsigned rank, size_t length)
{
	struct bcl_adi_peer *peer = bcl_adi_known(adi, rank);

	bcl_assert(!peer || !peer->direct || bcl_adi_peer_may_be_direct(peer));
	return peer && peer->direct && length <= adi->eager_max ? peer : NULL;
}

/* Sends a message of one piece if the message can leave at once. AGAIN: it must
 * wait. Other statuses: the send failed. */
static inline enum bcl_status __attribute__((always_inline))
bcl_adi_send_direct(struct bcl_adi *adi, unsigned rank, uint64_t key,
		    const void *data, size_t length)
{
	struct bcl_adi_peer *peer = bcl_adi_direct(adi, rank, length);
	enum bcl_status status;

	if (bcl_unlikely(!peer))
		return BCL_ERR_AGAIN;
	if (bcl_likely(bcl_send_is_short(peer->peer, length)))
		status = bcl_send_short(peer->peer, BCL_ADI_EAGER, key, data,
					length);
	else
		status = bcl_adi_send_piece(peer->peer, key, data, length);
	if (bcl_likely(status == BCL_OK))
		bcl_adi_sent(adi, peer);
	return status;
}

#endif
