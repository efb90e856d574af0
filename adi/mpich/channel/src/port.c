/* SPDX-License-Identifier: MIT */
/*
 * Business cards and ports. A card is the address of the process's BCL port in
 * hexadecimal. ch3 makes the name of an MPI port from a card and a tag.
 */
#include "channel.h"

static const char key[] = "bcl";

/* Card and tag with their names and separators: "tag#2147483647$bcl#...$". */
_Static_assert(sizeof("tag#2147483647$bcl#$") + 2 * BCL_ADDRESS_MAX <=
		       MPI_MAX_PORT_NAME,
	       "a card and a tag fit into the name of a port");

int bcl_ch3_card_write(char *card, int length)
{
	uint8_t address[BCL_ADDRESS_MAX];
	enum bcl_status status;
	size_t used;

	status = bcl_port_address(bcl_adi_port(bcl_ch3_adi), address, &used);
	if (status)
		return bcl_ch3_error(status);
	return MPL_str_add_binary_arg(&card, &length, key, (char *)address,
				      (int)used)
		       ? bcl_ch3_error(BCL_ERR_NOMEM)
		       : MPI_SUCCESS;
}

int bcl_ch3_card_read(const char *card, void *address, size_t *length)
{
	int used;

	if (MPL_str_get_binary_arg(card, key, address, BCL_ADDRESS_MAX, &used))
		return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE,
					    __func__, __LINE__, MPI_ERR_PORT,
					    "**ch3|bcl|card",
					    "**ch3|bcl|card %s", card);
	*length = (size_t)used;
	return MPI_SUCCESS;
}

int MPIDI_CH3_Get_business_card(int rank, char *card, int length)
{
	(void)rank;
	return bcl_ch3_card_write(card, length);
}

/* ---- a process that was started without mpiexec -----------------------------
 *
 * To exchange cards with other jobs, MPICH's PMI would start an mpiexec that
 * has to connect back. Hydra's does not connect back, and PMI would wait for
 * ever. So opening and calling a port fail here. Spawning begins with a port
 * and fails, too.
 */

static int is_alone(void)
{
	static const char name[] = "singinit_kvs_"; /* PMI's, for such jobs */

	return !strncmp(MPIDI_Process.my_pg->id, name, sizeof(name) - 1);
}

static int alone_error(void)
{
	return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__,
				    __LINE__, MPI_ERR_OTHER, "**ch3|bcl|alone",
				    0);
}

static int open_nothing(MPIR_Info *info, char *name)
{
	(void)info;
	(void)name;
	return alone_error();
}

static int connect_nothing(const char *name, MPIR_Info *info, int root,
			   MPIR_Comm *comm, MPIR_Comm **result)
{
	(void)name;
	(void)info;
	(void)root;
	(void)comm;
	(void)result;
	return alone_error();
}

/* Other processes use ch3's own functions. */
int MPIDI_CH3_PortFnsInit(MPIDI_PortFns *functions)
{
	if (is_alone()) {
		functions->OpenPort = open_nothing;
		functions->CommConnect = connect_nothing;
	}
	return MPI_SUCCESS;
}

int MPIDI_CH3_Connect_to_root(const char *name, MPIDI_VC_t **result)
{
	uint8_t address[BCL_ADDRESS_MAX];
	MPIDI_VC_t *vc;
	size_t length;
	int mpi_errno, tag;

	mpi_errno = bcl_ch3_card_read(name, address, &length);
	if (!mpi_errno)
		mpi_errno = MPIDI_GetTagFromPort(name, &tag);
	if (mpi_errno)
		return mpi_errno;
	vc = MPL_malloc(sizeof(*vc), MPL_MEM_ADDRESS);
	if (!vc)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	MPIDI_VC_Init(vc, NULL, 0);
	MPIDI_CHANGE_VC_STATE(vc, ACTIVE);
	mpi_errno = bcl_ch3_link_call(vc, address, length, tag);
	if (mpi_errno)
		MPL_free(vc);
	else
		*result = vc;
	return mpi_errno;
}
