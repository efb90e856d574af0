/* SPDX-License-Identifier: MIT */
/* Memory for remote access: registering, allocating, releasing and keys. */
#include <errno.h>

#include "env/file.h"
#include "transport/internal.h"
#include "transport/key.h"
#include "transport/shm/shm.h"

enum {
	RIGHTS = BCL_REMOTE_READ | BCL_REMOTE_WRITE | BCL_REMOTE_ATOMIC,
};

static enum bcl_status make_memory(struct bcl_context *context, size_t length,
				   unsigned rights, struct bcl_memory **result)
{
	enum bcl_status status = bcl_context_usable(context);
	const struct bcl_env *env;
	struct bcl_memory *memory;

	if (status)
		return status;
	env = context->env;
	if (!length || rights & ~RIGHTS)
		return BCL_ERR_ARG;
	bcl_presence(context);
	memory = env->allocate(env->world, sizeof(*memory));
	if (!memory)
		return BCL_ERR_NOMEM;
	*memory = (struct bcl_memory){
		.context = context,
		.length = length,
		.rights = rights,
		.fd = -1,
	};
	*result = memory;
	return BCL_OK;
}

enum bcl_status bcl_memory_register(struct bcl_context *context, void *address,
				    size_t length, unsigned rights,
				    struct bcl_memory **result)
{
	struct bcl_memory *memory;
	enum bcl_status status;

	if (!result || !address || length > UINTPTR_MAX - (uintptr_t)address)
		return BCL_ERR_ARG;
	status = make_memory(context, length, rights, &memory);
	if (status)
		return status;
	memory->address = address;
	status = bcl_memory_enter(memory);
	if (status)
		context->env->release(context->env->world, memory,
				      sizeof(*memory));
	else
		*result = memory;
	return status;
}

enum bcl_status bcl_memory_refused(struct bcl_context *context, size_t length)
{
	enum bcl_status status = bcl_file_status(errno);

	bcl_log(&context->config, BCL_LOG_ERROR, "memory",
		"%zu bytes of shared memory (memfd_create) cannot be had: %s%s",
		length, bcl_log_reason(errno),
		errno == ENOMEM ? "; the host, or the control group of the "
				  "process, has not so much to give"
				: "");
	return status;
}

enum bcl_status bcl_memory_allocate(struct bcl_context *context, size_t length,
				    unsigned rights, struct bcl_memory **result)
{
	const struct bcl_env *env;
	struct bcl_memory *memory;
	enum bcl_status status;

	if (!result)
		return BCL_ERR_ARG;
	status = make_memory(context, length, rights, &memory);
	if (status)
		return status;
	env = context->env;
	memory->allocated = true;
	memory->address =
		env->share(env->world, "bcl-memory", length, &memory->fd);
	if (!memory->address) {
		status = bcl_memory_refused(context, length);
		pthread_mutex_lock(&context->lock);
		bcl_count(context->counters, core_memory_refused);
		pthread_mutex_unlock(&context->lock);
		env->release(env->world, memory, sizeof(*memory));
		return status;
	}
	status = bcl_memory_enter(memory);
	if (status) {
		env->unshare(env->world, memory->address, length, memory->fd);
		env->release(env->world, memory, sizeof(*memory));
	} else {
		*result = memory;
	}
	return status;
}

void *bcl_memory_address(const struct bcl_memory *memory)
{
	return memory ? memory->address : NULL;
}

void bcl_memory_release(struct bcl_memory *memory)
{
	struct bcl_context *context;
	const struct bcl_env *env;

	if (!memory)
		return;
	context = memory->context;
	if (bcl_context_usable(context))
		return;
	bcl_presence(context);
	env = context->env;
	bcl_memory_remove(memory);
	bcl_shm_revoke(context, memory->handle);
	if (memory->allocated)
		env->unshare(env->world, memory->address, memory->length,
			     memory->fd);
	env->release(env->world, memory, sizeof(*memory));
}

void bcl_memory_key(const struct bcl_memory *memory, void *bytes)
{
	struct bcl_key key;

	if (!memory || !bytes)
		return;
	key = (struct bcl_key){
		.card = memory->context->card_id,
		.base = memory->base,
		.length = memory->length,
		.handle = memory->handle,
		.rights = memory->rights |
			  (memory->allocated ? BCL_KEY_ALLOCATED : 0),
	};

	bcl_key_pack(&key, bytes);
}

void bcl_memories_free(struct bcl_context *context)
{
	for (unsigned i = 0; i < context->memories.size; i++)
		bcl_memory_release(context->memories.memories[i]);
	bcl_memory_table_free(context);
}
