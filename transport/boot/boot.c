/* SPDX-License-Identifier: MIT */
/*
 * Chooses the kind of launcher, joins the job, and checks the arguments of the
 * kind's functions; see boot.h.
 */
#include <config.h>

#include "transport/boot/boot.h"

#include <string.h>

#include "env/env.h"
#include "env/log.h"
#include "env/process.h"

static const struct bcl_boot_kind *const kinds[] = {
	&bcl_boot_pmi,
#ifdef HAVE_PMIX
	&bcl_boot_pmix,
#endif
	&bcl_boot_fork,
	&bcl_boot_single,
};

/*
 * Chooses the kind of launcher. BCL_BOOT=kind says it (fork:argument comes from
 * bcl_boot_job_enter()); otherwise the variables of a launcher do. The file
 * descriptor of PMI comes first, since a launcher of PMIx jobs may run inside
 * another launcher's job.
 */
static const struct bcl_boot_kind *choose_launcher(const struct bcl_boot *boot,
						   const char **argument)
{
	const struct bcl_env *env = boot->config.env;
	const char *name = boot->config.boot;
	size_t length;

	*argument = "";
	if (!*name) {
		if (env->variable(env->world, "PMI_FD") ||
		    env->variable(env->world, "PMI_PORT"))
			name = "pmi";
		else if (env->variable(env->world, "PMIX_RANK"))
			name = "pmix";
		else
			name = "single";
	}
	length = strcspn(name, ":");
	if (name[length])
		*argument = name + length + 1;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strlen(kinds[i]->name) == length &&
		    !memcmp(kinds[i]->name, name, length) &&
		    (!name[length] || kinds[i] == &bcl_boot_fork))
			return kinds[i];
	bcl_log(&boot->config, BCL_LOG_ERROR, "boot",
		"%s asks for \"%s\", by which this build cannot be started; it "
		"knows pmi%s and single",
		*boot->config.boot ? "BCL_BOOT" : "the launcher", name,
#ifdef HAVE_PMIX
		", pmix"
#else
		""
#endif
	);
	return NULL;
}

/* Joins the job, once in a process if the launcher knows a process only
 * once. BUSY: the process has joined before. */
static enum bcl_status join_job(struct bcl_boot *boot, const char *argument)
{
	enum bcl_status status;

	if (boot->kind->once &&
	    atomic_exchange_explicit(&bcl_process.joined, true,
				     memory_order_relaxed)) {
		bcl_log(&boot->config, BCL_LOG_ERROR, "boot",
			"%s: this process has joined its job before, which it "
			"can once; use the job that is open, or lend "
			"(bcl_boot_lend()) a space of your own",
			boot->kind->name);
		return BCL_ERR_BUSY;
	}
	status = boot->kind->open(boot, argument);
	if (status && boot->kind->once)
		atomic_store_explicit(&bcl_process.joined, false,
				      memory_order_relaxed);
	return status;
}

enum bcl_status bcl_boot_open(const struct bcl_env *env,
			      struct bcl_boot **result)
{
	struct bcl_boot *boot = env->allocate(env->world, sizeof(*boot));
	const char *argument;
	enum bcl_status status;

	if (!boot)
		return BCL_ERR_NOMEM;
	bcl_process_init();
	boot->fork_generation = bcl_fork_generation();
	status = bcl_config_read(env, &boot->config);
	if (!status) {
		boot->kind = choose_launcher(boot, &argument);
		status = boot->kind ? join_job(boot, argument) : BCL_ERR_BOOT;
	}
	if (!status && boot->rank >= boot->size) {
		bcl_log(&boot->config, BCL_LOG_ERROR, "boot",
			"%s: rank %u in a job of %u", boot->kind->name,
			boot->rank, boot->size);
		boot->kind->close(boot);
		status = BCL_ERR_BOOT;
	}
	/* the log tells several jobs of one on a host apart by their pids */
	if (!status && boot->size > 1)
		boot->config.rank = (int)boot->rank;
	if (status && boot->config.rank < 0)
		bcl_config_warn(&boot->config);
	if (status)
		env->release(env->world, boot, sizeof(*boot));
	else
		*result = boot;
	return status;
}

void bcl_boot_close(struct bcl_boot *boot)
{
	const struct bcl_env *env;

	if (!boot || boot->fork_generation != bcl_fork_generation())
		return;
	env = boot->config.env;
	boot->kind->close(boot);
	env->release(env->world, boot, sizeof(*boot));
}

static bool is_valid_name(const char *name)
{
	size_t length = strlen(name);

	return length && length < BCL_BOOT_NAME_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

enum bcl_status bcl_boot_put(struct bcl_boot *boot, const char *name,
			     const void *value, size_t length)
{
	if (!is_valid_name(name) || length > BCL_BOOT_VALUE_MAX)
		return BCL_ERR_ARG;
	return boot->kind->put(boot, name, value, length);
}

enum bcl_status bcl_boot_get(struct bcl_boot *boot, unsigned rank,
			     const char *name, void *value, size_t size,
			     size_t *length)
{
	if (!is_valid_name(name) || rank >= boot->size)
		return BCL_ERR_ARG;
	return boot->kind->get(boot, rank, name, value, size, length);
}

enum bcl_status bcl_boot_fence(struct bcl_boot *boot)
{
	return boot->kind->fence(boot);
}

/* False: the system gives no random numbers. */
static bool draw_key(struct bcl_boot *boot, uint8_t key[BCL_KEY_SIZE])
{
	const struct bcl_env *env = boot->config.env;

	for (unsigned i = 0; i < BCL_KEY_SIZE / 8; i++) {
		uint64_t part = env->random(env->world);

		if (!part) {
			bcl_log(&boot->config, BCL_LOG_ERROR, "boot",
				"the system gives no random numbers; permit "
				"getrandom() (a seccomp filter?)");
			return false;
		}
		memcpy(key + 8 * i, &part, 8);
	}
	return true;
}

enum bcl_status bcl_boot_key(struct bcl_boot *boot, uint8_t key[BCL_KEY_SIZE])
{
	enum bcl_status status = BCL_OK;
	size_t length = 0;

	if (boot->rank == 0) {
		/* put an empty key on failure, too: the other ranks wait for
		 * it */
		if (draw_key(boot, key))
			length = BCL_KEY_SIZE;
		status = bcl_boot_put(boot, "key", key, length);
	}
	if (!status)
		status = bcl_boot_fence(boot);
	if (!status && boot->rank)
		status = bcl_boot_get(boot, 0, "key", key, BCL_KEY_SIZE,
				      &length);
	if (status || length == BCL_KEY_SIZE)
		return status;
	return boot->rank ? BCL_ERR_BOOT : BCL_ERR_SYSTEM;
}
