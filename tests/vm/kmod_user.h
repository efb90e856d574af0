/* SPDX-License-Identifier: MIT */
/*
 * A card of the kernel and its port, as the library sees them, for the tests of
 * the module: by the calls of bcl/card_device.h alone.
 */
#ifndef BCL_VM_KMOD_USER_H
#define BCL_VM_KMOD_USER_H

#include <bcl/card_device.h>
#include <bcl/status.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define TIMEOUT 5000000000ull /* ns of silence of a peer */

#define CHECK(holds)                                                   \
	do {                                                           \
		checks++;                                              \
		if (!(holds)) {                                        \
			printf("%s:%d: %s: %s (errno %d)\n", __FILE__, \
			       __LINE__, __func__, #holds, errno);     \
			fflush(stdout);                                \
			_exit(1);                                      \
		}                                                      \
	} while (0)

/* Run a test, and say which: the last one named is the one that failed. */
#define TEST(call)                         \
	do {                               \
		printf("    %s\n", #call); \
		call;                      \
	} while (0)

enum {
	REQUESTS = 16,
	RECEIVES = 64,
	BLOCKS = 32,
	LONGS = 4,
	CHANNELS = 8,
	PATIENCE = 20000, /* ms */
	PAGE = 4096,
};

static unsigned checks;
static unsigned pcrc;		       /* payload checksums are wanted */
static unsigned admits;		       /* the process: COPY by its job */
static uint8_t kind = BCL_WIRE_PACKET; /* of the ends */
static uint8_t key[BCL_KEY_SIZE] = { 1, 2, 3 };

/* ---- a card and its port, as the library sees them ---- */

struct queue {
	const struct bcl_completion *entries;
	uint32_t n, next, lap;
};

struct user {
	int fd, wake;
	struct bcl_device_open open;
	struct bcl_control port;
	uint32_t seat;
	const uint8_t *shown;
	uint8_t *given;
	const volatile struct bcl_device_news *news;
	struct bcl_request *requests;
	uint32_t *submits;
	struct bcl_port_indices *indices;
	uint8_t *bounce;
	const uint8_t *blocks;
	const uint32_t *again;
	uint32_t *postings;
	struct queue sends, receives;
	uint32_t made, node, generation;
	uint32_t busy; /* bit r: request r is in flight */
};

static inline size_t whole_pages(uint64_t bytes)
{
	return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* The address of the interface for an end: of the kind, without a port. */
static inline struct bcl_wire_address address_of(const char *interface)
{
	struct bcl_wire_address address = {
		.kind = kind,
		.length = bcl_wire_length(kind),
	};
	int family = kind == BCL_WIRE_UDP4 ? AF_INET : AF_INET6;
	struct ifaddrs *all, *one;

	if (kind == BCL_WIRE_PACKET)
		return address;
	CHECK(!getifaddrs(&all));
	for (one = all; one; one = one->ifa_next)
		if (!strcmp(one->ifa_name, interface) && one->ifa_addr &&
		    one->ifa_addr->sa_family == family)
			break;
	CHECK(one);
	if (family == AF_INET)
		memcpy(address.bytes,
		       &((struct sockaddr_in *)(void *)one->ifa_addr)->sin_addr,
		       4);
	else
		memcpy(address.bytes,
		       &((struct sockaddr_in6 *)(void *)one->ifa_addr)
				->sin6_addr,
		       16);
	freeifaddrs(all);
	return address;
}

static inline struct bcl_device_open open_argument(const char *interface)
{
	struct bcl_device_open open = {
		.abi = BCL_CARD_ABI,
		.nends = 1,
		.incarnation = 77,
		.peer_timeout = TIMEOUT,
		.pcrc = pcrc,
		.admits = admits,
	};

	memcpy(open.key, key, sizeof(key));
	open.end[0].interface = if_nametoindex(interface);
	open.end[0].address = address_of(interface);
	return open;
}

/* Peers may be silent for `timeout` ns. */
static inline void open_card_for(struct user *user, const char *interface,
				 uint64_t timeout)
{
	memset(user, 0, sizeof(*user));
	user->fd = open(BCL_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	CHECK(user->fd >= 0);
	user->open = open_argument(interface);
	user->open.peer_timeout = timeout;
	CHECK(ioctl(user->fd, BCL_DEVICE_OPEN, &user->open) == BCL_OK);
	CHECK(user->open.card != 0 && user->open.end[0].refused == 0);
	CHECK(user->open.end[0].up == 1 &&
	      user->open.end[0].address.length == bcl_wire_length(kind));
	CHECK(user->open.end[0].mtu >= 576 - 48);
	user->news = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, user->fd,
			  BCL_DEVICE_NEWS);
	CHECK(user->news != MAP_FAILED);
}

static inline void open_card(struct user *user, const char *interface)
{
	open_card_for(user, interface, TIMEOUT);
}

static inline struct bcl_device_port port_argument(unsigned number, int wake)
{
	return (struct bcl_device_port){
		.number = number,
		.nrequests = REQUESTS,
		.nreceives = RECEIVES,
		.nblocks = BLOCKS,
		.nlongs = LONGS,
		.nchannels = CHANNELS,
		.wake = wake,
	};
}

static inline size_t part_size(const struct user *user,
			       enum bcl_device_part part)
{
	return whole_pages(bcl_device_area(&user->port, part, BCL_AREAS));
}

static inline const void *area(const struct user *user, enum bcl_area which)
{
	enum bcl_device_part part = bcl_device_part(which);

	return (part == BCL_DEVICE_SHOWN ? user->shown : user->given) +
	       bcl_device_area(&user->port, part, which);
}

static inline void map_port(struct user *user)
{
	user->shown = mmap(NULL, part_size(user, BCL_DEVICE_SHOWN), PROT_READ,
			   MAP_SHARED, user->fd,
			   bcl_device_map(user->seat, BCL_DEVICE_SHOWN));
	CHECK(user->shown != MAP_FAILED);
	user->given = mmap(NULL, part_size(user, BCL_DEVICE_GIVEN),
			   PROT_READ | PROT_WRITE, MAP_SHARED, user->fd,
			   bcl_device_map(user->seat, BCL_DEVICE_GIVEN));
	CHECK(user->given != MAP_FAILED);
	user->requests = (void *)area(user, BCL_AREA_REQUESTS);
	user->submits = bcl_submits(user->requests, REQUESTS);
	user->indices = (void *)area(user, BCL_AREA_INDICES);
	user->bounce = (void *)area(user, BCL_AREA_BOUNCE);
	user->blocks = area(user, BCL_AREA_BLOCKS);
	user->sends =
		(struct queue){ area(user, BCL_AREA_SENDS), REQUESTS, 0, 1 };
	user->receives =
		(struct queue){ area(user, BCL_AREA_RECEIVES), RECEIVES, 0, 1 };
	user->again = bcl_again(user->receives.entries, RECEIVES);
	user->postings = bcl_postings(user->indices);
}

static inline void unmap_port(struct user *user)
{
	CHECK(!munmap((void *)user->shown, part_size(user, BCL_DEVICE_SHOWN)));
	CHECK(!munmap(user->given, part_size(user, BCL_DEVICE_GIVEN)));
}

static inline void open_port(struct user *user, unsigned number)
{
	struct bcl_device_port port;

	user->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	CHECK(user->wake >= 0);
	port = port_argument(number, user->wake);
	CHECK(ioctl(user->fd, BCL_DEVICE_PORT_OPEN, &port) == BCL_OK);
	user->seat = port.seat;
	user->port = (struct bcl_control){
		.op = BCL_CTL_PORT_OPEN,
		.port = { .number = number,
			  .nrequests = REQUESTS,
			  .nreceives = RECEIVES,
			  .nblocks = BLOCKS,
			  .nlongs = LONGS,
			  .nchannels = CHANNELS },
	};
	user->made = 0;
	user->busy = 0;
	map_port(user);
}

static inline void close_card(struct user *user)
{
	unmap_port(user);
	CHECK(!munmap((void *)user->news, PAGE));
	CHECK(!close(user->fd));
	CHECK(!close(user->wake));
}

static inline const struct bcl_completion *peek(const struct queue *queue)
{
	const struct bcl_completion *entry = &queue->entries[queue->next];

	return __atomic_load_n(&entry->lap, __ATOMIC_ACQUIRE) == queue->lap
		       ? entry
		       : NULL;
}

/* Sleep until the card wakes the port. */
static inline void sleep_until(struct user *user, const struct queue *queue)
{
	struct pollfd poll_for = { .fd = user->wake, .events = POLLIN };
	uint64_t n;

	__atomic_store_n(&user->indices->sleeping, 1, __ATOMIC_SEQ_CST);
	if (!peek(queue)) {
		CHECK(poll(&poll_for, 1, PATIENCE) == 1);
		CHECK(read(user->wake, &n, sizeof(n)) == sizeof(n));
	}
	__atomic_store_n(&user->indices->sleeping, 0, __ATOMIC_SEQ_CST);
}

static inline struct bcl_completion next_of(struct user *user,
					    struct queue *queue)
{
	const struct bcl_completion *entry;
	struct bcl_completion result;

	while (!(entry = peek(queue)))
		sleep_until(user, queue);
	result = *entry;
	if (++queue->next == queue->n) {
		queue->next = 0;
		queue->lap++;
	}
	return result;
}

static inline struct bcl_completion received(struct user *user)
{
	return next_of(user, &user->receives);
}

static inline void free_block(struct user *user, uint32_t length)
{
	uint32_t *freed = length > BCL_BLOCK_SIZE
				  ? &user->indices->longs_freed
				  : &user->indices->blocks_freed;

	__atomic_store_n(freed, *freed + 1, __ATOMIC_RELEASE);
}

static inline struct bcl_completion sent(struct user *user)
{
	struct bcl_completion entry = next_of(user, &user->sends);

	CHECK(entry.kind == BCL_CQ_SENT && entry.index < REQUESTS);
	CHECK(user->busy & 1u << entry.index);
	user->busy &= ~(1u << entry.index);
	return entry;
}

static inline uint32_t free_slot(struct user *user)
{
	uint32_t slot = 0;

	while (user->busy & 1u << slot)
		slot++;
	CHECK(slot < REQUESTS);
	return slot;
}

/* Write a number to submits[] without a doorbell. */
static inline void write_submit(struct user *user, uint32_t slot)
{
	user->submits[user->made++ % REQUESTS] = slot;
	__atomic_store_n(&user->indices->requests_made, user->made,
			 __ATOMIC_RELEASE);
}

static inline uint32_t submit(struct user *user, struct bcl_request request)
{
	uint32_t slot = free_slot(user);

	request.node = user->node;
	request.generation = user->generation;
	request.cookie = 1000 + slot;
	user->busy |= 1u << slot;
	user->requests[slot] = request;
	write_submit(user, slot);
	return slot;
}

static inline long doorbell(const struct user *user)
{
	return ioctl(user->fd, BCL_DEVICE_DOORBELL, user->seat);
}

static inline struct bcl_completion submit_and_wait(struct user *user,
						    struct bcl_request request)
{
	uint32_t slot = submit(user, request);
	struct bcl_completion entry;

	CHECK(doorbell(user) == BCL_OK);
	entry = sent(user);
	CHECK(entry.index == slot && entry.cookie == 1000 + slot);
	return entry;
}

static inline struct bcl_memref self(const void *memory, uint32_t length)
{
	return (struct bcl_memref){ (uintptr_t)memory, BCL_HANDLE_SELF,
				    length };
}

static inline struct bcl_device_node node_state(const struct user *user)
{
	struct bcl_device_node node = { .index = user->node };

	CHECK(ioctl(user->fd, BCL_DEVICE_NODE, &node) == BCL_OK);
	return node;
}

/* `states`: bit s: the node may be in state s. */
static inline void wait_for_state(struct user *user, unsigned states)
{
	struct bcl_device_node node = node_state(user);
	unsigned i;

	for (i = 0; !(states >> node.state & 1); i++) {
		struct pollfd poll_for = { .fd = user->wake, .events = POLLIN };
		uint64_t n;

		__atomic_store_n(&user->indices->sleeping, 1, __ATOMIC_SEQ_CST);
		if (user->news->changes == node.changes)
			CHECK(poll(&poll_for, 1, PATIENCE) == 1);
		__atomic_store_n(&user->indices->sleeping, 0, __ATOMIC_SEQ_CST);
		if (read(user->wake, &n, sizeof(n)) < 0)
			CHECK(errno == EAGAIN);
		CHECK(i < 100);
		node = node_state(user);
	}
	user->generation = node.generation;
}

static inline struct bcl_device_connect connect_argument(const struct user *to)
{
	struct bcl_device_connect connect = {
		.card = to->open.card,
		.nwires = 1,
		.nways = 1,
	};

	memcpy(connect.key, key, sizeof(key));
	connect.wire[0] = to->open.end[0].address;
	return connect;
}

static inline void connect_to(struct user *user, const struct user *to)
{
	struct bcl_device_connect connect = connect_argument(to);

	CHECK(ioctl(user->fd, BCL_DEVICE_CONNECT, &connect) == BCL_OK);
	user->node = connect.index;
	wait_for_state(user, 1 << BCL_NODE_UP);
}

static inline long post(const struct user *user, uint32_t number,
			unsigned generation, void *memory, uint64_t length,
			unsigned reading)
{
	struct bcl_control control = {
		.op = BCL_CTL_POST,
		.channel = { .port = user->port.port.number,
			     .number = number,
			     .generation = generation,
			     .reading = reading,
			     .offset = (uintptr_t)memory,
			     .length = length,
			     .cookie = 500 + number },
	};

	return ioctl(user->fd, BCL_DEVICE_CONTROL, &control);
}

static inline long unpost(const struct user *user, uint32_t number)
{
	struct bcl_control control = {
		.op = BCL_CTL_UNPOST,
		.channel = { .port = user->port.port.number, .number = number },
	};

	return ioctl(user->fd, BCL_DEVICE_CONTROL, &control);
}

/* True if the channel may be posted by the word. */
static inline bool may_repost(const struct user *user, uint32_t number)
{
	return __atomic_load_n(&user->again[number], __ATOMIC_SEQ_CST);
}

static inline void post_by_word(const struct user *user, uint32_t number)
{
	__atomic_fetch_add(&user->postings[number], 1, __ATOMIC_SEQ_CST);
}

static inline long add_memory(const struct user *user, uint32_t handle,
			      void *memory, uint64_t length, uint32_t rights)
{
	struct bcl_device_memory named = {
		.address = (uintptr_t)memory,
		.length = length,
		.base = 1 << 20,
		.handle = handle,
		.rights = rights,
	};

	return ioctl(user->fd, BCL_DEVICE_MEMORY, &named);
}

static inline struct bcl_device_counters counters_of(const struct user *user)
{
	struct bcl_device_counters counters;

	CHECK(ioctl(user->fd, BCL_DEVICE_COUNTERS, &counters) == BCL_OK);
	return counters;
}

/* ---- memory with contents ---- */

/* `more`: further flags of mmap(). */
static inline uint8_t *memory_at(void *at, size_t size, int more)
{
	uint8_t *memory = mmap(at, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

static inline uint8_t *memory_of(size_t size)
{
	return memory_at(NULL, size, 0);
}

static inline void fill(uint8_t *memory, size_t length, unsigned seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		memory[i] = (uint8_t)(seed + i * 7 + (i >> 8) * 13);
}

static inline bool is_filled(const uint8_t *memory, size_t length,
			     unsigned seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (memory[i] != (uint8_t)(seed + i * 7 + (i >> 8) * 13))
			return false;
	return true;
}

/* ---- the kernel's own accounts ---- */

static inline long vmstat(const char *name)
{
	FILE *file = fopen("/proc/sys/vm/stat_refresh", "w");
	char line[128];
	long value = -1;

	CHECK(file && fputs("1\n", file) >= 0 && !fclose(file));
	file = fopen("/proc/vmstat", "r");
	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)) &&
		    line[strlen(name)] == ' ')
			value = atol(line + strlen(name));
	fclose(file);
	CHECK(value >= 0);
	return value;
}

/* What counts against RLIMIT_MEMLOCK, in KB. */
static inline long locked_kb(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	long kb = -1;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "VmLck: %ld", &kb);
	fclose(file);
	return kb;
}

/* Pages that all cards keep pinned for later. */
static inline long kept_pages(void)
{
	struct bcl_device_card card = { .card = 0 };
	int fd = open(BCL_DEVICE_PATH, O_RDONLY | O_CLOEXEC);
	long kept = 0;

	CHECK(fd >= 0);
	while (ioctl(fd, BCL_DEVICE_CARD, &card) == BCL_OK)
		kept += (long)card.counters.pages_kept;
	close(fd);
	return kept;
}

/* No page is pinned but those that cards keep for later. */
static inline void expect_no_pins(void)
{
	CHECK(vmstat("nr_foll_pin_acquired") ==
	      vmstat("nr_foll_pin_released") + kept_pages());
}

#endif
