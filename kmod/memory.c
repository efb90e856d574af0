// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Registered memory: peers reach the memory by a handle, and requests may name
 * the memory. */
#include <linux/slab.h>

#include "host.h"
#include "pin.h"

enum {
	RIGHTS = BCL_MEM_REMOTE_READ | BCL_MEM_REMOTE_WRITE |
		 BCL_MEM_REMOTE_ATOMIC,
};

static void memory_free(struct bcl_kmod_host *host,
			struct bcl_kmod_memory *memory)
{
	if (memory->pin) {
		spin_lock_bh(&host->lock);
		bcl_kmod_unpin(host, memory->pin);
		spin_unlock_bh(&host->lock);
		bcl_kmod_unpin_all(host);
	}
	bcl_kmod_discharge(host->user, BCL_KMOD_MEMORIES, 1);
	kfree(memory);
}

static struct bcl_kmod_memory *
memory_make(struct bcl_kmod_host *host, const struct bcl_device_memory *named)
{
	bool write =
		named->rights & (BCL_MEM_REMOTE_WRITE | BCL_MEM_REMOTE_ATOMIC);
	struct bcl_kmod_memory *memory =
		kzalloc(sizeof(*memory), GFP_KERNEL_ACCOUNT);
	struct bcl_kmod_pin *pin;

	if (!memory)
		return ERR_PTR(-ENOMEM);
	if (!bcl_kmod_charge(host->user, BCL_KMOD_MEMORIES, 1)) {
		kfree(memory);
		return ERR_PTR(-EDQUOT);
	}
	memory->named = *named;
	if (!named->length)
		return memory;
	pin = bcl_kmod_pin(host, named->address, named->length, write);
	if (IS_ERR(pin)) {
		memory_free(host, memory);
		return ERR_CAST(pin);
	}
	memory->pin = pin;
	memory->first = named->address - pin->range.start;
	return memory;
}

long bcl_kmod_memory_add(struct bcl_kmod_host *host,
			 const struct bcl_device_memory *named)
{
	struct bcl_kmod_memory *memory;
	int error;

	if (named->handle == BCL_HANDLE_SELF || named->rights & ~RIGHTS)
		return BCL_ERR_ARG;
	memory = memory_make(host, named);
	if (IS_ERR(memory))
		return bcl_kmod_pin_status(memory);
	error = xa_insert_bh(&host->memories, named->handle, memory,
			     GFP_KERNEL);
	if (!error)
		return BCL_OK;
	memory_free(host, memory);
	return error == -EBUSY ? BCL_ERR_BUSY : BCL_ERR_NOMEM;
}

long bcl_kmod_memory_remove(struct bcl_kmod_host *host, unsigned long handle)
{
	struct bcl_kmod_memory *memory;

	bcl_kmod_enter(host);
	memory = xa_erase(&host->memories, handle);
	bcl_kmod_leave(host);
	if (!memory)
		return BCL_ERR_ARG;
	memory_free(host, memory);
	return BCL_OK;
}

void bcl_kmod_memories_close(struct bcl_kmod_host *host)
{
	struct bcl_kmod_memory *memory;
	unsigned long handle;

	xa_for_each (&host->memories, handle, memory) {
		memory_free(host, memory);
		cond_resched();
	}
	xa_destroy(&host->memories);
}
