/* SPDX-License-Identifier: MIT */
/* The functions that interpose libpvm's, for messages in and out and for the
 * end of the task. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "pvm-glue/group.h"

enum {
	PATIENCE = 2000000000, /* ns before a warning at the end */
};

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
	unsigned long before = glue.received;
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
	/* messages that BCL had before this message go first */
	while (events_poll())
		;
	return receive_stock(message);
}

static int compare_tids(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* Sort the tasks and remove duplicates and the own task, as PVM does. Returns
 * the number left. */
static int distinct_others(const int *tids, int count, int *others)
{
	int n = 0;

	memcpy(others, tids, (size_t)count * sizeof(*others));
	qsort(others, (size_t)count, sizeof(*others), compare_tids);
	for (int i = 0; i < count; i++) {
		if (others[i] != *libpvm.pvmmytid &&
		    (!n || others[i] != others[n - 1]))
			others[n++] = others[i];
	}
	return n;
}

static struct task *task_of(int tid)
{
	return libpvm_is_task(tid) ? task_find(tid) : NULL;
}

/* Give a message for distinct tasks to PVM. */
static int stock_mcast(int id, int *tids, int n, int tag)
{
	int i, result = 0;
	struct task *task;

	for (i = 0; i < n && !result; i++) {
		task = task_of(tids[i]);
		if (task && !send_otherwise(task))
			result = PVM_NO_MEMORY;
	}
	n = result ? i - 1 : n;
	if (!result)
		result = libpvm.pvmmcast(id, tids, n, tag);
	for (i = 0; result < 0 && i < n; i++) {
		task = task_of(tids[i]);
		if (task)
			send_refused(task);
	}
	return result;
}

int pvmmcast(int id, int *tids, int count, int tag)
{
	int i, n, left = 0, result = 0;
	struct pmsg *message;
	int *others;
	bool *sent;

	if (!endpoint_ready())
		return libpvm.pvmmcast(id, tids, count, tag);
	message = libpvm.midtobuf(id);
	/* libpvm sets this before mroute(), but after pvmmcast() */
	if (message)
		message->context = *libpvm.pvmmyctx;
	if (!message || message->context >= PVM_SYSTEM_CONTEXT || count < 1)
		return libpvm.pvmmcast(id, tids, count, tag);
	others = malloc((size_t)count * (sizeof(*others) + sizeof(*sent)));
	if (!others)
		return PVM_NO_MEMORY;
	sent = (bool *)(others + count);
	n = distinct_others(tids, count, others);
	send_many(message, tag, others, n, NULL, sent);
	for (i = 0; i < n; i++) {
		if (!sent[i])
			others[left++] = others[i];
	}
	if (left)
		result = stock_mcast(id, others, left, tag);
	free(others);
	return result;
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
	all[n] = bcl_port_fd(glue.port);
	glue.watched = true;
	bcl_arm(glue.port);
	*fds = all;
	return n + 1;
as_they_are:
	*fds = theirs;
	return n;
}

/* ---- the end of the task ---- */

/* Ask for a completion when the task has all messages. Not needed in shared
 * memory, where messages outlive the sender. */
static void fence_task(struct task *task)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	enum bcl_status status;

	if (task->state != TASK_MET || !task->up || !task->sent)
		return;
	bcl_peer_info(task->peer, &info);
	if (info.path != BCL_PATH_CARD)
		return;
	while ((status = bcl_fence(task->peer, 1)) == BCL_ERR_AGAIN)
		events_poll();
	if (!status)
		glue.fences++;
}

/* Close the port. Waits until all messages are delivered. */
static void end_task(void)
{
	uint64_t patient = glue_now() + PATIENCE;

	if (!glue.port)
		return;
	task_each(fence_task);
	while (glue.fences) {
		if (!events_poll())
			bcl_wait(glue.port, PATIENCE);
		if (glue_now() < patient)
			continue;
		say_warning("this task has ended, but for messages that others "
			    "have not taken yet");
		patient = UINT64_MAX;
	}
	while (!loan_withdraw_all()) {
		if (!events_poll())
			sched_yield();
	}
	endpoint_close();
	receive_close();
	meet_close();
	share_close();
	group_forget_all();
	task_forget_all();
}

int pvmendtask(void)
{
	end_task();
	return libpvm.pvmendtask();
}

__attribute__((destructor)) static void end_process(void)
{
	end_task();
}
