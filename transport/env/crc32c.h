/* SPDX-License-Identifier: MIT */
/*
 * CRC32C (Castagnoli, reflected, as in iSCSI): begins with 0, may be continued
 * over pieces. The best way that the processor has is chosen at run time.
 */
#ifndef BCL_CRC32C_H
#define BCL_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint32_t bcl_crc32c(uint32_t crc, const void *data, size_t length);

/* The same, and a memcpy() at once: the data is read once. */
uint32_t bcl_crc32c_copy(uint32_t crc, void *to, const void *data,
			 size_t length);

/* Of the 80 bytes of headers that a frame begins with (bcl/wire.h), but for
 * the checksums themselves, bytes 32 to 39. */
uint32_t bcl_crc32c_headers(const void *headers);

/* The ways there are, fastest first; the last is always usable. */
struct bcl_crc32c_way {
	const char *name;
	bool (*usable)(void);
	uint32_t (*run)(uint32_t crc, const void *data, size_t length);
};

extern const struct bcl_crc32c_way bcl_crc32c_ways[];
extern const unsigned bcl_crc32c_nways;

#endif
