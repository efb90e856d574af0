/* SPDX-License-Identifier: MIT */
/*
 * Prints the counters of a process. The counter pages of a process are memfds
 * among the descriptors of the process. Each page is read by the page's own
 * header, because the process may use another version of the library.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/info.h"

enum {
	HEAD = offsetof(struct bcl_counter_page, values),
	NAME = sizeof(((struct bcl_counter_page *)NULL)->names[0]),
};

/* Sums by name over the pages. */
struct total {
	char name[NAME];
	uint64_t value;
};

struct totals {
	struct total *list;
	size_t n;
	unsigned contexts, ports;
};

static struct total *find_total(const struct totals *totals, const char *name)
{
	for (size_t i = 0; i < totals->n; i++)
		if (!strcmp(totals->list[i].name, name))
			return &totals->list[i];
	return NULL;
}

static bool add_total(struct totals *totals, const char *name, uint64_t value)
{
	struct total *list = find_total(totals, name);

	if (list) {
		list->value += value;
		return true;
	}
	list = realloc(totals->list, (totals->n + 1) * sizeof(*list));
	if (!list)
		return false;
	totals->list = list;
	list += totals->n++;
	snprintf(list->name, sizeof(list->name), "%s", name);
	list->value = value;
	return true;
}

static void add_page(struct totals *totals, const struct bcl_counter_page *page,
		     size_t size)
{
	const uint8_t *bytes = (const uint8_t *)page;
	size_t n = size < HEAD ? 0 : page->ncounters;

	/* pairs with the release in bcl_counters_open() */
	if (!n || n > (size - HEAD) / (16 + NAME) ||
	    atomic_load_explicit(&page->magic, memory_order_acquire) !=
		    BCL_COUNTER_MAGIC)
		return;
	for (size_t i = 0; i < n; i++) {
		char name[NAME];
		uint64_t value, ended;

		memcpy(&value, bytes + HEAD + 8 * i, 8);
		memcpy(&ended, bytes + HEAD + 8 * (n + i), 8);
		memcpy(name, bytes + HEAD + 16 * n + NAME * i, NAME);
		name[NAME - 1] = 0;
		add_total(totals, name, value + ended);
	}
	if (page->port)
		totals->ports++;
	else
		totals->contexts++;
}

static void add_file(struct totals *totals, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;
	void *page;

	if (fd < 0)
		return;
	if (!fstat(fd, &stat) && stat.st_size) {
		page = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_SHARED,
			    fd, 0);
		if (page != MAP_FAILED) {
			add_page(totals, page, (size_t)stat.st_size);
			munmap(page, (size_t)stat.st_size);
		}
	}
	close(fd);
}

static void add_process(struct totals *totals, const char *directory, DIR *dir)
{
	static const char memfd[] = "/memfd:" BCL_COUNTER_MEMORY;
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		char path[300], target[64];
		ssize_t n;

		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		n = readlink(path, target, sizeof(target));
		if (n >= (ssize_t)sizeof(memfd) - 1 &&
		    !memcmp(target, memfd, sizeof(memfd) - 1))
			add_file(totals, path);
	}
}

static const char *describe_counter(const char *name)
{
	for (unsigned i = 0; i < BCL_NCOUNTERS; i++)
		if (!strcmp(bcl_counter_names[i], name))
			return bcl_counter_texts[i];
	return "";
}

static uint64_t total_value(const struct totals *totals, const char *name)
{
	const struct total *total = find_total(totals, name);

	return total ? total->value : 0;
}

/* Prints for each path the user-space copies per byte carried. */
static void print_copies(const struct totals *totals)
{
	static const struct {
		const char *path, *copied[2], *carried;
	} ratios[] = {
		{ "inside a host, long messages",
		  { "shm.bytes_pulled", "shm.bytes_bounced" },
		  "shm.bytes_pulled" },
		{ "card, sent",
		  { "host.bytes_packed", "host.bytes_gathered" },
		  "card.bytes_sent" },
		{ "card, delivered",
		  { "host.bytes_placed", "" },
		  "card.bytes_delivered" },
	};

	for (size_t i = 0; i < sizeof(ratios) / sizeof(*ratios); i++) {
		uint64_t carried = total_value(totals, ratios[i].carried);
		uint64_t copied = total_value(totals, ratios[i].copied[0]) +
				  total_value(totals, ratios[i].copied[1]);

		if (carried)
			printf("%14.2f copies of each byte: %s\n",
			       (double)copied / (double)carried,
			       ratios[i].path);
	}
}

int info_counters(pid_t pid)
{
	struct totals totals = { 0 };
	char directory[32];
	DIR *dir;

	snprintf(directory, sizeof(directory), "/proc/%d/fd", (int)pid);
	dir = opendir(directory);
	if (!dir) {
		fprintf(stderr, "bcl-info: process %d: %s\n", (int)pid,
			errno == ENOENT ? "there is none" : strerror(errno));
		return 1;
	}
	add_process(&totals, directory, dir);
	closedir(dir);
	if (!totals.contexts) {
		fprintf(stderr, "bcl-info: process %d does not use bcl\n",
			(int)pid);
		return 1;
	}
	printf("process %d: %u contexts, %u ports\n", (int)pid, totals.contexts,
	       totals.ports);
	for (size_t i = 0; i < totals.n; i++)
		if (totals.list[i].value)
			printf("%14" PRIu64 " %-28s %s\n", totals.list[i].value,
			       totals.list[i].name,
			       describe_counter(totals.list[i].name));
	print_copies(&totals);
	free(totals.list);
	return 0;
}
