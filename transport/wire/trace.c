/* SPDX-License-Identifier: MIT */
/* The format: draft-ietf-opsawg-pcapng. Blocks are in this host's order. */
#include "transport/wire/trace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "transport/counters.h"
#include "transport/log.h"
#include "transport/wire/decorator.h"

enum {
	SECTION = 0x0a0d0d0a,
	ORDER = 0x1a2b3c4d,
	INTERFACE = 1,
	PACKET = 6,
	LINK_ETHERNET = 1,
	LINK_RAW_IP = 101,
	OPTION_NAME = 2,
	OPTION_RESOLUTION = 9,
	OPTION_FLAGS = 2,
	INBOUND = 1,
	OUTBOUND = 2,
	HEADERS = 64, /* before a frame, at most */
	PIECES = 10,
};

struct bcl_trace {
	const struct bcl_env *env;
	const struct bcl_config *config;
	int64_t epoch; /* what makes now() ns since 1970 */
	bool broken;   /* a write failed: nothing more is written */
	int fd;
};

struct traced {
	struct bcl_decorator base;
	struct bcl_trace *trace;
	unsigned number;
};

static bool put(struct bcl_trace *trace, const struct iovec *iov, int n)
{
	size_t length = 0;
	int i;

	if (trace->broken)
		return false;
	for (i = 0; i < n; i++)
		length += iov[i].iov_len;
	if (writev(trace->fd, iov, n) == (ssize_t)length)
		return true;
	trace->broken = true;
	bcl_log(trace->config, BCL_LOG_ERROR, "trace", "cannot write: %s",
		strerror(errno));
	return false;
}

/* ---- the headers that a capture would have shown ---- */

static uint16_t ip_checksum(const uint8_t *header)
{
	uint32_t sum = 0;
	unsigned i;

	for (i = 0; i < 20; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return (uint16_t)~sum;
}

static void store16(uint8_t *at, unsigned value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static unsigned udp_headers(uint8_t *at, const struct bcl_wire_address *from,
			    const struct bcl_wire_address *to, unsigned length)
{
	bool four = from->kind == BCL_WIRE_UDP4;
	unsigned size = four ? 4 : 16, ip = four ? 20 : 40;

	memset(at, 0, ip + 8);
	if (four) {
		at[0] = 0x45;
		store16(at + 2, ip + 8 + length);
		at[6] = 0x40; /* do not fragment */
		at[8] = 64;
		at[9] = 17;
		memcpy(at + 12, from->bytes, size);
		memcpy(at + 16, to->bytes, size);
		store16(at + 10, ip_checksum(at));
	} else {
		at[0] = 0x60;
		store16(at + 4, 8 + length);
		at[6] = 17;
		at[7] = 64;
		memcpy(at + 8, from->bytes, size);
		memcpy(at + 24, to->bytes, size);
	}
	memcpy(at + ip, from->bytes + size, 2);
	memcpy(at + ip + 2, to->bytes + size, 2);
	store16(at + ip + 4, 8 + length);
	return ip + 8;
}

static unsigned ether_headers(uint8_t *at, const struct bcl_wire_address *from,
			      const struct bcl_wire_address *to,
			      unsigned length)
{
	struct bcl_ether_prefix prefix = {
		.length = bcl_put16((uint16_t)length),
		.to = to->bytes[6],
		.from = from->bytes[6],
	};

	memcpy(at, to->bytes, 6);
	memcpy(at + 6, from->bytes, 6);
	store16(at + 12, BCL_ETHERTYPE);
	memcpy(at + 14, &prefix, sizeof(prefix));
	return 14 + sizeof(prefix);
}

/* ---- blocks ---- */

static bool ethernet(const struct traced *traced)
{
	return traced->base.rail.address.kind == BCL_WIRE_PACKET;
}

static bool put_section(struct bcl_trace *trace)
{
	const struct {
		uint32_t type, length, order;
		uint16_t major, minor;
		int64_t section_length;
		uint32_t again;
	} __attribute__((packed))
	block = { SECTION, sizeof(block), ORDER, 1, 0, -1, sizeof(block) };

	return put(trace, &(struct iovec){ (void *)&block, sizeof(block) }, 1);
}

static bool put_interface(const struct traced *traced)
{
	struct {
		uint32_t type, length;
		uint16_t link, spare;
		uint32_t snap;
		uint16_t name, name_length;
		char text[16];
		uint16_t resolution, resolution_length;
		uint8_t exponent, pad[3];
		uint32_t end;
		uint32_t again;
	} __attribute__((packed)) block = {
		.type = INTERFACE,
		.length = sizeof(block),
		.link = ethernet(traced) ? LINK_ETHERNET : LINK_RAW_IP,
		.name = OPTION_NAME,
		.name_length = sizeof(block.text),
		.resolution = OPTION_RESOLUTION,
		.resolution_length = 1,
		.exponent = 9,
		.again = sizeof(block),
	};

	/* Padding of the text is zero, which readers take as its end. */
	memcpy(block.text, traced->base.rail.interface, sizeof(block.text));
	return put(traced->trace,
		   &(struct iovec){ (void *)&block, sizeof(block) }, 1);
}

/* One frame in up to PIECES - 4 pieces; pieces[0] and [1] are ours. */
static void put_frame(struct traced *traced,
		      const struct bcl_wire_address *from,
		      const struct bcl_wire_address *to, uint32_t flags,
		      struct iovec *pieces, unsigned n)
{
	struct bcl_trace *trace = traced->trace;
	struct {
		uint32_t type, length, interface, high, low, captured, original;
	} head = { .type = PACKET, .interface = traced->number };
	struct {
		uint16_t flags, flags_length;
		uint32_t value, end, again;
	} tail = { OPTION_FLAGS, 4, flags, 0, 0 };
	static const uint8_t zeros[4];
	uint8_t headers[HEADERS];
	uint64_t time;
	unsigned i;

	for (i = 2; i < n; i++)
		head.captured += (uint32_t)pieces[i].iov_len;
	i = ethernet(traced) ? ether_headers(headers, from, to, head.captured)
			     : udp_headers(headers, from, to, head.captured);
	head.captured += i;
	head.original = head.captured;
	time = trace->env->now(trace->env->world) + (uint64_t)trace->epoch;
	head.high = (uint32_t)(time >> 32);
	head.low = (uint32_t)time;
	pieces[0] = (struct iovec){ &head, sizeof(head) };
	pieces[1] = (struct iovec){ headers, i };
	pieces[n++] = (struct iovec){ (void *)zeros, -head.captured & 3 };
	pieces[n++] = (struct iovec){ &tail, sizeof(tail) };
	head.length = (uint32_t)sizeof(head) + sizeof(tail) + head.captured +
		      (-head.captured & 3);
	tail.again = head.length;
	if (put(trace, pieces, (int)n))
		bcl_rail_count(&traced->base.rail, trace_frames, 1);
	else
		bcl_rail_count(&traced->base.rail, trace_lost, 1);
}

/* ---- the rail ---- */

static unsigned trace_transmit(struct bcl_rail *rail,
			       const struct bcl_wire_address *destination,
			       const struct bcl_rail_tx *frames, unsigned n)
{
	struct traced *traced = (struct traced *)rail;
	struct bcl_rail *inner = traced->base.inner;
	unsigned taken = inner->transmit(inner, destination, frames, n);
	struct iovec pieces[PIECES];
	unsigned i;

	for (i = 0; i < taken; i++) {
		memcpy(pieces + 2, frames[i].iov,
		       frames[i].niov * sizeof(*pieces));
		put_frame(traced, &rail->address, destination, OUTBOUND, pieces,
			  2 + frames[i].niov);
	}
	return taken;
}

static void trace_deliver(void *arg, unsigned index,
			  const struct bcl_wire_address *source,
			  const struct bcl_rx_frame *frames, unsigned n)
{
	struct traced *traced = arg;
	const struct bcl_rail_sink *sink = traced->base.sink;
	struct iovec pieces[PIECES];
	unsigned i;

	for (i = 0; i < n; i++) {
		pieces[2] = (struct iovec){ (void *)frames[i].head,
					    frames[i].head_len };
		put_frame(traced, source, &traced->base.rail.address, INBOUND,
			  pieces, 3);
	}
	sink->deliver(sink->host, index, source, frames, n);
}

enum bcl_status bcl_trace_wrap(struct bcl_trace *trace, unsigned index,
			       struct bcl_rail **rail)
{
	struct traced *traced = bcl_decorate(trace->env, sizeof(*traced), rail);

	if (!traced)
		return BCL_ERR_NOMEM;
	traced->trace = trace;
	traced->number = index;
	traced->base.deliver = trace_deliver;
	traced->base.rail.transmit = trace_transmit;
	put_interface(traced);
	return BCL_OK;
}

/* ---- the file ---- */

static void name_file(const char *wanted, uint64_t card,
		      char name[BCL_CONFIG_TEXT_MAX + 20])
{
	const char *slash = strrchr(wanted, '/'), *dot = strrchr(wanted, '.');
	size_t stem = strlen(wanted);

	if (dot && dot != wanted && (!slash || dot > slash + 1))
		stem = (size_t)(dot - wanted);
	snprintf(name, BCL_CONFIG_TEXT_MAX + 20, "%.*s-%016" PRIx64 "%s",
		 (int)stem, wanted, card, wanted + stem);
}

enum bcl_status bcl_trace_open(const struct bcl_env *env,
			       const struct bcl_config *config, uint64_t card,
			       struct bcl_trace **result)
{
	struct bcl_trace *trace = env->allocate(env->world, sizeof(*trace));
	char name[BCL_CONFIG_TEXT_MAX + 20];
	struct timespec real;

	if (!trace)
		return BCL_ERR_NOMEM;
	name_file(config->trace, card, name);
	trace->env = env;
	trace->config = config;
	clock_gettime(CLOCK_REALTIME, &real);
	trace->epoch = (int64_t)real.tv_sec * 1000000000 + real.tv_nsec -
		       (int64_t)env->now(env->world);
	trace->fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (trace->fd < 0 || !put_section(trace)) {
		bcl_log(config, BCL_LOG_ERROR, "trace", "%s: %s", name,
			strerror(errno));
		if (trace->fd >= 0)
			close(trace->fd);
		env->release(env->world, trace, sizeof(*trace));
		return BCL_ERR_SYSTEM;
	}
	bcl_log(config, BCL_LOG_INFO, "trace", "frames go to %s", name);
	*result = trace;
	return BCL_OK;
}

void bcl_trace_close(struct bcl_trace *trace)
{
	close(trace->fd);
	trace->env->release(trace->env->world, trace, sizeof(*trace));
}
