/* SPDX-License-Identifier: MIT */
/* Reads a cluster description, bcl-cluster(5). */
#include <stdlib.h>
#include <string.h>

#include "nicfw/card.h"
#include "sim/cluster.h"
#include "sim/fail.h"
#include "sim/shape.h"

enum {
	NODES_MAX = 65536,
	RANKS_MAX = 4096,
	BUFFERS_MAX = 32768, /* 2 GB with the longest frames */
	MTU_MAX = 65536,     /* no card has longer frames */
	RING_MAX = 500,	     /* switches; a route crosses half of them */
	CABLES_MAX = 1024,   /* per statement, between the same two ends */
	KINDS_MAX = 16,
};

/* Kinds of switches and cables that the description has defined. */
struct kind {
	char name[SIM_NAME_SIZE];
	struct sim_crossbar crossbar;
	struct sim_cable wire;
};

struct kinds {
	const char *what;
	unsigned n;
	struct kind kind[KINDS_MAX];
};

struct reader {
	struct sim_statement statement;
	struct sim_cluster *cluster;
	struct sim_wiring wiring;
	struct kinds crossbars, wires;
	bool has_cluster, has_host, has_card;
};

/* ---- nodes ---- */

static const struct sim_field cluster_fields[] = {
	{ "nodes", SIM_COUNT, SIM_FIELD(struct sim_cluster, nodes),
	  .needed = true, .min = 1, .max = NODES_MAX },
	{ "ranks", SIM_COUNT, SIM_FIELD(struct sim_cluster, ranks), .min = 1,
	  .max = RANKS_MAX, .standard = 1 },
	{ "rails", SIM_COUNT, SIM_FIELD(struct sim_cluster, rails), .min = 1,
	  .max = SIM_RAILS_MAX, .standard = 1 },
	{ .key = NULL }
};

#define COSTS(member) SIM_FIELD(struct sim_costs, member)

static const struct sim_field host_fields[] = {
	{ "send", SIM_TIME, COSTS(host.send) },
	{ "receive", SIM_TIME, COSTS(host.receive) },
	{ "trap", SIM_TIME, COSTS(host.trap) },
	{ "pio-write", SIM_TIME, COSTS(host.pio_write) },
	{ "copy", SIM_RATE, COSTS(host.copy) },
	{ "line", SIM_TIME, COSTS(host.line) },
	{ .key = NULL }
};

static const struct sim_field card_fields[] = {
	{ "frame-sent", SIM_TIME, COSTS(card.frame_sent) },
	{ "frame-received", SIM_TIME, COSTS(card.frame_received) },
	{ "read-start", SIM_TIME, COSTS(card.read.start) },
	{ "read", SIM_RATE, COSTS(card.read.ps_per_byte) },
	{ "write-start", SIM_TIME, COSTS(card.write.start) },
	{ "write", SIM_RATE, COSTS(card.write.ps_per_byte) },
	{ "buffers", SIM_COUNT, COSTS(card.buffers), .max = BUFFERS_MAX },
	{ "units", SIM_COUNT, COSTS(card.units), .max = SIM_RAILS_MAX },
	{ "mtu", SIM_SIZE, COSTS(card.mtu), .needed = true },
	{ .key = NULL }
};

static const struct sim_field measured_fields[] = {
	{ "message", SIM_TIME, SIM_FIELD(struct sim_measured, message),
	  .needed = true },
	{ "send", SIM_TIME, SIM_FIELD(struct sim_measured, send) },
	{ "gap", SIM_TIME, SIM_FIELD(struct sim_measured, gap) },
	{ "bandwidth", SIM_RATE, SIM_FIELD(struct sim_measured, byte) },
	{ .key = NULL }
};

static bool refuse_twice(struct reader *reader, bool *has)
{
	if (*has)
		return sim_statement_refuse(&reader->statement,
					    "expected %s only once",
					    reader->statement.word[0]);
	*has = true;
	return true;
}

static bool read_cluster(struct reader *reader)
{
	if (!refuse_twice(reader, &reader->has_cluster) ||
	    !sim_statement_fill(&reader->statement, cluster_fields,
				reader->cluster))
		return false;
	sim_wiring_open(&reader->wiring, reader->cluster, &reader->statement);
	return true;
}

static bool read_host(struct reader *reader)
{
	return refuse_twice(reader, &reader->has_host) &&
	       sim_statement_fill(&reader->statement, host_fields,
				  &reader->cluster->costs);
}

static bool read_card(struct reader *reader)
{
	struct sim_card_costs *costs = &reader->cluster->costs.card;

	if (!refuse_twice(reader, &reader->has_card) ||
	    !sim_statement_fill(&reader->statement, card_fields,
				&reader->cluster->costs))
		return false;
	return (costs->mtu >= NIC_MTU_MIN && costs->mtu <= MTU_MAX) ||
	       sim_statement_refuse(&reader->statement,
				    "mtu=%u: expected %u to %u bytes",
				    costs->mtu, NIC_MTU_MIN, MTU_MAX);
}

static bool read_measured(struct reader *reader)
{
	static const char *const where[] = { "between", "inside", NULL };
	struct sim_statement *statement = &reader->statement;
	struct sim_measured *measured = &reader->cluster->between;

	if (!strcmp(statement->word[1], where[1]))
		measured = &reader->cluster->inside;
	else if (strcmp(statement->word[1], where[0]))
		return sim_statement_expected(statement, where,
					      statement->word[1]);
	if (measured->message)
		return sim_statement_refuse(statement,
					    "expected measured %s only once",
					    statement->word[1]);
	return sim_statement_fill(statement, measured_fields, measured) &&
	       ((measured->message && measured->message >= measured->send) ||
		sim_statement_refuse(statement,
				     "expected message= of more than nothing, "
				     "and no less than send="));
}

/* ---- kinds ---- */

static const char *const forwardings[] = { "store-and-forward", "cut-through",
					   NULL };

static const struct sim_field crossbar_fields[] = {
	{ "latency", SIM_TIME, SIM_FIELD(struct kind, crossbar.config.latency),
	  .needed = true },
	{ "queue", SIM_SIZE, SIM_FIELD(struct kind, crossbar.config.queue),
	  .needed = true },
	{ "forwarding", SIM_CHOICE,
	  SIM_FIELD(struct kind, crossbar.config.cut_through), .needed = true,
	  .names = forwardings },
	{ "ports", SIM_COUNT, SIM_FIELD(struct kind, crossbar.ports) },
	{ .key = NULL }
};

static const struct sim_field wire_fields[] = {
	{ "bandwidth", SIM_RATE, SIM_FIELD(struct kind, wire.ps_per_byte),
	  .needed = true },
	{ "latency", SIM_TIME, SIM_FIELD(struct kind, wire.latency),
	  .needed = true },
	{ .key = NULL }
};

static const struct kind *find_kind(const struct kinds *kinds, const char *name)
{
	unsigned i;

	for (i = 0; i < kinds->n; i++)
		if (!strcmp(kinds->kind[i].name, name))
			return &kinds->kind[i];
	return NULL;
}

static bool read_kind(struct reader *reader, struct kinds *kinds,
		      const struct sim_field *fields)
{
	struct sim_statement *statement = &reader->statement;
	struct kind kind = { .name = "" };
	const char *name = statement->word[1];

	if (strlen(name) >= SIM_NAME_SIZE)
		return sim_statement_refuse(
			statement, "expected a name of less than %d characters",
			SIM_NAME_SIZE);
	strcpy(kind.name, name);
	if (find_kind(kinds, name))
		return sim_statement_refuse(
			statement, "expected another name, %s \"%s\" exists",
			kinds->what, name);
	if (kinds->n == KINDS_MAX)
		return sim_statement_refuse(statement,
					    "expected at most %d kinds of %s",
					    KINDS_MAX, kinds->what);
	if (!sim_statement_fill(statement, fields, &kind))
		return false;
	kinds->kind[kinds->n++] = kind;
	return true;
}

static bool read_crossbar(struct reader *reader)
{
	return read_kind(reader, &reader->crossbars, crossbar_fields);
}

static bool read_wire(struct reader *reader)
{
	return read_kind(reader, &reader->wires, wire_fields);
}

static bool require_kind(struct reader *reader, const struct kinds *kinds,
			 const char *name, const struct kind **kind)
{
	*kind = find_kind(kinds, name);
	return *kind || sim_statement_refuse(
				&reader->statement,
				"expected the name of a %s above, not \"%s\"",
				kinds->what, name);
}

/* ---- switches and cables ---- */

struct wiring_options {
	const char *crossbar, *wire;
	uint32_t rail, count, switches, cables;
	struct sim_list down, up;
};

#define OPTION(member) SIM_FIELD(struct wiring_options, member)
#define CROSSBAR                                                       \
	{                                                              \
		"crossbar", SIM_TEXT, OPTION(crossbar), .needed = true \
	}
#define WIRE                                                   \
	{                                                      \
		"wire", SIM_TEXT, OPTION(wire), .needed = true \
	}
#define RAIL                                                          \
	{                                                             \
		"rail", SIM_COUNT_OR_ANY, OPTION(rail),               \
			.max = SIM_RAILS_MAX - 1, .standard = SIM_ANY \
	}

static const struct sim_field switch_fields[] = { CROSSBAR, { .key = NULL } };

static const struct sim_field cable_fields[] = {
	WIRE,
	{ "count", SIM_COUNT, OPTION(count), .min = 1, .max = CABLES_MAX,
	  .standard = 1 },
	RAIL,
	{ .key = NULL }
};

static const struct sim_field star_fields[] = {
	CROSSBAR, WIRE, RAIL, { .key = NULL }
};

static const struct sim_field ring_fields[] = {
	{ "switches", SIM_COUNT, OPTION(switches), .needed = true, .min = 2,
	  .max = RING_MAX },
	{ "cables", SIM_COUNT, OPTION(cables), .min = 1, .max = CABLES_MAX,
	  .standard = 1 },
	CROSSBAR,
	WIRE,
	RAIL,
	{ .key = NULL }
};

static const struct sim_field tree_fields[] = {
	{ "down", SIM_COUNTS, OPTION(down), .needed = true },
	{ "up", SIM_COUNTS, OPTION(up) },
	CROSSBAR,
	WIRE,
	RAIL,
	{ .key = NULL }
};

static bool read_options(struct reader *reader, const struct sim_field *fields,
			 struct wiring_options *options)
{
	struct sim_statement *statement = &reader->statement;
	uint32_t rails = reader->cluster->rails;

	if (!reader->has_cluster)
		return sim_statement_refuse(statement,
					    "expected cluster before %s",
					    statement->word[0]);
	*options = (struct wiring_options){ .rail = SIM_ANY };
	if (!sim_statement_fill(statement, fields, options))
		return false;
	return options->rail == SIM_ANY || options->rail < rails ||
	       sim_statement_refuse(statement,
				    "rail=%u: expected a number below %u, "
				    "the rails of a node",
				    options->rail, rails);
}

static bool read_switch(struct reader *reader)
{
	struct wiring_options options;
	const struct kind *kind;
	uint32_t number;

	return read_options(reader, switch_fields, &options) &&
	       require_kind(reader, &reader->crossbars, options.crossbar,
			    &kind) &&
	       sim_wiring_switch(&reader->wiring, &kind->crossbar, &number,
				 "%s", reader->statement.word[1]);
}

/* An end of cables: a switch, or a port of each node of a range. */
struct end {
	bool is_switch;
	uint32_t first, last;
};

static bool read_end(struct reader *reader, const char *word, struct end *end)
{
	uint32_t nodes = reader->cluster->nodes;
	int length = 0;

	*end = (struct end){ 0 };
	/* A longer number names no node, and might overflow here. */
	if (sscanf(word, "node%9u%n-%9u%n", &end->first, &length, &end->last,
		   &length) < 1) {
		end->is_switch = true;
		return sim_wiring_find(&reader->wiring, word, &end->first);
	}
	if (!strchr(word, '-'))
		end->last = end->first;
	if (word[length] || end->last < end->first || end->last >= nodes)
		return sim_statement_refuse(
			&reader->statement,
			"expected node0 to node%u, or node0-%u, not \"%s\"",
			nodes - 1, nodes - 1, word);
	return true;
}

static bool read_cable(struct reader *reader)
{
	const struct sim_cluster *cluster = reader->cluster;
	struct wiring_options options;
	struct end from, to;
	const struct kind *kind;
	uint32_t node, rail;

	if (!read_options(reader, cable_fields, &options) ||
	    !require_kind(reader, &reader->wires, options.wire, &kind) ||
	    !read_end(reader, reader->statement.word[1], &from) ||
	    !read_end(reader, reader->statement.word[2], &to))
		return false;
	if (!to.is_switch)
		return sim_statement_refuse(&reader->statement,
					    "expected a switch, not \"%s\"",
					    reader->statement.word[2]);
	if (from.is_switch && options.rail != SIM_ANY)
		return sim_statement_refuse(
			&reader->statement,
			"expected rail= only for cables of nodes");
	if (from.is_switch)
		return sim_wiring_cables(&reader->wiring, from.first, to.first,
					 &kind->wire, options.count);
	for (rail = 0; rail < cluster->rails; rail++)
		for (node = from.first; node <= from.last; node++)
			if ((options.rail == SIM_ANY || options.rail == rail) &&
			    !sim_wiring_cables(
				    &reader->wiring,
				    sim_cluster_port(cluster, node, rail),
				    to.first, &kind->wire, options.count))
				return false;
	return true;
}

static bool read_shape(struct reader *reader, const struct sim_field *fields,
		       struct wiring_options *options, struct sim_shape *shape)
{
	const struct kind *crossbar, *wire;

	if (!read_options(reader, fields, options) ||
	    !require_kind(reader, &reader->crossbars, options->crossbar,
			  &crossbar) ||
	    !require_kind(reader, &reader->wires, options->wire, &wire))
		return false;
	*shape = (struct sim_shape){
		.wiring = &reader->wiring,
		.name = reader->statement.word[1],
		.crossbar = &crossbar->crossbar,
		.wire = &wire->wire,
		.rail = options->rail,
	};
	return true;
}

static bool read_star(struct reader *reader)
{
	struct wiring_options options;
	struct sim_shape shape;

	return read_shape(reader, star_fields, &options, &shape) &&
	       sim_shape_star(&shape);
}

static bool read_ring(struct reader *reader)
{
	struct wiring_options options;
	struct sim_shape shape;

	return read_shape(reader, ring_fields, &options, &shape) &&
	       sim_shape_ring(&shape, options.switches, options.cables);
}

static bool read_tree(struct reader *reader)
{
	struct wiring_options options;
	struct sim_shape shape;

	return read_shape(reader, tree_fields, &options, &shape) &&
	       sim_shape_tree(&shape, &options.down, &options.up);
}

/* ---- statements ---- */

static const struct {
	const char *name;
	bool (*read)(struct reader *reader);
	unsigned words;
	const char *form;
} statements[] = {
	{ "cluster", read_cluster, 1, "cluster nodes=N ..." },
	{ "host", read_host, 1, "host send=TIME ..." },
	{ "card", read_card, 1, "card mtu=SIZE ..." },
	{ "measured", read_measured, 2, "measured between message=TIME ..." },
	{ "crossbar", read_crossbar, 2, "crossbar NAME latency=TIME ..." },
	{ "wire", read_wire, 2, "wire NAME bandwidth=RATE ..." },
	{ "switch", read_switch, 2, "switch NAME crossbar=NAME" },
	{ "cable", read_cable, 3, "cable FROM TO wire=NAME ..." },
	{ "star", read_star, 2, "star NAME crossbar=NAME wire=NAME ..." },
	{ "ring", read_ring, 2, "ring NAME switches=N ..." },
	{ "tree", read_tree, 2, "tree NAME down=N,N,... up=N,... ..." },
};

enum {
	STATEMENTS = sizeof(statements) / sizeof(*statements)
};

static bool read_statement(struct reader *reader)
{
	struct sim_statement *statement = &reader->statement;
	const char *names[STATEMENTS + 1] = { NULL };
	unsigned i;

	for (i = 0; i < STATEMENTS; i++) {
		if (!strcmp(statement->word[0], statements[i].name))
			return sim_statement_words(statement,
						   statements[i].words,
						   statements[i].form) &&
			       statements[i].read(reader);
		names[i] = statements[i].name;
	}
	return sim_statement_expected(statement, names, statement->word[0]);
}

/* True if all shortest routes are short enough for the fabric. */
static bool has_ways(struct reader *reader)
{
	struct sim_fabric *fabric =
		sim_cluster_fabric(reader->cluster, NULL, NULL, NULL);

	if (!fabric)
		return sim_statement_refuse(
			&reader->statement,
			"expected at most %d switches in a row: join distant "
			"ones by a cable",
			SIM_WAY_MAX);
	sim_fabric_close(fabric);
	return true;
}

static bool is_complete(struct reader *reader)
{
	if (!reader->has_cluster)
		return sim_statement_refuse(&reader->statement,
					    "expected cluster nodes=N");
	if (!reader->has_card)
		return sim_statement_refuse(&reader->statement,
					    "expected card mtu=SIZE");
	return sim_wiring_complete(&reader->wiring) && has_ways(reader);
}

bool sim_cluster_read(struct sim_cluster *cluster, const char *name, FILE *in,
		      char error[SIM_ERROR_SIZE])
{
	struct reader *reader = sim_need(calloc(1, sizeof(*reader)));
	struct sim_statement *statement = &reader->statement;
	bool good = true;

	*cluster = (struct sim_cluster){ 0 };
	reader->cluster = cluster;
	reader->crossbars.what = "crossbar";
	reader->wires.what = "wire";
	sim_statement_open(statement, name, in);
	while (good && sim_statement_next(statement))
		good = read_statement(reader);
	good = !*statement->error && is_complete(reader);
	if (!good) {
		strcpy(error, statement->error);
		sim_cluster_free(cluster);
	}
	sim_wiring_close(&reader->wiring);
	sim_statement_close(statement);
	free(reader);
	return good;
}
