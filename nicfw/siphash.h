/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * SipHash-2-4 (Aumasson, Bernstein, "SipHash: a fast short-input PRF", 2012):
 * 64 bits that look random to everybody without the key.
 */
#ifndef NICFW_SIPHASH_H
#define NICFW_SIPHASH_H

#include <stdint.h>

enum {
	NIC_SIPHASH_KEY = 16, /* bytes */
};

uint64_t bcl_nic_siphash(const uint8_t *key, const void *bytes,
			 uint32_t length);

#endif
