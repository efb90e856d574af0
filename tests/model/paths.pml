/* SPDX-License-Identifier: MIT */
/*
 * Both paths behind one port (transport/poll.c, transport/card/path.c): two
 * nodes with two processes each. Each process sends to the other process of the
 * node by shared memory and to a process of the other node by the card, as far
 * as there is room, and polls. The links are perfect: tests/model/pair.pml and
 * card.pml treat faults of links. Names are the code's.
 *
 * Bounds: the sizes below. A process that is STOPPED never polls.
 *
 *  - the messages of a pair of processes arrive in order, each once, by either
 *    path
 *  - all messages arrive, except the messages to the stopped process. A full
 *    ring, or requests that are all in use for one peer, delay no message to
 *    another process
 */
#ifndef MESSAGES
#define MESSAGES 2 /* of each process to each of two peers */
#endif
#ifndef STOPPED
#define STOPPED 9 /* no process */
#endif
#define RING 1	   /* messages in the ring of a pair */
#define BLOCKS 1   /* in the system ring of a port */
#define REQUESTS 3 /* of a port */
#define PROCESSES 4
#define PEERS 2 /* 0: the neighbour; 1: a process of the other node */

#define NEIGHBOUR(from) ((from) ^ 1)
#define REMOTE(from) (2 - (from) / 2 * 2) /* two processes send to one */

chan ring[PROCESSES] = [RING] of { byte };	    /* by the writer */
chan flow[PROCESSES] = [REQUESTS] of { byte };	    /* by the sender */
chan blocks[PROCESSES] = [BLOCKS] of { byte, byte }; /* sender, message */
byte sent[PROCESSES * PEERS], received[PROCESSES * PEERS];
byte newest[PROCESSES * PEERS]; /* 1 + the message received last */
byte requests[PROCESSES];	 /* in use */

/* A peer may have as many requests as are left for other peers. */
#define MAY_TAKE(from) (requests[from] < REQUESTS - requests[from])

inline receive(from, peer, number)
{
	newest[PEERS * (from) + peer] = number + 1;
	received[PEERS * (from) + peer]++;
	assert(newest[PEERS * (from) + peer] ==
	       received[PEERS * (from) + peer]);
	number = 0
}

active [PROCESSES] proctype process()
{
	byte turn, from, message;
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
	:: d_step { _pid != STOPPED && nempty(ring[NEIGHBOUR(_pid)]) &&
		    (turn == 0 || empty(blocks[_pid])) ->
		ring[NEIGHBOUR(_pid)]?message;
		receive(NEIGHBOUR(_pid), 0, message);
		turn = 1
	   }
	:: d_step { _pid != STOPPED && nempty(blocks[_pid]) &&
		    (turn == 1 || empty(ring[NEIGHBOUR(_pid)])) ->
		blocks[_pid]?from, message;
		receive(from, 1, message);
		turn = 0;
		from = 0
	   }
	od
}

/* The cards. A message without a block is refused and comes again. */
active [PROCESSES] proctype card()
{
	byte message;
	byte me = _pid - PROCESSES;
end:	do
	:: d_step { nempty(flow[me]) && nfull(blocks[REMOTE(me)]) ->
		flow[me]?message;
		blocks[REMOTE(me)]!me, message;
		requests[me]--;
		message = 0
	   }
	od
}

#define HAS_ALL(from) \
	((NEIGHBOUR(from) == STOPPED || received[PEERS * from] == MESSAGES) && \
	 (REMOTE(from) == STOPPED || received[PEERS * from + 1] == MESSAGES))
#define ALL_RECEIVED (HAS_ALL(0) && HAS_ALL(1) && HAS_ALL(2) && HAS_ALL(3))

/* If a message does not arrive this process is blocked for ever. */
active proctype user()
{
	ALL_RECEIVED
}

#define IN_ORDER(from) (newest[PEERS * (from)] == received[PEERS * (from)] && \
	newest[PEERS * (from) + 1] == received[PEERS * (from) + 1])

ltl exactly_once_in_order {
	[] (IN_ORDER(0) && IN_ORDER(1) && IN_ORDER(2) && IN_ORDER(3)) &&
	<> ALL_RECEIVED
}
