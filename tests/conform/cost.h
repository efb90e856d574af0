/* SPDX-License-Identifier: MIT */
/* Two ports, each other's peers, for programs under an instruction count. */
#ifndef BCL_TESTS_COST_H
#define BCL_TESTS_COST_H

#include <stdio.h>
#include <stdlib.h>

#include <bcl/bcl.h>

#define must(condition)                                                \
	do {                                                           \
		if (!(condition)) {                                    \
			fprintf(stderr, "%s: line %d: %s\n", __FILE__, \
				__LINE__, #condition);                 \
			exit(1);                                       \
		}                                                      \
	} while (0)

static struct bcl_port *port[2];
static struct bcl_peer *peer[2];

/* Connect the open ports, and check the path between them. */
static inline void connect_ports(enum bcl_path path)
{
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	struct bcl_event event;
	size_t length;
	unsigned up = 0;

	for (unsigned i = 0; i < 2; i++) {
		must(!bcl_port_address(port[1 - i], address, &length));
		must(!bcl_peer_open(port[i], address, length, &peer[i]));
	}
	for (unsigned i = 0; up < 2; i ^= 1) {
		if (bcl_poll(port[i], &event))
			continue;
		must(event.kind == BCL_EVENT_PEER && !event.status);
		up++;
	}
	bcl_peer_info(peer[0], &info);
	must(info.path == path);
}

#endif
