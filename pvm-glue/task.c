/* SPDX-License-Identifier: MIT */
/*
 * The other tasks, by tid.
 */
#include <stdlib.h>

#include "pvm-glue/glue.h"

enum {
	BUCKETS = 256,
};

static struct task *buckets[BUCKETS];
/* The task found last: most lookups ask for it again. */
static struct task *latest;

static struct task *find_or_make(int tid)
{
	struct task **place = &buckets[(unsigned)(tid ^ tid >> 18) % BUCKETS];
	struct task *task = *place;

	while (task && task->tid != tid)
		task = task->next;
	if (task)
		return task;
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->tid = tid;
	task->last = &task->first;
	task->held_last = &task->held;
	task->next = *place;
	*place = task;
	return task;
}

struct task *task_find(int tid)
{
	if (!latest || latest->tid != tid)
		latest = find_or_make(tid);
	return latest;
}

void task_each(void (*call)(struct task *task))
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		for (struct task *task = buckets[i]; task; task = task->next)
			call(task);
	}
}

void task_forget_all(void)
{
	latest = NULL;
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (buckets[i]) {
			struct task *task = buckets[i];

			buckets[i] = task->next;
			free(task);
		}
	}
}
