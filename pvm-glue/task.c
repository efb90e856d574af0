/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "pvm-glue/glue.h"

enum {
	BUCKETS = 256,
};

static struct task *buckets[BUCKETS];

struct task *task_find(int tid)
{
	struct task **place = &buckets[(tid ^ tid >> 18) % BUCKETS];
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

void task_each(void (*call)(struct task *task))
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		for (struct task *task = buckets[i]; task; task = task->next)
			call(task);
	}
}

void task_forget_all(void)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (buckets[i]) {
			struct task *task = buckets[i];

			buckets[i] = task->next;
			free(task);
		}
	}
}
