/* SPDX-License-Identifier: MIT */
/*
 * BCL_COLL, e.g. "allreduce:ring,alltoall:direct": the user's choice of
 * algorithms replaces the choice of the cost model. And BCL_COLL_FIXED, which
 * leaves only algorithms that combine in an order that does not depend on the
 * layout.
 */
#include <string.h>

#include "collectives/select.h"
#include "env/log.h"

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

/* BCL_OPERATIONS: no operation has this name. */
static enum bcl_operation operation_of(const struct preference *preference)
{
	size_t length = (size_t)preference->operation_length;
	unsigned i = 0;

	while (i < BCL_OPERATIONS && (strncmp(bcl_operation_names[i],
					      preference->operation, length) ||
				      bcl_operation_names[i][length]))
		i++;
	return (enum bcl_operation)i;
}

/* NULL: the operation has no algorithm of this name. */
static const struct bcl_algorithm *
algorithm_of(enum bcl_operation operation, const struct preference *preference)
{
	return bcl_algorithm_find(operation, preference->algorithm,
				  (size_t)preference->algorithm_length);
}

static enum bcl_status refuse_preference(const struct bcl_config *config,
					 const struct preference *preference,
					 enum bcl_operation operation)
{
	char names[NAMES_MAX] = "";
	unsigned i;

	if (operation == BCL_OPERATIONS) {
		for (i = 0; i < BCL_OPERATIONS; i++)
			bcl_append(names, sizeof(names), " %s",
				   bcl_operation_names[i]);
		bcl_log(config, BCL_LOG_ERROR, "coll",
			"BCL_COLL=%s is wrong: \"%.*s\" is no operation; "
			"these are:%s",
			config->coll, preference->operation_length,
			preference->operation, names);
		return BCL_ERR_ARG;
	}
	for (i = 0; bcl_algorithms[operation][i].name; i++)
		bcl_append(names, sizeof(names), " %s",
			   bcl_algorithms[operation][i].name);
	bcl_log(config, BCL_LOG_ERROR, "coll",
		"BCL_COLL=%s is wrong: %s has no algorithm \"%.*s\"; it has:%s",
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

/* True if the preferences permit the algorithm. */
static bool is_permitted(const struct bcl_preferences *preferences,
			 enum bcl_operation operation,
			 const struct bcl_algorithm *algorithm)
{
	return !preferences->fixed || algorithm->needs & BCL_FIXED_ORDER ||
	       !bcl_operation_combines(operation);
}

void bcl_preferences_read(const struct bcl_config *config,
			  struct bcl_preferences *preferences)
{
	const char *list = config->coll;
	struct preference preference;

	*preferences = (struct bcl_preferences){
		.fixed = config->coll_fixed,
		.check = config->coll_check,
	};
	while (next_preference(&list, &preference)) {
		enum bcl_operation operation = operation_of(&preference);

		preferences->algorithm[operation] =
			(uint8_t)(1 + (algorithm_of(operation, &preference) -
				       bcl_algorithms[operation]));
	}
}

void bcl_preferences_apply(const struct bcl_config *config,
			   const struct bcl_preferences *preferences,
			   const struct bcl_model *model,
			   struct bcl_choices *choices)
{
	const struct bcl_algorithm *algorithm;
	unsigned i;

	if (preferences->fixed)
		bcl_choices_fix_order(choices, model->size, model->eager);
	for (i = 0; i < BCL_OPERATIONS; i++) {
		enum bcl_operation operation = (enum bcl_operation)i;

		if (!preferences->algorithm[i])
			continue;
		algorithm = &bcl_algorithms[i][preferences->algorithm[i] - 1];
		if (!is_permitted(preferences, operation, algorithm))
			bcl_log(config, BCL_LOG_INFO, "coll",
				"BCL_COLL: %s by %s has no fixed order, which "
				"BCL_COLL_FIXED asks for",
				bcl_operation_names[i], algorithm->name);
		else if (bcl_choices_force(choices, model, operation,
					   algorithm) != BCL_OK)
			bcl_log(config, BCL_LOG_INFO, "coll",
				"BCL_COLL: %s cannot use %s in a team of %u "
				"ranks on %u nodes; the cost model chooses",
				bcl_operation_names[i], algorithm->name,
				model->size, model->nodes);
	}
}
