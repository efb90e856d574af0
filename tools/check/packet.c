/* SPDX-License-Identifier: MIT */
/* A reader of pcapng for bcl-check; see packet.h. */
#include "tools/check/packet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/pcapng.h"
#include "wire/trace.h"

enum {
	SECTION = 0x0a0d0d0a,
	ORDER = 0x1a2b3c4d,
	INTERFACE = 1,
	PACKET = 6,
	OPTION_DESCRIPTION = 3,
	OPTION_RESOLUTION = 9,
	OPTION_FLAGS = 2,
	DIRECTION = 3,
	NANOSECONDS = 9,
	BLOCK_MAX = 1 << 20,
	ETHERNET = 14,
	IP4 = 20,
	IP6 = 40,
	UDP = 8,
};

struct interface {
	uint64_t card;
	int rail;
	uint16_t link;
};

struct source {
	const char *name;
	FILE *file;
	uint8_t *block; /* the last block read */
	struct interface *interfaces;
	unsigned ninterfaces;
	bool section; /* a section header was read */
	unsigned packets;
	struct check_packet packet; /* the next packet */
	bool ready;
};

struct check_reader {
	unsigned n;
	struct source *last; /* source of the last packet returned */
	struct source sources[];
};

static int complain_damaged(const struct source *source, const char *what)
{
	fprintf(stderr, "bcl-check: %s: behind packet %u: %s\n", source->name,
		source->packets, what);
	return -1;
}

/* The file does not begin like a trace. */
static int complain_foreign(const struct source *source)
{
	fprintf(stderr, "bcl-check: %s: %s\n", source->name,
		ferror(source->file)
			? strerror(errno)
			: "not a trace: those of BCL_TRACE and bcl-sim are "
			  "pcapng");
	return -1;
}

static uint32_t read_word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint16_t read_half(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Finds an option in the bytes from `at` to `end`. Returns NULL if there is
 * none with this code. */
static const uint8_t *find_option(const uint8_t *at, const uint8_t *end,
				  unsigned code, unsigned *length)
{
	while (end - at >= 4) {
		*length = read_half(at + 2);
		if (read_half(at) == 0 || end - at - 4 < (long)*length)
			return NULL;
		if (read_half(at) == code)
			return at + 4;
		at += 4 + (*length + 3) / 4 * 4;
	}
	return NULL;
}

/* Returns 1 for a block of *length bytes, 0 at the end of the file. */
static int read_block(struct source *source, uint32_t *length)
{
	size_t got = fread(source->block, 1, 8, source->file);

	if (got == 0 && !ferror(source->file))
		return 0;
	if (!source->section &&
	    (got < 8 || read_word(source->block) != SECTION))
		return complain_foreign(source);
	*length = read_word(source->block + 4);
	if (got < 8 || *length < 12 || *length % 4 || *length > BLOCK_MAX)
		return complain_damaged(source,
					"not a block of this machine's pcapng");
	if (fread(source->block + 8, 1, *length - 8, source->file) !=
	    *length - 8)
		return 0; /* the writer was killed in the middle of a block */
	if (read_word(source->block + *length - 4) != *length)
		return complain_damaged(source, "a block with two lengths");
	return 1;
}

static int add_interface(struct source *source, uint32_t length)
{
	const uint8_t *at = source->block + 16, *text, *exponent;
	const uint8_t *end = source->block + length - 4;
	struct interface new = { .rail = CHECK_HOST };
	unsigned size, rail;
	char about[BCL_PCAPNG_TEXT + 1] = "";

	if (length < 20)
		return complain_damaged(source, "half an interface");
	new.link = read_half(source->block + 8);
	text = find_option(at, end, OPTION_DESCRIPTION, &size);
	if (text)
		memcpy(about, text,
		       size < sizeof(about) ? size : sizeof(about) - 1);
	exponent = find_option(at, end, OPTION_RESOLUTION, &size);
	if (!exponent || size < 1 || *exponent != NANOSECONDS)
		return complain_damaged(source,
					"an interface without nanoseconds");
	if (new.link == BCL_PCAPNG_RECORD) {
		if (sscanf(about, "card %" SCNx64, &new.card) != 1)
			return complain_damaged(source,
						"an interface of no card");
	} else {
		if (sscanf(about, "card %" SCNx64 " rail %u", &new.card,
			   &rail) != 2 ||
		    rail >= BCL_RAILS_MAX)
			return complain_damaged(source,
						"an interface of no card");
		new.rail = (int)rail;
	}
	source->interfaces = realloc(source->interfaces,
				     (source->ninterfaces + 1) *
					     sizeof(*source->interfaces));
	if (!source->interfaces)
		abort();
	source->interfaces[source->ninterfaces++] = new;
	return 1;
}

/* Removes the headers of Ethernet, or of IP and UDP. Returns false if the
 * packet is too short for them. */
static bool strip_headers(const struct interface *interface,
			  struct check_packet *packet)
{
	struct bcl_ether_prefix prefix;
	size_t headers;

	if (interface->link == BCL_PCAPNG_RECORD ||
	    interface->link == BCL_PCAPNG_FRAME)
		return true;
	if (interface->link == BCL_PCAPNG_RAW_IP)
		headers = UDP + (packet->length && packet->bytes[0] >> 4 == 6
					 ? IP6
					 : IP4);
	else
		headers = ETHERNET + sizeof(prefix);
	if (packet->length < headers)
		return false;
	if (interface->link == BCL_PCAPNG_ETHERNET)
		memcpy(&prefix, packet->bytes + ETHERNET, sizeof(prefix));
	packet->bytes += headers;
	packet->length -= headers;
	if (interface->link == BCL_PCAPNG_ETHERNET &&
	    bcl_get16(prefix.length) < packet->length)
		packet->length = bcl_get16(prefix.length);
	return true;
}

static int take_packet(struct source *source, uint32_t length)
{
	const uint8_t *block = source->block, *flags;
	struct check_packet *packet = &source->packet;
	const struct interface *interface;
	uint32_t captured, which;
	unsigned size;

	source->packets++;
	if (length < 32)
		return complain_damaged(source, "half a packet");
	captured = read_word(block + 20);
	which = read_word(block + 8);
	if (captured > length - 32 || which >= source->ninterfaces)
		return complain_damaged(source, "a packet that cannot be");
	interface = &source->interfaces[which];
	*packet = (struct check_packet){
		.file = source->name,
		.number = source->packets,
		.time = (uint64_t)read_word(block + 12) << 32 |
			read_word(block + 16),
		.card = interface->card,
		.rail = interface->rail,
		.bytes = block + 28,
		.length = captured,
	};
	flags = find_option(block + 28 + (captured + 3) / 4 * 4,
			    block + length - 4, OPTION_FLAGS, &size);
	packet->outbound =
		flags && size == 4 &&
		(read_word(flags) & DIRECTION) == BCL_PCAPNG_OUTBOUND;
	return strip_headers(interface, packet)
		       ? 1
		       : complain_damaged(source,
					  "a packet without its headers");
}

/* Reads on until the source's next packet is ready or the file ends. */
static int advance_source(struct source *source)
{
	uint32_t length;
	int more;

	source->ready = false;
	while ((more = read_block(source, &length)) > 0) {
		switch (read_word(source->block)) {
		case SECTION:
			if (read_word(source->block + 8) != ORDER)
				return complain_damaged(
					source,
					"from a machine of other order");
			source->section = true;
			source->ninterfaces = 0;
			break;
		case INTERFACE:
			if (add_interface(source, length) < 0)
				return -1;
			break;
		case PACKET:
			if (take_packet(source, length) < 0)
				return -1;
			source->ready = true;
			return 1;
		}
	}
	return more;
}

struct check_reader *check_reader_open(char *const *files, unsigned n)
{
	struct check_reader *reader =
		calloc(1, sizeof(*reader) + n * sizeof(reader->sources[0]));
	unsigned i;

	if (!reader)
		abort();
	for (i = 0; i < n; i++) {
		struct source *source = &reader->sources[i];

		reader->n = i + 1;
		source->name = files[i];
		source->block = malloc(BLOCK_MAX);
		source->file = fopen(files[i], "r");
		if (!source->block)
			abort();
		if (!source->file)
			fprintf(stderr, "bcl-check: %s: %s\n", files[i],
				strerror(errno));
		if (!source->file || advance_source(source) < 0) {
			check_reader_close(reader);
			return NULL;
		}
	}
	return reader;
}

int check_reader_next(struct check_reader *reader, struct check_packet *packet)
{
	struct source *first = NULL;
	unsigned i;

	if (reader->last && advance_source(reader->last) < 0)
		return -1;
	for (i = 0; i < reader->n; i++) {
		struct source *source = &reader->sources[i];

		if (source->ready &&
		    (!first || source->packet.time < first->packet.time))
			first = source;
	}
	reader->last = first;
	if (!first)
		return 0;
	*packet = first->packet;
	return 1;
}

void check_reader_close(struct check_reader *reader)
{
	unsigned i;

	for (i = 0; i < reader->n; i++) {
		if (reader->sources[i].file)
			fclose(reader->sources[i].file);
		free(reader->sources[i].block);
		free(reader->sources[i].interfaces);
	}
	free(reader);
}
