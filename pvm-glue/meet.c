/* SPDX-License-Identifier: MIT */
/*
 * How tasks meet: by notes with a tag of the glue that PVM carries in its
 * context for libraries. A task without the glue keeps the notes, unread, until
 * it ends.
 *
 *   first sender   -- NOTE_ASK, own address -->   receiver
 *                  <-- NOTE_ANSWER, address --    receiver
 *   both connect by BCL and send WIRE_READY
 */
#include <string.h>

#include "pvm-glue/glue.h"
#include "pvm-glue/wire.h"

static struct task *owed;

/* False: the note was not sent. */
static bool send_note(const struct task *task, const struct note *note)
{
	enum {
		RAW = 1
	};
	int before, result, id = libpvm.pvm_mkbuf(RAW);

	if (id <= 0)
		return false;
	before = libpvm.pvm_setsbuf(id);
	result = libpvm.pvm_pkbyte((char *)note, sizeof(*note), 1);
	libpvm.pvm_setsbuf(before);
	libpvm.midtobuf(id)->context = PVM_TASK_CONTEXT;
	if (!result)
		result = libpvm_route(id, task->tid, NOTE_TAG, false);
	libpvm.pvm_freebuf(id);
	return result >= 0;
}

static struct note make_note(const struct task *task, enum note_kind kind)
{
	return (struct note){
		.version = NOTE_VERSION,
		.kind = kind,
		.count = task->sent,
		.signature = (uint32_t)*libpvm.pvmmydsig,
	};
}

static bool send_address(const struct task *task, enum note_kind kind)
{
	struct note note = make_note(task, kind);
	size_t length;

	if (bcl_port_address(glue.port, note.address, &length))
		return false;
	note.length = (uint32_t)length;
	return send_note(task, &note);
}

void meet_ask(struct task *task)
{
	task->state = TASK_ASKED;
	task->asked = glue_now();
	if (!send_address(task, NOTE_ASK) && task->state == TASK_ASKED)
		task->state = TASK_UNKNOWN;
}

bool meet_tell(struct task *task)
{
	const struct note note = make_note(task, NOTE_TELL);

	if (!send_note(task, &note))
		return false;
	task->told = note.count;
	return true;
}

/* Remember that the task is owed a note. The note cannot go now, because PVM is
 * at work or has not given this task a tid yet. */
static void owe_note(struct task *task)
{
	if (task->owed)
		return;
	task->owed = true;
	task->next_owed = owed;
	owed = task;
}

void meet_up(struct task *task)
{
	enum bcl_status status = BCL_ERR_AGAIN;

	task->up = true;
	if (task->greeted)
		return;
	if (*libpvm.pvmrouteopt != PVM_DONT_ROUTE)
		status = bcl_send(task->peer, WIRE_READY, task_immediate(task),
				  NULL, 0, 0);
	task->greeted = !status;
	if (status == BCL_ERR_AGAIN)
		owe_note(task);
}

static void open_peer(struct task *task, const void *address, size_t length)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	struct bcl_peer *peer;

	task->refused = bcl_peer_open(glue.port, address, length, &peer);
	if (task->refused) {
		task->state = TASK_STRANGE;
		return;
	}
	bcl_peer_set_user(peer, task);
	task->peer = peer;
	task->state = TASK_MET;
	/* the peer may have come up before it was known whose it is */
	bcl_peer_info(peer, &info);
	if (info.state == BCL_PEER_UP)
		meet_up(task);
}

void meet_ask_soon(struct task *task)
{
	owe_note(task);
}

static void owe_answer(struct task *task, const struct note *note)
{
	owe_note(task);
	memcpy(task->address, note->address, note->length);
	task->address_length = note->length;
}

static void answer_task(struct task *task, size_t length)
{
	open_peer(task, task->address, length);
	send_address(task, NOTE_ANSWER);
}

void meet_owed(void)
{
	struct task *list = owed;

	owed = NULL;
	while (list) {
		struct task *task = list;
		size_t length = task->address_length;

		list = task->next_owed;
		task->owed = false;
		task->address_length = 0;
		if (*libpvm.pvmrouteopt == PVM_DONT_ROUTE)
			continue;
		if (length)
			answer_task(task, length);
		else if (task->state == TASK_UNKNOWN)
			meet_ask(task);
		else if (task->state == TASK_MET && task->up)
			meet_up(task);
	}
}

void meet_close(void)
{
	owed = NULL;
}

/* The task offers a connection, the first or after a loss. The task has sent
 * `count` messages by BCL before. */
static void begin_again(struct task *task, uint32_t count)
{
	if (task->over)
		task->taken = count - task->pending;
	task->over = false;
}

static void heed_note(struct task *task, const struct note *note)
{
	switch (note->kind) {
	case NOTE_ASK:
		begin_again(task, note->count);
		if (note->length)
			owe_answer(task, note);
		break;
	case NOTE_ANSWER:
		begin_again(task, note->count);
		if (glue.port)
			open_peer(task, note->address, note->length);
		break;
	case NOTE_TELL:
		task->due = note->count;
		break;
	}
}

static bool is_like_ours(struct task *task, const struct note *note, int length)
{
	if (length == sizeof(*note) && note->version == NOTE_VERSION &&
	    note->signature == (uint32_t)*libpvm.pvmmydsig &&
	    note->length <= sizeof(note->address))
		return true;
	if (task->state != TASK_STRANGE)
		say_warning("task t%x has version %u of the glue on a machine "
			    "of kind 0x%x, this one version %u on 0x%x: they "
			    "talk by PVM's routes",
			    (unsigned)task->tid, note->version, note->signature,
			    NOTE_VERSION, (unsigned)*libpvm.pvmmydsig);
	task->state = TASK_STRANGE;
	task->refused = BCL_ERR_VERSION;
	return false;
}

bool meet_note(struct pmsg *message)
{
	struct note note = { 0 };
	struct task *task;
	int length;

	if (message->context != PVM_TASK_CONTEXT || message->tag != NOTE_TAG)
		return false;
	task = task_find(message->source);
	length = libpvm_length(message);
	if (task && length >= (int)offsetof(struct note, count)) {
		memcpy(&note, message->frags->next->data,
		       (size_t)length < sizeof(note) ? (size_t)length
						     : sizeof(note));
		if (is_like_ours(task, &note, length))
			heed_note(task, &note);
	}
	libpvm.umbuf_free(message);
	return true;
}
