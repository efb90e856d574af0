/* SPDX-License-Identifier: MIT */
/*
 * The frame of the reference programs. Each program measures one ability of the
 * machine without the library, so that the library's figures can be read as
 * ratios.
 *
 * A parameter is a word "key=value" ("--" before the key is allowed). Words on
 * the command line apply to the whole run. A line on standard input asks for
 * one round, and the words of the line apply to this round. The answer is one
 * line on standard output,
 *
 *	NAME UNIT SAMPLE SAMPLE ...
 *
 * so that a driver can interleave rounds of several programs. Between rounds
 * every process of a program sleeps. With rounds=N the program reads nothing,
 * runs N rounds and ends.
 *
 * A program consists of processes called sides. Side 0 measures and answers.
 * Side 0 forks the other sides, unless side=K says that only side K runs here:
 * then the user starts each side, in another network namespace or on another
 * host, and gives every line to each side. A side other than 0 then answers
 * "NAME UNIT".
 *
 * Exit status: 0; 1 after an error, explained on standard error; 77 if the
 * machine does not permit the measurement, or not to this user.
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
	unsigned int sides; /* 0: the number is the parameter "sides" */
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
	void *own;	  /* data of this side, from open() */
	const char *name; /* of the figure: the program's, or set by round() */
	const char *unit;
	double sample[REF_SAMPLES];
	unsigned int samples;
	const char *base[REF_PARAMS];  /* from the command line */
	const char *value[REF_PARAMS]; /* in this round */
};

/* Runs the program. Returns the exit status. */
int ref_main(int argc, char **argv, const struct ref_program *program);

/* The value of a parameter. A number may end in K or M (powers of 1024). */
const char *ref_string(const struct ref *ref, const char *key);
size_t ref_number(const struct ref *ref, const char *key);

/* Adds a sample to the answer of this round (side 0). */
void ref_sample(struct ref *ref, double value);

/* Prints "NAME: ..." and ends the process with the status. */
void ref_exit(const struct ref *ref, int status, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

/* CLOCK_MONOTONIC in ns: the same clock for all processes of a host. */
uint64_t ref_now(void);

/* Pins the calling thread to one of the thread's CPUs: number `cpu` modulo the
 * number of CPUs. */
void ref_pin(unsigned int cpu);

/* Tells the processor that the thread spins. */
static inline void ref_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#else
	atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* Spins until the word is `value`. Acquire: pairs with the writer's release. */
static inline void ref_await(_Atomic uint64_t *word, uint64_t value)
{
	while (atomic_load_explicit(word, memory_order_acquire) != value)
		ref_pause();
}

/*
 * REF_ROTATION bytes of memory for large transfers, written once. The pages are
 * small, because huge pages would come by luck and change the figures.
 */
unsigned char *ref_memory(const struct ref *ref);

/*
 * Offset in ref_memory() of the n-th buffer of `size` bytes (at most
 * REF_ROTATION): always 0 unless the parameter "buffers" is "cold".
 */
size_t ref_offset(const struct ref *ref, size_t size, uint64_t n);

/* The number of transfers of `size` bytes in one sample. */
size_t ref_batch(size_t size);

/* Computes for `ns` nanoseconds. */
void ref_compute(uint64_t ns);

/* The ns for which a sender that is away computes: longer than the transfer of
 * `size` bytes. */
uint64_t ref_away_ns(size_t size);

/*
 * A socket bound to the parameter "local", at "port" plus the side, and for
 * type SOCK_DGRAM connected to "peer" at "port" plus the other side. Numeric
 * addresses, IPv4 or IPv6.
 */
int ref_socket(const struct ref *ref, int type);

#endif
