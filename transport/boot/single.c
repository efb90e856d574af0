/* SPDX-License-Identifier: MIT */
/* Bootstrap of a job of one, without a launcher: values stay in a list. */
#include <string.h>

#include "env/env.h"
#include "transport/boot/boot.h"

struct value {
	struct value *next;
	char name[BCL_BOOT_NAME_MAX];
	size_t length;
	uint8_t bytes[BCL_BOOT_VALUE_MAX];
};

static enum bcl_status single_open(struct bcl_boot *boot, const char *argument)
{
	(void)argument;
	boot->rank = 0;
	boot->size = 1;
	boot->local_ranks = 1;
	return BCL_OK;
}

static void single_close(struct bcl_boot *boot)
{
	const struct bcl_env *env = boot->config.env;

	while (boot->state) {
		struct value *value = boot->state;

		boot->state = value->next;
		env->release(env->world, value, sizeof(*value));
	}
}

static enum bcl_status single_put(struct bcl_boot *boot, const char *name,
				  const void *bytes, size_t length)
{
	const struct bcl_env *env = boot->config.env;
	struct value *value = env->allocate(env->world, sizeof(*value));

	if (!value)
		return BCL_ERR_NOMEM;
	value->next = boot->state;
	value->length = length;
	memcpy(value->name, name, strlen(name) + 1);
	memcpy(value->bytes, bytes, length);
	boot->state = value;
	return BCL_OK;
}

static enum bcl_status single_get(struct bcl_boot *boot, unsigned rank,
				  const char *name, void *bytes, size_t size,
				  size_t *length)
{
	const struct value *value = boot->state;

	(void)rank;
	while (value && strcmp(value->name, name))
		value = value->next;
	if (!value)
		return BCL_ERR_EMPTY;
	if (value->length > size)
		return BCL_ERR_TRUNCATED;
	memcpy(bytes, value->bytes, value->length);
	*length = value->length;
	return BCL_OK;
}

static enum bcl_status single_fence(struct bcl_boot *boot)
{
	(void)boot;
	return BCL_OK;
}

const struct bcl_boot_kind bcl_boot_single = {
	.name = "single",
	.open = single_open,
	.close = single_close,
	.put = single_put,
	.get = single_get,
	.fence = single_fence,
};
