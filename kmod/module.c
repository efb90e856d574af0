// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The beginning and the end of the kernel module bcl.ko. */
#include <linux/module.h>

#include "host.h"

static int __init module_begin(void)
{
	int error = bcl_kmod_ends_init();

	if (error)
		return error;
	bcl_kmod_ether_init();
	error = bcl_kmod_device_init();
	if (error) {
		bcl_kmod_ether_exit();
		bcl_kmod_ends_exit();
	}
	return error;
}

/* No file is open, so there is no card. */
static void __exit module_end(void)
{
	bcl_kmod_device_exit();
	bcl_kmod_ether_exit();
	bcl_kmod_ends_exit();
}

module_init(module_begin);
module_exit(module_end);
MODULE_DESCRIPTION("BCL: cards for message passing in the kernel");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION(BCL_VERSION);
