// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The interfaces that cards may use: a parameter of the module, which may
 * change at any time. */
#include <linux/moduleparam.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>

#include "host.h"

enum {
	TEXT = 512,
};

/* Names, with commas between; the last byte is 0. Written under rtnl. A card
 * that measures an end without rtnl may see half of it, and measures the end
 * again after the writer. */
static char permitted[TEXT];

bool bcl_kmod_interface_permitted(const struct net_device *dev)
{
	size_t length = strlen(dev->name), n;
	const char *at;

	for (at = permitted; *at; at += n + (at[n] == ',')) {
		n = strcspn(at, ",");
		if (n == length && !strncmp(at, dev->name, n))
			return true;
	}
	return !*permitted;
}

/* The value may end with the end of a line. */
static int set_permitted(const char *value, const struct kernel_param *param)
{
	size_t length = strcspn(value, "\n");

	if (length >= sizeof(permitted))
		return -ENOSPC;
	rtnl_lock();
	memcpy(permitted, value, length);
	permitted[length] = 0;
	bcl_kmod_ends_measure();
	rtnl_unlock();
	return 0;
}

static int get_permitted(char *buffer, const struct kernel_param *param)
{
	int length;

	rtnl_lock();
	length = sprintf(buffer, "%s\n", permitted);
	rtnl_unlock();
	return length;
}

static const struct kernel_param_ops operations = {
	.set = set_permitted,
	.get = get_permitted,
};
module_param_cb(interfaces, &operations, NULL, 0644);
MODULE_PARM_DESC(interfaces, "Interfaces that cards may use, with commas "
			     "between (all)");
