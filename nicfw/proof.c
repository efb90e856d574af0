/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The proof of the job's key in the handshake, by SipHash: see proof.h, and
 * struct bcl_hello in bcl/wire.h.
 */
#include <nicfw/proof.h>

#include <nicfw/memory.h>
#include <nicfw/siphash.h>

enum {
	VEIL = 0x80, /* or'ed to the kind: computes the veil */
};

/*
 * The input of SipHash: the fields that both sides know, up to the field that
 * is computed.
 */
struct statement {
	uint8_t kind;
	uint8_t spare[3];
	struct bcl_le32 conn;
	struct bcl_le64 card;
	uint8_t hello[offsetof(struct bcl_hello, proof)];
};

static uint64_t compute(const uint8_t *key, uint8_t kind,
			const struct bcl_frame_header *header,
			const struct bcl_hello *hello, uint32_t length)
{
	struct statement statement = {
		.kind = kind,
		.conn = header->conn,
		.card = header->card,
	};

	memcpy(statement.hello, hello, length);
	return bcl_nic_siphash(key, &statement,
			       (uint32_t)offsetof(struct statement, hello) +
				       length);
}

uint64_t bcl_nic_proof(const uint8_t *key, uint8_t kind,
		       const struct bcl_frame_header *header,
		       const struct bcl_hello *hello)
{
	return compute(key, kind, header, hello,
		       offsetof(struct bcl_hello, proof));
}

uint32_t bcl_nic_proof_veil(const uint8_t *key, uint8_t kind,
			    const struct bcl_frame_header *header,
			    const struct bcl_hello *hello)
{
	return (uint32_t)compute(key, kind | VEIL, header, hello,
				 offsetof(struct bcl_hello, seal));
}
