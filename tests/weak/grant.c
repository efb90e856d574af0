/* SPDX-License-Identifier: MIT */
/*
 * A peer copies to and from memory by attach, while the owner takes the memory
 * back: shm/grant.c, remote.c, access.c.
 */
#include <string.h>

#include "tests/weak/ports.h"
#include "transport/memory.h"
#include "transport/shm/attach.h"
#include "transport/shm/greeting.h"

enum {
	OWNER,
	USER,
	WORDS = 2, /* a word is a piece */
	FIRST = 5, /* the value at first */
	PUT = 7,   /* the value that the user puts */
	AFTER = 9, /* the value that the owner writes in the end */
};

static uint64_t words[WORDS], buffer[WORDS];
static struct bcl_memory *memory;
static uint8_t key[BCL_KEY_MAX];
static struct bcl_greeting answer;
static _Atomic uint32_t answered;
static struct bcl_event ended; /* the user's access */

/* ---- functions that the code under test calls ---- */

enum bcl_status bcl_event_push(struct bcl_port *port,
			       const struct bcl_event *event)
{
	(void)port;
	ended = *event;
	return BCL_OK;
}

struct bcl_greeting bcl_greeting_make(const struct bcl_connection *c,
				      enum bcl_greeting_kind kind)
{
	(void)c;
	return (struct bcl_greeting){ .kind = kind };
}

/* In place of the socket. */
bool bcl_greeting_send(const struct bcl_connection *c,
		       const struct bcl_greeting *greeting, const int *fds,
		       unsigned nfds)
{
	(void)c;
	(void)fds;
	weak_assert(nfds == 0 && greeting->kind == BCL_GREETING_GRANT);
	answer = *greeting;
	atomic_store_explicit(&answered, 1, memory_order_release);
	return true;
}

enum bcl_status bcl_attach_write(const struct bcl_connection *c,
				 const void *local, uint64_t remote,
				 size_t length)
{
	(void)c;
	weak_assert(length == sizeof(*words));
	memcpy((void *)remote, local, sizeof(*words));
	return BCL_OK;
}

enum bcl_status bcl_attach_read(const struct bcl_connection *c, void *local,
				uint64_t remote, size_t length)
{
	(void)c;
	weak_assert(length == sizeof(*words));
	memcpy(local, (const void *)remote, sizeof(*words));
	return BCL_OK;
}

/* ---- both ports ---- */

/* The user has asked for the owner's memory. */
static void set_up(void)
{
	struct bcl_connection *c = &sides[USER].connection[0];
	struct side *owner = &sides[OWNER];
	struct bcl_remotes *remotes;

	ports_set_up();
	owner->context.ports = &owner->port;
	owner->shm.connections = &owner->connection[0];
	owner->connection[0].state = BCL_CONNECTION_UP;
	for (unsigned i = 0; i < WORDS; i++) {
		words[i] = FIRST;
		buffer[i] = PUT;
	}
	weak_assert(!bcl_memory_register(&owner->context, words, sizeof(words),
					 BCL_REMOTE_READ | BCL_REMOTE_WRITE,
					 &memory));
	bcl_memory_key(memory, key);
	remotes = bcl_remotes_use(c);
	remotes->asked = 1;
	remotes->remote[0].handle = memory->handle;
	remotes->remote[0].state = BCL_REMOTE_ASKED;
	sides[USER].shm.waiting = 1;
	sides[USER].peer[0].path = c;
	answered = 0;
	ended = (struct bcl_event){ .status = BCL_ERR_AGAIN };
}

static void grant(void)
{
	const struct bcl_greeting question = { .handle = memory->handle };

	bcl_grant_answer(&sides[OWNER].connection[0], &question);
}

static void take(void)
{
	bcl_remote_take(&sides[USER].connection[0], &answer, NULL, 0);
}

static void set_up_granted(void)
{
	set_up();
	grant();
	take();
}

/* ---- the owner ---- */

static void release(void)
{
	bcl_memory_release(memory);
	for (unsigned i = 0; i < WORDS; i++)
		words[i] = AFTER;
}

static void grant_and_release(void)
{
	grant();
	release();
}

/* ---- the user: the helper, the owner of the port ---- */

static void help(void)
{
	weak_until(atomic_load_explicit(&answered, memory_order_acquire));
	take();
}

static void put(void)
{
	weak_until(bcl_access_put(&sides[USER].peer[0], key, 0, buffer,
				  sizeof(buffer), 0) != BCL_ERR_AGAIN);
	weak_assert(ended.status == BCL_OK || ended.status == BCL_ERR_MEMORY);
}

static void get(void)
{
	weak_until(bcl_access_get(&sides[USER].peer[0], key, 0, buffer,
				  sizeof(buffer), 0) != BCL_ERR_AGAIN);
	weak_assert(ended.status == BCL_OK || ended.status == BCL_ERR_MEMORY);
	for (unsigned i = 0; i < WORDS; i++)
		weak_assert(buffer[i] == FIRST ||
			    (ended.status && buffer[i] == PUT));
}

static void check(void)
{
	for (unsigned i = 0; i < WORDS; i++)
		weak_assert(words[i] == AFTER);
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "put", set_up_granted, { release, put }, check },
		{ "get", set_up_granted, { release, get }, check },
		{ "asked for",
		  set_up,
		  { grant_and_release, help, put },
		  check },
		{ .name = NULL },
	};

	return weak_main(tests);
}
