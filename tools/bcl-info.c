/* SPDX-License-Identifier: MIT */
/*
 * bcl-info: prints what the library finds on this machine, the path between
 * each pair of ranks, and the counters of a running process.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectives/select.h"
#include "tools/info.h"
#include "transport/topology.h"

enum {
	RANKS_MAX = 1 << 20, /* of a described team */
};

static int usage(FILE *to)
{
	fprintf(to,
		"usage: bcl-info [--config | --paths | --pid PID | "
		"--version]\n"
		"       bcl-info --collectives[=BYTES] [--team=RANKSxNODES] "
		"[OPERATION BYTES]\n"
		"       bcl-info --collectives --measure OPERATION BYTES\n");
	return to == stdout ? 0 : 2;
}

static int print_config(void)
{
	struct bcl_config config;
	char text[BCL_CONFIG_TEXT_MAX];

	if (bcl_config_read(&bcl_env_linux, &config))
		return 1;
	bcl_config_warn(&config);
	for (unsigned i = 0; i < bcl_config_nentries; i++) {
		const struct bcl_config_entry *entry = &bcl_config_entries[i];

		bcl_config_print(&config, entry, text, sizeof(text));
		printf("%s=%s\n    %s", entry->name, text, entry->text);
		if (strcmp(text, entry->standard))
			printf(" (default: %s)",
			       *entry->standard ? entry->standard : "empty");
		putchar('\n');
	}
	return 0;
}

static void print_machine(void)
{
	struct bcl_topology t;
	uint8_t boot_id[16];
	char name[64];

	bcl_env_linux.host(NULL, name, boot_id);
	printf("host        %s, boot id ", name);
	for (unsigned i = 0; i < sizeof(boot_id); i++)
		printf("%02x", boot_id[i]);
	putchar('\n');
	if (bcl_topology_read(&t)) {
		printf("processors  cannot be read\n");
		return;
	}
	printf("processors  %u of %u (%s): %u cores, %u packages, %u memories; "
	       "%s\n",
	       t.processors, t.machine_processors, t.mask, t.cores, t.packages,
	       t.memories, t.bound ? "bound" : "not bound");
}

static int print_all(void)
{
	int failed;

	printf("bcl %s, wire version %d, card ABI %d\n", bcl_version(),
	       BCL_WIRE_VERSION, BCL_CARD_ABI);
	print_machine();
	failed = info_rails();
	return info_inside() || failed;
}

/* Reads a number of decimal digits up to `end`. False: there is none. */
static bool read_number(const char *text, char end, size_t *number,
			const char **after)
{
	char *last;

	errno = 0;
	*number = strtoul(text, &last, 10);
	*after = last;
	return *text >= '0' && *text <= '9' && *last == end && !errno;
}

static bool read_length(const char *text, struct info_request *request)
{
	uint64_t length;

	request->has_length =
		bcl_config_parse(BCL_CONFIG_SIZE, text, &length) == BCL_OK;
	request->length = length;
	if (!request->has_length)
		fprintf(stderr,
			"bcl-info: --collectives: \"%s\" is not a number of "
			"bytes like 4096, 64k, 1M\n",
			text);
	return request->has_length;
}

static bool read_team(const char *text, struct info_request *request)
{
	size_t ranks, nodes;
	const char *after;

	if (!read_number(text, 'x', &ranks, &after) ||
	    !read_number(after + 1, '\0', &nodes, &after) || !nodes ||
	    nodes > ranks || ranks > RANKS_MAX) {
		fprintf(stderr,
			"bcl-info: --team: \"%s\" is not RANKSxNODES, such as "
			"16x4, with at most %d ranks and no more nodes\n",
			text, RANKS_MAX);
		return false;
	}
	request->ranks = (unsigned)ranks;
	request->nodes = (unsigned)nodes;
	return true;
}

/* text: NULL, or a length in bytes. words: none, or an operation and its
 * length. */
static int print_collectives(const char *text, char **words, int nwords,
			     struct info_request *request)
{
	if (text && !read_length(text, request))
		return usage(stderr);
	if (request->measure && (nwords != 2 || request->ranks))
		return usage(stderr);
	if (!nwords)
		return info_collectives(request);
	request->operation = bcl_operation_find(words[0], strlen(words[0]));
	if (nwords != 2 || text)
		return usage(stderr);
	if (request->operation == BCL_OPERATIONS) {
		fprintf(stderr, "bcl-info: \"%s\" is no operation\n", words[0]);
		return usage(stderr);
	}
	if (!read_length(words[1], request))
		return usage(stderr);
	return info_collectives(request);
}

static int print_counters(const char *text)
{
	size_t pid;
	const char *after;

	if (!read_number(text, '\0', &pid, &after) || !pid || pid > INT_MAX) {
		fprintf(stderr,
			"bcl-info: --pid: \"%s\" is not the number of a "
			"process\n",
			text);
		return usage(stderr);
	}
	return info_counters((pid_t)pid);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", no_argument, NULL, 'c' },
		{ "paths", no_argument, NULL, 'p' },
		{ "collectives", optional_argument, NULL, 'C' },
		{ "team", required_argument, NULL, 't' },
		{ "measure", no_argument, NULL, 'm' },
		{ "pid", required_argument, NULL, 'P' },
		{ "version", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct info_request request = { .operation = BCL_OPERATIONS };
	const char *text = NULL;
	int option, what = 0;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		bool more = option == 't' || option == 'm';

		if (option == '?' || (what && !more))
			return usage(stderr);
		if (!more) {
			what = option;
			text = optarg;
		} else if (option == 'm') {
			request.measure = true;
		} else if (!read_team(optarg, &request)) {
			return usage(stderr);
		}
	}
	if (what == 'C')
		return print_collectives(text, argv + optind, argc - optind,
					 &request);
	if (optind < argc || request.ranks || request.measure)
		return usage(stderr);
	switch (what) {
	case 'c':
		return print_config();
	case 'p':
		return info_paths();
	case 'P':
		return print_counters(text);
	case 'v':
		printf("bcl %s\n", bcl_version());
		return 0;
	case 'h':
		return usage(stdout);
	}
	return print_all();
}
