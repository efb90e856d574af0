/* SPDX-License-Identifier: MIT */
/* Elements of the program as contiguous bytes: in their place if they are
 * contiguous, or packed into a copy. See collective.h. */
#include "collective.h"

struct bcl_ch3_data bcl_ch3_data(const void *buffer, MPI_Aint count,
				 MPI_Datatype type)
{
	struct bcl_ch3_data data = {
		(void *)buffer, count, type, 0, NULL, NULL
	};
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

int bcl_ch3_data_make_room(struct bcl_ch3_data *data)
{
	if (data->bytes || !data->length)
		return MPI_SUCCESS;
	data->bytes = data->packed = MPL_malloc(data->length, MPL_MEM_BUFFER);
	return data->packed ? MPI_SUCCESS : bcl_ch3_error(BCL_ERR_NOMEM);
}

int bcl_ch3_data_pack(struct bcl_ch3_data *data)
{
	int mpi_errno = bcl_ch3_data_make_room(data);
	MPI_Aint packed;

	if (mpi_errno || !data->packed)
		return mpi_errno;
	return MPIR_Typerep_pack(data->buffer, data->count, data->type, 0,
				 data->packed, (MPI_Aint)data->length, &packed);
}

int bcl_ch3_data_unpack(const struct bcl_ch3_data *data)
{
	MPI_Aint unpacked;

	if (!data->packed)
		return MPI_SUCCESS;
	return MPIR_Typerep_unpack(data->packed, (MPI_Aint)data->length,
				   data->buffer, data->count, data->type, 0,
				   &unpacked);
}

void bcl_ch3_data_free(struct bcl_ch3_data *data)
{
	if (data->packed)
		MPL_free(data->packed);
	data->packed = NULL;
}

int bcl_ch3_data_finish(struct bcl_ch3_data *data, int mpi_errno)
{
	if (!mpi_errno)
		mpi_errno = bcl_ch3_data_unpack(data);
	bcl_ch3_data_free(data);
	return mpi_errno;
}
