/* SPDX-License-Identifier: MIT */
/*
 * Values of any bytes in a key-value space that takes only short texts. A value
 * is written in hexadecimal, in pieces as long as the space takes. Piece n of a
 * value has the key NAME-RANK-n; the first piece begins with the length of the
 * value.
 */
#ifndef BCL_PIECES_H
#define BCL_PIECES_H

#include "transport/boot/boot.h"

enum {
	BCL_PIECE_KEY_MAX = 64,	   /* characters, with the terminating zero */
	BCL_PIECE_TEXT_MIN = 64,   /* characters that a space must take */
	BCL_PIECE_TEXT_MAX = 2048, /* characters of a text that are used */
};

/* Sets the space of this boot. The length of texts is limited to
 * BCL_PIECE_TEXT_MAX. */
void bcl_pieces_open(struct bcl_boot *boot, const struct bcl_pieces *space);

/* put and get of a bcl_boot_kind. BOOT: the space holds something else, or
 * not all pieces. */
enum bcl_status bcl_pieces_put(struct bcl_boot *boot, const char *name,
			       const void *value, size_t length);
enum bcl_status bcl_pieces_get(struct bcl_boot *boot, unsigned rank,
			       const char *name, void *value, size_t size,
			       size_t *length);

#endif
