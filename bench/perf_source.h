/* SPDX-License-Identifier: MIT */
/*
 * A source of figures: a group of processes that speak the protocol of
 * ref/ref.h. Sources are ranks of the library as well as references.
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

/* The program of a process in a group, and the place to run it. */
struct perf_command {
	char *word[PERF_WORDS];	    /* file and arguments, NULL at the end */
	char *variable[PERF_WORDS]; /* "NAME=VALUE", set; NULL at the end */
	pid_t place; /* enter the namespaces of this process; 0: stay */
	struct bcl_boot_job *job; /* job to join, or NULL */
	unsigned int rank;	  /* in that job */
	unsigned int twin; /* a second rank in the process, whose BCL_BOOT is
			    * passed in PERF_TWIN; 0: none */
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
	int in[PERF_SIDES], out[PERF_SIDES]; /* standard input and output of
					      * each side */
	int messages;			     /* standard error of all sides */
	bool skipped;		 /* the program may not run here, which is no
				  * failure */
	char failure[PERF_TEXT]; /* why the source ended; "" while it runs */
};

/* Starts the processes. An error appears as a failure of the first question. */
void perf_source_start(struct perf_source *source,
		       const struct perf_command *command, unsigned int sides);

/*
 * Asks for a round and waits for the answer. Returns false, with ->failure set,
 * if there is no answer. A source that has failed stays failed.
 */
bool perf_source_ask(struct perf_source *source, const char *line,
		     struct perf_answer *answer);

/* Ends the processes and frees all resources. */
void perf_source_stop(struct perf_source *source);

#endif
