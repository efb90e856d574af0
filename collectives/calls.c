/* SPDX-License-Identifier: MIT */
/*
 * The names of the operations. See calls.h.
 */
#include "collectives/calls.h"

const char *const bcl_operation_names[BCL_OPERATIONS] = {
	[BCL_OPERATION_BARRIER] = "barrier",
	[BCL_OPERATION_BROADCAST] = "broadcast",
	[BCL_OPERATION_REDUCE] = "reduce",
	[BCL_OPERATION_ALLREDUCE] = "allreduce",
	[BCL_OPERATION_GATHER] = "gather",
	[BCL_OPERATION_SCATTER] = "scatter",
	[BCL_OPERATION_ALLGATHER] = "allgather",
	[BCL_OPERATION_ALLTOALL] = "alltoall",
	[BCL_OPERATION_ALLTOALLV] = "alltoallv",
	[BCL_OPERATION_REDUCE_SCATTER] = "reduce_scatter",
	[BCL_OPERATION_SCAN] = "scan",
	[BCL_OPERATION_EXSCAN] = "exscan",
	[BCL_OPERATION_GATHERV] = "gatherv",
	[BCL_OPERATION_SCATTERV] = "scatterv",
	[BCL_OPERATION_ALLGATHERV] = "allgatherv",
	[BCL_OPERATION_REDUCE_SCATTERV] = "reduce_scatterv",
	[BCL_OPERATION_SHIFT] = "shift",
	[BCL_OPERATION_EXCHANGE] = "exchange",
};

const char *bcl_calls_name(uint64_t call)
{
	unsigned operation = call % (1 << BCL_CALLS_OPERATION);

	return operation < BCL_OPERATIONS ? bcl_operation_names[operation]
					  : "something";
}
