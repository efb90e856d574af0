/* SPDX-License-Identifier: MIT */
/* Local sockets and shared memory files among the fibers of a simulated node;
 * see shm.h. */
#include "sim/shm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/fail.h"
#include "sim/world.h"

enum {
	FIRST = 1 << 28, /* number of the first descriptor */
	PACKET = 128,	 /* bytes */
	FDS = 4,	 /* descriptors in a packet */
	PID = 1,	 /* of all ranks */
	BUCKETS = 4096,	 /* of mapped files, by address */
};

enum kind {
	LISTENER,
	SOCKET,
	FILE_OF_MEMORY,
};

struct packet {
	struct packet *next;
	size_t length;
	unsigned nfds;
	int fds[FDS];
	uint8_t bytes[PACKET];
};

struct thing {
	enum kind kind;
	int fd;
	unsigned node;
	unsigned references; /* descriptors, and maps of a file */

	/* the group that is woken, the value for group_next(), and the next
	 * member of the group */
	int group;
	void *who;
	struct thing *next_member;

	/* LISTENER: callers wait as packets with a single descriptor */
	uint64_t card;
	uint16_t number;
	struct thing *next_listener;

	/* SOCKET */
	struct thing *other; /* NULL: the other side hung up */
	struct packet *first, **last;

	/* FILE_OF_MEMORY */
	size_t size, span; /* size of the file; size of all mapped parts */
	uint8_t *base;	   /* NULL: not mapped yet */
	struct thing *next_mapped;
};

struct sim_shm {
	const struct sim_world *world;
	struct thing **all; /* by descriptor; NULL: free */
	unsigned n, spare;  /* no entry below `spare` is free */
	struct thing *listeners;
	struct thing **groups; /* by object: first member */
	unsigned ngroups;
	struct thing *mapped[BUCKETS];
};

static struct sim_shm *shm_of(void *world)
{
	return sim_world_shm(world);
}

/* ---- descriptors ---- */

static struct thing *thing_of(const struct sim_shm *shm, int fd)
{
	unsigned i = (unsigned)(fd - FIRST);

	sim_check(i < shm->n && shm->all[i], "a descriptor that is not open");
	return shm->all[i];
}

static struct thing *make_thing(struct sim_shm *shm, enum kind kind)
{
	struct thing *thing = sim_need(calloc(1, sizeof(*thing)));
	unsigned i = shm->spare;

	while (i < shm->n && shm->all[i])
		i++;
	if (i == shm->n) {
		shm->n = shm->n ? 2 * shm->n : 64;
		shm->all =
			sim_need(realloc(shm->all, shm->n * sizeof(*shm->all)));
		memset(shm->all + i, 0, (shm->n - i) * sizeof(*shm->all));
	}
	shm->all[i] = thing;
	shm->spare = i + 1;
	*thing = (struct thing){
		.kind = kind,
		.fd = FIRST + (int)i,
		.node = sim_node(shm->world),
		.references = 1,
		.group = -1,
	};
	thing->last = &thing->first;
	return thing;
}

static void release_thing(void *world, struct thing *thing);

static void close_fd(void *world, int fd)
{
	const struct bcl_env *env = sim_world_env(world);

	if (fd >= FIRST)
		release_thing(world, thing_of(shm_of(world), fd));
	else
		env->object_close(env->world, fd);
}

static int copy_fd(void *world, int fd)
{
	if (fd >= FIRST)
		thing_of(shm_of(world), fd)->references++;
	else
		sim_world_share_object(world, fd);
	return fd;
}

static bool can_be_woken(void *world, int fd)
{
	(void)world;
	return fd < FIRST;
}

/* ---- groups ---- */

static void wake_group(void *world, const struct thing *thing)
{
	const struct bcl_env *env = sim_world_env(world);

	if (thing && thing->group >= 0)
		env->wake(env->world, thing->group);
}

static int group_open(void *world)
{
	const struct bcl_env *env = sim_world_env(world);
	struct sim_shm *shm = shm_of(world);
	int group = env->object_open(env->world);
	unsigned n = shm->ngroups;

	if ((unsigned)group >= n) {
		shm->ngroups = 2 * (unsigned)group + 64;
		shm->groups = sim_need(realloc(
			shm->groups, shm->ngroups * sizeof(*shm->groups)));
		memset(shm->groups + n, 0,
		       (shm->ngroups - n) * sizeof(*shm->groups));
	}
	shm->groups[group] = NULL;
	return group;
}

static bool is_readable(const struct thing *thing)
{
	return thing->first || (thing->kind == SOCKET && !thing->other);
}

static bool group_add(void *world, int group, int fd, void *who)
{
	struct sim_shm *shm = shm_of(world);
	struct thing *thing = thing_of(shm, fd);

	thing->group = group;
	thing->who = who;
	thing->next_member = shm->groups[group];
	shm->groups[group] = thing;
	if (is_readable(thing))
		wake_group(world, thing);
	return true;
}

static void leave_group(struct sim_shm *shm, struct thing *thing)
{
	struct thing **place;

	if (thing->group < 0)
		return;
	place = &shm->groups[thing->group];
	while (*place != thing)
		place = &(*place)->next_member;
	*place = thing->next_member;
	thing->group = -1;
}

static void group_remove(void *world, int group, int fd)
{
	(void)group;
	leave_group(shm_of(world), thing_of(shm_of(world), fd));
}

static void *group_next(void *world, int group)
{
	const struct bcl_env *env = sim_world_env(world);
	const struct thing *thing = shm_of(world)->groups[group];

	while (thing && !is_readable(thing))
		thing = thing->next_member;
	if (thing)
		return thing->who;
	env->clear(env->world, group);
	return NULL;
}

/* ---- sockets ---- */

static struct thing *find_listener(const struct sim_shm *shm, uint64_t card,
				   uint16_t number)
{
	struct thing *thing = shm->listeners;

	while (thing && (thing->card != card || thing->number != number))
		thing = thing->next_listener;
	return thing;
}

static int listen_as(void *world, uint64_t card, uint16_t number)
{
	struct sim_shm *shm = shm_of(world);
	struct thing *thing;

	if (find_listener(shm, card, number)) {
		errno = EADDRINUSE;
		return -1;
	}
	thing = make_thing(shm, LISTENER);
	thing->card = card;
	thing->number = number;
	thing->next_listener = shm->listeners;
	shm->listeners = thing;
	return thing->fd;
}

/* The packet takes over the descriptors. */
static void append_packet(void *world, struct thing *thing, const void *bytes,
			  size_t length, const int *fds, unsigned nfds)
{
	struct packet *packet = sim_need(calloc(1, sizeof(*packet)));

	sim_check(length <= PACKET && nfds <= FDS, "a packet that is too long");
	packet->length = length;
	packet->nfds = nfds;
	if (length)
		memcpy(packet->bytes, bytes, length);
	if (nfds)
		memcpy(packet->fds, fds, nfds * sizeof(*fds));
	*thing->last = packet;
	thing->last = &packet->next;
	wake_group(world, thing);
}

/* The caller frees the packet. Returns NULL if there is none. */
static struct packet *take_first(struct thing *thing)
{
	struct packet *packet = thing->first;

	if (!packet)
		return NULL;
	thing->first = packet->next;
	if (!thing->first)
		thing->last = &thing->first;
	return packet;
}

static int call_listener(void *world, uint64_t card, uint16_t number)
{
	struct sim_shm *shm = shm_of(world);
	struct thing *listener = find_listener(shm, card, number), *ends[2];

	if (!listener) {
		errno = ECONNREFUSED;
		return -1;
	}
	ends[0] = make_thing(shm, SOCKET);
	ends[1] = make_thing(shm, SOCKET);
	ends[0]->other = ends[1];
	ends[1]->other = ends[0];
	append_packet(world, listener, NULL, 0, &ends[1]->fd, 1);
	return ends[0]->fd;
}

static int accept_one(void *world, int listener)
{
	struct packet *packet = take_first(thing_of(shm_of(world), listener));
	int fd;

	if (!packet) {
		errno = EAGAIN;
		return -1;
	}
	fd = packet->fds[0];
	free(packet);
	return fd;
}

static bool find_peer(void *world, int fd, pid_t *pid)
{
	(void)world;
	(void)fd;
	*pid = PID;
	return true;
}

static bool send_packet(void *world, int fd, const void *bytes, size_t length,
			const int *fds, unsigned nfds)
{
	struct thing *other = thing_of(shm_of(world), fd)->other;
	unsigned i;

	if (!other)
		return false;
	for (i = 0; i < nfds; i++)
		copy_fd(world, fds[i]);
	append_packet(world, other, bytes, length, fds, nfds);
	return true;
}

static int receive_packet(void *world, int fd, void *bytes, size_t length,
			  int *fds, unsigned *nfds)
{
	struct thing *thing = thing_of(shm_of(world), fd);
	struct packet *packet = take_first(thing);

	*nfds = 0;
	if (!packet)
		return thing->other ? 0 : -1;
	sim_check(packet->length == length, "a packet of another length");
	memcpy(bytes, packet->bytes, length);
	memcpy(fds, packet->fds, packet->nfds * sizeof(*fds));
	*nfds = packet->nfds;
	free(packet);
	return 1;
}

static void end_socket(void *world, struct thing *thing)
{
	struct thing *other = thing->other;

	thing->other = NULL;
	if (!other)
		return;
	other->other = NULL;
	wake_group(world, other);
}

static void hang_up(void *world, int fd)
{
	end_socket(world, thing_of(shm_of(world), fd));
}

static bool has_ended(void *world, int fd)
{
	return !thing_of(shm_of(world), fd)->other;
}

/* ---- processes ---- */

/* The ranks are fibers of one process. */
static pid_t own_process(void *world)
{
	(void)world;
	return PID;
}

static void admit_peers(void *world)
{
	(void)world;
}

static enum bcl_status attach_read(void *world, pid_t pid, void *local,
				   uint64_t remote, size_t length)
{
	(void)pid;
	sim_attach(world, length);
	memcpy(local, (const void *)(uintptr_t)remote, length);
	return BCL_OK;
}

static enum bcl_status attach_write(void *world, pid_t pid, const void *local,
				    uint64_t remote, size_t length)
{
	(void)pid;
	sim_attach(world, length);
	memcpy((void *)(uintptr_t)remote, local, length);
	return BCL_OK;
}

/* ---- files ---- */

static struct thing **mapped_bucket(struct sim_shm *shm, const void *address)
{
	return &shm->mapped[(uintptr_t)address / 4096 % BUCKETS];
}

static void enter_map(struct sim_shm *shm, struct thing *thing)
{
	struct thing **first = mapped_bucket(shm, thing->base);

	thing->next_mapped = *first;
	*first = thing;
}

static enum bcl_status make_file(void *world, size_t size, size_t reserved,
				 int *fd)
{
	struct thing *thing = make_thing(shm_of(world), FILE_OF_MEMORY);

	(void)reserved;
	thing->size = size;
	*fd = thing->fd;
	return BCL_OK;
}

static bool reserve_file(void *world, int fd, size_t offset, size_t size)
{
	const struct thing *thing = thing_of(shm_of(world), fd);

	return offset + size <= thing->size;
}

static enum bcl_status populate_map(void *world, void *address, size_t size)
{
	(void)world;
	(void)address;
	(void)size;
	return BCL_OK;
}

/* A part may be mapped twice, so this needs a real file. */
static uint8_t *map_parts(const struct thing *thing,
			  const struct bcl_shm_part *parts, unsigned nparts)
{
	int file = memfd_create("sim", MFD_CLOEXEC);
	uint8_t *base;
	size_t at = 0;
	unsigned i;

	sim_check(file >= 0 && !ftruncate(file, (off_t)thing->size),
		  "no file for shared memory");
	base = mmap(NULL, thing->span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	sim_check(base != MAP_FAILED, "no address space");
	for (i = 0; i < nparts; at += parts[i++].size)
		sim_check(mmap(base + at, parts[i].size, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_FIXED, file,
			       (off_t)parts[i].offset) != MAP_FAILED,
			  "no more maps: see vm.max_map_count");
	close(file);
	return base;
}

static void *map_file(void *world, int fd, const struct bcl_shm_part *parts,
		      unsigned nparts, bool writable)
{
	struct sim_shm *shm = shm_of(world);
	struct thing *thing = thing_of(shm, fd);
	size_t span = 0;
	unsigned i;

	(void)writable;
	for (i = 0; i < nparts; i++) {
		if (parts[i].offset + parts[i].size > thing->size)
			return NULL;
		span += parts[i].size;
	}
	if (!thing->base) {
		thing->span = span;
		thing->base = map_parts(thing, parts, nparts);
		enter_map(shm, thing);
	}
	sim_check(span == thing->span, "a file mapped in two ways");
	thing->references++;
	return thing->base;
}

static void unmap_file(void *world, void *address, size_t size)
{
	struct thing *thing = *mapped_bucket(shm_of(world), address);

	while (thing && thing->base != address)
		thing = thing->next_mapped;
	sim_check(thing && thing->span == size, "no such map");
	release_thing(world, thing);
}

static void protect_file(void *world, int fd)
{
	(void)world;
	(void)fd;
}

/* ---- the end of a thing ---- */

static void free_file(struct sim_shm *shm, struct thing *thing)
{
	struct thing **place = mapped_bucket(shm, thing->base);

	if (!thing->base)
		return;
	while (*place != thing)
		place = &(*place)->next_mapped;
	*place = thing->next_mapped;
	munmap(thing->base, thing->span);
}

static void free_listener(struct sim_shm *shm, struct thing *thing)
{
	struct thing **place = &shm->listeners;

	while (*place != thing)
		place = &(*place)->next_listener;
	*place = thing->next_listener;
}

/* Frees an object that nobody refers to any more. */
static void discard_thing(struct sim_shm *shm, struct thing *thing)
{
	unsigned i = (unsigned)(thing->fd - FIRST);
	struct packet *packet;

	leave_group(shm, thing);
	if (thing->kind == LISTENER)
		free_listener(shm, thing);
	else if (thing->kind == FILE_OF_MEMORY)
		free_file(shm, thing);
	shm->all[i] = NULL;
	if (i < shm->spare)
		shm->spare = i;
	while ((packet = take_first(thing)))
		free(packet);
	free(thing);
}

static void release_thing(void *world, struct thing *thing)
{
	struct packet *packet;

	if (--thing->references)
		return;
	if (thing->kind == SOCKET)
		end_socket(world, thing);
	for (packet = thing->first; packet; packet = packet->next)
		while (packet->nfds)
			close_fd(world, packet->fds[--packet->nfds]);
	discard_thing(shm_of(world), thing);
}

void sim_shm_drop(struct sim_shm *shm, unsigned node)
{
	unsigned i;

	for (i = 0; i < shm->n; i++)
		if (shm->all[i] && shm->all[i]->node == node)
			discard_thing(shm, shm->all[i]);
}

void *sim_shm_share(struct sim_shm *shm, size_t size, int *fd)
{
	struct thing *thing = make_thing(shm, FILE_OF_MEMORY);
	size_t span = (size + 4095) / 4096 * 4096;

	thing->base = mmap(NULL, span, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (thing->base == MAP_FAILED) {
		thing->base = NULL;
		shm->all[thing->fd - FIRST] = NULL;
		free(thing);
		return NULL;
	}
	thing->size = thing->span = size;
	thing->references = 2;
	enter_map(shm, thing);
	*fd = thing->fd;
	return thing->base;
}

void sim_shm_unshare(struct sim_world *world, void *memory, size_t size, int fd)
{
	unmap_file(world, memory, size);
	close_fd(world, fd);
}

struct sim_shm *sim_shm_open(const struct sim_world *world)
{
	struct sim_shm *shm = sim_need(calloc(1, sizeof(*shm)));

	shm->world = world;
	return shm;
}

void sim_shm_close(struct sim_shm *shm)
{
	struct packet *packet;
	unsigned i;

	for (i = 0; i < shm->n; i++) {
		if (!shm->all[i])
			continue;
		while ((packet = take_first(shm->all[i])))
			free(packet);
		if (shm->all[i]->base)
			munmap(shm->all[i]->base, shm->all[i]->span);
		free(shm->all[i]);
	}
	free(shm->all);
	free(shm->groups);
	free(shm);
}

const struct bcl_shm_host sim_shm_host = {
	.copy = copy_fd,
	.close = close_fd,
	.wakes = can_be_woken,
	.group_open = group_open,
	.group_add = group_add,
	.group_remove = group_remove,
	.group_next = group_next,
	.listen = listen_as,
	.call = call_listener,
	.accept = accept_one,
	.peer = find_peer,
	.send = send_packet,
	.receive = receive_packet,
	.hang_up = hang_up,
	.has_ended = has_ended,
	.self = own_process,
	.admit = admit_peers,
	.read = attach_read,
	.write = attach_write,
	.make = make_file,
	.reserve = reserve_file,
	.populate = populate_map,
	.map = map_file,
	.unmap = unmap_file,
	.protect = protect_file,
};
