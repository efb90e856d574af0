/* SPDX-License-Identifier: MIT */
#include "adi_traffic.h"

#include <string.h>

#include "need.h"

enum {
	RANKS_MAX = 16,
	CONTEXTS = 2,
	TAGS = 3,
	EACH = 25,		       /* messages of a cell */
	PAIR = CONTEXTS * TAGS * EACH, /* of an ordered pair of ranks */
	ACTIVE = 40,   /* slots for requests; sends begin at slot 0 */
	RECEIVES = 20, /* first slot for receives */
	PROBES = 30,   /* first slot for matched probes */
	LONGEST = 30000,
};

struct head {
	uint32_t source, context, tag, number;
	uint64_t length;
};

struct slot {
	struct bcl_adi_request *request;
	unsigned char *buffer;
	bool send;
	int source, tag; /* the receive's pattern */
	unsigned context, posted;
};

struct cell {
	unsigned left;	       /* messages not received yet */
	unsigned covered;      /* pending receives that may take a message */
	unsigned posted[EACH]; /* by number: time of the receive's post */
};

struct player {
	struct bcl_adi *adi;
	unsigned rank, ranks, unsent, left, time;
	uint64_t random;
	unsigned sent[RANKS_MAX];
	struct cell cells[RANKS_MAX][CONTEXTS][TAGS];
	struct slot slots[ACTIVE];
};

static unsigned draw(struct player *p, unsigned n)
{
	p->random = p->random * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(p->random >> 33) % n;
}

static size_t random_length(struct player *p)
{
	static const unsigned ranges[] = { 1, 40, 5000, LONGEST - 100 };

	return sizeof(struct head) + draw(p, ranges[draw(p, 4)]);
}

/* Cuts a buffer into random pieces, among them empty pieces. Returns the number
 * of pieces. */
static unsigned random_pieces(struct player *p, struct iovec iov[20],
			      unsigned char *buffer, size_t length)
{
	unsigned n = 1 + draw(p, 20), i;
	size_t part;

	for (i = 0; i < n; i++) {
		part = i + 1 == n ? length : draw(p, (unsigned)length + 1);
		iov[i] = (struct iovec){ buffer, part };
		buffer += part;
		length -= part;
	}
	return n;
}

static void start_send(struct player *p, struct slot *slot)
{
	size_t length = random_length(p);
	struct iovec iov[20];
	struct head head;
	unsigned to, i, n;
	int tag;

	do
		to = draw(p, p->ranks);
	while (p->sent[to] == PAIR);
	i = p->sent[to]++;
	head = (struct head){ p->rank, i % CONTEXTS, i / CONTEXTS % TAGS,
			      i / CONTEXTS / TAGS, length };
	tag = (int)head.tag;
	memcpy(slot->buffer, &head, sizeof(head));
	pattern_fill(slot->buffer + sizeof(head), length - sizeof(head),
		     head.number);
	slot->send = true;
	p->unsent--;
	n = random_pieces(p, iov, slot->buffer, length);
	switch (draw(p, 4)) {
	case 0:
		need_equal(bcl_adi_issend(p->adi, slot->buffer, length, (int)to,
					  tag, head.context, &slot->request),
			   BCL_OK);
		break;
	case 1:
		need_equal(bcl_adi_isendv(p->adi, iov, n, (int)to, tag,
					  head.context, &slot->request),
			   BCL_OK);
		break;
	default:
		need_equal(bcl_adi_isend(p->adi, slot->buffer, length, (int)to,
					 tag, head.context, &slot->request),
			   BCL_OK);
	}
}

/* Adds n to `covered` of all cells of the slot's pattern. Returns the least
 * number of messages that a cell has beyond the covered messages. */
static unsigned cover(struct player *p, const struct slot *slot, int n)
{
	unsigned least = EACH, source, tag;
	struct cell *cell;

	for (source = 0; source < p->ranks; source++) {
		for (tag = 0; tag < TAGS; tag++) {
			if ((slot->source >= 0 &&
			     slot->source != (int)source) ||
			    (slot->tag >= 0 && slot->tag != (int)tag))
				continue;
			cell = &p->cells[source][slot->context][tag];
			cell->covered += (unsigned)n;
			/* receives that took a message of another cell count,
			 * too */
			if (cell->covered >= cell->left)
				least = 0;
			else if (cell->left - cell->covered < least)
				least = cell->left - cell->covered;
		}
	}
	return least;
}

static void start_receive(struct player *p, struct slot *slot)
{
	struct iovec iov[20];
	unsigned n;

	slot->send = false;
	slot->source = draw(p, 2) ? BCL_ANY_SOURCE : (int)draw(p, p->ranks);
	slot->tag = draw(p, 2) ? BCL_ANY_TAG : (int)draw(p, TAGS);
	slot->context = draw(p, CONTEXTS);
	slot->posted = p->time++;
	if (!cover(p, slot, 0))
		return;
	cover(p, slot, 1);
	n = random_pieces(p, iov, slot->buffer, LONGEST);
	if (draw(p, 2))
		need_equal(bcl_adi_irecvv(p->adi, iov, n, slot->source,
					  slot->tag, slot->context,
					  &slot->request),
			   BCL_OK);
	else
		need_equal(bcl_adi_irecv(p->adi, slot->buffer, LONGEST,
					 slot->source, slot->tag, slot->context,
					 &slot->request),
			   BCL_OK);
}

/* Takes an unexpected message out by a matched probe, if a message matches the
 * random pattern. */
static void try_probe(struct player *p, struct slot *slot)
{
	struct bcl_adi_message *message;
	struct bcl_adi_status status;

	slot->send = false;
	slot->source = draw(p, 2) ? BCL_ANY_SOURCE : (int)draw(p, p->ranks);
	slot->tag = draw(p, 2) ? BCL_ANY_TAG : (int)draw(p, TAGS);
	slot->context = draw(p, CONTEXTS);
	slot->posted = p->time++;
	if (bcl_adi_improbe(p->adi, slot->source, slot->tag, slot->context,
			    &message, &status))
		return;
	need(slot->source < 0 || slot->source == status.source);
	need(slot->tag < 0 || slot->tag == status.tag);
	slot->source = status.source;
	slot->tag = status.tag;
	cover(p, slot, 1);
	need_equal(bcl_adi_imrecv(p->adi, slot->buffer, LONGEST, &message,
				  &slot->request),
		   BCL_OK);
}

static void check_message(struct player *p, struct slot *slot,
			  const struct bcl_adi_status *status)
{
	struct head head;
	struct cell *cell;

	memcpy(&head, slot->buffer, sizeof(head));
	need_equal(status->source, (int)head.source);
	need_equal(status->tag, (int)head.tag);
	need_equal(status->length, head.length);
	need_equal(slot->context, head.context);
	need(head.number < EACH);
	need(pattern_is(slot->buffer + sizeof(head), head.length - sizeof(head),
			head.number));
	cell = &p->cells[head.source][head.context][head.tag];
	need_equal(cell->posted[head.number], 0);
	cell->posted[head.number] = slot->posted;
	cell->left--;
	cover(p, slot, -1);
}

static void finish_requests(struct player *p)
{
	struct bcl_adi_status status;
	enum bcl_status result;
	struct slot *slot;

	for (slot = p->slots; slot < p->slots + ACTIVE; slot++) {
		if (!slot->request)
			continue;
		result = bcl_adi_test(p->adi, &slot->request, &status);
		if (result == BCL_ERR_AGAIN)
			continue;
		need_equal(result, BCL_OK);
		need(!slot->request);
		if (!slot->send)
			check_message(p, slot, &status);
		p->left--;
	}
}

void traffic_play(struct bcl_adi *adi, uint64_t seed,
		  void (*pause)(struct bcl_adi *adi, uint64_t ns))
{
	struct player *p = calloc(1, sizeof(*p));
	struct cell *cell = &p->cells[0][0][0];
	struct slot *slot;
	unsigned i, j;

	p->adi = adi;
	p->rank = bcl_adi_rank(adi);
	p->ranks = bcl_adi_size(adi);
	p->random = seed * 31 + p->rank;
	p->time = 1;
	p->unsent = p->ranks * PAIR;
	p->left = 2 * p->ranks * PAIR;
	for (i = 0; i < p->ranks * CONTEXTS * TAGS; i++)
		cell[i].left = EACH;
	for (i = 0; i < ACTIVE; i++)
		p->slots[i].buffer = malloc(LONGEST);

	while (p->left) {
		finish_requests(p);
		slot = &p->slots[draw(p, ACTIVE)];
		/*
		 * Sends, receives and probes have slots of their own. So a
		 * probe can always take a message for which no receive is
		 * posted.
		 */
		if (slot->request)
			pause(adi, 1000);
		else if (slot >= p->slots + PROBES)
			try_probe(p, slot);
		else if (slot >= p->slots + RECEIVES)
			start_receive(p, slot);
		else if (p->unsent)
			start_send(p, slot);
		if (draw(p, 5) == 0)
			pause(adi, draw(p, 20000));
	}

	for (i = 0; i < p->ranks * CONTEXTS * TAGS; i++) {
		need_equal(cell[i].left, 0);
		need_equal(cell[i].covered, 0);
		for (j = 1; j < EACH; j++)
			need(cell[i].posted[j - 1] < cell[i].posted[j]);
	}
	for (i = 0; i < ACTIVE; i++)
		free(p->slots[i].buffer);
	free(p);
}
