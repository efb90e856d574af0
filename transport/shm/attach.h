/* SPDX-License-Identifier: MIT */
/*
 * Cross-memory attach: copies between this process's memory and a peer's,
 * both of one user.
 */
#ifndef BCL_SHM_ATTACH_H
#define BCL_SHM_ATTACH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "transport/env/env.h"

/*
 * OK: all bytes were copied. MEMORY: the peer's or the own memory is not
 * there. DEAD: no such process. PERM: the system forbids it. Some bytes may
 * have been copied when it fails.
 */
enum bcl_status bcl_attach_read(const struct bcl_env *env, pid_t pid,
				void *local, uint64_t remote, size_t length);
enum bcl_status bcl_attach_write(const struct bcl_env *env, pid_t pid,
				 const void *local, uint64_t remote,
				 size_t length);

/*
 * Prove that `pid` is the process that named a nonce at an address of its own,
 * by reading it, then write a word there. With process id namespaces a number
 * alone may be another process here.
 */
enum bcl_status bcl_attach_prove(const struct bcl_env *env, pid_t pid,
				 uint64_t nonce_address, uint64_t nonce,
				 uint64_t scratch_address, uint64_t scratch);

#endif
