/* SPDX-License-Identifier: MIT */
/* Warnings and errors for the user of a task, with the task's tid or pid. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "env/say.h"
#include "pvm-glue/glue.h"

static void say_line(const char *level, const char *format, va_list args)
{
	char who[24], text[BCL_SAID_MAX], line[BCL_SAID_MAX];

	if (libpvm.pvmmytid && *libpvm.pvmmytid > 0)
		snprintf(who, sizeof(who), "/t%x", (unsigned)*libpvm.pvmmytid);
	else
		snprintf(who, sizeof(who), "[%d]", (int)getpid());
	vsnprintf(text, sizeof(text), format, args);
	snprintf(line, sizeof(line), "%s: pvm: %.*s", level,
		 (int)sizeof(line) - 32, text);
	bcl_say(getenv("BCL_NODE"), who, line);
}

void say_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line("warning", format, args);
	va_end(args);
}

void say_and_abort(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line("error", format, args);
	va_end(args);
	abort();
}
