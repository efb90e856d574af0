/* SPDX-License-Identifier: MIT */
/*
 * Cross-memory attach: copies between the memory of this process and the memory
 * of a peer. Both processes belong to one user.
 */
#ifndef BCL_SHM_ATTACH_H
#define BCL_SHM_ATTACH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "env/env.h"

/* Let the other ranks of this host attach to this process. */
void bcl_attach_admit(const struct bcl_env *env);

/*
 * OK: all bytes were copied. MEMORY: memory of the peer or of this process is
 * not mapped. DEAD: no such process. PERM: the system forbids attach. If a call
 * fails, some bytes may have been copied.
 */
enum bcl_status bcl_attach_read(const struct bcl_env *env, pid_t pid,
				void *local, uint64_t remote, size_t length);
enum bcl_status bcl_attach_write(const struct bcl_env *env, pid_t pid,
				 const void *local, uint64_t remote,
				 size_t length);

/*
 * Prove that `pid` is the process that named a nonce and its address: read the
 * nonce there, then write the word `scratch` to scratch_address. The number
 * alone proves nothing: with process id namespaces the same number may be
 * another process here. MEMORY: the nonce is another.
 */
enum bcl_status bcl_attach_prove(const struct bcl_env *env, pid_t pid,
				 uint64_t nonce_address, uint64_t nonce,
				 uint64_t scratch_address, uint64_t scratch);

#endif
