/* SPDX-License-Identifier: MIT */
#include "transport/shm/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transport/shm/attach.h"
#include "transport/shm/port.h"
#include "transport/shm/socket.h"

/* What `attention` of a pair points at where senders need a fence. */
static const _Atomic uint32_t always_attend = 1;

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_watched(struct bcl_connection *c, int *fd)
{
	/* not left to close(): a forked child may hold the file open */
	if (*fd >= 0)
		epoll_ctl(c->shm->group, EPOLL_CTL_DEL, *fd, NULL);
	close_fd(fd);
}

static bool watch_fd(struct bcl_connection *c, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };

	return !epoll_ctl(c->shm->group, EPOLL_CTL_ADD, fd, &event);
}

static bool in_handshake(const struct bcl_connection *c)
{
	return c->state < BCL_CONNECTION_UP;
}

static void tell_owner(struct bcl_connection *c)
{
	c->news = true;
	bcl_shm_want(c->shm, BCL_WORK_NEWS);
}

static void set_state(struct bcl_connection *c, enum bcl_connection_state state)
{
	bool before = in_handshake(c);

	c->state = state;
	c->shm->waiting += in_handshake(c) - before;
	if (state == BCL_CONNECTION_UP || state == BCL_CONNECTION_ENDED ||
	    state == BCL_CONNECTION_FAILED)
		tell_owner(c);
}

static void hang_up(struct bcl_connection *c)
{
	/* a forked child may hold the socket open: so end it for all */
	if (c->socket >= 0)
		shutdown(c->socket, SHUT_RDWR);
	close_watched(c, &c->socket);
	close_watched(c, &c->pidfd);
}

/* Give back all that is shared with the peer. */
static void let_go(struct bcl_connection *c)
{
	hang_up(c);
	close_fd(&c->wake);
	if (c->segment.head)
		bcl_segment_unmap(&c->segment);
	bcl_page_unmap((void *)(uintptr_t)c->its_attention);
	c->its_attention = NULL;
	bcl_page_unmap(c->its_active);
	c->its_active = NULL;
}

/* Take a word of the attention page. */
static bool take_watch(struct bcl_connection *c)
{
	uint64_t *words = c->shm->watches;
	uint32_t i;

	for (i = 0; i < BCL_SHM_PEERS; i++) {
		if (words[i / 64] >> i % 64 & 1)
			continue;
		words[i / 64] |= UINT64_C(1) << i % 64;
		c->watch = i;
		return true;
	}
	return false;
}

static void give_watch(struct bcl_connection *c)
{
	struct bcl_shm_port *shm = c->shm;

	atomic_store_explicit(&shm->attention[c->watch], 0,
			      memory_order_relaxed);
	shm->watches[c->watch / 64] &= ~(UINT64_C(1) << c->watch % 64);
}

struct bcl_connection *bcl_connection_new(struct bcl_shm_port *shm,
					  enum bcl_connection_state state,
					  uint64_t now)
{
	const struct bcl_env *env = bcl_shm_env(shm);
	struct bcl_connection *c = env->allocate(env->world, sizeof(*c));

	if (!c)
		return NULL;
	c->shm = shm;
	c->socket = c->pidfd = c->wake = c->segment.fd = -1;
	c->deadline = now + bcl_shm_context(shm)->config.peer_timeout;
	c->nonce = env->random(env->world);
	if (!take_watch(c)) {
		env->release(env->world, c, sizeof(*c));
		return NULL;
	}
	c->next = shm->connections;
	shm->connections = c;
	c->state = BCL_CONNECTION_UP; /* for set_state() to count */
	set_state(c, state);
	return c;
}

void bcl_connection_free(struct bcl_connection *c)
{
	struct bcl_shm_port *shm = c->shm;
	const struct bcl_env *env = bcl_shm_env(shm);
	struct bcl_connection **p = &shm->connections;

	if (c->remotes)
		shm->waiting -= c->remotes->asked;
	set_state(c, BCL_CONNECTION_GONE);
	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	give_watch(c);
	let_go(c);
	bcl_outbox_free(c);
	bcl_large_free(c);
	bcl_remotes_free(c);
	if (c->grants)
		env->release(env->world, c->grants,
			     BCL_GRANTS * sizeof(*c->grants));
	env->release(env->world, c, sizeof(*c));
}

/*
 * The handshake ends without success. One that the owner waits for is left
 * to it, others vanish.
 */
static void fail(struct bcl_connection *c, enum bcl_status status,
		 const char *why)
{
	if (!c->wanted) {
		bcl_connection_free(c);
		return;
	}
	let_go(c);
	c->status = (uint8_t)status;
	c->why = why;
	set_state(c, BCL_CONNECTION_FAILED);
}

struct bcl_greeting bcl_greeting_make(const struct bcl_connection *c,
				      enum bcl_greeting_kind kind)
{
	const struct bcl_context *context = bcl_shm_context(c->shm);
	struct bcl_greeting g = {
		.magic = BCL_GREETING_MAGIC,
		.version = BCL_GREETING_VERSION,
		.kind = kind,
		.flags = context->barrier ? BCL_GREETING_BARRIER : 0,
		.card = context->card_id,
		.to_card = c->card,
		.number = c->shm->port->number,
		.to_number = c->number,
		.slots = c->segment.slots,
		.watch = c->watch,
		.nonce = c->nonce,
		.nonce_address = (uintptr_t)&c->nonce,
		.scratch_address = (uintptr_t)&c->scratch,
	};

	memcpy(g.key, context->key, sizeof(g.key));
	return g;
}

/* Send the greeting with this port's descriptors, those from `first` on. */
static bool send_greeting(struct bcl_connection *c,
			  const struct bcl_greeting *g, unsigned first)
{
	const int fds[] = { c->segment.fd, c->shm->attention_fd,
			    c->shm->active_fd, c->shm->port->object };

	return bcl_socket_send(c->socket, g, sizeof(*g), fds + first,
			       4 - first);
}

static void refuse(struct bcl_connection *c, enum bcl_status status)
{
	struct bcl_greeting g = bcl_greeting_make(c, BCL_GREETING_REFUSE);

	g.status = status;
	memset(g.key, 0, sizeof(g.key));
	bcl_socket_send(c->socket, &g, sizeof(g), NULL, 0);
}

static void refuse_and_fail(struct bcl_connection *c, enum bcl_status status,
			    const char *why)
{
	refuse(c, status);
	fail(c, status, why);
}

bool bcl_connection_accept(struct bcl_shm_port *shm, int fd, uint64_t now)
{
	struct bcl_connection *c;
	pid_t pid;

	if (!bcl_socket_peer(fd, &pid))
		return false;
	c = bcl_connection_new(shm, BCL_CONNECTION_ACCEPTED, now);
	if (!c)
		return false;
	if (!watch_fd(c, fd)) {
		bcl_connection_free(c);
		return false;
	}
	c->socket = fd;
	c->pid = pid;
	return true;
}

/* ---- calling ---- */

void bcl_connection_call(struct bcl_connection *c)
{
	const struct bcl_context *context = bcl_shm_context(c->shm);
	struct bcl_greeting g;
	enum bcl_status status;

	c->socket = bcl_socket_call(c->card, c->number);
	if (c->socket < 0 && errno == EAGAIN) {
		set_state(c, BCL_CONNECTION_CALLING);
		return;
	}
	if (c->socket < 0) {
		fail(c, BCL_ERR_UNREACHABLE,
		     errno == ECONNREFUSED
			     ? "shared memory: no such port in this name space"
			     : "shared memory: no socket");
		return;
	}
	if (!bcl_socket_peer(c->socket, &c->pid)) {
		fail(c, BCL_ERR_PERM, "shared memory: another user's process");
		return;
	}
	status = bcl_segment_create((uint32_t)context->config.ring_slots,
				    &c->segment);
	if (status) {
		fail(c, status, "shared memory: no memory for a segment");
		return;
	}
	c->side = 0;
	g = bcl_greeting_make(c, BCL_GREETING_HELLO);
	if (context->config.attach)
		g.flags |= BCL_GREETING_ATTACH;
	if (!send_greeting(c, &g, 0) || !watch_fd(c, c->socket)) {
		fail(c, BCL_ERR_SYSTEM, "shared memory: no descriptor left");
		return;
	}
	set_state(c, BCL_CONNECTION_CALLED);
}

/* ---- what both do with a greeting ---- */

/* The peer's pages and object. False: they are not what they should be. */
static bool adopt(struct bcl_connection *c, const struct bcl_greeting *g,
		  const int fds[3])
{
	const struct bcl_context *context = bcl_shm_context(c->shm);
	int flags = fcntl(fds[2], F_GETFL);

	/* the wake-up must never block, whatever it is */
	if (g->watch >= BCL_SHM_PEERS || flags < 0 || !(flags & O_NONBLOCK))
		return false;
	c->its_attention = bcl_page_map(fds[0], false);
	c->its_active = bcl_page_map(fds[1], true);
	if (!c->its_attention || !c->its_active)
		return false;
	c->wake = fcntl(fds[2], F_DUPFD_CLOEXEC, 0);
	if (c->wake < 0)
		return false;
	c->its_watch = g->watch;
	c->its_nonce = g->nonce;
	c->its_nonce_address = g->nonce_address;
	c->its_scratch_address = g->scratch_address;
	c->fence = !context->barrier || !(g->flags & BCL_GREETING_BARRIER);
	if (c->pid > 0)
		c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd >= 0 && !watch_fd(c, c->pidfd))
		close_fd(&c->pidfd);
	return true;
}

/* Prove that this side can attach to the peer; *wrote: what was written. */
static bool prove(struct bcl_connection *c, uint64_t *wrote)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	*wrote = env->random(env->world) | 1;
	if (c->pid <= 0) {
		c->why = "shared memory, double copy: "
			 "another process id namespace";
		return false;
	}
	if (bcl_attach_prove(c->pid, c->its_nonce_address, c->its_nonce,
			     c->its_scratch_address, *wrote)) {
		c->why = "shared memory, double copy: attach is forbidden";
		return false;
	}
	return true;
}

static void come_up(struct bcl_connection *c)
{
	struct bcl_pair *pair = &c->pair;

	bcl_segment_pair(&c->segment, c->side, pair);
	pair->connection = c;
	pair->attention =
		c->fence ? &always_attend : &c->its_attention[c->its_watch];
	if (c->attach)
		c->why = "shared memory, large messages copied once";
	else if (!c->why)
		c->why = "shared memory, double copy: attach switched off";
	set_state(c, BCL_CONNECTION_UP);
}

void bcl_connection_wake(struct bcl_connection *c)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	/* partner: the fence in bcl_shm_sleep() */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&c->its_attention[c->its_watch],
				 memory_order_relaxed) &
	    BCL_ATTENTION_SLEEPING)
		env->wake(env->world, c->wake);
}

/* ---- answering ---- */

static struct bcl_connection *find(const struct bcl_shm_port *shm,
				   uint64_t card, uint16_t number,
				   const struct bcl_connection *but)
{
	struct bcl_connection *c;

	for (c = shm->connections; c; c = c->next)
		if (c != but && c->card == card && c->number == number &&
		    c->state != BCL_CONNECTION_HELD)
			return c;
	return NULL;
}

struct bcl_connection *bcl_connection_find(const struct bcl_shm_port *shm,
					   uint64_t card, uint16_t number)
{
	return find(shm, card, number, NULL);
}

/* Does this port's call have precedence over the peer's? */
static bool precedes(const struct bcl_connection *c)
{
	uint64_t card = bcl_shm_context(c->shm)->card_id;

	return card < c->card ||
	       (card == c->card && c->shm->port->number < c->number);
}

static void accept_call(struct bcl_connection *c)
{
	struct bcl_greeting g = bcl_greeting_make(c, BCL_GREETING_ACCEPT);

	g.flags &= ~(unsigned)BCL_GREETING_ATTACH;
	if (c->attach && prove(c, &g.wrote))
		g.flags |= BCL_GREETING_ATTACH;
	c->attach = g.flags & BCL_GREETING_ATTACH;
	if (send_greeting(c, &g, 1))
		set_state(c, BCL_CONNECTION_GREETED);
	else
		fail(c, BCL_ERR_DEAD, "shared memory: it hung up");
}

/* The older connections to the peer decide what becomes of its HELLO. */
static void answer(struct bcl_connection *c)
{
	struct bcl_connection *other = find(c->shm, c->card, c->number, c);

	if (!other) {
		accept_call(c);
	} else if (other->state == BCL_CONNECTION_CARD && other->confirmed) {
		other->confirmed = false;
		refuse_and_fail(c, BCL_ERR_UNREACHABLE, "already on the card");
	} else if (other->state == BCL_CONNECTION_CARD) {
		tell_owner(other);
		set_state(c, BCL_CONNECTION_HELD);
	} else if (other->state <= BCL_CONNECTION_CROSSED) {
		/* an own call is out */
		if (other->state != BCL_CONNECTION_CROSSED && precedes(c)) {
			refuse_and_fail(c, BCL_ERR_BUSY, "crossing");
			return;
		}
		c->wanted = other->wanted;
		bcl_connection_free(other);
		accept_call(c);
	} else {
		set_state(c, BCL_CONNECTION_HELD);
	}
}

static void take_hello(struct bcl_connection *c, const struct bcl_greeting *g,
		       const int *fds, unsigned nfds)
{
	const struct bcl_context *context = bcl_shm_context(c->shm);
	int segment;

	if (g->kind != BCL_GREETING_HELLO || nfds != 4) {
		fail(c, BCL_ERR_VERSION, "no HELLO");
		return;
	}
	if (g->version != BCL_GREETING_VERSION) {
		refuse_and_fail(c, BCL_ERR_VERSION, "other version");
		return;
	}
	if (memcmp(g->key, context->key, sizeof(g->key))) {
		refuse_and_fail(c, BCL_ERR_JOBKEY, "other job");
		return;
	}
	if (g->to_card != context->card_id ||
	    g->to_number != c->shm->port->number) {
		refuse_and_fail(c, BCL_ERR_NOPORT, "for another port");
		return;
	}
	c->card = g->card;
	c->number = g->number;
	c->side = 1;
	c->attach = context->config.attach && (g->flags & BCL_GREETING_ATTACH);
	segment = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
	if (segment < 0 || bcl_segment_map(segment, g->slots, &c->segment)) {
		close_fd(&segment);
		refuse_and_fail(c, BCL_ERR_NOMEM, "no room for its segment");
		return;
	}
	if (!adopt(c, g, fds + 1)) {
		refuse_and_fail(c, BCL_ERR_NOMEM, "cannot use its pages");
		return;
	}
	answer(c);
}

static void take_ready(struct bcl_connection *c, const struct bcl_greeting *g)
{
	if (g->kind != BCL_GREETING_READY) {
		fail(c, BCL_ERR_DEAD, "no READY");
		return;
	}
	if (!(g->flags & BCL_GREETING_ATTACH))
		c->attach = false;
	if (c->attach && c->scratch != g->wrote) {
		fail(c, BCL_ERR_DEAD, "attach proved wrong");
		return;
	}
	come_up(c);
}

/* ---- the call's answer ---- */

static void take_refusal(struct bcl_connection *c, const struct bcl_greeting *g)
{
	switch (g->status) {
	case BCL_ERR_BUSY:
		hang_up(c);
		set_state(c, BCL_CONNECTION_CROSSED);
		return;
	case BCL_ERR_JOBKEY:
		fail(c, BCL_ERR_JOBKEY, "it belongs to another job");
		return;
	case BCL_ERR_VERSION:
		fail(c, BCL_ERR_VERSION, "it has another version");
		return;
	default:
		fail(c, BCL_ERR_UNREACHABLE, "shared memory: refused");
	}
}

static void take_answer(struct bcl_connection *c, const struct bcl_greeting *g,
			const int *fds, unsigned nfds)
{
	struct bcl_greeting ready;

	if (g->kind == BCL_GREETING_REFUSE) {
		take_refusal(c, g);
		return;
	}
	if (g->kind != BCL_GREETING_ACCEPT || nfds != 3 ||
	    g->version != BCL_GREETING_VERSION || !adopt(c, g, fds)) {
		fail(c, BCL_ERR_UNREACHABLE, "shared memory: bad answer");
		return;
	}
	ready = bcl_greeting_make(c, BCL_GREETING_READY);
	ready.flags &= ~(unsigned)BCL_GREETING_ATTACH;
	if ((g->flags & BCL_GREETING_ATTACH) && c->scratch == g->wrote &&
	    prove(c, &ready.wrote)) {
		ready.flags |= BCL_GREETING_ATTACH;
		c->attach = true;
	}
	if (bcl_socket_send(c->socket, &ready, sizeof(ready), NULL, 0))
		come_up(c);
	else
		fail(c, BCL_ERR_UNREACHABLE, "shared memory: it hung up");
}

/* ---- the socket ---- */

static void take_request(struct bcl_connection *c, const struct bcl_greeting *g,
			 const int *fds, unsigned nfds)
{
	switch (g->kind) {
	case BCL_GREETING_MEMORY:
		bcl_grant_answer(c, g);
		break;
	case BCL_GREETING_GRANT:
		bcl_remote_take(c, g, fds, nfds);
		break;
	case BCL_GREETING_MAIL:
		bcl_mail_serve_all(c);
		break;
	default:
		break;
	}
}

static void take(struct bcl_connection *c, const struct bcl_greeting *g,
		 const int *fds, unsigned nfds)
{
	if (g->magic != BCL_GREETING_MAGIC) {
		fail(c, BCL_ERR_VERSION, "shared memory: not a greeting");
		return;
	}
	switch (c->state) {
	case BCL_CONNECTION_CALLED:
		take_answer(c, g, fds, nfds);
		break;
	case BCL_CONNECTION_ACCEPTED:
		take_hello(c, g, fds, nfds);
		break;
	case BCL_CONNECTION_GREETED:
		take_ready(c, g);
		break;
	case BCL_CONNECTION_UP:
		take_request(c, g, fds, nfds);
		break;
	default:
		break; /* nothing is expected: ignored */
	}
}

static bool process_ended(const struct bcl_connection *c)
{
	struct pollfd p = { .fd = c->pidfd, .events = POLLIN };

	return c->pidfd >= 0 && poll(&p, 1, 0) == 1;
}

static void end(struct bcl_connection *c)
{
	if (c->state == BCL_CONNECTION_UP) {
		hang_up(c);
		atomic_store_explicit(&c->ended, true, memory_order_relaxed);
		set_state(c, BCL_CONNECTION_ENDED);
	} else {
		fail(c, BCL_ERR_UNREACHABLE,
		     "shared memory: it hung up in the handshake");
	}
}

/* May a HELD connection be answered now? Then no other is freed by that. */
static bool may_answer(const struct bcl_connection *c)
{
	const struct bcl_connection *other =
		find(c->shm, c->card, c->number, c);

	return !other ||
	       (other->state == BCL_CONNECTION_CARD && other->confirmed);
}

void bcl_connection_retry(struct bcl_connection *c, uint64_t now)
{
	if (now >= c->deadline)
		fail(c, BCL_ERR_TIMEOUT,
		     "shared memory: its process is silent");
	else if (c->state == BCL_CONNECTION_CALLING)
		bcl_connection_call(c);
	else if (c->state == BCL_CONNECTION_HELD && may_answer(c))
		answer(c);
}

void bcl_connection_serve(struct bcl_connection *c)
{
	struct bcl_greeting g;
	int fds[BCL_SOCKET_FDS];
	unsigned nfds;

	if (c->socket < 0)
		return;
	switch (bcl_socket_receive(c->socket, &g, sizeof(g), fds, &nfds)) {
	case 1:
		take(c, &g, fds, nfds);
		while (nfds)
			close(fds[--nfds]);
		break;
	case 0:
		if (process_ended(c))
			end(c);
		break;
	default:
		end(c);
	}
}
