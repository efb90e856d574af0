/* SPDX-License-Identifier: MIT */
/* Splits values into short texts and joins them again; see pieces.h. */
#include "transport/boot/pieces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env/log.h"

enum {
	LENGTH_DIGITS = 8,
};

static void to_hex(char *hex, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (; n; n--, bytes++) {
		*hex++ = digits[*bytes >> 4];
		*hex++ = digits[*bytes & 15];
	}
	*hex = 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool from_hex(uint8_t *bytes, const char *hex, size_t n)
{
	for (; n; n--, hex += 2) {
		int high = hex_digit(hex[0]);
		int low = high < 0 ? -1 : hex_digit(hex[1]);

		if (low < 0)
			return false;
		*bytes++ = (uint8_t)(high << 4 | low);
	}
	return true;
}

static void name_piece(char key[BCL_PIECE_KEY_MAX], const char *name,
		       unsigned rank, unsigned piece)
{
	snprintf(key, BCL_PIECE_KEY_MAX, "%s-%u-%u", name, rank, piece);
}

void bcl_pieces_open(struct bcl_boot *boot, const struct bcl_pieces *space)
{
	boot->pieces = *space;
	if (boot->pieces.text_max > BCL_PIECE_TEXT_MAX)
		boot->pieces.text_max = BCL_PIECE_TEXT_MAX;
	boot->pieces.text_max &= ~(size_t)1;
}

enum bcl_status bcl_pieces_put(struct bcl_boot *boot, const char *name,
			       const void *value, size_t length)
{
	const uint8_t *p = value, *end = p + length;
	char text[BCL_PIECE_TEXT_MAX + 1], key[BCL_PIECE_KEY_MAX];
	size_t used;
	unsigned piece = 0;
	enum bcl_status status;

	used = (size_t)snprintf(text, sizeof(text), "%0*zx", LENGTH_DIGITS,
				length);
	do {
		size_t n = (boot->pieces.text_max - used) / 2;

		if (n > (size_t)(end - p))
			n = (size_t)(end - p);
		to_hex(text + used, p, n);
		p += n;
		used = 0;
		name_piece(key, name, boot->rank, piece++);
		status = boot->pieces.put(boot, key, text);
	} while (!status && p < end);
	return status;
}

static enum bcl_status report_damage(const struct bcl_boot *boot,
				     const char *key, const char *text)
{
	bcl_log(&boot->config, BCL_LOG_ERROR, "boot", "%s: %s is damaged: %s",
		boot->kind->name, key, text);
	return BCL_ERR_BOOT;
}

enum bcl_status bcl_pieces_get(struct bcl_boot *boot, unsigned rank,
			       const char *name, void *value, size_t size,
			       size_t *result)
{
	uint8_t *p = value, *end = NULL;
	char text[BCL_PIECE_TEXT_MAX + 1], key[BCL_PIECE_KEY_MAX];
	char digits[LENGTH_DIGITS + 1] = "";
	enum bcl_status status;

	for (unsigned piece = 0;; piece++) {
		const char *hex = text;
		size_t n;

		name_piece(key, name, rank, piece);
		status = boot->pieces.get(boot, key, text);
		if (status == BCL_ERR_EMPTY && piece)
			return report_damage(boot, key, "it is not there");
		if (status)
			return status;
		if (!piece) {
			if (strlen(text) < LENGTH_DIGITS)
				return report_damage(boot, key, text);
			memcpy(digits, text, LENGTH_DIGITS);
			*result = strtoul(digits, NULL, 16);
			if (*result > size)
				return BCL_ERR_TRUNCATED;
			end = p + *result;
			hex += LENGTH_DIGITS;
		}
		n = strlen(hex) / 2;
		if ((piece && !n) || n > (size_t)(end - p) ||
		    !from_hex(p, hex, n))
			return report_damage(boot, key, text);
		p += n;
		if (p == end)
			return BCL_OK;
	}
}
