/* SPDX-License-Identifier: MIT */
/*
 * BCL_COLL_FILE: choices of algorithms by the shape of a team, which bcl-tune
 * measures and writes. A line has the shape, RANKSxNODES, and a list as
 * BCL_COLL has it:
 *
 *	16x2 allreduce:halving@64k,broadcast:tree
 *
 * Other lines begin with "#", or are empty. The first member of a team reads
 * the file when the team is made.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/select.h"
#include "env/log.h"

/* The list of a line for this shape. NULL: the line is for another one. */
static char *list_of(char *line, const struct bcl_model *model)
{
	unsigned ranks, nodes;
	int length = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%ux%u %n", &ranks, &nodes, &length) != 2 || !length)
		return NULL;
	return ranks == model->size && nodes == model->nodes ? line + length
							     : NULL;
}

static void apply_list(const struct bcl_config *config, const char *list,
		       const struct bcl_model *model,
		       struct bcl_choices *choices)
{
	struct bcl_preferences preferences = { .fixed = false };
	char source[BCL_CONFIG_TEXT_MAX + 4];

	snprintf(source, sizeof(source), "%s: ", config->coll_file);
	if (bcl_preferences_check_list(config, source, list) != BCL_OK)
		return;
	bcl_preferences_read_list(list, &preferences);
	bcl_preferences_apply(config, &preferences, model, choices);
}

void bcl_tuned_apply(const struct bcl_config *config,
		     const struct bcl_model *model, struct bcl_choices *choices)
{
	char *line = NULL, *list = NULL;
	size_t size = 0;
	FILE *file;

	if (!*config->coll_file)
		return;
	file = fopen(config->coll_file, "re");
	if (!file) {
		bcl_log(config, BCL_LOG_ERROR, "coll",
			"BCL_COLL_FILE=%s cannot be read: %s; the cost model "
			"chooses",
			config->coll_file, strerror(errno));
		return;
	}
	while (!list && getline(&line, &size, file) >= 0)
		list = list_of(line, model);
	fclose(file);
	if (list)
		apply_list(config, list, model, choices);
	free(line);
}
