/* SPDX-License-Identifier: MIT */
/*
 * again serve TIMES EARLY | call: two guests. The caller loses power at any
 * moment and comes back. The server keeps two cards, one for Ethernet and one
 * for UDP. In each life of the caller one of them, in turn, sends messages, and
 * puts data into memory of the caller, until the card reports the caller as
 * dead. The caller checks all messages and data. After EARLY lives the server
 * makes the file /early, after TIMES lives the file /end, and waits until
 * somebody has looked at what the kernel keeps, and has removed the file. Then
 * no page is pinned for the dead.
 */
#include "kmod_user.h"

#include <arpa/inet.h>
#include <sys/socket.h>

enum {
	TCP_PORT = 7000,
	HANDLE = 0x10001,
	BLOCK = 3000,
	SIZE = 50000,	    /* bytes of a put */
	SLOTS = 2 * BLOCKS, /* places for puts: no peer is as far behind
			     */
	ENOUGH = 20,	    /* messages of a life */
};

static const char server_address[] = "10.0.0.1", interface[] = "eth0";

/* ---- meeting ---- */

static struct sockaddr_in server(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(TCP_PORT),
	};

	CHECK(inet_aton(server_address, &address.sin_addr));
	return address;
}

static int listen_for_calls(void)
{
	struct sockaddr_in address = server();
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(!bind(fd, (void *)&address, sizeof(address)) && !listen(fd, 1));
	return fd;
}

static int call(void)
{
	struct sockaddr_in address = server();
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	while (connect(fd, (void *)&address, sizeof(address)))
		usleep(100000); /* the server's guest comes up */
	return fd;
}

/* Tell the peer the name and the address of a card. */
static void tell(int fd, const struct user *own)
{
	CHECK(write(fd, &own->open, sizeof(own->open)) == sizeof(own->open));
}

static void hear(int fd, struct user *other)
{
	CHECK(recv(fd, &other->open, sizeof(other->open), MSG_WAITALL) ==
	      sizeof(other->open));
}

/* ---- the peer that dies ---- */

static void expect_message(struct user *user, uint8_t *memory, unsigned i)
{
	struct bcl_completion entry = received(user);

	CHECK(entry.kind == BCL_CQ_SYSTEM && entry.status == BCL_OK);
	CHECK(entry.length == BLOCK && entry.targ64 == i);
	CHECK(is_filled(user->blocks + bcl_block_at(BLOCKS, entry.index, BLOCK),
			BLOCK, i));
	CHECK(is_filled(memory + i % SLOTS * SIZE, SIZE, i));
	free_block(user, BLOCK);
}

static void live(void)
{
	uint8_t *memory = memory_of(SLOTS * SIZE);
	struct user own, peer;
	int fd = call();
	unsigned i;

	hear(fd, &peer);
	kind = peer.open.end[0].address.kind;
	open_card(&own, interface);
	open_port(&own, 1);
	CHECK(add_memory(&own, HANDLE, memory, SLOTS * SIZE, 7) == BCL_OK);
	tell(fd, &own);
	for (i = 0;; i++) {
		expect_message(&own, memory, i);
		if (i == ENOUGH)
			printf("again: alive\n");
	}
}

/* ---- the server ---- */

static struct bcl_request put_of(const uint8_t *memory, unsigned i)
{
	return (struct bcl_request){
		.op = BCL_REQ_PUT,
		.dst_port = 1,
		.target = HANDLE,
		.targ64 = (1 << 20) + i % SLOTS * SIZE,
		.length = SIZE,
		.nref = 1,
		.refs = { self(memory, SIZE) },
	};
}

static struct bcl_request message_of(const uint8_t *memory, unsigned i)
{
	return (struct bcl_request){
		.op = BCL_REQ_SYSTEM,
		.dst_port = 1,
		.length = BLOCK,
		.targ64 = i,
		.nref = 1,
		.refs = { self(memory, BLOCK) },
	};
}

/* Put data, then send a message, which waits until the peer has a free block.
 * Returns false if the peer is dead. */
static bool send_both(struct user *own, uint8_t *memory, unsigned i)
{
	struct bcl_completion put, message;

	fill(memory, SIZE, i);
	put = submit_and_wait(own, put_of(memory, i));
	if (!put.status) {
		message = submit_and_wait(own, message_of(memory, i));
		if (!message.status)
			return true;
		put.status = message.status;
	}
	CHECK(put.status >= BCL_ERR_DEAD);
	return false;
}

/* Serve one life of the peer, to its end. */
static unsigned serve(struct user *own, int listening, uint8_t *memory)
{
	int fd = accept(listening, NULL, NULL);
	struct user peer;
	unsigned i = 0;

	CHECK(fd >= 0);
	tell(fd, own);
	hear(fd, &peer);
	connect_to(own, &peer);
	while (send_both(own, memory, i))
		i++;
	close(fd);
	CHECK(node_state(own).state == BCL_NODE_LOST);
	/* The peer lived, or no power would be lost; what it got last may not
	 * have been acknowledged. */
	CHECK(i >= ENOUGH);
	return i;
}

static void be_looked_at(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && !close(fd));
	while (!access(name, F_OK))
		usleep(100000);
	expect_no_pins();
}

int main(int argc, char **argv)
{
	unsigned times, early, i;
	uint8_t *memory;
	struct user own[2];
	int listening;

	setvbuf(stdout, NULL, _IONBF, 0);
	pcrc = 1; /* the wire corrupts frames */
	if (argc == 2)
		live();
	CHECK(argc == 4);
	times = (unsigned)atoi(argv[2]);
	early = (unsigned)atoi(argv[3]);
	memory = memory_of(SIZE);
	listening = listen_for_calls();
	for (i = 0; i < 2; i++) {
		kind = i ? BCL_WIRE_UDP4 : BCL_WIRE_PACKET;
		open_card(&own[i], interface);
		open_port(&own[i], 1);
	}
	for (i = 1; i <= times; i++) {
		printf("again: life %u had %u messages\n", i,
		       serve(&own[i % 2], listening, memory));
		if (i == early)
			be_looked_at("/early");
	}
	be_looked_at("/end");
	for (i = 0; i < 2; i++)
		close_card(&own[i]);
	expect_no_pins();
	printf("again: %u checks passed\n", checks);
	return 0;
}
