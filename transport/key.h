/* SPDX-License-Identifier: MIT */
/*
 * The 32 bytes that name a memory to peers (bcl_memory_key()). Little-endian,
 * at any address.
 */
#ifndef BCL_KEY_H
#define BCL_KEY_H

#include <string.h>

#include <bcl/bcl.h>
#include <bcl/wire.h>

enum bcl_key_flag {
	BCL_KEY_ALLOCATED = 0x100, /* or'ed to the rights: peers may map the
				    * memory */
};

struct bcl_key {
	uint64_t card;	 /* card id of the owner */
	uint64_t base;	 /* number by which other nodes address the first
			  * byte. Random, so that a node without the key
			  * cannot name the memory, but equal to its address
			  * modulo 8, for atomics */
	uint64_t length; /* bytes */
	uint32_t handle; /* slot | generation << 16 */
	uint32_t rights; /* enum bcl_memory_rights, enum bcl_key_flag */
};

struct bcl_key_bytes {
	struct bcl_le64 card, base, length;
	struct bcl_le32 handle, rights;
};

bcl_static_assert(sizeof(struct bcl_key_bytes) == BCL_KEY_MAX, "key");

static inline void bcl_key_pack(const struct bcl_key *key, void *bytes)
{
	struct bcl_key_bytes b = {
		.card = bcl_put64(key->card),
		.base = bcl_put64(key->base),
		.length = bcl_put64(key->length),
		.handle = bcl_put32(key->handle),
		.rights = bcl_put32(key->rights),
	};

	memcpy(bytes, &b, sizeof(b));
}

static inline struct bcl_key bcl_key_unpack(const void *bytes)
{
	struct bcl_key_bytes b;

	memcpy(&b, bytes, sizeof(b));
	return (struct bcl_key){
		.card = bcl_get64(b.card),
		.base = bcl_get64(b.base),
		.length = bcl_get64(b.length),
		.handle = bcl_get32(b.handle),
		.rights = bcl_get32(b.rights),
	};
}

/* True if [offset, offset + length) lies in the memory and the key grants
 * `rights`. */
static inline bool bcl_key_allows(const struct bcl_key *key, uint64_t offset,
				  uint64_t length, unsigned rights)
{
	return (key->rights & rights) == rights && offset <= key->length &&
	       length <= key->length - offset;
}

#endif
