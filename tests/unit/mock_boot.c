/* SPDX-License-Identifier: MIT */
#include "mock_state.h"

static enum bcl_status boot_put(struct bcl_boot *base, const char *name,
				const void *value, size_t length)
{
	struct mock_boot *boot = (struct mock_boot *)base;
	struct mock_value *entry = &boot->values[boot->nvalues];

	pthread_mutex_lock(&boot->mock->lock);
	mock_check(boot->nvalues < MOCK_VALUES &&
			   length <= sizeof(entry->value),
		   "boot: too much");
	snprintf(entry->name, sizeof(entry->name), "%s", name);
	memcpy(entry->value, value, length);
	entry->length = length;
	boot->nvalues++;
	pthread_mutex_unlock(&boot->mock->lock);
	return BCL_OK;
}

static enum bcl_status boot_get(struct bcl_boot *base, unsigned rank,
				const char *name, void *value, size_t size,
				size_t *length)
{
	struct mock *mock = ((struct mock_boot *)base)->mock;
	enum bcl_status status = BCL_ERR_EMPTY;
	struct mock_boot *boot;

	if (rank >= mock->options.ports)
		return status;
	boot = &mock->boot[rank];
	pthread_mutex_lock(&mock->lock);
	for (unsigned i = 0; i < boot->nvalues; i++) {
		if (strcmp(boot->values[i].name, name))
			continue;
		mock_check(boot->values[i].length <= size, "boot: size");
		*length = boot->values[i].length;
		memcpy(value, boot->values[i].value, *length);
		status = BCL_OK;
	}
	pthread_mutex_unlock(&mock->lock);
	return status;
}

static enum bcl_status boot_fence(struct bcl_boot *base)
{
	struct mock_boot *boot = (struct mock_boot *)base;
	struct mock *mock = boot->mock;
	unsigned fence, i;

	pthread_mutex_lock(&mock->lock);
	fence = ++boot->fences;
	for (i = 0; i < base->size && i < mock->options.ports;) {
		if (mock->boot[i].fences >= fence) {
			i++;
			continue;
		}
		pthread_mutex_unlock(&mock->lock);
		mock->env->yield(mock->env->world);
		pthread_mutex_lock(&mock->lock);
	}
	pthread_mutex_unlock(&mock->lock);
	return BCL_OK;
}

static const struct bcl_boot_kind boot_kind = {
	.name = "mock",
	.put = boot_put,
	.get = boot_get,
	.fence = boot_fence,
};

struct bcl_boot *mock_boot(struct mock *mock, unsigned i, unsigned n)
{
	struct mock_boot *boot = &mock->boot[i];

	boot->mock = mock;
	boot->base.kind = &boot_kind;
	boot->base.rank = i;
	boot->base.size = n;
	return &boot->base;
}
