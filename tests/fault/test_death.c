/* SPDX-License-Identifier: MIT */
/* Peers that die, that are stopped, and that only seem dead. */
#include "pair.h"

static volatile unsigned sink;

static double lose(void)
{
	double start = pair_seconds();
	struct bcl_event event;

	do
		pair_event(&event);
	while (event.kind != BCL_EVENT_PEER);
	must(event.status == BCL_ERR_DEAD);
	must(bcl_send(pair.peer, 1, 0, NULL, 0, 0) == BCL_ERR_DEAD);
	return pair_seconds() - start;
}

/* The system says at once that nobody listens any more. */
static void killed(void)
{
	pair_say(1, NULL, 0);
	pair_hear(1, NULL, 0);
	if (pair.side) {
		kill(getpid(), SIGKILL);
		pause();
	}
	usleep(100000);
	must(bcl_send(pair.peer, 1, 0, NULL, 0, 7) == BCL_OK);
	must(lose() < 5);
	pair.shared->left++;
}

/* Nobody says anything: the time-out does. */
static void stopped(void)
{
	pair_say(1, NULL, 0);
	pair_hear(1, NULL, 0);
	if (pair.side) {
		raise(SIGSTOP);
		pause();
	}
	usleep(100000);
	must(bcl_send(pair.peer, 1, 0, NULL, 0, 7) == BCL_OK);
	must(lose() < 20);
	kill(pair.shared->pid[1], SIGKILL);
	pair.shared->left++;
}

/* A program that computes for three time-outs: its helper answers for it,
 * also by sending what was offered. */
static void computes(void)
{
	static uint8_t buffer[1 << 20];
	uint8_t token[BCL_KEY_MAX];
	double start = pair_seconds();

	if (pair.side) {
		pair_fill(buffer, sizeof(buffer), 3);
		must(!bcl_offer(pair.peer, buffer, sizeof(buffer), 1, token));
		pair_say(1, token, sizeof(token));
		while (pair_seconds() < start + 3)
			sink++;
		pair_expect(BCL_EVENT_READ, 1);
		pair_hear(2, NULL, 0);
	} else {
		pair_hear(1, token, sizeof(token));
		usleep(500000);
		must(!bcl_pull(pair.peer, token, buffer, sizeof(buffer), 2));
		pair_expect(BCL_EVENT_PULLED, 2);
		must(pair_seconds() < start + 2.5);
		pair_check(buffer, sizeof(buffer), 3);
		while (pair_seconds() < start + 3)
			bcl_wait(pair.port, 100000000);
		pair_say(2, NULL, 0);
	}
	must(pair_counter("card.lost") == 0);
	/* No storm: what was sent again has its count. */
	must(pair_counter("card.retransmitted") < 100);
}

int main(void)
{
	static const char *const variables[] = { "BCL_PEER_TIMEOUT=1s", NULL };

	return pair_run(killed, variables, 2) |
	       pair_run(stopped, variables, 2) |
	       pair_run(computes, variables, 0);
}
