/* SPDX-License-Identifier: MIT */
/* The space of keys and values that a program lends (bcl/boot.h). */
#include <string.h>

#include "transport/boot/pieces.h"
#include "transport/env/env.h"

struct lent {
	struct bcl_boot_space space;
	struct bcl_pieces pieces;
};

static enum bcl_status put_text(struct bcl_boot *boot, const char *key,
				const char *text)
{
	const struct lent *lent = boot->state;

	return lent->space.put(lent->space.arg, key, text);
}

static enum bcl_status get_text(struct bcl_boot *boot, const char *key,
				char *text)
{
	const struct lent *lent = boot->state;

	return lent->space.get(lent->space.arg, key, text,
			       lent->pieces.text_max + 1);
}

static void lent_close(struct bcl_boot *boot)
{
	const struct bcl_env *env = boot->config.env;

	env->release(env->world, boot->state, sizeof(struct lent));
}

static enum bcl_status lent_put(struct bcl_boot *boot, const char *name,
				const void *value, size_t length)
{
	const struct lent *lent = boot->state;

	return bcl_pieces_put(boot, &lent->pieces, name, value, length);
}

static enum bcl_status lent_get(struct bcl_boot *boot, unsigned rank,
				const char *name, void *value, size_t size,
				size_t *length)
{
	const struct lent *lent = boot->state;

	return bcl_pieces_get(boot, &lent->pieces, rank, name, value, size,
			      length);
}

static enum bcl_status lent_fence(struct bcl_boot *boot)
{
	const struct lent *lent = boot->state;

	return lent->space.fence(lent->space.arg);
}

static const struct bcl_boot_kind kind = {
	.name = "lent",
	.close = lent_close,
	.put = lent_put,
	.get = lent_get,
	.fence = lent_fence,
};

static enum bcl_status open_lent(struct bcl_boot *boot,
				 const struct bcl_boot_space *space)
{
	const struct bcl_env *env = boot->config.env;
	struct lent *lent = env->allocate(env->world, sizeof(*lent));

	if (!lent)
		return BCL_ERR_NOMEM;
	lent->space = *space;
	lent->pieces = (struct bcl_pieces){ .put = put_text, .get = get_text };
	lent->pieces.text_max = space->value_max < BCL_PIECE_TEXT_MAX
					? space->value_max & ~(size_t)1
					: BCL_PIECE_TEXT_MAX;
	boot->kind = &kind;
	boot->rank = space->rank;
	boot->size = space->size;
	boot->local_ranks = space->local_ranks;
	boot->state = lent;
	return BCL_OK;
}

enum bcl_status bcl_boot_lend(const struct bcl_boot_space *space,
			      struct bcl_boot **result)
{
	const struct bcl_env *env = &bcl_env_linux;
	struct bcl_boot *boot;
	enum bcl_status status;

	if (space->struct_size < sizeof(*space) || space->rank >= space->size ||
	    space->value_max < BCL_PIECE_TEXT_MIN)
		return BCL_ERR_ARG;
	boot = env->allocate(env->world, sizeof(*boot));
	if (!boot)
		return BCL_ERR_NOMEM;
	status = bcl_config_read(env, &boot->config);
	if (!status && space->size > 1) {
		status = open_lent(boot, space);
	} else if (!status) {
		boot->kind = &bcl_boot_single;
		status = boot->kind->open(boot, "");
	}
	if (status)
		env->release(env->world, boot, sizeof(*boot));
	else
		*result = boot;
	return status;
}
