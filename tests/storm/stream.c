/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <string.h>

#include "sim/random.h"
#include "tests/unit/need.h"

enum {
	PORT = 2,
	LONGEST = 1 << 20,
};

void stream_open(struct stream *stream, struct sim_rank *rank,
		 struct bcl_context *context)
{
	const struct bcl_port_options options = { .struct_size =
							  sizeof(options),
						  .number = PORT };
	const struct bcl_env *env = rank->env;
	uint8_t key[BCL_KEY_MAX];

	*stream = (struct stream){ .rank = rank };
	stream->bytes = env->allocate(env->world, LONGEST);
	need(stream->bytes);
	memset(stream->bytes, 0, LONGEST);
	need(!bcl_port_open(context, &options, &stream->port));
	need(!bcl_memory_register(context, stream->bytes, LONGEST,
				  BCL_REMOTE_WRITE, &stream->window));
	bcl_memory_key(stream->window, key);
	need(!bcl_boot_put(&rank->boot, "window", key, sizeof(key)));
}

static bool is_up(const struct stream *stream, unsigned to)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };

	if (!stream->peer[to])
		return false;
	bcl_peer_info(stream->peer[to], &info);
	return info.state == BCL_PEER_UP;
}

/* The address that a rank publishes serves for all of its ports. */
static void meet(struct stream *stream, unsigned to)
{
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;

	if (!bcl_boot_get(&stream->rank->boot, to, "address", address,
			  sizeof(address), &length))
		bcl_peer_open(stream->port, address, length, &stream->peer[to]);
}

static void read_all(struct stream *stream)
{
	struct bcl_event event;

	while (!bcl_poll(stream->port, &event))
		stream->left -= event.kind == BCL_EVENT_SENT;
}

void stream_put(struct stream *stream, unsigned to, uint64_t *random)
{
	uint8_t key[BCL_KEY_MAX];
	size_t length;

	read_all(stream);
	if (!is_up(stream, to))
		meet(stream, to);
	if (stream->left || !is_up(stream, to) ||
	    bcl_boot_get(&stream->rank->boot, to, "window", key, sizeof(key),
			 &length))
		return;
	if (bcl_put(stream->peer[to], key, 0, stream->bytes,
		    sim_random(random) % LONGEST, 0))
		return;
	stream->left++;
	stream->left += !bcl_fence(stream->peer[to], 0);
}

void stream_close(struct stream *stream)
{
	const struct bcl_env *env = stream->rank->env;

	env->release(env->world, stream->bytes, LONGEST);
}
