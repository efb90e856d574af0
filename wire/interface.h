/* SPDX-License-Identifier: MIT */
/*
 * The network interfaces of this host, and the choice of the addresses to use.
 */
#ifndef BCL_INTERFACE_H
#define BCL_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bcl/status.h>

struct bcl_env;

enum {
	BCL_CHOICES_MAX = 32, /* more than a card has ends */
};

struct bcl_ip {
	uint8_t family;	   /* 4 or 6 */
	uint8_t prefix;	   /* bits of the network's prefix */
	uint8_t bytes[16]; /* network order */
	/* IPv6: may not be this host's (tentative), or not for long
	 * (deprecated). */
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
	size_t size; /* bytes of all memory of the list */
};

/* List the interfaces of this host in the system's order, without a limit.
 * SYSTEM: the system cannot list them. NOMEM. */
enum bcl_status bcl_interfaces_open(const struct bcl_env *env,
				    struct bcl_interfaces *interfaces);
void bcl_interfaces_close(const struct bcl_env *env,
			  struct bcl_interfaces *interfaces);

/* An address to use. The caller gets the best first. */
struct bcl_choice {
	unsigned interface; /* in the list */
	unsigned address;   /* of the interface */
	const char *reason; /* for people */
};

/*
 * Choose addresses. `net` (BCL_NET) names interfaces and networks, separated by
 * commas, best first. If `net` is empty, the order of interfaces is:
 *
 *  up, not loopback, with a default route
 *  up, not loopback
 *  container bridges, virtual Ethernet pairs: only if nothing is better
 *  interfaces with link-local addresses only, likewise
 *  loopback, likewise; `virtual` (BCL_NODE) wants loopback alone
 *
 * The first choices are the best address of each interface, or for each word of
 * `net`: IPv4 before IPv6, doubtful addresses last. Further addresses of the
 * same interfaces follow one after the other, because the address that a peer
 * can reach is not known yet. Loopback has only one choice.
 *
 * Makes at most `max` choices. ARG: a word of `net` fits no interface or
 * network that is up; `word` returns this word.
 */
enum bcl_status bcl_interfaces_choose(const struct bcl_interface *list,
				      unsigned n, const char *net, bool virtual,
				      struct bcl_choice *choices, unsigned max,
				      unsigned *count, char word[64]);

/* "192.0.2.1", "fe80::1%eth0" */
void bcl_ip_print(const struct bcl_ip *ip, const char *interface,
		  char text[64]);

/*
 * Read state and MTU of one interface by any socket `fd`: a caller that has no
 * free descriptor can still ask, and the interface may have been renamed. An
 * interface that is gone is not up. Returns false if the system does not
 * answer.
 */
bool bcl_interface_state(int fd, unsigned index, bool *up, uint32_t *mtu);

#endif
