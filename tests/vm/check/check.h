/* SPDX-License-Identifier: MIT */
/*
 * The part of Check's interface that the tests of the card core use, for a
 * kernel module: core.c runs each test in a thread of its own, which ends at
 * the first failure.
 */
#ifndef BCL_VM_CHECK_H
#define BCL_VM_CHECK_H

#include <linux/compiler.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/types.h>

typedef void TFun(int);
typedef struct Suite Suite;
typedef struct TCase TCase;
typedef struct Suite SRunner;

enum {
	CK_NORMAL,
};

#define START_TEST(name) static void name(int _i __always_unused)
#define END_TEST

Suite *suite_create(const char *name);
TCase *tcase_create(const char *name);
void suite_add_tcase(Suite *suite, TCase *tcase);
void tcase_add_checked_fixture(TCase *tcase, void (*before)(void),
			       void (*after)(void));
/* Add runs of a test, with _i from `first` to `end` - 1. */
void vm_add_test(TCase *tcase, TFun *run, const char *name, int first, int end);
#define tcase_add_test(tcase, run) vm_add_test(tcase, run, #run, 0, 1)
#define tcase_add_loop_test(tcase, run, first, end) \
	vm_add_test(tcase, run, #run, first, end)

/* The guest as a whole has a time limit. */
static inline void tcase_set_timeout(TCase *tcase, double seconds)
{
	(void)tcase;
	(void)seconds;
}

/* srunner_run_all() runs the suite; srunner_free() frees it. */
static inline SRunner *srunner_create(Suite *suite)
{
	return suite;
}

void srunner_run_all(SRunner *runner, int mode);
int srunner_ntests_failed(SRunner *runner);
void srunner_free(SRunner *runner);

/* Report the failure of the test that runs in this thread, and end the
 * thread. */
void __printf(3, 4)
	vm_fail(const char *file, int line, const char *format, ...);

#define ck_abort_msg(...) vm_fail(__FILE__, __LINE__, __VA_ARGS__)
#define ck_assert_msg(holds, ...)                                 \
	do {                                                      \
		if (!(holds))                                     \
			vm_fail(__FILE__, __LINE__, __VA_ARGS__); \
	} while (0)
#define ck_assert(holds) ck_assert_msg(holds, "%s", #holds)

#define vm_compare(type, a, operator, b)                                 \
	do {                                                             \
		type vm_a = (type)(a), vm_b = (type)(b);                 \
		if (!(vm_a operator vm_b))                               \
			vm_fail(__FILE__, __LINE__, "%s: %lld, %lld",    \
				#a " " #operator" " #b, (long long)vm_a, \
				(long long)vm_b);                        \
	} while (0)
#define ck_assert_int_eq(a, b)	       vm_compare(s64, a, ==, b)
#define ck_assert_int_ne(a, b)	       vm_compare(s64, a, !=, b)
#define ck_assert_int_lt(a, b)	       vm_compare(s64, a, <, b)
#define ck_assert_uint_eq(a, b)	       vm_compare(u64, a, ==, b)
#define ck_assert_uint_ne(a, b)	       vm_compare(u64, a, !=, b)
#define ck_assert_uint_lt(a, b)	       vm_compare(u64, a, <, b)
#define ck_assert_uint_le(a, b)	       vm_compare(u64, a, <=, b)
#define ck_assert_uint_gt(a, b)	       vm_compare(u64, a, >, b)
#define ck_assert_uint_ge(a, b)	       vm_compare(u64, a, >=, b)
#define ck_assert_ptr_eq(a, b)	       ck_assert((a) == (b))
#define ck_assert_ptr_null(a)	       ck_assert(!(a))
#define ck_assert_ptr_nonnull(a)       ck_assert(a)
#define ck_assert_mem_eq(a, b, length) ck_assert(!memcmp(a, b, length))

#endif
