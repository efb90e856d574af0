/* SPDX-License-Identifier: MIT */
/*
 * The network interfaces of this host and the choice among their addresses.
 */
#ifndef BCL_INTERFACE_H
#define BCL_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcl/status.h>

struct bcl_env;

enum {
	BCL_CHOICES_MAX = 32, /* more than any card has ends */
};

struct bcl_ip {
	uint8_t family;	   /* 4 or 6 */
	uint8_t prefix;	   /* bits of the network */
	uint8_t bytes[16]; /* network order */
	/* IPv6: perhaps not this host's (tentative), or not for long. */
	bool doubtful;
};

struct bcl_interface {
	char name[16];
	unsigned index;
	bool up, loopback;
	bool default_route;
	bool ethernet; /* it has a MAC address */
	uint8_t mac[6];
	unsigned naddresses;
	struct bcl_ip *address;
};

struct bcl_interfaces {
	struct bcl_interface *list;
	unsigned n;
	size_t size; /* of the memory of it all */
};

/* Those of this host, however many, in the system's order. SYSTEM: it would not
 * say; NOMEM. */
enum bcl_status bcl_interfaces_open(const struct bcl_env *env,
				    struct bcl_interfaces *interfaces);
void bcl_interfaces_close(const struct bcl_env *env,
			  struct bcl_interfaces *interfaces);

/* An address to use, best first. */
struct bcl_choice {
	unsigned interface; /* in the list */
	unsigned address;   /* of the interface */
	const char *reason; /* for people */
};

/*
 * Choose addresses. `net` (BCL_NET) names interfaces and networks, separated
 * by commas, best first. Without it: interfaces that are up and not
 * loopback; those with a default route first; container bridges and virtual
 * Ethernet pairs only if there is nothing better, then those with nothing but
 * link-local addresses, then loopback; `virtual` (BCL_NODE) wants loopback
 * alone. First the best address of each interface, or for each word of `net`:
 * IPv4 before IPv6, doubtful ones last. Then their others, one after the other,
 * as which one a peer can reach is not known yet; of loopback none.
 *
 * At most max choices. ARG: a word of `net` is not an interface or network
 * of the list; *word says which.
 */
enum bcl_status bcl_interfaces_choose(const struct bcl_interface *list,
				      unsigned n, const char *net, bool virtual,
				      struct bcl_choice *choices, unsigned max,
				      unsigned *count, char word[64]);

/* "192.0.2.1", "fe80::1%eth0" */
void bcl_ip_print(const struct bcl_ip *ip, const char *interface,
		  char text[64]);

/*
 * State and MTU of one interface now, asked by any socket; whoever has no
 * descriptor left may ask all the same, and whatever it is called by now. One
 * that is gone is not up. False: the system would not say.
 */
bool bcl_interface_state(int fd, unsigned index, bool *up, uint32_t *mtu);

#endif
