/* SPDX-License-Identifier: MIT */
/*
 * Descriptions as text: a line is a statement, words and then options
 * (key=value); # begins a comment, and \ at its end goes on with the next. What
 * a statement's options mean is said by a table, by which they are read,
 * complained about and printed.
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
	SIM_CHOICE,	  /* one of `names`: its index */
	SIM_COUNTS,	  /* 16,8,8: a struct sim_list */
	SIM_TEXT,	  /* a char *, until the next statement */
};

struct sim_list {
	uint32_t n, value[SIM_LIST_MAX];
};

/* An option: a member of the object that the statement fills. */
struct sim_field {
	const char *key; /* NULL: the end of the table */
	enum sim_value type;
	uint16_t offset, size;
	bool needed;
	uint32_t min, max; /* of a SIM_COUNT; max 0: any */
	uint32_t standard; /* if the option is not there */
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

/* Both belong to the caller. */
void sim_statement_open(struct sim_statement *statement, const char *name,
			FILE *in);
void sim_statement_close(struct sim_statement *statement);

/* The next one. False: the end, or an error. */
bool sim_statement_next(struct sim_statement *statement);

/* Complain: "name:line: ...". The first complaint counts. False, always. */
__attribute__((format(printf, 2, 3))) bool
sim_statement_refuse(struct sim_statement *statement, const char *format, ...);

/* "expected a, b or c, not" what. False, always. */
bool sim_statement_expected(struct sim_statement *statement,
			    const char *const *names, const char *what);

/* There are so many words, `form` shows which. */
bool sim_statement_words(struct sim_statement *statement, unsigned n,
			 const char *form);

/* Fill the object from the options. */
bool sim_statement_fill(struct sim_statement *statement,
			const struct sim_field *fields, void *object);

/* The object's members as options, each after a space, unless they have the
 * standard value. No SIM_RATE, SIM_COUNTS, SIM_TEXT. */
void sim_fields_print(FILE *to, const struct sim_field *fields,
		      const void *object);

#endif
