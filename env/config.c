/* SPDX-License-Identifier: MIT */
/* Reads, checks and prints the settings of the table in config.h. */
#include "env/config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env/log.h"

const struct bcl_config_entry bcl_config_entries[] = {
#define BCL_X(kind, member, name, standard, least, most, text) \
	{ name,                                                \
	  BCL_CONFIG_##kind,                                   \
	  standard,                                            \
	  least,                                               \
	  most,                                                \
	  text,                                                \
	  offsetof(struct bcl_config, member) },
	BCL_CONFIG_TABLE(BCL_X)
#undef BCL_X
};

const unsigned bcl_config_nentries =
	sizeof(bcl_config_entries) / sizeof(*bcl_config_entries);

static const struct unit {
	const char *name;
	uint64_t factor;
} sizes[] = {
	{ "", 1 },	 { "k", 1ull << 10 }, { "K", 1ull << 10 },
	{ "M", 1ull << 20 }, { "G", 1ull << 30 }, { NULL, 0 },
}, times[] = {
	{ "ns", 1 },	       { "us", 1000 },	       { "ms", 1000000 },
	{ "s", 1000000000ull }, { "min", 60000000000ull }, { NULL, 0 },
}, pieces[] = {
	{ "", 1 }, { NULL, 0 },
};

static enum bcl_status parse_number(const struct unit *units, const char *text,
				    uint64_t *value)
{
	uint64_t number;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return BCL_ERR_ARG;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno)
		return BCL_ERR_ARG;
	if (units == times && !number && !*end) {
		*value = 0;
		return BCL_OK;
	}
	for (; units->name; units++) {
		if (strcmp(units->name, end))
			continue;
		return __builtin_mul_overflow(number, units->factor, value)
			       ? BCL_ERR_ARG
			       : BCL_OK;
	}
	return BCL_ERR_ARG;
}

enum bcl_status bcl_config_parse(enum bcl_config_kind kind, const char *text,
				 uint64_t *value)
{
	static const char *const flags[][3] = { { "0", "no", "off" },
						{ "1", "yes", "on" } };

	switch (kind) {
	case BCL_CONFIG_INTEGER:
		return parse_number(pieces, text, value);
	case BCL_CONFIG_POWER:
		if (parse_number(pieces, text, value) || *value & (*value - 1))
			return BCL_ERR_ARG;
		return BCL_OK;
	case BCL_CONFIG_SIZE:
		return parse_number(sizes, text, value);
	case BCL_CONFIG_TIME:
		return parse_number(times, text, value);
	case BCL_CONFIG_FLAG:
		for (unsigned i = 0; i < 6; i++) {
			if (strcmp(flags[i / 3][i % 3], text))
				continue;
			*value = i / 3;
			return BCL_OK;
		}
		return BCL_ERR_ARG;
	case BCL_CONFIG_TEXT:
		break;
	}
	return BCL_ERR_ARG;
}

/* Prints a number in the largest unit that divides it. */
static void print_number(enum bcl_config_kind kind, uint64_t value, char *text,
			 size_t size)
{
	const struct unit *best, *units = kind == BCL_CONFIG_TIME   ? times
					  : kind == BCL_CONFIG_SIZE ? sizes
								    : pieces;

	for (best = units; units->name; units++)
		if (value && value % units->factor == 0 &&
		    units->factor > best->factor)
			best = units;
	snprintf(text, size, "%" PRIu64 "%s", value / best->factor, best->name);
}

void bcl_config_print(const struct bcl_config *config,
		      const struct bcl_config_entry *entry, char *text,
		      size_t size)
{
	const void *member = (const char *)config + entry->offset;

	switch (entry->kind) {
	case BCL_CONFIG_TEXT:
		snprintf(text, size, "%s", (const char *)member);
		break;
	case BCL_CONFIG_FLAG:
		snprintf(text, size, *(const bool *)member ? "on" : "off");
		break;
	default:
		print_number(entry->kind, *(const uint64_t *)member, text,
			     size);
	}
}

static bool is_allowed(const struct bcl_config_entry *entry, const char *text,
		       uint64_t value)
{
	return (value >= entry->least && value <= entry->most) ||
	       !strcmp(text, entry->standard);
}

static enum bcl_status set_entry(struct bcl_config *config,
				 const struct bcl_config_entry *entry,
				 const char *text)
{
	static const char *const forms[] = {
		"a number",
		"a power of two",
		"a size like 4096, 64k, 1M",
		"a time like 20us, 100ms, 30s",
		"on or off",
	};
	void *member = (char *)config + entry->offset;
	char least[32], most[32];
	uint64_t value;

	if (entry->kind == BCL_CONFIG_TEXT) {
		if (strlen(text) < BCL_CONFIG_TEXT_MAX) {
			memcpy(member, text, strlen(text) + 1);
			return BCL_OK;
		}
		bcl_log(config, BCL_LOG_ERROR, "config",
			"%s is longer than %d characters", entry->name,
			BCL_CONFIG_TEXT_MAX - 1);
		return BCL_ERR_ARG;
	}
	print_number(entry->kind, entry->least, least, sizeof(least));
	print_number(entry->kind, entry->most, most, sizeof(most));
	if (bcl_config_parse(entry->kind, text, &value)) {
		bool range = entry->kind != BCL_CONFIG_FLAG;

		bcl_log(config, BCL_LOG_ERROR, "config",
			"%s=%s is wrong: it takes %s%s%s%s%s", entry->name,
			text, forms[entry->kind], range ? ", from " : "",
			range ? least : "", range ? " to " : "",
			range ? most : "");
		return BCL_ERR_ARG;
	}
	if (!is_allowed(entry, text, value)) {
		bcl_log(config, BCL_LOG_ERROR, "config",
			"%s=%s is out of its range, %s to %s", entry->name,
			text, least, most);
		return BCL_ERR_ARG;
	}
	if (entry->kind == BCL_CONFIG_FLAG)
		*(bool *)member = value;
	else
		*(uint64_t *)member = value;
	return BCL_OK;
}

static bool is_known(const char *name, size_t length)
{
	for (unsigned i = 0; i < bcl_config_nentries; i++)
		if (strlen(bcl_config_entries[i].name) == length &&
		    !memcmp(bcl_config_entries[i].name, name, length))
			return true;
	return false;
}

void bcl_config_warn(const struct bcl_config *config)
{
	char **variables = config->env->variables(config->env->world);

	for (; variables && *variables; variables++) {
		size_t length = strcspn(*variables, "=");

		if (!strncmp(*variables, "BCL_", 4) &&
		    !is_known(*variables, length))
			bcl_log(config, BCL_LOG_WARN, "config",
				"%.*s: there is no such variable "
				"(bcl-info --config lists them)",
				(int)length, *variables);
	}
}

enum bcl_status bcl_config_read(const struct bcl_env *env,
				struct bcl_config *config)
{
	memset(config, 0, sizeof(*config));
	config->env = env;
	config->rank = -1;
	for (unsigned i = 0; i < bcl_config_nentries; i++) {
		const struct bcl_config_entry *entry = &bcl_config_entries[i];
		const char *text = env->variable(env->world, entry->name);
		enum bcl_status status =
			set_entry(config, entry, text ? text : entry->standard);

		if (status)
			return status;
	}
	if (!bcl_log_valid(config)) {
		bcl_log(config, BCL_LOG_ERROR, "config",
			"BCL_LOG=%s is wrong: it begins with error, warn, info "
			"or debug, then come any of " BCL_LOG_AREAS,
			config->log);
		return BCL_ERR_ARG;
	}
	/* with a wrong word a network would be missing, without a message */
	if (!bcl_config_within(config->rails, BCL_CONFIG_RAILS) &&
	    strcmp(config->rails, "none")) {
		bcl_log(config, BCL_LOG_ERROR, "config",
			"BCL_RAILS=%s is wrong: it takes any "
			"of " BCL_CONFIG_RAILS ", or none",
			config->rails);
		return BCL_ERR_ARG;
	}
	if (!bcl_config_listed(BCL_CONFIG_CARDS, config->card)) {
		bcl_log(config, BCL_LOG_ERROR, "config",
			"BCL_CARD=%s is wrong: it takes one "
			"of " BCL_CONFIG_CARDS,
			config->card);
		return BCL_ERR_ARG;
	}
	return BCL_OK;
}

bool bcl_config_within(const char *list, const char *allowed)
{
	char word[BCL_CONFIG_TEXT_MAX];

	for (;; list++) {
		size_t length = strcspn(list, ",");

		memcpy(word, list, length);
		word[length] = 0;
		if (!length || !bcl_config_listed(allowed, word))
			return false;
		list += length;
		if (!*list)
			return true;
	}
}

bool bcl_config_listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (;; list++) {
		if (strcspn(list, ",") == length && !memcmp(list, word, length))
			return true;
		list = strchr(list, ',');
		if (!list)
			return false;
	}
}
