/* SPDX-License-Identifier: MIT */
/* bcl-check: checks traces (BCL_TRACE) against the rules of the protocol, and
 * tells which parts the files do not cover. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/check/rules.h"

enum {
	PATIENCE_MS = 1000,
	PATIENCE_MAX = 1000000000,
	KEPT = 0, /* exit codes */
	BROKEN = 1,
	UNREADABLE = 2,
};

static int usage(FILE *to)
{
	fprintf(to, "usage: bcl-check [-p MILLISECONDS] FILE...\n"
		    "       bcl-check -l\n"
		    "Hold traces (BCL_TRACE) against the rules of the "
		    "protocol.\n"
		    "  -l  list the rules\n"
		    "  -p  how long something may take that takes no time "
		    "(default 1000)\n");
	return to == stdout ? KEPT : UNREADABLE;
}

static int list_rules(void)
{
	unsigned i;

	for (i = 0; i < check_nrules; i++)
		printf("%-10s %s\n", check_rules[i].name, check_rules[i].says);
	return KEPT;
}

static void tell_ports(const struct check_life *life)
{
	const struct check_port *port;

	for (port = life->ports; port; port = port->next)
		if (port->gap)
			printf("not checked: port %u of card %016" PRIx64
			       ", of which events are missing\n",
			       port->number, life->card);
}

/* Prints the parts that could not be checked, as the files lack records or
 * cards. */
static void tell_gaps(const struct check_world *world)
{
	const struct check_link *link;
	const struct check_life *life;
	unsigned i;

	for (i = 0; i < CHECK_LIVES; i++)
		for (life = world->lives[i]; life; life = life->next) {
			if (!life->records)
				printf("not checked: what was asked of card "
				       "%016" PRIx64 " and delivered there, "
				       "which no record tells\n",
				       life->card);
			for (link = life->links; link; link = link->next)
				if (!check_life_find(world, link->card))
					printf("not checked: what card "
					       "%016" PRIx64 " asked of "
					       "%016" PRIx64 " and got, which "
					       "is in no file\n",
					       link->card, life->card);
			tell_ports(life);
		}
}

static int check_traces(char *const *files, unsigned n, uint64_t patience)
{
	struct check_world *world = calloc(1, sizeof(*world));
	int result = UNREADABLE;

	if (!world)
		abort();
	world->patience = patience;
	check_world_open(world);
	if (check_files(world, files, n)) {
		tell_gaps(world);
		printf("%" PRIu64 " frames, %" PRIu64 " of them damaged on "
		       "the way, %" PRIu64 " records: %u complaints\n",
		       world->frames, world->damaged, world->records,
		       world->complaints);
		result = world->complaints ? BROKEN : KEPT;
		if (!world->packets) {
			fprintf(stderr,
				"bcl-check: %s: no packets, so that "
				"nothing is checked\n",
				files[0]);
			result = UNREADABLE;
		}
	}
	check_world_close(world);
	free(world);
	return result;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	uint64_t patience = PATIENCE_MS;
	char *end;
	int option;

	while ((option = getopt_long(argc, argv, "hlp:", options, NULL)) != -1)
		switch (option) {
		case 'h':
			return usage(stdout);
		case 'l':
			return list_rules();
		case 'p':
			patience = strtoull(optarg, &end, 10);
			if (*end || *optarg < '0' || *optarg > '9' ||
			    patience > PATIENCE_MAX)
				return usage(stderr);
			break;
		default:
			return usage(stderr);
		}
	if (optind == argc)
		return usage(stderr);
	return check_traces(argv + optind, (unsigned)(argc - optind),
			    patience * 1000000);
}
