/* SPDX-License-Identifier: MIT */
/* Fibers by ucontext, announced to the sanitizers; see fiber.h. */
#include "sim/fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "sim/fail.h"

#if defined(__SANITIZE_THREAD__)
#define FIBER_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN
#endif
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN
#endif
#endif
#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum {
	GUARD = 4096,
};

struct sim_fiber {
	ucontext_t own, resumer;
	void *tsan, *resumer_tsan;
	void *memory; /* guard page, then the stack */
	size_t size;
	void (*run)(void *arg);
	void *arg;
	bool ended;
};

static void begin_fiber(unsigned high, unsigned low)
{
	struct sim_fiber *self =
		(struct sim_fiber *)((uintptr_t)high << 32 | (uintptr_t)low);

	self->run(self->arg);
	self->ended = true;
	sim_fiber_pause(self);
}

struct sim_fiber *sim_fiber_new(size_t stack, void (*run)(void *arg), void *arg)
{
	struct sim_fiber *fiber = sim_need(calloc(1, sizeof(*fiber)));
	uintptr_t self = (uintptr_t)fiber;

	fiber->run = run;
	fiber->arg = arg;
	fiber->size = GUARD + stack;
	fiber->memory = mmap(NULL, fiber->size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sim_check(fiber->memory != MAP_FAILED, "no memory for a stack");
	mprotect(fiber->memory, GUARD, PROT_NONE);
	getcontext(&fiber->own);
	fiber->own.uc_stack.ss_sp = (char *)fiber->memory + GUARD;
	fiber->own.uc_stack.ss_size = stack;
	makecontext(&fiber->own, (void (*)(void))begin_fiber, 2,
		    (unsigned)(self >> 32), (unsigned)self);
#ifdef FIBER_TSAN
	fiber->tsan = __tsan_create_fiber(0);
#endif
	return fiber;
}

void sim_fiber_free(struct sim_fiber *fiber)
{
#ifdef FIBER_TSAN
	__tsan_destroy_fiber(fiber->tsan);
#endif
#ifdef FIBER_ASAN
	/* The functions that ran on the stack have left marks of the sanitizer
	 * there. */
	__asan_unpoison_memory_region(fiber->memory, fiber->size);
#endif
	munmap(fiber->memory, fiber->size);
	free(fiber);
}

bool sim_fiber_resume(struct sim_fiber *fiber)
{
#ifdef FIBER_TSAN
	fiber->resumer_tsan = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(fiber->tsan, 0);
#endif
	swapcontext(&fiber->resumer, &fiber->own);
	return !fiber->ended;
}

void sim_fiber_pause(struct sim_fiber *fiber)
{
#ifdef FIBER_TSAN
	__tsan_switch_to_fiber(fiber->resumer_tsan, 0);
#endif
	swapcontext(&fiber->own, &fiber->resumer);
}
