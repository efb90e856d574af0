/* SPDX-License-Identifier: MIT */
/* Trees over the members of PVM's groups. */
#include "unit.h"

#include "pvm-glue/tree.h"

enum {
	SIZE_MAX_TRIED = 130,
};

static int depth_of(int size, int root, int member, int radix)
{
	int depth = 0;

	for (; member != root; depth++)
		member = tree_make(size, root, member, radix).parent;
	return depth;
}

static int levels_of(int size, int radix)
{
	int levels = 0;

	for (int reach = 1; reach < size; reach *= radix)
		levels++;
	return levels;
}

/* A tree's branches are what its children see of themselves. */
static void check_branches(int size, int root, int member, int radix)
{
	struct tree tree = tree_make(size, root, member, radix);
	int next = tree.self.place + 1;

	for (int i = 0; i < tree.count; i++) {
		struct branch seen = tree.children[i];
		struct tree child = tree_make(size, root, seen.member, radix);

		ck_assert_int_eq(child.parent, member);
		ck_assert_int_eq(child.self.place, seen.place);
		ck_assert_int_eq(child.self.width, seen.width);
		ck_assert_int_eq(seen.place, next);
		next += seen.width;
	}
	ck_assert_int_eq(next, tree.self.place + tree.self.width);
}

static void check_tree(int size, int root, int radix)
{
	struct tree top = tree_make(size, root, root, radix);

	ck_assert_int_eq(top.parent, -1);
	ck_assert_int_eq(top.self.width, size);
	ck_assert_int_le(top.count, (radix - 1) * levels_of(size, radix));
	for (int member = 0; member < size; member++) {
		check_branches(size, root, member, radix);
		ck_assert_int_le(depth_of(size, root, member, radix),
				 levels_of(size, radix));
	}
}

START_TEST(branches_cover_all_places)
{
	for (int size = 1; size <= SIZE_MAX_TRIED; size++) {
		check_tree(size, 0, 2);
		check_tree(size, size - 1, 2);
		check_tree(size, size / 2, TREE_RADIX_MAX);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pvm_tree");
	TCase *tcase = tcase_create("pvm_tree");

	tcase_add_test(tcase, branches_cover_all_places);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
