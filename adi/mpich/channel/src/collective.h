/* SPDX-License-Identifier: MIT */
/*
 * Collective operations over a team. To the library all data is bytes: data.c
 * and blocks.c describe a rank's buffers as bytes, exchange.c prepares both
 * buffers of an operation, and reduction.c gives the library an operator of
 * MPI. collective.c runs the blocking operations. nonblocking.c and
 * neighbours.c start the others, which pending.c completes. inits.c and
 * neighbours.c make persistent operations, which persistent.c starts and frees;
 * lease.c has their teams.
 */
#ifndef BCL_CH3_COLLECTIVE_H
#define BCL_CH3_COLLECTIVE_H

#include "channel.h"

/* ---- parameters of MPI's functions that exchange blocks ---- */

#define BCL_CH3_BLOCKS                                                 \
	const void *send, MPI_Aint send_count, MPI_Datatype send_type, \
		void *receive, MPI_Aint receive_count,                 \
		MPI_Datatype receive_type
#define BCL_CH3_BLOCK_TO_BLOCKS                                        \
	const void *send, MPI_Aint send_count, MPI_Datatype send_type, \
		void *receive, const MPI_Aint *receive_counts,         \
		const MPI_Aint *receive_displacements,                 \
		MPI_Datatype receive_type
#define BCL_CH3_BLOCKS_TO_BLOCKS                                            \
	const void *send, const MPI_Aint *send_counts,                      \
		const MPI_Aint *send_displacements, MPI_Datatype send_type, \
		void *receive, const MPI_Aint *receive_counts,              \
		const MPI_Aint *receive_displacements,                      \
		MPI_Datatype receive_type
#define BCL_CH3_TYPES_TO_TYPES                                 \
	const void *send, const MPI_Aint *send_counts,         \
		const MPI_Aint *send_displacements,            \
		const MPI_Datatype *send_types, void *receive, \
		const MPI_Aint *receive_counts,                \
		const MPI_Aint *receive_displacements,         \
		const MPI_Datatype *receive_types

/* ---- data.c: elements of the program as contiguous bytes ---- */

/* A rank that describes its data as not contiguous packs the data. */
struct bcl_ch3_data {
	void *buffer;
	MPI_Aint count;
	MPI_Datatype type;
	size_t length;
	void *bytes;  /* in the buffer, or a copy; or BCL_IN_PLACE */
	void *packed; /* the copy, or NULL */
};

/* Describes elements. `bytes` is NULL as long as elements that are not
 * contiguous have no copy. */
struct bcl_ch3_data bcl_ch3_data(const void *buffer, MPI_Aint count,
				 MPI_Datatype type);
/* Makes the copy if one is needed; with the elements in it, or empty. */
int bcl_ch3_data_pack(struct bcl_ch3_data *data);
int bcl_ch3_data_make_room(struct bcl_ch3_data *data);
/* Unpacks the copy to the program's elements, if there is one. */
int bcl_ch3_data_unpack(const struct bcl_ch3_data *data);
void bcl_ch3_data_free(struct bcl_ch3_data *data);
/* The operation is over, or was not started: unpacks the copy unless
 * `mpi_errno` is an error, and frees it. Returns the first error. */
int bcl_ch3_data_finish(struct bcl_ch3_data *data, int mpi_errno);

/* ---- blocks.c: a list of blocks of different lengths ---- */

/* Blocks as MPI describes them. Displacements count extents of the type; or
 * bytes, if each block has a type of its own. */
struct bcl_ch3_list {
	const void *buffer;
	int n;
	const MPI_Aint *counts, *displacements;
	MPI_Datatype type;
	const MPI_Datatype *types; /* NULL: all have `type` */
};

enum {
	BCL_CH3_FEW = 16, /* blocks that need no allocation */
};

struct bcl_ch3_blocks {
	int n;
	size_t *lengths, *offsets; /* of bytes */
	char *bytes; /* in the buffer, or in the copy; or BCL_IN_PLACE */
	struct bcl_ch3_copy *copy;   /* of blocks with gaps, or NULL */
	size_t few[2 * BCL_CH3_FEW]; /* lengths and offsets of few blocks */
};

/* Sets a list to no blocks, at these bytes. */
static inline void bcl_ch3_blocks_clear(struct bcl_ch3_blocks *blocks,
					char *bytes)
{
	blocks->n = 0;
	blocks->lengths = blocks->offsets = blocks->few;
	blocks->bytes = bytes;
	blocks->copy = NULL;
}

/* Describes the blocks of a list, and makes an empty copy if one is needed.
 * Keeps no reference to the arrays of the list. After an error
 * bcl_ch3_blocks_free() is still due. */
int bcl_ch3_blocks(struct bcl_ch3_blocks *blocks,
		   const struct bcl_ch3_list *list);
/* The program may free the types; bcl_ch3_blocks_free() lets go of them. */
void bcl_ch3_blocks_hold(struct bcl_ch3_blocks *blocks);
int bcl_ch3_blocks_pack(struct bcl_ch3_blocks *blocks);
int bcl_ch3_blocks_unpack(const struct bcl_ch3_blocks *blocks);
/* Frees what was allocated: of a list of zeroes, nothing. */
void bcl_ch3_blocks_free(struct bcl_ch3_blocks *blocks);
/* As bcl_ch3_data_finish(). */
int bcl_ch3_blocks_finish(struct bcl_ch3_blocks *blocks, int mpi_errno);

/* ---- exchange.c: both sides of an operation ---- */

/* Where all blocks have the same length. */
struct bcl_ch3_sides {
	struct bcl_ch3_data out, in;
	size_t length; /* bytes of a block, or of a message */
};

/* Any operation; each needs a part of this. */
struct bcl_ch3_exchange {
	struct bcl_ch3_sides sides; /* or one block against many */
	struct bcl_ch3_blocks outs, ins;
	size_t *counts; /* elements for each rank, of a reduction; or NULL */
	/* of an exchange with neighbours; lengths[] begins the memory */
	struct bcl_blocks to, from;
};

/*
 * Prepare an operation with these arguments of MPI, which then has the data to
 * send as bytes, and room for the data to receive. The caller has zeroed
 * *sides. finish() of sides, data and blocks is due, also after an error.
 */
int bcl_ch3_prepare_bcast(struct bcl_ch3_sides *sides, void *buffer,
			  MPI_Aint count, MPI_Datatype type, int root,
			  const MPIR_Comm *comm);
int bcl_ch3_prepare_gather(struct bcl_ch3_sides *sides, const void *send,
			   MPI_Aint send_count, MPI_Datatype send_type,
			   void *receive, MPI_Aint receive_count,
			   MPI_Datatype receive_type, int root,
			   const MPIR_Comm *comm);
int bcl_ch3_prepare_scatter(struct bcl_ch3_sides *sides, const void *send,
			    MPI_Aint send_count, MPI_Datatype send_type,
			    void *receive, MPI_Aint receive_count,
			    MPI_Datatype receive_type, int root,
			    const MPIR_Comm *comm);
int bcl_ch3_prepare_allgather(struct bcl_ch3_sides *sides, const void *send,
			      MPI_Aint send_count, MPI_Datatype send_type,
			      void *receive, MPI_Aint receive_count,
			      MPI_Datatype receive_type, const MPIR_Comm *comm);
int bcl_ch3_prepare_alltoall(struct bcl_ch3_sides *sides, const void *send,
			     MPI_Aint send_count, MPI_Datatype send_type,
			     void *receive, MPI_Aint receive_count,
			     MPI_Datatype receive_type, const MPIR_Comm *comm);
int bcl_ch3_prepare_alltoallv(struct bcl_ch3_blocks *outs,
			      struct bcl_ch3_blocks *ins, const void *send,
			      const MPI_Aint *send_counts,
			      const MPI_Aint *send_displacements,
			      MPI_Datatype send_type, void *receive,
			      const MPI_Aint *receive_counts,
			      const MPI_Aint *receive_displacements,
			      MPI_Datatype receive_type, const MPIR_Comm *comm);
int bcl_ch3_prepare_alltoallw(struct bcl_ch3_blocks *outs,
			      struct bcl_ch3_blocks *ins, const void *send,
			      const MPI_Aint *send_counts,
			      const MPI_Aint *send_displacements,
			      const MPI_Datatype *send_types, void *receive,
			      const MPI_Aint *receive_counts,
			      const MPI_Aint *receive_displacements,
			      const MPI_Datatype *receive_types,
			      const MPIR_Comm *comm);
/* Any exchange of blocks. `out` may have the buffer MPI_IN_PLACE. */
int bcl_ch3_prepare_lists(struct bcl_ch3_blocks *outs,
			  struct bcl_ch3_blocks *ins,
			  const struct bcl_ch3_list *out,
			  const struct bcl_ch3_list *in);
/* Gatherv, and allgatherv with any `root` that is the own rank. Only the root
 * has all blocks. */
int bcl_ch3_prepare_gatherv(struct bcl_ch3_data *own,
			    struct bcl_ch3_blocks *all, const void *send,
			    MPI_Aint send_count, MPI_Datatype send_type,
			    void *receive, const MPI_Aint *receive_counts,
			    const MPI_Aint *receive_displacements,
			    MPI_Datatype receive_type, int root,
			    const MPIR_Comm *comm);
int bcl_ch3_prepare_scatterv(struct bcl_ch3_data *own,
			     struct bcl_ch3_blocks *all, const void *send,
			     const MPI_Aint *send_counts,
			     const MPI_Aint *send_displacements,
			     MPI_Datatype send_type, void *receive,
			     MPI_Aint receive_count, MPI_Datatype receive_type,
			     int root, const MPIR_Comm *comm);
/* Copies the counts of a reduction that scatters its result.
 * bcl_ch3_exchange_finish() is due, also after an error. */
int bcl_ch3_exchange_count(struct bcl_ch3_exchange *exchange,
			   const MPI_Aint *counts, const MPIR_Comm *comm);
/*
 * For an operation that runs many times.
 *  pack()  packs once more what is sent
 *  unpack()  unpacks what was received, unless `mpi_errno` is an error; returns
 * the first error
 */
int bcl_ch3_exchange_pack(struct bcl_ch3_exchange *exchange);
int bcl_ch3_exchange_unpack(const struct bcl_ch3_exchange *exchange,
			    int mpi_errno);
/* As bcl_ch3_data_finish(), of what was received. They free all copies. */
int bcl_ch3_sides_finish(struct bcl_ch3_sides *sides, int mpi_errno);
int bcl_ch3_exchange_finish(struct bcl_ch3_exchange *exchange, int mpi_errno);

/* ---- reduction.c ---- */

/* Room for a reduction that the library lacks. */
struct bcl_ch3_reduction {
	struct bcl_reduction reduction;
	MPI_Op op;
	MPI_Datatype type;
};

/* The library's reduction for an operator and a type that bcl_ch3_reduces()
 * accepts; valid as long as *room. */
const struct bcl_reduction *bcl_ch3_reduction(struct bcl_ch3_reduction *room,
					      MPI_Op op, MPI_Datatype type);

/* ---- collective.c ---- */

/* The error code of MPI for the end of a library's operation. */
int bcl_ch3_result(enum bcl_status status);

/* ---- wanted.c: bcl_ch3_wanted ---- */

/* Some process of the job has MPI_THREAD_MULTIPLE. Its threads may run
 * operations of different communicators in any order, so each communicator has
 * a team of its own, also for operations that block. */
extern int bcl_ch3_threads;

/* Called when MPI_COMM_WORLD is complete. Returns the operations that all
 * processes want. Collective. */
unsigned bcl_ch3_wanted_open(void);
void bcl_ch3_wanted_close(void);

/* ---- team.c: the own team of a communicator ---- */

/* Combines the values of all processes of a communicator by MPICH's own
 * operation. Collective. Returns false after an error. */
int bcl_ch3_combine(MPIR_Comm *comm, int *value, MPI_Op op);
/* The same for true and false: true if `yes` is true at all. Collective. */
int bcl_ch3_all_agree(MPIR_Comm *comm, int yes);

/* Returns true if there may be a team of the communicator's group: the same at
 * all its processes. */
int bcl_ch3_may_have_team(const MPIR_Comm *comm);
/* The ranks of a communicator's processes in the job; the caller frees them. */
unsigned *bcl_ch3_ranks(const MPIR_Comm *comm);
/* The team of the job, or NULL. */
struct bcl_team *bcl_ch3_world(void);

/* The number in a context id. MPICH gives no two communicators of a process the
 * same number at a time. */
static inline unsigned bcl_ch3_number(MPIR_Context_id_t id)
{
	return MPIR_CONTEXT_READ_FIELD(PREFIX, id);
}

enum {
	BCL_CH3_OWN_IDS = 2047, /* ids of bcl_team_derive() */
};

/* For operations that do not block (bcl_ch3_icoll.h). */
struct bcl_ch3_own {
	struct bcl_team *team;
	MPIR_Comm *comm;
	struct bcl_ch3_own *next, **link; /* of all */

	/* pending.c */
	unsigned waiting; /* operations that have not started */
	unsigned refused; /* the round in which one was refused */
	int kept;	  /* the communicator stays for ever */
};

/* NULL: the operation is MPICH's. The first call makes this rank's part of the
 * team. */
struct bcl_ch3_own *bcl_ch3_own(MPIR_Comm *comm,
				enum bcl_ch3_operation operation);

/* ---- pending.c: operations that do not block ---- */

struct bcl_ch3_pending {
	struct bcl_ch3_pending *next;
	struct bcl_ch3_own *own;
	MPIR_Comm *comm;
	/* Calls the library with the arguments below, and sets `call`. AGAIN:
	 * too many operations of the communicator are pending. */
	enum bcl_status (*start)(struct bcl_ch3_pending *pending);
	int started;
	struct bcl_adi_request *call;
	MPIR_Request *request; /* the program's */
	MPI_Datatype type;     /* held, or MPI_DATATYPE_NULL */
	MPI_Op op;	       /* held, or MPI_OP_NULL */

	struct bcl_ch3_exchange exchange;
	unsigned root;
	/* of a reduction: `length` counts elements */
	struct bcl_ch3_reduction room;
	const struct bcl_reduction *reduction;

	/* of a persistent operation (persistent.c), which stays when a run is
	 * over, with its `request` */
	struct bcl_persistent *operation; /* NULL: not persistent */
	int copies;			  /* data is packed, or unpacked */
	int running;
	int freed; /* by the program, in the middle of a run */
};

/* A zeroed operation of a communicator that has a team of its own. NULL: no
 * memory. */
struct bcl_ch3_pending *
bcl_ch3_pending_new(MPIR_Comm *comm,
		    enum bcl_status (*start)(struct bcl_ch3_pending *));
/* Starts a prepared operation and takes it over. `mpi_errno`: of preparing; an
 * error is returned, and nothing starts. `pending` NULL: no memory. */
int bcl_ch3_pending_submit(struct bcl_ch3_pending *pending, int mpi_errno,
			   MPIR_Request **request);
/* Starts a run of a persistent operation. The result tells when the run is
 * over, and tells an error, also of starting: the operation's request, or one
 * of MPICH's that is always complete. */
MPIR_Request *bcl_ch3_pending_restart(struct bcl_ch3_pending *pending);
/* The program may free the type and the operator that the operation needs from
 * now on. release(): the operation does not need them any more. */
void bcl_ch3_pending_hold(struct bcl_ch3_pending *pending);
void bcl_ch3_pending_release(struct bcl_ch3_pending *pending);
/* Waits until an operation is over. Returns its error. `mpi_errno`: of starting
 * it; after an error there is no request. */
int bcl_ch3_await(int mpi_errno, MPIR_Request **request);
/*
 * Of an operation that blocks, over the communicator's own team. Other threads
 * call MPI meanwhile.
 *  enter()  returns when an operation may start. `refused`: the library has
 * just refused it, because too many are pending. After an error of the progress
 * engine no operation starts. leave()  waits until the operation, which the
 * library has started with this status, is over; returns its error
 */
int bcl_ch3_pending_enter(const MPIR_Comm *comm, int refused);
int bcl_ch3_pending_leave(MPIR_Comm *comm, enum bcl_status status,
			  struct bcl_adi_request *call);

/* ---- persistent.c: operations that run many times ---- */

/* A zeroed operation with a team of its own, if all ranks make this operation
 * over teams. `suits`: of the arguments, alike at all ranks. NULL: the
 * operation is MPICH's, at all ranks. Collective. */
struct bcl_ch3_pending *bcl_ch3_persistent_new(MPIR_Comm *comm,
					       enum bcl_ch3_operation operation,
					       int suits);
/* Makes the library's operation of a prepared one, with make(), and the
 * program's request. `mpi_errno`: of preparing. After an error there is no
 * operation. */
int bcl_ch3_persistent_make(
	struct bcl_ch3_pending *pending,
	enum bcl_status (*make)(struct bcl_ch3_pending *pending), int mpi_errno,
	MPIR_Request **request);
/* MPICH's operation was made, with this error. */
int bcl_ch3_persistent_stock(int mpi_errno, MPIR_Request *const *request);
/* A run is over. */
void bcl_ch3_persistent_over(struct bcl_ch3_pending *pending);

/* ---- lease.c: teams for persistent operations ---- */

/* Lends a team that nobody else uses, so that ranks may start operations in
 * different orders. NULL: there is none, at all ranks. Collective. */
struct bcl_ch3_own *bcl_ch3_lease(MPIR_Comm *comm);
/* The rank does not use the team any more. */
void bcl_ch3_lease_end(struct bcl_ch3_own *own);
/* All processes are here. */
void bcl_ch3_leases_close(void);

#endif
