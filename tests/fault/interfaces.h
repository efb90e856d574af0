/* SPDX-License-Identifier: MIT */
/* Networks for packet rings, without a second host. */
#ifndef BCL_TESTS_INTERFACES_H
#define BCL_TESTS_INTERFACES_H

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

/* Two pairs of interfaces, each pair joined, in a network of this process:
 * near0 and far0, near1 and far1. False: not permitted here. */
static inline bool interfaces(void)
{
	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return false;
	return !system("ip link set lo up && for i in 0 1; do\n"
		       "ip link add near$i type veth peer name far$i &&\n"
		       "ip address add 10.80.$i.1/24 dev near$i &&\n"
		       "ip address add 10.80.$i.2/24 dev far$i &&\n"
		       "ip link set near$i up && ip link set far$i up ||\n"
		       "exit 1; done");
}

#endif
