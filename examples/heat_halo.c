/* SPDX-License-Identifier: MIT */
/* The exchange of halos between neighbours, by messages or by remote memory
 * access, for heat.c. */
#include <stdlib.h>
#include <string.h>

#include "heat.h"

enum {
	CONTEXT = 1,
};

/* The outermost own row on a side, and the halo row beyond. */
static double *edge(const struct plate *plate, unsigned where)
{
	return row_of(plate, plate->now, where == ABOVE ? 1 : plate->rows);
}

static double *beyond(const struct plate *plate, unsigned where)
{
	return row_of(plate, plate->now, where == ABOVE ? 0 : plate->rows + 1);
}

/* ---- the halo by messages ---- */

void swap_messages(struct halo *halo, const struct plate *plate)
{
	struct bcl_adi_request *requests[4] = { NULL };
	unsigned i;

	for (i = 0; i < halo->n; i++) {
		struct neighbour *to = &halo->neighbour[i];

		check(bcl_adi_irecv(halo->adi, beyond(plate, to->where),
				    plate->length, to->rank, 0, CONTEXT,
				    &requests[i]),
		      "receive");
		check(bcl_adi_isend(halo->adi, edge(plate, to->where),
				    plate->length, to->rank, 0, CONTEXT,
				    &requests[2 + i]),
		      "send");
	}
	check(bcl_adi_waitall(halo->adi, requests, 4, NULL), "halo");
}

/* ---- the halo by remote memory access ---- */

void open_rma(struct halo *halo, struct bcl_team *team,
	      const struct plate *plate)
{
	struct {
		unsigned char address[BCL_ADDRESS_MAX], key[BCL_KEY_MAX];
		size_t length;
	} *all = allocate(bcl_team_size(team), sizeof(*all)), *one;
	struct bcl_context *context = bcl_adi_context(halo->adi);
	unsigned i;

	check(bcl_port_open(context, NULL, &halo->port), "port");
	check(bcl_memory_allocate(context, 4 * plate->length, BCL_REMOTE_WRITE,
				  &halo->memory),
	      "memory");
	one = &all[bcl_team_rank(team)];
	check(bcl_port_address(halo->port, one->address, &one->length),
	      "address");
	bcl_memory_key(halo->memory, one->key);
	check(bcl_allgather(team, BCL_IN_PLACE, sizeof(*all), all), "gather");
	for (i = 0; i < halo->n; i++) {
		struct neighbour *to = &halo->neighbour[i];

		one = &all[to->rank];
		memcpy(to->key, one->key, BCL_KEY_MAX);
		check(bcl_peer_open(halo->port, one->address, one->length,
				    &to->peer),
		      "peer");
	}
	free(all);
}

/* Handles an event, if one arrives soon. */
static void look(struct halo *halo)
{
	struct bcl_event event;

	bcl_wait(halo->port, 1000000);
	if (bcl_poll(halo->port, &event) != BCL_OK)
		return;
	check(event.status, "neighbour");
	if (event.kind == BCL_EVENT_NOTIFY && event.type <= BELOW)
		halo->arrived[event.type]++;
	else if (event.kind == BCL_EVENT_SENT)
		halo->done++;
}

/*
 * A neighbour may be a step ahead, but not two, since it needs the row of this
 * step from here. So there are two places for each row.
 */
void swap_rma(struct halo *halo, const struct plate *plate)
{
	char *memory = bcl_memory_address(halo->memory);
	size_t place = halo->step++ % 2 * 2;
	uint64_t earlier = halo->put;
	enum bcl_status status;
	unsigned i;

	/* A neighbour below sees this rank above: place and type are the
	 * receiver's. */
	for (i = 0; i < halo->n; i++) {
		struct neighbour *to = &halo->neighbour[i];

		while ((status = bcl_put_notify(
				to->peer, to->key,
				(place + !to->where) * plate->length,
				edge(plate, to->where), plate->length,
				!to->where, 0, 1)) == BCL_ERR_AGAIN)
			look(halo);
		check(status, "put");
		halo->put++;
	}
	for (i = 0; i < halo->n; i++) {
		unsigned where = halo->neighbour[i].where;

		while (halo->arrived[where] < halo->step)
			look(halo);
		memcpy(beyond(plate, where),
		       memory + (place + where) * plate->length, plate->length);
	}
	/* The rows put in the previous step will now be overwritten. */
	while (halo->done < earlier)
		look(halo);
}
