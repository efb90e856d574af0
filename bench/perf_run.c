/* SPDX-License-Identifier: MIT */
/* Starts the groups of a section and asks them round by round;
 * see perf_run.h. */
#include "bench/perf_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "transport/boot/fork.h"

enum {
	GROUPS = 16, /* per section */
	QUESTION = 192,
	STRINGS = 16384, /* bytes for the words of a group */
};

static const double unreliable_drift = 0.10;

/* Time for a launcher's ranks to fall asleep: waiting ranks poll before they
 * sleep. */
static const struct timespec fall_asleep = { .tv_nsec = 40000000 };

/* A group and its processes. */
struct runner {
	const struct perf_group *group;
	struct perf_source source;
	struct bcl_boot_job *job; /* if the group is ranks */
	bool runs;
};

/* The words of a group's processes, back to back. */
struct strings {
	char bytes[STRINGS];
	size_t used;
};

static void *allocate_zeroed(size_t n, size_t size)
{
	void *memory = calloc(n, size);

	if (!memory) {
		perror("bcl-perf");
		exit(1);
	}
	return memory;
}

static char *add_string(struct strings *strings, const char *key,
			const char *value)
{
	char *at = strings->bytes + strings->used;
	size_t room = sizeof(strings->bytes) - strings->used;
	int n = snprintf(at, room, "%s%s", key, value);

	if (n < 0 || (size_t)n >= room) {
		fprintf(stderr, "bcl-perf: too many words for a group\n");
		exit(1);
	}
	strings->used += (size_t)n + 1;
	return at;
}

static char *add_number(struct strings *strings, const char *key,
			unsigned int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	return add_string(strings, key, text);
}

static unsigned int sides_of(const struct perf_group *group)
{
	if (group->program)
		return group->between ? PERF_NODES : 1;
	return group->ranks[0] + group->ranks[1];
}

static unsigned int node_of(const struct perf_group *group, unsigned int side)
{
	return group->program ? side : side >= group->ranks[0];
}

/* The rest of "local=", "peer=" and "interface=", which the plan
 * leaves open. */
static const char *word_end(const struct perf_places *places, const char *word,
			    unsigned int node)
{
	if (!strcmp(word, "local="))
		return places->node[node].address;
	if (!strcmp(word, "peer="))
		return places->node[!node].address;
	if (!strcmp(word, "interface="))
		return places->node[node].interface;
	return "";
}

static void write_command(const struct perf_run *run,
			  const struct runner *runner, unsigned int side,
			  struct strings *strings, struct perf_command *command)
{
	const struct perf_group *group = runner->group;
	unsigned int node = node_of(group, side), i;
	char **word = command->word, **variable = command->variable;

	if (group->program) {
		*word++ = add_string(strings, run->programs, group->program);
	} else {
		*word++ = add_string(strings, run->self, "");
		*word++ = add_string(strings, "rank", "");
		*word++ = add_number(strings, "sides=", sides_of(group));
		*word++ = add_number(strings, "node0=", group->ranks[0]);
		*word++ = add_number(strings, "twin=", group->twin);
	}
	if (sides_of(group) > 1)
		*word++ = add_number(strings, "side=", side);
	for (i = 0; i < PERF_ARGUMENTS && group->argument[i]; i++)
		*word++ = add_string(
			strings, group->argument[i],
			word_end(&run->places, group->argument[i], node));
	for (i = 0; i < PERF_VARIABLES && group->variable[i]; i++)
		*variable++ = add_string(strings, group->variable[i], "");
	if (run->places.virtual && !group->program)
		*variable = add_string(
			strings, "BCL_NODE=", run->places.node[node].name);
	command->place = run->places.node[node].holder;
	command->job = runner->job;
	command->rank = side + (group->twin && side);
	command->twin = group->twin && !side;
}

static void start_runner(const struct perf_run *run, struct runner *runner)
{
	struct strings *strings = allocate_zeroed(1, sizeof(*strings));
	unsigned int sides = sides_of(runner->group), i;
	struct perf_command *command = allocate_zeroed(sides, sizeof(*command));

	if (!runner->group->program &&
	    bcl_boot_job_open(sides + runner->group->twin, &runner->job)) {
		fprintf(stderr, "bcl-perf: no memory for a job\n");
		exit(1);
	}
	for (i = 0; i < sides; i++)
		write_command(run, runner, i, strings, &command[i]);
	perf_source_start(&runner->source, command, sides);
	runner->runs = true;
	free(command);
	free(strings);
}

static void stop_runner(struct runner *runner)
{
	perf_source_stop(&runner->source);
	if (runner->job)
		bcl_boot_job_close(runner->job);
	runner->job = NULL;
	runner->runs = false;
}

static struct perf_source *source_of(const struct perf_run *run,
				     struct runner *runner,
				     const struct perf_group *group)
{
	const struct runner *end = runner + GROUPS;

	if (run->given && !group->program)
		return &run->given->source;
	while (runner < end && runner->group && runner->group != group)
		runner++;
	if (runner == end) {
		fprintf(stderr, "bcl-perf: too many groups in a section\n");
		exit(1);
	}
	runner->group = group;
	/* A group that failed at a line is restarted for the next line. */
	if (runner->runs && *runner->source.failure && !runner->source.skipped)
		stop_runner(runner);
	if (!runner->runs)
		start_runner(run, runner);
	return &runner->source;
}

/* Writes a text of the plan with the size in place of its only %s. */
static void expand_size(char *to, size_t room, const char *text,
			const char *size)
{
	const char *hole = strstr(text, "%s");

	if (hole)
		snprintf(to, room, "%.*s%s%s", (int)(hole - text), text, size,
			 hole + 2);
	else
		snprintf(to, room, "%s", text);
}

static const struct perf_bar *bar_of(const char *figure)
{
	const struct perf_bar *bar;

	for (bar = perf_bars; bar->figure; bar++)
		if (!strcmp(bar->figure, figure))
			return bar;
	return NULL;
}

/* "8" becomes 8 B, "64K" becomes 64 KB; a text that is no number stays. */
static void name_size(char name[PERF_NAME], const char *size)
{
	int digits = (int)strspn(size, "0123456789");

	if (digits)
		snprintf(name, PERF_NAME, "%.*s %sB", digits, size,
			 size + digits);
	else
		snprintf(name, PERF_NAME, "%s", size);
}

static void add_line(struct perf_run *run, const struct perf_row *row,
		     const char *size, size_t length)
{
	struct perf_line *line;
	char name[PERF_NAME];

	run->line = realloc(run->line, (run->lines + 1) * sizeof(*line));
	if (!run->line) {
		perror("bcl-perf");
		exit(1);
	}
	line = &run->line[run->lines];
	memset(line, 0, sizeof(*line));
	line->row = row;
	snprintf(line->size, sizeof(line->size), "%.*s", (int)length, size);
	name_size(name, line->size);
	expand_size(line->figure, sizeof(line->figure), row->figure, name);
	line->bar = bar_of(line->figure);
	if (!run->only || strstr(row->section, run->only) ||
	    strstr(line->figure, run->only))
		run->lines++;
}

/* True if the given ranks, with their environment, match the group. */
static bool is_given(const struct perf_given *given,
		     const struct perf_group *group)
{
	unsigned int i;

	if (group->any)
		return true;
	if (group->twin || group->argument[0] ||
	    memcmp(group->ranks, given->ranks, sizeof(group->ranks)))
		return false;
	for (i = 0; i < PERF_VARIABLES && group->variable[i]; i++) {
		const char *text = group->variable[i];
		size_t length = strcspn(text, "=");
		char name[PERF_NAME];
		const char *value;

		snprintf(name, sizeof(name), "%.*s", (int)length, text);
		value = getenv(name);
		if (!value || strcmp(value, text + length + 1))
			return false;
	}
	return true;
}

/* True if the row can be measured with the given ranks. */
static bool can_measure(const struct perf_run *run, const struct perf_row *row)
{
	if (!run->given)
		return true;
	if (row->ask && !is_given(run->given, row->ours))
		return false;
	return !row->reference || row->reference->program ||
	       row->reference == row->ours;
}

static void add_lines(struct perf_run *run, const struct perf_row *row)
{
	const char *size = row->sizes ? row->sizes : "";
	size_t length;

	do {
		length = strcspn(size, " ");
		add_line(run, row, size, length);
		size += length + (size[length] == ' ');
	} while (*size);
}

void perf_run_plan(struct perf_run *run)
{
	const struct perf_row *row;

	for (row = perf_rows; row->section; row++)
		if (can_measure(run, row))
			add_lines(run, row);
}

/* Asks a question. Returns false, with the reason in `why`, if there is no
 * answer. */
static bool ask_source(struct perf_source *source, const char *text,
		       const struct perf_line *line, struct perf_answer *answer,
		       char *why)
{
	char question[QUESTION];

	expand_size(question, sizeof(question), text, line->size);
	if (perf_source_ask(source, question, answer))
		return true;
	snprintf(why, PERF_TEXT, "%s", source->failure);
	return false;
}

static void measure_line(const struct perf_run *run, struct runner *runner,
			 struct perf_line *line)
{
	static struct perf_answer answer;
	const struct perf_row *row = line->row;
	struct perf_source *source;

	if (*line->failure)
		return;
	if (run->given && row->reference && row->reference->between)
		snprintf(line->no_reference, PERF_TEXT,
			 "it would have to be launched, too");
	if (row->reference && !*line->no_reference) {
		if (run->given && row->reference->program)
			nanosleep(&fall_asleep, NULL);
		source = source_of(run, runner, row->reference);
		if (ask_source(source, row->ask_reference, line, &answer,
			       line->no_reference)) {
			perf_series_add(&line->theirs, answer.sample,
					answer.samples);
			memcpy(line->reference, answer.name, PERF_NAME);
			memcpy(line->unit, answer.unit, PERF_NAME);
		}
	}
	if (row->ask) {
		source = source_of(run, runner, row->ours);
		if (ask_source(source, row->ask, line, &answer,
			       line->failure)) {
			perf_series_add(&line->ours, answer.sample,
					answer.samples);
			memcpy(line->unit, answer.unit, PERF_NAME);
		}
		line->skipped = source->skipped;
	}
}

void perf_run_section(struct perf_run *run, unsigned int first,
		      unsigned int end)
{
	struct runner *runner = allocate_zeroed(GROUPS, sizeof(*runner));
	unsigned int round, i;

	for (round = 0; round < run->rounds; round++) {
		for (i = first; i < end; i++)
			measure_line(run, runner, &run->line[i]);
		for (i = 0; i < GROUPS; i++)
			if (runner[i].runs && (runner[i].group->fresh ||
					       round + 1 == run->rounds))
				stop_runner(&runner[i]);
	}
	free(runner);
}

void perf_judge(struct perf_line *line)
{
	const struct perf_bar *bar = line->bar;
	double reached;

	perf_summarise(&line->ours, &line->summary);
	perf_summarise(&line->theirs, &line->reference_summary);
	line->ratio = perf_ratio(&line->ours, &line->theirs);
	line->unreliable = line->reference_summary.drift > unreliable_drift;
	if (!bar || !line->ours.samples)
		return;
	if (bar->reference && strcmp(bar->reference, line->reference))
		return;
	if (bar->judge != PERF_MEDIAN && !line->theirs.samples)
		return;
	if (bar->judge == PERF_MEAN_RATIO)
		line->ratio = line->summary.mean / line->reference_summary.mean;
	reached = bar->judge == PERF_MEDIAN ? line->summary.p50 : line->ratio;
	line->has_bar = true;
	line->met =
		bar->at_least ? reached >= bar->value : reached <= bar->value;
}

void perf_run_free(struct perf_run *run)
{
	unsigned int i;

	for (i = 0; i < run->lines; i++) {
		perf_series_free(&run->line[i].ours);
		perf_series_free(&run->line[i].theirs);
	}
	free(run->line);
	run->line = NULL;
	run->lines = 0;
}
