/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Who has the job's key shows it by what only he can compute over a HELLO, a
 * HELLO_ACK, or the PING behind them. The three can not be taken for one
 * another.
 */
#ifndef NICFW_PROOF_H
#define NICFW_PROOF_H

#include <bcl/wire.h>

/* What `hello->proof` must be, behind such a frame header. `kind` without
 * flags. */
uint64_t bcl_nic_proof(const uint8_t *key, uint8_t kind,
		       const struct bcl_frame_header *header,
		       const struct bcl_hello *hello);
/* What hides `hello->seal` from those without the key. */
uint32_t bcl_nic_proof_veil(const uint8_t *key, uint8_t kind,
			    const struct bcl_frame_header *header,
			    const struct bcl_hello *hello);

#endif
