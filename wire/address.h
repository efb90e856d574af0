/* SPDX-License-Identifier: MIT */
/* An address of a port, and the blob that takes the address to peers. */
#ifndef BCL_ADDRESS_H
#define BCL_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcl/bcl.h>

#include "wire/rail.h"

/* An address blob, unpacked. */
struct bcl_address {
	uint64_t host; /* hash of host name, boot id and BCL_NODE */
	uint64_t card;
	uint8_t key[BCL_KEY_SIZE]; /* of the port's job */
	uint16_t number;
	uint8_t nwires;
	uint8_t second; /* bit w: wire w is the second rail of its kind */
	struct bcl_wire_address wire[BCL_WIRES_MAX];
};

/* True if a blob has room for all wires. */
bool bcl_address_fits(const struct bcl_wire_address *wires, unsigned n);
/*
 * Packs the address into a blob of BCL_ADDRESS_MAX bytes and returns the bytes
 * used. A wire for which there is no room is left out; a shorter wire behind it
 * may still have room.
 */
size_t bcl_address_pack(const struct bcl_address *address, void *blob);
/* ARG: the blob is malformed; VERSION: another version of the library made
 * it. */
enum bcl_status bcl_address_unpack(const void *blob, size_t length,
				   struct bcl_address *address);
/* Computes bcl_address.host from host name, boot id and virtual node. */
uint64_t bcl_address_host(const char *name, const uint8_t boot_id[16],
			  const char *node);

#endif
