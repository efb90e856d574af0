/* SPDX-License-Identifier: MIT */
/* A port that is its own peer: each operation of the public interface, and the
 * calls that the port refuses. */
#include "unit.h"

#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcl/bcl.h>

#include "counter.h"

static struct bcl_context *context;
static struct bcl_port *port;
static struct bcl_peer *self;

static struct bcl_event next_event(void)
{
	struct bcl_event event;

	ck_assert_int_eq(bcl_wait(port, 1000000000), BCL_OK);
	ck_assert_int_eq(bcl_poll(port, &event), BCL_OK);
	return event;
}

static void no_event(void)
{
	struct bcl_event event;

	ck_assert_int_eq(bcl_poll(port, &event), BCL_ERR_EMPTY);
}

static void setup(void)
{
	const struct bcl_port_options options = {
		.struct_size = sizeof(options), .number = 9, .channels = 2
	};
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_event event;
	size_t length;

	setenv("BCL_RAILS", "none", 1);
	ck_assert_int_eq(bcl_open(NULL, &context), BCL_OK);
	ck_assert_int_eq(bcl_port_open(context, &options, &port), BCL_OK);
	ck_assert_int_eq(bcl_port_address(port, address, &length), BCL_OK);
	ck_assert_int_eq(bcl_peer_open(port, address, length, &self), BCL_OK);
	event = next_event();
	ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	ck_assert_int_eq(event.status, BCL_OK);
	ck_assert_ptr_eq(event.peer, self);
}

static void teardown(void)
{
	bcl_close(context);
}

static uint64_t counter(const char *name)
{
	return counter_of(context, name);
}

static enum bcl_status send(const char *text, uint64_t cookie)
{
	struct iovec iov[2] = { { (void *)text, 1 },
				{ (void *)(text + 1), strlen(text) } };

	return bcl_send(self, 5, 0x123456789, iov, 2, cookie);
}

START_TEST(messages)
{
	struct bcl_event event;

	ck_assert_int_eq(send("one", 0), BCL_OK);
	ck_assert_int_eq(send("two", 77), BCL_OK);
	event = next_event();
	ck_assert_int_eq(event.kind, BCL_EVENT_MESSAGE);
	ck_assert_uint_eq(event.type, 5);
	ck_assert_uint_eq(event.immediate, 0x123456789);
	ck_assert_uint_eq(event.length, 4);
	ck_assert_str_eq(event.data, "one");
	ck_assert_uint_eq((uintptr_t)event.data % 8, 0);
	event = next_event();
	ck_assert_str_eq(event.data, "two");
	event = next_event();
	ck_assert_int_eq(event.kind, BCL_EVENT_SENT);
	ck_assert_uint_eq(event.cookie, 77);
	no_event();
	ck_assert_uint_eq(counter("core.self_messages"), 2);
}
END_TEST

START_TEST(many_more_than_fit)
{
	struct bcl_event event;
	uint64_t sent = 0, got = 0;
	struct iovec iov = { &sent, sizeof(sent) };

	while (got < 10000) {
		enum bcl_status status = bcl_send(self, 1, 0, &iov, 1, 0);

		if (status == BCL_OK) {
			sent++;
			continue;
		}
		ck_assert_int_eq(status, BCL_ERR_AGAIN);
		event = next_event();
		ck_assert_mem_eq(event.data, &got, sizeof(got));
		got++;
		bcl_release(port);
	}
	ck_assert_uint_gt(counter("core.send_again"), 100);
}
END_TEST

START_TEST(packed_in_place)
{
	struct bcl_event event;
	void *room;

	ck_assert_int_eq(bcl_reserve(self, BCL_MESSAGE_MAX, &room), BCL_OK);
	memset(room, 'p', BCL_MESSAGE_MAX);
	ck_assert_int_eq(bcl_commit(self, 63, 1, BCL_MESSAGE_MAX), BCL_OK);
	event = next_event();
	ck_assert_uint_eq(event.length, BCL_MESSAGE_MAX);
	ck_assert_int_eq(((const char *)event.data)[BCL_MESSAGE_MAX - 1], 'p');
}
END_TEST

START_TEST(wrong_sends)
{
	static char bytes[BCL_MESSAGE_MAX + 1];
	struct iovec many[BCL_GATHER_MAX + 1] = { { NULL, 0 } };
	struct iovec halves[2] = { { bytes, BCL_MESSAGE_MAX / 2 + 1 },
				   { bytes, BCL_MESSAGE_MAX / 2 } };
	struct iovec huge[2] = { { bytes, 1 }, { bytes, SIZE_MAX } };
	void *room;

	ck_assert_int_eq(bcl_send(self, BCL_TYPES, 0, NULL, 0, 0), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_send(self, 0, 0, many, BCL_GATHER_MAX + 1, 0),
			 BCL_ERR_ARG);
	ck_assert_int_eq(bcl_send(self, 0, 0, halves, 2, 0), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_send(self, 0, 0, huge, 2, 0), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_reserve(self, BCL_MESSAGE_MAX + 1, &room),
			 BCL_ERR_ARG);
	ck_assert_int_eq(bcl_commit(self, 0, 0, 0), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_reserve(self, 8, &room), BCL_OK);
	ck_assert_int_eq(bcl_commit(self, 0, 0, 9), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_commit(self, BCL_TYPES, 0, 0), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_commit(self, 0, 0, BCL_MESSAGE_MAX + 1),
			 BCL_ERR_ARG);
	no_event();
	ck_assert_int_eq(bcl_commit(self, 0, 0, 8), BCL_OK);
	ck_assert_uint_eq(next_event().length, 8);
	ck_assert_int_eq(bcl_commit(self, 0, 0, 8), BCL_ERR_ARG);
	no_event();
	/* nothing at all is a message, too */
	ck_assert_int_eq(bcl_send(self, 0, 3, NULL, 0, 0), BCL_OK);
	ck_assert_uint_eq(next_event().length, 0);
}
END_TEST

START_TEST(channels)
{
	char buffer[8] = "", long_text[16] = "much too long";
	struct bcl_event event;

	ck_assert_int_eq(bcl_post(port, 2, buffer, 8, 1), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_unpost(port, 0), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_send_channel(self, 2, "x", 1, 1), BCL_ERR_NOPORT);

	/* posted first */
	ck_assert_int_eq(bcl_post(port, 0, buffer, 8, 11), BCL_OK);
	ck_assert_int_eq(bcl_post(port, 0, buffer, 8, 11), BCL_ERR_BUSY);
	ck_assert_int_eq(bcl_send_channel(self, 0, "abc", 4, 12), BCL_OK);
	event = next_event();
	ck_assert_int_eq(event.kind, BCL_EVENT_CHANNEL);
	ck_assert_uint_eq(event.cookie, 11);
	ck_assert_uint_eq(event.length, 4);
	ck_assert_str_eq(buffer, "abc");
	ck_assert_uint_eq(next_event().cookie, 12);

	/* sent first, twice, and too long */
	ck_assert_int_eq(bcl_send_channel(self, 1, "first", 6, 13), BCL_OK);
	ck_assert_int_eq(bcl_send_channel(self, 1, long_text, 14, 14), BCL_OK);
	no_event();
	ck_assert_int_eq(bcl_post(port, 1, buffer, 8, 15), BCL_OK);
	ck_assert_uint_eq(next_event().cookie, 15);
	ck_assert_str_eq(buffer, "first");
	ck_assert_uint_eq(next_event().cookie, 13);
	no_event();
	ck_assert_int_eq(bcl_post(port, 1, buffer, 8, 16), BCL_OK);
	event = next_event();
	ck_assert_uint_eq(event.cookie, 16);
	ck_assert_int_eq(event.status, BCL_ERR_TRUNCATED);
	ck_assert_uint_eq(event.length, 8);
	ck_assert_mem_eq(buffer, long_text, 8);
	ck_assert_uint_eq(next_event().cookie, 14);
	ck_assert_uint_eq(counter("core.channel_waits"), 2);

	/* taken back */
	ck_assert_int_eq(bcl_post(port, 0, buffer, 8, 17), BCL_OK);
	ck_assert_int_eq(bcl_unpost(port, 0), BCL_OK);
	ck_assert_int_eq(bcl_send_channel(self, 0, "later", 6, 18), BCL_OK);
	no_event();
}
END_TEST

START_TEST(offers)
{
	uint8_t token[BCL_KEY_MAX], other[BCL_KEY_MAX];
	char buffer[8];

	ck_assert_int_eq(bcl_offer(self, "offered", 8, 21, token), BCL_OK);
	ck_assert_int_eq(bcl_offer(self, "another", 8, 22, other), BCL_OK);
	ck_assert_int_eq(bcl_withdraw(self, other), BCL_OK);
	ck_assert_int_eq(bcl_withdraw(self, other), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_pull(self, token, buffer, 9, 23), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_pull(self, token, buffer, 8, 23), BCL_OK);
	ck_assert_str_eq(buffer, "offered");
	ck_assert_uint_eq(next_event().cookie, 23);
	ck_assert_uint_eq(next_event().cookie, 21);
	ck_assert_int_eq(bcl_pull(self, token, buffer, 8, 23), BCL_ERR_ARG);
	no_event();
}
END_TEST

static enum bcl_status outcome(uint64_t cookie)
{
	struct bcl_event event = next_event();

	ck_assert_int_eq(event.kind, BCL_EVENT_SENT);
	ck_assert_uint_eq(event.cookie, cookie);
	return event.status;
}

START_TEST(remote_memory)
{
	struct bcl_memory *memory;
	struct bcl_event event;
	uint8_t key[BCL_KEY_MAX];
	uint64_t *words, result = 0, value = 42;
	void *mapped;

	ck_assert_int_eq(bcl_memory_allocate(context, 4096, 7, &memory),
			 BCL_OK);
	words = bcl_memory_address(memory);
	ck_assert_uint_eq((uintptr_t)words % 4096, 0);
	bcl_memory_key(memory, key);
	ck_assert_int_eq(bcl_put(self, key, 8, &value, 8, 1), BCL_OK);
	ck_assert_int_eq(outcome(1), BCL_OK);
	ck_assert_uint_eq(words[1], 42);
	ck_assert_int_eq(bcl_fetch_add(self, key, 8, 8, &result, 2), BCL_OK);
	ck_assert_int_eq(outcome(2), BCL_OK);
	ck_assert_uint_eq(result, 42);
	ck_assert_int_eq(bcl_compare_swap(self, key, 8, 50, 7, &result, 3),
			 BCL_OK);
	ck_assert_int_eq(outcome(3), BCL_OK);
	ck_assert_uint_eq(result, 50);
	ck_assert_int_eq(bcl_compare_swap(self, key, 8, 50, 8, &result, 3),
			 BCL_OK);
	ck_assert_int_eq(outcome(3), BCL_OK);
	ck_assert_uint_eq(result, 7);
	ck_assert_int_eq(bcl_get(self, key, 8, &value, 8, 4), BCL_OK);
	ck_assert_int_eq(outcome(4), BCL_OK);
	ck_assert_uint_eq(value, 7);
	ck_assert_int_eq(
		bcl_put_notify(self, key, 4088, "12345678", 8, 9, 99, 5),
		BCL_OK);
	ck_assert_int_eq(outcome(5), BCL_OK);
	event = next_event();
	ck_assert_int_eq(event.kind, BCL_EVENT_NOTIFY);
	ck_assert_uint_eq(event.type, 9);
	ck_assert_uint_eq(event.immediate, 99);
	ck_assert_mem_eq(words + 511, "12345678", 8);
	ck_assert_int_eq(bcl_fence(self, 6), BCL_OK);
	ck_assert_int_eq(outcome(6), BCL_OK);
	ck_assert_int_eq(bcl_memory_map(self, key, &mapped), BCL_OK);
	ck_assert_ptr_eq(mapped, words);
	bcl_memory_unmap(self, key);

	/* beyond the end, misaligned, after the release */
	ck_assert_int_eq(bcl_put(self, key, 4089, &value, 8, 7),
			 BCL_ERR_MEMORY);
	ck_assert_int_eq(bcl_put(self, key, UINT64_MAX, &value, 8, 7),
			 BCL_ERR_MEMORY);
	ck_assert_int_eq(bcl_fetch_add(self, key, 4, 1, &result, 7),
			 BCL_ERR_ARG);
	bcl_memory_release(memory);
	ck_assert_int_eq(bcl_get(self, key, 8, &value, 8, 8), BCL_OK);
	ck_assert_int_eq(outcome(8), BCL_ERR_MEMORY);
	no_event();
}
END_TEST

/* The called function must refuse wrong arguments, before it looks up or copies
 * anything. */
START_TEST(wrong_arguments)
{
	uint8_t token[BCL_KEY_MAX], key[BCL_KEY_MAX];
	struct bcl_memory *memory;

	ck_assert_int_eq(bcl_memory_allocate(context, 4096, 7, &memory),
			 BCL_OK);
	bcl_memory_key(memory, key);
	ck_assert_int_eq(bcl_offer(self, "offered", 8, 1, token), BCL_OK);

	/* bytes that lie nowhere: NULL */
	ck_assert_int_eq(bcl_post(port, 0, NULL, 8, 1), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_send_channel(self, 0, NULL, 8, 1), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_offer(self, NULL, 8, 1, token), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_pull(self, token, NULL, 8, 1), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_put(self, key, 0, NULL, 8, 1), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_get(self, key, 0, NULL, 8, 1), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_put_notify(self, key, 0, NULL, 8, 0, 0, 1),
			 BCL_ERR_ARG);
	/* numbers that do not exist */
	ck_assert_int_eq(bcl_put_notify(self, key, 0, "x", 1, BCL_TYPES, 0, 1),
			 BCL_ERR_ARG);
	ck_assert_int_eq(bcl_send_channel(self, 65536, "x", 1, 1), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_unpost(port, 2), BCL_ERR_ARG);
	no_event();
	/* no bytes may lie anywhere */
	ck_assert_int_eq(bcl_put(self, key, 0, NULL, 0, 2), BCL_OK);
	ck_assert_int_eq(outcome(2), BCL_OK);
	ck_assert_int_eq(bcl_withdraw(self, token), BCL_OK);
	bcl_memory_release(memory);
}
END_TEST

START_TEST(events_in_any_number)
{
	for (uint64_t i = 0; i < 1000; i++) {
		ck_assert_int_eq(bcl_fence(self, 2 * i + 1), BCL_OK);
		ck_assert_int_eq(bcl_fence(self, 2 * i + 2), BCL_OK);
		ck_assert_int_eq(outcome(i + 1), BCL_OK);
	}
	for (uint64_t i = 1000; i < 2000; i++)
		ck_assert_int_eq(outcome(i + 1), BCL_OK);
	no_event();
}
END_TEST

/* Operations that the port carries out itself must wake the port, too, as the
 * caller may be another thread. */
START_TEST(an_armed_port_is_woken)
{
	struct pollfd pollfd = { .fd = bcl_port_fd(port), .events = POLLIN };

	ck_assert_int_eq(bcl_arm(port), BCL_OK);
	ck_assert_int_eq(poll(&pollfd, 1, 0), 0);
	ck_assert_int_eq(send("one", 0), BCL_OK);
	ck_assert_int_eq(poll(&pollfd, 1, 0), 1);
	ck_assert_int_eq(next_event().kind, BCL_EVENT_MESSAGE);
	ck_assert_int_eq(bcl_arm(port), BCL_OK);
	ck_assert_int_eq(poll(&pollfd, 1, 0), 0);
}
END_TEST

START_TEST(rights_and_handles)
{
	static uint64_t words[4], value;
	struct bcl_memory *memory[300];
	uint8_t key[BCL_KEY_MAX], stale[BCL_KEY_MAX];
	void *mapped;

	ck_assert_int_eq(bcl_memory_register(context, words, 0, 1, memory),
			 BCL_ERR_ARG);
	ck_assert_int_eq(bcl_memory_register(context, NULL, 8, 1, memory),
			 BCL_ERR_ARG);
	ck_assert_int_eq(bcl_memory_register(context, words, 8, 8, memory),
			 BCL_ERR_ARG);
	ck_assert_int_eq(bcl_memory_register(context, words, sizeof(words),
					     BCL_REMOTE_READ, memory),
			 BCL_OK);
	bcl_memory_key(memory[0], stale);
	ck_assert_int_eq(bcl_put(self, stale, 0, &value, 8, 1), BCL_ERR_MEMORY);
	ck_assert_int_eq(bcl_memory_map(self, stale, &mapped),
			 BCL_ERR_UNSUPPORTED);
	bcl_memory_release(memory[0]);
	/* another memory in the same slot does not answer to the old key */
	ck_assert_int_eq(
		bcl_memory_register(context, words, sizeof(words), 7, memory),
		BCL_OK);
	ck_assert_int_eq(bcl_get(self, stale, 0, &value, 8, 2), BCL_OK);
	ck_assert_int_eq(outcome(2), BCL_ERR_MEMORY);
	/* a key with more rights than were given */
	bcl_memory_release(memory[0]);
	ck_assert_int_eq(bcl_memory_register(context, words, sizeof(words),
					     BCL_REMOTE_READ, memory),
			 BCL_OK);
	bcl_memory_key(memory[0], key);
	key[28] |= BCL_REMOTE_WRITE;
	ck_assert_int_eq(bcl_put(self, key, 0, &value, 8, 3), BCL_OK);
	ck_assert_int_eq(outcome(3), BCL_ERR_MEMORY);
	/* of another card */
	key[0] ^= 1;
	ck_assert_int_eq(bcl_get(self, key, 0, &value, 8, 4), BCL_ERR_ARG);
	bcl_memory_release(memory[0]);

	for (unsigned i = 0; i < 300; i++)
		ck_assert_int_eq(bcl_memory_register(context, &words[i % 4], 8,
						     7, &memory[i]),
				 BCL_OK);
	value = 5;
	bcl_memory_key(memory[299], key);
	ck_assert_int_eq(bcl_put(self, key, 0, &value, 8, 5), BCL_OK);
	ck_assert_int_eq(outcome(5), BCL_OK);
	ck_assert_uint_eq(words[3], 5);
}
END_TEST

START_TEST(ports)
{
	struct bcl_port_options options = { .struct_size = sizeof(options),
					    .number = 9 };
	struct bcl_port *other, *third;
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_peer *peer;
	size_t length;

	ck_assert_int_eq(bcl_port_open(context, &options, &other),
			 BCL_ERR_BUSY);
	options.number = 65536;
	ck_assert_int_eq(bcl_port_open(context, &options, &other), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_port_open(context, NULL, &other), BCL_OK);
	ck_assert_int_eq(bcl_port_open(context, NULL, &third), BCL_OK);
	bcl_port_close(other);
	options.number = 1;
	ck_assert_int_eq(bcl_port_open(context, &options, &other), BCL_OK);
	ck_assert_int_eq(bcl_port_address(third, address, &length), BCL_OK);
	address[4] ^= 1; /* another host, and there is no network */
	ck_assert_int_eq(bcl_peer_open(port, address, length, &peer),
			 BCL_ERR_NORAIL);
	ck_assert_int_eq(bcl_peer_open(port, address, length - 1, &peer),
			 BCL_ERR_ARG);
	address[0]++;
	ck_assert_int_eq(bcl_peer_open(port, address, length, &peer),
			 BCL_ERR_VERSION);
}
END_TEST

START_TEST(a_peer_is_found_again)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_peer *again;
	size_t length;

	ck_assert_ptr_null(bcl_peer_user(self));
	bcl_peer_set_user(self, &info);
	ck_assert_ptr_eq(bcl_peer_user(self), &info);
	bcl_port_address(port, address, &length);
	ck_assert_int_eq(bcl_peer_open(port, address, length, &again), BCL_OK);
	ck_assert_ptr_eq(again, self);
	no_event();
	bcl_peer_info(self, &info);
	ck_assert_int_eq(info.path, BCL_PATH_SELF);
	ck_assert_int_eq(info.state, BCL_PEER_UP);
	ck_assert_uint_eq(info.level, 0);
	ck_assert_uint_eq(info.number, 9);
}
END_TEST

START_TEST(counters_outlive_a_port)
{
	send("x", 0);
	next_event();
	bcl_port_close(port);
	ck_assert_uint_eq(counter("core.self_messages"), 1);
}
END_TEST

START_TEST(settings_are_those_in_use)
{
	struct bcl_setting settings[64] = { 0 };
	size_t n, one = 1, rails = 0, spin = 0;

	bcl_settings(context, settings, &one);
	ck_assert_ptr_null(settings[1].name);
	bcl_settings(context, NULL, &n);
	ck_assert_uint_eq(n, one);
	ck_assert_uint_le(n, 64);
	setenv("BCL_SPIN", "77us", 1);
	bcl_settings(context, settings, &n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_ptr_nonnull(settings[i].text);
		if (!strcmp(settings[i].name, "BCL_RAILS"))
			rails = i;
		if (!strcmp(settings[i].name, "BCL_SPIN"))
			spin = i;
	}
	ck_assert_str_eq(settings[rails].value, "none");
	ck_assert_str_eq(settings[spin].value, "30us");
}
END_TEST

START_TEST(a_forked_child_is_refused)
{
	struct bcl_event event;
	struct bcl_memory *memory;
	struct bcl_port *other;
	pid_t child = fork();
	int status;

	if (child == 0) {
		bool refused =
			send("x", 0) == BCL_ERR_FORKED &&
			bcl_poll(port, &event) == BCL_ERR_FORKED &&
			bcl_wait(port, 0) == BCL_ERR_FORKED &&
			bcl_arm(port) == BCL_ERR_FORKED &&
			bcl_port_fd(port) == -1 &&
			bcl_fence(self, 1) == BCL_ERR_FORKED &&
			bcl_post(port, 0, &event, 1, 1) == BCL_ERR_FORKED &&
			bcl_port_open(context, NULL, &other) ==
				BCL_ERR_FORKED &&
			bcl_memory_register(context, &event, 1, 1, &memory) ==
				BCL_ERR_FORKED;

		bcl_close(context);
		_exit(!refused);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(send("x", 0), BCL_OK);
	ck_assert_uint_eq(next_event().length, 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("self");
	TCase *tcase = tcase_create("self");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, messages);
	tcase_add_test(tcase, many_more_than_fit);
	tcase_add_test(tcase, packed_in_place);
	tcase_add_test(tcase, wrong_sends);
	tcase_add_test(tcase, wrong_arguments);
	tcase_add_test(tcase, channels);
	tcase_add_test(tcase, offers);
	tcase_add_test(tcase, remote_memory);
	tcase_add_test(tcase, events_in_any_number);
	tcase_add_test(tcase, an_armed_port_is_woken);
	tcase_add_test(tcase, rights_and_handles);
	tcase_add_test(tcase, ports);
	tcase_add_test(tcase, a_peer_is_found_again);
	tcase_add_test(tcase, counters_outlive_a_port);
	tcase_add_test(tcase, settings_are_those_in_use);
	tcase_add_test(tcase, a_forked_child_is_refused);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
