/* SPDX-License-Identifier: MIT */
/*
 * Reads the packets of one or several traces, merged by time. The traces are
 * files that BCL_TRACE or the simulator wrote. The reader holds one packet of
 * each file in memory, whatever the length of the files.
 */
#ifndef CHECK_PACKET_H
#define CHECK_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CHECK_HOST = -1, /* instead of a rail: the packet is a record of the
			  * host */
};

struct check_packet {
	const char *file;
	unsigned number; /* in the file, from 1, as Wireshark counts */
	uint64_t time;	 /* ns */
	uint64_t card;	 /* the card whose interface sent or received the
			  * packet */
	int rail;	 /* of that card, or CHECK_HOST */
	bool outbound;
	/* A record, or a frame without the headers that the wire put before it.
	 * Valid until the next call of check_reader_next(). */
	const uint8_t *bytes;
	size_t length;
};

struct check_reader;

/* Returns NULL if a file cannot be read; the reason is on stderr. */
struct check_reader *check_reader_open(char *const *files, unsigned n);
/* Returns 1 for a packet, 0 at the end of all files, -1 if a file is damaged;
 * the reason is on stderr. */
int check_reader_next(struct check_reader *reader, struct check_packet *packet);
void check_reader_close(struct check_reader *reader);

#endif
