/* SPDX-License-Identifier: MIT */
#include "transport/shm/mail.h"

#include "transport/shm/audit.h"
#include "transport/shm/bell.h"
#include "transport/shm/greeting.h"
#include "transport/shm/message.h"
#include "transport/shm/port.h"

enum {
	/* ns without an answer, after which the helper is told: a thread that
	 * polls answers sooner. And so long again, each time. */
	POKE_AFTER = 20000,
	POKE_AGAIN = 1000000,
};

static uint8_t *data_of(const struct bcl_connection *c, unsigned side,
			unsigned index)
{
	return c->segment.mail[side] + (size_t)index * BCL_MAIL_DATA;
}

/* ---- the owner of the memory ---- */

static enum bcl_status serve_atomic(struct bcl_context *context,
				    struct bcl_mail *mail,
				    const struct bcl_mail *asked)
{
	_Atomic uint64_t *word =
		bcl_memory_check(context, asked->handle, asked->offset,
				 sizeof(*word), BCL_REMOTE_ATOMIC);

	if (!word || (uintptr_t)word % sizeof(*word))
		return BCL_ERR_MEMORY;
	mail->result = bcl_atomic_word(word, asked->op == BCL_MAIL_COMPARE_SWAP,
				       asked->operand);
	return BCL_OK;
}

static enum bcl_status serve_copy(struct bcl_context *context, void *data,
				  const struct bcl_mail *asked)
{
	bool put = asked->op == BCL_MAIL_PUT;
	void *memory;

	if (asked->length > BCL_MAIL_DATA)
		return BCL_ERR_MEMORY;
	memory = bcl_memory_check(context, asked->handle, asked->offset,
				  asked->length,
				  put ? BCL_REMOTE_WRITE : BCL_REMOTE_READ);
	if (!memory)
		return BCL_ERR_MEMORY;
	memcpy(put ? memory : data, put ? data : memory, asked->length);
	return BCL_OK;
}

static void serve(struct bcl_connection *c, unsigned index)
{
	struct bcl_context *context = bcl_shm_context(c->shm);
	struct bcl_mail *mail = &c->segment.head->mails[!c->side][index];
	struct bcl_mail asked;

	/* partner: the release in post() */
	if (atomic_load_explicit(&mail->state, memory_order_acquire) !=
	    BCL_MAIL_ASKED)
		return;
	/* the peer may write at any time: what is checked is what is used */
	asked.op = mail->op;
	asked.handle = mail->handle;
	asked.length = mail->length;
	asked.offset = mail->offset;
	asked.operand[0] = mail->operand[0];
	asked.operand[1] = mail->operand[1];
	atomic_signal_fence(memory_order_seq_cst);
	if (asked.op == BCL_MAIL_PUT || asked.op == BCL_MAIL_GET)
		mail->status = serve_copy(context, data_of(c, !c->side, index),
					  &asked);
	else
		mail->status = serve_atomic(context, mail, &asked);
	/* partner: collect() */
	atomic_store_explicit(&mail->state, BCL_MAIL_DONE,
			      memory_order_release);
}

static bool serve_all(struct bcl_connection *c)
{
	struct bcl_context *context = bcl_shm_context(c->shm);
	unsigned i;

	if (!bcl_segment_reserve(bcl_shm_env(c->shm), &c->segment,
				 BCL_AREA_MAIL, !c->side))
		return false;
	pthread_mutex_lock(&context->memory_lock);
	for (i = 0; i < BCL_MAILS; i++)
		serve(c, i);
	pthread_mutex_unlock(&context->memory_lock);
	return true;
}

bool bcl_mail_serve(struct bcl_connection *c)
{
	if (!serve_all(c))
		return false;
	bcl_pair_notice(&c->pair);
	return true;
}

void bcl_mail_serve_told(struct bcl_connection *c)
{
	bcl_count(bcl_shm_context(c->shm)->counters, shm_mails_told);
	if (serve_all(c))
		bcl_connection_wake(c);
}

/* ---- who asks ---- */

static struct bcl_mail *mail_of(const struct bcl_connection *c, unsigned i)
{
	return &c->segment.head->mails[c->side][i];
}

static void post(struct bcl_connection *c, unsigned index,
		 struct bcl_access *access)
{
	struct bcl_remotes *r = c->remotes;
	struct bcl_mail *mail = mail_of(c, index);
	uint64_t left = access->length - access->asked;
	uint32_t n = left < BCL_MAIL_DATA ? (uint32_t)left : BCL_MAIL_DATA;

	r->mail[index].access = access;
	r->mail[index].at = access->asked;
	r->mail[index].length = n;
	mail->op = access->op;
	mail->handle = access->handle;
	mail->length = n;
	mail->offset = access->offset + access->asked;
	mail->operand[0] = access->operand[0];
	mail->operand[1] = access->operand[1];
	if (access->op == BCL_MAIL_PUT && n)
		memcpy(data_of(c, c->side, index),
		       access->buffer + access->asked, n);
	access->asked += n;
	atomic_store_explicit(&mail->state, BCL_MAIL_ASKED,
			      memory_order_release);
	bcl_bell_ring(c, BCL_BELL_MAIL);
}

static void post_all(struct bcl_connection *c, uint64_t now)
{
	struct bcl_remotes *r = c->remotes;
	unsigned index = 0, i;

	for (i = 0; i < BCL_ACCESSES; i++) {
		struct bcl_access *access = &r->access[i];

		if (!access->op)
			continue;
		/* at least one, also when there is nothing to copy */
		while (access->asked < access->length ||
		       (!access->length && !access->begun)) {
			while (index < BCL_MAILS && r->mail[index].access)
				index++;
			if (index == BCL_MAILS)
				return;
			access->begun = true;
			post(c, index, access);
			r->poke_at = now + POKE_AFTER;
		}
	}
}

enum bcl_status bcl_mail_begin(struct bcl_connection *c,
			       const struct bcl_access *access)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);
	struct bcl_remotes *r = bcl_remotes_use(c);
	unsigned i;

	if (!r || !bcl_segment_reserve(bcl_shm_env(c->shm), &c->segment,
				       BCL_AREA_MAIL, c->side))
		return BCL_ERR_NOMEM;
	for (i = 0; i < BCL_ACCESSES && r->access[i].op; i++)
		;
	if (i == BCL_ACCESSES)
		return BCL_ERR_AGAIN;
	r->access[i] = *access;
	r->accesses++;
	post_all(c, env->now(env->world));
	bcl_shm_want(c->shm, BCL_WORK_COPY);
	return BCL_OK;
}

static void complete(struct bcl_connection *c, struct bcl_access *access)
{
	const struct bcl_event event = {
		.kind = BCL_EVENT_SENT,
		.status = access->status,
		.peer = c->pair.peer,
		.cookie = access->cookie,
		.length = access->length,
	};

	bcl_event_push(c->shm->port, &event);
	access->op = 0;
	c->remotes->accesses--;
}

static void collect(struct bcl_connection *c, unsigned index)
{
	struct bcl_remotes *r = c->remotes;
	struct bcl_access *access = r->mail[index].access;
	struct bcl_mail *mail = mail_of(c, index);
	uint32_t n = r->mail[index].length;
	uint32_t status;

	/* partner: serve() */
	if (atomic_load_explicit(&mail->state, memory_order_acquire) !=
	    BCL_MAIL_DONE)
		return;
	status = mail->status;
	if (status)
		access->status = status > UINT8_MAX ? BCL_ERR_MEMORY : status;
	else if (access->op == BCL_MAIL_GET)
		memcpy(access->buffer + r->mail[index].at,
		       data_of(c, c->side, index), n);
	else if (access->op != BCL_MAIL_PUT)
		memcpy(access->buffer, &mail->result, sizeof(mail->result));
	r->mail[index].access = NULL;
	atomic_store_explicit(&mail->state, BCL_MAIL_FREE,
			      memory_order_relaxed);
	access->done += n;
	if (access->done < access->length)
		return;
	if (!access->notify) {
		complete(c, access);
		return;
	}
	access->finished = true;
}

/* A put that is to be notified. True: it waits for room in the ring. */
static bool notify(struct bcl_connection *c)
{
	struct bcl_remotes *r = c->remotes;
	unsigned i;

	for (i = 0; i < BCL_ACCESSES; i++) {
		struct bcl_access *access = &r->access[i];

		if (!access->op || !access->finished)
			continue;
		if (!access->status && bcl_message_notify(c, access))
			return true;
		bcl_shm_block(c, false);
		complete(c, access);
	}
	return false;
}

/* The owner's thread does not answer: its helper may. False: not just now. */
static bool poke(struct bcl_connection *c, uint64_t now)
{
	struct bcl_greeting packet = bcl_greeting_make(c, BCL_GREETING_MAIL);

	if (pthread_mutex_trylock(&c->shm->lock))
		return false;
	if (c->socket >= 0)
		bcl_greeting_send(c, &packet, NULL, 0);
	pthread_mutex_unlock(&c->shm->lock);
	c->remotes->poke_at = now + POKE_AGAIN;
	return true;
}

bool bcl_mail_progress(struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);
	struct bcl_remotes *r = c->remotes;
	uint64_t now;
	unsigned i;

	if (!r || !r->accesses)
		return false;
	now = env->now(env->world);
	for (i = 0; i < BCL_MAILS; i++)
		if (r->mail[i].access)
			collect(c, i);
	notify(c);
	post_all(c, now);
	if (r->accesses && now > r->poke_at)
		poke(c, now);
	return r->accesses;
}

bool bcl_mail_audit(struct bcl_connection *c)
{
	struct bcl_remotes *r = c->remotes;
	unsigned i;

	for (i = 0; r && i < BCL_MAILS; i++) {
		uint32_t state;

		if (!r->mail[i].access)
			continue;
		state = atomic_load_explicit(&mail_of(c, i)->state,
					     memory_order_relaxed);
		if (state != BCL_MAIL_ASKED && state != BCL_MAIL_DONE)
			return false;
	}
	return true;
}

bool bcl_mail_sleep(struct bcl_connection *c)
{
	return c->remotes && c->remotes->accesses && !poke(c, 0);
}

bool bcl_mail_ready(struct bcl_connection *c)
{
	struct bcl_remotes *r = c->remotes;
	unsigned i;

	for (i = 0; r && i < BCL_MAILS; i++)
		if (r->mail[i].access &&
		    atomic_load_explicit(&mail_of(c, i)->state,
					 memory_order_acquire) == BCL_MAIL_DONE)
			return true;
	return false;
}

void bcl_mail_end(struct bcl_connection *c, enum bcl_status status)
{
	struct bcl_remotes *r = c->remotes;
	unsigned i;

	for (i = 0; r && i < BCL_ACCESSES; i++) {
		if (!r->access[i].op)
			continue;
		r->access[i].status = (uint8_t)status;
		if (status)
			complete(c, &r->access[i]);
	}
}
