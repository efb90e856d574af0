/* SPDX-License-Identifier: MIT */
/*
 * Collective operations under way, of the kind that does not block. The
 * progress engine looks at all operations, in the order of the program's calls.
 * If the library refuses an operation, because the communicator has too many
 * pending, the operation and all later operations of the communicator wait here
 * and start in a later round. See collective.h.
 */
#include "collective.h"

enum {
	TURNS = 64, /* of an operation that blocks, without a request */
};

static struct bcl_ch3_pending *first, **last = &first;
static unsigned nwaiting; /* not started yet, of all communicators */
static unsigned round_no; /* of bcl_ch3_pending_progress(); never 0 */

struct bcl_ch3_pending *
bcl_ch3_pending_new(MPIR_Comm *comm,
		    enum bcl_status (*start)(struct bcl_ch3_pending *))
{
	struct bcl_ch3_pending *pending =
		MPL_calloc(1, sizeof(*pending), MPL_MEM_COMM);

	if (!pending)
		return NULL;
	pending->own = comm->dev.ch.own;
	pending->comm = comm;
	pending->start = start;
	pending->type = MPI_DATATYPE_NULL;
	pending->op = MPI_OP_NULL;
	return pending;
}

void bcl_ch3_pending_hold(struct bcl_ch3_pending *pending)
{
	struct bcl_ch3_exchange *exchange = &pending->exchange;

	if (exchange->sides.in.packed)
		pending->type = exchange->sides.in.type;
	if (exchange->ins.copy)
		bcl_ch3_blocks_hold(&exchange->ins);
	if (pending->reduction == &pending->room.reduction) {
		pending->type = pending->room.type;
		pending->op = pending->room.op;
		MPIR_Op_add_ref_if_not_builtin(pending->op);
	}
	if (pending->type != MPI_DATATYPE_NULL)
		MPIR_Datatype_add_ref_if_not_builtin(pending->type);
}

void bcl_ch3_pending_release(struct bcl_ch3_pending *pending)
{
	if (pending->op != MPI_OP_NULL)
		MPIR_Op_release_if_not_builtin(pending->op);
	if (pending->type != MPI_DATATYPE_NULL)
		MPIR_Datatype_release_if_not_builtin(pending->type);
}

/* Messages of a lost team may still arrive, so the communicator and its context
 * id stay for ever. */
static void keep_lost(struct bcl_ch3_own *own)
{
	if (own->kept)
		return;
	own->kept = TRUE;
	MPIR_Comm_add_ref(own->comm);
}

/* Ends an operation, or a run of one that is persistent. Returns its error. */
static int end(struct bcl_ch3_pending *pending, int mpi_errno)
{
	if (pending->operation)
		return pending->copies ? bcl_ch3_exchange_unpack(
						 &pending->exchange, mpi_errno)
				       : mpi_errno;
	mpi_errno = bcl_ch3_exchange_finish(&pending->exchange, mpi_errno);
	bcl_ch3_pending_release(pending);
	MPL_free(pending);
	return mpi_errno;
}

/* The progress engine looks at the operation from now on. */
static void append(struct bcl_ch3_pending *pending)
{
	if (!pending->started) {
		pending->own->waiting++;
		nwaiting++;
	}
	pending->next = NULL;
	*last = pending;
	last = &pending->next;
}

static void append_new(struct bcl_ch3_pending *pending)
{
	pending->request = MPIR_Request_create(MPIR_REQUEST_KIND__COLL);
	MPIR_Assert(pending->request); /* all members count on this rank */
	MPIR_Request_add_ref(pending->request);
	pending->request->comm = pending->comm;
	MPIR_Comm_add_ref(pending->comm);
	bcl_ch3_pending_hold(pending);
	append(pending);
}

static void complete(struct bcl_ch3_pending *pending, enum bcl_status status)
{
	MPIR_Request *request = pending->request;
	int persistent = pending->operation != NULL;

	if (status)
		keep_lost(pending->own);
	request->status.MPI_ERROR = end(pending, bcl_ch3_result(status));
	MPID_Request_complete(request);
	if (persistent)
		bcl_ch3_persistent_over(pending);
}

/* Starts an operation, unless it has to wait. */
static enum bcl_status try_to_start(struct bcl_ch3_pending *pending)
{
	struct bcl_ch3_own *own = pending->own;
	enum bcl_status status = BCL_ERR_AGAIN;

	if (own->refused != round_no)
		status = pending->start(pending);
	if (status == BCL_ERR_AGAIN)
		own->refused = round_no;
	return status;
}

int bcl_ch3_pending_submit(struct bcl_ch3_pending *pending, int mpi_errno,
			   MPIR_Request **request)
{
	enum bcl_status status = BCL_ERR_AGAIN;

	if (!pending)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	if (!mpi_errno && pending->comm->revoked)
		mpi_errno = bcl_ch3_result(BCL_ERR_CANCELLED);
	if (mpi_errno)
		return end(pending, mpi_errno);
	if (!pending->own->waiting)
		status = pending->start(pending);
	if (status && status != BCL_ERR_AGAIN) {
		keep_lost(pending->own);
		return end(pending, bcl_ch3_result(status));
	}
	pending->started = !status;
	if (pending->started && !pending->call) { /* nothing to do */
		*request =
			MPIR_Request_create_complete(MPIR_REQUEST_KIND__COLL);
		return end(pending, MPI_SUCCESS);
	}
	append_new(pending);
	*request = pending->request;
	return MPI_SUCCESS;
}

/* Returns the status of a run that is over at once, or AGAIN. */
static enum bcl_status start_run(struct bcl_ch3_pending *pending)
{
	enum bcl_status status;

	pending->call = NULL;
	status = bcl_persistent_start(pending->operation, &pending->call);
	pending->started = status != BCL_ERR_AGAIN;
	if (!status && pending->call)
		status = bcl_adi_done(bcl_ch3_adi, pending->call)
				 ? bcl_adi_test(bcl_ch3_adi, &pending->call,
						NULL)
				 : BCL_ERR_AGAIN;
	if (status && status != BCL_ERR_AGAIN)
		keep_lost(pending->own);
	return status;
}

MPIR_Request *bcl_ch3_pending_restart(struct bcl_ch3_pending *pending)
{
	MPIR_Request *request = pending->request;
	enum bcl_status status = BCL_ERR_CANCELLED;
	int mpi_errno = MPI_SUCCESS;

	if (pending->copies)
		mpi_errno = bcl_ch3_exchange_pack(&pending->exchange);
	if (!mpi_errno && !pending->comm->revoked)
		status = start_run(pending);
	if (status == BCL_OK && !pending->copies)
		return MPIR_Request_create_complete(MPIR_REQUEST_KIND__COLL);
	MPIR_Request_add_ref(request); /* the program's */
	if (status == BCL_ERR_AGAIN) {
		MPIR_Request_add_ref(request); /* until it is complete */
		MPIR_cc_set(&request->cc, 1);
		pending->running = TRUE;
		append(pending);
		return request;
	}
	if (!mpi_errno)
		mpi_errno = end(pending, bcl_ch3_result(status));
	request->status.MPI_ERROR = mpi_errno;
	MPIR_cc_set(&request->cc, 0);
	return request;
}

/* The operation uses memory of the caller until its end, also after an error of
 * the progress engine. */
int bcl_ch3_await(int mpi_errno, MPIR_Request **request)
{
	int error;

	if (mpi_errno)
		return mpi_errno;
	while (!MPIR_Request_is_complete(*request)) {
		error = MPID_Wait(*request, MPI_STATUS_IGNORE);
		if (!mpi_errno)
			mpi_errno = error;
	}
	if (!mpi_errno)
		mpi_errno = (*request)->status.MPI_ERROR;
	MPIR_Request_free(*request);
	return mpi_errno;
}

int bcl_ch3_pending_enter(const MPIR_Comm *comm, int refused)
{
	int mpi_errno = MPI_SUCCESS;

	while (!mpi_errno && (refused || comm->dev.ch.own->waiting)) {
		refused = FALSE;
		mpi_errno = MPID_Progress_test(NULL);
		MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
	}
	return mpi_errno;
}

/* A short operation is over after a few turns of the library's engine, and
 * needs no request. AGAIN: it is not over, or another thread runs the engine.
 */
static enum bcl_status finish_soon(struct bcl_adi_request **call)
{
	enum bcl_status status = BCL_ERR_AGAIN;
	int turns = TURNS;

	while (status == BCL_ERR_AGAIN && turns-- && !bcl_ch3_asleep)
		status = bcl_adi_test(bcl_ch3_adi, call, NULL);
	return status;
}

int bcl_ch3_pending_leave(MPIR_Comm *comm, enum bcl_status status,
			  struct bcl_adi_request *call)
{
	struct bcl_ch3_pending *pending;
	MPIR_Request *request;

	if (!status && call)
		status = finish_soon(&call);
	if (status && status != BCL_ERR_AGAIN)
		keep_lost(comm->dev.ch.own);
	if (status != BCL_ERR_AGAIN)
		return bcl_ch3_result(status);
	pending = bcl_ch3_pending_new(comm, NULL);
	MPIR_Assert(pending); /* the operation uses memory of the caller */
	pending->started = TRUE;
	pending->call = call;
	append_new(pending);
	request = pending->request;
	return bcl_ch3_await(MPI_SUCCESS, &request);
}

/* Returns the status of an operation that is over. AGAIN: it is not. */
static enum bcl_status advance(struct bcl_ch3_pending *pending)
{
	struct bcl_ch3_own *own = pending->own;
	enum bcl_status status;

	if (pending->comm->revoked)
		bcl_team_cancel(own->team);
	if (!pending->started) {
		status = try_to_start(pending);
		if (status == BCL_ERR_AGAIN)
			return status;
		pending->started = TRUE;
		own->waiting--;
		nwaiting--;
		if (status)
			return status;
	}
	if (pending->call && !bcl_adi_done(bcl_ch3_adi, pending->call))
		return BCL_ERR_AGAIN;
	return bcl_adi_test(bcl_ch3_adi, &pending->call, NULL);
}

int bcl_ch3_pending_progress(void)
{
	struct bcl_ch3_pending **link = &first, *pending;
	int over = FALSE;
	enum bcl_status status;

	if (!first)
		return FALSE;
	if (!++round_no)
		round_no = 1;
	while ((pending = *link)) {
		status = advance(pending);
		if (status == BCL_ERR_AGAIN) {
			link = &pending->next;
			continue;
		}
		*link = pending->next;
		if (!*link)
			last = link;
		complete(pending, status);
		over = TRUE;
	}
	return over;
}

int bcl_ch3_pending_waits(void)
{
	return nwaiting > 0;
}
