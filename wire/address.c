/* SPDX-License-Identifier: MIT */
/*
 * Packs and unpacks the address blob of a port, little-endian (offset, content,
 * bytes):
 *
 *	 0  version, 1
 *	 1  number of wires; bit 2 + w: wire w is the second rail of its kind
 *	    (the first wire cannot be), 1
 *	 2  port, 2
 *	 4  host, 8
 *	12  card, 8
 *	20  job key, 16
 *	36  wires: kind << 5 | length, 1; address, length
 */
#include <string.h>

#include "wire/address.h"

enum {
	VERSION = 3,
	HEAD = 36,
	COUNT_BITS = 3,
	LENGTH_BITS = 5,
	LENGTH_MASK = (1 << LENGTH_BITS) - 1,
};

static uint8_t *append_bytes(uint8_t *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	return to + n;
}

bool bcl_address_fits(const struct bcl_wire_address *wires, unsigned n)
{
	size_t length = HEAD;

	while (n--)
		length += 1 + wires[n].length;
	return length <= BCL_ADDRESS_MAX;
}

size_t bcl_address_pack(const struct bcl_address *address, void *blob)
{
	const struct bcl_le16 number = bcl_put16(address->number);
	const struct bcl_le64 host = bcl_put64(address->host);
	const struct bcl_le64 card = bcl_put64(address->card);
	uint8_t *start = blob, *p = start + 2;
	unsigned n = 0;

	start[0] = VERSION;
	start[1] = 0;
	p = append_bytes(p, &number, 2);
	p = append_bytes(p, &host, 8);
	p = append_bytes(p, &card, 8);
	p = append_bytes(p, address->key, BCL_KEY_SIZE);
	for (unsigned i = 0; i < address->nwires; i++) {
		const struct bcl_wire_address *wire = &address->wire[i];

		if (p + 1 + wire->length > start + BCL_ADDRESS_MAX)
			continue; /* a shorter wire may have room */
		*p++ = (uint8_t)(wire->kind << LENGTH_BITS | wire->length);
		p = append_bytes(p, wire->bytes, wire->length);
		if (n && address->second >> i & 1)
			start[1] |= (uint8_t)(1 << (COUNT_BITS - 1 + n));
		start[1]++;
		n++;
	}
	return (size_t)(p - start);
}

enum bcl_status bcl_address_unpack(const void *blob, size_t length,
				   struct bcl_address *address)
{
	const uint8_t *p = blob, *end = p + length;
	struct bcl_le16 number;
	struct bcl_le64 host, card;
	unsigned nwires;

	if (length && p[0] != VERSION)
		return BCL_ERR_VERSION;
	if (length < HEAD || length > BCL_ADDRESS_MAX)
		return BCL_ERR_ARG;
	nwires = p[1] & ((1 << COUNT_BITS) - 1);
	memcpy(&number, p + 2, 2);
	memcpy(&host, p + 4, 8);
	memcpy(&card, p + 12, 8);
	*address = (struct bcl_address){
		.host = bcl_get64(host),
		.card = bcl_get64(card),
		.number = bcl_get16(number),
		.second = (uint8_t)(p[1] >> COUNT_BITS << 1),
	};
	memcpy(address->key, p + 20, BCL_KEY_SIZE);
	if (!address->number || !address->card || nwires > BCL_WIRES_MAX ||
	    address->second >> nwires)
		return BCL_ERR_ARG;
	for (p += HEAD; nwires; nwires--) {
		struct bcl_wire_address *wire =
			&address->wire[address->nwires++];

		if (p == end)
			return BCL_ERR_ARG;
		wire->kind = *p >> LENGTH_BITS;
		wire->length = *p++ & LENGTH_MASK;
		if (wire->length > sizeof(wire->bytes) ||
		    wire->length > end - p)
			return BCL_ERR_ARG;
		memcpy(wire->bytes, p, wire->length);
		p += wire->length;
	}
	return p == end ? BCL_OK : BCL_ERR_ARG;
}

/* FNV-1a over 64 bits (Fowler, Noll, Vo). */
static uint64_t hash(uint64_t h, const void *data, size_t n)
{
	for (const uint8_t *p = data; n--; p++)
		h = (h ^ *p) * 0x100000001b3;
	return h;
}

uint64_t bcl_address_host(const char *name, const uint8_t boot_id[16],
			  const char *node)
{
	uint64_t h = hash(0xcbf29ce484222325, name, strlen(name) + 1);

	return hash(hash(h, boot_id, 16), node, strlen(node) + 1);
}
