/* SPDX-License-Identifier: MIT */
/* Splits text into statements and fills objects from their options; see
 * statement.h. */
#include "sim/statement.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"

struct unit {
	const char *name;
	double value;
};

static const struct unit times[] = {
	{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 }
};
static const struct unit sizes[] = { { "B", 1 },
				     { "KB", 0x1p10 },
				     { "MB", 0x1p20 },
				     { "GB", 0x1p30 },
				     { NULL, 0 } };
/* In bytes per second. */
static const struct unit rates[] = { { "KB/s", 0x1p10 },  { "MB/s", 0x1p20 },
				     { "GB/s", 0x1p30 },  { "Kb/s", 1e3 / 8 },
				     { "Mb/s", 1e6 / 8 }, { "Gb/s", 1e9 / 8 },
				     { NULL, 0 } };

/* The maxima are chosen so that any size at any bandwidth takes a time in ps
 * that fits in 64 bits. */
static const struct {
	const struct unit *units;
	double max; /* ns, bytes, ps per byte */
	const char *example, *range;
} measures[] = {
	[SIM_TIME] = { times, 1e15, "a time, such as 2.5us (ns, us, ms, s)",
		       "at most 1000000s" },
	[SIM_SIZE] = { sizes, 0x1p30, "a size, such as 4KB (B, KB, MB, GB)",
		       "at most 1GB" },
	[SIM_RATE] = { rates, 1e12 / 0x1p10,
		       "a bandwidth, such as 160MB/s or 100Gb/s (K, M, G)",
		       "1KB/s to 8000Gb/s" },
};

/* ---- lines ---- */

void sim_statement_open(struct sim_statement *statement, const char *name,
			FILE *in)
{
	*statement = (struct sim_statement){ .name = name,
					     .in = in,
					     .next_line = 1 };
}

void sim_statement_close(struct sim_statement *statement)
{
	free(statement->text);
}

bool sim_statement_refuse(struct sim_statement *statement, const char *format,
			  ...)
{
	char *error = statement->error;
	va_list list;
	int n;

	if (*error)
		return false;
	n = snprintf(error, SIM_ERROR_SIZE, "%s:%u: ", statement->name,
		     statement->line);
	if (n >= SIM_ERROR_SIZE)
		return false;
	va_start(list, format);
	vsnprintf(error + n, (size_t)(SIM_ERROR_SIZE - n), format, list);
	va_end(list);
	return false;
}

static void append_character(struct sim_statement *statement, size_t *n, char c)
{
	if (*n == statement->room) {
		statement->room = 2 * *n + 80;
		statement->text =
			sim_need(realloc(statement->text, statement->room));
	}
	statement->text[(*n)++] = c;
}

/* Reads a line without the comment, and with the next line if it ends with a
 * backslash. */
static bool read_line(struct sim_statement *statement)
{
	bool comment = false;
	size_t n = 0;
	int c;

	statement->line = statement->next_line++;
	while ((c = getc(statement->in)) != EOF) {
		if (c == '\n' && (!n || statement->text[n - 1] != '\\'))
			break;
		if (c == '\n') {
			statement->text[n - 1] = ' ';
			statement->next_line++;
			comment = false;
			continue;
		}
		comment |= c == '#';
		if (!comment)
			append_character(statement, &n, (char)c);
	}
	append_character(statement, &n, 0);
	if (ferror(statement->in))
		return sim_statement_refuse(statement, "%s", strerror(errno));
	return c != EOF || n > 1;
}

static bool split_words(struct sim_statement *statement)
{
	char *rest = statement->text, *part;

	statement->nwords = statement->noptions = 0;
	while ((part = strtok_r(rest, " \t\r", &rest))) {
		if (statement->nwords + statement->noptions ==
		    SIM_STATEMENT_PARTS)
			return sim_statement_refuse(statement,
						    "expected at most %d words",
						    SIM_STATEMENT_PARTS);
		if (strchr(part, '='))
			statement->option[statement->noptions++] = part;
		else if (statement->noptions)
			return sim_statement_refuse(
				statement, "expected key=value, not \"%s\"",
				part);
		else
			statement->word[statement->nwords++] = part;
	}
	return statement->nwords || !statement->noptions ||
	       sim_statement_refuse(statement, "expected a word before \"%s\"",
				    statement->option[0]);
}

bool sim_statement_next(struct sim_statement *statement)
{
	do {
		if (!read_line(statement) || !split_words(statement))
			return false;
	} while (!statement->nwords);
	return true;
}

bool sim_statement_expected(struct sim_statement *statement,
			    const char *const *names, const char *what)
{
	char list[SIM_ERROR_SIZE];
	size_t n = 0, i;

	list[0] = 0;
	for (i = 0; names[i] && n < sizeof(list); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
				      !i	     ? ""
				      : names[i + 1] ? ", "
						     : " or ",
				      names[i]);
	return sim_statement_refuse(statement, "expected %s, not \"%s\"", list,
				    what);
}

bool sim_statement_words(struct sim_statement *statement, unsigned n,
			 const char *form)
{
	return statement->nwords == n ||
	       sim_statement_refuse(statement, "expected: %s", form);
}

/* ---- values ---- */

static void store_value(const struct sim_field *field, void *object,
			uint64_t value)
{
	char *at = (char *)object + field->offset;

	/* Works on machines of either byte order. */
	if (field->size == sizeof(uint64_t))
		memcpy(at, &value, sizeof(value));
	else if (field->size == sizeof(uint32_t))
		memcpy(at, &(uint32_t){ (uint32_t)value }, sizeof(uint32_t));
	else
		*at = (char)value;
}

static uint64_t load_value(const struct sim_field *field, const void *object)
{
	const char *at = (const char *)object + field->offset;
	uint64_t value;
	uint32_t half;

	if (field->size == sizeof(uint64_t)) {
		memcpy(&value, at, sizeof(value));
		return value;
	}
	if (field->size == sizeof(uint32_t)) {
		memcpy(&half, at, sizeof(half));
		return half;
	}
	return (uint8_t)*at;
}

static bool read_count(const char *text, uint32_t *count, const char **end)
{
	unsigned long long value;
	char *stop;

	if (*text < '0' || *text > '9')
		return false;
	value = strtoull(text, &stop, 10);
	*count = (uint32_t)value;
	*end = stop;
	return value < SIM_ANY;
}

static bool fill_count(struct sim_statement *statement,
		       const struct sim_field *field, const char *value,
		       void *object)
{
	uint32_t max = field->max ? field->max : SIM_ANY - 1, count;
	const char *end;

	if (field->type == SIM_COUNT_OR_ANY && !strcmp(value, "*"))
		count = SIM_ANY;
	else if (!read_count(value, &count, &end) || *end ||
		 count < field->min || count > max)
		return sim_statement_refuse(
			statement, "%s=%s: expected a number from %u to %u%s",
			field->key, value, field->min, max,
			field->type == SIM_COUNT_OR_ANY ? ", or *" : "");
	store_value(field, object, count);
	return true;
}

static bool fill_counts(struct sim_statement *statement,
			const struct sim_field *field, const char *value,
			void *object)
{
	struct sim_list list = { 0 };
	const char *rest = value;

	do {
		if (list.n == SIM_LIST_MAX ||
		    !read_count(rest, &list.value[list.n], &rest) ||
		    !list.value[list.n] || (*rest && *rest != ','))
			return sim_statement_refuse(
				statement,
				"%s=%s: expected up to %d numbers above 0, "
				"such as 16,8,8",
				field->key, value, SIM_LIST_MAX);
		list.n++;
	} while (*rest++);
	memcpy((char *)object + field->offset, &list, sizeof(list));
	return true;
}

/* Reads for example "12.5us", in the unit of the measure. */
static bool fill_measure(struct sim_statement *statement,
			 const struct sim_field *field, const char *value,
			 void *object)
{
	const struct unit *unit = measures[field->type].units;
	char *end;
	double number = strtod(value, &end);

	while (unit->name && strcmp(unit->name, end))
		unit++;
	number *= unit->value;
	if (field->type == SIM_RATE && number > 0)
		number = 1e12 / number;
	if (end == value || !unit->name || !(number >= 0) ||
	    (field->type == SIM_RATE && !(number > 0)))
		return sim_statement_refuse(statement, "%s=%s: expected %s",
					    field->key, value,
					    measures[field->type].example);
	if (number > measures[field->type].max ||
	    (field->type == SIM_RATE && number < 1))
		return sim_statement_refuse(statement, "%s=%s: expected %s",
					    field->key, value,
					    measures[field->type].range);
	store_value(field, object, (uint64_t)(number + 0.5));
	return true;
}

static bool fill_choice(struct sim_statement *statement,
			const struct sim_field *field, const char *value,
			void *object)
{
	unsigned i;

	for (i = 0; field->names[i]; i++)
		if (!strcmp(field->names[i], value)) {
			store_value(field, object, i);
			return true;
		}
	return sim_statement_expected(statement, field->names, value);
}

static bool fill_by_type(struct sim_statement *statement,
			 const struct sim_field *field, char *value,
			 void *object)
{
	switch (field->type) {
	case SIM_COUNT:
	case SIM_COUNT_OR_ANY:
		return fill_count(statement, field, value, object);
	case SIM_COUNTS:
		return fill_counts(statement, field, value, object);
	case SIM_CHOICE:
		return fill_choice(statement, field, value, object);
	case SIM_TEXT:
		memcpy((char *)object + field->offset, &value, sizeof(value));
		return true;
	default:
		return fill_measure(statement, field, value, object);
	}
}

/* ---- options ---- */

/* Returns the value, or NULL if the option has another key. */
static char *value_of(char *option, const char *key)
{
	size_t length = strlen(key);

	return !strncmp(option, key, length) && option[length] == '='
		       ? option + length + 1
		       : NULL;
}

static bool is_known(struct sim_statement *statement,
		     const struct sim_field *fields, char *option)
{
	const char *keys[SIM_STATEMENT_PARTS + 1] = { NULL };
	unsigned i;

	for (i = 0; fields[i].key; i++) {
		sim_check(i < SIM_STATEMENT_PARTS, "too many fields");
		if (value_of(option, fields[i].key))
			return true;
		keys[i] = fields[i].key;
	}
	option[strcspn(option, "=")] = 0;
	if (!keys[0])
		return sim_statement_refuse(statement,
					    "expected no \"%s\" here", option);
	return sim_statement_expected(statement, keys, option);
}

static bool fill_field(struct sim_statement *statement,
		       const struct sim_field *field, void *object)
{
	char *value = NULL, *found;
	unsigned i;

	for (i = 0; i < statement->noptions; i++) {
		found = value_of(statement->option[i], field->key);
		if (found && value)
			return sim_statement_refuse(statement,
						    "expected %s= only once",
						    field->key);
		value = found ? found : value;
	}
	if (value)
		return fill_by_type(statement, field, value, object);
	if (field->needed)
		return sim_statement_refuse(statement, "expected %s=, too",
					    field->key);
	memset((char *)object + field->offset, 0, field->size);
	if (field->standard)
		store_value(field, object, field->standard);
	return true;
}

bool sim_statement_fill(struct sim_statement *statement,
			const struct sim_field *fields, void *object)
{
	unsigned i;

	for (i = 0; i < statement->noptions; i++)
		if (!is_known(statement, fields, statement->option[i]))
			return false;
	for (i = 0; fields[i].key; i++)
		if (!fill_field(statement, &fields[i], object))
			return false;
	return true;
}

/* In the largest unit that leaves a whole number. */
static void print_measure(FILE *to, const struct unit *unit, uint64_t value)
{
	while (unit[1].name && value && !(value % (uint64_t)unit[1].value))
		unit++;
	fprintf(to, "%llu%s",
		(unsigned long long)(value / (uint64_t)unit->value),
		unit->name);
}

void sim_fields_print(FILE *to, const struct sim_field *fields,
		      const void *object)
{
	const struct sim_field *field;

	for (field = fields; field->key; field++) {
		uint64_t value = load_value(field, object);

		if (!field->needed && value == field->standard)
			continue;
		fprintf(to, " %s=", field->key);
		if (field->type == SIM_CHOICE)
			fputs(field->names[value], to);
		else if (field->type == SIM_COUNT_OR_ANY && value == SIM_ANY)
			fputs("*", to);
		else if (field->type == SIM_TIME || field->type == SIM_SIZE)
			print_measure(to, measures[field->type].units, value);
		else
			fprintf(to, "%llu", (unsigned long long)value);
	}
}
