/* SPDX-License-Identifier: MIT */
/* Checksums for a card whose core runs in this process: crc32c and headers_crc
 * of struct bcl_hal. */
#ifndef BCL_CARD_CHECKSUM_H
#define BCL_CARD_CHECKSUM_H

#include <stdint.h>

uint32_t bcl_host_crc32c(void *host, uint32_t crc, void *to, const void *data,
			 uint32_t length);
uint32_t bcl_host_headers_crc(void *host, const void *headers);

#endif
