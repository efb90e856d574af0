/* SPDX-License-Identifier: MIT */
/* Messages that arrive by BCL and by PVM, delivered in the order in which each
 * task sent them. glue.h has the rules. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pvm-glue/group.h"
#include "pvm-glue/wire.h"

struct arrival {
	struct arrival *next;
	struct task *task;
	struct pmsg *message; /* NULL: goes to a pvm_precv(), or void */
	uint32_t given;	      /* number given to PVM before */
	bool here;
	bool is_void; /* the offer was taken back, PVM brings the message */
	bool claimed; /* goes into the buffer of a pvm_precv() */
	void *memory; /* destination of the bytes */
	size_t length;
	struct arrival *next_fetch;
	struct offer offer;
	/* Fetched from another task that has the message: */
	struct task *from;
	uint8_t token[BCL_KEY_MAX];
	uint64_t until; /* ns: wait for an answer until then */
	bool copied;	/* the copy from another task succeeded */
};

struct held {
	struct held *next;
	struct pmsg *message;
	uint32_t due; /* number sent by BCL before */
};

/* Offers for which another task was asked. */
static struct arrival *asked;
/* Offers that wait to be fetched. */
static struct arrival *fetches, **last_fetch = &fetches;
static unsigned pulls; /* in flight */
/* The own task, if it has sent messages to itself. */
static struct task *own;

static bool has_reached(uint32_t count, uint32_t goal)
{
	return (int32_t)(count - goal) >= 0;
}

static int give_to_pvm(struct pmsg *message)
{
	glue.received++;
	if (group_input(message))
		return 0;
	buffer_pass(message);
	return libpvm.mesg_input(message);
}

/* Deliver the first message by BCL if it is due. Reentrant: a message handler
 * of the user may get here. */
static bool deliver_arrival(struct task *task)
{
	struct arrival *arrival = task->first;
	struct pmsg *message;

	if (!arrival || !arrival->here ||
	    !has_reached(task->counted, arrival->given))
		return false;
	task->first = arrival->next;
	if (!task->first)
		task->last = &task->first;
	message = arrival->message;
	if (!arrival->is_void) {
		task->taken++;
		task->pending--;
	}
	free(arrival);
	if (message)
		give_to_pvm(message);
	return true;
}

/* Deliver the first message by PVM if it is due. If the connection is lost, the
 * last messages by BCL may be lost, too, and are not waited for. */
static bool deliver_held(struct task *task)
{
	struct held *held = task->held;
	struct pmsg *message;

	if (!held || (!has_reached(task->taken, held->due) &&
		      !(task->over && !task->first)))
		return false;
	task->held = held->next;
	if (!task->held)
		task->held_last = &task->held;
	message = held->message;
	free(held);
	task->counted++;
	give_to_pvm(message);
	return true;
}

void receive_settle(struct task *task)
{
	while (deliver_arrival(task) || deliver_held(task))
		;
}

void receive_lost(struct task *task)
{
	task->over = true;
	receive_settle(task);
}

static void forget_messages(struct task *task)
{
	struct arrival *arrival;
	struct held *held;

	while ((arrival = task->first)) {
		task->first = arrival->next;
		if (arrival->message)
			libpvm.umbuf_free(arrival->message);
		free(arrival);
	}
	while ((held = task->held)) {
		task->held = held->next;
		libpvm.umbuf_free(held->message);
		free(held);
	}
}

void receive_close(void)
{
	task_each(forget_messages);
	asked = NULL;
	fetches = NULL;
	last_fetch = &fetches;
	pulls = 0;
	own = NULL;
}

/* ---- by BCL ---- */

static struct pmsg *make_message(int source, const struct envelope *envelope,
				 int length)
{
	struct pmsg *message = libpvm_message(length);

	if (!message)
		return NULL;
	message->source = source;
	message->destination = *libpvm.pvmmytid;
	message->tag = envelope->tag;
	message->context = envelope->context;
	message->wait = envelope->wait;
	message->encoding = envelope->encoding;
	libpvm.pmsg_setenc(message, envelope->encoding);
	return message;
}

bool receive_pending(void)
{
	return pulls;
}

/* Start to fetch an offer. False: not possible now. After a copy from another
 * task, zero bytes are read from the sender. Otherwise the sender would take
 * the offer back and send the message by PVM. */
static bool fetch_offer(struct arrival *arrival)
{
	enum bcl_status status;

	if (arrival->from)
		status = bcl_pull(arrival->from->peer, arrival->token,
				  arrival->memory, arrival->length,
				  (uintptr_t)arrival);
	else
		status = bcl_pull(arrival->task->peer, arrival->offer.token,
				  arrival->memory,
				  arrival->copied ? 0 : arrival->length,
				  (uintptr_t)arrival);
	if (status == BCL_ERR_AGAIN)
		return false;
	pulls++;
	if (status)
		receive_pulled((uintptr_t)arrival, status);
	return true;
}

void receive_fetch(void)
{
	struct arrival *arrival;

	while ((arrival = fetches)) {
		fetches = arrival->next_fetch;
		if (!fetches)
			last_fetch = &fetches;
		if (fetch_offer(arrival))
			continue;
		arrival->next_fetch = fetches;
		if (!fetches)
			last_fetch = &arrival->next_fetch;
		fetches = arrival;
		return;
	}
}

static void fetch_soon(struct arrival *arrival)
{
	arrival->next_fetch = NULL;
	*last_fetch = arrival;
	last_fetch = &arrival->next_fetch;
}

static void mark_here(struct arrival *arrival)
{
	arrival->here = true;
	arrival->task->pending += !arrival->is_void;
}

void receive_pulled(uint64_t cookie, enum bcl_status status)
{
	struct arrival *arrival = (void *)(uintptr_t)cookie;

	pulls--;
	if (arrival->from) {
		arrival->from = NULL;
		arrival->copied = !status;
		if (arrival->task)
			fetch_soon(arrival);
		else
			free(arrival);
		return;
	}
	if (!status && arrival->length == arrival->offer.length)
		share_keep(arrival->task->tid, &arrival->offer.route,
			   arrival->memory, arrival->length);
	/* the sender has taken the offer back, or is gone */
	if (status && arrival->message) {
		libpvm.umbuf_free(arrival->message);
		arrival->message = NULL;
	}
	if (arrival->claimed) {
		glue.received++;
		buffer_filled(!status);
	}
	arrival->is_void = status;
	mark_here(arrival);
	receive_settle(arrival->task);
}

static struct arrival *new_arrival(struct task *task, uint32_t given)
{
	struct arrival *arrival = need(calloc(1, sizeof(*arrival)));

	arrival->task = task;
	arrival->given = given;
	*task->last = arrival;
	task->last = &arrival->next;
	return arrival;
}

static void give_message(struct arrival *arrival,
			 const struct envelope *envelope, size_t length)
{
	arrival->message =
		need(make_message(arrival->task->tid, envelope, (int)length));
	arrival->memory = arrival->message->frags->next->data;
	arrival->length = length;
}

/* True if a message may be delivered before all others of the task. */
static bool is_next(const struct task *task, uint32_t given)
{
	return !task->first && has_reached(task->counted, given);
}

static bool take_into_buffer(struct task *task, uint32_t given,
			     const struct envelope *envelope, size_t length)
{
	void *buffer = NULL;

	if (is_next(task, given))
		buffer = buffer_claim(task->tid, envelope, &length);
	if (!buffer)
		return false;
	memcpy(buffer, envelope + 1, length);
	task->taken++;
	glue.received++;
	buffer_filled(true);
	receive_settle(task);
	return true;
}

static void receive_data(struct task *task, uint32_t given, const void *bytes,
			 size_t length)
{
	const struct envelope *envelope = bytes;
	struct arrival *arrival;
	struct pmsg *message;

	if (length < sizeof(*envelope))
		return;
	length -= sizeof(*envelope);
	if (take_into_buffer(task, given, envelope, length))
		return;
	message = need(make_message(task->tid, envelope, (int)length));
	memcpy(message->frags->next->data, envelope + 1, length);
	if (is_next(task, given)) {
		task->taken++;
		give_to_pvm(message);
	} else {
		arrival = new_arrival(task, given);
		arrival->message = message;
		mark_here(arrival);
	}
	receive_settle(task);
}

/* Ask another task that may have the message sooner. False: there is no such
 * task. */
static bool ask_other_task(struct arrival *arrival)
{
	const struct route *route = &arrival->offer.route;
	const struct share share = { .origin = arrival->task->tid,
				     .serial = route->serial };
	struct task *via = route->via ? task_find(route->via) : NULL;

	if (!via)
		return false;
	if (!share_ask(via, &share)) {
		meet_ask_soon(via);
		return false;
	}
	arrival->until = glue_now() + 1000ull * route->patience;
	arrival->next_fetch = asked;
	asked = arrival;
	return true;
}

static struct arrival *find_asked(const struct share *share)
{
	struct arrival **place = &asked, *arrival;

	for (; (arrival = *place); place = &arrival->next_fetch) {
		if (arrival->task->tid != share->origin ||
		    arrival->offer.route.serial != share->serial)
			continue;
		*place = arrival->next_fetch;
		return arrival;
	}
	return NULL;
}

/* A task that was asked has the message. If the answer comes too late, the
 * memory is still fetched, with no bytes, so that the task gets it back. */
static void receive_share(struct task *from, const void *bytes, size_t length)
{
	const struct share *share = bytes;
	struct arrival *arrival;

	if (length != sizeof(*share))
		return;
	arrival = find_asked(share);
	if (!arrival)
		arrival = need(calloc(1, sizeof(*arrival)));
	arrival->from = from;
	memcpy(arrival->token, share->token, sizeof(arrival->token));
	fetch_soon(arrival);
}

uint64_t receive_patience(uint64_t until)
{
	for (const struct arrival *arrival = asked; arrival;
	     arrival = arrival->next_fetch) {
		if (until > arrival->until)
			until = arrival->until;
	}
	return until;
}

void receive_give_up(void)
{
	struct arrival **place = &asked, *arrival;
	uint64_t now;

	if (!asked)
		return;
	now = glue_now();
	while ((arrival = *place)) {
		if (arrival->until > now) {
			place = &arrival->next_fetch;
			continue;
		}
		*place = arrival->next_fetch;
		fetch_soon(arrival);
	}
	receive_fetch();
}

static void receive_offer(struct task *task, uint32_t given, const void *bytes,
			  size_t length)
{
	struct arrival *arrival;
	void *buffer = NULL;
	struct offer offer;

	if (length != sizeof(offer))
		return;
	/* the sender can change the bytes meanwhile */
	memcpy(&offer, bytes, sizeof(offer));
	if (offer.length > INT_MAX)
		return;
	length = offer.length;
	if (is_next(task, given))
		buffer = buffer_claim(task->tid, &offer.envelope, &length);
	arrival = new_arrival(task, given);
	if (buffer) {
		arrival->claimed = true;
		arrival->memory = buffer;
		arrival->length = length;
	} else {
		give_message(arrival, &offer.envelope, length);
	}
	arrival->offer = offer;
	if (!ask_other_task(arrival))
		fetch_soon(arrival);
	receive_fetch();
}

static struct task *sender_of(const struct bcl_event *event)
{
	struct task *task = bcl_peer_user(event->peer);
	int tid = (int)(event->immediate >> 32);

	if (task && task->tid == tid && task->peer == event->peer)
		return task;
	task = need(task_find(tid));
	task->peer = event->peer;
	bcl_peer_set_user(event->peer, task);
	return task;
}

void receive_event(const struct bcl_event *event)
{
	struct task *task = sender_of(event);
	uint32_t given = (uint32_t)event->immediate;

	if (event->type == WIRE_DATA)
		receive_data(task, given, event->data, event->length);
	else if (event->type == WIRE_OFFER)
		receive_offer(task, given, event->data, event->length);
	else if (event->type == WIRE_WANT &&
		 event->length == sizeof(struct share))
		share_wanted(task, event->data);
	else if (event->type == WIRE_HAVE)
		receive_share(task, event->data, event->length);
	else if (event->type == WIRE_READY)
		task->ready = true;
}

/* ---- from the own task ---- */

void receive_from_self(const struct pmsg *message,
		       const struct envelope *envelope)
{
	struct task *self = need(task_find(*libpvm.pvmmytid));
	struct arrival *arrival = new_arrival(self, 0);

	give_message(arrival, envelope, (size_t)libpvm_length(message));
	libpvm_copy(message, 0, arrival->memory);
	mark_here(arrival);
	own = self;
}

/* Deliver the messages that wait now. A handler may send a new message for each
 * message that it gets; new messages wait for the next call. */
void receive_own(void)
{
	struct task *self = own;
	static bool busy;
	uint32_t n;

	if (busy || !self)
		return;
	busy = true;
	for (n = self->pending; n && deliver_arrival(self); n--)
		;
	if (own && !own->pending)
		own = NULL;
	busy = false;
}

/* ---- by PVM ---- */

int receive_stock(struct pmsg *message)
{
	struct task *task;
	struct held *held;

	if (!libpvm_is_task(message->source) ||
	    message->context >= PVM_SYSTEM_CONTEXT ||
	    message->source == *libpvm.pvmmytid)
		return give_to_pvm(message);
	task = need(task_find(message->source));
	held = need(calloc(1, sizeof(*held)));
	held->message = message;
	held->due = task->due;
	*task->held_last = held;
	task->held_last = &held->next;
	receive_settle(task);
	return 0;
}
