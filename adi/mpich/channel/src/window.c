/* SPDX-License-Identifier: MIT */
/*
 * Windows. The ranks of a node share the memory that MPI allocates for a
 * window. Inside the node ch3 loads and stores there, and accumulates under the
 * lock of the segment. To other nodes ch3 sends packets, which stay in order.
 *
 * The first rank of the node allocates the segment from the library; the others
 * map the segment. The lock has a page of its own. The parts of the ranks
 * follow, in order of ranks.
 */
#include <pthread.h>

#include "channel.h"

enum {
	PAGE = 4096,
};

struct bcl_ch3_segment {
	char *address;
	struct bcl_memory *memory; /* at the first rank */
	struct bcl_peer *peer;	   /* at the others: the first rank */
	unsigned char key[BCL_KEY_MAX];
};

/* Message of the first rank to the ranks that map the segment. */
struct invitation {
	int ready;
	unsigned char key[BCL_KEY_MAX];
};

/* ---- the lock ---- */

static pthread_mutex_t *lock_of(MPIR_Win *win)
{
	return (pthread_mutex_t *)win->segment->address;
}

static int make_lock(void *at)
{
	pthread_mutexattr_t attributes;
	int error;

	error = pthread_mutexattr_init(&attributes);
	if (error)
		return error;
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	error = pthread_mutex_init(at, &attributes);
	pthread_mutexattr_destroy(&attributes);
	return error;
}

void bcl_ch3_window_lock(MPIR_Win *win)
{
	int error = pthread_mutex_lock(lock_of(win));

	/* an accumulate of the dead owner may be done in part */
	if (error == EOWNERDEAD)
		error = pthread_mutex_consistent(lock_of(win));
	MPIR_Assert(!error);
}

void bcl_ch3_window_unlock(MPIR_Win *win)
{
	pthread_mutex_unlock(lock_of(win));
}

/* ---- the segment ---- */

static size_t round_up(size_t size)
{
	return (size + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* End of a part of this size, where the next part begins. */
static size_t part_end(const MPIR_Win *win, size_t at, MPI_Aint size)
{
	int contiguous = win->create_flavor == MPI_WIN_FLAVOR_SHARED &&
			 !win->info_args.alloc_shared_noncontig;

	return at + (contiguous ? (size_t)size : round_up((size_t)size));
}

/* Allocates the segment, at the first rank. */
static void allocate(struct bcl_ch3_segment *segment, size_t length,
		     struct invitation *invitation)
{
	if (bcl_memory_allocate(bcl_adi_context(bcl_ch3_adi), length, 0,
				&segment->memory))
		return;
	segment->address = bcl_memory_address(segment->memory);
	bcl_memory_key(segment->memory, invitation->key);
	invitation->ready = !make_lock(segment->address);
}

/* Waits until the path to the peer is decided. */
static int await_path(struct bcl_peer *peer)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	int mpi_errno = MPI_SUCCESS;

	for (;;) {
		bcl_peer_info(peer, &info);
		if (mpi_errno || info.state != BCL_PEER_CONNECTING)
			return mpi_errno;
		mpi_errno = MPIDI_CH3_Progress_poke();
		MPID_THREAD_CS_YIELD(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
	}
}

/* Maps the segment, at the other ranks. */
static int map(struct bcl_ch3_segment *segment, MPIR_Comm *node,
	       const struct invitation *invitation)
{
	struct bcl_peer *peer;
	MPIDI_VC_t *vc;
	void *address;
	int mpi_errno;

	MPIDI_Comm_get_vc(node, 0, &vc);
	if (bcl_adi_peer(bcl_ch3_adi, (unsigned)vc->pg_rank, &peer))
		return MPI_SUCCESS;
	mpi_errno = await_path(peer);
	if (mpi_errno || bcl_memory_map(peer, invitation->key, &address))
		return mpi_errno;
	segment->address = address;
	segment->peer = peer;
	memcpy(segment->key, invitation->key, BCL_KEY_MAX);
	return MPI_SUCCESS;
}

static void leave_segment(struct bcl_ch3_segment *segment)
{
	if (!segment)
		return;
	if (segment->peer)
		bcl_memory_unmap(segment->peer, segment->key);
	bcl_memory_release(segment->memory);
	MPL_free(segment);
}

/* Called by all ranks of the node. *joined: all of them have the segment. */
static int join_segment(struct bcl_ch3_segment *segment, MPIR_Comm *node,
			size_t length, int *joined)
{
	MPIR_Errflag_t errflag = MPIR_ERR_NONE;
	struct invitation invitation = { 0 };
	int mine, mpi_errno;

	if (!node->rank)
		allocate(segment, length, &invitation);
	mpi_errno = MPIR_Bcast(&invitation, sizeof(invitation), MPI_BYTE, 0,
			       node, &errflag);
	if (!mpi_errno && node->rank && invitation.ready)
		mpi_errno = map(segment, node, &invitation);
	if (mpi_errno)
		return mpi_errno;
	mine = invitation.ready && segment->address;
	return MPIR_Allreduce(&mine, joined, 1, MPI_INT, MPI_LAND, node,
			      &errflag);
}

static int gather_sizes(MPIR_Comm *node, MPI_Aint mine, MPI_Aint *sizes)
{
	MPIR_Errflag_t errflag = MPIR_ERR_NONE;

	sizes[node->rank] = mine;
	return MPIR_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, sizes, 1,
			      MPI_AINT, node, &errflag);
}

static size_t length_of(const MPIR_Win *win, const MPI_Aint *sizes, int n)
{
	size_t end = PAGE;
	int i;

	for (i = 0; i < n; i++)
		end = part_end(win, end, sizes[i]);
	return end;
}

static void adopt(MPIR_Win *win, struct bcl_ch3_segment *segment,
		  const MPI_Aint *sizes, void **bases)
{
	const MPIR_Comm *node = win->comm_ptr->node_comm;
	size_t at = PAGE;
	int i;

	for (i = 0; i < node->local_size; i++) {
		bases[i] = sizes[i] ? segment->address + at : NULL;
		at = part_end(win, at, sizes[i]);
	}
	win->base = bases[node->rank];
	win->shm_base_addrs = bases;
	win->shm_allocated = TRUE;
	win->segment = segment;
}

/* Called by all ranks of the node. Either the node has one segment, or each
 * rank allocates its own memory. */
static int share_segment(MPIR_Win *win, MPI_Aint size)
{
	MPIR_Comm *node = win->comm_ptr->node_comm;
	size_t n = (size_t)node->local_size;
	MPI_Aint *sizes = MPL_malloc(n * sizeof(*sizes), MPL_MEM_RMA);
	void **bases = MPL_malloc(n * sizeof(*bases), MPL_MEM_RMA);
	struct bcl_ch3_segment *segment =
		MPL_calloc(1, sizeof(*segment), MPL_MEM_RMA);
	int joined = FALSE, mpi_errno;

	if (sizes && bases && segment)
		mpi_errno = gather_sizes(node, size, sizes);
	else
		mpi_errno = bcl_ch3_error(BCL_ERR_NOMEM);
	if (!mpi_errno)
		mpi_errno = join_segment(
			segment, node, length_of(win, sizes, node->local_size),
			&joined);
	if (!mpi_errno && joined) {
		adopt(win, segment, sizes, bases);
	} else {
		leave_segment(segment);
		MPL_free(bases);
	}
	MPL_free(sizes);
	return mpi_errno;
}

/* ---- what ch3 calls ---- */

static int cannot_share(void)
{
	return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__,
				    __LINE__, MPI_ERR_RMA_SHARED, "**rmashared",
				    0);
}

static int allocate_window(MPI_Aint size, int unit, MPIR_Info *info,
			   MPIR_Comm *comm, void *base, MPIR_Win **result)
{
	MPIR_Win *win = *result;
	const MPIR_Comm *all = win->comm_ptr, *node = all->node_comm;
	int must = win->create_flavor == MPI_WIN_FLAVOR_SHARED &&
		   all->local_size > 1;
	int mpi_errno = MPI_SUCCESS;

	if (must && (!node || node->local_size < all->local_size))
		return cannot_share();
	if (node)
		mpi_errno = share_segment(win, size);
	if (mpi_errno)
		return mpi_errno;
	if (!win->shm_allocated)
		return must ? cannot_share()
			    : MPIDI_CH3U_Win_allocate_no_shm(
				      size, unit, info, comm, base, result);
	*(void **)base = win->base;
	return MPIDI_CH3U_Win_gather_info(win->base, size, unit, info, comm,
					  result);
}

/* MPI_PROC_NULL asks for the lowest rank that has memory. */
static int query(MPIR_Win *win, int rank, MPI_Aint *size, int *unit, void *base)
{
	const MPIDI_Win_basic_info_t *info = win->basic_info_table;
	const MPIR_Comm *comm = win->comm_ptr;

	if (!win->shm_allocated)
		return MPIDI_CH3U_Win_shared_query(win, rank, size, unit, base);
	if (rank == MPI_PROC_NULL)
		for (rank = 0; rank < comm->local_size - 1; rank++)
			if (info[rank].size)
				break;
	*size = info[rank].size;
	*unit = info[rank].disp_unit;
	*(void **)base = win->shm_base_addrs[comm->intranode_table[rank]];
	return MPI_SUCCESS;
}

static int free_window(MPIR_Win **result)
{
	MPIR_Win *win = *result;

	if (win->shm_allocated) {
		MPL_free(win->shm_base_addrs);
		leave_segment(win->segment);
	}
	return MPI_SUCCESS;
}

int MPIDI_CH3_Win_fns_init(MPIDI_CH3U_Win_fns_t *functions)
{
	functions->allocate_shm = allocate_window;
	functions->shared_query = query;
	return MPI_SUCCESS;
}

int MPIDI_CH3_Win_hooks_init(MPIDI_CH3U_Win_hooks_t *hooks)
{
	hooks->win_free = free_window;
	return MPI_SUCCESS;
}

int MPIDI_CH3_Win_pkt_orderings_init(MPIDI_CH3U_Win_pkt_ordering_t *orderings)
{
	orderings->am_flush_ordered = 1;
	return MPI_SUCCESS;
}
