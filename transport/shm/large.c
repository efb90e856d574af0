/* SPDX-License-Identifier: MIT */
/* The tables of large messages of a connection; see large.h. */
#include "transport/shm/port.h"

struct bcl_large_tables *bcl_large_use(struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);
	struct bcl_large_tables *t = c->large.tables;

	if (t)
		return t;
	t = env->allocate(env->world, sizeof(*t));
	if (!t)
		return NULL;
	t->feeding_last = &t->feeding;
	t->draining_last = &t->draining;
	c->large.tables = t;
	return t;
}

void bcl_large_free(struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	if (c->large.tables && c->large.tables->fed)
		c->shm->fed--;
	if (c->large.tables)
		env->release(env->world, c->large.tables,
			     sizeof(*c->large.tables));
	c->large.tables = NULL;
}
