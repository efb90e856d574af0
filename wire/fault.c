/* SPDX-License-Identifier: MIT */
/* Fault injection (BCL_FAULT): a decorator that drops, duplicates, reorders,
 * corrupts or delays frames. See fault.h. */
#include "wire/fault.h"

#include <stdlib.h>
#include <string.h>

#include "env/counters.h"
#include "env/log.h"
#include "wire/decorator.h"

enum {
	HELD = 128, /* frames held back per direction */
	REORDER_FRAMES = 4,
	REORDER_TIME = 1000000, /* ns */
	DELAY_MAX = 1000000,	/* ns */
};

struct held {
	bool used;
	uint16_t length;
	uint64_t due;  /* ns */
	uint64_t turn; /* or once this many frames have passed */
	struct bcl_wire_address address;
	uint8_t bytes[BCL_FRAME_MAX];
};

struct direction {
	uint64_t random;
	uint64_t passed; /* frames */
	unsigned nheld;
	struct held held[HELD];
};

struct fault {
	struct bcl_decorator base;
	struct bcl_fault_plan plan;
	struct direction out, in;
	unsigned index, delivered; /* during receive() */
	struct held spare;	   /* the received frame at hand */
};

/* ---- the plan ---- */

static bool parse_chance(const char *text, uint32_t *chance, char **end)
{
	double value = strtod(text, end);

	if (*end == text)
		return false;
	if (**end == '%') {
		value /= 100;
		++*end;
	}
	if (!(value >= 0 && value <= 1))
		return false;
	*chance = (uint32_t)(value * 2147483648.0);
	return true;
}

const char *const bcl_fault_names[BCL_FAULT_KINDS] = { "drop", "dup", "reorder",
						       "corrupt", "delay" };

static bool parse_one(const char *name, const char *value,
		      struct bcl_fault_plan *plan)
{
	unsigned kind;
	char *end;

	if (!strcmp(name, "seed")) {
		plan->seed = strtoull(value, &end, 0);
		plan->seeded = true;
		return end != value && !*end;
	}
	for (kind = 0; kind < BCL_FAULT_KINDS; kind++)
		if (!strcmp(name, bcl_fault_names[kind]))
			break;
	if (kind == BCL_FAULT_KINDS ||
	    !parse_chance(value, &plan->chance[kind], &end))
		return false;
	if (kind == BCL_FAULT_DELAY && *end == '@')
		return !bcl_config_parse(BCL_CONFIG_TIME, end + 1,
					 &plan->delay_max);
	return !*end;
}

enum bcl_status bcl_fault_parse(const char *text, struct bcl_fault_plan *plan,
				char word[32])
{
	char copy[32], *colon;

	*plan = (struct bcl_fault_plan){ .delay_max = DELAY_MAX };
	while (*text) {
		size_t length = strcspn(text, ",");

		if (length >= sizeof(copy))
			length = sizeof(copy) - 1;
		memcpy(copy, text, length);
		copy[length] = 0;
		memcpy(word, copy, length + 1);
		text += length;
		colon = strchr(copy, ':');
		if (!colon || (*text && *text != ','))
			return BCL_ERR_ARG;
		*colon = 0;
		if (!parse_one(copy, colon + 1, plan))
			return BCL_ERR_ARG;
		text += *text == ',';
	}
	return BCL_OK;
}

/* ---- chance ---- */

/* SplitMix: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", 2014. Any seed is good. */
static uint64_t draw_number(struct direction *direction)
{
	uint64_t z = direction->random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static bool fault_strikes(struct fault *fault, struct direction *direction,
			  enum bcl_fault_kind kind)
{
	return draw_number(direction) >> 33 < fault->plan.chance[kind];
}

/* ---- frames on their way ---- */

static bool pass_out(struct fault *fault, const struct held *frame)
{
	const struct bcl_rail_tx tx = {
		.iov = { { (void *)frame->bytes, frame->length } },
		.niov = 1,
		.length = frame->length,
	};
	struct bcl_rail *inner = fault->base.inner;

	return inner->transmit(inner, &frame->address, &tx, 1);
}

static bool pass_in(struct fault *fault, const struct held *frame)
{
	const struct bcl_rx_frame rx = { .head = frame->bytes,
					 .head_len = frame->length };
	const struct bcl_rail_sink *sink = fault->base.sink;

	fault->delivered++;
	sink->deliver(sink->host, fault->index, &frame->address, &rx, 1);
	return true;
}

static bool pass_frame(struct fault *fault, struct direction *direction,
		       const struct held *frame)
{
	return direction == &fault->out ? pass_out(fault, frame)
					: pass_in(fault, frame);
}

static uint64_t read_clock(const struct fault *fault)
{
	const struct bcl_env *env = fault->base.env;

	return env->now(env->world);
}

static void release_due(struct fault *fault, struct direction *direction)
{
	uint64_t time;
	unsigned i;

	if (!direction->nheld)
		return;
	time = read_clock(fault);
	for (i = 0; i < HELD; i++) {
		struct held *held = &direction->held[i];

		if (!held->used ||
		    (held->due > time && held->turn > direction->passed))
			continue;
		held->used = false;
		direction->nheld--;
		pass_frame(fault, direction, held);
	}
}

static bool hold_frame(struct direction *direction, const struct held *frame)
{
	unsigned i;

	for (i = 0; i < HELD; i++)
		if (!direction->held[i].used)
			break;
	if (i == HELD)
		return false;
	memcpy(&direction->held[i], frame,
	       offsetof(struct held, bytes) + frame->length);
	direction->held[i].used = true;
	direction->nheld++;
	return true;
}

/* Apply the faults to a frame, and pass the frame on unless a fault drops or
 * holds the frame. Returns false if the rail is full. */
static bool apply_faults(struct fault *fault, struct direction *direction,
			 struct held *frame)
{
	struct bcl_rail *rail = &fault->base.rail;
	bool twice, taken = true;

	direction->passed++;
	frame->due = UINT64_MAX;
	frame->turn = UINT64_MAX;
	if (fault_strikes(fault, direction, BCL_FAULT_DROP)) {
		bcl_rail_count(rail, fault_dropped, 1);
		return true;
	}
	if (fault_strikes(fault, direction, BCL_FAULT_CORRUPT)) {
		uint64_t bit = draw_number(direction) % (frame->length * 8u);

		frame->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		bcl_rail_count(rail, fault_corrupted, 1);
	}
	twice = fault_strikes(fault, direction, BCL_FAULT_DUP);
	if (fault_strikes(fault, direction, BCL_FAULT_REORDER)) {
		frame->turn = direction->passed + 1 +
			      draw_number(direction) % REORDER_FRAMES;
		frame->due = read_clock(fault) + REORDER_TIME;
		bcl_rail_count(rail, fault_reordered, 1);
	}
	if (fault_strikes(fault, direction, BCL_FAULT_DELAY)) {
		frame->turn = UINT64_MAX;
		frame->due =
			read_clock(fault) +
			draw_number(direction) % (fault->plan.delay_max + 1);
		bcl_rail_count(rail, fault_delayed, 1);
	}
	if (frame->due == UINT64_MAX || !hold_frame(direction, frame))
		taken = pass_frame(fault, direction, frame);
	if (twice) {
		bcl_rail_count(rail, fault_duplicated, 1);
		pass_frame(fault, direction, frame);
	}
	return taken;
}

/* ---- the rail ---- */

static unsigned fault_transmit(struct bcl_rail *rail,
			       const struct bcl_wire_address *destination,
			       const struct bcl_rail_tx *frames, unsigned n)
{
	struct fault *fault = (struct fault *)rail;
	/* Not fault->spare: a received frame may be in use there. */
	struct held frame = { .address = *destination };
	unsigned i, j;

	for (i = 0; i < n; i++) {
		frame.length = 0;
		for (j = 0; j < frames[i].niov; j++) {
			memcpy(frame.bytes + frame.length,
			       frames[i].iov[j].iov_base,
			       frames[i].iov[j].iov_len);
			frame.length += (uint16_t)frames[i].iov[j].iov_len;
		}
		if (!apply_faults(fault, &fault->out, &frame))
			break;
	}
	release_due(fault, &fault->out);
	return i;
}

static void fault_deliver(void *arg, unsigned index,
			  const struct bcl_wire_address *source,
			  const struct bcl_rx_frame *frames, unsigned n)
{
	struct fault *fault = arg;
	unsigned i;

	(void)index;
	for (i = 0; i < n; i++) {
		struct held *frame = &fault->spare;

		frame->address = *source;
		frame->length = frames[i].head_len;
		memcpy(frame->bytes, frames[i].head, frames[i].head_len);
		apply_faults(fault, &fault->in, frame);
	}
	release_due(fault, &fault->in);
}

static unsigned fault_receive(struct bcl_rail *rail,
			      const struct bcl_rail_sink *sink, unsigned index,
			      unsigned max)
{
	struct fault *fault = (struct fault *)rail;

	fault->base.sink = sink;
	fault->index = index;
	fault->delivered = 0;
	release_due(fault, &fault->out);
	release_due(fault, &fault->in);
	return bcl_decorator_receive(rail, sink, index, max) + fault->delivered;
}

enum bcl_status bcl_fault_wrap(const struct bcl_env *env,
			       const struct bcl_config *config, unsigned index,
			       struct bcl_rail **rail)
{
	struct bcl_fault_plan plan;
	struct fault *fault;
	char word[32];

	if (bcl_fault_parse(config->fault, &plan, word)) {
		bcl_log(config, BCL_LOG_ERROR, "fault",
			"BCL_FAULT: cannot read \"%s\": it takes drop, dup, "
			"reorder, corrupt or delay with a chance, as in "
			"drop:1%%, delay:1%%@2ms, and seed:N",
			word);
		return BCL_ERR_ARG;
	}
	if (!plan.seeded)
		plan.seed = env->random(env->world);
	fault = bcl_decorate(env, sizeof(*fault), rail);
	if (!fault)
		return BCL_ERR_NOMEM;
	fault->plan = plan;
	fault->out.random = plan.seed + 2 * index;
	fault->in.random = plan.seed + 2 * index + 1;
	fault->base.deliver = fault_deliver;
	fault->base.rail.transmit = fault_transmit;
	fault->base.rail.receive = fault_receive;
	bcl_log(config, BCL_LOG_WARN, "fault",
		"rail %u, %s on %s: faults on purpose: %s, seed:%llu", index,
		(*rail)->kind->name, (*rail)->interface, config->fault,
		(unsigned long long)plan.seed);
	return BCL_OK;
}
