/* SPDX-License-Identifier: MIT */
/* Bootstrap through the key-value space that a program lends (bcl/boot.h). */
#include "env/env.h"
#include "env/process.h"
#include "transport/boot/pieces.h"
#include "transport/sized.h"

static enum bcl_status put_text(struct bcl_boot *boot, const char *key,
				const char *text)
{
	const struct bcl_boot_space *space = boot->state;

	return space->put(space->arg, key, text);
}

static enum bcl_status get_text(struct bcl_boot *boot, const char *key,
				char *text)
{
	const struct bcl_boot_space *space = boot->state;

	return space->get(space->arg, key, text, boot->pieces.text_max + 1);
}

static void lent_close(struct bcl_boot *boot)
{
	const struct bcl_env *env = boot->config.env;

	env->release(env->world, boot->state, sizeof(struct bcl_boot_space));
}

static enum bcl_status lent_fence(struct bcl_boot *boot)
{
	const struct bcl_boot_space *space = boot->state;

	return space->fence(space->arg);
}

static const struct bcl_boot_kind kind = {
	.name = "lent",
	.close = lent_close,
	.put = bcl_pieces_put,
	.get = bcl_pieces_get,
	.fence = lent_fence,
};

static enum bcl_status open_lent(struct bcl_boot *boot,
				 const struct bcl_boot_space *space)
{
	const struct bcl_env *env = boot->config.env;
	const struct bcl_pieces pieces = { space->value_max, put_text,
					   get_text };
	struct bcl_boot_space *own = env->allocate(env->world, sizeof(*own));

	if (!own)
		return BCL_ERR_NOMEM;
	*own = *space;
	bcl_pieces_open(boot, &pieces);
	boot->kind = &kind;
	boot->rank = space->rank;
	boot->size = space->size;
	boot->local_ranks = space->local_ranks;
	boot->state = own;
	return BCL_OK;
}

enum bcl_status bcl_boot_lend(const struct bcl_boot_space *given,
			      struct bcl_boot **result)
{
	const struct bcl_env *env = &bcl_env_linux;
	struct bcl_boot_space space;
	struct bcl_boot *boot;
	enum bcl_status status;

	status = bcl_sized_read(&space, given, arg);
	if (status)
		return status;
	if (!result || space.rank >= space.size ||
	    space.value_max < BCL_PIECE_TEXT_MIN)
		return BCL_ERR_ARG;
	if (space.size > 1 && (!space.put || !space.get || !space.fence))
		return BCL_ERR_ARG;
	bcl_process_init();
	if (bcl_process_orphaned())
		return BCL_ERR_FORKED;
	boot = env->allocate(env->world, sizeof(*boot));
	if (!boot)
		return BCL_ERR_NOMEM;
	boot->fork_generation = bcl_fork_generation();
	status = bcl_config_read(env, &boot->config);
	if (!status && space.size > 1) {
		status = open_lent(boot, &space);
	} else if (!status) {
		boot->kind = &bcl_boot_single;
		status = boot->kind->open(boot, "");
	}
	if (!status && space.size > 1)
		boot->config.rank = (int)space.rank;
	if (status)
		env->release(env->world, boot, sizeof(*boot));
	else
		*result = boot;
	return status;
}
