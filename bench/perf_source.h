/* SPDX-License-Identifier: MIT */
/*
 * A source of figures: a group of processes that speak the protocol of
 * ref/ref.h, our ranks as well as the references.
 */
#ifndef BCL_BENCH_PERF_SOURCE_H
#define BCL_BENCH_PERF_SOURCE_H

#include <stdbool.h>
#include <sys/types.h>

enum {
	PERF_SIDES = 64,
	PERF_WORDS = 24,
	PERF_NAME = 32,
	PERF_TEXT = 160,
	PERF_SAMPLES = 1024,
};

struct bcl_boot_job;

/* What one process of a group runs, and where. */
struct perf_command {
	char *word[PERF_WORDS];	    /* file and arguments, NULL at the end */
	char *variable[PERF_WORDS]; /* "NAME=VALUE", set; NULL at the end */
	pid_t place; /* enter the namespaces of this process; 0: stay */
	struct bcl_boot_job *job; /* that it joins, or NULL */
	unsigned int rank;	  /* in that job */
	unsigned int twin; /* a second rank of the process, whose BCL_BOOT
			    * goes into its environment as PERF_TWIN; or 0 */
};

struct perf_answer {
	char name[PERF_NAME];
	char unit[PERF_NAME];
	double sample[PERF_SAMPLES];
	unsigned int samples;
};

struct perf_source {
	unsigned int sides;
	pid_t pid[PERF_SIDES];
	int in[PERF_SIDES], out[PERF_SIDES]; /* their standard input, output */
	int messages;			     /* their standard error */
	bool skipped;		 /* it may not run here: no failure */
	char failure[PERF_TEXT]; /* why it ended, "" while it has not */
};

/* Starts the processes; what fails shows at the first question. */
void perf_source_start(struct perf_source *source,
		       const struct perf_command *command, unsigned int sides);

/*
 * Asks for a round and waits for the answer. False, and ->failure set, if
 * there is none; a source that has failed stays so.
 */
bool perf_source_ask(struct perf_source *source, const char *line,
		     struct perf_answer *answer);

/* Ends the processes and frees the rest. */
void perf_source_stop(struct perf_source *source);

#endif
