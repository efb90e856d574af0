/* SPDX-License-Identifier: MIT */
/*
 * RMA requests in the shared segment, both sides. The owner serves requests in
 * any order. The requester cuts an access into requests and collects the
 * results. See rma_request.h.
 */
#include "transport/shm/rma_request.h"

#include "transport/event.h"
#include "transport/memory.h"
#include "transport/shm/audit.h"
#include "transport/shm/bell.h"
#include "transport/shm/greeting.h"
#include "transport/shm/notify.h"
#include "transport/shm/port.h"

enum {
	/* Times without an answer, ns, after which the requester tells the
	 * owner's helper, for the first time and then repeatedly. A thread that
	 * polls answers sooner. */
	POKE_AFTER = 20000,
	POKE_AGAIN = 1000000,
};

static uint8_t *data_of(const struct bcl_connection *c, unsigned side,
			unsigned index)
{
	return c->segment.rma[side] + (size_t)index * BCL_RMA_DATA;
}

/* ---- the owner of the memory ---- */

static enum bcl_status serve_atomic(struct bcl_context *context,
				    struct bcl_rma_request *request,
				    const struct bcl_rma_request *checked)
{
	_Atomic uint64_t *word = bcl_memory_check(
		&context->memories, checked->handle, checked->offset,
		sizeof(*word), BCL_REMOTE_ATOMIC);

	if (!word || (uintptr_t)word % sizeof(*word))
		return BCL_ERR_MEMORY;
	request->result = bcl_atomic_word(
		word, checked->op == BCL_RMA_COMPARE_SWAP, checked->operand);
	return BCL_OK;
}

static enum bcl_status serve_copy(struct bcl_context *context, void *data,
				  const struct bcl_rma_request *checked)
{
	bool put = checked->op == BCL_RMA_PUT;
	void *memory;

	if (checked->length > BCL_RMA_DATA)
		return BCL_ERR_MEMORY;
	memory = bcl_memory_check(&context->memories, checked->handle,
				  checked->offset, checked->length,
				  put ? BCL_REMOTE_WRITE : BCL_REMOTE_READ);
	if (!memory)
		return BCL_ERR_MEMORY;
	memcpy(put ? memory : data, put ? data : memory, checked->length);
	return BCL_OK;
}

static void serve_request(struct bcl_connection *c, unsigned index)
{
	struct bcl_context *context = bcl_shm_context(c->shm);
	struct bcl_rma_request *request =
		&c->segment.head->rma[!c->side][index];
	struct bcl_rma_request checked;

	/* partner: the release in post_request() */
	if (atomic_load_explicit(&request->state, memory_order_acquire) !=
	    BCL_RMA_PENDING)
		return;
	/* the peer may write at any time: check and use a copy */
	checked.op = request->op;
	checked.handle = request->handle;
	checked.length = request->length;
	checked.offset = request->offset;
	checked.operand[0] = request->operand[0];
	checked.operand[1] = request->operand[1];
	atomic_signal_fence(memory_order_seq_cst);
	if (checked.op == BCL_RMA_PUT || checked.op == BCL_RMA_GET)
		request->status = serve_copy(
			context, data_of(c, !c->side, index), &checked);
	else
		request->status = serve_atomic(context, request, &checked);
	/* partner: collect_answer() */
	atomic_store_explicit(&request->state, BCL_RMA_DONE,
			      memory_order_release);
}

static bool serve_all(struct bcl_connection *c)
{
	struct bcl_context *context = bcl_shm_context(c->shm);
	unsigned i;

	if (!bcl_segment_reserve(bcl_shm_env(c->shm), &c->segment,
				 BCL_SEGMENT_RMA, !c->side))
		return false;
	pthread_mutex_lock(&context->memory_lock);
	for (i = 0; i < BCL_RMA_REQUESTS; i++)
		serve_request(c, i);
	pthread_mutex_unlock(&context->memory_lock);
	return true;
}

bool bcl_rma_serve(struct bcl_connection *c)
{
	if (!serve_all(c))
		return false;
	bcl_pair_kick(&c->pair);
	return true;
}

void bcl_rma_serve_from_helper(struct bcl_connection *c)
{
	bcl_count(bcl_shm_context(c->shm)->counters, shm_rma_by_helper);
	if (serve_all(c))
		bcl_connection_wake(c);
}

/* ---- the requester ---- */

static struct bcl_rma_request *request_of(const struct bcl_connection *c,
					  unsigned i)
{
	return &c->segment.head->rma[c->side][i];
}

static void post_request(struct bcl_connection *c, unsigned index,
			 struct bcl_access *access)
{
	struct bcl_remotes *r = c->remotes;
	struct bcl_rma_request *request = request_of(c, index);
	uint64_t left = access->length - access->asked;
	uint32_t n = left < BCL_RMA_DATA ? (uint32_t)left : BCL_RMA_DATA;

	r->request[index].access = access;
	r->request[index].at = access->asked;
	r->request[index].length = n;
	request->op = access->op;
	request->handle = access->handle;
	request->length = n;
	request->offset = access->offset + access->asked;
	request->operand[0] = access->operand[0];
	request->operand[1] = access->operand[1];
	if (access->op == BCL_RMA_PUT && n)
		memcpy(data_of(c, c->side, index),
		       access->buffer + access->asked, n);
	access->asked += n;
	atomic_store_explicit(&request->state, BCL_RMA_PENDING,
			      memory_order_release);
	bcl_bell_ring(c, BCL_BELL_RMA);
}

static void post_all(struct bcl_connection *c, uint64_t now)
{
	struct bcl_remotes *r = c->remotes;
	unsigned index = 0, i;

	for (i = 0; i < BCL_ACCESSES; i++) {
		struct bcl_access *access = &r->access[i];

		if (!access->op)
			continue;
		/* at least one request, even if there is nothing to copy */
		while (access->asked < access->length ||
		       (!access->length && !access->begun)) {
			while (index < BCL_RMA_REQUESTS &&
			       r->request[index].access)
				index++;
			if (index == BCL_RMA_REQUESTS)
				return;
			access->begun = true;
			post_request(c, index, access);
			r->poke_at = now + POKE_AFTER;
		}
	}
}

enum bcl_status bcl_rma_begin(struct bcl_connection *c,
			      const struct bcl_access *access)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);
	struct bcl_remotes *r = bcl_remotes_use(c);
	unsigned i;

	if (!r || !bcl_segment_reserve(bcl_shm_env(c->shm), &c->segment,
				       BCL_SEGMENT_RMA, c->side))
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

static void complete_access(struct bcl_connection *c, struct bcl_access *access)
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

static void collect_answer(struct bcl_connection *c, unsigned index)
{
	struct bcl_remotes *r = c->remotes;
	struct bcl_access *access = r->request[index].access;
	struct bcl_rma_request *request = request_of(c, index);
	uint32_t n = r->request[index].length;
	uint32_t status;

	/* partner: serve_request() */
	if (atomic_load_explicit(&request->state, memory_order_acquire) !=
	    BCL_RMA_DONE)
		return;
	status = request->status;
	if (status)
		access->status = status > UINT8_MAX ? BCL_ERR_MEMORY : status;
	else if (access->op == BCL_RMA_GET)
		memcpy(access->buffer + r->request[index].at,
		       data_of(c, c->side, index), n);
	else if (access->op != BCL_RMA_PUT)
		memcpy(access->buffer, &request->result,
		       sizeof(request->result));
	r->request[index].access = NULL;
	atomic_store_explicit(&request->state, BCL_RMA_FREE,
			      memory_order_relaxed);
	access->done += n;
	if (access->done < access->length)
		return;
	if (!access->notify) {
		complete_access(c, access);
		return;
	}
	access->finished = true;
}

/* Notify the peer of puts that have finished. Returns true if a notification
 * waits for room in the ring. */
static bool notify_puts(struct bcl_connection *c)
{
	struct bcl_remotes *r = c->remotes;
	unsigned i;

	for (i = 0; i < BCL_ACCESSES; i++) {
		struct bcl_access *access = &r->access[i];

		if (!access->op || !access->finished)
			continue;
		if (!access->status && bcl_notify_send(c, access))
			return true;
		bcl_connection_block(c, false);
		complete_access(c, access);
	}
	return false;
}

/* The owner's thread does not answer: tell its helper. Returns false if that is
 * impossible just now. */
static bool poke_helper(struct bcl_connection *c, uint64_t now)
{
	struct bcl_greeting packet = bcl_greeting_make(c, BCL_GREETING_RMA);

	if (pthread_mutex_trylock(&c->shm->lock))
		return false;
	if (c->socket >= 0)
		bcl_greeting_send(c, &packet, NULL, 0);
	pthread_mutex_unlock(&c->shm->lock);
	c->remotes->poke_at = now + POKE_AGAIN;
	return true;
}

bool bcl_rma_progress(struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);
	struct bcl_remotes *r = c->remotes;
	uint64_t now;
	unsigned i;

	if (!r || !r->accesses)
		return false;
	now = env->now(env->world);
	for (i = 0; i < BCL_RMA_REQUESTS; i++)
		if (r->request[i].access)
			collect_answer(c, i);
	notify_puts(c);
	post_all(c, now);
	if (r->accesses && now > r->poke_at)
		poke_helper(c, now);
	return r->accesses;
}

bool bcl_rma_audit(struct bcl_connection *c)
{
	struct bcl_remotes *r = c->remotes;
	unsigned i;

	for (i = 0; r && i < BCL_RMA_REQUESTS; i++) {
		uint32_t state;

		if (!r->request[i].access)
			continue;
		state = atomic_load_explicit(&request_of(c, i)->state,
					     memory_order_relaxed);
		if (state != BCL_RMA_PENDING && state != BCL_RMA_DONE)
			return false;
	}
	return true;
}

bool bcl_rma_sleep(struct bcl_connection *c)
{
	return c->remotes && c->remotes->accesses && !poke_helper(c, 0);
}

bool bcl_rma_ready(struct bcl_connection *c)
{
	struct bcl_remotes *r = c->remotes;
	unsigned i;

	for (i = 0; r && i < BCL_RMA_REQUESTS; i++)
		if (r->request[i].access &&
		    atomic_load_explicit(&request_of(c, i)->state,
					 memory_order_acquire) == BCL_RMA_DONE)
			return true;
	return false;
}

void bcl_rma_end(struct bcl_connection *c, enum bcl_status status)
{
	struct bcl_remotes *r = c->remotes;
	unsigned i;

	for (i = 0; r && i < BCL_ACCESSES; i++) {
		if (!r->access[i].op)
			continue;
		r->access[i].status = (uint8_t)status;
		if (status)
			complete_access(c, &r->access[i]);
	}
}
