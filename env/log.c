/* SPDX-License-Identifier: MIT */
/*
 * The log: which lines BCL_LOG shows, and the way of a line to the environment.
 */
#include "env/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const levels[] = { "error", "warn", "info", "debug" };

/* Returns the level that BCL_LOG names, or -1. */
static int level_shown(const struct bcl_config *config, size_t length)
{
	for (int i = 0; i < (int)(sizeof(levels) / sizeof(*levels)); i++)
		if (strlen(levels[i]) == length &&
		    !memcmp(levels[i], config->log, length))
			return i;
	return -1;
}

bool bcl_log_valid(const struct bcl_config *config)
{
	size_t length = strcspn(config->log, ",");

	return level_shown(config, length) >= 0 &&
	       (!config->log[length] ||
		bcl_config_within(config->log + length + 1, BCL_LOG_AREAS));
}

bool bcl_log_wanted(const struct bcl_config *config, enum bcl_log_level level,
		    const char *area)
{
	size_t length = strcspn(config->log, ",");
	int shown = level_shown(config, length);

	/* while the configuration is being read, BCL_LOG may not be known
	 * yet */
	if ((int)level > (shown < 0 ? BCL_LOG_WARN : shown))
		return false;
	/* a choice of areas never hides warnings */
	return level <= BCL_LOG_WARN || !config->log[length] ||
	       bcl_config_listed(config->log + length + 1, area);
}

void bcl_log_line(const struct bcl_config *config, enum bcl_log_level level,
		  const char *area, const char *text)
{
	const struct bcl_log_line line = {
		.level = level,
		.area = area,
		.node = config->node,
		.rank = config->rank,
		.text = text,
	};

	config->env->log(config->env->world, &line);
}

void bcl_log(const struct bcl_config *config, enum bcl_log_level level,
	     const char *area, const char *format, ...)
{
	char line[512];
	va_list args;

	if (!bcl_log_wanted(config, level, area))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	bcl_log_line(config, level, area, line);
}

const char *bcl_log_reason(int error)
{
	switch (error) {
	case EMFILE:
		return "no descriptor is left; raise ulimit -n";
	case ENFILE:
		return "no descriptor is left on the host; raise fs.file-max";
	default:
		return strerror(error);
	}
}
