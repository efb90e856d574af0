/* SPDX-License-Identifier: MIT */
/*
 * Parser for descriptions. A line is a statement: words, then options
 * (key=value). # begins a comment, and a \ at the end continues the statement
 * on the next line. A table says what the options of a statement mean; the
 * table is used to read, to complain and to print.
 */
#ifndef SIM_STATEMENT_H
#define SIM_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	SIM_STATEMENT_PARTS = 24, /* words and options */
	SIM_ERROR_SIZE = 256,
	SIM_LIST_MAX = 8,
};

#define SIM_ANY UINT32_MAX /* the value * of a SIM_COUNT_OR_ANY */

enum sim_value {
	SIM_COUNT,	  /* 12 */
	SIM_COUNT_OR_ANY, /* 12 or *; a uint32_t */
	SIM_TIME,	  /* 2.5us: ns */
	SIM_SIZE,	  /* 4KB: bytes */
	SIM_RATE,	  /* 160MB/s, 100Gb/s: ps per byte */
	SIM_CHOICE,	  /* index of a word in `names` */
	SIM_COUNTS,	  /* 16,8,8: a struct sim_list */
	SIM_TEXT,	  /* a char *, valid until the next statement */
};

struct sim_list {
	uint32_t n, value[SIM_LIST_MAX];
};

/* An option: sets a member of the object that the statement fills. */
struct sim_field {
	const char *key; /* NULL: end of the table */
	enum sim_value type;
	uint16_t offset, size;
	bool needed;
	uint32_t min, max; /* of a SIM_COUNT; max 0: unbounded */
	uint32_t standard; /* value if the option is missing */
	const char *const *names;
};

#define SIM_FIELD(object, member)           \
	.offset = offsetof(object, member), \
	.size = sizeof(((object *)0)->member)

struct sim_statement {
	const char *name; /* of the file */
	FILE *in;
	unsigned line, next_line;
	unsigned nwords, noptions;
	char *word[SIM_STATEMENT_PARTS];
	char *option[SIM_STATEMENT_PARTS]; /* key=value */
	char *text;
	size_t room;
	char error[SIM_ERROR_SIZE]; /* "": none */
};

/* `name` and `in` belong to the caller. */
void sim_statement_open(struct sim_statement *statement, const char *name,
			FILE *in);
void sim_statement_close(struct sim_statement *statement);

/* Reads the next statement. Returns false at the end, or on an error. */
bool sim_statement_next(struct sim_statement *statement);

/* Records the error "name:line: ..."; only the first error is recorded. Always
 * returns false. */
__attribute__((format(printf, 2, 3))) bool
sim_statement_refuse(struct sim_statement *statement, const char *format, ...);

/* Error "expected a, b or c, not" what. Always returns false. */
bool sim_statement_expected(struct sim_statement *statement,
			    const char *const *names, const char *what);

/* Checks that there are n words; `form` shows the expected form. */
bool sim_statement_words(struct sim_statement *statement, unsigned n,
			 const char *form);

/* Fills the object from the options. */
bool sim_statement_fill(struct sim_statement *statement,
			const struct sim_field *fields, void *object);

/*
 * Prints the members of the object as options, each after a space, except
 * members with the standard value. SIM_RATE, SIM_COUNTS and SIM_TEXT cannot be
 * printed.
 */
void sim_fields_print(FILE *to, const struct sim_field *fields,
		      const void *object);

#endif
