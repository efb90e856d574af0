/* SPDX-License-Identifier: MIT */
/* The host's side of simulated cards: opens cards and ports, charges ranks for
 * calls, connects nodes; see host.h. */
#include "sim/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card/areas.h"
#include "sim/fail.h"
#include "wire/address.h"

enum {
	WIRE_LENGTH = 7, /* rail 1, port 4, firmware 2 bytes */
};

static struct sim_firmware *firmware_of(struct bcl_host *host)
{
	return (struct sim_firmware *)(void *)host; /* `base` is the first
						     * member */
}

/* ---- opening and closing ---- */

/* The rail is the first byte, so that rails of the same number match best. */
static struct bcl_wire_address address_of(const struct sim_firmware *firmware,
					  unsigned rail)
{
	struct bcl_le32 port = bcl_put32(firmware->card->rail[rail].port);
	struct bcl_le16 place = bcl_put16((uint16_t)firmware->place);
	struct bcl_wire_address address = {
		.kind = BCL_WIRE_SIM,
		.length = WIRE_LENGTH,
		.bytes = { (uint8_t)rail },
	};

	memcpy(address.bytes + 1, &port, sizeof(port));
	memcpy(address.bytes + 5, &place, sizeof(place));
	return address;
}

static struct sim_address address_in(const struct bcl_wire_address *wire)
{
	struct bcl_le32 port;
	struct bcl_le16 place;

	memcpy(&port, wire->bytes + 1, sizeof(port));
	memcpy(&place, wire->bytes + 5, sizeof(place));
	return (struct sim_address){ bcl_get32(port), bcl_get16(place) };
}

static void show_ends(struct sim_firmware *firmware)
{
	struct bcl_host *base = &firmware->base;
	unsigned r;

	/* An address blob has room for no more ends. */
	for (r = 0; r < firmware->card->nrails && r < BCL_HOST_ENDS; r++) {
		base->end[base->nends++] = (struct bcl_host_end){
			.address = address_of(firmware, r),
			.rail = (uint8_t)r,
			.kind = "sim",
			.interface = "card",
			.small = true,
			.fd = -1,
			.partner_fd = -1,
		};
		snprintf(base->line[base->nlines++], BCL_HOST_LINE,
			 "rail %u: port %u of the fabric, frames of %u bytes",
			 r, firmware->card->rail[r].port,
			 firmware->card->costs->mtu);
	}
	atomic_store_explicit(&base->deadline, UINT64_MAX,
			      memory_order_relaxed);
}

/* Sets the costs of a short message for the library's model of the network. */
static void estimate_costs(struct sim_firmware *firmware,
			   const struct sim_cluster *cluster)
{
	const struct sim_host_costs *host = &cluster->costs.host;
	const struct sim_card_costs *card = &cluster->costs.card;
	struct bcl_host *base = &firmware->base;
	uint32_t link = sim_fabric_port_link(firmware->card->fabric,
					     firmware->card->rail[0].port);
	double slowest = (double)cluster->cables[link / 2].config.ps_per_byte *
			 card->mtu / (card->mtu - BCL_HEADERS_SIZE);

	if (slowest < (double)card->read.ps_per_byte)
		slowest = (double)card->read.ps_per_byte;
	if (slowest < (double)card->write.ps_per_byte)
		slowest = (double)card->write.ps_per_byte;
	base->overhead = (double)sim_costs_request(host) / 1000;
	/* The card writes the payload, then the event. */
	base->latency = (double)(2 * card->write.start + host->receive) / 1000;
	base->bandwidth = slowest > 0 ? 1e6 / slowest : 0;
}

/* The most bytes that the host writes to the card no slower than it copies them
 * to where the card fetches them. */
static uint16_t inline_max(const struct sim_costs *costs)
{
	const struct sim_host_costs *host = &costs->host;
	const struct sim_dma_costs *read = &costs->card.read;
	uint16_t words = 1;

	while (words < BCL_REQUEST_INLINE / SIM_WORD &&
	       (words + 1) * host->pio_write <=
		       SIM_REFERENCE_WORDS * host->pio_write + read->start +
			       sim_costs_transfer((words + 1) * SIM_WORD,
						  host->copy +
							  read->ps_per_byte))
		words++;
	return words * SIM_WORD;
}

/* Costs for the same model that addresses of peers do not contain. */
static struct bcl_host_costs estimate_all(const struct sim_costs *costs)
{
	const struct sim_card_costs *card = &costs->card;
	const struct sim_host_costs *host = &costs->host;
	/* Acknowledgements of frames travel with later frames. */
	uint64_t processor = card->frame_sent + card->frame_received;
	/* The card writes the payload, then the event. */
	uint64_t engine = 2 * card->write.start;

	return (struct bcl_host_costs){
		.exchange = (double)(processor > engine ? processor : engine) /
			    1000,
		.receive = (double)host->receive / 1000,
		.copy = (double)host->copy / 1e6,
		.inlined = (double)host->pio_write / SIM_WORD / 1000,
		.inline_max = inline_max(costs),
	};
}

static double rate_across(const struct bcl_host_ops *ops, unsigned nodes,
			  const unsigned *to)
{
	const struct sim_hosts *hosts = (const void *)ops; /* `ops` is the first
							    * member */
	const struct sim_card *cards = hosts->cards;
	const struct sim_cluster *cluster = hosts->cluster;
	struct sim_fabric *fabric = cards->fabric;
	uint32_t links = sim_fabric_links(fabric), i;
	uint32_t *counts = sim_need(calloc(links, sizeof(*counts)));
	double mtu = cluster->costs.card.mtu, most = 0;

	for (i = 0; i < nodes; i++)
		if (to[i] != i)
			sim_fabric_follow(fabric, cards[i].rail[0].port,
					  cards[to[i]].rail[0].port, counts);
	for (i = 0; i < links; i++) {
		double ps = cluster->cables[i / 2].config.ps_per_byte;

		if (most < counts[i] * ps)
			most = counts[i] * ps;
	}
	free(counts);
	return most * mtu / (mtu - BCL_HEADERS_SIZE) / cluster->rails / 1e6;
}

static enum bcl_status open_card(const struct bcl_host_setup *setup,
				 char why[BCL_HOST_WHY], struct bcl_host **host)
{
	struct sim_hosts *hosts = (void *)setup->env->card;
	unsigned rank = sim_self(hosts->world);
	uint32_t ranks = hosts->cluster->ranks;
	struct sim_card *card = &hosts->cards[rank / ranks];
	struct sim_firmware *firmware = hosts->firmware[rank];

	(void)why;
	sim_check(!card->firmware[rank % ranks], "a rank's second context");
	if (!firmware)
		firmware = sim_need(calloc(1, sizeof(*firmware)));
	hosts->firmware[rank] = firmware;
	*firmware = (struct sim_firmware){
		/* the card's id is the same in all incarnations */
		.base = { .ops = &hosts->ops,
			  .card = firmware->base.card ? firmware->base.card
						      : setup->card,
			  .changes = &firmware->changes },
		.world = hosts->world,
		.card = card,
		.costs = &hosts->cluster->costs.host,
		.setup = *setup,
		.rank = rank,
		.place = rank % ranks,
	};
	firmware->setup.card = firmware->base.card;
	show_ends(firmware);
	estimate_costs(firmware, hosts->cluster);
	if (!sim_firmware_open(firmware, &hosts->limits))
		return BCL_ERR_NOMEM;
	card->firmware[firmware->place] = firmware;
	sim_trace_open(firmware, &hosts->trace);
	*host = &firmware->base;
	return BCL_OK;
}

/* The command takes effect at once, regardless of tasks that wait for the
 * card's processor. */
static enum bcl_status tell_core(struct sim_firmware *firmware,
				 const struct bcl_control *control,
				 uint32_t *result)
{
	enum bcl_status status;

	status = bcl_card_control(firmware->core, control,
				  sim_firmware_now(firmware), result,
				  &firmware->next);
	sim_firmware_settle(firmware);
	return status;
}

static enum bcl_status charge_command(struct sim_firmware *firmware,
				      const struct bcl_control *control,
				      uint32_t *result)
{
	sim_compute(firmware->world, firmware->costs->trap);
	return tell_core(firmware, control, result);
}

static void forget_firmware(struct sim_firmware *firmware,
			    enum bcl_record_kind how)
{
	sim_trace_close(firmware, how);
	firmware->card->firmware[firmware->place] = NULL;
	sim_firmware_close(firmware);
}

static void close_card(struct bcl_host *host)
{
	struct sim_firmware *firmware = firmware_of(host);
	uint32_t node, result;

	for (node = 0; node < firmware->nnodes; node++) {
		const struct bcl_control control = {
			.op = BCL_CTL_DISCONNECT,
			.node = node,
		};

		if (firmware->nodes[node].shown.state != BCL_NODE_CLOSED)
			charge_command(firmware, &control, &result);
	}
	forget_firmware(firmware, BCL_RECORD_CLOSED);
}

/* ---- ports ---- */

static enum bcl_status port_open(struct bcl_host *host, int object,
				 struct bcl_control *control,
				 struct bcl_host_area areas[BCL_AREAS],
				 struct bcl_host_seat **result)
{
	struct sim_firmware *firmware = firmware_of(host);
	struct bcl_host_seat *seat = sim_seat_find(firmware, 0);
	enum bcl_status status;
	uint32_t ignored;

	if (!seat)
		return BCL_ERR_NOMEM;
	status = bcl_areas_make(firmware->setup.env, control, areas);
	if (status)
		return status;
	seat->number = (uint16_t)control->port.number;
	seat->object = object;
	seat->written = 0;
	seat->nrequests = control->port.nrequests;
	memcpy(seat->areas, areas, sizeof(seat->areas));
	control->port.requests = sim_area_handle(seat, BCL_AREA_REQUESTS);
	control->port.sends = sim_area_handle(seat, BCL_AREA_SENDS);
	control->port.receives = sim_area_handle(seat, BCL_AREA_RECEIVES);
	control->port.blocks = sim_area_handle(seat, BCL_AREA_BLOCKS);
	control->port.indices = sim_area_handle(seat, BCL_AREA_INDICES);
	status = charge_command(firmware, control, &ignored);
	if (!status && firmware->trace.file)
		status = bcl_journal_port_open(&firmware->trace.journal, areas,
					       control);
	if (status) {
		seat->number = 0;
		bcl_areas_release(firmware->setup.env, areas);
	}
	*result = seat;
	return status;
}

static void port_close(struct bcl_host *host, struct bcl_host_seat *seat)
{
	struct sim_firmware *firmware = firmware_of(host);
	const struct bcl_control control = {
		.op = BCL_CTL_PORT_CLOSE,
		.port = { .number = seat->number },
	};
	uint32_t result;

	charge_command(firmware, &control, &result);
	if (firmware->trace.file)
		bcl_journal_port_close(&firmware->trace.journal, seat->number);
	sim_moves_drop(firmware, seat);
	seat->number = 0;
	bcl_areas_release(firmware->setup.env, seat->areas);
}

/* ---- sending ---- */

static bool was_copied(const struct bcl_host_seat *seat,
		       const struct bcl_memref *ref)
{
	const struct bcl_host_area *bounce = &seat->areas[BCL_AREA_BOUNCE];

	return ref->handle == BCL_HANDLE_SELF &&
	       ref->offset - (uintptr_t)bounce->address < bounce->length;
}

static uint64_t request_cost(const struct bcl_host_seat *seat,
			     const struct bcl_request *request)
{
	const struct sim_host_costs *costs = seat->firmware->costs;
	uint64_t words = SIM_REQUEST_WORDS +
			 request->nref * SIM_REFERENCE_WORDS +
			 (request->inline_len + SIM_WORD - 1) / SIM_WORD;
	uint64_t bytes = 0;
	unsigned i;

	for (i = 0; i < request->nref; i++)
		if (was_copied(seat, &request->refs[i]))
			bytes += request->refs[i].length;
	return costs->send + words * costs->pio_write +
	       sim_costs_transfer(bytes, costs->copy);
}

static void ring_doorbell(struct bcl_host *host, struct bcl_host_seat *seat)
{
	struct sim_firmware *firmware = firmware_of(host);
	const struct bcl_port_indices *indices =
		(void *)seat->areas[BCL_AREA_INDICES].address;
	const struct bcl_request *requests =
		(void *)seat->areas[BCL_AREA_REQUESTS].address;
	const uint32_t *submits = bcl_submits(requests, seat->nrequests);
	uint32_t made = indices->requests_made, i;
	uint64_t ns = firmware->costs->trap;

	for (i = seat->written; i != made; i++) {
		uint32_t at = submits[i & (seat->nrequests - 1)];

		ns += request_cost(seat, &requests[at]);
	}
	sim_compute(firmware->world, ns);
	if (firmware->trace.file)
		bcl_journal_doorbell(&firmware->trace.journal, seat->number);
	seat->written = made;
	sim_card_do(firmware->card, &seat->doorbell);
}

/* ---- receiving ---- */

static void charge_receive(struct bcl_host *host, struct bcl_host_seat *seat,
			   const struct bcl_completion *next)
{
	struct sim_firmware *firmware = firmware_of(host);
	const struct sim_host_costs *costs = firmware->costs;
	uint64_t bytes = next->kind == BCL_CQ_SYSTEM ? next->length : 0;

	(void)seat;
	sim_compute(firmware->world,
		    costs->receive + sim_costs_transfer(bytes, costs->copy));
}

/* ---- nodes ---- */

static enum bcl_status connect_node(struct bcl_host *host,
				    const struct bcl_address *address,
				    const struct bcl_host_way *ways, unsigned n,
				    uint32_t *index,
				    struct bcl_host_node *result)
{
	struct sim_firmware *firmware = firmware_of(host);
	struct bcl_control control = {
		.op = BCL_CTL_CONNECT,
		.connect = { .card = address->card },
	};
	struct sim_address addresses[BCL_RAILS_MAX] = { 0 };
	uint32_t rails = 0;
	struct sim_node *node;
	enum bcl_status status;
	unsigned r;

	memcpy(control.connect.key, address->key, BCL_KEY_SIZE);
	/* The best way of each rail: a rail has the same number on
	 * all nodes. */
	while (n--) {
		rails |= 1u << ways[n].end;
		addresses[ways[n].end] =
			address_in(&address->wire[ways[n].wire]);
	}
	control.connect.rails = rails;
	sim_compute(firmware->world, firmware->costs->trap);
	firmware->connecting = addresses;
	status = tell_core(firmware, &control, index);
	firmware->connecting = NULL;
	if (status)
		return status;
	node = sim_node_make(firmware, *index, address->card);
	for (r = 0; r < BCL_RAILS_MAX; r++)
		if (rails & ~node->shown.known & 1u << r) {
			node->address[r] = addresses[r];
			node->shown.known |= (uint8_t)(1 << r);
		}
	*result = node->shown;
	return BCL_OK;
}

static uint32_t shown_node(struct bcl_host *host, uint32_t index,
			   struct bcl_host_node *result)
{
	const struct sim_firmware *firmware = firmware_of(host);

	sim_check(index < firmware->nnodes, "a node that nobody knows");
	*result = firmware->nodes[index].shown;
	return atomic_load_explicit(host->changes, memory_order_relaxed);
}

static enum bcl_status node_info(struct bcl_host *host, uint32_t index,
				 struct bcl_node_info *info)
{
	return bcl_card_node_info(firmware_of(host)->core, index, info);
}

/* ---- the rest ---- */

static enum bcl_status control_op(struct bcl_host *host,
				  struct bcl_host_seat *seat,
				  const struct bcl_control *control)
{
	uint32_t result;

	(void)seat;
	return charge_command(firmware_of(host), control, &result);
}

/* The card has a processor of its own. */
static unsigned poll_nothing(struct bcl_host *host, struct bcl_host_seat *seat,
			     bool sockets)
{
	(void)host;
	(void)seat;
	(void)sockets;
	return 0;
}

static void watch_nothing(struct bcl_host *host)
{
	(void)host;
}

/* No lock is needed: the card does nothing while a rank runs, and looks up the
 * memory again at the end of a transfer. */
static void run_exclusive(struct bcl_host *host, struct bcl_host_seat *seat,
			  void (*run)(void *arg), void *arg)
{
	(void)host;
	(void)seat;
	run(arg);
}

static void read_counters(struct bcl_host *host,
			  _Atomic uint64_t values[BCL_CARD_NCOUNTERS])
{
	const uint64_t *own = bcl_card_counters(firmware_of(host)->core);
	unsigned i;

	for (i = 0; i < BCL_CARD_NCOUNTERS; i++)
		atomic_store_explicit(&values[i], own[i], memory_order_relaxed);
}

/* ---- faults of nodes ---- */

void sim_hosts_crash(struct sim_hosts *hosts, uint32_t rank)
{
	if (hosts->firmware[rank] && hosts->firmware[rank]->core)
		forget_firmware(hosts->firmware[rank], BCL_RECORD_CRASHED);
}

static bool is_at_place(const struct sim_hosts *hosts, uint64_t card,
			uint32_t node)
{
	uint32_t ranks = hosts->cluster->ranks, i;

	for (i = node * ranks; i < (node + 1) * ranks; i++)
		if (hosts->firmware[i] && hosts->firmware[i]->base.card == card)
			return true;
	return false;
}

void sim_hosts_isolate(struct sim_hosts *hosts, uint32_t node, bool out)
{
	uint32_t ranks = hosts->cluster->ranks, rank, i, result;
	struct bcl_control control = {
		.op = out ? BCL_CTL_ISOLATE : BCL_CTL_REJOIN,
	};

	for (rank = 0; rank < hosts->cluster->nodes * ranks; rank++) {
		struct sim_firmware *firmware = hosts->firmware[rank];

		if (rank / ranks == node || !firmware || !firmware->core)
			continue;
		for (i = 0; i < firmware->nnodes; i++) {
			control.node = i;
			if (is_at_place(hosts, firmware->nodes[i].shown.card,
					node))
				tell_core(firmware, &control, &result);
		}
	}
}

void sim_hosts_open(struct sim_hosts *hosts)
{
	hosts->ops = (struct bcl_host_ops){
		.autonomous = true,
		.costs = estimate_all(&hosts->cluster->costs),
		.across = rate_across,
		.open = open_card,
		.close = close_card,
		.port_open = port_open,
		.port_close = port_close,
		.doorbell = ring_doorbell,
		.taking = charge_receive,
		.control = control_op,
		.connect = connect_node,
		.node = shown_node,
		.node_info = node_info,
		.poll = poll_nothing,
		.watch = watch_nothing,
		.exclusive = run_exclusive,
		.counters = read_counters,
	};
}

void sim_hosts_close(struct sim_hosts *hosts)
{
	uint32_t i, ranks = hosts->cluster->nodes * hosts->cluster->ranks;

	for (i = 0; i < ranks; i++)
		free(hosts->firmware[i]);
	if (hosts->trace.interfaces)
		bcl_pcapng_close(&hosts->trace);
}
