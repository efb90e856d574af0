/* SPDX-License-Identifier: MIT */
/* Wires stars, rings and fat trees; see shape.h. */
#include "sim/shape.h"

/* Connects all nodes to switches from `first` on. */
static bool connect_nodes(const struct sim_shape *shape, uint32_t first,
			  uint32_t switches)
{
	const struct sim_cluster *cluster = shape->wiring->cluster;
	uint32_t rail, i;

	for (rail = 0; rail < cluster->rails; rail++) {
		if (shape->rail != SIM_ANY && shape->rail != rail)
			continue;
		for (i = 0; i < cluster->nodes; i++) {
			uint64_t block =
				(uint64_t)i * switches / cluster->nodes;

			if (!sim_wiring_cables(
				    shape->wiring,
				    sim_cluster_port(cluster, i, rail),
				    first + (uint32_t)block, shape->wire, 1))
				return false;
		}
	}
	return true;
}

bool sim_shape_star(const struct sim_shape *shape)
{
	uint32_t centre;

	return sim_wiring_switch(shape->wiring, shape->crossbar, &centre, "%s",
				 shape->name) &&
	       connect_nodes(shape, centre, 1);
}

bool sim_shape_ring(const struct sim_shape *shape, uint32_t switches,
		    uint32_t cables)
{
	uint32_t first = 0, last, i;

	for (i = 0; i < switches; i++) {
		if (!sim_wiring_switch(shape->wiring, shape->crossbar, &last,
				       "%s.%u", shape->name, i))
			return false;
		first = last - i;
	}
	if (!connect_nodes(shape, first, switches))
		return false;
	/* Between two switches the ring has a single side. */
	for (i = 0; i < (switches == 2 ? 1 : switches); i++)
		if (!sim_wiring_cables(shape->wiring, first + i,
				       first + (i + 1) % switches, shape->wire,
				       cables))
			return false;
	return true;
}

/* The switches of a level. Each subtree has `copies` switches that reach the
 * same nodes. */
struct level {
	uint32_t first, subtrees, copies;
};

static bool add_level(const struct sim_shape *shape, unsigned number,
		      struct level *level)
{
	uint32_t i, last;

	for (i = 0; i < level->subtrees * level->copies; i++) {
		if (!sim_wiring_switch(shape->wiring, shape->crossbar, &last,
				       "%s.%u.%u", shape->name, number, i))
			return false;
		level->first = last - i;
	}
	return true;
}

static bool join_levels(const struct sim_shape *shape,
			const struct level *lower, const struct level *upper)
{
	uint32_t down = lower->subtrees / upper->subtrees;
	uint32_t up = upper->copies / lower->copies;
	uint32_t i, j;

	for (i = 0; i < lower->subtrees * lower->copies; i++) {
		uint32_t subtree = i / lower->copies, copy = i % lower->copies;

		for (j = 0; j < up; j++)
			if (!sim_wiring_cables(shape->wiring, lower->first + i,
					       upper->first +
						       subtree / down *
							       upper->copies +
						       j * lower->copies + copy,
					       shape->wire, 1))
				return false;
	}
	return true;
}

static bool levels_fit(const struct sim_shape *shape,
		       const struct sim_list *down, const struct sim_list *up)
{
	uint32_t nodes = shape->wiring->cluster->nodes, i;
	uint64_t places = 1;

	if (up->n + 1 != down->n)
		return sim_statement_refuse(
			shape->wiring->statement,
			"expected %u numbers in up=, not %u: one for each "
			"level but the highest",
			down->n - 1, up->n);
	for (i = 0; i < down->n; i++)
		places *= places > nodes ? 1 : down->value[i];
	return places == nodes ||
	       sim_statement_refuse(
		       shape->wiring->statement,
		       "expected that the numbers in down= make %u nodes",
		       nodes);
}

bool sim_shape_tree(const struct sim_shape *shape, const struct sim_list *down,
		    const struct sim_list *up)
{
	uint32_t nodes = shape->wiring->cluster->nodes, i;
	struct level lower, upper = { .subtrees = nodes, .copies = 1 };

	if (!levels_fit(shape, down, up))
		return false;
	for (i = 0; i < down->n; i++) {
		lower = upper;
		upper.subtrees = lower.subtrees / down->value[i];
		upper.copies = lower.copies * (i ? up->value[i - 1] : 1);
		if (!add_level(shape, i + 1, &upper))
			return false;
		if (!(i ? join_levels(shape, &lower, &upper)
			: connect_nodes(shape, upper.first, upper.subtrees)))
			return false;
	}
	return true;
}
