/* SPDX-License-Identifier: MIT */
/* What a test, and the processes that it starts, write to standard error: the
 * log of the library. */
#ifndef BCL_TESTS_CAPTURE_H
#define BCL_TESTS_CAPTURE_H

#include <stdio.h>

struct capture {
	FILE *file;
	int before; /* the descriptor of standard error */
};

/* From now on nothing is shown. */
void capture_begin(struct capture *capture);
/* Returns the text, which the caller frees. */
char *capture_end(struct capture *capture);

#endif
