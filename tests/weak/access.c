/* SPDX-License-Identifier: MIT */
/*
 * The functions that compiled code calls at each access to memory
 * (-fsanitize=thread), and in place of memcpy() and the like.
 *
 * Memory is divided into granules of 8 bytes. A byte belongs to a word if an
 * atomic access to the byte was seen. All other bytes are plain; the checker
 * remembers the last accesses to a plain byte to find data races. A plain
 * access to a word is an event of the graph. When an atomic access finds a word
 * in plain memory that was accessed before, the exploration begins again.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/fail.h"
#include "tests/weak/explore.h"

enum {
	GRANULE = 8,
	GRANULES = 1 << 14, /* a power of two */
	NO_WORD = 0xff,
	ALIASES = 4,
};

struct touch {
	const void *where;
	uint8_t time; /* 1 + events of the thread before; 0: none */
};

struct cell {
	uint8_t word;	/* index or NO_WORD */
	uint8_t writer; /* thread */
	struct touch write, read[WEAK_THREADS];
};

struct granule {
	uintptr_t number; /* 0: free */
	uint64_t run;	  /* the run of the accesses in `cells` */
	bool touched;	  /* by a plain access, ever */
	struct cell cells[GRANULE];
};

static struct granule granules[GRANULES];

static struct alias {
	uintptr_t memory, again;
	size_t size;
} aliases[ALIASES];

void weak_alias(void *memory, void *again, size_t size)
{
	struct alias *alias = aliases;

	while (alias->size && alias->again != (uintptr_t)again)
		sim_check(++alias < aliases + ALIASES, "too many aliases");
	*alias = (struct alias){ (uintptr_t)memory, (uintptr_t)again, size };
}

static uintptr_t without_alias(const volatile void *memory)
{
	uintptr_t address = (uintptr_t)memory;

	for (unsigned i = 0; i < ALIASES; i++)
		if (address - aliases[i].again < aliases[i].size)
			return address - aliases[i].again + aliases[i].memory;
	return address;
}

static void erase(struct granule *granule)
{
	for (unsigned i = 0; i < GRANULE; i++) {
		struct cell *cell = &granule->cells[i];

		memset(&cell->write, 0, sizeof(cell->write));
		memset(cell->read, 0, sizeof(cell->read));
	}
	granule->run = explore_run();
}

static struct granule *granule_of(uintptr_t address)
{
	uintptr_t number = address / GRANULE;
	struct granule *granule;
	unsigned tries;

	for (tries = 0; tries < GRANULES; tries++) {
		granule = &granules[((number * 0x9e3779b97f4a7c15 >> 40) +
				     tries) &
				    (GRANULES - 1)];
		if (granule->number == number)
			break;
		if (!granule->number) {
			granule->number = number;
			for (unsigned i = 0; i < GRANULE; i++)
				granule->cells[i].word = NO_WORD;
			break;
		}
	}
	sim_check(tries < GRANULES, "too much memory is used");
	if (granule->run != explore_run())
		erase(granule);
	return granule;
}

void explore_forget(void)
{
	memset(granules, 0, sizeof(granules));
	memset(aliases, 0, sizeof(aliases));
	graph_nwords = 0;
}

/* ---- words ---- */

/* The word of an atomic access. */
static unsigned word_of(const volatile void *memory, unsigned size)
{
	uintptr_t address = without_alias(memory);
	struct granule *granule = granule_of(address);
	unsigned first = address % GRANULE, i;
	unsigned word = granule->cells[first].word;

	if (word != NO_WORD) {
		sim_check(graph_words[word].address == (void *)address &&
				  graph_words[word].size == size,
			  "atomic accesses of different sizes");
		return word;
	}
	sim_check(graph_nwords < GRAPH_WORDS, "too many atomic words");
	word = graph_nwords++;
	graph_words[word] = (struct graph_word){
		.address = (void *)address,
		.size = size,
	};
	graph_words[word].start = graph_load(&graph_words[word]);
	for (i = first; i < first + size; i++)
		granule->cells[i].word = (uint8_t)word;
	if (granule->touched)
		explore_again();
	return word;
}

static uint64_t atomically(const volatile void *address, unsigned size,
			   struct graph_request request)
{
	unsigned word = word_of(address, size);
	uint64_t value;

	request.word = (uint8_t)word;
	explore_settle();
	if (explore_thread() >= 0)
		return explore_step(&request);
	value = graph_load(&graph_words[word]);
	if (graph_apply(&request, size, value, &request.operand))
		graph_store(&graph_words[word], request.operand);
	return value;
}

/* ---- plain memory ---- */

static bool is_before(const struct touch *touch, unsigned thread)
{
	return !touch->time || (int)thread == explore_thread() ||
	       explore_clock()->of[thread] >= touch->time;
}

static void touch_byte(struct cell *cell, bool write, const void *where)
{
	unsigned me = (unsigned)explore_thread(), t;
	struct touch now = { where, (uint8_t)(explore_next() + 1) };

	if (!is_before(&cell->write, cell->writer))
		explore_race(where, cell->write.where, cell->writer);
	for (t = 0; write && t < WEAK_THREADS; t++)
		if (!is_before(&cell->read[t], t))
			explore_race(where, cell->read[t].where, t);
	if (write) {
		cell->write = now;
		cell->writer = (uint8_t)me;
	} else {
		cell->read[me] = now;
	}
}

static void touch_word(unsigned word, bool write, const void *where)
{
	struct graph_request request = {
		.operation = write ? GRAPH_WRITE : GRAPH_READ,
		.plain = true,
		.word = (uint8_t)word,
		.where = where,
	};
	uint64_t value = explore_step(&request);

	if (!write)
		graph_store(&graph_words[word], value);
}

static void plainly(const volatile void *memory, size_t size, bool write,
		    const void *where)
{
	uintptr_t address = without_alias(memory), end = address + size;
	unsigned last = NO_WORD;

	explore_settle();
	if (explore_thread() < 0)
		return;
	for (; address < end; address++) {
		struct granule *granule = granule_of(address);
		struct cell *cell = &granule->cells[address % GRANULE];

		if (cell->word == NO_WORD) {
			granule->touched = true;
			touch_byte(cell, write, where);
		} else if (cell->word != last) {
			last = cell->word;
			touch_word(last, write, where);
		}
	}
}

/* ---- calls in compiled code ---- */

#define WHERE __builtin_return_address(0)

#define PLAIN(size)                                 \
	void __tsan_read##size(void *a);            \
	void __tsan_read##size(void *a)             \
	{                                           \
		plainly(a, size, false, WHERE);     \
	}                                           \
	void __tsan_write##size(void *a);           \
	void __tsan_write##size(void *a)            \
	{                                           \
		plainly(a, size, true, WHERE);      \
	}                                           \
	void __tsan_unaligned_read##size(void *a);  \
	void __tsan_unaligned_read##size(void *a)   \
	{                                           \
		plainly(a, size, false, WHERE);     \
	}                                           \
	void __tsan_unaligned_write##size(void *a); \
	void __tsan_unaligned_write##size(void *a)  \
	{                                           \
		plainly(a, size, true, WHERE);      \
	}

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *a, size_t size);
void __tsan_read_range(void *a, size_t size)
{
	plainly(a, size, false, WHERE);
}

void __tsan_write_range(void *a, size_t size);
void __tsan_write_range(void *a, size_t size)
{
	plainly(a, size, true, WHERE);
}

#define REQUEST(...) ((struct graph_request){ .where = WHERE, __VA_ARGS__ })

#define MODIFY(bits, name, op)                                            \
	uint##bits##_t __tsan_atomic##bits##_##name(                      \
		volatile uint##bits##_t *a, uint##bits##_t v, int order); \
	uint##bits##_t __tsan_atomic##bits##_##name(                      \
		volatile uint##bits##_t *a, uint##bits##_t v, int order)  \
	{                                                                 \
		return (uint##bits##_t)atomically(                        \
			a, bits / 8,                                      \
			REQUEST(.operation = op, .order = (uint8_t)order, \
				.operand = v));                           \
	}

#define COMPARE(bits, name)                                                    \
	int __tsan_atomic##bits##_compare_exchange_##name(                     \
		volatile uint##bits##_t *a, uint##bits##_t *expected,          \
		uint##bits##_t v, int order, int failed);                      \
	int __tsan_atomic##bits##_compare_exchange_##name(                     \
		volatile uint##bits##_t *a, uint##bits##_t *expected,          \
		uint##bits##_t v, int order, int failed)                       \
	{                                                                      \
		uint##bits##_t wanted = *expected;                             \
                                                                               \
		*expected = (uint##bits##_t)atomically(                        \
			a, bits / 8,                                           \
			REQUEST(.operation = GRAPH_COMPARE,                    \
				.order = (uint8_t)order,                       \
				.order_failed = (uint8_t)failed, .operand = v, \
				.expected = wanted));                          \
		return *expected == wanted;                                    \
	}

#define ATOMIC(bits)                                                        \
	uint##bits##_t __tsan_atomic##bits##_load(                          \
		const volatile uint##bits##_t *a, int order);               \
	uint##bits##_t __tsan_atomic##bits##_load(                          \
		const volatile uint##bits##_t *a, int order)                \
	{                                                                   \
		return (uint##bits##_t)atomically(                          \
			a, bits / 8,                                        \
			REQUEST(.operation = GRAPH_READ,                    \
				.order = (uint8_t)order));                  \
	}                                                                   \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *a,        \
					 uint##bits##_t v, int order);      \
	void __tsan_atomic##bits##_store(volatile uint##bits##_t *a,        \
					 uint##bits##_t v, int order)       \
	{                                                                   \
		atomically(a, bits / 8,                                     \
			   REQUEST(.operation = GRAPH_WRITE,                \
				   .order = (uint8_t)order, .operand = v)); \
	}                                                                   \
	MODIFY(bits, exchange, GRAPH_SWAP)                                  \
	MODIFY(bits, fetch_add, GRAPH_ADD)                                  \
	MODIFY(bits, fetch_sub, GRAPH_SUB)                                  \
	MODIFY(bits, fetch_and, GRAPH_AND)                                  \
	MODIFY(bits, fetch_or, GRAPH_OR)                                    \
	MODIFY(bits, fetch_xor, GRAPH_XOR)                                  \
	COMPARE(bits, strong)                                               \
	COMPARE(bits, weak)

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

static void fence(struct graph_request request)
{
	explore_settle();
	if (explore_thread() >= 0)
		explore_step(&request);
}

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	fence(REQUEST(.operation = GRAPH_FENCE, .order = (uint8_t)order));
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
	if (order == __ATOMIC_SEQ_CST)
		fence(REQUEST(.operation = GRAPH_LIGHT,
			      .order = (uint8_t)order));
}

void weak_heavy_fence(void)
{
	fence(REQUEST(.operation = GRAPH_HEAVY, .order = __ATOMIC_SEQ_CST));
}

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

/* ---- calls in place of those to the C library ---- */

void *weak_memcpy(void *to, const void *from, size_t n);
void *weak_memcpy(void *to, const void *from, size_t n)
{
	plainly(from, n, false, WHERE);
	plainly(to, n, true, WHERE);
	return memcpy(to, from, n);
}

void *weak_memset(void *to, int byte, size_t n);
void *weak_memset(void *to, int byte, size_t n)
{
	plainly(to, n, true, WHERE);
	return memset(to, byte, n);
}

int weak_memcmp(const void *a, const void *b, size_t n);
int weak_memcmp(const void *a, const void *b, size_t n)
{
	plainly(a, n, false, WHERE);
	plainly(b, n, false, WHERE);
	return memcmp(a, b, n);
}
