/* SPDX-License-Identifier: MIT */
/*
 * Nodes: finds out which ranks share memory. The launcher knows the hosts. A
 * host may be several nodes if the library says so (virtual nodes, which share
 * no memory).
 *
 * Each rank publishes the number of its node. The first rank on a host
 * publishes whether all numbers there are the same. So a reader asks the
 * process manager once per host, not once per rank.
 */
#include "channel.h"

enum {
	DIFFERENT = 0, /* number of a host that is several nodes */
	TEXT_MAX = 32,
};

static int put_number(const char *what, int which, uint64_t number)
{
	char key[TEXT_MAX], value[TEXT_MAX];

	snprintf(key, sizeof(key), "ch3-bcl-%s-%d", what, which);
	snprintf(value, sizeof(value), "%llx", (unsigned long long)number);
	return MPIR_pmi_kvs_put(key, value);
}

static int get_number(const char *what, int which, int rank, uint64_t *number)
{
	char key[TEXT_MAX], value[TEXT_MAX];
	int mpi_errno;

	snprintf(key, sizeof(key), "ch3-bcl-%s-%d", what, which);
	mpi_errno = MPIR_pmi_kvs_get(rank, key, value, sizeof(value));
	if (!mpi_errno)
		*number = strtoull(value, NULL, 16);
	return mpi_errno;
}

static int put_host(uint64_t mine)
{
	uint64_t common = mine, number;
	int i, mpi_errno;

	for (i = 0; i < MPIR_Process.local_size; i++) {
		int rank = MPIR_Process.node_local_map[i];

		mpi_errno = get_number("node", rank, rank, &number);
		if (mpi_errno)
			return mpi_errno;
		if (number != mine)
			common = DIFFERENT;
	}
	return put_number("host", MPIR_Process.node_map[MPIR_Process.rank],
			  common);
}

/* The lowest rank on the same node. */
static int lowest(int rank, const uint64_t *common, const uint64_t *number)
{
	const int *host = MPIR_Process.node_map;
	int i = MPIR_Process.node_root_map[host[rank]];

	if (common[i] == DIFFERENT)
		while (host[i] != host[rank] || number[i] != number[rank])
			i++;
	return i;
}

static int number_nodes(MPIDI_PG_t *pg, uint64_t *common, uint64_t *number)
{
	const int *host = MPIR_Process.node_map;
	int i, nodes = 0, mpi_errno = MPI_SUCCESS;

	for (i = 0; i < pg->size && !mpi_errno; i++) {
		int first = MPIR_Process.node_root_map[host[i]], same;

		if (i == first)
			mpi_errno = get_number("host", host[i], i, &common[i]);
		if (!mpi_errno && common[first] == DIFFERENT)
			mpi_errno = get_number("node", i, i, &number[i]);
		same = lowest(i, common, number);
		pg->vct[i].node_id =
			same == i ? nodes++ : pg->vct[same].node_id;
	}
	MPIR_Process.num_nodes = nodes;
	return mpi_errno;
}

static int find_nodes(MPIDI_PG_t *pg, int rank)
{
	uint64_t mine = bcl_context_node(bcl_adi_context(bcl_ch3_adi));
	size_t size = (size_t)pg->size;
	uint64_t *numbers;
	int mpi_errno;

	mpi_errno = put_number("node", rank, mine);
	if (!mpi_errno)
		mpi_errno = MPIR_pmi_barrier();
	if (!mpi_errno && rank == MPIR_Process.node_local_map[0])
		mpi_errno = put_host(mine);
	if (!mpi_errno)
		mpi_errno = MPIR_pmi_barrier();
	if (mpi_errno)
		return mpi_errno;
	numbers = MPL_calloc(2 * size, sizeof(*numbers), MPL_MEM_OTHER);
	if (!numbers)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	mpi_errno = number_nodes(pg, numbers, numbers + size);
	MPL_free(numbers);
	return mpi_errno;
}

/* Returns true if the other end is a rank of this job and node. */
static int is_here(const MPIDI_VC_t *vc)
{
	const MPIDI_PG_t *pg = MPIDI_Process.my_pg;

	return vc->pg == pg &&
	       vc->node_id == pg->vct[MPIDI_Process.my_pg_rank].node_id;
}

int bcl_ch3_are_here(MPIR_Comm *comm)
{
	MPIDI_VC_t *vc;
	int rank;

	for (rank = 0; rank < comm->local_size; rank++) {
		MPIDI_Comm_get_vc(comm, rank, &vc);
		if (!is_here(vc))
			return FALSE;
	}
	return TRUE;
}

/* ---- MPI_Comm_split_type() ---- */

/* The lowest rank of the communicator among the processes of this job and
 * node. */
static int first_here(MPIR_Comm *comm)
{
	MPIDI_VC_t *vc;
	int rank = -1;

	do
		MPIDI_Comm_get_vc(comm, ++rank, &vc);
	while (!is_here(vc));
	return rank;
}

/* Returns true if a process of the remote group is of this job. */
static int is_met_here(const MPIR_Comm *between)
{
	MPIDI_VC_t *vc;
	int rank;

	for (rank = 0; rank < between->remote_size; rank++) {
		MPIDI_Comm_get_vc(between, rank, &vc);
		if (vc->pg == MPIDI_Process.my_pg)
			return TRUE;
	}
	return FALSE;
}

/*
 * Splits an intercommunicator by node. Processes of one job on both sides have
 * the same number for a node. Two jobs number their nodes independently and
 * share no memory, so the two sides then use different numbers.
 */
static int split_between(MPIR_Comm *between, int key, MPIR_Comm **result)
{
	const MPIDI_PG_t *pg = MPIDI_Process.my_pg;
	int node = 2 * pg->vct[MPIDI_Process.my_pg_rank].node_id;

	if (!is_met_here(between))
		node += between->is_low_group;
	return MPIR_Comm_split_impl(between, node, key, result);
}

static int split_type(MPIR_Comm *all, int type, int key, MPIR_Info *info,
		      MPIR_Comm **result)
{
	MPIR_Comm *node;
	int mpi_errno;

	/* a rank with MPI_UNDEFINED takes part in the first split there, too */
	if (type != MPI_COMM_TYPE_SHARED)
		return MPIR_Comm_split_type(all, type, key, info, result);
	if (all->comm_kind == MPIR_COMM_KIND__INTERCOMM)
		return split_between(all, key, result);
	mpi_errno = MPIR_Comm_split_impl(all, first_here(all), key, &node);
	if (mpi_errno)
		return mpi_errno;
	mpi_errno = MPIR_Comm_split_type_node_topo(node, key, info, result);
	MPIR_Comm_free_impl(node);
	return mpi_errno;
}

int bcl_ch3_node_open(MPIDI_PG_t *pg, int rank)
{
	static struct MPIR_Commops functions = { .split_type = split_type };

	MPIR_Comm_fns = &functions;
	return pg->size > 1 ? find_nodes(pg, rank) : MPI_SUCCESS;
}
