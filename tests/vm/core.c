/* SPDX-License-Identifier: MIT */
/*
 * A kernel module that runs the unit tests of the card core (tests/unit/
 * test_card_*.c) inside a kernel, when it is loaded: with the kernel's flags,
 * stack, allocators and checks. check/ has what the tests need of Check and of
 * C's library. The build generates suites.h: SUITE(name) for each test.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "check/stdlib.h"

/* ---- memory ---- */

struct block {
	size_t size;
	u8 bytes[] __aligned(64);
};

static struct block *block_of(void *memory)
{
	return container_of(memory, struct block, bytes);
}

/* Tests run for long and allocate often, so they give way here. */
void *malloc(size_t size)
{
	struct block *block = kvzalloc(sizeof(*block) + size, GFP_KERNEL);

	cond_resched();
	if (!block)
		return NULL;
	block->size = size;
	return block->bytes;
}

void free(void *memory)
{
	cond_resched();
	if (memory)
		kvfree(block_of(memory));
}

void *realloc(void *memory, size_t size)
{
	void *more = malloc(size);

	if (memory && more) {
		memcpy(more, memory, min(size, block_of(memory)->size));
		free(memory);
	}
	return more;
}

/* ---- the environment ---- */

static char *seeds;
module_param(seeds, charp, 0);
MODULE_PARM_DESC(seeds, "seeds that a test tries, where it tries several");

char *getenv(const char *name)
{
	return strcmp(name, "BCL_TEST_SEEDS") ? NULL : seeds;
}

/* ---- suites ---- */

struct vm_test {
	struct vm_test *next;
	TFun *run;
	const char *name;
	int first, end;
};

struct TCase {
	struct TCase *next;
	struct vm_test *tests, **last;
	void (*before)(void), (*after)(void);
};

struct Suite {
	const char *name;
	struct TCase *tcases, **last;
	int failed;
};

Suite *suite_create(const char *name)
{
	Suite *suite = kzalloc(sizeof(*suite), GFP_KERNEL | __GFP_NOFAIL);

	suite->name = name;
	suite->last = &suite->tcases;
	return suite;
}

TCase *tcase_create(const char *name)
{
	TCase *tcase = kzalloc(sizeof(*tcase), GFP_KERNEL | __GFP_NOFAIL);

	(void)name;
	tcase->last = &tcase->tests;
	return tcase;
}

void suite_add_tcase(Suite *suite, TCase *tcase)
{
	*suite->last = tcase;
	suite->last = &tcase->next;
}

void tcase_add_checked_fixture(TCase *tcase, void (*before)(void),
			       void (*after)(void))
{
	tcase->before = before;
	tcase->after = after;
}

void vm_add_test(TCase *tcase, TFun *run, const char *name, int first, int end)
{
	struct vm_test *test =
		kzalloc(sizeof(*test), GFP_KERNEL | __GFP_NOFAIL);

	*test = (struct vm_test){ NULL, run, name, first, end };
	*tcase->last = test;
	tcase->last = &test->next;
}

void srunner_free(SRunner *runner)
{
	while (runner->tcases) {
		TCase *tcase = runner->tcases;

		while (tcase->tests) {
			struct vm_test *test = tcase->tests;

			tcase->tests = test->next;
			kfree(test);
		}
		runner->tcases = tcase->next;
		kfree(tcase);
	}
	kfree(runner);
}

int srunner_ntests_failed(SRunner *runner)
{
	return runner->failed;
}

/* ---- running ---- */

/* The test that runs now: there is one at a time. */
static struct {
	const TCase *tcase;
	const struct vm_test *test;
	int i;
	bool failed;
	struct completion over;
} now;

static unsigned int checks, failures;

void vm_fail(const char *file, int line, const char *format, ...)
{
	struct va_format text = { .fmt = format };
	va_list arguments;

	va_start(arguments, format);
	text.va = &arguments;
	pr_err("%s:%d: %s:%d: %pV\n", file, line, now.test->name, now.i, &text);
	va_end(arguments);
	now.failed = true;
	kthread_complete_and_exit(&now.over, 1);
}

static int run_test(void *unused)
{
	(void)unused;
	if (now.tcase->before)
		now.tcase->before();
	now.test->run(now.i);
	if (now.tcase->after)
		now.tcase->after();
	kthread_complete_and_exit(&now.over, 0);
}

static void run_in_thread(Suite *suite, const TCase *tcase,
			  const struct vm_test *test, int i)
{
	struct task_struct *thread;

	now.tcase = tcase;
	now.test = test;
	now.i = i;
	now.failed = false;
	init_completion(&now.over);
	thread = kthread_run(run_test, NULL, "%s", test->name);
	if (IS_ERR(thread))
		now.failed = true;
	else
		wait_for_completion_killable(&now.over);
	suite->failed += now.failed;
	failures += now.failed;
	checks++;
}

void srunner_run_all(SRunner *runner, int mode)
{
	const TCase *tcase;
	const struct vm_test *test;
	int i;

	(void)mode;
	for (tcase = runner->tcases; tcase; tcase = tcase->next)
		for (test = tcase->tests; test; test = test->next)
			for (i = test->first; i < test->end; i++)
				run_in_thread(runner, tcase, test, i);
	pr_info("%s: %d failed\n", runner->name, runner->failed);
}

#define SUITE(name) int name(void);
#include "suites.h"
#undef SUITE

static int __init core_init(void)
{
#define SUITE(name) name();
#include "suites.h"
#undef SUITE
	pr_info("%u checks, %u failures\n", checks, failures);
	return failures ? -EIO : 0;
}

static void __exit core_exit(void)
{
}

module_init(core_init);
module_exit(core_exit);
MODULE_DESCRIPTION("The unit tests of BCL's card core, inside a kernel");
MODULE_LICENSE("Dual MIT/GPL");
