/* SPDX-License-Identifier: MIT */
/* Bootstrap by PMIx, through its client library: for Open MPI's mpirun,
 * PRRTE and Slurm. */
#include <pmix.h>
#include <stdio.h>
#include <string.h>

#include "env/env.h"
#include "env/log.h"
#include "transport/boot/boot.h"

static enum bcl_status report_error(struct bcl_boot *boot, const char *what,
				    pmix_status_t rc)
{
	bcl_log(&boot->config, BCL_LOG_ERROR, "boot", "pmix: %s: %s", what,
		PMIx_Error_string(rc));
	return BCL_ERR_BOOT;
}

/* Reads a number that the launcher knows of the whole job. */
static pmix_status_t job_number(const pmix_proc_t *self, const char *key,
				unsigned *number)
{
	pmix_proc_t job = *self;
	pmix_value_t *value;
	pmix_status_t rc;

	job.rank = PMIX_RANK_WILDCARD;
	rc = PMIx_Get(&job, key, NULL, 0, &value);
	if (rc)
		return rc;
	if (value->type == PMIX_UINT32)
		*number = value->data.uint32;
	else
		rc = PMIX_ERR_TYPE_MISMATCH;
	PMIX_VALUE_RELEASE(value);
	return rc;
}

static enum bcl_status pmix_open(struct bcl_boot *boot, const char *argument)
{
	const struct bcl_env *env = boot->config.env;
	pmix_proc_t *self = env->allocate(env->world, sizeof(*self));
	pmix_status_t rc;

	(void)argument;
	if (!self)
		return BCL_ERR_NOMEM;
	rc = PMIx_Init(self, NULL, 0);
	if (rc) {
		env->release(env->world, self, sizeof(*self));
		return report_error(boot, "the launcher does not answer", rc);
	}
	boot->state = self;
	boot->rank = self->rank;
	rc = job_number(self, PMIX_JOB_SIZE, &boot->size);
	if (rc) {
		report_error(boot, "size of the job", rc);
		boot->kind->close(boot);
		return BCL_ERR_BOOT;
	}
	/* some launchers do not know the number */
	job_number(self, PMIX_LOCAL_SIZE, &boot->local_ranks);
	return BCL_OK;
}

static void pmix_close(struct bcl_boot *boot)
{
	const struct bcl_env *env = boot->config.env;

	PMIx_Finalize(NULL, 0);
	env->release(env->world, boot->state, sizeof(pmix_proc_t));
}

static enum bcl_status pmix_put(struct bcl_boot *boot, const char *name,
				const void *bytes, size_t length)
{
	char key[BCL_BOOT_NAME_MAX + 8];
	pmix_value_t value;
	pmix_status_t rc;

	snprintf(key, sizeof(key), "bcl-%s", name);
	PMIX_VALUE_CONSTRUCT(&value);
	value.type = PMIX_BYTE_OBJECT;
	value.data.bo.bytes = (char *)bytes;
	value.data.bo.size = length;
	rc = PMIx_Put(PMIX_GLOBAL, key, &value);
	return rc ? report_error(boot, name, rc) : BCL_OK;
}

static enum bcl_status pmix_get(struct bcl_boot *boot, unsigned rank,
				const char *name, void *bytes, size_t size,
				size_t *length)
{
	pmix_proc_t proc = *(const pmix_proc_t *)boot->state;
	char key[BCL_BOOT_NAME_MAX + 8];
	enum bcl_status status = BCL_OK;
	pmix_value_t *value;
	pmix_info_t info;
	bool yes = true;
	pmix_status_t rc;

	snprintf(key, sizeof(key), "bcl-%s", name);
	proc.rank = rank;
	/* the fence has brought all values, so never wait for a missing one */
	PMIX_INFO_LOAD(&info, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
	rc = PMIx_Get(&proc, key, &info, 1, &value);
	if (rc == PMIX_ERR_NOT_FOUND)
		return BCL_ERR_EMPTY;
	if (rc)
		return report_error(boot, name, rc);
	if (value->type != PMIX_BYTE_OBJECT)
		status = report_error(boot, name, PMIX_ERR_TYPE_MISMATCH);
	else if (value->data.bo.size > size)
		status = BCL_ERR_TRUNCATED;
	if (!status) {
		*length = value->data.bo.size;
		if (*length)
			memcpy(bytes, value->data.bo.bytes, *length);
	}
	PMIX_VALUE_RELEASE(value);
	return status;
}

static enum bcl_status pmix_fence(struct bcl_boot *boot)
{
	pmix_status_t rc = PMIx_Commit();
	pmix_info_t info;
	bool yes = true;

	PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
	if (!rc)
		rc = PMIx_Fence(NULL, 0, &info, 1);
	return rc ? report_error(boot, "fence", rc) : BCL_OK;
}

const struct bcl_boot_kind bcl_boot_pmix = {
	.name = "pmix",
	.once = true,
	.open = pmix_open,
	.close = pmix_close,
	.put = pmix_put,
	.get = pmix_get,
	.fence = pmix_fence,
};
