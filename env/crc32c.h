/* SPDX-License-Identifier: MIT */
/*
 * CRC32C (Castagnoli, reflected, as in iSCSI). A CRC begins with 0, and may be
 * continued over several pieces. Each call chooses an implementation by the
 * features of the processor and the length.
 */
#ifndef BCL_CRC32C_H
#define BCL_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint32_t bcl_crc32c(uint32_t crc, const void *data, size_t length);

/* Computes the CRC and copies the data to `to`: the data is read once. */
uint32_t bcl_crc32c_copy(uint32_t crc, void *to, const void *data,
			 size_t length);

/* Computes the CRC of the 80 bytes of headers at the beginning of a frame
 * (bcl/wire.h), without the checksum fields, bytes 32 to 39. */
uint32_t bcl_crc32c_headers(const void *headers);

/* The implementations, fastest first; the last is always usable. */
struct bcl_crc32c_way {
	const char *name;
	bool (*usable)(void);
	uint32_t (*run)(uint32_t crc, const void *data, size_t length);
};

extern const struct bcl_crc32c_way bcl_crc32c_ways[];
extern const unsigned bcl_crc32c_nways;

#endif
