/* SPDX-License-Identifier: MIT */
/* The areas of a port in the memory of the process, for hosts of a card that
 * have no better place. */
#ifndef BCL_CARD_AREAS_H
#define BCL_CARD_AREAS_H

#include "card/ops.h"

/*
 * Make the areas of a port, zeroed, in one piece of memory; the argument is a
 * PORT_OPEN. NOMEM: there are none, and nothing is left. The caller gives them
 * back by bcl_areas_release().
 */
enum bcl_status bcl_areas_make(const struct bcl_env *env,
			       const struct bcl_control *open,
			       struct bcl_host_area areas[BCL_AREAS]);
void bcl_areas_release(const struct bcl_env *env,
		       const struct bcl_host_area areas[BCL_AREAS]);

#endif
