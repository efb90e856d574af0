/* SPDX-License-Identifier: MIT */
/* A line for people on the standard error output. */
#ifndef BCL_SAY_H
#define BCL_SAY_H

enum {
	BCL_SAID_MAX = 640, /* bytes, with the line end */
};

/*
 * Writes a line by one write(): "bcl 14:03:07.123456 NODE", then `who` (e.g.
 * "/3"), a colon, the text, the line end. So lines of several processes that
 * share an output stay whole. A long line is cut off. Control characters, which
 * a terminal would obey, become question marks. node: NULL or empty stands for
 * the host's name up to its first point.
 */
void bcl_say(const char *node, const char *who, const char *text);

#endif
