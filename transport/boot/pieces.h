/* SPDX-License-Identifier: MIT */
/*
 * Values of any bytes in a space that takes short texts: in hexadecimal, in
 * pieces as long as the space takes them, NAME-RANK-PIECE; the first begins
 * with the length.
 */
#ifndef BCL_PIECES_H
#define BCL_PIECES_H

#include "transport/boot/boot.h"

enum {
	BCL_PIECE_KEY_MAX = 64,	   /* characters of a key, with its end */
	BCL_PIECE_TEXT_MIN = 64,   /* what a space has to take at least */
	BCL_PIECE_TEXT_MAX = 2048, /* and what is made use of */
};

/* The space of this boot; of longer texts no use is made. */
void bcl_pieces_open(struct bcl_boot *boot, const struct bcl_pieces *space);

/* put and get of a bcl_boot_kind. BOOT: what is there is no such value. */
enum bcl_status bcl_pieces_put(struct bcl_boot *boot, const char *name,
			       const void *value, size_t length);
enum bcl_status bcl_pieces_get(struct bcl_boot *boot, unsigned rank,
			       const char *name, void *value, size_t size,
			       size_t *length);

#endif
