/* SPDX-License-Identifier: MIT */
/* The shared-memory side of a port: opening and closing. See shm.h and port.h.
 */
#include "transport/shm/port.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "transport/shm/attach.h"
#include "transport/shm/audit.h"
#include "transport/shm/host.h"

static void *share_page(struct bcl_shm_port *shm, const char *name, int *fd)
{
	const struct bcl_env *env = bcl_shm_env(shm);

	return env->share(env->world, name, BCL_PAGE, fd);
}

static void unshare_page(struct bcl_shm_port *shm, void *page, int fd)
{
	const struct bcl_env *env = bcl_shm_env(shm);

	if (page)
		env->unshare(env->world, page, BCL_PAGE, fd);
}

static void close_files(struct bcl_shm_port *shm)
{
	const struct bcl_env *env = bcl_shm_env(shm);
	const int fds[] = { shm->listener, shm->group, shm->spare };
	unsigned i;

	for (i = 0; i < 3; i++)
		if (fds[i] >= 0)
			env->shm_host->close(env->world, fds[i]);
}

static void destroy_port(struct bcl_shm_port *shm)
{
	const struct bcl_env *env = bcl_shm_env(shm);

	close_files(shm);
	unshare_page(shm, shm->attention, shm->attention_fd);
	unshare_page(shm, shm->active, shm->active_fd);
	pthread_mutex_destroy(&shm->lock);
	env->release(env->world, shm, sizeof(*shm));
}

/* Open the port's files. Returns NULL, or the name of the missing file; errno
 * then says why. */
static const char *open_files(struct bcl_shm_port *shm)
{
	const struct bcl_env *env = bcl_shm_env(shm);
	const struct bcl_shm_host *host = env->shm_host;

	shm->attention = share_page(shm, "bcl-attention", &shm->attention_fd);
	if (!shm->attention)
		return "memory to share (memfd_create)";
	shm->active = share_page(shm, "bcl-active", &shm->active_fd);
	if (!shm->active)
		return "memory to share (memfd_create)";
	/* If the host cannot protect the page, a faulty peer can disturb the
	 * wake-ups of this port. Protection is worth having, but no reason to
	 * fail. */
	host->protect(env->world, shm->attention_fd);
	shm->group = host->group_open(env->world);
	if (shm->group < 0)
		return "a group of descriptors (epoll_create1)";
	shm->spare = host->copy(env->world, shm->attention_fd);
	if (shm->spare < 0)
		return "a descriptor";
	shm->listener = host->listen(env->world, bcl_shm_context(shm)->card_id,
				     shm->port->number);
	if (shm->listener < 0)
		return "a local socket with the port's name";
	if (!host->group_add(env->world, shm->group, shm->listener, shm))
		return "a place in a group of descriptors (epoll_ctl)";
	return NULL;
}

enum bcl_status bcl_shm_port_open(struct bcl_port *port, char why[96])
{
	struct bcl_context *context = port->context;
	const struct bcl_env *env = context->env;
	struct bcl_shm_port *shm;
	const char *missing;

	if (!env->shm_host || !context->config.shm) {
		snprintf(why, 96, "switched off (BCL_SHM)");
		return BCL_ERR_UNSUPPORTED;
	}
	shm = env->allocate(env->world, sizeof(*shm));
	if (!shm) {
		snprintf(why, 96, "no memory");
		return BCL_ERR_NOMEM;
	}
	shm->port = port;
	shm->listener = shm->group = shm->spare = -1;
	shm->watch.active = NULL;
	pthread_mutex_init(&shm->lock, NULL);
	missing = open_files(shm);
	if (missing) {
		snprintf(why, 96, "%s: %s", missing, bcl_log_reason(errno));
		destroy_port(shm);
		return BCL_ERR_SYSTEM;
	}
	shm->watch.active = shm->active;
	if (context->config.attach)
		bcl_attach_admit(env);
	bcl_audit_open(shm, env->now(env->world));
	port->shm = shm;
	port->pairs = shm->pairs;
	port->npairs = 0;
	return BCL_OK;
}

void bcl_shm_port_close(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;
	struct bcl_shm_port *shm = port->shm;

	if (!shm)
		return;
	bcl_shm_count(port);
	port->shm = NULL;
	port->pairs = NULL;
	port->npairs = 0;
	while (shm->connections) {
		bcl_large_end(shm->connections, BCL_OK);
		pthread_mutex_lock(&shm->lock);
		bcl_grants_end(shm->connections);
		bcl_connection_free(shm->connections);
		pthread_mutex_unlock(&shm->lock);
	}
	while (shm->orphans) {
		struct bcl_orphan *orphan = shm->orphans;

		shm->orphans = orphan->next;
		bcl_file_unmap(env, orphan->address, orphan->length);
		env->release(env->world, orphan, sizeof(*orphan));
	}
	destroy_port(shm);
}

int bcl_shm_fd(const struct bcl_port *port)
{
	return port->shm ? port->shm->group : -1;
}
