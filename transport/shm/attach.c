/* SPDX-License-Identifier: MIT */
/* Copies by attach, through the host's table; see attach.h. */
#include "transport/shm/attach.h"

#include "transport/shm/host.h"

void bcl_attach_admit(const struct bcl_env *env)
{
	env->shm_host->admit(env->world);
}

enum bcl_status bcl_attach_read(const struct bcl_env *env, pid_t pid,
				void *local, uint64_t remote, size_t length)
{
	return env->shm_host->read(env->world, pid, local, remote, length);
}

enum bcl_status bcl_attach_write(const struct bcl_env *env, pid_t pid,
				 const void *local, uint64_t remote,
				 size_t length)
{
	return env->shm_host->write(env->world, pid, local, remote, length);
}

enum bcl_status bcl_attach_prove(const struct bcl_env *env, pid_t pid,
				 uint64_t nonce_address, uint64_t nonce,
				 uint64_t scratch_address, uint64_t scratch)
{
	enum bcl_status status;
	uint64_t seen;

	status = bcl_attach_read(env, pid, &seen, nonce_address, sizeof(seen));
	if (status)
		return status;
	if (seen != nonce)
		return BCL_ERR_MEMORY;
	return bcl_attach_write(env, pid, &scratch, scratch_address,
				sizeof(scratch));
}
