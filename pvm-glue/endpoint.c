/* SPDX-License-Identifier: MIT */
/* The port of a task: opened with the first message, closed at the end of the
 * task. */
#include <malloc.h>
#include <pthread.h>
#include <sys/random.h>

#include "pvm-glue/glue.h"

enum {
	LONGEST_KEPT = 32 << 20, /* bytes of a message; glibc's limit */
	/* bytes that libc keeps at the top of the heap */
	KEPT = 64 << 20,
};

struct glue glue;

static struct bcl_context *context;

static void turn_passive(const char *why)
{
	glue.passive = why;
	say_warning("%s: messages go by PVM's own routes", why);
}

/* A forked child is not the task: the port belongs to its parent. The child's
 * messages stay with libpvm. */
static void disable_in_child(void)
{
	glue.port = NULL;
	glue.passive = "it is a child of a task";
}

static bool open_port(void)
{
	struct bcl_context_options options = { .struct_size = sizeof(options) };
	uint8_t key[16];
	enum bcl_status status = BCL_ERR_SYSTEM;

	options.job_key = key;
	if (getrandom(key, sizeof(key), 0) == sizeof(key))
		status = bcl_open(&options, &context);
	if (!status) {
		status = bcl_port_open(context, NULL, &glue.port);
		if (status)
			bcl_close(context);
	}
	if (status)
		turn_passive(bcl_strstatus(status));
	return !status;
}

/* Long messages come and go. libc must not give their memory back to the system
 * each time, because new pages take longer than all copies. */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, LONGEST_KEPT);
	mallopt(M_TRIM_THRESHOLD, KEPT);
}

static bool check_libpvm(void)
{
	const char *missing = libpvm_load();

	if (missing)
		say_warning("no %s", missing);
	else if (!*libpvm.pvmmydsig)
		return false; /* a task without messages: not enrolled yet */
	if (missing || !libpvm_is_known()) {
		turn_passive("this libpvm3 is not one it knows");
		return false;
	}
	pthread_atfork(NULL, NULL, disable_in_child);
	keep_memory();
	return true;
}

bool endpoint_possible(void)
{
	static bool known;

	if (!known && !glue.passive)
		known = check_libpvm();
	return known && !glue.passive;
}

bool endpoint_ready(void)
{
	if (glue.port)
		return true;
	return endpoint_possible() && *libpvm.pvmmytid >= 0 && open_port();
}

void endpoint_close(void)
{
	bcl_close(context);
	glue.port = NULL;
}
