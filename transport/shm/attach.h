/* SPDX-License-Identifier: MIT */
/*
 * Cross-memory attach: copies between the memory of this process and the memory
 * of a peer, by the system (process_vm_readv), or else by a card in the kernel.
 * Both processes belong to one user.
 */
#ifndef BCL_SHM_ATTACH_H
#define BCL_SHM_ATTACH_H

#include <stddef.h>
#include <stdint.h>

#include <bcl/status.h>

struct bcl_connection;
struct bcl_env;

/* Let the other ranks of this host attach to this process. */
void bcl_attach_admit(const struct bcl_env *env);

/*
 * OK: all bytes were copied. MEMORY: memory of the peer or of this process is
 * not mapped. DEAD: no such process. PERM: attach is forbidden. If a call
 * fails, some bytes may have been copied.
 */
enum bcl_status bcl_attach_read(const struct bcl_connection *connection,
				void *local, uint64_t remote, size_t length);
enum bcl_status bcl_attach_write(const struct bcl_connection *connection,
				 const void *local, uint64_t remote,
				 size_t length);

/*
 * Choose the way of the copies, and prove that this way reaches the peer's
 * process: read the nonce at the address in the greeting, then write the word
 * `scratch` to the scratch address. The process id alone proves nothing: with
 * process id namespaces the same number may be another process here. MEMORY:
 * the nonce is another.
 */
enum bcl_status bcl_attach_prove(struct bcl_connection *connection,
				 uint64_t scratch);

#endif
