/* SPDX-License-Identifier: MIT */
/*
 * wire PERCENT SEED A B...: the wire between guests, on the host. The network
 * card of guest A receives at the socket A.card and sends to A.wire; likewise
 * the others. The guests have the Ethernet addresses xx:xx:xx:xx:xx:01 and so
 * on, in their order. Of the frames of BCL and the datagrams of UDP that go to
 * a guest the wire loses, doubles, reorders and corrupts PERCENT each, by the
 * seed; all further frames pass unchanged. A guest may be switched off and on.
 * At the end by SIGTERM the program prints the numbers of frames and faults.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <bcl/wire.h>

#include "sim/random.h"

enum {
	GUESTS_MAX = 9,
	LONGEST = 1 << 16,
	ETHER = 14, /* bytes of the header: no fault strikes there */
	IPV4 = 0x0800,
	IPV6 = 0x86dd,
	OVERTAKE = 4, /* frames that go before a reordered one, at most */
	SOON = 5,     /* ms until a reordered frame goes in any case */
};

enum fault {
	LOST,
	DOUBLED,
	REORDERED,
	CORRUPTED,
	FAULTS
};

static const char *const fault_names[FAULTS] = { "lost", "doubled", "reordered",
						 "corrupted" };

struct guest {
	int wire; /* socket that the guest's card sends to */
	struct sockaddr_un card;
	uint8_t held[LONGEST]; /* a frame that later frames overtake */
	size_t held_length;    /* 0: none */
	unsigned held_for;     /* frames */
	uint64_t held_until;   /* ms */
	uint64_t frames, struck[FAULTS];
};

static struct guest guests[GUESTS_MAX];
static unsigned n_guests;
static uint64_t dice;
static unsigned percent;
static volatile sig_atomic_t over;

static void end(int signal)
{
	(void)signal;
	over = 1;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct sockaddr_un address_of(const char *guest, const char *side)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s.%s", guest,
		 side);
	return address;
}

static void open_guest(struct guest *guest, const char *name)
{
	struct sockaddr_un own = address_of(name, "wire");

	guest->card = address_of(name, "card");
	guest->wire = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (guest->wire < 0 ||
	    bind(guest->wire, (void *)&own, sizeof(own)) < 0) {
		perror(own.sun_path);
		exit(1);
	}
}

static bool strikes(struct guest *to, enum fault fault)
{
	bool hit = (sim_random(&dice) >> 20) % 100 < percent;

	to->struck[fault] += hit;
	return hit;
}

/* True of frames of BCL. */
static bool is_target(const uint8_t *frame, size_t length)
{
	unsigned type;

	if (length < ETHER + 20)
		return false;
	type = frame[12] << 8 | frame[13];
	return type == BCL_ETHERTYPE || (type == IPV4 && frame[23] == 17) ||
	       (type == IPV6 && frame[20] == 17);
}

/* A guest that is switched off, or has no room, loses the frame. */
static void pass(const struct guest *to, const uint8_t *frame, size_t length)
{
	if (sendto(to->wire, frame, length, MSG_DONTWAIT,
		   (const void *)&to->card, sizeof(to->card)) < 0 &&
	    errno == EMSGSIZE)
		exit(1);
}

static void release(struct guest *to)
{
	if (to->held_length)
		pass(to, to->held, to->held_length);
	to->held_length = 0;
}

static void hold(struct guest *to, const uint8_t *frame, size_t length)
{
	release(to);
	memcpy(to->held, frame, length);
	to->held_length = length;
	to->held_for = 1 + (unsigned)((sim_random(&dice) >> 20) % OVERTAKE);
	to->held_until = now_ms() + SOON;
}

static void corrupt(uint8_t *frame, size_t length)
{
	uint64_t bit = (sim_random(&dice) >> 20) % ((length - ETHER) * 8);

	frame[ETHER + bit / 8] ^= (uint8_t)(1u << bit % 8);
}

static void strike(struct guest *to, uint8_t *frame, size_t length)
{
	to->frames++;
	if (strikes(to, LOST))
		return;
	if (strikes(to, DOUBLED))
		pass(to, frame, length);
	if (strikes(to, CORRUPTED))
		corrupt(frame, length);
	if (strikes(to, REORDERED)) {
		hold(to, frame, length);
		return;
	}
	pass(to, frame, length);
	if (to->held_length && !--to->held_for)
		release(to);
}

/* Frames for several guests pass unchanged: none of them is BCL's. */
static void carry(const struct guest *from)
{
	static uint8_t frame[LONGEST];
	ssize_t got = recv(from->wire, frame, sizeof(frame), 0);
	size_t length = (size_t)got;
	unsigned to = frame[5] - 1u, i;

	if (got < ETHER)
		return;
	if (frame[0] & 1)
		for (i = 0; i < n_guests; i++) {
			if (&guests[i] != from)
				pass(&guests[i], frame, length);
		}
	else if (to >= n_guests)
		return;
	else if (is_target(frame, length))
		strike(&guests[to], frame, length);
	else
		pass(&guests[to], frame, length);
}

static void report(void)
{
	unsigned i, fault;

	for (i = 0; i < n_guests; i++) {
		printf("wire: to guest %u: %lu frames", i + 1,
		       guests[i].frames);
		for (fault = 0; fault < FAULTS; fault++)
			printf(", %lu %s", guests[i].struck[fault],
			       fault_names[fault]);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = end };
	struct pollfd ends[GUESTS_MAX];
	unsigned i;
	int n;

	if (argc < 5 || argc > 3 + GUESTS_MAX)
		return 2;
	percent = (unsigned)atoi(argv[1]);
	dice = strtoull(argv[2], NULL, 0);
	sigaction(SIGTERM, &action, NULL);
	n_guests = (unsigned)argc - 3;
	for (i = 0; i < n_guests; i++) {
		open_guest(&guests[i], argv[3 + i]);
		ends[i] = (struct pollfd){ .fd = guests[i].wire,
					   .events = POLLIN };
	}
	while (!over) {
		n = poll(ends, n_guests, SOON);
		for (i = 0; i < n_guests; i++) {
			if (n > 0 && ends[i].revents & POLLIN)
				carry(&guests[i]);
			if (guests[i].held_length &&
			    now_ms() >= guests[i].held_until)
				release(&guests[i]);
		}
	}
	report();
	return 0;
}
