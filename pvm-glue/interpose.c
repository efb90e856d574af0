/* SPDX-License-Identifier: MIT */
/* The functions that stand before libpvm's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pvm-glue/glue.h"

INTERPOSED int mroute(int id, int tid, int tag, struct timeval *limit);
INTERPOSED int mesg_input(struct pmsg *message);
INTERPOSED int pvmmcast(int id, int *tids, int count, int tag);
INTERPOSED int pvmendtask(void);
INTERPOSED int pvm_getfds(int **fds);

static bool is_for_a_task(const struct pmsg *message, int tid)
{
	return message && libpvm_is_task(tid) &&
	       message->context < PVM_SYSTEM_CONTEXT;
}

int mroute(int id, int tid, int tag, struct timeval *limit)
{
	unsigned long before = received;
	struct timeval none = { 0 };
	struct pmsg *message;
	int result = 0;

	if (!endpoint_ready())
		return libpvm.mroute(id, tid, tag, limit);
	if (id > 0) {
		message = libpvm.midtobuf(id);
		if (is_for_a_task(message, tid))
			result = send_message(message, tid, tag);
		else
			result = libpvm.mroute(id, tid, tag, &none);
	}
	if (result < 0)
		return result;
	if (id > 0 && limit && !timerisset(limit))
		return wait_after_send(before);
	return wait_messages(before, limit);
}

int mesg_input(struct pmsg *message)
{
	if (!endpoint_possible())
		return libpvm.mesg_input(message);
	if (meet_note(message))
		return 0;
	/* what was published by BCL before it came goes before it */
	while (endpoint_poll())
		;
	return receive_stock(message);
}

int pvmmcast(int id, int *tids, int count, int tag)
{
	int i, n = 0, result = 0;
	struct pmsg *message;
	struct task *task;
	int *others;

	if (!endpoint_ready())
		return libpvm.pvmmcast(id, tids, count, tag);
	message = libpvm.midtobuf(id);
	/* unlike mroute(), it is called before this is set */
	if (message)
		message->context = *libpvm.pvmmyctx;
	if (!message || message->context >= PVM_SYSTEM_CONTEXT)
		return libpvm.pvmmcast(id, tids, count, tag);
	others = malloc((size_t)count * sizeof(*others));
	if (!others)
		return libpvm.pvmmcast(id, tids, count, tag);
	for (i = 0; i < count; i++) {
		task = NULL;
		if (is_for_a_task(message, tids[i]) &&
		    tids[i] != *libpvm.pvmmytid)
			task = task_find(tids[i]);
		if (task && send_directly(task, message, tag))
			continue;
		if (task)
			send_otherwise(task);
		others[n++] = tids[i];
	}
	if (n)
		result = libpvm.pvmmcast(id, others, n, tag);
	free(others);
	return result;
}

int pvmendtask(void)
{
	endpoint_close();
	return libpvm.pvmendtask();
}

int pvm_getfds(int **fds)
{
	static int *all;
	int n, *theirs;

	if (!libpvm.pvm_getfds)
		libpvm_load();
	n = libpvm.pvm_getfds(&theirs);
	if (n < 0 || !endpoint_ready())
		goto as_they_are;
	free(all);
	all = malloc(((size_t)n + 1) * sizeof(*all));
	if (!all)
		goto as_they_are;
	memcpy(all, theirs, (size_t)n * sizeof(*all));
	all[n] = bcl_port_fd(endpoint);
	watched = true;
	bcl_arm(endpoint);
	*fds = all;
	return n + 1;
as_they_are:
	*fds = theirs;
	return n;
}

__attribute__((destructor)) static void end(void)
{
	endpoint_close();
}
