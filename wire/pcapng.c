/* SPDX-License-Identifier: MIT */
/* Writes the blocks of a pcapng file (draft-ietf-opsawg-pcapng), each with one
 * writev(). See pcapng.h. */
#include "wire/pcapng.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	SECTION = 0x0a0d0d0a,
	ORDER = 0x1a2b3c4d,
	INTERFACE = 1,
	PACKET = 6,
	OPTION_NAME = 2,	/* of an interface */
	OPTION_DESCRIPTION = 3, /* of an interface */
	OPTION_RESOLUTION = 9,	/* of an interface */
	OPTION_FLAGS = 2,	/* of a packet */
};

static bool write_block(struct bcl_pcapng *file, const struct iovec *iov,
			unsigned n)
{
	size_t length = 0;
	unsigned i;

	if (file->broken)
		return false;
	for (i = 0; i < n; i++)
		length += iov[i].iov_len;
	if (writev(file->fd, iov, (int)n) == (ssize_t)length)
		return true;
	file->broken = true;
	return false;
}

static bool put_section(struct bcl_pcapng *file)
{
	const struct {
		uint32_t type, length, order;
		uint16_t major, minor;
		int64_t section_length;
		uint32_t again;
	} __attribute__((packed))
	block = { SECTION, sizeof(block), ORDER, 1, 0, -1, sizeof(block) };

	return write_block(file,
			   &(struct iovec){ (void *)&block, sizeof(block) }, 1);
}

bool bcl_pcapng_open(struct bcl_pcapng *file, const char *name)
{
	*file = (struct bcl_pcapng){
		.fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			   0600),
	};
	if (file->fd >= 0 && put_section(file))
		return true;
	if (file->fd >= 0)
		close(file->fd);
	return false;
}

void bcl_pcapng_close(struct bcl_pcapng *file)
{
	close(file->fd);
}

bool bcl_pcapng_interface(struct bcl_pcapng *file, enum bcl_pcapng_link link,
			  const char *name, const char *description)
{
	/* Texts are padded with zeros, which readers take as the end of the
	 * text. */
	struct {
		uint32_t type, length;
		uint16_t link, spare;
		uint32_t snap;
		uint16_t name, name_length;
		char name_text[BCL_PCAPNG_TEXT];
		uint16_t about, about_length;
		char about_text[BCL_PCAPNG_TEXT];
		uint16_t resolution, resolution_length;
		uint8_t exponent, pad[3];
		uint32_t end;
		uint32_t again;
	} __attribute__((packed)) block = {
		.type = INTERFACE,
		.length = sizeof(block),
		.link = (uint16_t)link,
		.name = OPTION_NAME,
		.name_length = sizeof(block.name_text),
		.about = OPTION_DESCRIPTION,
		.about_length = sizeof(block.about_text),
		.resolution = OPTION_RESOLUTION,
		.resolution_length = 1,
		.exponent = 9,
		.again = sizeof(block),
	};

	snprintf(block.name_text, sizeof(block.name_text), "%s", name);
	snprintf(block.about_text, sizeof(block.about_text), "%s", description);
	file->interfaces++;
	return write_block(file,
			   &(struct iovec){ (void *)&block, sizeof(block) }, 1);
}

bool bcl_pcapng_packet(struct bcl_pcapng *file, unsigned interface,
		       uint64_t time, enum bcl_pcapng_flags flags,
		       const struct iovec *pieces, unsigned n)
{
	struct {
		uint32_t type, length, interface, high, low, captured, original;
	} head = {
		.type = PACKET,
		.interface = interface,
		.high = (uint32_t)(time >> 32),
		.low = (uint32_t)time,
	};
	struct {
		uint16_t flags, flags_length;
		uint32_t value, end, again;
	} tail = { OPTION_FLAGS, 4, flags, 0, 0 };
	static const uint8_t zeros[4];
	struct iovec iov[BCL_PCAPNG_PIECES + 3] = { { &head, sizeof(head) } };
	unsigned i;

	for (i = 0; i < n; i++) {
		iov[1 + i] = pieces[i];
		head.captured += (uint32_t)pieces[i].iov_len;
	}
	head.original = head.captured;
	iov[1 + n] = (struct iovec){ (void *)zeros, -head.captured & 3 };
	iov[2 + n] = (struct iovec){ &tail, sizeof(tail) };
	head.length = (uint32_t)sizeof(head) + sizeof(tail) + head.captured +
		      (-head.captured & 3);
	tail.again = head.length;
	return write_block(file, iov, n + 3);
}
