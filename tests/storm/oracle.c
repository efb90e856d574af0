/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void oracle_broken(const struct oracle_flow *flow, const char *how, ...)
{
	va_list args;

	fprintf(stderr, "flow %u: ", flow->number);
	va_start(args, how);
	vfprintf(stderr, how, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

#define must(condition, ...)                              \
	do {                                              \
		if (!(condition))                         \
			oracle_broken(flow, __VA_ARGS__); \
	} while (0)

static uint8_t byte_of(const struct oracle_flow *flow, uint32_t k, uint32_t i)
{
	return (uint8_t)(flow->number * 31 + k * 7 + i + (i >> 8));
}

void oracle_fill(const struct oracle_flow *flow, uint32_t k, uint8_t *to,
		 uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		to[i] = byte_of(flow, k, i);
}

static void check_bytes(const struct oracle_flow *flow, uint32_t k,
			const uint8_t *bytes, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		must(bytes[i] == byte_of(flow, k, i),
		     "byte %u of %u in number %u is not what was sent", i,
		     length, k);
}

struct oracle_ask *oracle_ask(struct oracle_flow *flow)
{
	if (flow->n == flow->room) {
		flow->room = flow->room ? 2 * flow->room : 64;
		flow->ask = realloc(flow->ask, flow->room * sizeof(*flow->ask));
		if (!flow->ask)
			abort();
	}
	memset(&flow->ask[flow->n], 0, sizeof(*flow->ask));
	return &flow->ask[flow->n++];
}

static void end_add(struct oracle_flow *flow, enum bcl_status status,
		    uint64_t old)
{
	struct oracle_memory *memory = &flow->memory;

	if (status) {
		memory->adds_unsure++;
		return;
	}
	memory->adds++;
	must(old < ORACLE_ADDS && !memory->seen[old],
	     "two additions found the same value, %llu",
	     (unsigned long long)old);
	memory->seen[old] = true;
}

static void end_put(struct oracle_flow *flow, uint32_t k, const uint8_t *there)
{
	const struct oracle_ask *ask = &flow->ask[k];
	struct oracle_memory *memory = &flow->memory;

	memory->busy[ask->slot] = false;
	if (ask->status) {
		memory->unsure[ask->slot] = true;
		return;
	}
	check_bytes(flow, k, there + ask->slot * ORACLE_SLOT, ask->length);
	memory->holds[ask->slot] = 1 + k;
}

void oracle_end(struct oracle_flow *flow, uint32_t k, enum bcl_status status,
		const uint8_t *there, uint64_t old)
{
	struct oracle_ask *ask;

	must(k < flow->n, "number %u was told to have ended, of %u", k,
	     flow->n);
	ask = &flow->ask[k];
	must(!ask->ended, "number %u ended twice", k);
	ask->ended = true;
	ask->status = status;
	if (!there)
		return;
	if (ask->kind == ORACLE_ADD)
		end_add(flow, status, old);
	else if (ask->kind == ORACLE_PUT)
		end_put(flow, k, there);
}

void oracle_deliver(struct oracle_flow *flow, uint32_t k,
		    struct oracle_life life, const uint8_t *bytes,
		    uint32_t length)
{
	struct oracle_ask *ask;

	must(k < flow->n, "number %u came, of %u", k, flow->n);
	ask = &flow->ask[k];
	must(!ask->delivered, "number %u came twice", k);
	must(k >= flow->next, "number %u came after number %u", k,
	     flow->next - 1);
	must(length == ask->length, "number %u has %u bytes, not %u", k, length,
	     ask->length);
	check_bytes(flow, k, bytes, length);
	must(!ask->connection || ask->connection != flow->connection ||
		     life.card == flow->card_life,
	     "number %u came to life %u, others of its connection to life %u",
	     k, life.card, flow->card_life);
	if (ask->connection) {
		flow->connection = ask->connection;
		flow->card_life = life.card;
	}
	ask->delivered = true;
	flow->next = k + 1;
}

/* An operation that has not ended may have taken effect, or may still do so. */
static void count_unsure(struct oracle_flow *flow)
{
	for (uint32_t k = 0; k < flow->n; k++) {
		const struct oracle_ask *ask = &flow->ask[k];

		if (ask->ended)
			continue;
		if (ask->kind == ORACLE_ADD)
			flow->memory.adds_unsure++;
		else if (ask->kind == ORACLE_PUT)
			flow->memory.unsure[ask->slot] = true;
	}
}

void oracle_forget(struct oracle_flow *flow)
{
	count_unsure(flow);
	for (uint32_t k = 0; k < flow->n; k++) {
		if (flow->ask[k].ended)
			continue;
		flow->ask[k].ended = true;
		flow->ask[k].status = BCL_ERR_CANCELLED;
	}
}

void oracle_new_memory(struct oracle_flow *flow)
{
	memset(&flow->memory, 0, sizeof(flow->memory));
	count_unsure(flow);
}

unsigned oracle_waiting(const struct oracle_flow *flow)
{
	unsigned n = 0;

	for (uint32_t k = 0; k < flow->n; k++)
		n += !flow->ask[k].ended;
	return n;
}

void oracle_print_waiting(const struct oracle_flow *flow)
{
	static const char *const kinds[] = { "message", "put", "addition" };

	for (uint32_t k = 0; k < flow->n; k++) {
		const struct oracle_ask *ask = &flow->ask[k];

		if (!ask->ended)
			fprintf(stderr,
				"flow %u: number %u, a %s of %u bytes, %s, "
				"does not end\n",
				flow->number, k, kinds[ask->kind], ask->length,
				ask->delivered ? "delivered" : "not seen");
	}
}

void oracle_settle(const struct oracle_flow *flow, struct oracle_life life,
		   const uint8_t *slots, uint64_t sum)
{
	const struct oracle_memory *memory = &flow->memory;

	for (uint32_t k = 0; k < flow->n; k++) {
		const struct oracle_ask *ask = &flow->ask[k];

		must(ask->ended, "number %u has not ended", k);
		if (ask->kind == ORACLE_MESSAGE && !ask->status &&
		    ask->to.card == life.card && ask->to.port == life.port)
			must(ask->delivered,
			     "number %u was told to be delivered, and was not",
			     k);
	}
	must(sum >= memory->adds && sum <= memory->adds + memory->adds_unsure,
	     "the sum is %llu after %u additions and %u that may have been",
	     (unsigned long long)sum, memory->adds, memory->adds_unsure);
	for (unsigned s = 0; s < ORACLE_SLOTS; s++) {
		uint32_t k = memory->holds[s] - 1;

		if (memory->holds[s] && !memory->unsure[s])
			check_bytes(flow, k, slots + s * ORACLE_SLOT,
				    flow->ask[k].length);
	}
}
