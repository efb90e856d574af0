/* SPDX-License-Identifier: MIT */
/*
 * Messages that go: short ones are copied into the path's ring, long ones are
 * offered and fetched. One that cannot leave for a while, because its
 * receiver takes nothing, is given to PVM, which keeps as many as it must.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "pvm-glue/glue.h"
#include "pvm-glue/wire.h"

enum {
	/* ns: for a ring that is full, or the user's memory to be fetched */
	PATIENCE = 10000000,
	/* ns: a task that does not answer has no glue */
	ANSWER_LIMIT = 1000000000,
	OFFERED_MAX = 16 << 20, /* bytes, to one task */
	/* bytes to another host: to copy less takes less than to wait for it to
	 * be fetched */
	LENT_MIN = 256 << 10,
	MANY = 16, /* tasks: more than usual */
};

/* Memory that a task may fetch. */
struct lent {
	struct lent *next;
	struct task *task;
	size_t length;
	enum fate *fate; /* somebody waits for it; else the memory is `copy` */
	char copy[];
};

static struct lent *lent;

/* A message that has been sent, but its memory may be the user's still. */
struct passage {
	struct task *task;
	struct lent *loan; /* NULL: it is not */
	enum fate fate;
	uint8_t token[BCL_KEY_MAX];
};

static uint64_t immediate(const struct task *task)
{
	return (uint64_t)(uint32_t)*libpvm.pvmmytid << 32 | task->given;
}

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

/* The pieces; 0: they are more than `max`. */
static unsigned gather(const struct pmsg *message, struct iovec *iov,
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

/* ---- while it cannot go ---- */

bool send_reaches(const struct task *task)
{
	return task->state == TASK_MET && task->up &&
	       *libpvm.pvmrouteopt != PVM_DONT_ROUTE;
}

/* A call was answered with AGAIN: whether to repeat it. `end` is 0 at first. */
static bool try_again(struct task *task, uint64_t *end)
{
	if (!*end)
		*end = wait_now() + (task->behind ? 0 : PATIENCE);
	if (wait_now() > *end) {
		task->behind = true;
		return false;
	}
	/* its receiver may wait for this processor */
	if (!endpoint_poll())
		sched_yield();
	return send_reaches(task);
}

/* ---- short ones ---- */

static enum bcl_status send_short(struct task *task, const struct pmsg *message,
				  int tag, size_t length)
{
	struct envelope envelope = envelope_of(message, tag);
	struct iovec iov[BCL_GATHER_MAX]; /* not all of it is set */
	unsigned n = gather(message, iov + 1, BCL_GATHER_MAX - 1);
	char piece[BCL_MESSAGE_MAX];
	enum bcl_status status;
	uint64_t end = 0;

	iov[0] = (struct iovec){ &envelope, sizeof(envelope) };
	if (!n && length) {
		libpvm_copy(message, 0, piece);
		iov[1] = (struct iovec){ piece, length };
		n = 1;
	}
	do
		status = bcl_send(task->peer, WIRE_DATA, immediate(task), iov,
				  n + 1, 0);
	while (status == BCL_ERR_AGAIN && try_again(task, &end));
	if (!status) {
		task->sent++;
		task->behind = false;
	}
	return status;
}

/* ---- long ones ---- */

static void forget(struct lent *loan)
{
	struct lent **place = &lent;

	while (*place != loan)
		place = &(*place)->next;
	*place = loan->next;
	loan->task->offered -= loan->length;
	free(loan);
}

void send_read(uint64_t cookie, enum bcl_status status)
{
	struct lent *loan = (void *)(uintptr_t)cookie;

	if (loan->fate)
		*loan->fate = status ? FATE_VOID : FATE_READ;
	if (!status)
		loan->task->behind = false;
	forget(loan);
}

bool send_pending(void)
{
	return lent;
}

/* The user's memory is better lent than copied. Of many, who fetch it from one
 * another, all are waited for at once. */
static bool is_worth_waiting(const struct task *task, size_t length,
			     const struct route *route)
{
	struct bcl_peer_info info;

	if (length >= LENT_MIN || route->serial)
		return true;
	bcl_peer_info(task->peer, &info);
	return info.path != BCL_PATH_CARD;
}

/* NULL: not now. */
static struct lent *lend(struct task *task, size_t length, size_t copied,
			 enum fate *fate)
{
	struct lent *loan;

	if (task->offered + length > OFFERED_MAX && task->offered)
		return NULL;
	loan = malloc(sizeof(*loan) + copied);
	if (!loan)
		return NULL;
	*loan = (struct lent){
		.next = lent, .task = task, .length = length, .fate = fate
	};
	lent = loan;
	task->offered += length;
	return loan;
}

static void take_back(struct lent *loan, const void *token)
{
	loan->fate = NULL;
	if (bcl_withdraw(loan->task->peer, token) == BCL_OK)
		forget(loan);
}

static enum bcl_status send_long(struct passage *passage,
				 const struct pmsg *message, int tag,
				 size_t length, const struct route *route)
{
	struct offer offer = { .envelope = envelope_of(message, tag),
			       .length = length,
			       .route = *route };
	const struct iovec iov = { &offer, sizeof(offer) };
	struct task *task = passage->task;
	enum bcl_status status;
	struct iovec piece;
	struct lent *loan;
	uint64_t end = 0;
	bool in_place;

	passage->fate = FATE_OPEN;
	in_place = message->encoding == PVM_IN_PLACE && !task->behind &&
		   is_worth_waiting(task, length, route) &&
		   gather(message, &piece, 1);
	while (!(loan = lend(task, length, in_place ? 0 : length,
			     &passage->fate))) {
		if (!try_again(task, &end))
			return BCL_ERR_AGAIN;
	}
	if (!in_place)
		piece.iov_base = loan->copy;
	while ((status = bcl_offer(task->peer, piece.iov_base, length,
				   (uintptr_t)loan, offer.token))) {
		if (status == BCL_ERR_AGAIN && try_again(task, &end))
			continue;
		forget(loan);
		return status;
	}
	if (!in_place)
		libpvm_copy(message, 0, loan->copy);
	while ((status = bcl_send(task->peer, WIRE_OFFER, immediate(task), &iov,
				  1, 0))) {
		if (status == BCL_ERR_AGAIN && try_again(task, &end))
			continue;
		if (passage->fate == FATE_OPEN)
			take_back(loan, offer.token);
		return status;
	}
	task->sent++;
	memcpy(passage->token, offer.token, sizeof(offer.token));
	if (in_place)
		passage->loan = loan;
	else
		loan->fate = NULL;
	return BCL_OK;
}

/* The user's memory is his own again. False: it was not fetched in `time` ns
 * from when the first of some was waited for, *start, or 0. */
static bool finish(struct passage *passage, uint64_t *start, uint64_t time)
{
	uint64_t end;

	if (!passage->loan)
		return true;
	if (!*start)
		*start = wait_now();
	end = *start + time;
	while (passage->fate == FATE_OPEN) {
		if (endpoint_poll() || passage->fate != FATE_OPEN)
			continue;
		if (wait_now() > end &&
		    bcl_withdraw(passage->task->peer, passage->token) ==
			    BCL_OK) {
			forget(passage->loan);
			passage->task->behind = true;
			return false;
		}
		sched_yield();
	}
	return passage->fate == FATE_READ;
}

/* ---- of many, to one another ---- */

bool send_want(struct task *task, const struct share *share)
{
	const struct iovec iov = { (void *)share, sizeof(*share) };

	return send_reaches(task) &&
	       bcl_send(task->peer, WIRE_WANT, immediate(task), &iov, 1, 0) ==
		       BCL_OK;
}

bool send_have(struct task *task, const struct share *share, const void *memory,
	       size_t length, enum fate *fate)
{
	struct share answer = *share;
	const struct iovec iov = { &answer, sizeof(answer) };
	struct lent *loan;

	if (!send_reaches(task))
		return false;
	loan = lend(task, length, 0, fate);
	if (!loan)
		return false;
	if (bcl_offer(task->peer, memory, length, (uintptr_t)loan,
		      answer.token)) {
		forget(loan);
		return false;
	}
	if (bcl_send(task->peer, WIRE_HAVE, immediate(task), &iov, 1, 0)) {
		take_back(loan, answer.token);
		return false;
	}
	return true;
}

/* ---- which way ---- */

static const struct route alone;

static bool begin(struct passage *passage, struct task *task,
		  const struct pmsg *message, int tag,
		  const struct route *route)
{
	size_t length = (size_t)libpvm_length(message);

	passage->task = task;
	passage->loan = NULL;
	if (*libpvm.pvmrouteopt == PVM_DONT_ROUTE || !endpoint)
		return false;
	if (task->state == TASK_UNKNOWN)
		meet_ask(task);
	if (!send_reaches(task))
		return false;
	if (length <= BCL_MESSAGE_MAX - sizeof(struct envelope))
		return send_short(task, message, tag, length) == BCL_OK;
	return send_long(passage, message, tag, length, route) == BCL_OK;
}

bool send_directly(struct task *task, struct pmsg *message, int tag)
{
	struct passage passage;
	uint64_t start = 0;

	return begin(&passage, task, message, tag, &alone) &&
	       finish(&passage, &start, PATIENCE);
}

/* All fetch it at once. */
void send_memory(const int *tids, int n, int tag, void *memory, int length,
		 bool *sent)
{
	struct frag piece = { .data = memory, .length = length };
	struct frag ring = { .next = &piece, .previous = &piece };
	const struct pmsg message = { .frags = &ring,
				      .context = *libpvm.pvmmyctx,
				      .encoding = PVM_IN_PLACE };
	struct passage few[MANY], *passages = few;
	struct route routes_of_few[MANY], *routes = routes_of_few;
	struct task *task;
	uint64_t start = 0;
	int i;

	piece.next = piece.previous = &ring;
	if (n > MANY) {
		passages = need(calloc((size_t)n, sizeof(*passages)));
		routes = need(calloc((size_t)n, sizeof(*routes)));
	}
	share_plan(tids, n, (size_t)length, routes);
	for (i = 0; i < n; i++) {
		task = need(task_find(tids[i]));
		sent[i] = begin(&passages[i], task, &message, tag, &routes[i]);
	}
	for (i = 0; i < n; i++)
		sent[i] = sent[i] &&
			  finish(&passages[i], &start,
				 PATIENCE + 1000ull * routes[i].patience);
	if (n > MANY) {
		free(passages);
		free(routes);
	}
}

void send_otherwise(struct task *task)
{
	if (task->sent != task->told)
		meet_tell(task);
	task->given++;
}

int send_stock(int id, int tid, int tag, bool direct)
{
	struct timeval now = { 0 };
	int result, option = *libpvm.pvmrouteopt;

	if (option == PVM_ROUTE_DIRECT && !direct)
		*libpvm.pvmrouteopt = PVM_ALLOW_DIRECT;
	result = libpvm.mroute(id, tid, tag, &now);
	*libpvm.pvmrouteopt = option;
	return result;
}

/* A route of PVM's own beside ours would mix up the order. */
static bool may_route(const struct task *task)
{
	return task->state == TASK_STRANGE ||
	       (task->state == TASK_ASKED &&
		wait_now() - task->asked > ANSWER_LIMIT);
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

	if (tid == *libpvm.pvmmytid)
		return send_to_self(message, tag);
	if (task) {
		if (send_directly(task, message, tag))
			return 0;
		send_otherwise(task);
	}
	return send_stock(message->id, tid, tag, !task || may_route(task));
}
