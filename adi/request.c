/* SPDX-License-Identifier: MIT */
/*
 * Requests of a job: slabs that stay until the job is closed, names by which
 * peers refer to a request, and the consequences of a completion. See
 * request.h.
 */
#include <string.h>

#include "adi/request.h"
#include "adi/schedule.h"

enum {
	SLAB = 16, /* requests */
};

struct bcl_request_slab {
	struct bcl_adi_request requests[SLAB];
};

/* Makes room for one more slab in the directory. Returns false if there is no
 * memory. */
static bool directory_grow(struct bcl_adi *adi)
{
	const struct bcl_env *env = adi->env;
	uint32_t old = adi->slabs_size, size = old ? 2 * old : 64;
	struct bcl_request_slab **slabs;

	if (adi->nslabs < old)
		return true;
	slabs = env->allocate(env->world, size * sizeof(*slabs));
	if (!slabs)
		return false;
	if (old) {
		memcpy(slabs, adi->slabs, old * sizeof(*slabs));
		env->release(env->world, adi->slabs, old * sizeof(*slabs));
	}
	adi->slabs = slabs;
	adi->slabs_size = size;
	return true;
}

bool bcl_requests_grow(struct bcl_adi *adi)
{
	const struct bcl_env *env = adi->env;
	struct bcl_request_slab *slab;
	struct bcl_adi_request *request;
	unsigned i;

	if (!directory_grow(adi))
		return false;
	slab = env->allocate(env->world, sizeof(*slab));
	if (!slab)
		return false;
	for (i = 0; i < SLAB; i++) {
		request = &slab->requests[SLAB - 1 - i];
		request->state = BCL_REQUEST_FREE;
		request->index = adi->nslabs * SLAB + SLAB - 1 - i;
		request->next = adi->free;
		adi->free = request;
	}
	adi->slabs[adi->nslabs++] = slab;
	return true;
}

const struct bcl_adi_request bcl_request_sent = { .state = BCL_REQUEST_DONE };

uint64_t bcl_request_id(const struct bcl_adi_request *request)
{
	/* never 0 */
	return (uint64_t)request->generation << 32 | (request->index + 1);
}

static struct bcl_adi_request *request_at(struct bcl_adi *adi, uint32_t index)
{
	return &adi->slabs[index / SLAB]->requests[index % SLAB];
}

static bool is_started(const struct bcl_adi_request *request)
{
	return request->state != BCL_REQUEST_NEW &&
	       request->state != BCL_REQUEST_FREE;
}

struct bcl_adi_request *bcl_request_find(struct bcl_adi *adi, uint64_t id)
{
	uint32_t index = (uint32_t)id - 1;
	struct bcl_adi_request *request;

	if (index / SLAB >= adi->nslabs)
		return NULL;
	request = request_at(adi, index);
	return request->generation == id >> 32 && is_started(request) ? request
								      : NULL;
}

void bcl_requests_each(struct bcl_adi *adi,
		       void (*call)(struct bcl_adi *adi,
				    struct bcl_adi_request *request, void *arg),
		       void *arg)
{
	struct bcl_adi_request *request;
	uint32_t i;

	for (i = 0; i < adi->nslabs * SLAB; i++) {
		request = request_at(adi, i);
		if (is_started(request))
			call(adi, request, arg);
	}
}

enum bcl_status bcl_request_set_iov(struct bcl_adi *adi,
				    struct bcl_adi_request *request,
				    const struct iovec *iov, unsigned niov)
{
	size_t size = niov * sizeof(*iov);

	request->copy = bcl_pool_get(&adi->pool, size);
	if (!request->copy)
		return BCL_ERR_NOMEM;
	request->copy_size = size;
	request->end |= BCL_END_COPY;
	request->iov = request->copy;
	request->niov = (uint16_t)niov;
	memcpy(request->iov, iov, size);
	return BCL_OK;
}

void bcl_request_end(struct bcl_adi *adi, struct bcl_adi_request *request)
{
	unsigned end = request->end;

	request->end = 0;
	if (end & BCL_END_COPY)
		bcl_pool_put(&adi->pool, request->copy, request->copy_size);
	if (end & BCL_END_WAKE)
		adi->wake = true;
	if (end & BCL_END_EXACT)
		bcl_adi_schedule_check(adi, request);
	if (end & BCL_END_SCHEDULE)
		bcl_adi_schedule_message(adi, request);
	if (end & BCL_END_PACKET)
		adi->packet_ops.complete(adi->packet_arg, request->cookie,
					 request->status.status);
	if (end & BCL_END_FREE)
		bcl_request_free(adi, request);
}

void bcl_requests_close(struct bcl_adi *adi)
{
	const struct bcl_env *env = adi->env;
	uint32_t i;

	for (i = 0; i < adi->nslabs; i++)
		env->release(env->world, adi->slabs[i], sizeof(*adi->slabs[i]));
	if (adi->slabs)
		env->release(env->world, adi->slabs,
			     adi->slabs_size * sizeof(*adi->slabs));
}
