/* SPDX-License-Identifier: MIT */
/*
 * Available memory by /proc/meminfo and the files of memory control groups, and
 * the limit of descriptors; see room.h.
 */
#include "env/room.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	TEXT_MAX = 8192, /* bytes of a file that are read */
	PATH_MAX_HERE = 1024,
	KILO = 1024,
};

/* Names of a control group's files, by version of control groups. */
struct kind {
	const char *mark; /* marks the group's line in /proc/self/cgroup */
	const char *mount;
	const char *limit, *usage;
	const char *caches[2]; /* words of memory.stat */
};

static const struct kind kinds[] = {
	{ ":memory:",
	  "/sys/fs/cgroup/memory",
	  "memory.limit_in_bytes",
	  "memory.usage_in_bytes",
	  { "\ntotal_inactive_file ", "\ntotal_active_file " } },
	{ "0::",
	  "/sys/fs/cgroup",
	  "memory.max",
	  "memory.current",
	  { "\ninactive_file ", "\nactive_file " } },
};

/* Reads the beginning of a file; the text is empty if the file cannot be
 * read. */
static const char *read_text(char text[TEXT_MAX], const char *a, const char *b,
			     const char *c, const char *name)
{
	char path[PATH_MAX_HERE];
	size_t length = 0;
	ssize_t got = 0;
	int n, fd;

	text[0] = 0;
	n = snprintf(path, sizeof(path), "%s%s%s/%s", a, b, c, name);
	fd = n < PATH_MAX_HERE ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return text;
	while (length < TEXT_MAX - 1 &&
	       (got = read(fd, text + length, TEXT_MAX - 1 - length)) > 0)
		length += (size_t)got;
	close(fd);
	text[length] = 0;
	return text;
}

/* Returns the number behind the word, which begins a line; else `otherwise`. */
static uint64_t number_after(const char *text, const char *word,
			     uint64_t otherwise)
{
	const char *at = strstr(text, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : otherwise;
}

static uint64_t room_of_host(const char *root)
{
	char text[TEXT_MAX];
	uint64_t kilos;

	read_text(text, root, "/proc", "", "meminfo");
	kilos = number_after(text, "\nMemAvailable:", UINT64_MAX);
	return kilos < UINT64_MAX / KILO ? kilos * KILO : UINT64_MAX;
}

static uint64_t room_of_group(const char *root, const struct kind *kind,
			      const char *group)
{
	char text[TEXT_MAX];
	uint64_t limit, usage, caches;

	read_text(text, root, kind->mount, group, kind->limit);
	/* "max", or no such file */
	if (text[0] < '0' || text[0] > '9')
		return UINT64_MAX;
	limit = strtoull(text, NULL, 10);
	read_text(text, root, kind->mount, group, kind->usage);
	usage = strtoull(text, NULL, 10);
	read_text(text, root, kind->mount, group, "memory.stat");
	caches = number_after(text, kind->caches[0], 0) +
		 number_after(text, kind->caches[1], 0);
	usage -= caches < usage ? caches : usage;
	return usage < limit ? limit - usage : 0;
}

/* Returns the least memory available in the group and in all visible groups
 * around it. */
static uint64_t room_of_groups(const char *root, const struct kind *kind,
			       char *group)
{
	uint64_t least = UINT64_MAX;

	for (;;) {
		uint64_t room = room_of_group(root, kind, group);
		char *last = strrchr(group, '/');

		if (room < least)
			least = room;
		if (!last)
			return least;
		*last = 0;
	}
}

/* Finds the line of /proc/self/cgroup with the mark, at its beginning or
 * after a number, and copies the rest of the line. False: there is no such
 * line. */
static bool find_group(const char *text, const char *mark, char *group)
{
	const char *at = strstr(text, mark);
	size_t length;

	if (!at)
		return false;
	at += strlen(mark);
	length = strcspn(at, "\n");
	if (length >= PATH_MAX_HERE)
		return false;
	memcpy(group, at, length);
	group[length] = 0;
	return true;
}

uint64_t bcl_room(const char *root)
{
	uint64_t least = room_of_host(root);
	char text[TEXT_MAX], group[PATH_MAX_HERE];

	read_text(text, root, "/proc/self", "", "cgroup");
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		uint64_t room;

		if (!find_group(text, kinds[i].mark, group))
			continue;
		room = room_of_groups(root, &kinds[i], group);
		if (room < least)
			least = room;
	}
	return least;
}

bool bcl_room_for(size_t size)
{
	uint64_t room = bcl_room("");

	return size <= room - room / BCL_ROOM_LEAVE;
}

uint64_t bcl_descriptors_above(int fd)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur <= (rlim_t)fd)
		return 0;
	return limit.rlim_cur - (rlim_t)fd - 1;
}
