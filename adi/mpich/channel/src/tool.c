/* SPDX-License-Identifier: MIT */
/*
 * The MPI_T view of the library. Counters are performance variables,
 * bcl_AREA_NAME. Settings are control variables with the names of the
 * environment variables; they are read-only, because all ranks must keep the
 * settings that they were started with.
 */
#include "channel.h"

/* MPI_T keeps pointers to both arrays as long as the process lives. */
static struct variable {
	char name[64];
} * variables; /* in the library's order */

static struct bcl_setting *settings;

/* A snapshot of all counters. NULL: no memory. */
static struct bcl_counter *read_counters(size_t *n)
{
	struct bcl_context *context = bcl_adi_context(bcl_ch3_adi);
	struct bcl_counter *counters;

	bcl_counters(context, NULL, n);
	counters = MPL_calloc(*n, sizeof(*counters), MPL_MEM_MPIT);
	if (counters)
		bcl_counters(context, counters, n);
	return counters;
}

static void get_value(void *variable, void *object, int count, void *value)
{
	size_t n, i = (size_t)((struct variable *)variable - variables);
	struct bcl_counter *counters = bcl_ch3_adi ? read_counters(&n) : NULL;

	(void)object, (void)count;
	*(unsigned long long *)value = counters ? counters[i].value : 0;
	MPL_free(counters);
}

static void name_it(struct variable *variable, const struct bcl_counter *of)
{
	char *c;

	MPL_snprintf(variable->name, sizeof(variable->name), "bcl_%s",
		     of->name);
	for (c = variable->name; *c; c++)
		if (*c == '.' || *c == '-')
			*c = '_';
}

static int register_counters(void)
{
	struct bcl_counter *counters;
	size_t i, n;

	counters = read_counters(&n);
	variables = MPL_calloc(n, sizeof(*variables), MPL_MEM_MPIT);
	if (!counters || !variables) {
		MPL_free(counters);
		return bcl_ch3_error(BCL_ERR_NOMEM);
	}
	for (i = 0; i < n; i++) {
		name_it(&variables[i], &counters[i]);
		MPIR_T_PVAR_REGISTER_impl(
			MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED_LONG_LONG,
			variables[i].name, &variables[i], 1, NULL,
			MPI_T_VERBOSITY_USER_DETAIL, MPI_T_BIND_NO_OBJECT,
			MPIR_T_PVAR_FLAG_READONLY | MPIR_T_PVAR_FLAG_CONTINUOUS,
			get_value, NULL, "CH3", counters[i].text);
	}
	MPL_free(counters);
	return MPI_SUCCESS;
}

static int register_settings(void)
{
	struct bcl_context *context = bcl_adi_context(bcl_ch3_adi);
	MPIR_T_cvar_value_t value;
	size_t i, n;

	bcl_settings(context, NULL, &n);
	settings = MPL_calloc(n, sizeof(*settings), MPL_MEM_MPIT);
	if (!settings)
		return bcl_ch3_error(BCL_ERR_NOMEM);
	bcl_settings(context, settings, &n);
	for (i = 0; i < n; i++) {
		value.str = settings[i].value;
		MPIR_T_CVAR_REGISTER_impl(
			MPI_CHAR, settings[i].name, NULL,
			sizeof(settings[i].value), MPI_T_ENUM_NULL,
			MPI_T_VERBOSITY_USER_DETAIL, MPI_T_BIND_NO_OBJECT,
			MPI_T_SCOPE_CONSTANT, NULL, NULL, value, "CH3",
			settings[i].text);
	}
	return MPI_SUCCESS;
}

int bcl_ch3_tool_open(void)
{
	int mpi_errno = variables ? MPI_SUCCESS : register_counters();

	if (!mpi_errno && !settings)
		mpi_errno = register_settings();
	return mpi_errno;
}
