/* SPDX-License-Identifier: MIT */
/* Prints the results of a run; see perf_report.h. */
#include "bench/perf_report.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include <bcl/version.h>

enum {
	FACT = 160,
};

/* Facts about the machine on which figures depend. */
struct machine {
	char processor[FACT];
	char kernel[FACT];
	char load[FACT];
	char pages[FACT]; /* transparent huge pages */
	char time[FACT];
	int cpus;
};

/* Copies the rest of the first line in `file` that begins with `key`; "?" if
 * there is none. */
static void read_fact(char *fact, const char *file, const char *key)
{
	FILE *in = fopen(file, "r");
	char line[FACT * 8];

	snprintf(fact, FACT, "?");
	while (in && fgets(line, sizeof(line), in)) {
		char *value = line + strlen(key);

		if (strncmp(line, key, strlen(key)))
			continue;
		value += strspn(value, " \t:");
		value[strcspn(value, "\n")] = 0;
		snprintf(fact, FACT, "%.*s", FACT - 1, value);
		break;
	}
	if (in)
		fclose(in);
}

static void describe_machine(struct machine *machine)
{
	struct utsname name = { 0 };
	time_t now = time(NULL);
	cpu_set_t cpus;

	read_fact(machine->processor, "/proc/cpuinfo", "model name");
	read_fact(machine->load, "/proc/loadavg", "");
	read_fact(machine->pages, "/sys/kernel/mm/transparent_hugepage/enabled",
		  "");
	uname(&name);
	snprintf(machine->kernel, FACT, "%.64s %.64s", name.sysname,
		 name.release);
	strftime(machine->time, FACT, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	CPU_ZERO(&cpus);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	machine->cpus = CPU_COUNT(&cpus);
}

/* Three significant digits, without an exponent. */
static const char *format_number(char text[16], double value)
{
	int digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;

	snprintf(text, 16, "%.*f", digits, value);
	return text;
}

void perf_text_head(FILE *out, const struct perf_run *run)
{
	struct machine machine;

	describe_machine(&machine);
	fprintf(out,
		"bcl-perf %s, %s\n%s, %d CPUs, %s, load %s\n"
		"%u rounds; ours and its reference take turns in each.\n"
		"mean +- standard error of the mean; p1 p50 p99 percentiles "
		"of all samples;\nx reference: median over the rounds. "
		"UNRELIABLE: the reference drifted by\nmore than 10 %% "
		"(between the medians of the thirds of the run).\n",
		BCL_VERSION_STRING, machine.time, machine.processor,
		machine.cpus, machine.kernel, machine.load, run->rounds);
	if (run->given)
		fprintf(out, "%u ranks as launched, %u on the first node.\n",
			run->given->ranks[0] + run->given->ranks[1],
			run->given->ranks[0]);
	else
		fprintf(out, "Nodes are %s.\n",
			run->places.virtual
				? "virtual, over loopback"
				: "network namespaces joined by veth");
}

/* Prints for example "<= 1.25 met"; nothing without a bar or --bars. */
static void print_verdict(FILE *out, const struct perf_line *line, bool bars)
{
	if (bars && line->has_bar)
		fprintf(out, "  %s %g %s",
			line->bar->at_least ? ">=" : "<=", line->bar->value,
			line->met ? "met" : "MISSED");
	if (line->unreliable)
		fprintf(out, "  UNRELIABLE");
}

static void print_line(FILE *out, const struct perf_line *line, bool bars)
{
	const struct perf_summary *s =
		line->row->ask ? &line->summary : &line->reference_summary;
	char n[6][16];

	fprintf(out, "%-40s ", line->figure);
	if (*line->failure) {
		fprintf(out, "%s: %s\n", line->skipped ? "skipped" : "FAILED",
			line->failure);
		return;
	}
	if (!line->row->ask && *line->no_reference) {
		fprintf(out, "not here: %s\n", line->no_reference);
		return;
	}
	fprintf(out, "%-5s %6s +- %-5s %6s %6s %6s", line->unit,
		format_number(n[0], s->mean), format_number(n[1], s->error),
		format_number(n[2], s->p1), format_number(n[3], s->p50),
		format_number(n[4], s->p99));
	if (line->row->ask && line->theirs.samples)
		fprintf(out, "  %5.2f x %s %s", line->ratio, line->reference,
			format_number(n[5], line->reference_summary.p50));
	else if (line->row->ask && *line->no_reference)
		fprintf(out, "  no reference: %s", line->no_reference);
	print_verdict(out, line, bars);
	fputc('\n', out);
}

void perf_text_section(FILE *out, const struct perf_run *run,
		       unsigned int first, unsigned int end)
{
	unsigned int i;

	fprintf(out, "\n%-40s %-5s %6s    %-5s %6s %6s %6s  x reference\n",
		run->line[first].row->section, "", "mean", "", "p1", "p50",
		"p99");
	for (i = first; i < end; i++)
		print_line(out, &run->line[i], run->bars);
	fflush(out);
}

void perf_text_end(FILE *out, const struct perf_run *run)
{
	unsigned int i, bars = 0, met = 0, unreliable = 0, failed = 0;

	for (i = 0; i < run->lines; i++) {
		bars += run->line[i].has_bar;
		met += run->line[i].met;
		unreliable += run->line[i].unreliable;
		failed += *run->line[i].failure && !run->line[i].skipped;
	}
	fputc('\n', out);
	if (run->bars)
		fprintf(out, "%u of %u bars met; ", met, bars);
	fprintf(out, "%u of %u lines unreliable, %u failed\n", unreliable,
		run->lines, failed);
}

/* Prints a text in double quotes. CSV doubles a quote, JSON escapes it. */
static void print_quoted(FILE *out, const char *text, const char *escaped_quote)
{
	fputc('"', out);
	for (; *text; text++)
		if (*text == '"')
			fputs(escaped_quote, out);
		else if (*text == '\\' && *escaped_quote == '\\')
			fputs("\\\\", out);
		else if ((unsigned char)*text >= ' ')
			fputc(*text, out);
	fputc('"', out);
}

void perf_csv(FILE *out, const struct perf_run *run)
{
	unsigned int i;

	fprintf(out, "section,figure,unit,mean,stderr,p1,p50,p99,samples,"
		     "reference,reference_p50,reference_drift,ratio,bar,met,"
		     "unreliable,failure\n");
	for (i = 0; i < run->lines; i++) {
		const struct perf_line *l = &run->line[i];
		const struct perf_summary *s = &l->summary;

		print_quoted(out, l->row->section, "\"\"");
		fputc(',', out);
		print_quoted(out, l->figure, "\"\"");
		fprintf(out, ",%s,%g,%g,%g,%g,%g,%u,", l->unit, s->mean,
			s->error, s->p1, s->p50, s->p99, l->ours.samples);
		fprintf(out, "%s,%g,%g,%g,", l->reference,
			l->reference_summary.p50, l->reference_summary.drift,
			l->ratio);
		if (l->has_bar)
			fprintf(out, "%s%g,%d,",
				l->bar->at_least ? ">=" : "<=", l->bar->value,
				l->met);
		else
			fprintf(out, ",,");
		fprintf(out, "%d,", l->unreliable);
		print_quoted(out, l->failure, "\"\"");
		fputc('\n', out);
	}
}

static void json_text(FILE *out, const char *key, const char *value)
{
	fprintf(out, "\"%s\":", key);
	print_quoted(out, value, "\\\"");
}

static void json_series(FILE *out, const struct perf_series *series,
			const struct perf_summary *s)
{
	unsigned int i;

	fprintf(out,
		"\"mean\":%g,\"stderr\":%g,\"p1\":%g,\"p50\":%g,\"p99\":%g,"
		"\"drift\":%g,\"rounds\":%u,\"samples\":[",
		s->mean, s->error, s->p1, s->p50, s->p99, s->drift,
		series->rounds);
	for (i = 0; i < series->samples; i++)
		fprintf(out, "%s%g", i ? "," : "", series->sample[i]);
	fputc(']', out);
}

static void json_line(FILE *out, const struct perf_line *line)
{
	fprintf(out, "{");
	json_text(out, "section", line->row->section);
	fputc(',', out);
	json_text(out, "figure", line->figure);
	fputc(',', out);
	json_text(out, "unit", line->unit);
	if (*line->failure) {
		fputc(',', out);
		json_text(out, line->skipped ? "skipped" : "failure",
			  line->failure);
	}
	if (line->ours.samples) {
		fputc(',', out);
		json_series(out, &line->ours, &line->summary);
	}
	if (line->theirs.samples) {
		fprintf(out, ",\"reference\":{");
		json_text(out, "name", line->reference);
		fputc(',', out);
		json_series(out, &line->theirs, &line->reference_summary);
		fprintf(out, "},\"unreliable\":%s",
			line->unreliable ? "true" : "false");
	}
	if (line->ours.samples && line->theirs.samples)
		fprintf(out, ",\"ratio\":%g", line->ratio);
	if (line->has_bar)
		fprintf(out, ",\"bar\":{\"%s\":%g},\"met\":%s",
			line->bar->at_least ? "at_least" : "at_most",
			line->bar->value, line->met ? "true" : "false");
	fputc('}', out);
}

void perf_json(FILE *out, const struct perf_run *run)
{
	struct machine machine;
	unsigned int i;

	describe_machine(&machine);
	fprintf(out, "{\"format\":1,");
	json_text(out, "version", BCL_VERSION_STRING);
	fputc(',', out);
	json_text(out, "time", machine.time);
	fputc(',', out);
	json_text(out, "processor", machine.processor);
	fprintf(out, ",\"cpus\":%d,", machine.cpus);
	json_text(out, "kernel", machine.kernel);
	fputc(',', out);
	json_text(out, "load", machine.load);
	fputc(',', out);
	json_text(out, "huge_pages", machine.pages);
	fputc(',', out);
	json_text(out, "nodes", run->places.virtual ? "virtual" : "namespaces");
	fprintf(out, ",\n\"lines\":[");
	for (i = 0; i < run->lines; i++) {
		fprintf(out, "%s\n", i ? "," : "");
		json_line(out, &run->line[i]);
	}
	fprintf(out, "\n]}\n");
}
