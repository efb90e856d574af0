/* SPDX-License-Identifier: MIT */
/*
 * Builds the layout of a team from the hosts of its ranks. See layout.h.
 */
#include "collectives/layout.h"

#include <stdlib.h>

/* A host that was seen, in a hash table: a power of two entries, at least half
 * of them empty. */
struct seen {
	uint64_t host;
	uint32_t node; /* 1 + number of the node; 0: the entry is empty */
};

static uint32_t table_size(unsigned size)
{
	uint32_t n = 2;

	while (n < 2 * (uint64_t)size)
		n *= 2;
	return n;
}

/* The entry of a host, or the empty entry where the host belongs. */
static struct seen *find_host(struct seen *table, uint32_t n, uint64_t host)
{
	/* hosts are hashes, or small numbers */
	uint32_t i = (uint32_t)(host ^ host >> 32) & (n - 1);

	while (table[i].node && table[i].host != host)
		i = (i + 1) & (n - 1);
	return &table[i];
}

/* Number the nodes in the order of their lowest ranks. first[node + 1] counts
 * the ranks of a node. */
static void number_nodes(struct bcl_layout *layout, const uint64_t *hosts,
			 struct seen *table, uint32_t n)
{
	unsigned i;

	for (i = 0; i < layout->size; i++) {
		struct seen *seen = find_host(table, n, hosts[i]);

		if (!seen->node) {
			*seen = (struct seen){ hosts[i], ++layout->nnodes };
			layout->first[layout->nnodes] = 0;
		}
		layout->node[i] = seen->node - 1;
		layout->first[seen->node]++;
	}
}

static void order_ranks(struct bcl_layout *layout)
{
	unsigned i;

	layout->first[0] = 0;
	for (i = 0; i < layout->nnodes; i++)
		layout->first[i + 1] += layout->first[i];
	/* first[node] moves on with each rank of the node, and then back */
	layout->contiguous = true;
	for (i = 0; i < layout->size; i++) {
		unsigned place = layout->first[layout->node[i]]++;

		layout->order[place] = i;
		layout->place[i] = place;
		layout->contiguous &= place == i;
	}
	for (i = layout->nnodes; i > 0; i--)
		layout->first[i] = layout->first[i - 1];
	layout->first[0] = 0;
}

/* The number of members of each node, if all nodes have the same number and the
 * members follow one another. 0: they do not. */
static unsigned find_even(const struct bcl_layout *layout)
{
	unsigned members = layout->first[1], i;

	for (i = 1; i <= layout->nnodes; i++)
		if (layout->first[i] != i * members)
			return 0;
	return layout->contiguous ? members : 0;
}

enum bcl_status bcl_layout_init(struct bcl_layout *layout,
				const uint64_t *hosts, unsigned size)
{
	uint32_t n = table_size(size);
	struct seen *table = calloc(n, sizeof(*table));

	*layout = (struct bcl_layout){
		.size = size,
		.node = malloc((4 * (size_t)size + 1) * sizeof(uint32_t)),
	};
	if (!table || !layout->node) {
		free(table);
		bcl_layout_fini(layout);
		return BCL_ERR_NOMEM;
	}
	layout->order = layout->node + size;
	layout->place = layout->order + size;
	layout->first = layout->place + size;
	number_nodes(layout, hosts, table, n);
	order_ranks(layout);
	free(table);
	layout->even = find_even(layout);
	if (layout->even)
		bcl_layout_fini(layout);
	return BCL_OK;
}

void bcl_layout_init_even(struct bcl_layout *layout, unsigned size,
			  unsigned even)
{
	*layout = (struct bcl_layout){
		.size = size,
		.nnodes = size / even,
		.even = even,
		.contiguous = true,
	};
}

void bcl_layout_fini(struct bcl_layout *layout)
{
	free(layout->node);
	layout->node = NULL;
}
