/* SPDX-License-Identifier: MIT */
/*
 * Pins that cards of the kernel keep for further messages, in a guest; the
 * arguments are two interfaces that reach each other. The same memory is pinned
 * once. A peer gets the contents that the process sees, whatever happened to
 * the memory before. Kept pins are bounded, and give way to limits.
 */
#define _GNU_SOURCE

#include "kmod_user.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum {
	PAGES = 4,
	SIZE = PAGES * PAGE,
	HUGE = 2 << 20,
	REGION = 16000 * PAGE,
	FLUSHED = 11000 * PAGE,
	ROUNDS = 100,
	TRIES = 200,
	USER = 1000,
};

static struct user a, b;
static uint8_t *to;	    /* where b receives */
static uint16_t generation; /* of its channel */

/* ---- messages ---- */

static long open_channel(uint8_t *memory, size_t length)
{
	return post(&b, 1, ++generation, memory, length, 0);
}

static unsigned send_from(const uint8_t *from, size_t length)
{
	struct bcl_request request = {
		.op = BCL_REQ_CHANNEL,
		.dst_port = b.port.port.number,
		.target = 1 | (uint32_t)generation << 16,
		.length = (uint32_t)length,
		.nref = 1,
		.refs = { self(from, (uint32_t)length) },
	};

	return submit_and_wait(&a, request).status;
}

static void deliver_to(uint8_t *memory, const uint8_t *from, size_t length)
{
	CHECK(open_channel(memory, length) == BCL_OK);
	CHECK(send_from(from, length) == BCL_OK);
	CHECK(received(&b).status == BCL_OK);
	CHECK(!memcmp(memory, from, length));
}

static void deliver(const uint8_t *from, size_t length)
{
	deliver_to(to, from, length);
}

/* Write the memory, and send it. */
static void deliver_new(uint8_t *from, size_t length)
{
	static unsigned seed;

	fill(from, length, ++seed);
	deliver(from, length);
}

/* The pages that sending this memory pins. */
static uint64_t pinned_by(const uint8_t *from, size_t length)
{
	uint64_t before = counters_of(&a).pages_pinned;

	deliver(from, length);
	return counters_of(&a).pages_pinned - before;
}

static uint64_t kept(void)
{
	return counters_of(&a).pages_kept;
}

static void expect_kept_soon(uint64_t pages)
{
	unsigned i;

	for (i = 0; kept() != pages; i++) {
		CHECK(i < TRIES);
		usleep(10000);
	}
}

/* Cards of other processes, too. */
static void expect_all_keep_soon(long pages)
{
	unsigned i;

	for (i = 0; kept_pages() != pages; i++) {
		CHECK(i < TRIES);
		usleep(10000);
	}
}

static uint8_t *full(size_t size)
{
	uint8_t *memory = memory_of(size);

	fill(memory, size, (unsigned)(uintptr_t)memory >> 12);
	return memory;
}

/* ---- the same memory again ---- */

static void test_again(void)
{
	uint8_t *from = full(SIZE);
	struct bcl_device_counters one, other;

	CHECK(pinned_by(from, SIZE) == PAGES);
	other = counters_of(&b);
	CHECK(pinned_by(from, SIZE) == 0);
	deliver_new(from, SIZE);
	/* other bytes of the same pages */
	CHECK(pinned_by(from + 100, SIZE - 300) == 0);
	one = counters_of(&a);
	CHECK(counters_of(&b).pages_pinned == other.pages_pinned);
	CHECK(one.pages_kept == PAGES);
	CHECK(one.pages_pinned == one.pages_released + one.pages_kept);
	/* a part of the pages has a pin of its own */
	CHECK(pinned_by(from, PAGE) == 1);
	munmap(from, SIZE);
	expect_kept_soon(0);
}

/* Two users of one pin at the same time. */
static void test_together(void)
{
	uint8_t *from = full(SIZE);
	uint64_t before = counters_of(&a).pages_pinned;
	unsigned r;

	for (r = 1; r < 3; r++)
		CHECK(add_memory(&a, r, from + r, SIZE - r, 0) == BCL_OK);
	CHECK(counters_of(&a).pages_pinned == before + PAGES && kept() == 0);
	deliver_new(from, SIZE);
	CHECK(ioctl(a.fd, BCL_DEVICE_MEMORY_REMOVE, 1) == BCL_OK);
	CHECK(kept() == 0);
	CHECK(ioctl(a.fd, BCL_DEVICE_MEMORY_REMOVE, 2) == BCL_OK);
	CHECK(kept() == PAGES);
	CHECK(counters_of(&a).pages_pinned == before + PAGES);
	munmap(from, SIZE);
	expect_kept_soon(0);
}

/* ---- the mapping changes ---- */

static void test_mapped_again(void)
{
	uint8_t *from = full(SIZE);
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		deliver_new(from, SIZE);
		memory_at(from, SIZE, MAP_FIXED);
		deliver_new(from, SIZE);
		CHECK(!munmap(from, SIZE));
		memory_at(from, SIZE, MAP_FIXED);
	}
	for (i = 0; i < ROUNDS; i++) { /* where data arrive */
		deliver_new(from, SIZE);
		memory_at(to, SIZE, MAP_FIXED);
	}
	munmap(from, SIZE);
	expect_kept_soon(0);
}

static void test_mremap(void)
{
	uint8_t *from = full(SIZE), *other = full(SIZE);

	deliver(from, SIZE);
	deliver(other, SIZE);
	CHECK(mremap(from, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, other) ==
	      other);
	deliver(other, SIZE);
	memory_at(from, SIZE, MAP_FIXED);
	deliver_new(from, SIZE);
	deliver_new(other, SIZE);
	munmap(from, SIZE);
	/* the addresses stay, and get new pages */
	CHECK(mremap(other, SIZE, SIZE,
		     MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
		     from) == from);
	deliver_new(other, SIZE);
	deliver(from, SIZE);
	munmap(from, SIZE);
	munmap(other, SIZE);
	expect_kept_soon(0);
}

static void test_dontneed(void)
{
	uint8_t *from = full(SIZE);
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		deliver_new(from, SIZE);
		CHECK(!madvise(from + i % PAGES * PAGE, PAGE, MADV_DONTNEED));
		deliver_new(from, SIZE);
	}
	CHECK(!madvise(from, SIZE, MADV_DONTNEED));
	expect_kept_soon(0);
	munmap(from, SIZE);
}

/* Write a word to memory that was just given up, and send from there. */
static void deliver_word(uint8_t *from, size_t length, size_t at, uint64_t word)
{
	memcpy(from + at, &word, sizeof(word));
	CHECK(send_from(from, length) == BCL_OK);
	CHECK(received(&b).status == BCL_OK);
	CHECK(!memcmp(to + at, &word, sizeof(word)));
}

static void await_absent(uint8_t *page)
{
	unsigned char present;

	do
		CHECK(!mincore(page, PAGE, &present));
	while (present & 1);
}

static void *give_page_up(void *page)
{
	CHECK(!madvise(page, PAGE, MADV_DONTNEED));
	return NULL;
}

/* A thread gives the last page of a huge one up, which the kernel splits. All
 * its pages are in doubt, and the module takes time to compare them. */
static void test_compared(void)
{
	uint8_t *memory = memory_of(2 * HUGE), *huge, *last;
	pthread_t thread;
	unsigned i, delay;

	huge = (void *)(((uintptr_t)memory + HUGE - 1) & -(uintptr_t)HUGE);
	last = huge + HUGE - PAGE;
	for (i = 0; i < ROUNDS; i++) {
		memory_at(huge, HUGE, MAP_FIXED);
		CHECK(!madvise(huge, HUGE, MADV_HUGEPAGE));
		deliver_new(huge, HUGE);
		CHECK(open_channel(to, HUGE) == BCL_OK);
		CHECK(!pthread_create(&thread, NULL, give_page_up, last));
		await_absent(last);
		for (delay = i * 100; delay; delay--)
			__asm__ volatile("pause");
		deliver_word(huge, HUGE, HUGE - 8, i + 1);
		CHECK(!pthread_join(thread, NULL));
	}
	munmap(memory, 2 * HUGE);
	expect_kept_soon(0);
}

static uint8_t *region;
static volatile bool wanted; /* the region shall be given up */

static void *give_up(void *unused)
{
	while (!wanted)
		;
	CHECK(!madvise(region, REGION, MADV_DONTNEED));
	return unused;
}

/* One thread gives memory up, and the main thread sees the effect before the
 * call is over. All processors forget the old pages after 10,000 pages at the
 * latest: then the first page is new for all threads.
 */
static void test_meanwhile(void)
{
	pthread_t thread;
	size_t at;
	unsigned i;

	region = memory_of(REGION);
	CHECK(!madvise(region, REGION, MADV_NOHUGEPAGE));
	for (i = 0; i < ROUNDS / 10; i++) {
		for (at = 0; at < REGION; at += PAGE)
			region[at] = 1;
		deliver(region, PAGE);
		CHECK(open_channel(to, PAGE) == BCL_OK);
		CHECK(!pthread_create(&thread, NULL, give_up, NULL));
		usleep(1000);
		wanted = true;
		await_absent(region + FLUSHED);
		deliver_word(region, PAGE, 0, i + 2);
		CHECK(!pthread_join(thread, NULL));
		wanted = false;
	}
	munmap(region, REGION);
	expect_kept_soon(0);
}

static volatile bool over;

/* No node has these messages. */
static void *send_often(void *memory)
{
	struct bcl_request request = {
		.op = BCL_REQ_CHANNEL,
		.length = SIZE,
		.nref = 1,
		.refs = { self(memory, SIZE) },
	};

	while (!over)
		CHECK(submit_and_wait(&b, request).status != BCL_OK);
	return NULL;
}

/* A thread makes the pin or finds it, while the main thread does the same,
 * takes the memory away, and has the pin for longer. */
static void test_threads(void)
{
	uint8_t *memory = full(SIZE);
	pthread_t thread;
	unsigned i;

	CHECK(!pthread_create(&thread, NULL, send_often, memory));
	for (i = 0; i < 50 * ROUNDS; i++) {
		CHECK(post(&b, 2, 1, memory, SIZE, 0) == BCL_OK);
		memory_at(memory, SIZE, MAP_FIXED);
		CHECK(unpost(&b, 2) == BCL_OK);
	}
	over = true;
	CHECK(!pthread_join(thread, NULL));
	munmap(memory, SIZE);
	expect_kept_soon(0);
}

/* A message needs the same rights as the process. */
static void test_rights(void)
{
	uint8_t *from = full(SIZE);

	deliver(from, SIZE);
	CHECK(!mprotect(from, SIZE, PROT_NONE));
	CHECK(send_from(from, SIZE) == BCL_ERR_ARG);
	CHECK(!mprotect(from, SIZE, PROT_READ));
	CHECK(post(&a, 2, 1, from, SIZE, 0) == BCL_ERR_ARG);
	CHECK(post(&a, 2, 1, from, SIZE, 1) == BCL_OK);
	CHECK(unpost(&a, 2) == BCL_OK);
	CHECK(post(&a, 2, 1, from, SIZE, 0) == BCL_ERR_ARG);
	CHECK(!mprotect(from, SIZE, PROT_READ | PROT_WRITE));
	CHECK(post(&a, 2, 1, from, SIZE, 0) == BCL_OK);
	CHECK(unpost(&a, 2) == BCL_OK);
	munmap(from, SIZE);
	expect_kept_soon(0);
}

/* Memory was never written. A debugger writes there, and it becomes writable.
 */
static void test_zeros(void)
{
	uint8_t *from =
		mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/mem", O_WRONLY | O_CLOEXEC);

	CHECK(from != MAP_FAILED && fd >= 0);
	deliver(from, SIZE);
	CHECK(pwrite(fd, "x", 1, (off_t)(uintptr_t)from) == 1);
	CHECK(from[0] == 'x');
	deliver(from, SIZE);
	close(fd);
	CHECK(!mprotect(from, SIZE, PROT_READ | PROT_WRITE));
	deliver_new(from, SIZE);
	munmap(from, SIZE);
	expect_kept_soon(0);
}

/* Each side of a fork writes, and the parent's messages are the parent's. */
static void test_fork(void)
{
	uint8_t *from = full(SIZE);
	int ours[2], theirs[2], status;
	char byte = 0;
	pid_t pid;

	deliver_new(from, SIZE);
	fill(from, SIZE, 201);
	CHECK(!pipe(ours) && !pipe(theirs));
	pid = fork();
	if (!pid) {
		CHECK(read(ours[0], &byte, 1) == 1);
		CHECK(is_filled(from, SIZE, 201));
		memset(from, 9, SIZE);
		memset(to, 9, SIZE);
		CHECK(write(theirs[1], &byte, 1) == 1);
		CHECK(read(ours[0], &byte, 1) == 1);
		CHECK(from[0] == 9 && to[0] == 9);
		_exit(0);
	}
	CHECK(pinned_by(from, SIZE) == 0); /* the pages are the same */
	deliver_new(from, SIZE);
	CHECK(write(ours[1], &byte, 1) == 1);
	CHECK(read(theirs[0], &byte, 1) == 1);
	deliver(from, SIZE);
	deliver_new(from, SIZE);
	CHECK(write(ours[1], &byte, 1) == 1);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	deliver_new(from, SIZE);
	close(ours[0]), close(ours[1]), close(theirs[0]), close(theirs[1]);
	munmap(from, SIZE);
	expect_kept_soon(0);
}

static void test_file(void)
{
	int fd = memfd_create("cache", MFD_CLOEXEC);
	uint8_t *from;

	CHECK(fd >= 0 && !ftruncate(fd, SIZE));
	from = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(from != MAP_FAILED);
	deliver_new(from, SIZE);
	CHECK(pinned_by(from, SIZE) == 0);
	CHECK(!ftruncate(fd, 0) && !ftruncate(fd, SIZE));
	deliver_new(from, SIZE);
	CHECK(!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE,
			 PAGE));
	deliver_new(from, SIZE);
	CHECK(!madvise(from, PAGE, MADV_REMOVE));
	deliver_new(from, SIZE);
	munmap(from, SIZE);
	expect_kept_soon(0);
	close(fd);
}

/* The file learns before the card writes, and at once that it has written. */
static void test_written_file(void)
{
	struct bcl_device_counters before = counters_of(&b), after;
	uint8_t *from = full(SIZE), *file;

	file = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(file != MAP_FAILED);
	CHECK(post(&b, 2, 1, file, SIZE, 1) == BCL_OK);
	CHECK(unpost(&b, 2) == BCL_OK);
	CHECK(counters_of(&b).pages_kept == before.pages_kept + PAGES);
	deliver_to(file, from, SIZE);
	CHECK(!may_repost(&b, 1));
	after = counters_of(&b);
	CHECK(after.pages_pinned == before.pages_pinned + 2 * PAGES);
	CHECK(after.pages_kept == before.pages_kept + PAGES);
	munmap(file, SIZE);
	munmap(from, SIZE);
	expect_kept_soon(0);
}

static void test_huge(void)
{
	uint8_t *memory = memory_of(2 * HUGE), *huge;

	huge = (void *)(((uintptr_t)memory + HUGE - 1) & -(uintptr_t)HUGE);
	CHECK(!madvise(huge, HUGE, MADV_HUGEPAGE));
	deliver_new(huge, HUGE);
	CHECK(pinned_by(huge, HUGE) == 0);
	CHECK(!madvise(huge + 5 * PAGE, PAGE, MADV_DONTNEED));
	deliver_new(huge, HUGE);
	CHECK(!munmap(huge + HUGE / 2, HUGE / 2));
	deliver_new(huge, HUGE / 2);
	memory_at(huge + HUGE / 2, HUGE / 2, MAP_FIXED);
	deliver_new(huge, HUGE);
	munmap(memory, 2 * HUGE);
	expect_kept_soon(0);
}

/* ---- channels that are posted by the word ---- */

static uint64_t counted(const struct user *user, enum bcl_card_counter counter)
{
	return counters_of(user).card[counter];
}

/* A message comes to the channel, which is posted. */
static void take_from(const uint8_t *from)
{
	struct bcl_completion entry;

	CHECK(send_from(from, SIZE) == BCL_OK);
	entry = received(&b);
	CHECK(entry.kind == BCL_CQ_CHANNEL && entry.status == BCL_OK);
	CHECK(entry.index == 1 && entry.length == SIZE);
	CHECK(!memcmp(to, from, SIZE));
}

static void send_now(const uint8_t *from)
{
	struct bcl_request request = {
		.op = BCL_REQ_CHANNEL,
		.dst_port = b.port.port.number,
		.target = 1 | (uint32_t)generation << 16,
		.length = SIZE,
		.nref = 1,
		.refs = { self(from, SIZE) },
	};

	submit(&a, request);
	CHECK(doorbell(&a) == BCL_OK);
}

/* The card cannot find the memory of the channel, and a call posts it anew. */
static void expect_repost(const uint8_t *from, enum bcl_status status)
{
	struct bcl_completion entry;

	send_now(from);
	entry = received(&b);
	CHECK(entry.kind == BCL_CQ_REPOST && entry.index == 1);
	CHECK(!may_repost(&b, 1));
	CHECK(post(&b, 1, generation, to, SIZE, 0) == status);
}

static void expect_arrival(const uint8_t *from)
{
	struct bcl_completion entry = received(&b);

	CHECK(entry.kind == BCL_CQ_CHANNEL && entry.status == BCL_OK);
	CHECK(sent(&a).status == BCL_OK);
	CHECK(!memcmp(to, from, SIZE));
}

static void test_word(void)
{
	const uint64_t refused = counted(&b, BCL_CARD_refused_channel);
	const uint64_t again = counted(&b, BCL_CARD_posted_again);
	uint8_t *from = full(SIZE);
	uint64_t pinned;
	unsigned i;

	deliver_new(from, SIZE);
	pinned = counters_of(&b).pages_pinned;
	for (i = 0; i < ROUNDS; i++) {
		fill(from, SIZE, i);
		CHECK(may_repost(&b, 1));
		post_by_word(&b, 1);
		take_from(from);
	}
	CHECK(counted(&b, BCL_CARD_posted_again) == again + ROUNDS);
	CHECK(counted(&b, BCL_CARD_refused_channel) == refused);
	CHECK(counters_of(&b).pages_pinned == pinned);
	/* taken back before a message came */
	post_by_word(&b, 1);
	CHECK(unpost(&b, 1) == BCL_OK && unpost(&b, 1) == BCL_ERR_EMPTY);
	/* the sender comes first, and the word too late */
	send_now(from);
	while (counted(&b, BCL_CARD_refused_channel) == refused)
		usleep(1000);
	post_by_word(&b, 1);
	CHECK(!may_repost(&b, 1));
	CHECK(unpost(&b, 1) == BCL_OK);
	CHECK(post(&b, 1, generation, to, SIZE, 0) == BCL_OK);
	expect_arrival(from);
	munmap(from, SIZE);
	expect_kept_soon(0);
}

/* The addresses get other pages, before or after the word. The old pages,
 * which are elsewhere, stay as they are. */
static void test_word_mapped_again(void)
{
	uint8_t *from = full(SIZE), *old = memory_of(SIZE);
	unsigned i;

	deliver_new(from, SIZE);
	for (i = 0; i < ROUNDS; i++) {
		CHECK(may_repost(&b, 1));
		if (i % 2)
			post_by_word(&b, 1);
		CHECK(mremap(to, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
			     old) == old);
		memory_at(to, SIZE, MAP_FIXED);
		if (!(i % 2))
			post_by_word(&b, 1);
		memset(old, 77, SIZE);
		fill(from, SIZE, i);
		expect_repost(from, BCL_OK);
		expect_arrival(from);
		CHECK(old[0] == 77 && !memcmp(old, old + 1, SIZE - 1));
	}
	CHECK(!madvise(to, PAGE, MADV_DONTNEED));
	post_by_word(&b, 1);
	fill(from, SIZE, i);
	send_now(from);
	if (received(&b).kind == BCL_CQ_REPOST) {
		CHECK(post(&b, 1, generation, to, SIZE, 0) == BCL_OK);
		CHECK(received(&b).kind == BCL_CQ_CHANNEL);
	}
	CHECK(sent(&a).status == BCL_OK && !memcmp(to, from, SIZE));
	munmap(from, SIZE);
	munmap(old, SIZE);
	expect_kept_soon(0);
}

/* The process may not write there meanwhile. */
static void test_word_rights(void)
{
	uint8_t *from = full(SIZE);

	deliver_new(from, SIZE);
	post_by_word(&b, 1);
	CHECK(!mprotect(to, SIZE, PROT_READ));
	expect_repost(from, BCL_ERR_ARG);
	CHECK(!mprotect(to, SIZE, PROT_READ | PROT_WRITE));
	fill(from, SIZE, 1);
	CHECK(post(&b, 1, generation, to, SIZE, 0) == BCL_OK);
	expect_arrival(from);
	munmap(from, SIZE);
	expect_kept_soon(0);
}

/* ---- bounds ---- */

static void set_parameter(const char *name, unsigned value)
{
	char path[80];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/bcl/parameters/%s", name);
	file = fopen(path, "w");
	CHECK(file && fprintf(file, "%u\n", value) > 0 && !fclose(file));
}

/* The card keeps three of four places, and drops the least recently used. */
static void test_bound(void)
{
	uint8_t *memory = full(8 * SIZE), *from[4];
	unsigned i;

	set_parameter("kept_pages", 3 * PAGES);
	for (i = 0; i < 4; i++)
		from[i] = memory + i * SIZE;
	for (i = 0; i < 3; i++)
		CHECK(pinned_by(from[i], SIZE) == PAGES);
	CHECK(pinned_by(from[0], SIZE) == 0);
	CHECK(pinned_by(from[3], SIZE) == PAGES); /* in place of from[1] */
	CHECK(kept() == 3 * PAGES);
	CHECK(pinned_by(from[0], SIZE) == 0);
	CHECK(pinned_by(from[2], SIZE) == 0);
	CHECK(pinned_by(from[3], SIZE) == 0);
	CHECK(pinned_by(from[1], SIZE) == PAGES); /* in place of from[0] */
	CHECK(pinned_by(from[2], SIZE) == 0);
	/* too long to keep: the three places stay
	 */
	CHECK(pinned_by(memory + 4 * SIZE, 4 * SIZE) == 4 * PAGES);
	CHECK(kept() == 3 * PAGES && pinned_by(from[3], SIZE) == 0);
	set_parameter("kept_pages", 0);
	CHECK(pinned_by(from[3], SIZE) == 0);
	CHECK(kept() == 0);
	CHECK(pinned_by(from[3], SIZE) == PAGES);
	set_parameter("kept_pages", 16384);
	munmap(memory, 8 * SIZE);
	expect_kept_soon(0);
}

/* A channel is posted by the word only if its pin is kept. If the pin gives way
 * meanwhile, a call makes it anew. */
static void test_word_bound(void)
{
	uint8_t *from = full(SIZE);

	deliver_new(from, SIZE);
	post_by_word(&b, 1);
	set_parameter("kept_pages", 0);
	CHECK(post(&b, 2, 1, from, SIZE, 0) == BCL_OK); /* makes room */
	CHECK(unpost(&b, 2) == BCL_OK);
	CHECK(counters_of(&b).pages_kept == 0);
	expect_repost(from, BCL_OK);
	expect_arrival(from);
	CHECK(!may_repost(&b, 1));
	set_parameter("kept_pages", 16384);
	munmap(from, SIZE);
	expect_kept_soon(0);
}

static void test_user_limit(void)
{
	uint8_t *memory = full(3 * SIZE);
	unsigned i;

	CHECK(kept() == 0 && counters_of(&b).pages_kept == 0);
	set_parameter("user_pages", 2 * PAGES);
	for (i = 0; i < 3; i++)
		CHECK(post(&a, 2, i + 1, memory + i * SIZE, SIZE, 0) ==
			      BCL_OK &&
		      unpost(&a, 2) == BCL_OK);
	CHECK(kept() == 2 * PAGES);
	/* the other card needs all */
	CHECK(post(&b, 2, 1, memory, 2 * SIZE, 0) == BCL_OK);
	CHECK(kept() == 0);
	CHECK(unpost(&b, 2) == BCL_OK);
	set_parameter("user_pages", -1);
	munmap(memory, 3 * SIZE);
	expect_all_keep_soon(0);
}

static void keep_pages(const struct user *card, uint8_t *memory, size_t pages)
{
	CHECK(post(card, 1, 1, memory, pages * PAGE, 0) == BCL_OK);
	CHECK(unpost(card, 1) == BCL_OK);
	CHECK(counters_of(card).pages_kept == pages);
}

/* A process may use all pages that may be locked. */
static void use_all(const char *interface, size_t pages)
{
	struct rlimit limit = { pages * PAGE, pages * PAGE };
	uint8_t *memory = memory_of(3 * pages * PAGE);
	uint8_t *end = memory + 2 * pages * PAGE;
	struct user one, other;

	CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit) && !setuid(USER));
	open_card(&one, interface);
	open_port(&one, 3);
	open_card(&other, interface);
	open_port(&other, 4);
	/* charged with more than one page */
	CHECK(add_memory(&one, 1, end, PAGE, 7) == BCL_OK);
	CHECK(add_memory(&one, 2, memory, (pages - 1) * PAGE, 7) == BCL_OK);
	CHECK(add_memory(&one, 3, end + PAGE, PAGE, 7) == BCL_ERR_NOMEM);
	CHECK(ioctl(one.fd, BCL_DEVICE_MEMORY_REMOVE, 1) == BCL_OK);
	CHECK(ioctl(one.fd, BCL_DEVICE_MEMORY_REMOVE, 2) == BCL_OK);
	/* kept pins of both cards make room */
	CHECK(add_memory(&one, 4, memory + PAGE, pages * PAGE, 7) == BCL_OK);
	CHECK(ioctl(one.fd, BCL_DEVICE_MEMORY_REMOVE, 4) == BCL_OK);
	CHECK(counters_of(&one).pages_kept == pages);
	CHECK(add_memory(&other, 1, memory, pages * PAGE, 7) == BCL_OK);
	CHECK(locked_kb() == (long)(pages * PAGE / 1024));
	close_card(&one);
	close_card(&other);
	CHECK(locked_kb() == 0);
}

/* Keep pages in another process of the user, until the pipe is closed. */
static void keep_elsewhere(const char *interface, const int until[2])
{
	uint8_t *memory = memory_of(SIZE);
	struct user card;
	char byte;

	close(until[1]);
	CHECK(!setuid(USER));
	open_card(&card, interface);
	open_port(&card, 5);
	keep_pages(&card, memory, PAGES);
	CHECK(read(until[0], &byte, 1) == 0);
	CHECK(counters_of(&card).pages_kept == PAGES);
}

static void test_locked(const char *interface)
{
	static const size_t sizes[] = { 16, 300, 600, 1100 };
	int status, until[2];
	unsigned i;
	pid_t pid;

	CHECK(!pipe(until));
	pid = fork();
	if (!pid) {
		keep_elsewhere(interface, until);
		_exit(0);
	}
	expect_all_keep_soon(PAGES);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (!fork()) {
			use_all(interface, sizes[i]);
			_exit(0);
		}
		CHECK(wait(&status) > 0 && status == 0);
		/* the limit of another process is none of this one */
		CHECK(kept_pages() == PAGES);
		expect_no_pins();
	}
	close(until[0]), close(until[1]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* ---- words that lie ---- */

static void *scramble(void *postings)
{
	uint32_t *word = postings, i;

	for (i = 1; !over; i++)
		__atomic_store_n(&word[i % 3], i * 0x9e3779b1u >> 30,
				 __ATOMIC_RELAXED);
	return NULL;
}

/* A process writes any words, and posts by calls beside them, while messages
 * come, its memory changes and its queue overflows: to its own harm. */
static void test_scrambled(const char *one, const char *other)
{
	uint8_t *memory = memory_of(SIZE);
	struct user from, liar;
	pthread_t thread;
	unsigned i;

	open_card(&from, one);
	open_port(&from, 1);
	open_card(&liar, other);
	open_port(&liar, 2);
	connect_to(&from, &liar);
	over = false;
	CHECK(!pthread_create(&thread, NULL, scramble, liar.postings));
	for (i = 0; i < 50 * ROUNDS; i++) {
		const uint32_t length = 1 + i * 997 % SIZE;
		const struct bcl_request request = {
			.op = BCL_REQ_CHANNEL,
			.dst_port = 2,
			.target = i % 3 | 1 << 16,
			.length = length,
			.nref = 1,
			.refs = { self(to, length) },
		};

		if (__builtin_popcount(from.busy) < REQUESTS) {
			submit(&from, request);
			CHECK(doorbell(&from) == BCL_OK);
		}
		while (peek(&from.sends))
			sent(&from);
		post(&liar, i / 7 % 3, 1, memory, SIZE, 0);
		if (i % 11 == 0)
			unpost(&liar, i / 11 % 3);
		if (i % 50 == 0)
			memory_at(memory, SIZE, MAP_FIXED);
	}
	CHECK(counted(&liar, BCL_CARD_posted_again) > 0);
	CHECK(counted(&liar, BCL_CARD_reposts) > 0);
	CHECK(ioctl(liar.fd, BCL_DEVICE_PORT_CLOSE, liar.seat) == BCL_OK);
	usleep(100000); /* words for a port that is gone */
	over = true;
	CHECK(!pthread_join(thread, NULL));
	CHECK(counters_of(&liar).pages_pinned ==
	      counters_of(&liar).pages_released +
		      counters_of(&liar).pages_kept);
	close_card(&liar);
	close_card(&from);
	munmap(memory, SIZE);
	expect_no_pins();
}

/* ---- ends ---- */

/* The process ends, or becomes another program, with its file open. */
static void test_ends(const char *interface)
{
	uint8_t *memory = full(SIZE);
	struct user card;
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		open_card(&card, interface);
		open_port(&card, 3);
		keep_pages(&card, memory, PAGES);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	expect_no_pins();
	pid = fork();
	if (!pid) {
		open_card(&card, interface);
		open_port(&card, 3);
		keep_pages(&card, memory, PAGES);
		CHECK(!fcntl(card.fd, F_SETFD, 0));
		execl("/bin/sleep", "sleep", "1", NULL);
		_exit(1);
	}
	usleep(500000);
	expect_no_pins();
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	munmap(memory, SIZE);
}

int main(int argc, char **argv)
{
	CHECK(argc == 3);
	setvbuf(stdout, NULL, _IONBF, 0);
	open_card(&a, argv[1]);
	open_card(&b, argv[2]);
	open_port(&a, 1);
	open_port(&b, 2);
	connect_to(&a, &b);
	to = memory_of(HUGE);
	TEST(test_again());
	TEST(test_together());
	TEST(test_mapped_again());
	TEST(test_mremap());
	TEST(test_dontneed());
	TEST(test_compared());
	TEST(test_meanwhile());
	TEST(test_threads());
	TEST(test_rights());
	TEST(test_zeros());
	TEST(test_fork());
	TEST(test_file());
	TEST(test_written_file());
	TEST(test_huge());
	TEST(test_word());
	TEST(test_word_mapped_again());
	TEST(test_word_rights());
	TEST(test_bound());
	TEST(test_word_bound());
	TEST(test_user_limit());
	TEST(test_locked(argv[1]));
	TEST(test_scrambled(argv[1], argv[2]));
	TEST(test_ends(argv[1]));
	expect_no_pins();
	close_card(&a);
	close_card(&b);
	expect_no_pins();
	printf("cache: %u checks passed\n", checks);
	return 0;
}
