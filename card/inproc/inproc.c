/* SPDX-License-Identifier: MIT */
/* The table of the in-process host, with the operations that have no file of
 * their own. */
#include "card/inproc/inproc.h"

#include "env/log.h"

static enum bcl_status control_op(struct bcl_host *base,
				  struct bcl_host_seat *seat,
				  const struct bcl_control *control)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	enum bcl_status status;
	uint32_t result;

	bcl_inproc_lock(host, seat);
	status = bcl_inproc_command(host, control, &result);
	bcl_inproc_unlock(host, seat);
	return status;
}

static void run_exclusive(struct bcl_host *base, struct bcl_host_seat *seat,
			  void (*run)(void *arg), void *arg)
{
	struct bcl_inproc *host = bcl_inproc_of(base);

	bcl_inproc_lock(host, seat);
	run(arg);
	bcl_inproc_unlock(host, seat);
}

static void read_counters(struct bcl_host *base,
			  _Atomic uint64_t values[BCL_CARD_NCOUNTERS])
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	const uint64_t *own;
	unsigned i;

	bcl_inproc_lock(host, NULL);
	own = bcl_card_counters(host->card);
	for (i = 0; i < BCL_CARD_NCOUNTERS; i++)
		atomic_store_explicit(&values[i], own[i], memory_order_relaxed);
	bcl_inproc_unlock(host, NULL);
}

static void check_rail_ends(struct bcl_host *base)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	unsigned e;

	bcl_inproc_lock(host, NULL);
	for (e = 0; e < host->nends; e++) {
		struct bcl_inproc_end *own = &host->ends[e];
		bool up = own->up;

		own->rail->check(own->rail, &up);
		if (up != own->up)
			bcl_log(host->setup.config, BCL_LOG_WARN, "card",
				"rail %u, %s on %s, is %s", own->number,
				own->rail->kind->name, own->rail->interface,
				up ? "up" : "down");
		own->up = up;
	}
	bcl_inproc_tell_changes(host);
	bcl_inproc_unlock(host, NULL);
}

const struct bcl_host_ops bcl_host_inproc = {
	.longs = 16,
	.open = bcl_inproc_open,
	.close = bcl_inproc_close,
	.port_open = bcl_inproc_port_open,
	.port_close = bcl_inproc_port_close,
	.doorbell = bcl_inproc_doorbell,
	.defer = bcl_inproc_defer,
	.control = control_op,
	.connect = bcl_inproc_connect,
	.node = bcl_inproc_node,
	.node_info = bcl_inproc_node_info,
	.poll = bcl_inproc_poll,
	.watch = check_rail_ends,
	.exclusive = run_exclusive,
	.counters = read_counters,
};
