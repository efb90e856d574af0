/* SPDX-License-Identifier: MIT */
/*
 * The log: one line per event, filtered by BCL_LOG=level,area,... An error is
 * logged once, where it is found, with the numbers that matter.
 */
#ifndef BCL_LOG_H
#define BCL_LOG_H

#include <stdbool.h>

#include "transport/config.h"
#include "transport/env/env.h"

#define BCL_LOG_AREAS                                                        \
	"adi,boot,card,coll,config,context,fault,helper,memory,packet,peer," \
	"shm,stats,trace,udp"

/* BCL_LOG begins with the name of a level, and the rest are areas. */
bool bcl_log_valid(const struct bcl_config *config);

/* Would a line of this level and area be shown? Before costly preparation. */
bool bcl_log_wanted(const struct bcl_config *config, enum bcl_log_level level,
		    const char *area);

/*
 * area: one of BCL_LOG_AREAS. The line has no end and no area in it.
 */
void bcl_log(const struct bcl_config *config, enum bcl_log_level level,
	     const char *area, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same for a text, which is shown whatever BCL_LOG is. */
void bcl_log_line(const struct bcl_config *config, enum bcl_log_level level,
		  const char *area, const char *text);

/* Why the system refused, by errno; of a limit, which. */
const char *bcl_log_reason(int error);

#endif
