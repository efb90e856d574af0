/* SPDX-License-Identifier: MIT */
/* Writes lines for people to the standard error output; see say.h. */
#include "env/say.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	NODE_MAX = 64, /* characters of a node's name that are shown */
};

void bcl_say(const char *node, const char *who, const char *text)
{
	char line[BCL_SAID_MAX], time[16], host[NODE_MAX + 1] = "";
	struct timespec now;
	ssize_t written;
	struct tm tm;
	size_t n;

	if (!node || !*node) {
		gethostname(host, NODE_MAX);
		host[strcspn(host, ".")] = 0;
		node = host;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	strftime(time, sizeof(time), "%H:%M:%S", localtime_r(&now.tv_sec, &tm));
	n = (size_t)snprintf(line, sizeof(line), "bcl %s.%06ld %.*s%s: %s",
			     time, now.tv_nsec / 1000, NODE_MAX, node, who,
			     text);
	if (n > sizeof(line) - 1)
		n = sizeof(line) - 1;
	for (char *c = line; c < line + n; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	line[n] = '\n';
	written = write(STDERR_FILENO, line, n + 1);
	(void)written; /* there is no other place to report to */
}
