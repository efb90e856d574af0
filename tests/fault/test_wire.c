/* SPDX-License-Identifier: MIT */
/*
 * All kinds of traffic over the wire, while injected faults lose, double,
 * reorder and damage frames in both directions, 20 % of each: over UDP and, in
 * a network namespace, over a packet ring, both, and two packet rings at once.
 *
 * Usage: test_wire [SEED [WAY]]
 */
#include "pair.h"

enum {
	MESSAGES = 1000,
	BACK = 200,
	LONG = 200000 + 4567, /* nothing is a multiple of anything */
	LESS = 20000 + 4567,  /* of short frames: each waits for a time-out */
	ENOUGH = 100,	      /* frames by a rail */
	ROUNDS = 20,	      /* until each rail has had enough, at most */
};

static uint8_t buffer[LONG], memory[LONG];

static const struct way {
	const char *name, *rails;
	const char *net[2]; /* of each side; NULL: the loopback */
	bool udp, packet;
	size_t most, length; /* bytes: limit of a message, of a rendezvous */
} ways[] = {
	{ "UDP", "BCL_RAILS=udp", { NULL, NULL }, true, false, 2000, LONG },
	{ "a packet ring",
	  "BCL_RAILS=packet",
	  { "near0", "far0" },
	  false,
	  true,
	  200,
	  LESS },
	{ "both",
	  "BCL_RAILS=udp,packet",
	  { "near0", "far0" },
	  true,
	  true,
	  200,
	  LESS },
	{ "two packet rings",
	  "BCL_RAILS=packet",
	  { "near0,near1", "far0,far1" },
	  false,
	  true,
	  200,
	  LESS },
};

static const struct way *way;

/* Bytes sent by the interface, as the system counts them. */
static unsigned long long left_by(const char *interface)
{
	unsigned long long bytes = 0;
	char line[512], name[32];
	FILE *file = fopen("/proc/net/dev", "r");

	must(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line,
			   " %31[^:]: %*u %*u %*u %*u %*u %*u %*u %*u %llu",
			   name, &bytes) == 2 &&
		    !strcmp(name, interface))
			break;
	must(!feof(file));
	fclose(file);
	return bytes;
}

/* Has each rail of the way carried much? */
static bool all_used(void)
{
	char nets[64], *interface, *rest = nets;

	if ((way->udp && pair_counter("udp.sendmsg") <= ENOUGH) ||
	    (way->packet && pair_counter("packet.received") <= ENOUGH))
		return false;
	if (!way->packet)
		return true;
	snprintf(nets, sizeof(nets), "%s", way->net[pair.side]);
	while ((interface = strsep(&rest, ",")))
		if (left_by(interface) <= way->length / 4)
			return false;
	return true;
}

static void check_path(void)
{
	must(pair_counter("core.peers_card") == 1);
	must(pair_counter("core.peers_shared") == 0);
	must(way->udp || pair_counter("udp.sendmsg") == 0);
	must(way->packet || pair_counter("packet.received") == 0);
	must(all_used());
}

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

		printf("%s, side %u: %s %llu\n", way->name, pair.side, least[i],
		       (unsigned long long)value);
		must(value > 5);
	}
	check_path();
}

static void stream(unsigned sender, unsigned n)
{
	uint8_t bytes[2000];
	unsigned i;

	for (i = 0; i < n; i++) {
		size_t length = i * 7 % way->most;

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
		pair_fill(buffer, way->length, 1);
		must(!bcl_offer(pair.peer, buffer, way->length, 1, token));
		pair_say(1, token, sizeof(token));
		pair_expect(BCL_EVENT_READ, 1);
	} else {
		pair_hear(1, token, sizeof(token));
		must(!bcl_pull(pair.peer, token, buffer, way->length, 2));
		pair_expect(BCL_EVENT_PULLED, 2);
		pair_check(buffer, way->length, 1);
	}
}

static void put_and_get(void)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_memory *registered;
	struct bcl_event event;

	if (!pair.side) {
		memset(memory, 0, sizeof(memory));
		must(!bcl_memory_register(pair.context, memory, sizeof(memory),
					  BCL_REMOTE_READ | BCL_REMOTE_WRITE,
					  &registered));
		bcl_memory_key(registered, key);
		pair_say(1, key, sizeof(key));
		pair_event(&event);
		must(event.kind == BCL_EVENT_NOTIFY);
		must(event.length == way->length - 5);
		pair_check(memory + 5, way->length - 5, 2);
		pair_hear(1, NULL, 0);
		bcl_memory_release(registered);
		return;
	}
	pair_hear(1, key, sizeof(key));
	pair_fill(buffer, way->length, 2);
	must(!bcl_put_notify(pair.peer, key, 5, buffer, way->length - 5, 3, 4,
			     5));
	pair_expect(BCL_EVENT_SENT, 5);
	memset(buffer, 0, way->length);
	must(!bcl_get(pair.peer, key, 5, buffer, way->length - 5, 6));
	pair_expect(BCL_EVENT_SENT, 6);
	pair_check(buffer, way->length - 5, 2);
	pair_say(1, NULL, 0);
}

/* Do both sides find that all rails were used? */
static bool enough(void)
{
	uint8_t mine = all_used(), other;

	pair_say(1, &mine, sizeof(mine));
	pair_hear(1, &other, sizeof(other));
	return mine && other;
}

/* Half of the time four time-outs in a row go unanswered. Then the card gives a
 * rail up, and by chance the rail stays down for seconds. */
static void side(void)
{
	double start = pair_seconds();
	unsigned round = 0;

	stream(0, MESSAGES);
	stream(1, BACK);
	do {
		rendezvous();
		put_and_get();
	} while (!enough() && ++round < ROUNDS);
	printf("%s, side %u: %.1f s\n", way->name, pair.side,
	       pair_seconds() - start);
	check_counters();
}

static int go(const char *seed)
{
	char faults[100];
	const char *variables[] = { way->rails, faults, NULL };

	if (way->packet && !interfaces()) {
		printf("skipped: no network namespaces\n");
		return 77;
	}
	snprintf(faults, sizeof(faults),
		 "BCL_FAULT=drop:20%%,dup:20%%,reorder:20%%,corrupt:20%%,"
		 "seed:%s",
		 seed);
	memcpy(pair.net, way->net, sizeof(pair.net));
	return pair_run(side, variables, 0);
}

enum {
	NWAYS = sizeof(ways) / sizeof(ways[0])
};

/* The result of a way. Each way runs in a process of its own. */
struct run {
	int status;
	char failure[sizeof(pair.failure)];
};

/* Print the failures at the very end, where no way prints in between. */
static void report(const struct run *runs, const char *seed)
{
	unsigned i;

	for (i = 0; i < NWAYS; i++)
		if (runs[i].status == 1)
			fprintf(stderr, "failed: test_wire %s '%s': %s\n", seed,
				ways[i].name, runs[i].failure);
}

static void start(struct run *run, const char *seed)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	must(pid >= 0);
	if (pid)
		return;
	run->status = go(seed);
	memcpy(run->failure, pair.failure, sizeof(pair.failure));
	exit(run->status);
}

/* Run all ways at once: most of the time all wait for time-outs. */
int main(int argc, char **argv)
{
	struct run *runs =
		mmap(NULL, NWAYS * sizeof(*runs), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned i, running = 0;
	int worst = 0, status;
	char seed[24];

	must(runs != MAP_FAILED);
	snprintf(seed, sizeof(seed), "%s", argc > 1 ? argv[1] : "");
	if (argc < 2)
		snprintf(seed, sizeof(seed), "%llu",
			 (unsigned long long)time(NULL) << 16 ^
				 (unsigned)getpid());
	printf("seed %s\n", seed);
	for (i = 0; i < NWAYS; i++) {
		way = &ways[i];
		if (argc > 2 && strcmp(argv[2], way->name))
			continue;
		start(&runs[i], seed);
		running++;
	}
	must(running);
	while (running--) {
		must(wait(&status) > 0);
		status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
		if (status && worst != 1)
			worst = status;
	}
	report(runs, seed);
	return worst;
}
