/* SPDX-License-Identifier: MIT */
/*
 * Memory that a process unmaps, moves or gives up while the card of the kernel
 * has the memory, in a guest; the arguments are two interfaces that reach each
 * other. Peers reach registered memory only while the memory is mapped, and not
 * a byte lands in memory that came to the same addresses later.
 */
#define _GNU_SOURCE

#include "kmod_user.h"

#include <sys/wait.h>

enum {
	SIZE = 4 * PAGE,
	HANDLE = 0x10001,
	HUGE = 2 << 20,
	TRIES = 200,
};

static struct user a, b;

static uint8_t *registered(size_t size)
{
	uint8_t *memory = memory_of(size);

	CHECK(add_memory(&b, HANDLE, memory, size, 7) == BCL_OK);
	return memory;
}

static void unregister(void)
{
	CHECK(ioctl(b.fd, BCL_DEVICE_MEMORY_REMOVE, HANDLE) == BCL_OK);
}

/* A request of the peer for a word at the beginning of the registered memory.
 */
static struct bcl_request request_of(unsigned op)
{
	return (struct bcl_request){
		.op = op,
		.dst_port = b.port.port.number,
		.target = HANDLE,
		.targ64 = 1 << 20,
		.length = 8,
	};
}

static void inline_word(struct bcl_request *request, uint64_t word)
{
	request->inline_len = 8;
	memcpy(request->inlined, &word, 8);
}

static void return_word(struct bcl_request *request, uint64_t *word)
{
	request->nref = 1;
	request->refs[0] = self(word, 8);
}

static unsigned put(uint64_t word)
{
	struct bcl_request request = request_of(BCL_REQ_PUT);

	inline_word(&request, word);
	return submit_and_wait(&a, request).status;
}

static unsigned get(void)
{
	struct bcl_request request = request_of(BCL_REQ_GET);
	uint64_t word;

	request.type = BCL_GET_MEMORY;
	return_word(&request, &word);
	return submit_and_wait(&a, request).status;
}

static unsigned add(void)
{
	struct bcl_request request = request_of(BCL_REQ_FETCH_ADD);
	uint64_t old;

	inline_word(&request, 1);
	return_word(&request, &old);
	return submit_and_wait(&a, request).status;
}

static void expect_reached(const uint8_t *memory)
{
	uint64_t word;

	CHECK(put(4711) == BCL_OK && add() == BCL_OK && get() == BCL_OK);
	memcpy(&word, memory, 8);
	CHECK(word == 4712);
}

static void expect_gone(void)
{
	CHECK(put(1) == BCL_ERR_MEMORY && get() == BCL_ERR_MEMORY);
	CHECK(add() == BCL_ERR_MEMORY);
	unregister();
}

/* The kernel compares pages some time later. */
static void expect_gone_soon(void)
{
	unsigned i;

	for (i = 0; get() == BCL_OK; i++) {
		CHECK(i < TRIES);
		usleep(10000);
	}
	expect_gone();
}

static void test_munmap(void)
{
	uint8_t *memory = registered(SIZE);

	expect_reached(memory);
	CHECK(!munmap(memory + SIZE - PAGE, PAGE));
	expect_gone();
	munmap(memory, SIZE);
}

static void test_mapped_again(void)
{
	uint8_t *memory = registered(SIZE);

	memory_at(memory, SIZE, MAP_FIXED);
	expect_gone();
	CHECK(memory[0] == 0);
	munmap(memory, SIZE);
}

static void test_mremap(void)
{
	uint8_t *memory = registered(SIZE), *to = memory_of(SIZE);

	CHECK(mremap(memory, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
	      to);
	expect_gone();
	munmap(to, SIZE);
}

static void test_dontneed(void)
{
	uint8_t *memory = registered(SIZE);

	expect_reached(memory);
	CHECK(!madvise(memory, PAGE, MADV_DONTNEED));
	expect_gone_soon();
	CHECK(memory[0] == 0);
	munmap(memory, SIZE);
}

static void test_truncated_file(void)
{
	int fd = memfd_create("unmap", MFD_CLOEXEC);
	uint8_t *memory;

	CHECK(fd >= 0 && !ftruncate(fd, SIZE));
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(memory != MAP_FAILED);
	CHECK(add_memory(&b, HANDLE, memory, SIZE, 7) == BCL_OK);
	expect_reached(memory);
	CHECK(!ftruncate(fd, 0));
	expect_gone_soon();
	munmap(memory, SIZE);
	close(fd);
}

/* The kernel takes shared memory off the page tables, not out of its file. */
static void test_paged_out(void)
{
	uint8_t *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	CHECK(add_memory(&b, HANDLE, memory, SIZE, 7) == BCL_OK);
	expect_reached(memory);
	CHECK(!madvise(memory, SIZE, MADV_PAGEOUT));
	usleep(100000);
	expect_reached(memory);
	CHECK(!madvise(memory, SIZE, MADV_PAGEOUT));
	CHECK(!madvise(memory, PAGE, MADV_REMOVE));
	expect_gone_soon();
	munmap(memory, SIZE);
}

/* Changes that leave the pages where they are. */
static void test_harmless(void)
{
	uint8_t *memory = registered(SIZE);
	int status;
	pid_t pid;

	CHECK(!mprotect(memory, SIZE, PROT_READ));
	CHECK(!mprotect(memory, SIZE, PROT_READ | PROT_WRITE));
	CHECK(!madvise(memory, SIZE, MADV_FREE));
	pid = fork();
	if (!pid) {
		memory[0] = 7;
		CHECK(!munmap(memory, SIZE));
		_exit(0);
	}
	memory[1] = 8;
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	usleep(100000);
	expect_reached(memory);
	unregister();
	munmap(memory, SIZE);
}

/* A huge page loses its second half: the kernel names the whole page, but the
 * registered first half stays. */
static void test_huge(void)
{
	uint8_t *memory = memory_of(2 * HUGE), *huge;

	huge = (void *)(((uintptr_t)memory + HUGE - 1) & -(uintptr_t)HUGE);
	CHECK(!madvise(huge, HUGE, MADV_HUGEPAGE));
	memset(huge, 1, HUGE);
	CHECK(add_memory(&b, HANDLE, huge, SIZE, 7) == BCL_OK);
	CHECK(!munmap(huge + HUGE / 2, HUGE / 2));
	usleep(100000);
	expect_reached(huge);
	CHECK(!madvise(huge + PAGE, PAGE, MADV_DONTNEED));
	expect_gone_soon();
	munmap(memory, 2 * HUGE);
}

/* A child of the process shares pages before the memory is registered. */
static void test_shared_before(void)
{
	uint8_t *memory = memory_of(SIZE);
	int end[2], status;
	char byte;
	pid_t pid;

	memset(memory, 3, SIZE);
	CHECK(!pipe(end));
	pid = fork();
	if (!pid) {
		close(end[1]);
		_exit(read(end[0], &byte, 1) != 0 || memory[0] != 3);
	}
	CHECK(add_memory(&b, HANDLE, memory, SIZE, 7) == BCL_OK);
	usleep(100000);
	expect_reached(memory);
	close(end[1]);
	close(end[0]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	unregister();
	munmap(memory, SIZE);
}

/* A message to a channel whose memory is gone fails. */
static void test_channel(void)
{
	struct bcl_request request = {
		.op = BCL_REQ_CHANNEL,
		.dst_port = b.port.port.number,
		.target = 3 | 1 << 16,
		.length = 8,
		.inline_len = 8,
	};
	uint8_t *memory = memory_of(SIZE);
	struct bcl_completion entry;

	CHECK(post(&b, 3, 1, memory, SIZE, 0) == BCL_OK);
	memory_at(memory, SIZE, MAP_FIXED);
	memset(request.inlined, 5, 8);
	CHECK(submit_and_wait(&a, request).status == BCL_ERR_MEMORY);
	entry = received(&b);
	CHECK(entry.kind == BCL_CQ_CHANNEL && entry.status == BCL_ERR_MEMORY);
	CHECK(memory[0] == 0);
	munmap(memory, SIZE);
}

/* A message that waits for its channel has the contents of the moment when its
 * memory was unmapped. */
static void test_send(void)
{
	uint8_t *from = memory_of(SIZE), *to = memory_of(SIZE);
	struct bcl_request request = {
		.op = BCL_REQ_CHANNEL,
		.dst_port = b.port.port.number,
		.target = 4 | 1 << 16,
		.length = SIZE,
		.nref = 1,
		.refs = { self(from, SIZE) },
	};

	fill(from, SIZE, 9);
	submit(&a, request);
	CHECK(doorbell(&a) == BCL_OK);
	memory_at(from, SIZE, MAP_FIXED);
	CHECK(post(&b, 4, 1, to, SIZE, 0) == BCL_OK);
	CHECK(sent(&a).status == BCL_OK);
	CHECK(received(&b).status == BCL_OK);
	CHECK(is_filled(to, SIZE, 9));
	munmap(from, SIZE);
	munmap(to, SIZE);
}

/* The result of a GET has no place any more. */
static void test_result(void)
{
	uint8_t *from = registered(HUGE), *to = memory_of(HUGE);
	struct bcl_request request = {
		.op = BCL_REQ_GET,
		.type = BCL_GET_CHANNEL_LAST,
		.dst_port = b.port.port.number,
		.target = 5 | 1 << 16,
		.length = SIZE,
		.nref = 1,
		.refs = { self(to, SIZE) },
	};

	submit(&a, request); /* waits for the offer */
	CHECK(doorbell(&a) == BCL_OK);
	memory_at(to, SIZE, MAP_FIXED);
	CHECK(post(&b, 5, 1, from, SIZE, 1) == BCL_OK);
	CHECK(sent(&a).status == BCL_ERR_MEMORY);
	CHECK(to[0] == 0);
	if (peek(&b.receives))
		received(&b);
	else
		unpost(&b, 5);
	unregister();
	munmap(from, HUGE);
	munmap(to, HUGE);
}

/* A request names registered memory that is gone, or was never there. */
static void test_named(void)
{
	uint8_t *memory = memory_of(SIZE);
	struct bcl_request request = {
		.op = BCL_REQ_SYSTEM,
		.dst_port = b.port.port.number,
		.length = 8,
		.nref = 1,
		.refs = { { .handle = HANDLE, .length = 8 } },
	};

	CHECK(submit_and_wait(&a, request).status == BCL_ERR_ARG);
	CHECK(add_memory(&a, HANDLE, memory, SIZE, 0) == BCL_OK);
	CHECK(submit_and_wait(&a, request).status == BCL_OK);
	CHECK(received(&b).kind == BCL_CQ_SYSTEM);
	free_block(&b, 8);
	request.refs[0].offset = SIZE - 4;
	CHECK(submit_and_wait(&a, request).status == BCL_ERR_ARG);
	request.refs[0].offset = 0;
	munmap(memory, SIZE);
	CHECK(submit_and_wait(&a, request).status == BCL_ERR_ARG);
	CHECK(ioctl(a.fd, BCL_DEVICE_MEMORY_REMOVE, HANDLE) == BCL_OK);
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
	TEST(test_munmap());
	TEST(test_mapped_again());
	TEST(test_mremap());
	TEST(test_dontneed());
	TEST(test_truncated_file());
	TEST(test_paged_out());
	TEST(test_harmless());
	TEST(test_huge());
	TEST(test_shared_before());
	TEST(test_channel());
	TEST(test_send());
	TEST(test_result());
	TEST(test_named());
	close_card(&a);
	close_card(&b);
	expect_no_pins();
	printf("%u checks passed\n", checks);
	return 0;
}
