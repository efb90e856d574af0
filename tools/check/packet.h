/* SPDX-License-Identifier: MIT */
/*
 * The packets of one or several traces, by their times: those that BCL_TRACE
 * or the simulator wrote. Any number of packets; memory is needed for one of
 * each file.
 */
#ifndef CHECK_PACKET_H
#define CHECK_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CHECK_HOST = -1, /* a rail: none, the packet is a record */
};

struct check_packet {
	const char *file;
	unsigned number; /* in its file, from 1, as Wireshark counts */
	uint64_t time;	 /* ns */
	uint64_t card;	 /* whose interface it came or went by */
	int rail;	 /* of that card, or CHECK_HOST */
	bool outbound;
	/* A record, or a frame without what the wire put before it. Valid
	 * until the next call. */
	const uint8_t *bytes;
	size_t length;
};

struct check_reader;

/* NULL: told on stderr. */
struct check_reader *check_reader_open(char *const *files, unsigned n);
/* 1: a packet; 0: no more; -1: a file is damaged, told on stderr. */
int check_reader_next(struct check_reader *reader, struct check_packet *packet);
void check_reader_close(struct check_reader *reader);

#endif
