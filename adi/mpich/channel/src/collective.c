/* SPDX-License-Identifier: MIT */
/*
 * Collective operations over a team (bcl_ch3_coll.h). A rank that describes its
 * data as not contiguous packs the data. To the other ranks the data is bytes.
 */
#include "channel.h"

/* ---- waiting ---- */

/*
 * Returns true if MPICH has operations under way. Only MPICH's progress engine
 * moves these. Other ranks may wait for them before entering the library's
 * operation.
 */
static int is_busy(void)
{
	return MPIDU_Sched_are_pending() || MPII_TSP_scheds_are_pending() ||
	       MPIDI_RMA_Win_active_list_head;
}

/* The communicator of the library's operation under way, or NULL. */
static MPIR_Comm *within;

static int leave_collective(int mpi_errno)
{
	within = NULL;
	return mpi_errno;
}

/* Cancels the operation under way if its communicator is revoked now: some
 * ranks will not take part, and the rest would wait for ever. All communicators
 * of a group share the team. */
int bcl_ch3_revoked(MPIDI_VC_t *vc, MPIDI_CH3_Pkt_t *packet, void *data,
		    intptr_t *length, MPIR_Request **request)
{
	int mpi_errno =
		MPIDI_CH3_PktHandler_Revoke(vc, packet, data, length, request);

	if (within && within->revoked)
		bcl_team_cancel(within->dev.ch.team);
	return mpi_errno;
}

/* The error for ranks that call an operation differently. No process has
 * failed. */
static int differ(int errclass, enum bcl_status status)
{
	return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__,
				    __LINE__, errclass, "**ch3|bcl|differ",
				    "**ch3|bcl|differ %s",
				    bcl_strstatus(status));
}

static int result(enum bcl_status status)
{
	switch (status) {
	case BCL_OK:
		return MPI_SUCCESS;
	case BCL_ERR_TRUNCATED:
		return differ(MPI_ERR_TRUNCATE, status);
	case BCL_ERR_ARG:
		return differ(MPI_ERR_ARG, status);
	case BCL_ERR_CANCELLED:
		return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE,
					    __func__, __LINE__,
					    MPIX_ERR_REVOKED, "**revoked", 0);
	default:
		return bcl_ch3_error(status);
	}
}

/* Progresses an operation to its end, even if a hook fails: the operation uses
 * memory of the caller until then. */
static int finish_operation(enum bcl_status status,
			    struct bcl_adi_request **request)
{
	int moved, error, mpi_errno = MPI_SUCCESS;

	while (!status && *request) {
		moved = 0;
		error = MPIR_Progress_hook_exec_all(&moved);
		if (!mpi_errno)
			mpi_errno = error;
		status = bcl_adi_test(bcl_ch3_adi, request, NULL);
		if (status == BCL_ERR_AGAIN) {
			status = BCL_OK;
			if (!moved)
				MPL_sched_yield();
		}
	}
	return mpi_errno ? mpi_errno : result(status);
}

/* Runs the library's operation of this name to its end. */
#define RUN(name, ...)                                                        \
	(within = comm,                                                       \
	 leave_collective(is_busy()                                           \
				  ? finish_operation(bcl_i##name(__VA_ARGS__, \
								 &request),   \
						     &request)                \
				  : result(bcl_##name(__VA_ARGS__))))

/* ---- data as bytes --------------------------------------------------------
 */

/* Elements of the program, and their place as contiguous bytes. */
struct data {
	void *buffer;
	MPI_Aint count;
	MPI_Datatype type;
	size_t length;
	void *bytes;  /* in the buffer, or a copy; or BCL_IN_PLACE */
	void *packed; /* the copy */
};

/* Describes elements. `bytes` is NULL as long as elements that are not
 * contiguous have no copy. */
static struct data describe(const void *buffer, MPI_Aint count,
			    MPI_Datatype type)
{
	struct data data = { (void *)buffer, count, type, 0, NULL, NULL };
	MPIR_Datatype *described;
	MPI_Aint true_lb;
	int contiguous;

	if (buffer == MPI_IN_PLACE) {
		data.bytes = BCL_IN_PLACE;
		return data;
	}
	MPIDI_Datatype_get_info(count, type, contiguous, data.length, described,
				true_lb);
	(void)described;
	if (contiguous)
		data.bytes = MPIR_get_contig_ptr(buffer, true_lb);
	return data;
}

static int make_room(struct data *data)
{
	if (data->bytes || !data->length)
		return MPI_SUCCESS;
	data->bytes = data->packed = MPL_malloc(data->length, MPL_MEM_BUFFER);
	return data->packed ? MPI_SUCCESS : bcl_ch3_error(BCL_ERR_NOMEM);
}

static int pack_data(struct data *data)
{
	int mpi_errno = make_room(data);
	MPI_Aint packed;

	if (!mpi_errno && data->packed)
		mpi_errno = MPIR_Typerep_pack(data->buffer, data->count,
					      data->type, 0, data->packed,
					      (MPI_Aint)data->length, &packed);
	return mpi_errno;
}

static void free_copy(struct data *data)
{
	MPL_free(data->packed);
	data->packed = NULL;
}

/* Unpacks received bytes to the program's elements, and frees the copy. */
static int unpack(struct data *data, int mpi_errno)
{
	MPI_Aint unpacked;

	if (!mpi_errno && data->packed)
		mpi_errno = MPIR_Typerep_unpack(
			data->packed, (MPI_Aint)data->length, data->buffer,
			data->count, data->type, 0, &unpacked);
	free_copy(data);
	return mpi_errno;
}

/* Prepares both sides before an operation. In place, the receive buffer has the
 * data to send and is packed. */
static int prepare(struct data *send, struct data *receive)
{
	int mpi_errno;

	if (send->bytes == BCL_IN_PLACE)
		return pack_data(receive);
	mpi_errno = pack_data(send);
	return mpi_errno ? mpi_errno : make_room(receive);
}

/* ---- operations ------------------------------------------------------------
 */

int bcl_ch3_barrier(MPIR_Comm *comm)
{
	struct bcl_adi_request *request;

	return RUN(barrier, comm->dev.ch.team);
}

/*
 * Head of a broadcast: the length of the message and its first bytes, which
 * together fill a short broadcast. A rank that expects another length learns so
 * from the head and does not wait for ever. A longer message follows the head
 * inside a node. Between nodes a longer message goes alone, without a head: the
 * head would cost a trip, and the team compares lengths.
 */
struct head {
	uint64_t length;
	char first[48];
};

static int bcast_all(MPIR_Comm *comm, void *bytes, size_t length, int root)
{
	struct bcl_adi_request *request;

	return RUN(broadcast, comm->dev.ch.team, bytes, length, (unsigned)root);
}

/* The length of the message is not as expected: receives and drops the
 * message. */
static int bcast_differs(MPIR_Comm *comm, size_t length, size_t expected,
			 int root)
{
	int mpi_errno = MPIR_Err_create_code(
		MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__,
		MPI_ERR_TRUNCATE, "**collective_size_mismatch",
		"**collective_size_mismatch %d %d", (int)length, (int)expected);
	void *bytes;

	if (length <= sizeof(((struct head *)0)->first))
		return mpi_errno;
	bytes = MPL_malloc(length, MPL_MEM_BUFFER);
	if (bytes)
		mpi_errno = MPIR_Err_combine_codes(
			bcast_all(comm, bytes, length, root), mpi_errno);
	MPL_free(bytes);
	return mpi_errno;
}

static int bcast_bytes(MPIR_Comm *comm, struct data *data, int root)
{
	struct head head = { .length = data->length };
	int is_long = data->length > sizeof(head.first), mpi_errno;

	if (is_long && !bcl_ch3_are_here(comm))
		return bcast_all(comm, data->bytes, data->length, root);
	if (comm->rank == root && !is_long)
		memcpy(head.first, data->bytes, data->length);
	mpi_errno = bcast_all(comm, &head, sizeof(head), root);
	if (mpi_errno)
		return mpi_errno;
	if (head.length != data->length)
		return bcast_differs(comm, head.length, data->length, root);
	if (is_long)
		return bcast_all(comm, data->bytes, data->length, root);
	if (comm->rank != root)
		memcpy(data->bytes, head.first, data->length);
	return MPI_SUCCESS;
}

int bcl_ch3_bcast(void *buffer, MPI_Aint count, MPI_Datatype type, int root,
		  MPIR_Comm *comm)
{
	struct data data = describe(buffer, count, type);
	int mpi_errno;

	if (!data.length)
		return MPI_SUCCESS;
	mpi_errno = comm->rank == root ? pack_data(&data) : make_room(&data);
	if (!mpi_errno)
		mpi_errno = bcast_bytes(comm, &data, root);
	if (comm->rank != root)
		return unpack(&data, mpi_errno);
	free_copy(&data);
	return mpi_errno;
}

/* ---- reductions ------------------------------------------------------------
 */

/* -1: the library lacks the operator. */
static enum bcl_op op_of(MPI_Op op)
{
	switch (op) {
	case MPI_SUM:
		return BCL_SUM;
	case MPI_PROD:
		return BCL_PROD;
	case MPI_MIN:
		return BCL_MIN;
	case MPI_MAX:
		return BCL_MAX;
	case MPI_BAND:
		return BCL_BAND;
	case MPI_BOR:
		return BCL_BOR;
	case MPI_BXOR:
		return BCL_BXOR;
	case MPI_LAND:
		return BCL_LAND;
	case MPI_LOR:
		return BCL_LOR;
	case MPI_LXOR:
		return BCL_LXOR;
	}
	return (enum bcl_op)-1;
}

/* -1: the library lacks the type. */
static enum bcl_type type_of(MPI_Datatype type)
{
	switch (type) {
	case MPI_INT:
	case MPI_INT32_T:
		return BCL_INT32;
	case MPI_UNSIGNED:
	case MPI_UINT32_T:
		return BCL_UINT32;
	case MPI_LONG:
	case MPI_LONG_LONG:
	case MPI_INT64_T:
		return BCL_INT64;
	case MPI_UNSIGNED_LONG:
	case MPI_UNSIGNED_LONG_LONG:
	case MPI_UINT64_T:
		return BCL_UINT64;
	case MPI_FLOAT:
		return BCL_FLOAT;
	case MPI_DOUBLE:
		return BCL_DOUBLE;
	}
	return (enum bcl_type)-1;
}

_Static_assert(sizeof(long) == 8, "MPI_LONG has 64 bits");

/* An operator of MPICH and the type of its operands. */
struct operation {
	MPIR_op_function *function;
	MPI_Datatype type;
};

static void apply(const void *in, void *inout, size_t count, void *arg)
{
	struct operation *operation = arg;
	MPI_Aint n = (MPI_Aint)count;

	operation->function((void *)in, inout, &n, &operation->type);
}

/* The library's reduction for an operator and type of MPI. `own` and
 * `operation` have room for a reduction that the library lacks. */
static const struct bcl_reduction *reduction_of(MPI_Op op, MPI_Datatype type,
						struct bcl_reduction *own,
						struct operation *operation)
{
	const struct bcl_reduction *known =
		bcl_reduction(op_of(op), type_of(type));

	if (known)
		return known;
	*operation = (struct operation){ MPIR_OP_HDL_TO_FN(op), type };
	*own = (struct bcl_reduction){
		.element = (size_t)MPIR_Datatype_get_basic_size(type),
		.commutative = TRUE,
		.apply = apply,
		.arg = operation,
	};
	return own;
}

int bcl_ch3_reduce(const void *send, void *receive, MPI_Aint count,
		   MPI_Datatype type, MPI_Op op, int root, MPIR_Comm *comm)
{
	struct bcl_adi_request *request;
	struct bcl_reduction own;
	struct operation operation;

	return RUN(reduce, comm->dev.ch.team,
		   send == MPI_IN_PLACE ? BCL_IN_PLACE : send, receive,
		   (size_t)count, reduction_of(op, type, &own, &operation),
		   (unsigned)root);
}

/* An operation of the library that reduces vectors of all ranks. */
#define REDUCTION(mpi_name, name)                                            \
	int bcl_ch3_##mpi_name(const void *send, void *receive,              \
			       MPI_Aint count, MPI_Datatype type, MPI_Op op, \
			       MPIR_Comm *comm)                              \
	{                                                                    \
		struct bcl_adi_request *request;                             \
		struct bcl_reduction own;                                    \
		struct operation operation;                                  \
                                                                             \
		return RUN(name, comm->dev.ch.team,                          \
			   send == MPI_IN_PLACE ? BCL_IN_PLACE : send,       \
			   receive, (size_t)count,                           \
			   reduction_of(op, type, &own, &operation));        \
	}

REDUCTION(allreduce, allreduce)
REDUCTION(reduce_scatter_block, reduce_scatter)
REDUCTION(scan, scan)
REDUCTION(exscan, exscan)

/* ---- blocks ----------------------------------------------------------------
 */

int bcl_ch3_gather(const void *send, MPI_Aint send_count,
		   MPI_Datatype send_type, void *receive,
		   MPI_Aint receive_count, MPI_Datatype receive_type, int root,
		   MPIR_Comm *comm)
{
	struct data out = describe(send, send_count, send_type), in = { 0 };
	size_t length = out.length;
	struct bcl_adi_request *request;
	int mpi_errno;

	if (comm->rank == root) {
		in = describe(receive, receive_count * comm->local_size,
			      receive_type);
		length = in.length / (size_t)comm->local_size;
	}
	mpi_errno = prepare(&out, &in);
	if (!mpi_errno)
		mpi_errno = RUN(gather, comm->dev.ch.team, out.bytes, length,
				in.bytes, (unsigned)root);
	free_copy(&out);
	return unpack(&in, mpi_errno);
}

int bcl_ch3_scatter(const void *send, MPI_Aint send_count,
		    MPI_Datatype send_type, void *receive,
		    MPI_Aint receive_count, MPI_Datatype receive_type, int root,
		    MPIR_Comm *comm)
{
	struct data in = describe(receive, receive_count, receive_type);
	struct data out = { 0 };
	size_t length = in.length;
	struct bcl_adi_request *request;
	int mpi_errno;

	if (comm->rank == root) {
		out = describe(send, send_count * comm->local_size, send_type);
		length = out.length / (size_t)comm->local_size;
	}
	mpi_errno = prepare(&out, &in);
	if (!mpi_errno)
		mpi_errno = RUN(scatter, comm->dev.ch.team, out.bytes, in.bytes,
				length, (unsigned)root);
	free_copy(&out);
	return unpack(&in, mpi_errno);
}

int bcl_ch3_allgather(const void *send, MPI_Aint send_count,
		      MPI_Datatype send_type, void *receive,
		      MPI_Aint receive_count, MPI_Datatype receive_type,
		      MPIR_Comm *comm)
{
	struct data in = describe(receive, receive_count * comm->local_size,
				  receive_type);
	struct data out = describe(send, send_count, send_type);
	struct bcl_adi_request *request;
	int mpi_errno;

	mpi_errno = prepare(&out, &in);
	if (!mpi_errno)
		mpi_errno = RUN(allgather, comm->dev.ch.team, out.bytes,
				in.length / (size_t)comm->local_size, in.bytes);
	free_copy(&out);
	return unpack(&in, mpi_errno);
}

int bcl_ch3_alltoall(const void *send, MPI_Aint send_count,
		     MPI_Datatype send_type, void *receive,
		     MPI_Aint receive_count, MPI_Datatype receive_type,
		     MPIR_Comm *comm)
{
	struct data in = describe(receive, receive_count * comm->local_size,
				  receive_type);
	struct data out =
		describe(send, send_count * comm->local_size, send_type);
	struct bcl_adi_request *request;
	int mpi_errno;

	mpi_errno = prepare(&out, &in);
	if (!mpi_errno)
		mpi_errno = RUN(alltoall, comm->dev.ch.team, out.bytes,
				in.bytes, in.length / (size_t)comm->local_size);
	free_copy(&out);
	return unpack(&in, mpi_errno);
}

/* ---- blocks of different lengths ------------------------------------------
 */

/* One block per rank, as bytes. */
struct blocks {
	const MPI_Aint *counts, *displacements; /* given by the program, in
						 * elements */
	MPI_Datatype type;
	char *buffer;
	MPI_Aint extent;
	size_t *lengths, *offsets; /* in bytes */
	char *bytes, *packed;
};

static int describe_blocks(struct blocks *blocks, const MPIR_Comm *comm)
{
	size_t element, total = 0, n = (size_t)comm->local_size, i;
	MPI_Aint least = 0, true_lb;
	MPIR_Datatype *described;
	int contiguous, any = FALSE;

	MPIDI_Datatype_get_info(1, blocks->type, contiguous, element, described,
				true_lb);
	(void)described;
	MPIR_Datatype_get_extent_macro(blocks->type, blocks->extent);
	blocks->lengths =
		MPL_malloc(2 * n * sizeof(*blocks->lengths), MPL_MEM_BUFFER);
	if (!blocks->lengths)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	blocks->offsets = blocks->lengths + n;
	/* The buffer may be MPI_BOTTOM: only displacements tell where blocks
	 * are. */
	for (i = 0; i < n; i++)
		if (blocks->counts[i] &&
		    (!any || blocks->displacements[i] < least)) {
			least = blocks->displacements[i];
			any = TRUE;
		}
	for (i = 0; i < n; i++) {
		blocks->lengths[i] = (size_t)blocks->counts[i] * element;
		blocks->offsets[i] = total;
		if (contiguous)
			blocks->offsets[i] =
				blocks->counts[i]
					? (size_t)((blocks->displacements[i] -
						    least) *
						   blocks->extent)
					: 0;
		total += blocks->lengths[i];
	}
	blocks->bytes = blocks->buffer + true_lb + least * blocks->extent;
	if (contiguous)
		return MPI_SUCCESS;
	blocks->bytes = blocks->packed = MPL_malloc(total + 1, MPL_MEM_BUFFER);
	return blocks->packed ? MPI_SUCCESS : bcl_ch3_error(BCL_ERR_NOMEM);
}

static void *block_of(const struct blocks *blocks, int rank)
{
	return blocks->buffer + blocks->displacements[rank] * blocks->extent;
}

static int pack_blocks(struct blocks *blocks, const MPIR_Comm *comm)
{
	int i, mpi_errno = MPI_SUCCESS;
	MPI_Aint packed;

	for (i = 0; blocks->packed && !mpi_errno && i < comm->local_size; i++)
		mpi_errno = MPIR_Typerep_pack(
			block_of(blocks, i), blocks->counts[i], blocks->type, 0,
			blocks->packed + blocks->offsets[i],
			(MPI_Aint)blocks->lengths[i], &packed);
	return mpi_errno;
}

static int unpack_blocks(struct blocks *blocks, const MPIR_Comm *comm)
{
	int i, mpi_errno = MPI_SUCCESS;
	MPI_Aint unpacked;

	for (i = 0; blocks->packed && !mpi_errno && i < comm->local_size; i++)
		mpi_errno = MPIR_Typerep_unpack(
			blocks->packed + blocks->offsets[i],
			(MPI_Aint)blocks->lengths[i], block_of(blocks, i),
			blocks->counts[i], blocks->type, 0, &unpacked);
	return mpi_errno;
}

static void free_blocks(struct blocks *blocks)
{
	MPL_free(blocks->lengths);
	MPL_free(blocks->packed);
}

int bcl_ch3_alltoallv(const void *send, const MPI_Aint *send_counts,
		      const MPI_Aint *send_displacements,
		      MPI_Datatype send_type, void *receive,
		      const MPI_Aint *receive_counts,
		      const MPI_Aint *receive_displacements,
		      MPI_Datatype receive_type, MPIR_Comm *comm)
{
	int in_place = send == MPI_IN_PLACE, mpi_errno;
	struct blocks in = { receive_counts, receive_displacements,
			     receive_type, receive };
	struct blocks out = { send_counts, send_displacements, send_type,
			      (char *)send };
	struct bcl_adi_request *request;

	mpi_errno = describe_blocks(&in, comm);
	if (!mpi_errno && !in_place)
		mpi_errno = describe_blocks(&out, comm);
	if (!mpi_errno)
		mpi_errno = pack_blocks(in_place ? &in : &out, comm);
	if (!mpi_errno)
		mpi_errno =
			RUN(alltoallv, comm->dev.ch.team,
			    in_place ? BCL_IN_PLACE : out.bytes, out.lengths,
			    out.offsets, in.bytes, in.lengths, in.offsets);
	if (!mpi_errno)
		mpi_errno = unpack_blocks(&in, comm);
	free_blocks(&in);
	free_blocks(&out);
	return mpi_errno;
}

/* Prepares an operation that gathers blocks. `gets`: this rank gets them. */
static int prepare_gather(struct data *out, struct blocks *in, int gets,
			  const MPIR_Comm *comm)
{
	int mpi_errno = MPI_SUCCESS;

	if (gets)
		mpi_errno = describe_blocks(in, comm);
	if (mpi_errno)
		return mpi_errno;
	return out->bytes == BCL_IN_PLACE ? pack_blocks(in, comm)
					  : pack_data(out);
}

int bcl_ch3_gatherv(const void *send, MPI_Aint send_count,
		    MPI_Datatype send_type, void *receive,
		    const MPI_Aint *receive_counts,
		    const MPI_Aint *receive_displacements,
		    MPI_Datatype receive_type, int root, MPIR_Comm *comm)
{
	struct data out = describe(send, send_count, send_type);
	struct blocks in = { receive_counts, receive_displacements,
			     receive_type, receive };
	int gets = comm->rank == root;
	int mpi_errno = prepare_gather(&out, &in, gets, comm);
	struct bcl_adi_request *request;

	if (!mpi_errno)
		mpi_errno =
			RUN(gatherv, comm->dev.ch.team, out.bytes, out.length,
			    in.bytes, in.lengths, in.offsets, (unsigned)root);
	if (!mpi_errno && gets)
		mpi_errno = unpack_blocks(&in, comm);
	free_copy(&out);
	free_blocks(&in);
	return mpi_errno;
}

int bcl_ch3_scatterv(const void *send, const MPI_Aint *send_counts,
		     const MPI_Aint *send_displacements, MPI_Datatype send_type,
		     void *receive, MPI_Aint receive_count,
		     MPI_Datatype receive_type, int root, MPIR_Comm *comm)
{
	struct data in = describe(receive, receive_count, receive_type);
	struct blocks out = { send_counts, send_displacements, send_type,
			      (char *)send };
	int mpi_errno = make_room(&in);
	struct bcl_adi_request *request;

	if (!mpi_errno && comm->rank == root)
		mpi_errno = describe_blocks(&out, comm);
	if (!mpi_errno)
		mpi_errno = pack_blocks(&out, comm);
	if (!mpi_errno)
		mpi_errno =
			RUN(scatterv, comm->dev.ch.team, out.bytes, out.lengths,
			    out.offsets, in.bytes, in.length, (unsigned)root);
	free_blocks(&out);
	return unpack(&in, mpi_errno);
}

int bcl_ch3_allgatherv(const void *send, MPI_Aint send_count,
		       MPI_Datatype send_type, void *receive,
		       const MPI_Aint *receive_counts,
		       const MPI_Aint *receive_displacements,
		       MPI_Datatype receive_type, MPIR_Comm *comm)
{
	struct data out = describe(send, send_count, send_type);
	struct blocks in = { receive_counts, receive_displacements,
			     receive_type, receive };
	int mpi_errno = prepare_gather(&out, &in, TRUE, comm);
	struct bcl_adi_request *request;

	if (!mpi_errno)
		mpi_errno = RUN(allgatherv, comm->dev.ch.team, out.bytes,
				out.length, in.bytes, in.lengths, in.offsets);
	if (!mpi_errno)
		mpi_errno = unpack_blocks(&in, comm);
	free_copy(&out);
	free_blocks(&in);
	return mpi_errno;
}
