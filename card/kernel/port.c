/* SPDX-License-Identifier: MIT */
/* The ports of a card in the kernel: the card allocates the areas, and the
 * library maps them. See kernel.h. */
#include "card/kernel/kernel.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "env/env.h"
#include "env/log.h"

static const int protection[] = {
	[BCL_DEVICE_SHOWN] = PROT_READ,
	[BCL_DEVICE_GIVEN] = PROT_READ | PROT_WRITE,
};

static bool map_part(const struct bcl_kernel *host, struct bcl_host_seat *seat,
		     const struct bcl_control *open, enum bcl_device_part part)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = bcl_device_area(open, part, BCL_AREAS);
	void *memory;

	size = (size + page - 1) / page * page;
	memory = mmap(NULL, size, protection[part], MAP_SHARED, host->fd,
		      (off_t)bcl_device_map(seat->seat, part));
	if (memory == MAP_FAILED) {
		bcl_log(host->setup.config, BCL_LOG_ERROR, "card",
			"the memory of port %u cannot be mapped: %s",
			open->port.number, bcl_log_reason(errno));
		return false;
	}
	seat->part[part] = memory;
	seat->size[part] = size;
	return true;
}

static void release_seat(const struct bcl_kernel *host,
			 struct bcl_host_seat *seat)
{
	const struct bcl_env *env = host->setup.env;
	unsigned part;

	for (part = 0; part < 2; part++)
		if (seat->part[part])
			munmap(seat->part[part], seat->size[part]);
	env->release(env->world, seat, sizeof(*seat));
}

static enum bcl_status open_on_card(const struct bcl_kernel *host, int object,
				    const struct bcl_control *control,
				    struct bcl_host_seat *seat)
{
	struct bcl_device_port port = {
		.number = control->port.number,
		.nrequests = control->port.nrequests,
		.nreceives = control->port.nreceives,
		.nblocks = control->port.nblocks,
		.nlongs = control->port.nlongs,
		.nchannels = control->port.nchannels,
		.wake = object,
	};
	enum bcl_status status =
		bcl_kernel_call(host, BCL_DEVICE_PORT_OPEN, "PORT_OPEN", &port);

	seat->seat = port.seat;
	return status;
}

enum bcl_status bcl_kernel_port_open(struct bcl_host *base, int object,
				     struct bcl_control *control,
				     struct bcl_host_area areas[BCL_AREAS],
				     struct bcl_host_seat **result)
{
	const struct bcl_kernel *host = bcl_kernel_of(base);
	const struct bcl_env *env = host->setup.env;
	struct bcl_host_seat *seat = env->allocate(env->world, sizeof(*seat));
	enum bcl_status status;
	unsigned i;

	if (!seat)
		return BCL_ERR_NOMEM;
	status = open_on_card(host, object, control, seat);
	if (!status && (!map_part(host, seat, control, BCL_DEVICE_SHOWN) ||
			!map_part(host, seat, control, BCL_DEVICE_GIVEN))) {
		bcl_kernel_call_number(host, BCL_DEVICE_PORT_CLOSE,
				       "PORT_CLOSE", seat->seat);
		status = BCL_ERR_NOMEM;
	}
	if (status) {
		release_seat(host, seat);
		return status;
	}
	for (i = 0; i < BCL_AREAS; i++) {
		enum bcl_device_part part = bcl_device_part(i);

		areas[i].address =
			seat->part[part] + bcl_device_area(control, part, i);
		areas[i].length = bcl_area_size(control, i);
	}
	*result = seat;
	return BCL_OK;
}

void bcl_kernel_port_close(struct bcl_host *base, struct bcl_host_seat *seat)
{
	const struct bcl_kernel *host = bcl_kernel_of(base);

	bcl_kernel_call_number(host, BCL_DEVICE_PORT_CLOSE, "PORT_CLOSE",
			       seat->seat);
	release_seat(host, seat);
}
