/* SPDX-License-Identifier: MIT */
/*
 * Everything that goes over the wire, while frames are lost, doubled,
 * reordered and damaged in both directions, 20 % of each.
 */
#include "pair.h"

enum {
	MESSAGES = 1000,
	BACK = 200,
	LONG = 200000 + 4567, /* nothing is a multiple of anything */
};

static uint8_t buffer[LONG], memory[LONG];

static void check_counters(void)
{
	static const char *const least[] = {
		"fault.dropped",      "fault.duplicated",
		"fault.reordered",    "fault.corrupted",
		"card.retransmitted", "card.dropped_duplicate",
		"card.dropped_hcrc",
	};
	unsigned i;

	for (i = 0; i < sizeof(least) / sizeof(least[0]); i++) {
		uint64_t value = pair_counter(least[i]);

		printf("side %u: %s %llu\n", pair.side, least[i],
		       (unsigned long long)value);
		must(value > 5);
	}
	must(pair_counter("core.peers_card") == 1);
	must(pair_counter("core.peers_shared") == 0);
	must(pair_counter("udp.sendmsg") > 100);
}

static void stream(unsigned sender, unsigned n)
{
	uint8_t bytes[2000];
	unsigned i;

	for (i = 0; i < n; i++) {
		size_t length = i * 7 % sizeof(bytes);

		if (pair.side == sender) {
			pair_fill(bytes, length, i);
			pair_say(i % BCL_TYPES, bytes, length);
		} else {
			pair_hear(i % BCL_TYPES, bytes, length);
			pair_check(bytes, length, i);
		}
	}
}

static void rendezvous(void)
{
	uint8_t token[BCL_KEY_MAX];

	if (!pair.side) {
		pair_fill(buffer, sizeof(buffer), 1);
		must(!bcl_offer(pair.peer, buffer, sizeof(buffer), 1, token));
		pair_say(1, token, sizeof(token));
		pair_expect(BCL_EVENT_READ, 1);
	} else {
		pair_hear(1, token, sizeof(token));
		must(!bcl_pull(pair.peer, token, buffer, sizeof(buffer), 2));
		pair_expect(BCL_EVENT_PULLED, 2);
		pair_check(buffer, sizeof(buffer), 1);
	}
}

static void put_and_get(void)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_memory *registered;
	struct bcl_event event;

	if (!pair.side) {
		must(!bcl_memory_register(pair.context, memory, sizeof(memory),
					  BCL_REMOTE_READ | BCL_REMOTE_WRITE,
					  &registered));
		bcl_memory_key(registered, key);
		pair_say(1, key, sizeof(key));
		pair_event(&event);
		must(event.kind == BCL_EVENT_NOTIFY);
		must(event.length == sizeof(memory) - 5);
		pair_check(memory + 5, sizeof(memory) - 5, 2);
		pair_hear(1, NULL, 0);
		return;
	}
	pair_hear(1, key, sizeof(key));
	pair_fill(buffer, sizeof(buffer), 2);
	must(!bcl_put_notify(pair.peer, key, 5, buffer, sizeof(buffer) - 5, 3,
			     4, 5));
	pair_expect(BCL_EVENT_SENT, 5);
	memset(buffer, 0, sizeof(buffer));
	must(!bcl_get(pair.peer, key, 5, buffer, sizeof(buffer) - 5, 6));
	pair_expect(BCL_EVENT_SENT, 6);
	pair_check(buffer, sizeof(buffer) - 5, 2);
	pair_say(1, NULL, 0);
}

static void side(void)
{
	stream(0, MESSAGES);
	stream(1, BACK);
	rendezvous();
	put_and_get();
	check_counters();
}

int main(void)
{
	static const char *const variables[] = {
		"BCL_FAULT=drop:20%,dup:20%,reorder:20%,corrupt:20%", NULL
	};

	return pair_run(side, variables, 0);
}
