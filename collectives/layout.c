/* SPDX-License-Identifier: MIT */
#include "collectives/layout.h"

#include <stdlib.h>

struct place {
	uint64_t host;
	uint32_t rank;
	uint32_t lowest; /* the lowest rank on this host */
};

static int by_host(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_lowest(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->lowest != y->lowest)
		return x->lowest < y->lowest ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void number_nodes(struct bcl_layout *layout, const struct place *places)
{
	unsigned i, size = layout->size;

	layout->contiguous = true;
	for (i = 0; i < size; i++) {
		unsigned rank = places[i].rank;

		if (i == 0 || places[i].lowest != places[i - 1].lowest)
			layout->first[layout->nnodes++] = i;
		layout->order[i] = rank;
		layout->place[rank] = i;
		layout->node[rank] = layout->nnodes - 1;
		layout->contiguous &= rank == i;
	}
	layout->first[layout->nnodes] = size;
}

enum bcl_status bcl_layout_init(struct bcl_layout *layout,
				const uint64_t *hosts, unsigned size)
{
	struct place *places = malloc(size * sizeof(*places));
	unsigned i;

	*layout = (struct bcl_layout){
		.size = size,
		.node = malloc((4 * (size_t)size + 1) * sizeof(uint32_t)),
	};
	if (!places || !layout->node) {
		free(places);
		bcl_layout_fini(layout);
		return BCL_ERR_NOMEM;
	}
	layout->order = layout->node + size;
	layout->place = layout->order + size;
	layout->first = layout->place + size;

	for (i = 0; i < size; i++)
		places[i] = (struct place){ .host = hosts[i], .rank = i };
	qsort(places, size, sizeof(*places), by_host);
	for (i = 0; i < size; i++) {
		bool same = i && places[i].host == places[i - 1].host;

		places[i].lowest = same ? places[i - 1].lowest : places[i].rank;
	}
	qsort(places, size, sizeof(*places), by_lowest);
	number_nodes(layout, places);
	free(places);
	return BCL_OK;
}

void bcl_layout_fini(struct bcl_layout *layout)
{
	free(layout->node);
	layout->node = NULL;
}
