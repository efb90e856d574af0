/* SPDX-License-Identifier: MIT */
/*
 * Frames that hit cards: copies of frames between cards, changed in any place,
 * with checksums that are right for the most part, and frames of random
 * contents.
 */
#include "fuzz.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	ETHER = 14,
	BEGIN = ETHER + sizeof(struct bcl_ether_prefix),
	LONGEST = 9100,
};

static uint32_t crc32c(uint32_t crc, const uint8_t *data, size_t length)
{
	unsigned bit;

	for (crc = ~crc; length--; data++)
		for (crc ^= *data, bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	return ~crc;
}

static uint32_t headers_crc(const uint8_t *frame)
{
	return crc32c(crc32c(0, frame, 32), frame + 40, BCL_HEADERS_SIZE - 40);
}

static struct bcl_frame_header *header_of(uint8_t *packet)
{
	return (void *)(packet + BEGIN);
}

/* A value near the right one, or not. */
static uint32_t bend(struct fuzz_dice *dice, uint32_t value)
{
	switch (fuzz_below(dice, 6)) {
	case 0:
		return value + 1;
	case 1:
		return value - 1;
	case 2:
		return value ^ 1u << fuzz_below(dice, 32);
	case 3:
		return (uint32_t)fuzz_next(dice);
	case 4:
		return value + fuzz_below(dice, 64) - 32;
	default:
		return 0;
	}
}

/* Change a field of either header. */
static void bend_field(struct fuzz_dice *dice, uint8_t *frame)
{
	uint32_t at = fuzz_below(dice, BCL_HEADERS_SIZE / 4) * 4, value;

	if (at == offsetof(struct bcl_frame_header, card) ||
	    at == offsetof(struct bcl_frame_header, card) + 4)
		return; /* no card would see the frame */
	memcpy(&value, frame + at, 4);
	value = bend(dice, value);
	memcpy(frame + at, &value, 4);
}

/* Change a frame. Most changed frames have right checksums. */
static size_t change(struct fuzz_dice *dice, uint8_t *packet, size_t length)
{
	struct bcl_frame_header *header = header_of(packet);
	uint8_t *frame = packet + BEGIN;
	uint32_t seal = bcl_get32(header->hcrc) ^ headers_crc(frame);
	struct bcl_ether_prefix *prefix = (void *)(packet + ETHER);
	uint32_t n = fuzz_below(dice, 4);

	while (n--)
		bend_field(dice, frame);
	if (fuzz_one_in(dice, 4))
		header->kind = (uint8_t)(1 + fuzz_below(dice, 10)) |
			       (header->kind & 0xc0);
	if (fuzz_one_in(dice, 4))
		fuzz_spoil(dice, frame, length - BEGIN);
	if (fuzz_one_in(dice, 6)) {
		length = BEGIN + fuzz_below(dice, (uint32_t)(length - BEGIN));
		prefix->length = bcl_put16((uint16_t)(length - BEGIN));
	}
	if (fuzz_one_in(dice, 10))
		prefix->length = bcl_put16((uint16_t)fuzz_next(dice));
	if (length < BEGIN + BCL_HEADERS_SIZE || fuzz_one_in(dice, 10))
		return length;
	header->pcrc = bcl_put32(crc32c(0, frame + BCL_HEADERS_SIZE,
					length - BEGIN - BCL_HEADERS_SIZE));
	header->hcrc = bcl_put32(headers_crc(frame) ^ seal);
	return length;
}

/* Make a frame with a right destination and random contents. */
static size_t invent(struct fuzz_dice *dice, const struct fuzz_table *table,
		     uint8_t *packet)
{
	uint32_t i = fuzz_below(dice, FUZZ_CARDS), at;
	size_t length = BEGIN + 80 + fuzz_below(dice, 200);
	struct bcl_ether_prefix *prefix = (void *)(packet + ETHER);
	struct bcl_frame_header *header = header_of(packet);

	for (at = 0; at < length; at++)
		packet[at] =
			fuzz_one_in(dice, 2) ? (uint8_t)fuzz_next(dice) : 0;
	memcpy(packet, table->cards[i].end.address.bytes, 6);
	packet[12] = BCL_ETHERTYPE >> 8;
	packet[13] = BCL_ETHERTYPE & 0xff;
	prefix->length = bcl_put16((uint16_t)(length - BEGIN));
	header->magic = bcl_put16(BCL_WIRE_MAGIC);
	header->version = BCL_WIRE_VERSION;
	header->kind = (uint8_t)(1 + fuzz_below(dice, 9));
	header->card =
		bcl_put64(fuzz_one_in(dice, 8) ? 0 : table->cards[i].card);
	header->pcrc = bcl_put32(crc32c(0, packet + BEGIN + BCL_HEADERS_SIZE,
					length - BEGIN - BCL_HEADERS_SIZE));
	header->hcrc = bcl_put32(headers_crc(packet + BEGIN));
	return length;
}

static int open_socket(const char *interface)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(BCL_ETHERTYPE),
		.sll_ifindex = (int)if_nametoindex(interface),
	};
	struct timeval patience = { .tv_usec = 2000 };
	int fd = socket(AF_PACKET, SOCK_RAW, htons(BCL_ETHERTYPE));

	if (fd < 0 || bind(fd, (const void *)&address, sizeof(address)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)) < 0)
		exit(1);
	return fd;
}

void fuzz_frames(const struct fuzz_job *job)
{
	struct fuzz_dice dice = fuzz_dice_of(job->seed);
	int fd[FUZZ_INTERFACES], side;
	static uint8_t packet[LONGEST];
	ssize_t length;
	uint32_t n;

	for (side = 0; side < FUZZ_INTERFACES; side++)
		fd[side] = open_socket(job->interface[side]);
	for (;; usleep(fuzz_below(&dice, 20000))) {
		/* The other side has sent each packet that comes. */
		side = (int)fuzz_below(&dice, FUZZ_INTERFACES);
		length = recv(fd[side], packet, sizeof(packet), 0);
		if (length < (ssize_t)BEGIN + BCL_HEADERS_SIZE)
			length = (ssize_t)invent(&dice, job->table, packet);
		for (n = 1 + fuzz_below(&dice, 3);
		     n-- && length > (ssize_t)BEGIN + BCL_HEADERS_SIZE;) {
			length = (ssize_t)change(&dice, packet, (size_t)length);
			if (send(fd[1 - side], packet, (size_t)length, 0) > 0)
				job->table->frames++;
		}
	}
}
