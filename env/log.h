/* SPDX-License-Identifier: MIT */
/*
 * The log: one line per event, filtered by BCL_LOG=level,area,... An error is
 * logged once, where it is found, with the numbers that matter.
 */
#ifndef BCL_LOG_H
#define BCL_LOG_H

#include <stdbool.h>

#include "env/config.h"
#include "env/env.h"

#define BCL_LOG_AREAS                                                        \
	"adi,boot,card,coll,config,context,fault,helper,memory,packet,peer," \
	"shm,stats,trace,udp"

/* True if BCL_LOG begins with the name of a level, followed by areas only. */
bool bcl_log_valid(const struct bcl_config *config);

/* True if a line of this level and area would be shown. Ask before a costly
 * preparation. */
bool bcl_log_wanted(const struct bcl_config *config, enum bcl_log_level level,
		    const char *area);

/*
 * Logs a line. area: one of BCL_LOG_AREAS. The format has neither a line end
 * nor the area.
 */
void bcl_log(const struct bcl_config *config, enum bcl_log_level level,
	     const char *area, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Logs a text, whether BCL_LOG shows the level and area or not. */
void bcl_log_line(const struct bcl_config *config, enum bcl_log_level level,
		  const char *area, const char *text);

/* Returns the reason of an errno for people; for a limit that was reached,
 * which limit. */
const char *bcl_log_reason(int error);

#endif
