/* SPDX-License-Identifier: MIT */
/* Opening and closing a card in the kernel. See kernel.h. */
#include "card/kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "env/config.h"
#include "env/env.h"
#include "env/log.h"
#include "env/process.h"

/* Say why the device cannot be opened, and what helps. */
static enum bcl_status tell_closed(int error, char why[BCL_HOST_WHY])
{
	bool missing = error == ENOENT || error == ENODEV || error == ENXIO;
	bool privilege = error == EACCES || error == EPERM;

	snprintf(why, BCL_HOST_WHY, BCL_DEVICE_PATH ": %s%s",
		 bcl_log_reason(error),
		 missing     ? ": the kernel module bcl is not loaded "
			       "(modprobe bcl)"
		 : privilege ? ": the administrator must let you read and "
			       "write it"
			     : "");
	if (error == ENOMEM)
		return BCL_ERR_NOMEM;
	if (privilege)
		return BCL_ERR_PERM;
	return missing ? BCL_ERR_UNSUPPORTED : BCL_ERR_SYSTEM;
}

static enum bcl_status open_device(struct bcl_kernel *host,
				   char why[BCL_HOST_WHY])
{
	host->fd = open(BCL_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (host->fd < 0)
		return tell_closed(errno, why);
	bcl_process_record(host->fd);
	return BCL_OK;
}

/* A trace and faults are put between the card and its rails, and these are
 * out of reach here. */
static enum bcl_status check_settings(const struct bcl_config *config,
				      char why[BCL_HOST_WHY])
{
	const char *name = config->trace[0] ? "BCL_TRACE" : "BCL_FAULT";

	if (!config->trace[0] && !config->fault[0])
		return BCL_OK;
	snprintf(why, BCL_HOST_WHY, "%s needs the card in the process", name);
	return BCL_ERR_UNSUPPORTED;
}

static bool may_lock(size_t size)
{
	void *memory = mmap(NULL, size, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	bool locked;

	if (memory == MAP_FAILED)
		return false;
	locked = !mlock2(memory, size, MLOCK_ONFAULT);
	munmap(memory, size);
	return locked;
}

/*
 * The card keeps the pages of messages in place, which counts as locked memory,
 * and a message beyond the limit of the process fails. The card in the process
 * has no such limit, so "auto" takes the card in the kernel only where the
 * limit is no less than the memory of the machine.
 */
static enum bcl_status check_limit(const struct bcl_config *config,
				   char why[BCL_HOST_WHY])
{
	size_t memory =
		(size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);

	if (strcmp(config->card, "auto") || may_lock(memory))
		return BCL_OK;
	snprintf(why, BCL_HOST_WHY,
		 "the limit of locked memory (ulimit -l) is below the memory "
		 "of this machine, and the kernel's card locks messages");
	return BCL_ERR_UNSUPPORTED;
}

static enum bcl_status map_news(struct bcl_kernel *host)
{
	void *news;

	host->news_size = (size_t)sysconf(_SC_PAGESIZE);
	news = mmap(NULL, host->news_size, PROT_READ, MAP_SHARED, host->fd,
		    BCL_DEVICE_NEWS);
	if (news == MAP_FAILED)
		return BCL_ERR_NOMEM;
	host->news = news;
	host->base.changes = (const _Atomic uint32_t *)&host->news->changes;
	return BCL_OK;
}

/* Say why no end can be used: the reason of each. */
static void tell_refused(const struct bcl_kernel *host,
			 const struct bcl_device_open *open,
			 char why[BCL_HOST_WHY])
{
	unsigned e;

	why[0] = 0;
	for (e = 0; e < open->nends; e++)
		snprintf(why + strlen(why), BCL_HOST_WHY - strlen(why),
			 "%s%s: %s", e ? "; " : BCL_DEVICE_PATH ": ",
			 host->interface[e],
			 bcl_log_reason(open->end[e].refused));
}

/* A module of another version may have another number for this call, which is
 * ENOTTY then. */
static enum bcl_status call_open(struct bcl_kernel *host,
				 struct bcl_device_open *open,
				 char why[BCL_HOST_WHY])
{
	int result = ioctl(host->fd, BCL_DEVICE_OPEN, open);

	if (result < 0 && errno == EDQUOT) {
		snprintf(why, BCL_HOST_WHY,
			 BCL_DEVICE_PATH ": no card: the kernel module limits "
					 "the cards of a user (man 4 bcl)");
		return BCL_ERR_NOMEM;
	}
	if (result < 0 && errno != ENOTTY) {
		snprintf(why, BCL_HOST_WHY, BCL_DEVICE_PATH ": no card: %s",
			 bcl_log_reason(errno));
		return errno == ENOMEM ? BCL_ERR_NOMEM : BCL_ERR_SYSTEM;
	}
	if (result < 0 || result == BCL_ERR_VERSION) {
		snprintf(why, BCL_HOST_WHY,
			 BCL_DEVICE_PATH
			 ": the module and this library (%u) have different "
			 "versions of the boundary: build both from one source",
			 BCL_CARD_ABI);
		return BCL_ERR_VERSION;
	}
	if (result == BCL_ERR_NORAIL)
		tell_refused(host, open, why);
	else if (result)
		snprintf(why, BCL_HOST_WHY, BCL_DEVICE_PATH ": no card: %s",
			 result == BCL_ERR_NOMEM ? "no memory" : "refused");
	return (enum bcl_status)result;
}

static enum bcl_status open_card(struct bcl_kernel *host,
				 char why[BCL_HOST_WHY])
{
	const struct bcl_host_setup *setup = &host->setup;
	struct bcl_device_open open = {
		.abi = BCL_CARD_ABI,
		.incarnation = setup->incarnation,
		.peer_timeout = setup->config->peer_timeout,
		.pcrc = setup->config->pcrc,
		.admits = setup->config->attach,
	};
	enum bcl_status status = bcl_kernel_want_ends(host, &open, why);

	if (status)
		return status;
	memcpy(open.key, setup->key, sizeof(open.key));
	status = call_open(host, &open, why);
	if (status)
		return status;
	host->base.card = open.card;
	bcl_kernel_show_ends(host, &open);
	status = map_news(host);
	if (status)
		snprintf(why, BCL_HOST_WHY,
			 BCL_DEVICE_PATH ": cannot be mapped: %s",
			 bcl_log_reason(errno));
	return status;
}

static void release_host(struct bcl_kernel *host)
{
	const struct bcl_env *env = host->setup.env;

	if (host->news)
		munmap((void *)(uintptr_t)host->news, host->news_size);
	if (host->fd >= 0)
		bcl_process_close(host->fd);
	env->release(env->world, host, sizeof(*host));
}

enum bcl_status bcl_kernel_open(const struct bcl_host_setup *setup,
				char why[BCL_HOST_WHY],
				struct bcl_host **result)
{
	const struct bcl_env *env = setup->env;
	struct bcl_kernel *host = env->allocate(env->world, sizeof(*host));
	enum bcl_status status;

	if (!host)
		return BCL_ERR_NOMEM;
	host->base.ops = env->kernel_card;
	host->setup = *setup;
	host->fd = -1;
	/* The kernel needs no call of the library to make progress. */
	atomic_store_explicit(&host->base.deadline, UINT64_MAX,
			      memory_order_relaxed);
	status = check_settings(setup->config, why);
	if (!status)
		status = open_device(host, why);
	if (!status)
		status = check_limit(setup->config, why);
	if (!status)
		status = open_card(host, why);
	if (status)
		release_host(host);
	else
		*result = &host->base;
	return status;
}

/* The end of the file is the end of the card, and peers get BYE. */
void bcl_kernel_close(struct bcl_host *base)
{
	release_host(bcl_kernel_of(base));
}
