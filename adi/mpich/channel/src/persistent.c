/* SPDX-License-Identifier: MIT */
/*
 * Persistent operations over teams. The program's request is of MPICH's kind.
 * In place of a schedule of MPICH the request has an operation of pending.c.
 * As in MPICH a second request, of the run, hangs on the program's request from
 * the start of a run to the end of the wait. The second request is made only
 * once, too. See collective.h.
 */
#include "collective.h"

static enum bcl_status start(struct bcl_ch3_pending *pending)
{
	return bcl_persistent_start(pending->operation, &pending->call);
}

struct bcl_ch3_pending *bcl_ch3_persistent_new(MPIR_Comm *comm,
					       enum bcl_ch3_operation operation,
					       int suits)
{
	struct bcl_ch3_pending *pending;
	struct bcl_ch3_own *own;

	if (comm->revoked || !bcl_ch3_wants(operation) || !suits ||
	    !bcl_ch3_may_have_team(comm))
		return NULL;
	own = bcl_ch3_lease(comm);
	if (!own)
		return NULL;
	pending = bcl_ch3_pending_new(comm, start);
	MPIR_Assert(pending); /* all members count on this rank */
	pending->own = own;
	return pending;
}

/* Sets what MPICH reads of each persistent request and leaves as it was:
 * whether a request that never started is complete, and the rank, without which
 * MPICH does not start a request (MPI_PROC_NULL). */
static void make_inactive(MPIR_Request *handle)
{
	MPIR_cc_set(&handle->cc, 0);
	handle->dev.match.parts.rank = 0;
}

int bcl_ch3_persistent_stock(int mpi_errno, MPIR_Request *const *request)
{
	if (!mpi_errno)
		make_inactive(*request);
	return mpi_errno;
}

static MPIR_Request *new_request(MPIR_Request_kind_t kind, MPIR_Comm *comm)
{
	MPIR_Request *request = MPIR_Request_create(kind);

	MPIR_Assert(request);
	request->comm = comm;
	MPIR_Comm_add_ref(comm);
	return request;
}

static MPIR_Request *new_handle(struct bcl_ch3_pending *pending)
{
	MPIR_Request *handle =
		new_request(MPIR_REQUEST_KIND__PREQUEST_COLL, pending->comm);

	make_inactive(handle);
	MPIDI_Request_set_type(handle, MPIDI_REQUEST_TYPE_PERSISTENT_COLL);
	handle->u.persist_coll.real_request = NULL;
	handle->u.persist_coll.sched_type = MPIR_SCHED_INVALID;
	handle->u.persist_coll.sched = pending;
	return handle;
}

/* NULL: the operation is MPICH's. */
static struct bcl_ch3_pending *of(const MPIR_Request *handle)
{
	return handle->u.persist_coll.sched_type == MPIR_SCHED_INVALID
		       ? handle->u.persist_coll.sched
		       : NULL;
}

static int has_copies(const struct bcl_ch3_exchange *exchange)
{
	return exchange->sides.out.packed || exchange->sides.in.packed ||
	       exchange->outs.copy || exchange->ins.copy;
}

/* Each run packs the data to send anew. */
static void hold(struct bcl_ch3_pending *pending)
{
	struct bcl_ch3_exchange *exchange = &pending->exchange;

	bcl_ch3_pending_hold(pending);
	if (exchange->sides.out.packed)
		MPIR_Datatype_add_ref_if_not_builtin(exchange->sides.out.type);
	if (exchange->outs.copy)
		bcl_ch3_blocks_hold(&exchange->outs);
}

static void drop(struct bcl_ch3_pending *pending)
{
	struct bcl_ch3_exchange *exchange = &pending->exchange;

	bcl_persistent_free(pending->operation);
	if (exchange->sides.out.packed)
		MPIR_Datatype_release_if_not_builtin(exchange->sides.out.type);
	bcl_ch3_pending_release(pending);
	bcl_ch3_exchange_finish(exchange,
				MPI_ERR_REQUEST); /* does not unpack */
	bcl_ch3_lease_end(pending->own);
	MPIR_Request_free(pending->request);
	MPL_free(pending);
}

/* Other ranks may start the operation. They hear that the team is lost. */
static int refuse(struct bcl_ch3_pending *pending, int mpi_errno)
{
	bcl_team_cancel(pending->own->team);
	pending->own->kept = TRUE;
	bcl_ch3_exchange_finish(&pending->exchange, mpi_errno);
	MPL_free(pending);
	return mpi_errno;
}

int bcl_ch3_persistent_make(
	struct bcl_ch3_pending *pending,
	enum bcl_status (*make)(struct bcl_ch3_pending *pending), int mpi_errno,
	MPIR_Request **request)
{
	if (!mpi_errno)
		mpi_errno = bcl_ch3_result(make(pending));
	if (mpi_errno)
		return refuse(pending, mpi_errno);
	pending->request = new_request(MPIR_REQUEST_KIND__COLL, pending->comm);
	pending->copies = has_copies(&pending->exchange);
	hold(pending);
	*request = new_handle(pending);
	return MPI_SUCCESS;
}

/* ---- calls from MPICH ---- */

/* The wait reports an error of the start, to the communicator's handler. */
int bcl_ch3_persistent_start(MPIR_Request *handle)
{
	struct bcl_ch3_pending *pending = of(handle);
	MPIR_Request *run;

	if (!pending)
		return (MPIR_Persist_coll_start)(handle);
	run = bcl_ch3_pending_restart(pending);
	handle->u.persist_coll.real_request = run;
	handle->cc_ptr = &run->cc;
	return MPI_SUCCESS;
}

void bcl_ch3_persistent_over(struct bcl_ch3_pending *pending)
{
	pending->running = FALSE;
	if (pending->freed)
		drop(pending);
}

void bcl_ch3_persistent_free(MPIR_Request *handle)
{
	struct bcl_ch3_pending *pending = of(handle);

	if (!pending) {
		(MPIR_Persist_coll_free_cb)(handle);
		return;
	}
	if (handle->u.persist_coll.real_request)
		MPIR_Request_free(handle->u.persist_coll.real_request);
	if (pending->running)
		pending->freed = TRUE;
	else
		drop(pending);
}

int bcl_ch3_request_error(MPIR_Request *request)
{
	const MPIR_Request *run = request->u.persist_coll.real_request;

	if (request->kind != MPIR_REQUEST_KIND__PREQUEST_COLL)
		return (MPIR_Request_get_error)(request);
	return run ? run->status.MPI_ERROR : request->status.MPI_ERROR;
}
