/* SPDX-License-Identifier: MIT */
/* Copies by attach, through the table of the host or of the card; see attach.h.
 */
#include "transport/shm/attach.h"

#include "transport/shm/host.h"
#include "transport/shm/port.h"

void bcl_attach_admit(const struct bcl_env *env)
{
	env->shm_host->admit(env->world);
}

static enum bcl_status copy_by_card(const struct bcl_connection *c, void *local,
				    uint64_t remote, size_t length, bool write)
{
	struct bcl_host *host = bcl_shm_context(c->shm)->card;

	return host->ops->copy(host, c->card, local, remote, length, write);
}

enum bcl_status bcl_attach_read(const struct bcl_connection *c, void *local,
				uint64_t remote, size_t length)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	if (c->by_card)
		return copy_by_card(c, local, remote, length, false);
	return env->shm_host->read(env->world, c->pid, local, remote, length);
}

enum bcl_status bcl_attach_write(const struct bcl_connection *c,
				 const void *local, uint64_t remote,
				 size_t length)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	if (c->by_card)
		return copy_by_card(c, (void *)(uintptr_t)local, remote, length,
				    true);
	return env->shm_host->write(env->world, c->pid, local, remote, length);
}

static enum bcl_status prove(const struct bcl_connection *c, uint64_t scratch)
{
	enum bcl_status status;
	uint64_t seen;

	status = bcl_attach_read(c, &seen, c->its_nonce_address, sizeof(seen));
	if (status)
		return status;
	if (seen != c->its_nonce)
		return BCL_ERR_MEMORY;
	return bcl_attach_write(c, &scratch, c->its_scratch_address,
				sizeof(scratch));
}

enum bcl_status bcl_attach_prove(struct bcl_connection *c, uint64_t scratch)
{
	const struct bcl_host *host = bcl_shm_context(c->shm)->card;
	enum bcl_status status = BCL_ERR_PERM;

	c->by_card = false;
	if (c->pid > 0)
		status = prove(c, scratch);
	if (!status || !host || !host->ops->copy)
		return status;
	c->by_card = true;
	return prove(c, scratch);
}
