/* SPDX-License-Identifier: MIT */
/*
 * Names and texts of the counters, and the pages that hold the values; see
 * counters.h.
 */
#include "env/counters.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "env/env.h"

#define BCL_X(area, name, text) #area "." #name,
#define BCL_Y(name, text)	"card." #name,
const char *const bcl_counter_names[BCL_NCOUNTERS] = { BCL_COUNTERS(BCL_X,
								    BCL_Y) };
#undef BCL_X
#undef BCL_Y

#define BCL_X(area, name, text) text,
#define BCL_Y(name, text)	text,
const char *const bcl_counter_texts[BCL_NCOUNTERS] = { BCL_COUNTERS(BCL_X,
								    BCL_Y) };
#undef BCL_X
#undef BCL_Y

struct bcl_counter_page *bcl_counters_open(const struct bcl_env *env,
					   uint64_t card, unsigned port,
					   int *fd)
{
	struct bcl_counter_page *page =
		env->share(env->world, BCL_COUNTER_MEMORY, sizeof(*page), fd);

	if (!page)
		return NULL;
	page->ncounters = BCL_NCOUNTERS;
	page->port = port;
	page->card = card;
	for (unsigned i = 0; i < BCL_NCOUNTERS; i++)
		snprintf(page->names[i], sizeof(page->names[i]), "%s",
			 bcl_counter_names[i]);
	/* pairs with the acquire load of a tool that reads the page */
	atomic_store_explicit(&page->magic, BCL_COUNTER_MAGIC,
			      memory_order_release);
	return page;
}

void bcl_counters_close(const struct bcl_env *env,
			struct bcl_counter_page *page, int fd)
{
	if (page)
		env->unshare(env->world, page, sizeof(*page), fd);
}
