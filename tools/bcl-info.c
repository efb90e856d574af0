/* SPDX-License-Identifier: MIT */
/*
 * bcl-info: prints what the library finds on this machine, the path between
 * each pair of ranks, and the counters of a running process.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/info.h"
#include "transport/topology.h"

int info_failed(const char *what, enum bcl_status status)
{
	fprintf(stderr, "bcl-info: %s: %s\n", what, bcl_strstatus(status));
	return 1;
}

static int usage(FILE *to)
{
	fprintf(to, "usage: bcl-info [--config | --paths | "
		    "--collectives[=BYTES] | --pid PID | --version]\n");
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

/* text: NULL, or a length in bytes. */
static int print_collectives(const char *text)
{
	char *end;
	size_t length;

	if (!text)
		return info_collectives(NULL);
	length = strtoul(text, &end, 10);
	if (*end || !*text || *text == '-') {
		fprintf(stderr,
			"bcl-info: --collectives: \"%s\" is not a number of "
			"bytes\n",
			text);
		return usage(stderr);
	}
	return info_collectives(&length);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", no_argument, NULL, 'c' },
		{ "paths", no_argument, NULL, 'p' },
		{ "collectives", optional_argument, NULL, 'C' },
		{ "pid", required_argument, NULL, 'P' },
		{ "version", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	char *end;
	long pid;

	switch (getopt_long(argc, argv, "", options, NULL)) {
	case 'c':
		return print_config();
	case 'p':
		return info_paths();
	case 'C':
		return print_collectives(optarg);
	case 'P':
		pid = strtol(optarg, &end, 10);
		if (*end || pid <= 0) {
			fprintf(stderr,
				"bcl-info: --pid: \"%s\" is not the number of "
				"a process\n",
				optarg);
			return usage(stderr);
		}
		return info_counters((pid_t)pid);
	case 'v':
		printf("bcl %s\n", bcl_version());
		return 0;
	case 'h':
		return usage(stdout);
	case -1:
		return optind < argc ? usage(stderr) : print_all();
	}
	return usage(stderr);
}
