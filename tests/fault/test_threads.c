/* SPDX-License-Identifier: MIT */
/*
 * Four threads of each process talk at once through one card. Each thread has a
 * port of its own.
 */
#include <pthread.h>

#include "pair.h"

enum {
	THREADS = 4,
	ROUNDS = 1000,
	LONG = 100000,
};

struct lane {
	_Atomic size_t length[2];
	uint8_t address[2][BCL_ADDRESS_MAX];
};

struct worker {
	pthread_t thread;
	unsigned number;
	struct lane *lane;
	struct bcl_port *port;
	struct bcl_peer *peer;
	uint8_t buffer[LONG];
};

static struct lane *lanes;

static void next(struct worker *worker, struct bcl_event *event)
{
	do {
		must(bcl_wait(worker->port, 60000000000) == BCL_OK);
		must(bcl_poll(worker->port, event) == BCL_OK);
	} while (event->kind == BCL_EVENT_PEER && !event->status);
	must(!event->status);
}

static void hear(struct worker *worker, void *data, size_t length)
{
	struct bcl_event event;

	next(worker, &event);
	must(event.kind == BCL_EVENT_MESSAGE);
	must(event.type == worker->number);
	must(event.length == length);
	memcpy(data, event.data, length);
}

static void say(struct worker *worker, const void *data, size_t length)
{
	const struct iovec iov = { (void *)data, length };
	enum bcl_status status;

	while ((status = bcl_send(worker->peer, worker->number, 0, &iov, 1,
				  0)) == BCL_ERR_AGAIN)
		bcl_wait(worker->port, 100000);
	must(!status);
}

static void meet(struct worker *worker)
{
	struct lane *lane = worker->lane;
	size_t length;

	must(!bcl_port_open(pair.context, NULL, &worker->port));
	must(!bcl_port_address(worker->port, lane->address[pair.side],
			       &length));
	lane->length[pair.side] = length;
	while (!lane->length[!pair.side])
		usleep(1000);
	must(!bcl_peer_open(worker->port, lane->address[!pair.side],
			    lane->length[!pair.side], &worker->peer));
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	uint8_t token[BCL_KEY_MAX];
	struct bcl_event event;
	uint64_t i, in;

	meet(worker);
	for (i = 0; i < ROUNDS; i++) {
		if (pair.side == i % 2) {
			say(worker, &i, sizeof(i));
		} else {
			hear(worker, &in, sizeof(in));
			must(in == i);
		}
	}
	if (pair.side) {
		pair_fill(worker->buffer, LONG, worker->number);
		must(!bcl_offer(worker->peer, worker->buffer, LONG, 7, token));
		say(worker, token, sizeof(token));
		next(worker, &event);
		must(event.kind == BCL_EVENT_READ);
	} else {
		hear(worker, token, sizeof(token));
		must(!bcl_pull(worker->peer, token, worker->buffer, LONG, 8));
		next(worker, &event);
		must(event.kind == BCL_EVENT_PULLED);
		pair_check(worker->buffer, LONG, worker->number);
	}
	bcl_port_close(worker->port);
	return NULL;
}

static void side(void)
{
	static struct worker workers[THREADS];
	unsigned i;

	for (i = 0; i < THREADS; i++) {
		workers[i].number = i;
		workers[i].lane = &lanes[i];
		must(!pthread_create(&workers[i].thread, NULL, work,
				     &workers[i]));
	}
	for (i = 0; i < THREADS; i++)
		must(!pthread_join(workers[i].thread, NULL));
	must(pair_counter("card.messages_delivered") >= THREADS * ROUNDS / 2);
}

int main(void)
{
	static const char *const variables[] = { NULL };

	lanes = mmap(NULL, THREADS * sizeof(*lanes), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return pair_run(side, variables, 0);
}
