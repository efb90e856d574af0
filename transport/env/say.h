/* SPDX-License-Identifier: MIT */
/* A line for people on the standard error output. */
#ifndef BCL_SAY_H
#define BCL_SAY_H

enum {
	BCL_SAID_MAX = 640, /* bytes of a line, with its end */
};

/*
 * One write: "bcl 14:03:07.123456 NODE" and `who` (such as "/3"), a colon, the
 * text, the end of the line. Lines of several processes that share an output
 * stay whole. What does not fit is cut off; control characters, which a
 * terminal would obey, become question marks.
 * node: NULL or empty is the host's name up to its first point.
 */
void bcl_say(const char *node, const char *who, const char *text);

#endif
