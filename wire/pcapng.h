/* SPDX-License-Identifier: MIT */
/*
 * Writes a pcapng file: one section, interfaces, packets with time stamps in
 * nanoseconds (draft-ietf-opsawg-pcapng, in this host's byte order). Each block
 * is written at once, so the file of a killed process is complete.
 */
#ifndef BCL_PCAPNG_H
#define BCL_PCAPNG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

enum bcl_pcapng_link {
	BCL_PCAPNG_ETHERNET = 1,
	BCL_PCAPNG_RAW_IP = 101,
	BCL_PCAPNG_RECORD = 147, /* LINKTYPE_USER0: struct bcl_record */
	BCL_PCAPNG_FRAME = 148,	 /* LINKTYPE_USER1: nothing before a frame */
};

enum bcl_pcapng_flags {
	BCL_PCAPNG_NO_DIRECTION = 0,
	BCL_PCAPNG_INBOUND = 1,
	BCL_PCAPNG_OUTBOUND = 2,
};

enum {
	BCL_PCAPNG_PIECES = 8, /* pieces of one packet */
	BCL_PCAPNG_TEXT = 48,  /* bytes of a name or description, with the 0 */
};

struct bcl_pcapng {
	int fd;
	unsigned interfaces; /* interfaces so far: number of the next */
	bool broken;	     /* a write failed: nothing more is written */
};

/* Create the file and begin the section. Returns false on failure, with errno
 * set. */
bool bcl_pcapng_open(struct bcl_pcapng *file, const char *name);
void bcl_pcapng_close(struct bcl_pcapng *file);

/* Declare an interface. Long texts are cut. Returns false if this write fails,
 * with errno set, or if an earlier write failed. */
bool bcl_pcapng_interface(struct bcl_pcapng *file, enum bcl_pcapng_link link,
			  const char *name, const char *description);
/* Write a packet. `time` is in ns since 1970. Returns false likewise. */
bool bcl_pcapng_packet(struct bcl_pcapng *file, unsigned interface,
		       uint64_t time, enum bcl_pcapng_flags flags,
		       const struct iovec *pieces, unsigned n);

#endif
