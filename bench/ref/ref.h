/* SPDX-License-Identifier: MIT */
/*
 * The frame of the reference programs: each measures one thing that this
 * machine can do without the library, so that the library's figures can be
 * read as ratios.
 *
 * Everything a program may be told is a parameter, a word "key=value" ("--"
 * before the key is allowed). Words on the command line hold for the whole
 * run. A line on standard input asks for one round, and its words hold for
 * that round; the answer is one line on standard output,
 *
 *	NAME UNIT SAMPLE SAMPLE ...
 *
 * so that a driver can interleave rounds of several programs. Between rounds
 * every process of a program sleeps. With rounds=N nothing is read: N rounds
 * run, and the program ends.
 *
 * A program consists of processes called sides; side 0 measures and answers.
 * It forks the others, unless side=K says that only side K runs here and the
 * rest were started elsewhere, in another network namespace or on another
 * host. Then each side wants each line, and the others answer "NAME UNIT".
 *
 * Exit status: 0; 1 after an error, explained on standard error; 77 if this
 * machine or this user may not do what is measured.
 */
#ifndef BCL_BENCH_REF_H
#define BCL_BENCH_REF_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
	REF_LINE = 64,		 /* bytes of a cache line */
	REF_ROTATION = 64 << 20, /* bytes that cold buffers rotate through */
	REF_REQUEST = 512,	 /* bytes of a request, with its end */
	REF_PARAMS = 24,
	REF_SAMPLES = 1024,
	REF_SKIPPED = 77,
};

struct ref_param {
	const char *key;
	const char *value; /* default */
	const char *help;
};

struct ref;

struct ref_program {
	const char *name;
	const char *unit;
	const char *about;
	unsigned int sides; /* 0: the parameter "sides" says how many */
	size_t shared;	    /* bytes of memory shared by the sides */
	const char *preset; /* a word that replaces a default, or NULL */
	void (*open)(struct ref *ref);
	void (*round)(struct ref *ref);
	void (*close)(struct ref *ref); /* after the last round, or NULL */
	/* Gets the next request, or 0 at the end; NULL: standard input. */
	int (*next)(struct ref *ref, char *line, size_t size);
	struct ref_param param[REF_PARAMS]; /* ends at a NULL key */
};

struct ref {
	const struct ref_program *program;
	unsigned int side;
	unsigned int sides;
	void *shared;	  /* zeroed; private if side= was given */
	void *own;	  /* what open() wants to keep for this side */
	const char *name; /* of the figure: the program's, or set by round() */
	const char *unit;
	double sample[REF_SAMPLES];
	unsigned int samples;
	const char *base[REF_PARAMS];  /* from the command line */
	const char *value[REF_PARAMS]; /* in this round */
};

/* Does everything; returns the exit status. */
int ref_main(int argc, char **argv, const struct ref_program *program);

/* The value of a parameter; a number may end in K or M (powers of 1024). */
const char *ref_string(const struct ref *ref, const char *key);
size_t ref_number(const struct ref *ref, const char *key);

/* Adds a sample to the answer of this round (side 0). */
void ref_sample(struct ref *ref, double value);

/* Prints "NAME: ..." and ends the process with the status. */
void ref_exit(const struct ref *ref, int status, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

/* CLOCK_MONOTONIC in ns: the same clock for all processes of a host. */
uint64_t ref_now(void);

/* Pins the caller to the CPU-th of the CPUs it may use, modulo their number. */
void ref_pin(unsigned int cpu);

/* Tells the processor that this is a spin loop. */
static inline void ref_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#else
	atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* Waits by spinning until the word is value; acquires what was released. */
static inline void ref_await(_Atomic uint64_t *word, uint64_t value)
{
	while (atomic_load_explicit(word, memory_order_acquire) != value)
		ref_pause();
}

/*
 * Memory that large transfers rotate through, of REF_ROTATION bytes and
 * written once; small pages, so that figures do not depend on luck.
 */
unsigned char *ref_memory(const struct ref *ref);

/*
 * Offset in that memory of the n-th buffer of size bytes (at most
 * REF_ROTATION): always 0 unless the parameter "buffers" is "cold".
 */
size_t ref_offset(const struct ref *ref, size_t size, uint64_t n);

/* How many transfers of size bytes make one sample. */
size_t ref_batch(size_t size);

/* Spend so many ns. */
void ref_compute(uint64_t ns);

/* For how many ns a sender computes that is away for a message of size bytes:
 * longer than it takes. */
uint64_t ref_away_ns(size_t size);

/*
 * A socket bound to the parameter "local", at "port" plus the side, and for
 * type SOCK_DGRAM connected to "peer" at "port" plus the other side. Numeric
 * addresses, IPv4 or IPv6.
 */
int ref_socket(const struct ref *ref, int type);

#endif
