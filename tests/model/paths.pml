/* SPDX-License-Identifier: MIT */
/*
 * Both paths behind one port (transport/poll.c, card/path.c): two nodes with
 * two processes each. Each sends to the other one of its node by shared memory
 * and to those of the other node by its card, as far as there is room, and
 * polls. The links are perfect: tests/model/pair.pml and card.pml are about
 * them. Names are the code's.
 *
 * Bounds: the sizes below. A process that is STOPPED never polls.
 *
 *  - messages of a pair come in order, each once, whichever path it has
 *  - all are received, but for those to the stopped one; a full ring, or all
 *    requests in use for one peer, keep nobody else's messages back
 */
#ifndef MESSAGES
#define MESSAGES 2 /* of each process to each other one it talks to */
#endif
#ifndef STOPPED
#define STOPPED 9 /* nobody */
#endif
#define RING 1	   /* messages that a ring of a pair takes */
#define BLOCKS 1   /* of a port's system ring */
#define REQUESTS 3 /* of a port */
#define PROCESSES 4
#define PEERS 2 /* 0: the other one of the node; 1: one of the other node */

#define NEAR(from) ((from) ^ 1)
#define FAR(from) (2 - (from) / 2 * 2) /* two of them send to one */

chan ring[PROCESSES] = [RING] of { byte };	    /* by the writer */
chan flow[PROCESSES] = [REQUESTS] of { byte };	    /* by the sender */
chan blocks[PROCESSES] = [BLOCKS] of { byte, byte }; /* from whom, which */
byte sent[PROCESSES * PEERS], received[PROCESSES * PEERS];
byte newest[PROCESSES * PEERS]; /* 1 + the message that was received last */
byte requests[PROCESSES];	 /* in use */

/* A peer may have as many requests as are left for the others. */
#define MAY_TAKE(from) (requests[from] < REQUESTS - requests[from])

inline receive(from, peer, message)
{
	newest[PEERS * (from) + peer] = message + 1;
	received[PEERS * (from) + peer]++;
	assert(newest[PEERS * (from) + peer] == received[PEERS * (from) + peer]);
	message = 0
}

active [PROCESSES] proctype process()
{
	byte turn, from, which;
end:	do
	:: d_step { sent[PEERS * _pid] < MESSAGES && nfull(ring[_pid]) ->
		ring[_pid]!sent[PEERS * _pid];
		sent[PEERS * _pid]++
	   }
	:: d_step { sent[PEERS * _pid + 1] < MESSAGES && MAY_TAKE(_pid) ->
		requests[_pid]++;
		flow[_pid]!sent[PEERS * _pid + 1];
		sent[PEERS * _pid + 1]++
	   }
	/* take_event(): the pair and the card in turn */
	:: d_step { _pid != STOPPED && nempty(ring[NEAR(_pid)]) &&
		    (turn == 0 || empty(blocks[_pid])) ->
		ring[NEAR(_pid)]?which;
		receive(NEAR(_pid), 0, which);
		turn = 1
	   }
	:: d_step { _pid != STOPPED && nempty(blocks[_pid]) &&
		    (turn == 1 || empty(ring[NEAR(_pid)])) ->
		blocks[_pid]?from, which;
		receive(from, 1, which);
		turn = 0;
		from = 0
	   }
	od
}

/* The cards: a message that finds no block is refused and comes again. */
active [PROCESSES] proctype card()
{
	byte which;
	byte me = _pid - PROCESSES;
end:	do
	:: d_step { nempty(flow[me]) && nfull(blocks[FAR(me)]) ->
		flow[me]?which;
		blocks[FAR(me)]!me, which;
		requests[me]--;
		which = 0
	   }
	od
}

#define DONE(from) \
	((NEAR(from) == STOPPED || received[PEERS * from] == MESSAGES) && \
	 (FAR(from) == STOPPED || received[PEERS * from + 1] == MESSAGES))
#define ALL (DONE(0) && DONE(1) && DONE(2) && DONE(3))

/* Blocked for ever if a message is. */
active proctype user()
{
	ALL
}

#define IN_ORDER(from) (newest[PEERS * (from)] == received[PEERS * (from)] && \
	newest[PEERS * (from) + 1] == received[PEERS * (from) + 1])

ltl exactly_once_in_order {
	[] (IN_ORDER(0) && IN_ORDER(1) && IN_ORDER(2) && IN_ORDER(3)) && <> ALL
}
