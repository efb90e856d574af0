/* SPDX-License-Identifier: MIT */
/* Events of the port: each goes to the file that it concerns. */
#include "pvm-glue/glue.h"

static void handle_peer_change(const struct bcl_event *event)
{
	struct task *task = bcl_peer_user(event->peer);

	if (!task)
		return;
	if (!event->status) {
		meet_up(task);
		return;
	}
	task->up = task->greeted = task->ready = false;
	/* never connected: not reachable */
	task->state = task->sent || task->taken ? TASK_UNKNOWN : TASK_STRANGE;
	task->refused = event->status;
	receive_lost(task);
}

static void handle_event(const struct bcl_event *event)
{
	switch (event->kind) {
	case BCL_EVENT_MESSAGE:
		receive_event(event);
		break;
	case BCL_EVENT_PULLED:
		receive_pulled(event->cookie, event->status);
		break;
	case BCL_EVENT_READ:
		loan_read(event->cookie, event->status);
		break;
	case BCL_EVENT_SENT:
		glue.fences--;
		break;
	case BCL_EVENT_PEER:
		handle_peer_change(event);
		break;
	case BCL_EVENT_CHANNEL:
	case BCL_EVENT_NOTIFY:
		break;
	}
}

static unsigned poll_for(unsigned enough)
{
	struct bcl_event event;
	unsigned n = 0;

	while (n < enough && glue.port &&
	       bcl_poll(glue.port, &event) == BCL_OK) {
		n++;
		handle_event(&event);
	}
	if (n)
		receive_fetch();
	receive_give_up();
	share_tidy();
	return n;
}

unsigned events_poll(void)
{
	enum {
		ENOUGH = 64
	};

	return poll_for(ENOUGH);
}

bool events_step(void)
{
	return poll_for(1);
}
