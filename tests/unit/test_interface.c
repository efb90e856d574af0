/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "env/env.h"
#include "wire/interface.h"

static struct bcl_interface list[8];
static struct bcl_ip addresses[8][8];
static unsigned n, count;
static struct bcl_choice choices[8];
static char word[64];

static struct bcl_interface *add(const char *name)
{
	struct bcl_interface *interface = &list[n++];

	*interface = (struct bcl_interface){ .index = n,
					     .up = true,
					     .address = addresses[n - 1] };
	memset(addresses[n - 1], 0, sizeof(addresses[0]));
	strcpy(interface->name, name);
	return interface;
}

static void address(struct bcl_interface *interface, const char *text,
		    unsigned prefix)
{
	struct bcl_ip *ip = &interface->address[interface->naddresses++];

	ip->family = strchr(text, ':') ? 6 : 4;
	ip->prefix = (uint8_t)prefix;
	ck_assert_int_eq(inet_pton(ip->family == 4 ? AF_INET : AF_INET6, text,
				   ip->bytes),
			 1);
}

static void loopback(void)
{
	struct bcl_interface *lo = add("lo");

	lo->loopback = true;
	address(lo, "127.0.0.1", 8);
	address(lo, "::1", 128);
}

static enum bcl_status choose(const char *net, bool virtual)
{
	return bcl_interfaces_choose(list, n, net, virtual, choices, 8, &count,
				     word);
}

/* "eth0 192.0.2.1, eth1 ..." */
static const char *chosen(void)
{
	static char text[512];
	unsigned i;

	text[0] = 0;
	for (i = 0; i < count; i++) {
		const struct bcl_interface *interface =
			&list[choices[i].interface];
		char ip[64];

		bcl_ip_print(&interface->address[choices[i].address],
			     interface->name, ip);
		sprintf(text + strlen(text), "%s%s %s", i ? ", " : "",
			interface->name, ip);
		ck_assert_ptr_nonnull(choices[i].reason);
	}
	return text;
}

static void setup(void)
{
	n = 0;
}

START_TEST(default_route_first_bridges_never)
{
	struct bcl_interface *eth1, *docker, *eth0, *down;

	loopback();
	eth1 = add("eth1");
	address(eth1, "fd00::1", 64);
	address(eth1, "198.51.100.1", 24);
	docker = add("docker0");
	address(docker, "172.17.0.1", 16);
	down = add("eth2");
	address(down, "203.0.113.1", 24);
	down->up = false;
	eth0 = add("eth0");
	address(eth0, "fe80::1", 64);
	address(eth0, "192.0.2.1", 24);
	eth0->default_route = true;
	ck_assert_int_eq(choose("", false), BCL_OK);
	ck_assert_str_eq(chosen(), "eth0 192.0.2.1, eth1 198.51.100.1, "
				   "eth1 fd00::1");
}
END_TEST

START_TEST(a_lone_virtual_pair_is_taken)
{
	loopback();
	address(add("veth0"), "10.0.0.1", 24);
	ck_assert_int_eq(choose("", false), BCL_OK);
	ck_assert_str_eq(chosen(), "veth0 10.0.0.1");
}
END_TEST

/* Nobody knows yet which address will reach a peer. */
START_TEST(further_addresses_of_other_networks)
{
	struct bcl_interface *eth0, *eth1;

	loopback();
	eth0 = add("eth0");
	address(eth0, "fd00::9", 64);
	eth0->address[0].doubtful = true;
	address(eth0, "10.1.0.1", 24);
	address(eth0, "10.1.0.9", 24);
	address(eth0, "10.2.0.1", 24);
	address(eth0, "fe80::1", 64);
	address(eth0, "fd01::1", 64);
	eth1 = add("eth1");
	address(eth1, "10.3.0.1", 24);
	ck_assert_int_eq(choose("", false), BCL_OK);
	ck_assert_str_eq(chosen(),
			 "eth0 10.1.0.1, eth1 10.3.0.1, eth0 10.2.0.1, "
			 "eth0 fd01::1, eth0 fd00::9");
	ck_assert_int_eq(choose("eth0", false), BCL_OK);
	ck_assert_str_eq(chosen(), "eth0 10.1.0.1, eth0 10.2.0.1, "
				   "eth0 fd01::1, eth0 fd00::9");
	ck_assert_int_eq(choose("10.0.0.0/8,fe80::/10", false), BCL_OK);
	ck_assert_str_eq(chosen(), "eth0 10.1.0.1, eth1 10.3.0.1, "
				   "eth0 fe80::1%eth0, eth0 10.2.0.1");
}
END_TEST

START_TEST(link_local_then_loopback)
{
	struct bcl_interface *eth0;

	loopback();
	ck_assert_int_eq(choose("", false), BCL_OK);
	ck_assert_str_eq(chosen(), "lo 127.0.0.1");
	eth0 = add("eth0");
	address(eth0, "fe80::1", 64);
	ck_assert_int_eq(choose("", false), BCL_OK);
	ck_assert_str_eq(chosen(), "eth0 fe80::1%eth0");
	address(eth0, "fd00::1", 64);
	ck_assert_int_eq(choose("", false), BCL_OK);
	ck_assert_str_eq(chosen(), "eth0 fd00::1");
}
END_TEST

START_TEST(virtual_nodes_use_loopback)
{
	loopback();
	address(add("eth0"), "192.0.2.1", 24);
	ck_assert_int_eq(choose("", true), BCL_OK);
	ck_assert_str_eq(chosen(), "lo 127.0.0.1");
	ck_assert_int_eq(choose("eth0", true), BCL_OK);
	ck_assert_str_eq(chosen(), "eth0 192.0.2.1");
}
END_TEST

START_TEST(the_user_names_interfaces_and_networks)
{
	struct bcl_interface *eth0;

	loopback();
	eth0 = add("eth0");
	address(eth0, "192.0.2.1", 24);
	address(eth0, "fd00::1", 64);
	address(add("docker0"), "172.17.0.1", 16);
	ck_assert_int_eq(choose("docker0,192.0.2.0/24", false), BCL_OK);
	ck_assert_str_eq(chosen(), "docker0 172.17.0.1, eth0 192.0.2.1");
	ck_assert_int_eq(choose("fd00::/8,192.0.0.0/8", false), BCL_OK);
	ck_assert_str_eq(chosen(), "eth0 fd00::1, eth0 192.0.2.1");
	ck_assert_int_eq(choose("127.0.0.1", false), BCL_OK);
	ck_assert_str_eq(chosen(), "lo 127.0.0.1");
	/* an address counts once, although the list names the address twice */
	ck_assert_int_eq(choose("eth0,192.0.2.1,eth0", false), BCL_OK);
	ck_assert_str_eq(chosen(), "eth0 192.0.2.1, eth0 fd00::1");
}
END_TEST

START_TEST(words_that_fit_nothing)
{
	static const char *const wrong[] = { "eth9",	     "10.0.0.0/8",
					     "192.0.2.1/33", "192.0.2.1/x",
					     "192.0.2.1/",   "::1/129" };
	unsigned i;

	loopback();
	address(add("eth0"), "192.0.2.1", 24);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_int_eq(choose(wrong[i], false), BCL_ERR_ARG);
		ck_assert_str_eq(word, wrong[i]);
	}
	/* the choices before the wrong word are still usable */
	ck_assert_int_eq(choose("eth0,nothing", false), BCL_ERR_ARG);
	ck_assert_str_eq(word, "nothing");
	ck_assert_str_eq(chosen(), "eth0 192.0.2.1");
}
END_TEST

START_TEST(this_host_has_loopback)
{
	struct bcl_interfaces all;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct rlimit limit, none;
	unsigned i;
	uint32_t mtu;
	bool up;

	ck_assert_int_eq(bcl_interfaces_open(&bcl_env_linux, &all), BCL_OK);
	for (i = 0; i < all.n && !all.list[i].loopback; i++)
		;
	ck_assert_uint_lt(i, all.n);
	ck_assert(!getrlimit(RLIMIT_NOFILE, &limit));
	none = limit;
	none.rlim_cur = 0;
	ck_assert(!setrlimit(RLIMIT_NOFILE, &none));
	ck_assert(bcl_interface_state(fd, all.list[i].index, &up, &mtu));
	ck_assert(up);
	ck_assert_uint_ge(mtu, 576);
	ck_assert(bcl_interface_state(fd, 0x7ffffff0, &up, &mtu));
	ck_assert(!up); /* no such interface: an answer, no failure */
	close(fd);
	ck_assert(!bcl_interface_state(fd, all.list[i].index, &up, &mtu));
	bcl_interfaces_close(&bcl_env_linux, &all);
	/* a leak checker wants some */
	ck_assert(!setrlimit(RLIMIT_NOFILE, &limit));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("interface");
	TCase *tcase = tcase_create("interface");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, default_route_first_bridges_never);
	tcase_add_test(tcase, a_lone_virtual_pair_is_taken);
	tcase_add_test(tcase, further_addresses_of_other_networks);
	tcase_add_test(tcase, link_local_then_loopback);
	tcase_add_test(tcase, virtual_nodes_use_loopback);
	tcase_add_test(tcase, the_user_names_interfaces_and_networks);
	tcase_add_test(tcase, words_that_fit_nothing);
	tcase_add_test(tcase, this_host_has_loopback);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
