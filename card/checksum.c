/* SPDX-License-Identifier: MIT */
/* Checksums for a card whose core runs in this process, by the CRC32C code of
 * env/. See checksum.h. */
#include "card/checksum.h"

#include "env/crc32c.h"

uint32_t bcl_host_crc32c(void *host, uint32_t crc, void *to, const void *data,
			 uint32_t length)
{
	(void)host;
	return to ? bcl_crc32c_copy(crc, to, data, length)
		  : bcl_crc32c(crc, data, length);
}

uint32_t bcl_host_headers_crc(void *host, const void *headers)
{
	(void)host;
	return bcl_crc32c_headers(headers);
}
