/* SPDX-License-Identifier: MIT */
/* The table of the kernel's card, with the operations that have no file of
 * their own: each is one call of the device. See kernel.h. */
#include "card/kernel/kernel.h"

#include <bcl/bcl.h>

#include "card/memory.h"
#include "env/log.h"

/* The status tells of requests that cannot be, which the library does not
 * make. */
static void ring_doorbell(struct bcl_host *base, struct bcl_host_seat *seat)
{
	bcl_kernel_call_number(bcl_kernel_of(base), BCL_DEVICE_DOORBELL,
			       "DOORBELL", seat->seat);
}

static enum bcl_status control_card(struct bcl_host *base,
				    struct bcl_host_seat *seat,
				    const struct bcl_control *control)
{
	struct bcl_control copy = *control;

	(void)seat;
	return bcl_kernel_call(bcl_kernel_of(base), BCL_DEVICE_CONTROL,
			       "CONTROL", &copy);
}

static unsigned poll_nothing(struct bcl_host *base, struct bcl_host_seat *seat,
			     bool sockets)
{
	(void)base;
	(void)seat;
	(void)sockets;
	return 0;
}

/* The card does nothing with what `run` changes, so its effects need only come
 * first. */
static void run_exclusive(struct bcl_host *base, struct bcl_host_seat *seat,
			  void (*run)(void *arg), void *arg)
{
	(void)seat;
	bcl_kernel_call_number(bcl_kernel_of(base), BCL_DEVICE_BARRIER,
			       "BARRIER", 0);
	run(arg);
}

static void read_counters(struct bcl_host *base,
			  _Atomic uint64_t values[BCL_CARD_NCOUNTERS])
{
	struct bcl_device_counters counters;
	unsigned i;

	if (bcl_kernel_call(bcl_kernel_of(base), BCL_DEVICE_COUNTERS,
			    "COUNTERS", &counters))
		return;
	for (i = 0; i < BCL_CARD_NCOUNTERS; i++)
		atomic_store_explicit(&values[i], counters.card[i],
				      memory_order_relaxed);
}

static enum bcl_status add_memory(struct bcl_host *base,
				  const struct bcl_memory *memory)
{
	const struct bcl_kernel *host = bcl_kernel_of(base);
	struct bcl_device_memory call = {
		.address = (uintptr_t)memory->address,
		.length = memory->length,
		.base = memory->base,
		.handle = memory->handle,
		.rights = memory->rights,
	};
	enum bcl_status status =
		bcl_kernel_call(host, BCL_DEVICE_MEMORY, "MEMORY", &call);

	if (status && status != BCL_ERR_SYSTEM) /* else logged */
		bcl_log(host->setup.config, BCL_LOG_ERROR, "memory",
			"the kernel cannot keep %zu bytes of memory for its "
			"card%s",
			memory->length,
			status == BCL_ERR_NOMEM
				? ": raise ulimit -l, or user_pages of the "
				  "module; or there are too few"
				: ": all pages must be mapped, with the rights "
				  "that peers get");
	return status;
}

static void remove_memory(struct bcl_host *base, uint32_t handle)
{
	bcl_kernel_call_number(bcl_kernel_of(base), BCL_DEVICE_MEMORY_REMOVE,
			       "MEMORY_REMOVE", handle);
}

static enum bcl_status copy_between(struct bcl_host *base, uint64_t card,
				    void *local, uint64_t remote, size_t length,
				    bool write)
{
	struct bcl_device_copy call = {
		.card = card,
		.local = (uintptr_t)local,
		.remote = remote,
		.length = length,
		.write = write,
	};

	return bcl_kernel_call(bcl_kernel_of(base), BCL_DEVICE_COPY, "COPY",
			       &call);
}

_Static_assert((int)BCL_REMOTE_READ == BCL_MEM_REMOTE_READ &&
		       (int)BCL_REMOTE_WRITE == BCL_MEM_REMOTE_WRITE &&
		       (int)BCL_REMOTE_ATOMIC == BCL_MEM_REMOTE_ATOMIC,
	       "rights");

const struct bcl_host_ops bcl_host_kernel = {
	.longs = 16, /* as the in-process host */
	.open = bcl_kernel_open,
	.close = bcl_kernel_close,
	.port_open = bcl_kernel_port_open,
	.port_close = bcl_kernel_port_close,
	.doorbell = ring_doorbell,
	.control = control_card,
	.connect = bcl_kernel_connect,
	.node = bcl_kernel_node,
	.node_info = bcl_kernel_node_info,
	.poll = poll_nothing,
	.watch = bcl_kernel_watch,
	.memory_add = add_memory,
	.memory_remove = remove_memory,
	.copy = copy_between,
	.exclusive = run_exclusive,
	.counters = read_counters,
};
