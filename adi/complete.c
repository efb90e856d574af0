/* SPDX-License-Identifier: MIT */
/* Test and wait: the calls that report the end of requests to the caller. */
#include "adi/job.h"
#include "adi/progress.h"
#include "adi/request.h"

/* Reports a request that is done, and frees the request. */
static enum bcl_status finish_request(struct bcl_adi *adi,
				      struct bcl_adi_request **request,
				      struct bcl_adi_status *status)
{
	enum bcl_status result = (*request)->status.status;

	if (status)
		*status = (*request)->status;
	bcl_request_free(adi, *request);
	*request = NULL;
	return result;
}

static void empty_status(struct bcl_adi_status *status)
{
	if (status)
		*status = (struct bcl_adi_status){ .source = BCL_ANY_SOURCE,
						   .tag = BCL_ANY_TAG };
}

/* The same, but *request may be NULL. */
static inline enum bcl_status collect_request(struct bcl_adi *adi,
					      struct bcl_adi_request **request,
					      struct bcl_adi_status *status)
{
	if (*request)
		return finish_request(adi, request, status);
	empty_status(status);
	return BCL_OK;
}

bool bcl_adi_done(struct bcl_adi *adi, const struct bcl_adi_request *request)
{
	bool done;

	if (!adi || !request || bcl_adi_enter(adi))
		return false;
	done = request->state == BCL_REQUEST_DONE;
	bcl_adi_leave(adi);
	return done;
}

enum bcl_status bcl_adi_test(struct bcl_adi *adi,
			     struct bcl_adi_request **request,
			     struct bcl_adi_status *status)
{
	enum bcl_status result;

	if (!adi || !request)
		return BCL_ERR_ARG;
	result = bcl_adi_enter(adi);
	if (bcl_unlikely(result))
		return result;
	if (*request && (*request)->state != BCL_REQUEST_DONE)
		bcl_adi_turn(adi);
	if (!*request || (*request)->state == BCL_REQUEST_DONE)
		result = collect_request(adi, request, status);
	else
		result = adi->broken ? adi->broken : BCL_ERR_AGAIN;
	bcl_adi_leave(adi);
	return result;
}

enum bcl_status bcl_adi_wait(struct bcl_adi *adi,
			     struct bcl_adi_request **request,
			     struct bcl_adi_status *status)
{
	enum bcl_status result;

	if (bcl_unlikely(!adi || !request))
		return BCL_ERR_ARG;
	result = bcl_adi_enter(adi);
	if (bcl_unlikely(result))
		return result;
	if (*request)
		result = bcl_adi_wait_done(adi, *request);
	if (bcl_likely(!result))
		result = collect_request(adi, request, status);
	bcl_adi_leave(adi);
	return result;
}

enum bcl_status bcl_adi_waitall(struct bcl_adi *adi,
				struct bcl_adi_request **requests, unsigned n,
				struct bcl_adi_status *statuses)
{
	enum bcl_status result, broken = BCL_OK, status;
	unsigned i;

	if (bcl_unlikely(!adi || (n && !requests)))
		return BCL_ERR_ARG;
	result = bcl_adi_enter(adi);
	if (bcl_unlikely(result))
		return result;
	for (i = 0; i < n; i++) {
		if (requests[i] && requests[i]->state != BCL_REQUEST_DONE) {
			if (!broken)
				broken = bcl_adi_wait_for(adi, requests[i],
							  n - i);
			/* the job is broken: reports only the requests that are
			 * done */
			if (bcl_unlikely(broken))
				continue;
		}
		status = collect_request(adi, &requests[i],
					 statuses ? &statuses[i] : NULL);
		if (bcl_unlikely(status) && !result)
			result = status;
	}
	bcl_adi_leave(adi);
	return broken ? broken : result;
}

enum bcl_status bcl_adi_waitany(struct bcl_adi *adi,
				struct bcl_adi_request **requests, unsigned n,
				unsigned *index, struct bcl_adi_status *status)
{
	enum bcl_status result;
	unsigned i = 0;

	if (!adi || (n && !requests) || !index)
		return BCL_ERR_ARG;
	result = bcl_adi_enter(adi);
	if (result)
		return result;
	while (i < n && !requests[i])
		i++;
	if (i == n)
		result = BCL_ERR_EMPTY;
	else
		result = bcl_adi_wait_any(adi, requests, n, &i);
	if (!result) {
		*index = i;
		result = finish_request(adi, &requests[i], status);
	}
	bcl_adi_leave(adi);
	return result;
}
