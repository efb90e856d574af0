/* SPDX-License-Identifier: MIT */
/* Checksums as on a host without CRC instructions, and proofs of handshakes. */
#include <string.h>

#include <nicfw/proof.h>

#include "card_world.h"

uint32_t world_crc32c(void *host, uint32_t crc, void *to, const void *data,
		      uint32_t length)
{
	static uint32_t table[256];
	const uint8_t *at = data;

	(void)host;
	if (!table[1])
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t v = i;

			for (int k = 0; k < 8; k++)
				v = v >> 1 ^ (v & 1 ? 0x82f63b78 : 0);
			table[i] = v;
		}
	if (to)
		memcpy(to, data, length);
	crc = ~crc;
	while (length--)
		crc = crc >> 8 ^ table[(crc ^ *at++) & 0xff];
	return ~crc;
}

uint32_t world_headers_crc(void *host, const void *headers)
{
	const uint8_t *at = headers;

	return world_crc32c(host, world_crc32c(host, 0, NULL, at, 32), NULL,
			    at + 40, 40);
}

uint32_t world_seal_of(const uint8_t *frame)
{
	const struct bcl_frame_header *header = (const void *)frame;

	return bcl_get32(header->hcrc) ^ world_headers_crc(NULL, frame);
}

void world_seal(uint8_t *frame, uint32_t length, uint32_t seal)
{
	struct bcl_frame_header *header = (void *)frame;

	header->pcrc =
		bcl_put32(world_crc32c(NULL, 0, NULL, frame + 80, length - 80));
	header->hcrc = bcl_put32(world_headers_crc(NULL, frame) ^ seal);
}

void world_prove(uint8_t *frame, uint32_t length, const uint8_t *key)
{
	struct bcl_frame_header *header = (void *)frame;
	uint8_t kind = header->kind & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK);
	struct bcl_hello *hello = (void *)(header + 1);

	if (kind == BCL_FRAME_HELLO || kind == BCL_FRAME_HELLO_ACK ||
	    (kind == BCL_FRAME_PING &&
	     length >= sizeof(*header) + sizeof(*hello)))
		hello->proof =
			bcl_put64(bcl_nic_proof(key, kind, header, hello));
}
