/* SPDX-License-Identifier: MIT */
/*
 * Answers of the glue to a program that asks for its state: see state.h.
 */
#include "pvm-glue/state.h"

#include "pvm-glue/glue.h"
#include "pvm-glue/wire.h"

INTERPOSED int bcl_pvm_version(void)
{
	return NOTE_VERSION;
}

INTERPOSED const char *bcl_pvm_passive(void)
{
	endpoint_ready();
	return glue.passive;
}

INTERPOSED enum bcl_status bcl_pvm_path(int tid, struct bcl_peer_info *info)
{
	const struct task *task = task_find(tid);

	if (!task)
		return BCL_ERR_NOMEM;
	if (task->state == TASK_STRANGE)
		return task->refused;
	if (task->state != TASK_MET || !task->up || !task->ready)
		return BCL_ERR_AGAIN;
	return bcl_peer_info(task->peer, info);
}
