/* SPDX-License-Identifier: MIT */
/*
 * The path between two nodes becomes narrower while the nodes use it, and later
 * is away for a while. The nodes are in a network namespace and use the
 * loopback.
 */
#include <sched.h>

#include "pair.h"

enum {
	LONG = 1 << 20,
};

static uint8_t buffer[LONG];

static void shell(const char *command)
{
	if (!pair.side)
		must(!system(command));
}

/* Side 0 begins. */
static void exchange(unsigned seed)
{
	uint8_t token[BCL_KEY_MAX], bytes[3000];

	pair_fill(bytes, sizeof(bytes), seed);
	if (!pair.side)
		pair_say(1, bytes, sizeof(bytes));
	pair_hear(1, bytes, sizeof(bytes));
	pair_check(bytes, sizeof(bytes), seed);
	if (pair.side)
		pair_say(1, bytes, sizeof(bytes));
	if (pair.side) {
		pair_fill(buffer, LONG, seed);
		must(!bcl_offer(pair.peer, buffer, LONG, 1, token));
		pair_say(2, token, sizeof(token));
		pair_expect(BCL_EVENT_READ, 1);
	} else {
		pair_hear(2, token, sizeof(token));
		must(!bcl_pull(pair.peer, token, buffer, LONG, 2));
		pair_expect(BCL_EVENT_PULLED, 2);
		pair_check(buffer, LONG, seed);
	}
}

static void narrower(void)
{
	exchange(1);
	pair_barrier(&pair.shared->arrived);
	must(pair_counter("udp.too_big") == 0);
	pair_barrier(&pair.shared->arrived);
	shell("ip route change local 127.0.0.1 dev lo table local "
	      "src 127.0.0.1 mtu lock 1000");
	exchange(2);
	exchange(3);
	/* Side 1 hears of the narrower path before its first long frame. */
	must(pair.side || pair_counter("udp.too_big") > 0);
	must(pair_counter("card.lost") == 0);
	pair_barrier(&pair.shared->arrived);
	shell("ip route change local 127.0.0.1 dev lo table local "
	      "src 127.0.0.1");
}

static void away(void)
{
	exchange(1);
	pair_barrier(&pair.shared->arrived);
	shell("ip link set lo down");
	if (pair.side)
		pair_say(1, NULL, 0);
	else
		usleep(1500000);
	shell("ip link set lo up");
	if (!pair.side)
		pair_hear(1, NULL, 0);
	exchange(2);
	must(pair_counter("card.lost") == 0);
}

int main(void)
{
	static const char *const variables[] = { "BCL_PEER_TIMEOUT=20s", NULL };

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET)) {
		printf("skipped: no network namespaces\n");
		return 77;
	}
	if (system("ip link set lo up mtu 1500")) {
		printf("skipped: no ip command\n");
		return 77;
	}
	return pair_run(narrower, variables, 0) || pair_run(away, variables, 0);
}
