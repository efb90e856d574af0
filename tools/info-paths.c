/* SPDX-License-Identifier: MIT */
/* bcl-info: the rails of this host, and the paths between ranks of a job or
 * between two processes that it starts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/failed.h"
#include "tools/info.h"
#include "transport/boot/boot.h"
#include "transport/boot/fork.h"
#include "transport/card/card.h"

enum {
	PATIENCE = 10,	    /* s before a pair without an answer is reported */
	SETTLE = 300000000, /* ns for the rails to be proved */
	LINE = 160,
};

static const char *const path_names[] = { "no path", "self", "shared memory",
					  "card" };

/* A rank of a job, with a peer for each remote rank. */
struct rank {
	struct bcl_boot *boot;
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer **peers;
};

static enum bcl_status open_rank(struct rank *rank)
{
	struct bcl_context_options options = { .struct_size = sizeof(options) };
	uint8_t key[BCL_KEY_SIZE], address[BCL_ADDRESS_MAX];
	size_t length;
	enum bcl_status status = bcl_boot_open(&bcl_env_linux, &rank->boot);

	if (!status)
		status = bcl_boot_key(rank->boot, key);
	if (status)
		return status;
	options.job_key = key;
	options.local_ranks = rank->boot->local_ranks;
	status = bcl_context_open(&bcl_env_linux, &options,
				  rank->boot->config.rank, &rank->context);
	if (!status)
		status = bcl_port_open(rank->context, NULL, &rank->port);
	if (!status)
		status = bcl_port_address(rank->port, address, &length);
	if (!status)
		status = bcl_boot_put(rank->boot, "address", address, length);
	if (!status)
		status = bcl_boot_fence(rank->boot);
	rank->peers = calloc(rank->boot->size, sizeof(*rank->peers));
	return status ? status : rank->peers ? BCL_OK : BCL_ERR_NOMEM;
}

static void close_rank(struct rank *rank)
{
	bcl_close(rank->context);
	bcl_boot_close(rank->boot);
	free(rank->peers);
}

static enum bcl_status open_peer(struct rank *rank, unsigned other)
{
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;
	enum bcl_status status =
		bcl_boot_get(rank->boot, other, "address", address,
			     sizeof(address), &length);

	if (!status)
		status = bcl_peer_open(rank->port, address, length,
				       &rank->peers[other]);
	return status;
}

static bool is_deciding(const struct rank *rank)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };

	for (unsigned i = 0; i < rank->boot->size; i++) {
		if (!rank->peers[i])
			continue;
		bcl_peer_info(rank->peers[i], &info);
		if (info.state == BCL_PEER_CONNECTING)
			return true;
	}
	return false;
}

/* Polls until each peer is up or lost, and a moment longer: a peer is up with
 * the first rail, and further rails are proved later. */
static void connect_all(struct rank *rank)
{
	const struct bcl_env *env = &bcl_env_linux;
	uint64_t now = env->now(NULL), settled = now + SETTLE;
	uint64_t end = now + PATIENCE * UINT64_C(1000000000);
	struct bcl_event event;

	for (; now < end && now < settled; now = env->now(NULL)) {
		if (is_deciding(rank))
			settled = now + SETTLE;
		if (bcl_poll(rank->port, &event))
			bcl_wait(rank->port, SETTLE / 10);
	}
}

static void describe_path(const struct rank *rank, unsigned other,
			  char line[LINE])
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };

	if (!rank->peers[other]) {
		snprintf(line, LINE, "no path: %s",
			 bcl_strstatus(BCL_ERR_NORAIL));
		return;
	}
	bcl_peer_info(rank->peers[other], &info);
	if (info.state == BCL_PEER_UP)
		snprintf(line, LINE, "%s%s%s", path_names[info.path],
			 info.why[0] ? ": " : "", info.why);
	else
		snprintf(line, LINE, "%s%s%s: %s", path_names[info.path],
			 info.why[0] ? ": " : "", info.why,
			 info.state == BCL_PEER_LOST
				 ? bcl_strstatus(info.status)
				 : "no answer yet");
}

/* Rank 0 prints a line per pair, as the first rank of the pair sees
 * the path. */
static enum bcl_status print_pairs(struct rank *rank)
{
	unsigned size = rank->boot->size;
	char name[BCL_BOOT_NAME_MAX], line[LINE];
	enum bcl_status status = BCL_OK;
	size_t length;

	for (unsigned i = rank->boot->rank + 1; !status && i < size; i++) {
		snprintf(name, sizeof(name), "path-%u", i);
		describe_path(rank, i, line);
		status = bcl_boot_put(rank->boot, name, line, strlen(line) + 1);
	}
	if (!status)
		status = bcl_boot_fence(rank->boot);
	if (rank->boot->rank)
		return status;
	for (unsigned from = 0; from < size; from++) {
		for (unsigned to = from + 1; !status && to < size; to++) {
			snprintf(name, sizeof(name), "path-%u", to);
			status = bcl_boot_get(rank->boot, from, name, line,
					      sizeof(line), &length);
			if (!status)
				printf("%u-%u  %s\n", from, to, line);
		}
	}
	return status;
}

int info_paths(void)
{
	struct rank rank = { 0 };
	enum bcl_status status = open_rank(&rank);

	for (unsigned i = 0; !status && i < rank.boot->size; i++) {
		if (i == rank.boot->rank)
			continue;
		status = open_peer(&rank, i);
		if (status == BCL_ERR_NORAIL)
			status = BCL_OK;
	}
	if (!status) {
		connect_all(&rank);
		status = print_pairs(&rank);
	}
	if (!status && rank.boot->size == 1)
		printf("a job of one: start it with mpiexec or mpirun to see "
		       "pairs\n");
	close_rank(&rank);
	return status ? tool_failed("paths", status) : 0;
}

static int one_of_two(unsigned number, void *argument)
{
	struct rank rank = { 0 };
	enum bcl_status status = open_rank(&rank);
	char line[LINE];

	(void)argument;
	if (!status)
		status = open_peer(&rank, 1 - number);
	if (!status) {
		connect_all(&rank);
		describe_path(&rank, 1 - number, line);
		if (number == 0)
			printf("inside      %s\n", line);
		status = bcl_boot_fence(rank.boot);
	}
	close_rank(&rank);
	return status ? tool_failed("two processes of this host", status) : 0;
}

int info_inside(void)
{
	return bcl_boot_job_run(2, one_of_two, NULL) != 0;
}

int info_rails(void)
{
	char lines[16][BCL_HOST_LINE], why[96];
	struct bcl_context *context;
	enum bcl_status status = bcl_open(NULL, &context);
	unsigned n = 0;

	if (status)
		return tool_failed("no context", status);
	printf("membarrier  %s\n",
	       context->barrier ? "works"
				: "missing: sends inside the host have "
				  "a fence");
	printf("helper      %s\n", context->helper ? "runs" : "off");
	if (context->card) {
		printf("card        %s\n", context->which_card);
		n = bcl_host_describe(context, lines, 16);
	}
	for (unsigned i = 0; i < n; i++)
		printf("rail        %s\n", lines[i]);
	if (!context->card && bcl_config_listed(context->config.rails, "none"))
		printf("rail        none wanted (BCL_RAILS)\n");
	else if (!context->card)
		for (unsigned i = 0; context->env->rails[i]; i++) {
			struct bcl_rail *none;

			why[0] = 0;
			context->env->rails[i]->open(
				context->env, &context->config,
				context->card_id, &none, 0, why);
			printf("rail        none: %s\n", why);
		}
	bcl_close(context);
	return 0;
}
