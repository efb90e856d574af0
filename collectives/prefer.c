/* SPDX-License-Identifier: MIT */
/*
 * BCL_COLL, e.g. "allreduce:ring@64k,alltoall:direct": the user's choice of
 * algorithms replaces the choice of the cost model. And BCL_COLL_FIXED, which
 * leaves only algorithms that combine in an order that does not depend on the
 * layout.
 */
#include <string.h>

#include "collectives/select.h"
#include "env/log.h"

enum {
	NAMES_MAX = 1024, /* bytes of all names of one operation */
	NUMBER_MAX = 32,
};

/* One preference; the texts lie in the setting. */
struct preference {
	const char *operation, *algorithm;
	const char *from; /* NULL: from 0 bytes on */
	int operation_length, algorithm_length, from_length;
};

/* Returns the next preference of *list and moves *list behind it. False: the
 * list is at its end. */
static bool next_preference(const char **list, struct preference *preference)
{
	const char *item = *list;
	size_t length = strcspn(item, ","), name = strcspn(item, ":,");
	size_t both = strcspn(item, "@,");

	if (!*item)
		return false;
	preference->operation = item;
	preference->operation_length = (int)name;
	preference->algorithm = item + name + (item[name] == ':');
	preference->algorithm_length =
		(int)(item + both - preference->algorithm);
	preference->from = item[both] == '@' ? item + both + 1 : NULL;
	preference->from_length = (int)(length - both) - 1;
	*list = item + length + (item[length] == ',');
	return true;
}

static enum bcl_operation operation_of(const struct preference *preference)
{
	return bcl_operation_find(preference->operation,
				  (size_t)preference->operation_length);
}

/* NULL: the operation has no algorithm of this name. */
static const struct bcl_algorithm *
algorithm_of(enum bcl_operation operation, const struct preference *preference)
{
	return bcl_algorithm_find(operation, preference->algorithm,
				  (size_t)preference->algorithm_length);
}

/* Gives the length from which on the user wants the algorithm. Returns false if
 * the text after "@" is no length. */
static bool from_of(const struct preference *preference, uint64_t *from)
{
	size_t length = (size_t)preference->from_length;
	char number[NUMBER_MAX];

	*from = 0;
	if (!preference->from)
		return true;
	if (length >= sizeof(number))
		return false;
	memcpy(number, preference->from, length);
	number[length] = 0;
	return bcl_config_parse(BCL_CONFIG_SIZE, number, from) == BCL_OK;
}

/* Logs what is wrong with a preference of a list. */
static enum bcl_status refuse_preference(const struct bcl_config *config,
					 const char *source, const char *list,
					 const struct preference *preference)
{
	enum bcl_operation operation = operation_of(preference);
	char names[NAMES_MAX] = "";
	unsigned i;

	if (operation == BCL_OPERATIONS) {
		for (i = 0; i < BCL_OPERATIONS; i++)
			bcl_append(names, sizeof(names), " %s",
				   bcl_operation_names[i]);
		bcl_log(config, BCL_LOG_ERROR, "coll",
			"%s%s is wrong: \"%.*s\" is no operation; "
			"these are:%s",
			source, list, preference->operation_length,
			preference->operation, names);
		return BCL_ERR_ARG;
	}
	if (algorithm_of(operation, preference)) {
		bcl_log(config, BCL_LOG_ERROR, "coll",
			"%s%s is wrong: \"%.*s\" is no number of bytes "
			"like 4096, 64k, 1M",
			source, list, preference->from_length,
			preference->from);
		return BCL_ERR_ARG;
	}
	for (i = 0; bcl_algorithms[operation][i].name; i++)
		bcl_append(names, sizeof(names), " %s",
			   bcl_algorithms[operation][i].name);
	bcl_log(config, BCL_LOG_ERROR, "coll",
		"%s%s is wrong: %s has no algorithm \"%.*s\"; it has:%s",
		source, list, bcl_operation_names[operation],
		preference->algorithm_length, preference->algorithm, names);
	return BCL_ERR_ARG;
}

enum bcl_status bcl_preferences_check_list(const struct bcl_config *config,
					   const char *source, const char *list)
{
	const char *rest = list;
	struct preference preference;

	while (next_preference(&rest, &preference)) {
		enum bcl_operation operation = operation_of(&preference);
		uint64_t from;

		if (operation == BCL_OPERATIONS ||
		    !algorithm_of(operation, &preference) ||
		    !from_of(&preference, &from))
			return refuse_preference(config, source, list,
						 &preference);
	}
	return BCL_OK;
}

enum bcl_status bcl_preferences_check(const struct bcl_config *config)
{
	return bcl_preferences_check_list(config, "BCL_COLL=", config->coll);
}

/* True if the preferences permit the algorithm. */
static bool is_permitted(const struct bcl_preferences *preferences,
			 enum bcl_operation operation,
			 const struct bcl_algorithm *algorithm)
{
	return !preferences->fixed || algorithm->needs & BCL_FIXED_ORDER ||
	       !bcl_operation_combines(operation);
}

void bcl_preferences_read_list(const char *list,
			       struct bcl_preferences *preferences)
{
	struct preference preference;

	while (next_preference(&list, &preference)) {
		enum bcl_operation operation = operation_of(&preference);
		uint8_t *wanted = preferences->algorithm[operation];
		uint64_t from;
		unsigned size;

		from_of(&preference, &from);
		size = bcl_choice_size(from);
		memset(wanted + size,
		       1 + (int)(algorithm_of(operation, &preference) -
				 bcl_algorithms[operation]),
		       BCL_CHOICE_SIZES - size);
	}
}

void bcl_preferences_read(const struct bcl_config *config,
			  struct bcl_preferences *preferences)
{
	*preferences = (struct bcl_preferences){
		.fixed = config->coll_fixed,
		.check = config->coll_check,
	};
	bcl_preferences_read_list(config->coll, preferences);
}

/* Use the algorithm for lengths from a size on. A line in the log says why
 * not. */
static void prefer(const struct bcl_config *config,
		   const struct bcl_preferences *preferences,
		   const struct bcl_model *model, struct bcl_choices *choices,
		   enum bcl_operation operation, unsigned size)
{
	const struct bcl_algorithm *algorithm =
		&bcl_algorithms[operation]
			       [preferences->algorithm[operation][size] - 1];

	if (!is_permitted(preferences, operation, algorithm))
		bcl_log(config, BCL_LOG_INFO, "coll",
			"%s by %s has no fixed order, which "
			"BCL_COLL_FIXED asks for",
			bcl_operation_names[operation], algorithm->name);
	else if (bcl_choices_force(choices, model, operation, algorithm,
				   size) != BCL_OK)
		bcl_log(config, BCL_LOG_INFO, "coll",
			"%s cannot use %s in a team of %u ranks on "
			"%u nodes, and keeps its choice",
			bcl_operation_names[operation], algorithm->name,
			model->size, model->nodes);
}

void bcl_preferences_apply(const struct bcl_config *config,
			   const struct bcl_preferences *preferences,
			   const struct bcl_model *model,
			   struct bcl_choices *choices)
{
	unsigned i, size;

	if (preferences->fixed)
		bcl_choices_fix_order(choices, model->size, model->eager);
	for (i = 0; i < BCL_OPERATIONS; i++) {
		const uint8_t *wanted = preferences->algorithm[i];

		for (size = 0; size < BCL_CHOICE_SIZES; size++)
			if (wanted[size] &&
			    (!size || wanted[size] != wanted[size - 1]))
				prefer(config, preferences, model, choices,
				       (enum bcl_operation)i, size);
	}
}
