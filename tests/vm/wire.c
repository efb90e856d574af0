/* SPDX-License-Identifier: MIT */
/*
 * wire PERCENT SEED A B: the cable between two guests, on the host. The network
 * card of guest A receives at the socket A.card and sends to A.wire; likewise
 * B. Of the frames of BCL and the datagrams of UDP each direction loses,
 * doubles, reorders and corrupts PERCENT each, by the seed; all further frames
 * pass unchanged. A guest may be switched off and on. At the end by SIGTERM the
 * program prints the numbers of frames and faults.
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
#include <unistd.h>

#include <bcl/wire.h>

#include "sim/random.h"

enum {
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

struct direction {
	int from; /* socket that the sender's card sends to */
	struct sockaddr_un to;
	uint8_t held[LONGEST]; /* a frame that later frames overtake */
	size_t held_length;    /* 0: none */
	unsigned held_for;     /* frames */
	uint64_t frames, struck[FAULTS];
};

static struct direction direction[2];
static uint64_t dice;
static unsigned percent;
static volatile sig_atomic_t over;

static void end(int signal)
{
	(void)signal;
	over = 1;
}

static struct sockaddr_un address_of(const char *guest, const char *side)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s.%s", guest,
		 side);
	return address;
}

static void open_direction(struct direction *way, const char *from,
			   const char *to)
{
	struct sockaddr_un own = address_of(from, "wire");

	way->to = address_of(to, "card");
	way->from = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (way->from < 0 || bind(way->from, (void *)&own, sizeof(own)) < 0) {
		perror(own.sun_path);
		exit(1);
	}
}

static bool strikes(struct direction *way, enum fault fault)
{
	bool hit = (sim_random(&dice) >> 20) % 100 < percent;

	way->struck[fault] += hit;
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
static void pass(const struct direction *way, const uint8_t *frame,
		 size_t length)
{
	if (sendto(way->from, frame, length, MSG_DONTWAIT,
		   (const void *)&way->to, sizeof(way->to)) < 0 &&
	    errno == EMSGSIZE)
		exit(1);
}

static void release(struct direction *way)
{
	if (way->held_length)
		pass(way, way->held, way->held_length);
	way->held_length = 0;
}

static void hold(struct direction *way, const uint8_t *frame, size_t length)
{
	release(way);
	memcpy(way->held, frame, length);
	way->held_length = length;
	way->held_for = 1 + (unsigned)((sim_random(&dice) >> 20) % OVERTAKE);
}

static void corrupt(uint8_t *frame, size_t length)
{
	uint64_t bit = (sim_random(&dice) >> 20) % ((length - ETHER) * 8);

	frame[ETHER + bit / 8] ^= (uint8_t)(1u << bit % 8);
}

static void strike(struct direction *way, uint8_t *frame, size_t length)
{
	way->frames++;
	if (strikes(way, LOST))
		return;
	if (strikes(way, DOUBLED))
		pass(way, frame, length);
	if (strikes(way, CORRUPTED))
		corrupt(frame, length);
	if (strikes(way, REORDERED)) {
		hold(way, frame, length);
		return;
	}
	pass(way, frame, length);
	if (way->held_length && !--way->held_for)
		release(way);
}

static void carry(struct direction *way)
{
	static uint8_t frame[LONGEST];
	ssize_t length = recv(way->from, frame, sizeof(frame), 0);

	if (length <= 0)
		return;
	if (is_target(frame, (size_t)length))
		strike(way, frame, (size_t)length);
	else
		pass(way, frame, (size_t)length);
}

static void report(const struct direction *way, const char *name)
{
	unsigned i;

	printf("wire: from %s: %lu frames", name, way->frames);
	for (i = 0; i < FAULTS; i++)
		printf(", %lu %s", way->struck[i], fault_names[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = end };
	struct pollfd ends[2] = { { .events = POLLIN }, { .events = POLLIN } };
	unsigned i;
	int n;

	if (argc != 5)
		return 2;
	percent = (unsigned)atoi(argv[1]);
	dice = strtoull(argv[2], NULL, 0);
	sigaction(SIGTERM, &action, NULL);
	for (i = 0; i < 2; i++) {
		open_direction(&direction[i], argv[3 + i], argv[4 - i]);
		ends[i].fd = direction[i].from;
	}
	while (!over) {
		n = poll(ends, 2, SOON);
		for (i = 0; i < 2 && n >= 0; i++)
			if (ends[i].revents & POLLIN)
				carry(&direction[i]);
			else if (!n)
				release(&direction[i]);
	}
	report(&direction[0], "the first");
	report(&direction[1], "the second");
	return 0;
}
