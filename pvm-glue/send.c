/* SPDX-License-Identifier: MIT */
/*
 * Sending messages to other tasks. Short messages are copied into the path's
 * ring. Long messages are offered, and the sender waits until the receiver has
 * fetched them. A message that the receiver does not take within some
 * milliseconds is given to PVM. PVM's daemon stores any number of messages,
 * also after the sender's death.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "pvm-glue/glue.h"
#include "pvm-glue/wire.h"

enum {
	/* ns to wait for room in a ring, or for the fetch of a long message */
	PATIENCE = 10000000,
	/* ns in which no long message is sent by BCL to a task that did not
	 * fetch the last. Twice as long after each further time, so that
	 * senders wait for a small part of the time only. */
	ABSENCE = 10 * PATIENCE,
	ABSENCES = 7, /* at most doubled so often */
	/* ns: a task without an answer until then has no glue */
	ANSWER_LIMIT = 1000000000,
	MANY = 16, /* tasks: more need allocated memory */
};

/* A message to send, to one or several tasks. */
struct parcel {
	const struct pmsg *message;
	int tag;
	size_t length;
	void *memory; /* a long message in one piece: the user's, or copy */
	void *copy;   /* NULL: none to be freed */
};

/* A parcel in flight to a task. */
struct passage {
	bool is_long;
	struct loan loan; /* only if is_long */
};

static struct envelope envelope_of(const struct pmsg *message, int tag)
{
	return (struct envelope){
		.tag = tag,
		.context = message->context,
		.wait = message->wait,
		.encoding = message->encoding == PVM_IN_PLACE
				    ? *libpvm.pvmmydsig
				    : message->encoding,
	};
}

/* List the pieces of a message. 0: no pieces, or more than `max`. */
static unsigned list_pieces(const struct pmsg *message, struct iovec *iov,
			    unsigned max)
{
	const struct frag *frag;
	unsigned n = 0;

	for (frag = message->frags->next; frag != message->frags;
	     frag = frag->next) {
		if (!frag->length)
			continue;
		if (n == max)
			return 0;
		iov[n++] = (struct iovec){ frag->data, (size_t)frag->length };
	}
	return n;
}

/* ---- while a message cannot be sent ---- */

/* A call has returned AGAIN. True: repeat the call. *end is 0 before the first
 * time. */
static bool may_repeat(struct task *task, uint64_t *end)
{
	uint64_t now = glue_now();

	if (!*end)
		*end = now + (task->full ? 0 : PATIENCE);
	if (now > *end) {
		task->full = true;
		return false;
	}
	/* the receiver may wait for this processor */
	if (!events_poll())
		sched_yield();
	return task_reachable(task);
}

/* ---- short messages ---- */

static enum bcl_status send_short(struct task *task,
				  const struct parcel *parcel)
{
	struct envelope envelope = envelope_of(parcel->message, parcel->tag);
	struct iovec iov[BCL_GATHER_MAX]; /* partly set */
	unsigned n = list_pieces(parcel->message, iov + 1, BCL_GATHER_MAX - 1);
	char piece[BCL_MESSAGE_MAX];
	enum bcl_status status;
	uint64_t end = 0;

	iov[0] = (struct iovec){ &envelope, sizeof(envelope) };
	if (!n && parcel->length) {
		libpvm_copy(parcel->message, 0, piece);
		iov[1] = (struct iovec){ piece, parcel->length };
		n = 1;
	}
	do
		status = bcl_send(task->peer, WIRE_DATA, task_immediate(task),
				  iov, n + 1, 0);
	while (status == BCL_ERR_AGAIN && may_repeat(task, &end));
	if (!status) {
		task->sent++;
		task->full = false;
	}
	return status;
}

/* ---- long messages ---- */

/* Provide a message in one piece. False: no memory for a copy. */
static bool join_pieces(struct parcel *parcel)
{
	struct iovec piece;

	if (parcel->memory)
		return true;
	if (parcel->message->encoding == PVM_IN_PLACE &&
	    list_pieces(parcel->message, &piece, 1)) {
		parcel->memory = piece.iov_base;
		return true;
	}
	parcel->memory = parcel->copy = malloc(parcel->length);
	if (parcel->copy)
		libpvm_copy(parcel->message, 0, parcel->copy);
	return parcel->copy;
}

/* Take an offer back. If the receiver is reading the memory, wait until it has
 * finished. */
static void withdraw_loan(struct loan *loan)
{
	while (!loan_withdraw(loan)) {
		if (!events_poll())
			sched_yield();
	}
}

static enum bcl_status send_long(struct passage *passage, struct task *task,
				 const struct parcel *parcel,
				 const struct route *route)
{
	struct offer offer = { .envelope = envelope_of(parcel->message,
						       parcel->tag),
			       .length = parcel->length,
			       .route = *route };
	const struct iovec iov = { &offer, sizeof(offer) };
	struct loan *loan = &passage->loan;
	enum bcl_status status;
	uint64_t end = 0;

	loan_open(loan, task);
	do
		status = bcl_offer(task->peer, parcel->memory, parcel->length,
				   (uintptr_t)loan, loan->token);
	while (status == BCL_ERR_AGAIN && may_repeat(task, &end));
	if (status) {
		loan_close(loan);
		return status;
	}
	memcpy(offer.token, loan->token, sizeof(offer.token));
	do
		status = bcl_send(task->peer, WIRE_OFFER, task_immediate(task),
				  &iov, 1, 0);
	while (status == BCL_ERR_AGAIN && may_repeat(task, &end));
	if (status)
		withdraw_loan(loan);
	return status;
}

static void fall_behind(struct task *task, uint64_t now)
{
	uint64_t most = (uint64_t)ABSENCE << ABSENCES;

	task->absence = task->absence ? 2 * task->absence : ABSENCE;
	if (task->absence > most)
		task->absence = most;
	task->behind = now + task->absence;
}

/* True if the receiver has the message. A long message is taken back if it was
 * not fetched within `time` ns after *start. The first call that waits sets
 * *start from 0. */
static bool finish_passage(struct passage *passage, uint64_t *start,
			   uint64_t time)
{
	struct loan *loan = &passage->loan;
	uint64_t now;

	if (!passage->is_long)
		return true;
	if (!*start)
		*start = glue_now();
	while (loan->fate == FATE_OPEN) {
		if (events_poll() || loan->fate != FATE_OPEN)
			continue;
		now = glue_now();
		if (now > *start + time) {
			fall_behind(loan->task, now);
			withdraw_loan(loan);
		} else {
			sched_yield();
		}
	}
	if (loan->fate != FATE_READ)
		return false;
	loan->task->sent++;
	return true;
}

/* ---- the choice between BCL and PVM ---- */

static const struct route alone;

static bool begin_passage(struct passage *passage, struct task *task,
			  struct parcel *parcel, const struct route *route)
{
	if (*libpvm.pvmrouteopt == PVM_DONT_ROUTE || !glue.port)
		return false;
	if (task->state == TASK_UNKNOWN)
		meet_ask(task);
	else if (task->up && !task->greeted)
		meet_up(task);
	if (!task_reachable(task))
		return false;
	passage->is_long =
		parcel->length > BCL_MESSAGE_MAX - sizeof(struct envelope);
	if (!passage->is_long)
		return send_short(task, parcel) == BCL_OK;
	return glue_now() >= task->behind && join_pieces(parcel) &&
	       send_long(passage, task, parcel, route) == BCL_OK;
}

static bool send_directly(struct task *task, const struct pmsg *message,
			  int tag)
{
	struct parcel parcel = { .message = message,
				 .tag = tag,
				 .length = (size_t)libpvm_length(message) };
	struct passage passage; /* partly set */
	uint64_t start = 0;
	bool sent;

	sent = begin_passage(&passage, task, &parcel, &alone) &&
	       finish_passage(&passage, &start, PATIENCE);
	free(parcel.copy);
	return sent;
}

static bool begin_to_task(struct passage *passage, int tid,
			  struct parcel *parcel, const struct route *route)
{
	struct task *task = NULL;

	if (libpvm_is_task(tid) && tid != *libpvm.pvmmytid)
		task = task_find(tid);
	return task && begin_passage(passage, task, parcel, route);
}

/* All receivers fetch a long message at the same time. */
void send_many(const struct pmsg *message, int tag, const int *tids, int n,
	       const struct route *routes, bool *sent)
{
	struct parcel parcel = { .message = message,
				 .tag = tag,
				 .length = (size_t)libpvm_length(message) };
	struct passage few[MANY], *passages = few;
	uint64_t start = 0;
	int i;

	memset(sent, 0, (size_t)n * sizeof(*sent));
	if (n > MANY)
		passages = malloc((size_t)n * sizeof(*passages));
	if (!passages)
		return;
	for (i = 0; i < n; i++)
		sent[i] = begin_to_task(&passages[i], tids[i], &parcel,
					routes ? &routes[i] : &alone);
	for (i = 0; i < n; i++)
		sent[i] = sent[i] &&
			  finish_passage(
				  &passages[i], &start,
				  PATIENCE +
					  (routes ? 1000ull * routes[i].patience
						  : 0));
	if (n > MANY)
		free(passages);
	free(parcel.copy);
}

void send_memory(const int *tids, int n, int tag, void *memory, int length,
		 bool *sent)
{
	struct frag piece = { .data = memory, .length = length };
	struct frag ring = { .next = &piece, .previous = &piece };
	const struct pmsg message = { .frags = &ring,
				      .context = *libpvm.pvmmyctx,
				      .encoding = PVM_IN_PLACE };
	struct route few[MANY], *routes = few;

	piece.next = piece.previous = &ring;
	if (n > MANY)
		routes = malloc((size_t)n * sizeof(*routes));
	if (routes)
		share_plan(tids, n, (size_t)length, routes);
	send_many(&message, tag, tids, n, routes, sent);
	if (n > MANY)
		free(routes);
}

bool send_otherwise(struct task *task)
{
	if (task->sent != task->told && !meet_tell(task))
		return false;
	task->given++;
	return true;
}

void send_refused(struct task *task)
{
	task->given--;
}

/* True if libpvm may open a direct route, since the task has no glue or cannot
 * be reached. Beside BCL a direct route would mix up the order. */
static bool may_route(const struct task *task)
{
	return task->state == TASK_STRANGE ||
	       (task->state == TASK_ASKED &&
		glue_now() - task->asked > ANSWER_LIMIT);
}

static int send_to_self(const struct pmsg *message, int tag)
{
	struct envelope envelope = envelope_of(message, tag);

	receive_from_self(message, &envelope);
	return 0;
}

int send_message(struct pmsg *message, int tid, int tag)
{
	struct task *task = task_find(tid);
	int result;

	if (tid == *libpvm.pvmmytid)
		return send_to_self(message, tag);
	if (task) {
		if (send_directly(task, message, tag))
			return 0;
		if (!send_otherwise(task))
			return PVM_NO_MEMORY;
	}
	result = libpvm_route(message->id, tid, tag, !task || may_route(task));
	if (task && result < 0)
		send_refused(task);
	return result;
}
