/* SPDX-License-Identifier: MIT */
#include "mock_state.h"
#include "transport/key.h"

enum bcl_status bcl_memory_register(struct bcl_context *context, void *address,
				    size_t length, unsigned rights,
				    struct bcl_memory **result)
{
	struct mock *mock = (struct mock *)context->helper;
	struct mock_port *port = &mock->port[context - mock->context];

	mock_enter(port);
	mock_check(!port->memory.length, "register: one memory at a time");
	port->memory = (struct bcl_memory){
		.context = context,
		.address = address,
		.length = length,
		.rights = rights,
		.handle = (uint32_t)++mock->ids,
	};
	*result = &port->memory;
	mock_leave(mock);
	return BCL_OK;
}

void bcl_memory_release(struct bcl_memory *memory)
{
	memory->length = 0;
}

void bcl_memory_key(const struct bcl_memory *memory, void *bytes)
{
	const struct bcl_key key = {
		.length = memory->length,
		.handle = memory->handle,
		.rights = memory->rights,
	};

	bcl_key_pack(&key, bytes);
}

/* The data is in the target's memory at once. The notification arrives at the
 * time at which a message sent now would arrive. */
enum bcl_status bcl_put_notify(struct bcl_peer *base, const void *bytes,
			       uint64_t offset, const void *buffer,
			       size_t length, unsigned type, uint32_t immediate,
			       uint64_t cookie)
{
	const struct bcl_key key = bcl_key_unpack(bytes);
	struct mock_peer *peer = mock_peer_of(base);
	struct mock *mock = mock_enter(peer->local);
	const struct bcl_memory *memory = &peer->remote->memory;
	struct bcl_event event = { .kind = BCL_EVENT_SENT,
				   .peer = base,
				   .cookie = cookie };
	enum bcl_status status = mock_may_send(peer);

	mock_check(type < BCL_TYPES && bcl_key_allows(&key, offset, length,
						      BCL_REMOTE_WRITE),
		   "put: argument");
	if (!memory->length || memory->handle != key.handle) {
		event.status = BCL_ERR_MEMORY;
	} else if (!status) {
		memcpy((char *)memory->address + offset, buffer, length);
		mock_say(peer, BCL_EVENT_NOTIFY, type, immediate, NULL, 0);
	}
	if (!status)
		mock_push(peer->local,
			  mock_now(mock) +
				  mock_draw(mock, mock->options.transfer),
			  &event, NULL, 0);
	mock_leave(mock);
	return status;
}
