/* SPDX-License-Identifier: MIT */
/* Requests end: test and wait. */
#include "adi/engine.h"

/* Report a request that is done, and free it. */
static enum bcl_status finish(struct bcl_adi *adi,
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

static void nothing(struct bcl_adi_status *status)
{
	if (status)
		*status = (struct bcl_adi_status){ .source = BCL_ANY_SOURCE,
						   .tag = BCL_ANY_TAG };
}

/* The same, if there is a request. */
static inline enum bcl_status collect(struct bcl_adi *adi,
				      struct bcl_adi_request **request,
				      struct bcl_adi_status *status)
{
	if (*request)
		return finish(adi, request, status);
	nothing(status);
	return BCL_OK;
}

enum bcl_status bcl_adi_test(struct bcl_adi *adi,
			     struct bcl_adi_request **request,
			     struct bcl_adi_status *status)
{
	enum bcl_status result = BCL_ERR_AGAIN;

	if (!*request) {
		nothing(status);
		return BCL_OK;
	}
	bcl_adi_enter(adi);
	if ((*request)->state != BCL_REQUEST_DONE)
		bcl_adi_turn(adi);
	if ((*request)->state == BCL_REQUEST_DONE)
		result = finish(adi, request, status);
	else if (adi->broken)
		result = adi->broken;
	bcl_adi_leave(adi);
	return result;
}

enum bcl_status bcl_adi_wait(struct bcl_adi *adi,
			     struct bcl_adi_request **request,
			     struct bcl_adi_status *status)
{
	enum bcl_status result = BCL_OK;

	bcl_adi_enter(adi);
	if (*request)
		result = bcl_adi_wait_done(adi, *request);
	if (bcl_likely(!result))
		result = collect(adi, request, status);
	bcl_adi_leave(adi);
	return result;
}

enum bcl_status bcl_adi_waitall(struct bcl_adi *adi,
				struct bcl_adi_request **requests, unsigned n,
				struct bcl_adi_status *statuses)
{
	enum bcl_status result = BCL_OK, broken = BCL_OK, status;
	unsigned i;

	bcl_adi_enter(adi);
	for (i = 0; i < n; i++) {
		if (requests[i] && requests[i]->state != BCL_REQUEST_DONE) {
			if (!broken)
				broken = bcl_adi_wait_for(adi, requests[i],
							  n - i);
			/* the others, if the job is broken */
			if (bcl_unlikely(broken))
				continue;
		}
		status = collect(adi, &requests[i],
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

	while (i < n && !requests[i])
		i++;
	if (i == n)
		return BCL_ERR_EMPTY;
	bcl_adi_enter(adi);
	result = bcl_adi_wait_any(adi, requests, n, &i);
	if (!result) {
		*index = i;
		result = finish(adi, &requests[i], status);
	}
	bcl_adi_leave(adi);
	return result;
}
