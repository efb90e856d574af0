/* SPDX-License-Identifier: MIT */
/* BCL_TRACE: a decorator around each rail that writes frames and records to a
 * pcapng file. See trace.h. */
#include "wire/trace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "env/counters.h"
#include "env/log.h"
#include "wire/decorator.h"
#include "wire/pcapng.h"

enum {
	HEADERS = 64, /* bytes before a frame, at most */
	EPOCH_TRIES = 5,
	HOST = 0, /* the interface of records */
};

struct bcl_trace {
	const struct bcl_env *env;
	const struct bcl_config *config;
	struct bcl_pcapng file;
	uint64_t card;
	int64_t epoch; /* the difference of now() to ns since 1970 */
	void (*look)(void *arg);
	void *arg;
};

struct traced {
	struct bcl_decorator base;
	struct bcl_trace *trace;
	unsigned number; /* of the rail's interface in the file */
};

static uint64_t trace_now(const struct bcl_trace *trace)
{
	return trace->env->now(trace->env->world) + (uint64_t)trace->epoch;
}

static void let_journal_look(struct bcl_trace *trace)
{
	if (trace->look)
		trace->look(trace->arg);
}

static bool write_packet(struct bcl_trace *trace, unsigned interface,
			 uint64_t time, enum bcl_pcapng_flags flags,
			 const struct iovec *pieces, unsigned n)
{
	bool broken = trace->file.broken;

	if (bcl_pcapng_packet(&trace->file, interface, time, flags, pieces, n))
		return true;
	if (!broken)
		bcl_log(trace->config, BCL_LOG_ERROR, "trace",
			"cannot write: %s", strerror(errno));
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

static bool is_ethernet(const struct traced *traced)
{
	return traced->base.rail.address.kind == BCL_WIRE_PACKET;
}

/* Write one frame. The function fills in pieces[0]. */
static void put_frame(struct traced *traced, uint64_t time,
		      const struct bcl_wire_address *from,
		      const struct bcl_wire_address *to,
		      enum bcl_pcapng_flags flags, struct iovec *pieces,
		      unsigned n)
{
	uint8_t headers[HEADERS];
	unsigned length = 0, i;

	for (i = 1; i < n; i++)
		length += (unsigned)pieces[i].iov_len;
	i = is_ethernet(traced) ? ether_headers(headers, from, to, length)
				: udp_headers(headers, from, to, length);
	pieces[0] = (struct iovec){ headers, i };
	if (write_packet(traced->trace, traced->number, time, flags, pieces, n))
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
	struct iovec pieces[BCL_PCAPNG_PIECES];
	unsigned taken, i;
	uint64_t time;

	let_journal_look(traced->trace);
	time = trace_now(traced->trace); /* before the frames arrive */
	taken = inner->transmit(inner, destination, frames, n);
	for (i = 0; i < taken; i++) {
		memcpy(pieces + 1, frames[i].iov,
		       frames[i].niov * sizeof(*pieces));
		put_frame(traced, time, &rail->address, destination,
			  BCL_PCAPNG_OUTBOUND, pieces, 1 + frames[i].niov);
	}
	return taken;
}

static void trace_deliver(void *arg, unsigned index,
			  const struct bcl_wire_address *source,
			  const struct bcl_rx_frame *frames, unsigned n)
{
	struct traced *traced = arg;
	const struct bcl_rail_sink *sink = traced->base.sink;
	struct iovec pieces[BCL_PCAPNG_PIECES];
	uint64_t time;
	unsigned i;

	let_journal_look(traced->trace);
	time = trace_now(traced->trace);
	for (i = 0; i < n; i++) {
		pieces[1] = (struct iovec){ (void *)frames[i].head,
					    frames[i].head_len };
		put_frame(traced, time, source, &traced->base.rail.address,
			  BCL_PCAPNG_INBOUND, pieces, 2);
	}
	sink->deliver(sink->host, index, source, frames, n);
	let_journal_look(traced->trace);
}

enum bcl_status bcl_trace_wrap(struct bcl_trace *trace, unsigned index,
			       struct bcl_rail **rail)
{
	struct traced *traced = bcl_decorate(trace->env, sizeof(*traced), rail);
	char about[BCL_PCAPNG_TEXT];

	if (!traced)
		return BCL_ERR_NOMEM;
	traced->trace = trace;
	traced->number = trace->file.interfaces;
	traced->base.deliver = trace_deliver;
	traced->base.rail.transmit = trace_transmit;
	snprintf(about, sizeof(about), BCL_TRACE_RAIL, trace->card, index);
	bcl_pcapng_interface(&trace->file,
			     is_ethernet(traced) ? BCL_PCAPNG_ETHERNET
						 : BCL_PCAPNG_RAW_IP,
			     traced->base.rail.interface, about);
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

/* Reads the real-time clock between two readings of now(), several times. The
 * pair of readings that are closest together counts. */
static int64_t measure_epoch(const struct bcl_env *env)
{
	uint64_t before, after, closest = UINT64_MAX;
	struct timespec real;
	int64_t result = 0;
	unsigned i;

	for (i = 0; i < EPOCH_TRIES; i++) {
		before = env->now(env->world);
		clock_gettime(CLOCK_REALTIME, &real);
		after = env->now(env->world);
		if (after - before >= closest)
			continue;
		closest = after - before;
		result = (int64_t)real.tv_sec * 1000000000 + real.tv_nsec -
			 (int64_t)(before + closest / 2);
	}
	return result;
}

enum bcl_status bcl_trace_open(const struct bcl_env *env,
			       const struct bcl_config *config, uint64_t card,
			       struct bcl_trace **result)
{
	struct bcl_trace *trace = env->allocate(env->world, sizeof(*trace));
	char name[BCL_CONFIG_TEXT_MAX + 20], about[BCL_PCAPNG_TEXT];

	if (!trace)
		return BCL_ERR_NOMEM;
	name_file(config->trace, card, name);
	trace->env = env;
	trace->config = config;
	trace->card = card;
	trace->epoch = measure_epoch(env);
	snprintf(about, sizeof(about), BCL_TRACE_HOST, card);
	if (!bcl_pcapng_open(&trace->file, name) ||
	    !bcl_pcapng_interface(&trace->file, BCL_PCAPNG_RECORD, "host",
				  about)) {
		bcl_log(config, BCL_LOG_ERROR, "trace", "%s: %s", name,
			strerror(errno));
		env->release(env->world, trace, sizeof(*trace));
		return BCL_ERR_SYSTEM;
	}
	bcl_log(config, BCL_LOG_INFO, "trace", "frames go to %s", name);
	*result = trace;
	return BCL_OK;
}

void bcl_trace_watch(struct bcl_trace *trace, void (*look)(void *arg),
		     void *arg)
{
	trace->look = look;
	trace->arg = arg;
}

void bcl_trace_record(struct bcl_trace *trace, const struct bcl_record *record)
{
	struct bcl_record_wire wire;

	bcl_record_encode(record, &wire);
	write_packet(trace, HOST, trace_now(trace), BCL_PCAPNG_NO_DIRECTION,
		     &(struct iovec){ &wire, sizeof(wire) }, 1);
}

void bcl_trace_close(struct bcl_trace *trace)
{
	bcl_pcapng_close(&trace->file);
	trace->env->release(trace->env->world, trace, sizeof(*trace));
}
