/* SPDX-License-Identifier: MIT */
/*
 * A slow process, in a guest; the argument is an interface. The process pins
 * memory of a file whose file system, part of the program, does not answer, and
 * holds its own mmap lock meanwhile. A process of the same user that needs the
 * pages which the card of the slow process keeps must wait, and nobody else.
 */
#define _GNU_SOURCE

#include "kmod_user.h"

#include <linux/fuse.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum {
	USER = 1000,
	KEPT = 600, /* pages: so many change the account of the process */
	NEEDED = 200,
	PERMITTED = 700,
	TRIES = 1000,
};

/* ---- the file system ---- */

static int fuse;
static volatile bool asked, answering;

static void reply(const struct fuse_in_header *in, int error, const void *body,
		  size_t length)
{
	struct fuse_out_header head = { .error = error, .unique = in->unique };
	uint8_t out[sizeof(head) + PAGE];

	head.len = (uint32_t)(sizeof(head) + length);
	memcpy(out, &head, sizeof(head));
	memcpy(out + sizeof(head), body, length);
	CHECK(write(fuse, out, head.len) == (ssize_t)head.len);
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = PAGE,
		.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644,
		.nlink = 1,
	};
}

static void answer(const struct fuse_in_header *in)
{
	struct fuse_init_out init = { .major = 7,
				      .minor = 31,
				      .max_write = PAGE };
	struct fuse_entry_out entry = { .nodeid = 2,
					.entry_valid = 1000,
					.attr_valid = 1000,
					.attr = attributes(2) };
	struct fuse_attr_out attr = { .attr_valid = 1000,
				      .attr = attributes(in->nodeid) };
	struct fuse_open_out opened = { .fh = 1 };
	static const uint8_t page[PAGE];

	switch (in->opcode) {
	case FUSE_INIT:
		return reply(in, 0, &init, sizeof(init));
	case FUSE_LOOKUP:
		return reply(in, 0, &entry, sizeof(entry));
	case FUSE_GETATTR:
		return reply(in, 0, &attr, sizeof(attr));
	case FUSE_OPEN:
		return reply(in, 0, &opened, sizeof(opened));
	case FUSE_READ:
		asked = true;
		while (!answering)
			usleep(1000);
		return reply(in, 0, page, PAGE);
	case FUSE_FORGET:
		return;
	}
	reply(in, -ENOSYS, NULL, 0);
}

static void *serve(void *unused)
{
	static uint8_t in[1 << 20];

	while (read(fuse, in, sizeof(in)) > 0)
		answer((const void *)in);
	return unused;
}

/* A page of a file that nobody can read until `answering`. */
static void *slow_page(void)
{
	pthread_t thread;
	char options[80];
	void *memory;
	int fd;

	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	CHECK(fuse >= 0 && !mkdir("/tmp/slow", 0755));
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	CHECK(!mount("slow", "/tmp/slow", "fuse", 0, options));
	CHECK(!pthread_create(&thread, NULL, serve, NULL));
	fd = open("/tmp/slow/file", O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	memory = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(memory != MAP_FAILED && !close(fd));
	return memory;
}

/* ---- the processes ---- */

static const char *interface;

static void set_limit(unsigned pages)
{
	FILE *file = fopen("/sys/module/bcl/parameters/user_pages", "w");

	CHECK(file && fprintf(file, "%u\n", pages) > 0 && !fclose(file));
}

static void open_all(struct user *card, uid_t user)
{
	CHECK(!setuid(user));
	open_card(card, interface);
	open_port(card, 1);
}

static void post_and_unpost(const struct user *card, void *memory, size_t pages)
{
	CHECK(post(card, 1, 1, memory, pages * PAGE, 1) == BCL_OK);
	CHECK(unpost(card, 1) == BCL_OK);
}

static void be_slow(void *slow)
{
	struct user card;

	open_all(&card, USER);
	post_and_unpost(&card, memory_of(KEPT * PAGE), KEPT);
	post_and_unpost(&card, slow, 1);
}

static void be_needy(void *unused)
{
	struct user card;

	(void)unused;
	open_all(&card, USER);
	post_and_unpost(&card, memory_of(NEEDED * PAGE), NEEDED);
}

/* Of another user, as soon as the slow process keeps nothing. */
static void be_other(void *unused)
{
	struct user card;

	(void)unused;
	while (kept_pages())
		usleep(1000);
	open_all(&card, USER + 1);
	post_and_unpost(&card, memory_of(NEEDED * PAGE), NEEDED);
	close_card(&card);
}

static pid_t start(void (*run)(void *argument), void *argument)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	run(argument);
	_exit(0);
}

/* -1: the process goes on. */
static int status_of(pid_t pid)
{
	int status;

	return waitpid(pid, &status, WNOHANG) == pid ? status : -1;
}

static void expect_end(pid_t pid)
{
	unsigned i;
	int status;

	for (i = 0; (status = status_of(pid)) < 0; i++) {
		CHECK(i < TRIES);
		usleep(10000);
	}
	CHECK(status == 0);
}

int main(int argc, char **argv)
{
	pid_t slow, needy;
	void *page;

	CHECK(argc == 2);
	interface = argv[1];
	page = slow_page();
	slow = start(be_slow, page);
	while (!asked)
		usleep(1000);
	CHECK(kept_pages() == KEPT);
	set_limit(PERMITTED);
	needy = start(be_needy, NULL);
	expect_end(start(be_other, NULL));
	CHECK(status_of(slow) < 0 && status_of(needy) < 0);
	answering = true;
	expect_end(slow);
	expect_end(needy);
	set_limit(-1);
	umount2("/tmp/slow", MNT_DETACH);
	expect_no_pins();
	printf("slow: %u checks passed\n", checks);
	return 0;
}
