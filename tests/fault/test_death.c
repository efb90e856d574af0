/* SPDX-License-Identifier: MIT */
/* Dead peers, stopped peers, and peers that only seem dead. */
#include "pair.h"

static volatile unsigned sink;

static void check_path(void)
{
	bool ring = pair.net[0];

	must((pair_counter("packet.received") > 0) == ring);
	must((pair_counter("udp.sendmsg") > 0) == !ring);
}

static void hear_of_loss(void)
{
	struct bcl_event event;

	do
		pair_event(&event);
	while (event.kind != BCL_EVENT_PEER);
	must(event.status == BCL_ERR_DEAD);
	must(bcl_send(pair.peer, 1, 0, NULL, 0, 0) == BCL_ERR_DEAD);
}

/* Send a message, so that the card notices the peer's silence, unless the card
 * has noticed already. */
static void lose(void)
{
	enum bcl_status status = bcl_send(pair.peer, 1, 0, NULL, 0, 7);

	must(status == BCL_OK || status == BCL_ERR_DEAD);
	hear_of_loss();
}

/* The state of side 1's process, as in /proc; 0: the process is gone. */
static char other_state(void)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pair.shared->pid[1]);
	file = fopen(path, "r");
	if (file) {
		if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		fclose(file);
	}
	return state;
}

static void await_kill(void)
{
	pair_say(1, NULL, 0);
	pair_hear(1, NULL, 0);
	if (pair.side) {
		kill(getpid(), SIGKILL);
		pause();
	}
	while (other_state() && other_state() != 'Z')
		usleep(1000);
}

/* The system reports a dead peer's closed socket, long before the time-out. */
static void killed(void)
{
	await_kill();
	lose();
	pair.shared->left++;
}

/* A card with nothing to send probes the peer now and then, and the system
 * gives the same report. */
static void killed_while_awaited(void)
{
	await_kill();
	hear_of_loss();
	pair.shared->left++;
}

/* A stopped peer is silent, and so is the system: only the time-out tells. */
static void stopped(void)
{
	pair_say(1, NULL, 0);
	pair_hear(1, NULL, 0);
	if (pair.side) {
		raise(SIGSTOP);
		pause();
	}
	while (other_state() != 'T')
		usleep(1000);
	lose();
	kill(pair.shared->pid[1], SIGKILL);
	pair.shared->left++;
}

/* A rendezvous with a third node, which is in this process. */
static void rendezvous_with_another(void)
{
	static uint8_t from[1 << 20], to[1 << 20];
	uint8_t address[BCL_ADDRESS_MAX], token[BCL_KEY_MAX];
	struct bcl_context *context;
	struct bcl_peer *peer, *back = NULL;
	struct bcl_port *port;
	struct bcl_event event;
	size_t length;

	setenv("BCL_NODE", "c", 1);
	if (pair.net[1])
		setenv("BCL_NET", pair.net[1], 1);
	must(!bcl_open(NULL, &context));
	must(!bcl_port_open(context, NULL, &port));
	must(!bcl_port_address(port, address, &length));
	must(!bcl_peer_open(pair.port, address, length, &peer));
	while (bcl_send(peer, 1, 0, NULL, 0, 0) == BCL_ERR_AGAIN)
		bcl_poll(pair.port, &event);
	while (!back) {
		bcl_poll(pair.port, &event);
		if (!bcl_poll(port, &event) && event.kind == BCL_EVENT_MESSAGE)
			back = event.peer;
	}
	pair_fill(from, sizeof(from), 4);
	must(!bcl_offer(peer, from, sizeof(from), 1, token));
	must(!bcl_pull(back, token, to, sizeof(to), 2));
	do
		bcl_poll(pair.port, &event);
	while (bcl_poll(port, &event) || event.kind != BCL_EVENT_PULLED);
	must(!event.status);
	pair_check(to, sizeof(to), 4);
	bcl_close(context);
}

enum {
	AWAY = 10, /* seconds */
};

/* Side 1 is stopped, as in a debugger, for less than the time-out. Side 0
 * waits, and talks to a third node without delay. Meanwhile the card of side 0
 * probes side 1 every tenth of a second and does not retransmit the waiting
 * messages. */
static void debugged(void)
{
	enum {
		MESSAGES = 100
	};
	uint32_t i, number;
	struct bcl_event event;
	uint64_t frames = 0;
	double start;

	pair_say(1, NULL, 0);
	pair_hear(1, NULL, 0);
	if (pair.side) {
		raise(SIGSTOP);
	} else {
		while (other_state() != 'T')
			usleep(1000);
		for (i = 0; i < MESSAGES; i++)
			pair_say(2, &i, sizeof(i));
		for (start = pair_seconds(); pair_seconds() < start + AWAY;) {
			/* frames inside this process do not count */
			rendezvous_with_another();
			frames -= pair_counter("card.frames_sent");
			for (i = 0; i < 10; i++) {
				bcl_wait(pair.port, 100000000);
				while (!bcl_poll(pair.port, &event))
					; /* events of the rendezvous */
			}
			frames += pair_counter("card.frames_sent");
		}
		must(other_state() == 'T');
		printf("stopped for %d s: %llu frames to it meanwhile\n", AWAY,
		       (unsigned long long)frames);
		must(frames > 0 && frames < 50 * AWAY);
		kill(pair.shared->pid[1], SIGCONT);
	}
	for (i = 0; pair.side && i < MESSAGES; i++) {
		pair_hear(2, &number, sizeof(number));
		must(number == i);
	}
	pair_barrier(&pair.shared->arrived);
	must(pair_counter("card.lost") == 0);
	check_path();
}

/* Side 1 computes for five time-outs. The helper of side 1 answers the peer
 * meanwhile, and sends the offered memory. */
static void computes(void)
{
	static uint8_t buffer[1 << 20];
	uint8_t token[BCL_KEY_MAX];
	double start = pair_seconds();

	if (pair.side) {
		pair_fill(buffer, sizeof(buffer), 3);
		must(!bcl_offer(pair.peer, buffer, sizeof(buffer), 1, token));
		pair_say(1, token, sizeof(token));
		/* until the peer has read the offer: the peer needs nothing
		 * else of this side */
		while (!pair.shared->arrived || pair_seconds() < start + AWAY)
			sink++;
		pair_expect(BCL_EVENT_READ, 1);
		pair_hear(2, NULL, 0);
	} else {
		pair_hear(1, token, sizeof(token));
		must(!bcl_pull(pair.peer, token, buffer, sizeof(buffer), 2));
		pair_expect(BCL_EVENT_PULLED, 2);
		pair_check(buffer, sizeof(buffer), 3);
		pair.shared->arrived = 1;
		while (pair_seconds() < start + AWAY) {
			rendezvous_with_another();
			bcl_wait(pair.port, 1000000000);
		}
		pair_say(2, NULL, 0);
	}
	must(pair_counter("card.lost") == 0);
	check_path();
	/* No storm of retransmissions. A busy machine makes some frames late in
	 * each rendezvous, so the limit grows with the frames sent. */
	must(pair_counter("card.retransmitted") <
	     1000 + pair_counter("card.frames_sent") / 8);
}

int main(void)
{
	/* Longer than pair_event() waits. */
	static const char *const patient[] = { "BCL_PEER_TIMEOUT=600s", NULL };
	static const char *const usual[] = { "BCL_PEER_TIMEOUT=30s", NULL };
	static const char *const quick[] = { "BCL_PEER_TIMEOUT=2s", NULL };

	static const char *const usual_ring[] = { "BCL_PEER_TIMEOUT=30s",
						  "BCL_RAILS=packet", NULL };
	static const char *const quick_ring[] = { "BCL_PEER_TIMEOUT=2s",
						  "BCL_RAILS=packet", NULL };

	if (pair_run(killed, patient, 2) ||
	    pair_run(killed_while_awaited, patient, 2) ||
	    pair_run(stopped, quick, 2) || pair_run(debugged, usual, 0) ||
	    pair_run(computes, quick, 0))
		return 1;
	if (!interfaces()) {
		puts("without packet rings: no network namespaces");
		return 0;
	}
	pair.net[0] = "near0";
	pair.net[1] = "far0";
	return pair_run(debugged, usual_ring, 0) ||
	       pair_run(computes, quick_ring, 0);
}
