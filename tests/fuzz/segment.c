/* SPDX-License-Identifier: MIT */
/*
 * Hostile bytes in a shared segment. Two ports of this process are connected,
 * the victim and the attacker. The input says how the attacker acts between
 * polls and operations of the victim: the attacker writes messages of any type
 * and content at the place of the next message, or bytes anywhere in the
 * segment. The victim may lose its peer, never its memory.
 *
 * The victim's copies by attach go to a child that does nothing, so that
 * hostile addresses harm nobody.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/context.h"
#include "transport/peer.h"
#include "transport/shm/port.h"

enum {
	ROOM = 70000, /* bytes of a buffer */
	POLLS = 64,
};

enum operation {
	MESSAGE, /* place, type, length, payload */
	WRITE,	 /* offset, bytes */
	POLL,
	SEND,
	OFFER,
	PULL, /* with a token made by the input */
	POST,
	PUT,
	GET,
	ATOMIC,
	NOPERATIONS,
};

static struct bcl_env quiet;
static struct bcl_context *context;
static struct bcl_memory *memory;
static uint8_t *buffers[4], registered[4096];
static pid_t child;

static const uint8_t *input;
static size_t left;

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void no_log(void *world, const struct bcl_log_line *line)
{
	(void)world;
	(void)line;
}

static uint64_t take(unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--) {
		value <<= 8;
		if (left) {
			value |= *input++;
			left--;
		}
	}
	return value;
}

static void take_bytes(void *to, size_t n)
{
	size_t have = n < left ? n : left;

	memcpy(to, input, have);
	memset((uint8_t *)to + have, 0, n - have);
	input += have;
	left -= have;
}

static struct bcl_port *open_port(void)
{
	struct bcl_port *port;

	must(!bcl_port_open(context, NULL, &port));
	return port;
}

static bool poll_all(struct bcl_port *port)
{
	struct bcl_event event;
	volatile uint8_t sum = 0;
	unsigned n;
	size_t i;

	for (n = 0; n < POLLS && !bcl_poll(port, &event); n++) {
		if (event.kind != BCL_EVENT_MESSAGE)
			continue;
		must(event.length <= BCL_MESSAGE_MAX && event.type < BCL_TYPES);
		for (i = 0; i < event.length; i++)
			sum += ((const uint8_t *)event.data)[i];
	}
	return sum;
}

static struct bcl_connection *connect_ports(struct bcl_port *victim,
					    struct bcl_port *attacker)
{
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_peer *peer;
	size_t length;

	must(!bcl_port_address(attacker, address, &length));
	must(!bcl_peer_open(victim, address, length, &peer));
	while (!peer->path || !attacker->npairs) {
		struct bcl_event event;

		bcl_poll(victim, &event);
		bcl_poll(attacker, &event);
		must(peer->state != BCL_PEER_LOST);
	}
	return peer->path;
}

/* Write a message where the victim looks for the next message. */
static void message(struct bcl_connection *c)
{
	bool half = take(1) & 1;
	uint64_t header = c->pair.want | (take(1) & BCL_HEADER_TYPE);
	size_t length = take(2) & BCL_HEADER_LENGTH;
	uint8_t *payload;

	header |= length << BCL_HEADER_LENGTH_SHIFT;
	if (half) {
		struct bcl_half *to = (struct bcl_half *)c->pair.its_half;

		to->immediate = take(8);
		payload = to->payload;
		take_bytes(payload, BCL_HALF_PAYLOAD);
		if (length > BCL_HALF_PAYLOAD)
			take_bytes((uint8_t *)bcl_half_rest(to),
				   sizeof(struct bcl_rest));
		if (length > BCL_SLOT_PAYLOAD)
			take_bytes((uint8_t *)c->pair.its_boxes +
					   bcl_pair_box(header),
				   length < 64 ? length : 64);
		atomic_store(&to->header, header);
	} else {
		struct bcl_slot *to = (struct bcl_slot *)&c->pair
					      .in[c->pair.head & c->pair.mask];

		to->immediate = take(8);
		payload = to->payload;
		take_bytes(payload, length < 64 ? length : 64);
		atomic_store(&to->header, header);
	}
}

static void overwrite(struct bcl_connection *c)
{
	static const size_t size = sizeof(struct bcl_segment_head) + 65536;
	size_t offset = take(3) % size, n = 1 + take(1) % 16;

	if (n > size - offset)
		n = size - offset;
	take_bytes((uint8_t *)c->segment.head + offset, n);
}

static void operate(struct bcl_connection *c, enum operation operation)
{
	struct bcl_peer *peer = c->pair.peer;
	uint8_t key[BCL_KEY_MAX], token[BCL_KEY_MAX];
	struct iovec iov = { buffers[0], take(1) * 17 };
	static uint64_t result;

	switch (operation) {
	case SEND:
		bcl_send(peer, 1, 2, &iov, 1, 0);
		break;
	case OFFER:
		bcl_offer(peer, buffers[1], take(2), 1, token);
		break;
	case PULL: {
		struct bcl_token forged = {
			.card = context->card_id,
			.number = peer->number,
			.slot = take(1),
			.generation = take(1),
			.address = (uintptr_t)buffers[0],
			.length = ROOM,
		};

		memcpy(token, &forged, sizeof(token));
		bcl_pull(peer, token, buffers[2], ROOM, 2);
		break;
	}
	case POST:
		bcl_post(peer->port, take(1) % 4, buffers[3], ROOM, 3);
		break;
	default:
		bcl_memory_key(memory, key);
		if (operation == PUT)
			bcl_put(peer, key, take(1), buffers[0], take(1), 4);
		else if (operation == GET)
			bcl_get(peer, key, take(1), buffers[0], take(1), 5);
		else
			bcl_fetch_add(peer, key, 8, 1, &result, 6);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	unsigned i;

	(void)argc;
	(void)argv;
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	setenv("BCL_RAILS", "none", 1);
	setenv("BCL_HELPER", "0", 1);
	setenv("BCL_RING_SLOTS", "256", 1);
	quiet = bcl_env_linux;
	quiet.log = no_log;
	must(!bcl_context_open(&quiet, NULL, -1, &context));
	must(!bcl_memory_register(context, registered, sizeof(registered), 7,
				  &memory));
	/* from the heap, where a sanitizer notices every overrun */
	for (i = 0; i < 4; i++)
		must((buffers[i] = malloc(ROOM)));
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bcl_port *victim = open_port(), *attacker = open_port();
	struct bcl_connection *c = connect_ports(victim, attacker);
	struct bcl_peer *peer = c->pair.peer;

	input = data;
	left = size;
	c->attach = take(1) & 1;
	c->pid = child;
	while (left && peer->state == BCL_PEER_UP) {
		enum operation operation = take(1) % NOPERATIONS;

		if (operation == MESSAGE)
			message(c);
		else if (operation == WRITE)
			overwrite(c);
		else if (operation == POLL)
			poll_all(victim);
		else
			operate(c, operation);
	}
	poll_all(victim);
	bcl_port_close(attacker);
	bcl_port_close(victim);
	return 0;
}
