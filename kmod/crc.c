// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Checksums. Kernels before 6.14 compute CRC32C by tables, unless it is asked
 * for as a cipher, by way of a state and indirect calls. The crc32 instruction
 * of x86 needs no registers that the kernel would have to save.
 */
#include "compat.h"
#include "host.h"

#ifdef BCL_COMPAT_CRC_INSTRUCTION

static u32 crc_bytes(u32 crc, const u8 *data, size_t length)
{
	while (length--)
		asm("crc32b %1, %0" : "+r"(crc) : "rm"(*data++));
	return crc;
}

static u32 crc_by_instruction(u32 crc, const u8 *data, size_t length)
{
	u64 wide = crc;

	for (; length >= sizeof(u64);
	     length -= sizeof(u64), data += sizeof(u64))
		asm("crc32q %1, %0" : "+r"(wide) : "rm"(*(const u64 *)data));
	return crc_bytes(wide, data, length);
}

static bool has_instruction(void)
{
	return static_cpu_has(X86_FEATURE_XMM4_2);
}

#else

static u32 crc_by_instruction(u32 crc, const u8 *data, size_t length)
{
	return crc;
}

static bool has_instruction(void)
{
	return false;
}

#endif

u32 bcl_kmod_crc32c(u32 crc, const void *data, size_t length)
{
	if (has_instruction())
		return ~crc_by_instruction(~crc, data, length);
	return ~bcl_compat_crc32c(~crc, data, length);
}

u32 bcl_kmod_headers_crc(const void *headers)
{
	return bcl_kmod_crc32c(bcl_kmod_crc32c(0, headers, 32), headers + 40,
			       BCL_HEADERS_SIZE - 40);
}
