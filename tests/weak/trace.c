/* SPDX-License-Identifier: MIT */
/* Prints a failing execution for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/weak/explore.h"

static const char *const operations[] = {
	[GRAPH_READ] = "load",
	[GRAPH_WRITE] = "store",
	[GRAPH_SWAP] = "exchange",
	[GRAPH_ADD] = "add",
	[GRAPH_SUB] = "subtract",
	[GRAPH_AND] = "and",
	[GRAPH_OR] = "or",
	[GRAPH_XOR] = "xor",
	[GRAPH_COMPARE] = "swap if",
	[GRAPH_FENCE] = "fence",
	[GRAPH_LIGHT] = "light fence",
	[GRAPH_HEAVY] = "heavy fence",
};

static const char *const orders[] = {
	[__ATOMIC_RELAXED] = "relaxed", [__ATOMIC_CONSUME] = "consume",
	[__ATOMIC_ACQUIRE] = "acquire", [__ATOMIC_RELEASE] = "release",
	[__ATOMIC_ACQ_REL] = "acq_rel", [__ATOMIC_SEQ_CST] = "seq_cst",
};

/* Prints the line of the source. */
void explore_print_place(const void *where)
{
	char command[128], line[256];
	FILE *tool;

	snprintf(command, sizeof(command),
		 "addr2line -s -f -p -e /proc/%d/exe %p", getpid(),
		 (const void *)((const char *)where - 1));
	fflush(stdout);
	tool = popen(command, "r");
	if (!tool || !fgets(line, sizeof(line), tool))
		snprintf(line, sizeof(line), "%p\n", where);
	printf("    at %s", line);
	if (tool)
		pclose(tool);
}

/* Print the static variable in which the word lies, or else the address. */
static void print_word(const struct graph_word *word)
{
	char command[64], name[128], best[128] = "";
	uintptr_t address = (uintptr_t)word->address, start, found = 0;
	FILE *tool;

	snprintf(command, sizeof(command), "nm -n /proc/%d/exe", getpid());
	fflush(stdout);
	tool = popen(command, "r");
	while (tool &&
	       fscanf(tool, "%" SCNxPTR " %*c %127s", &start, name) == 2) {
		if (start > address)
			break;
		found = start;
		memcpy(best, name, sizeof(best));
	}
	if (tool)
		pclose(tool);
	if (*best && strcmp(best, "_end"))
		printf(" %s+%" PRIuPTR, best, address - found);
	else
		printf(" %p", word->address);
}

static void print(const struct graph *graph, const struct graph_event *event)
{
	const struct graph_request *request = &event->request;

	printf("  thread %u: %s %s", event->thread,
	       operations[request->operation],
	       request->plain ? "plain" : orders[request->order]);
	if (event->reads || event->writes)
		print_word(&graph_words[request->word]);
	if (event->reads)
		printf(" reads %" PRIx64, event->read);
	if (event->reads && event->from != GRAPH_START)
		printf(" of thread %u", graph->events[event->from].thread);
	if (event->reads && graph_place_of(graph, event->from) + event->writes <
				    graph_last(graph, request->word))
		printf(", not the last");
	if (event->writes)
		printf(" writes %" PRIx64 ", place %u", event->written,
		       event->place);
	putchar('\n');
	explore_print_place(request->where);
}

void explore_trace(const struct weak_test *test, const struct graph *graph,
		   const bool *done, const uint16_t *when)
{
	unsigned time, i;

	printf("%s: the execution is\n", test->name);
	for (time = 0; time < graph->n; time++)
		for (i = 0; i < graph->n; i++)
			if (done[i] && when[i] == time)
				print(graph, &graph->events[i]);
}
