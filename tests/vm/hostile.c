/* SPDX-License-Identifier: MIT */
/*
 * Processes that attack the kernel module bcl.ko, in a guest; the arguments are
 * two interfaces that reach each other. After an attack the kernel is whole:
 * its own checks have found nothing, and no page is pinned.
 */
#include "kmod_user.h"

#include <stdlib.h>
#include <sys/wait.h>

static void expect_success(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/*
 * The opener has closed its file, which an heir still has. While the card is
 * given up because the opener ends, the heir closes the file for good, some
 * microseconds after the opener's last word.
 */
static void test_two_ends(const char *interface, unsigned delay)
{
	uint8_t *memory = memory_of(1 << 20);
	pid_t opener = fork(), heir;
	struct user a;
	int word[2];
	char byte = 0;

	if (opener) {
		expect_success(opener);
		munmap(memory, 1 << 20);
		return;
	}
	open_card(&a, interface);
	open_port(&a, 3);
	CHECK(add_memory(&a, 1, memory, 1 << 20, 7) == BCL_OK);
	CHECK(post(&a, 1, 1, memory, 1 << 20, 0) == BCL_OK);
	CHECK(!pipe(word));
	heir = fork();
	if (!heir) {
		if (read(word[0], &byte, 1) != 1)
			_exit(1);
		usleep(delay);
		_exit(close(a.fd) != 0);
	}
	close_card(&a);
	CHECK(write(word[1], &byte, 1) == 1);
	_exit(0);
}

static void run(const char *format, const char *interface)
{
	char command[64];

	snprintf(command, sizeof(command), format, interface);
	CHECK(!system(command));
}

/*
 * A card whose peers may be silent for some centuries asks for a call so late
 * that the kernel's clock cannot count so far: it waits for an answer, and has
 * no rail to ask again.
 */
static void test_far_deadline(const char *one, const char *other)
{
	struct bcl_device_connect connect;
	struct user a, b;

	open_card(&b, other);
	open_port(&b, 2);
	open_card_for(&a, one, 1ull << 63);
	open_port(&a, 1);
	connect = connect_argument(&b);
	connect.card = 1234567;
	CHECK(ioctl(a.fd, BCL_DEVICE_CONNECT, &connect) == BCL_OK);
	run("ifconfig %s down", one);
	usleep(500000); /* the next call is due after a tenth of a second */
	run("ifconfig %s up", one);
	close_card(&b);
	close_card(&a);
}

int main(int argc, char **argv)
{
	unsigned i;

	CHECK(argc == 3);
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("two ends\n");
	for (i = 0; i < 60; i++)
		test_two_ends(argv[1], i * 500);
	while (wait(NULL) > 0)
		;
	expect_no_pins();
	printf("far deadline\n");
	test_far_deadline(argv[1], argv[2]);
	expect_no_pins();
	printf("%u checks passed\n", checks);
	return 0;
}
