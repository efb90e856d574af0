/* SPDX-License-Identifier: MIT */
/* The port of a task: opened with the first message, closed at the end of the
 * task. Hands events of the port to the other files. */
#include <malloc.h>
#include <pthread.h>
#include <sys/random.h>

#include "pvm-glue/group.h"

enum {
	PATIENCE = 2000000000,	 /* ns before a warning at the end */
	LONGEST_KEPT = 32 << 20, /* bytes of a message; glibc's limit */
	/* bytes that libc keeps at the top of the heap */
	KEPT = 64 << 20,
};

struct glue glue;

static struct bcl_context *context;
static unsigned fences;

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

/* ---- events ---- */

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
		send_read(event->cookie, event->status);
		break;
	case BCL_EVENT_SENT:
		fences--;
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

unsigned endpoint_poll(void)
{
	enum {
		ENOUGH = 64
	};

	return poll_for(ENOUGH);
}

bool endpoint_step(void)
{
	return poll_for(1);
}

/* ---- the end ---- */

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
		endpoint_poll();
	if (!status)
		fences++;
}

void endpoint_close(void)
{
	uint64_t patient = wait_now() + PATIENCE;

	if (!glue.port)
		return;
	task_each(fence_task);
	while (fences) {
		if (!endpoint_poll())
			bcl_wait(glue.port, PATIENCE);
		if (wait_now() < patient)
			continue;
		say_warning("this task has ended, but for messages that others "
			    "have not taken yet");
		patient = UINT64_MAX;
	}
	send_close();
	bcl_close(context);
	glue.port = NULL;
	receive_close();
	meet_close();
	share_close();
	group_forget_all();
	task_forget_all();
}
