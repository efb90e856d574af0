/* SPDX-License-Identifier: MIT */
/*
 * copy INTERFACE: tests of COPY, in a guest. A process copies from and to the
 * memory of a child, so the same addresses are valid in both processes.
 */
#define _GNU_SOURCE

#include "kmod_user.h"

#include <signal.h>
#include <sys/wait.h>

enum {
	SIZE = 40 * PAGE,
	ODD = 123, /* bytes */
	OTHER_USER = 1000,
	KERNEL = 1 << 12, /* bytes at an address of the kernel */
};

static const uint64_t kernel_address = 0xffffffff80000000u;

static const char *interface;
static uint8_t
	*memory; /* of either process; nobody may access the page behind */
static uint8_t *fixed; /* a page that can only be read */

/* ---- the other process ---- */

struct peer {
	pid_t pid;
	int word[2]; /* a pipe, to the other process */
	uint64_t card;
	uint64_t given; /* address of memory of the device */
};

/* The kind of the other process. */
struct nature {
	bool closed;   /* admits nobody */
	bool stranger; /* is of another job */
	uid_t user;
};

static void live(const struct nature *nature, int out, int in)
{
	struct user user;
	uint64_t told[2];
	char byte;

	admits = !nature->closed;
	key[0] += nature->stranger;
	CHECK(!setresuid(nature->user, nature->user, nature->user));
	open_card(&user, interface);
	open_port(&user, 1);
	fill(memory, SIZE, 1);
	told[0] = user.open.card;
	told[1] = (uintptr_t)user.given;
	CHECK(write(out, told, sizeof(told)) == sizeof(told));
	CHECK(read(in, &byte, 1) == 1);
	CHECK(is_filled(memory, SIZE, (uint8_t)byte));
	close_card(&user);
	_exit(0);
}

static struct peer start(struct nature nature)
{
	struct peer peer;
	uint64_t told[2];
	int from[2];

	CHECK(!pipe(peer.word) && !pipe(from));
	peer.pid = fork();
	CHECK(peer.pid >= 0);
	if (!peer.pid)
		live(&nature, from[1], peer.word[0]);
	close(from[1]);
	CHECK(read(from[0], told, sizeof(told)) == sizeof(told));
	close(from[0]);
	peer.card = told[0];
	peer.given = told[1];
	return peer;
}

/* End the other process, after a check of its memory against the seed. */
static void end(struct peer *peer, char seed)
{
	int status;

	CHECK(write(peer->word[1], &seed, 1) == 1);
	CHECK(waitpid(peer->pid, &status, 0) == peer->pid && status == 0);
	close(peer->word[0]);
	close(peer->word[1]);
}

/* ---- copies ---- */

static long copy(const struct user *user, uint64_t card, uint64_t local,
		 uint64_t remote, uint64_t length, uint32_t write)
{
	const struct bcl_device_copy copy = {
		.card = card,
		.local = local,
		.remote = remote,
		.length = length,
		.write = write,
	};

	return ioctl(user->fd, BCL_DEVICE_COPY, &copy);
}

static uint64_t at(const void *pointer)
{
	return (uintptr_t)pointer;
}

static void test_contents(const struct user *user, const struct peer *peer)
{
	const uint64_t from = at(memory);
	uint8_t *here = memory_of(SIZE);
	size_t i;

	CHECK(copy(user, peer->card, at(here), from, SIZE, 0) == BCL_OK);
	CHECK(is_filled(here, SIZE, 1));
	memset(here, 0, SIZE);
	CHECK(copy(user, peer->card, at(here) + 1, from + ODD,
		   SIZE - PAGE - ODD, 0) == BCL_OK);
	for (i = 0; i < SIZE - PAGE - ODD; i++)
		if (here[i + 1] !=
		    (uint8_t)(1 + (i + ODD) * 7 + ((i + ODD) >> 8) * 13))
			break;
	CHECK(i == SIZE - PAGE - ODD && !here[0] && !here[i + 1]);
	fill(here, SIZE, 2);
	CHECK(copy(user, peer->card, at(here), from, ODD, 1) == BCL_OK);
	CHECK(copy(user, peer->card, at(here) + ODD, from + ODD, SIZE - ODD,
		   1) == BCL_OK);
	CHECK(counters_of(user).bytes_copied_between == 3 * SIZE - PAGE - ODD);
	CHECK(!munmap(here, SIZE));
}

static void test_wrong_memory(const struct user *user, const struct peer *peer)
{
	const uint64_t here = at(memory), barred = here + SIZE;
	const struct {
		uint64_t local, remote, length;
		uint32_t write;
		long result;
	} cases[] = {
		{ here, barred, 1, 0, BCL_ERR_MEMORY },
		{ here, barred - 1, 2, 0, BCL_ERR_MEMORY },
		{ here, barred, 1, 1, BCL_ERR_MEMORY },
		{ barred, here, 1, 0, BCL_ERR_MEMORY },
		{ barred, here, 1, 1, BCL_ERR_MEMORY },
		{ here, at(fixed), PAGE, 0, BCL_OK },
		{ here, at(fixed), PAGE, 1, BCL_ERR_MEMORY },
		{ at(fixed), here, PAGE, 0, BCL_ERR_MEMORY },
		{ here, kernel_address, KERNEL, 0, BCL_ERR_MEMORY },
		{ here, kernel_address, KERNEL, 1, BCL_ERR_MEMORY },
		{ kernel_address, here, KERNEL, 0, BCL_ERR_MEMORY },
		{ kernel_address, here, KERNEL, 1, BCL_ERR_MEMORY },
		{ here, here, UINT64_MAX, 0, BCL_ERR_MEMORY },
		{ here, here, UINT64_MAX - here, 1, BCL_ERR_MEMORY },
		{ here, UINT64_MAX - 5, 10, 1, BCL_ERR_MEMORY },
		{ here, peer->given, PAGE, 0, BCL_ERR_MEMORY },
		{ here, peer->given, PAGE, 1, BCL_ERR_MEMORY },
		{ at(user->shown), here, PAGE, 0, BCL_ERR_MEMORY },
		{ kernel_address, kernel_address, 0, 0, BCL_ERR_MEMORY },
		{ 0, 0, 0, 0, BCL_OK },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (copy(user, peer->card, cases[i].local, cases[i].remote,
			 cases[i].length, cases[i].write) != cases[i].result) {
			printf("copy: case %zu\n", i);
			CHECK(false);
		}
	CHECK(copy(user, peer->card, here, here, 1, 2) == -1 &&
	      errno == EINVAL);
	CHECK(ioctl(user->fd, BCL_DEVICE_COPY, kernel_address) == -1 &&
	      errno == EFAULT);
}

/* Cards beyond the caller's reach. */
static void test_refused(const struct user *user, struct nature nature)
{
	struct peer peer = start(nature);
	const uint64_t here = at(memory);

	CHECK(copy(user, peer.card, here, here, 1, 0) == BCL_ERR_PERM);
	CHECK(copy(user, peer.card, here, here, 1, 1) == BCL_ERR_PERM);
	CHECK(copy(user, peer.card, 0, 0, 0, 0) == BCL_ERR_PERM);
	end(&peer, 1);
	CHECK(copy(user, peer.card, here, here, 1, 0) == BCL_ERR_DEAD);
}

/* A child has no use for an inherited card. */
static void test_heir(const struct user *user, const struct peer *peer)
{
	pid_t heir = fork();
	int status;

	if (!heir)
		_exit(copy(user, peer->card, at(memory), at(memory), 1, 0) !=
			      -1 ||
		      errno != EPERM);
	CHECK(waitpid(heir, &status, 0) == heir && status == 0);
}

/* The other process is killed in the middle of a copy. */
static void test_killed(const struct user *user)
{
	struct peer peer = start((struct nature){ 0 });
	const uint64_t here = at(memory);
	unsigned copies = 0;
	long result;

	while ((result = copy(user, peer.card, here, here, SIZE, copies % 2)) ==
	       BCL_OK)
		if (++copies == 100)
			CHECK(!kill(peer.pid, SIGKILL));
	CHECK(result == BCL_ERR_DEAD && copies >= 100);
	CHECK(waitpid(peer.pid, NULL, 0) == peer.pid);
}

int main(int argc, char **argv)
{
	struct user user;
	struct peer peer;

	if (argc < 2)
		return 2;
	interface = argv[1];
	setvbuf(stdout, NULL, _IONBF, 0);
	memory = memory_of(SIZE + PAGE);
	CHECK(!mprotect(memory + SIZE, PAGE, PROT_NONE));
	fixed = memory_of(PAGE);
	fixed[0] = 1;
	CHECK(!mprotect(fixed, PAGE, PROT_READ));
	open_card(&user, interface);
	open_port(&user, 1);
	peer = start((struct nature){ 0 });
	test_contents(&user, &peer);
	test_wrong_memory(&user, &peer);
	test_heir(&user, &peer);
	end(&peer, 2);
	CHECK(copy(&user, 1, 0, 0, 0, 0) == BCL_ERR_DEAD);
	/* of itself, which admits nobody */
	CHECK(copy(&user, user.open.card, 0, 0, 0, 0) == BCL_ERR_PERM);
	test_refused(&user, (struct nature){ .closed = true });
	test_refused(&user, (struct nature){ .stranger = true });
	test_refused(&user, (struct nature){ .user = OTHER_USER });
	test_killed(&user);
	close_card(&user);
	expect_no_pins();
	printf("%u checks passed\n", checks);
	return 0;
}
