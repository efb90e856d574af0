/* SPDX-License-Identifier: MIT */
/*
 * BCL_COLL, e.g. "allreduce:ring,alltoall:direct": the user's choice of
 * algorithms replaces the choice of the cost model.
 */
#include <string.h>

#include "collectives/select.h"
#include "transport/log.h"

enum {
	NAMES_MAX = 1024, /* bytes of all names of one operation */
};

/* One preference; the texts lie in the setting. */
struct preference {
	const char *operation, *algorithm;
	int operation_length, algorithm_length;
};

/* Returns the next preference of *list and moves *list behind it. False: the
 * list is at its end. */
static bool next_preference(const char **list, struct preference *preference)
{
	const char *item = *list;
	size_t length = strcspn(item, ","), name = strcspn(item, ":,");

	if (!*item)
		return false;
	preference->operation = item;
	preference->operation_length = (int)name;
	preference->algorithm = item + name + (item[name] == ':');
	preference->algorithm_length =
		(int)(item + length - preference->algorithm);
	*list = item + length + (item[length] == ',');
	return true;
}

static bool is_name(const char *name, const char *text, int length)
{
	return !strncmp(name, text, (size_t)length) && !name[length];
}

/* BCL_OPERATIONS: no operation has this name. */
static enum bcl_operation operation_of(const struct preference *preference)
{
	unsigned i = 0;

	while (i < BCL_OPERATIONS &&
	       !is_name(bcl_operation_names[i], preference->operation,
			preference->operation_length))
		i++;
	return (enum bcl_operation)i;
}

/* NULL: the operation has no algorithm of this name. */
static const struct bcl_algorithm *
algorithm_of(enum bcl_operation operation, const struct preference *preference)
{
	const struct bcl_algorithm *algorithm = bcl_algorithms[operation];

	while (algorithm->name &&
	       !is_name(algorithm->name, preference->algorithm,
			preference->algorithm_length))
		algorithm++;
	return algorithm->name ? algorithm : NULL;
}

/* Appends a name to a list, as far as the list has room. */
static void append_name(char names[NAMES_MAX], const char *name)
{
	size_t used = strlen(names);

	if (used + strlen(name) + 2 >= NAMES_MAX)
		return;
	if (used)
		names[used++] = ' ';
	strcpy(names + used, name);
}

static enum bcl_status refuse_preference(const struct bcl_config *config,
					 const struct preference *preference,
					 enum bcl_operation operation)
{
	char names[NAMES_MAX] = "";
	unsigned i;

	if (operation == BCL_OPERATIONS) {
		for (i = 0; i < BCL_OPERATIONS; i++)
			append_name(names, bcl_operation_names[i]);
		bcl_log(config, BCL_LOG_ERROR, "coll",
			"BCL_COLL=%s is wrong: \"%.*s\" is no operation; "
			"these are: %s",
			config->coll, preference->operation_length,
			preference->operation, names);
		return BCL_ERR_ARG;
	}
	for (i = 0; bcl_algorithms[operation][i].name; i++)
		append_name(names, bcl_algorithms[operation][i].name);
	bcl_log(config, BCL_LOG_ERROR, "coll",
		"BCL_COLL=%s is wrong: %s has no algorithm \"%.*s\"; it has: "
		"%s",
		config->coll, bcl_operation_names[operation],
		preference->algorithm_length, preference->algorithm, names);
	return BCL_ERR_ARG;
}

enum bcl_status bcl_preferences_check(const struct bcl_config *config)
{
	const char *list = config->coll;
	struct preference preference;

	while (next_preference(&list, &preference)) {
		enum bcl_operation operation = operation_of(&preference);

		if (operation == BCL_OPERATIONS ||
		    !algorithm_of(operation, &preference))
			return refuse_preference(config, &preference,
						 operation);
	}
	return BCL_OK;
}

void bcl_preferences_apply(const struct bcl_config *config,
			   const struct bcl_model *model,
			   struct bcl_choices *choices)
{
	const char *list = config->coll;
	struct preference preference;

	while (next_preference(&list, &preference)) {
		enum bcl_operation operation = operation_of(&preference);
		const char *name = algorithm_of(operation, &preference)->name;

		if (bcl_choices_force(choices, model, operation, name) !=
		    BCL_OK)
			bcl_log(config, BCL_LOG_INFO, "coll",
				"BCL_COLL: %s cannot use %s in a team of %u "
				"ranks on %u nodes; the cost model chooses",
				bcl_operation_names[operation], name,
				model->size, model->nodes);
	}
}
