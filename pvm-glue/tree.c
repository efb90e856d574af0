/* SPDX-License-Identifier: MIT */
#include "pvm-glue/tree.h"

static struct branch branch_at(int size, int root, int place, int reach)
{
	return (struct branch){
		.member = (place + root) % size,
		.place = place,
		.width = reach < size - place ? reach : size - place,
	};
}

struct tree tree_make(int size, int root, int member, int radix)
{
	int place = (member - root + size) % size, reach = 1, offset, weight;
	struct tree tree = { .parent = -1 };

	while (reach < size && place % (reach * radix) == 0)
		reach *= radix;
	tree.self = branch_at(size, root, place, reach);
	if (place)
		tree.parent = (place - place % (reach * radix) + root) % size;
	weight = 1;
	for (offset = 1; offset < tree.self.width; offset += weight) {
		if (offset == weight * radix)
			weight = offset;
		tree.children[tree.count++] =
			branch_at(size, root, place + offset, weight);
	}
	return tree;
}
