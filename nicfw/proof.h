/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The proof of the job's key: only an owner of the key can compute it over a
 * HELLO, a HELLO_ACK, or the PING behind them. The proof of one kind is not
 * valid for another.
 */
#ifndef NICFW_PROOF_H
#define NICFW_PROOF_H

#include <bcl/wire.h>

/*
 * The right value of `hello->proof`, in a frame with this header. `kind` is
 * without flags.
 */
uint64_t bcl_nic_proof(const uint8_t *key, uint8_t kind,
		       const struct bcl_frame_header *header,
		       const struct bcl_hello *hello);
/* The value that is xored with `hello->seal` to hide it. */
uint32_t bcl_nic_proof_veil(const uint8_t *key, uint8_t kind,
			    const struct bcl_frame_header *header,
			    const struct bcl_hello *hello);

#endif
