/* SPDX-License-Identifier: MIT */
/* Calls of the device. See kernel.h. */
#include "card/kernel/kernel.h"

#include <errno.h>

#include "env/log.h"

static enum bcl_status call_device(const struct bcl_kernel *host,
				   unsigned long call, const char *name,
				   unsigned long argument)
{
	int result;

	do
		result = ioctl(host->fd, call, argument);
	while (result < 0 && errno == EINTR);
	if (result >= 0)
		return (enum bcl_status)result;
	if (errno == EDQUOT) {
		bcl_log(host->setup.config, BCL_LOG_ERROR, "card",
			BCL_DEVICE_PATH
			": the call %s failed: the kernel "
			"module limits what a user has (man 4 bcl)",
			name);
		return BCL_ERR_NOMEM;
	}
	bcl_log(host->setup.config, BCL_LOG_ERROR, "card",
		BCL_DEVICE_PATH ": the call %s failed: %s", name,
		bcl_log_reason(errno));
	return BCL_ERR_SYSTEM;
}

enum bcl_status bcl_kernel_call(const struct bcl_kernel *host,
				unsigned long call, const char *name,
				void *argument)
{
	return call_device(host, call, name, (unsigned long)argument);
}

enum bcl_status bcl_kernel_call_number(const struct bcl_kernel *host,
				       unsigned long call, const char *name,
				       uint32_t number)
{
	return call_device(host, call, name, number);
}
