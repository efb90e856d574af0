/* SPDX-License-Identifier: MIT */
/* Opening and closing of the channel, BCL's bootstrap on MPICH's process
 * manager, and the entry points that ch3 calls for processes and
 * connections. */
#include "channel.h"

#include <bcl/boot.h>
#include <bcl/version.h>

struct bcl_adi *bcl_ch3_adi;

static struct bcl_boot *boot;

static int class_of(enum bcl_status status)
{
	switch (status) {
	case BCL_ERR_NOMEM:
		return MPI_ERR_NO_MEM;
	case BCL_ERR_ARG:
		return MPI_ERR_ARG;
	case BCL_ERR_TRUNCATED:
		return MPI_ERR_TRUNCATE;
	default:
		return bcl_status_loss(status) == BCL_LOSS_PEER
			       ? MPIX_ERR_PROC_FAILED
			       : MPI_ERR_OTHER;
	}
}

int bcl_ch3_error(enum bcl_status status)
{
	const char *text = bcl_strstatus(status);
	int errclass = class_of(status);

	if (errclass == MPIX_ERR_PROC_FAILED)
		return MPIR_Err_create_code(
			MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__, __LINE__,
			errclass, "**ch3|bcl|lost", "**ch3|bcl|lost %s", text);
	return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, __func__,
				    __LINE__, errclass, "**ch3|bcl|status",
				    "**ch3|bcl|status %s", text);
}

int bcl_ch3_nonsense(void)
{
	return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_FATAL, __func__,
				    __LINE__, MPI_ERR_INTERN,
				    "**ch3|bcl|packet", 0);
}

/* ---- MPICH's process manager, as BCL's bootstrap ---- */

static enum bcl_status put_value(void *arg, const char *key, const char *value)
{
	(void)arg;
	return MPIR_pmi_kvs_put(key, value) ? BCL_ERR_BOOT : BCL_OK;
}

static enum bcl_status get_value(void *arg, const char *key, char *value,
				 size_t size)
{
	(void)arg;
	return MPIR_pmi_kvs_get(-1, key, value, (int)size) ? BCL_ERR_EMPTY
							   : BCL_OK;
}

static enum bcl_status fence(void *arg)
{
	(void)arg;
	return MPIR_pmi_barrier() ? BCL_ERR_BOOT : BCL_OK;
}

static enum bcl_status open_adi(const MPIDI_PG_t *pg, int rank)
{
	static const struct bcl_adi_packet_ops ops = {
		.struct_size = sizeof(ops),
		.receive = bcl_ch3_link_receive,
		.complete = bcl_ch3_link_complete,
		.peer = bcl_ch3_link_changed,
	};
	const struct bcl_boot_space space = {
		.struct_size = sizeof(space),
		.rank = (unsigned)rank,
		.size = (unsigned)pg->size,
		.local_ranks = (unsigned)MPIR_Process.local_size,
		.value_max = (size_t)MPIR_pmi_max_val_size() - 1,
		.put = put_value,
		.get = get_value,
		.fence = fence,
	};
	struct bcl_adi_options options = { .struct_size = sizeof(options) };
	enum bcl_status status;

	status = bcl_boot_lend(&space, &boot);
	if (status)
		return status;
	options.boot = boot;
	if (MPIR_ThreadInfo.thread_provided == MPI_THREAD_MULTIPLE)
		options.flags = BCL_ADI_THREADS;
	status = bcl_adi_open(&options, &bcl_ch3_adi);
	if (!status)
		status = bcl_adi_packet_open(bcl_ch3_adi, &ops, NULL);
	return status;
}

/* ---- what ch3 calls ---- */

static int publish_card(int rank)
{
	char *card = NULL;
	int length, mpi_errno;

	mpi_errno = MPIDI_CH3I_BCInit(&card, &length);
	if (mpi_errno)
		return mpi_errno;
	mpi_errno = bcl_ch3_card_write(card, length);
	if (!mpi_errno)
		mpi_errno = MPIDI_PG_SetConnInfo(rank, card);
	MPIDI_CH3I_BCFree(card);
	return mpi_errno;
}

int MPIDI_CH3_Init(int has_parent, MPIDI_PG_t *pg, int rank)
{
	enum bcl_status status;
	int mpi_errno;

	(void)has_parent;
	if (strcmp(bcl_version(), BCL_VERSION_STRING))
		return MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_FATAL,
					    __func__, __LINE__, MPI_ERR_INTERN,
					    "**ch3|bcl|version",
					    "**ch3|bcl|version %s %s",
					    BCL_VERSION_STRING, bcl_version());
	status = open_adi(pg, rank);
	if (status)
		return bcl_ch3_error(status);
	mpi_errno = bcl_ch3_progress_open();
	if (!mpi_errno)
		mpi_errno = bcl_ch3_receive_open();
	if (!mpi_errno)
		mpi_errno = bcl_ch3_node_open(pg, rank);
	if (!mpi_errno)
		mpi_errno = bcl_ch3_teams_prepare();
	return mpi_errno ? mpi_errno : publish_card(rank);
}

int MPIDI_CH3_InitCompleted(void)
{
	int mpi_errno = bcl_ch3_tool_open();

	return mpi_errno ? mpi_errno : bcl_ch3_teams_open();
}

int MPIDI_CH3_Finalize(void)
{
	bcl_ch3_teams_close();
	bcl_ch3_progress_close();
	bcl_adi_close(bcl_ch3_adi);
	bcl_boot_close(boot);
	bcl_ch3_adi = NULL;
	return MPI_SUCCESS;
}

int MPIDI_CH3_PG_Init(MPIDI_PG_t *pg)
{
	(void)pg;
	return MPI_SUCCESS;
}

int MPIDI_CH3_PG_Destroy(MPIDI_PG_t *pg)
{
	(void)pg;
	return MPI_SUCCESS;
}

/* Called also before MPIDI_CH3_Init(). */
int MPIDI_CH3_VC_Init(MPIDI_VC_t *vc)
{
	memset(&vc->ch, 0, sizeof(vc->ch));
	bcl_ch3_rendezvous_open(vc);
	return MPI_SUCCESS;
}

int MPIDI_CH3_VC_Destroy(MPIDI_VC_t *vc)
{
	bcl_ch3_link_close(vc);
	return MPI_SUCCESS;
}

/* Called when both sides have exchanged their closing messages. */
int MPIDI_CH3_Connection_terminate(MPIDI_VC_t *vc)
{
	bcl_ch3_link_close(vc);
	return MPIDI_CH3U_Handle_connection(vc, MPIDI_VC_EVENT_TERMINATED);
}

#ifdef MPL_USE_DBG_LOGGING
const char *MPIDI_CH3_VC_GetStateString(MPIDI_VC_t *vc)
{
	return vc->ch.link ? "open" : "closed";
}
#endif
