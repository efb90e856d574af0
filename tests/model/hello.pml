/* SPDX-License-Identifier: MIT */
/*
 * The handshake and the lives of nodes (nicfw/hello.c, conn.c, node.c): two
 * cards connect, both at once or not, over a link that loses, duplicates and
 * reorders, crash and come back with another incarnation, part and call again,
 * are isolated and rejoin. Frames of former lives stay in the link for as long
 * as they like. Names are the code's; what one input of a card does is one
 * step. One rail.
 *
 * Bounds: the sizes below. Losses are free, as WIRE frames at most are on their
 * way; with the formula they are FAULTS, and time passes when nothing is.
 *
 *  - what is delivered was sent to this life, by the life that this card thinks
 *    it talks to; nor does another one's BYE end a connection
 *  - in the end both are up with each other, if nothing happens any more
 */
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef DUPLICATES
#define DUPLICATES 1
#endif
#ifndef FAULTS
#define FAULTS 255 /* losses; 255: any number */
#endif
#ifndef PARTINGS
#define PARTINGS 0 /* DISCONNECT, or PARK of an idle connection */
#endif
#ifndef ISOLATIONS
#define ISOLATIONS 0
#endif
#ifndef PROBES
#define PROBES 0 /* HELLOs of a card that is up and hears nothing */
#endif
#ifndef EARLY
#define EARLY 255 /* time-outs at any time; 255: any number */
#endif
#ifndef SENT
#define SENT 2 /* DATA frames of each card */
#endif
#ifndef WIRE
#define WIRE 2
#endif
#ifndef IDS
#define IDS 5 /* of each card; then there is no memory for another */
#endif

#define NONE 0
mtype = { CALLING, ANSWERED, UP, PARKING, PARKED, ENDING };
mtype = { CLOSED, CONNECTING, LOST, ISOLATED };
mtype = { HELLO, HELLO_ACK, PING, DATA, BYE, PARK, RESET, REFUSE };

typedef frame {
	mtype kind;
	byte conn; /* id of the receiver's; RESET: of the sender's */
	byte own;  /* id of the sender's */
	byte life; /* of the sender; DATA, ...: for the assertions only */
	byte peer_incarnation
};
typedef connection {
	mtype state;
	byte id, peer; /* ours, the peer's */
	byte life;     /* of the peer; 0: not known */
	bit settling;  /* no other life is answered yet */
	bit reset      /* ENDING: why */
};

frame wire[2 * WIRE];	   /* those from card 0, from card 1 */
byte sent[2], ids[2] = 0;  /* ids taken, of all lives */
byte life[2] = 1;
mtype node[2] = CLOSED;	   /* what the card thinks of the other one */
connection conns[4];	   /* node->conn, node->candidate of each card */
byte crashes, duplicates, faults, partings, isolations, probes, early;
bit calm;   /* nothing happens any more */
bit called; /* a HELLO was repeated since a time-out of the longer kind */

#define CONN(card) (2 * (card))
#define CANDIDATE(card) (2 * (card) + 1)
#define IS_UP(c) (conns[c].state == UP || conns[c].state == PARKING || \
		  conns[c].state == PARKED || conns[c].state == ENDING)
#define SAME_PEER(c) (conns[c].life == its_life && conns[c].peer == its_conn)
#define FREE_WIRE(card) (wire[WIRE * (card) + WIRE - 1].kind == 0)
#define QUIET (wire[0].kind == 0 && wire[WIRE].kind == 0)

#define WITH(a, b) (conns[CONN(a)].state == UP && node[a] == UP && \
		    conns[CONN(a)].peer == conns[CONN(b)].id && \
		    conns[CONN(a)].life == life[b])
#define AGREED (WITH(0, 1) && WITH(1, 0))

hidden byte at, c, its_life, its_conn, to, answer;

/* ---- frames ---- */

inline transmit(card, what, whom, mine, whose)
{
	at = WIRE * card;
	do
	:: at < WIRE * card + WIRE && wire[at].kind != 0 -> at++
	:: else -> break
	od;
	if
	:: at < WIRE * card + WIRE ->
		wire[at].kind = what;
		wire[at].conn = whom;
		wire[at].own = mine;
		wire[at].life = life[card];
		wire[at].peer_incarnation = whose
	:: else /* lost */
	fi
}

/* Those behind it move up. */
inline take_away(which)
{
	at = which;
	do
	:: at % WIRE < WIRE - 1 ->
		wire[at].kind = wire[at + 1].kind;
		wire[at].conn = wire[at + 1].conn;
		wire[at].own = wire[at + 1].own;
		wire[at].life = wire[at + 1].life;
		wire[at].peer_incarnation = wire[at + 1].peer_incarnation;
		at++
	:: else -> break
	od;
	wire[at].kind = 0;
	wire[at].conn = 0;
	wire[at].own = 0;
	wire[at].life = 0;
	wire[at].peer_incarnation = 0
}

/* ---- connections ---- */

#define MEMORY(card) (ids[card] < IDS)

inline rename(which)
{
	ids[which / 2]++;
	conns[which].id = ids[which / 2]
}

inline make(which)
{
	rename(which);
	conns[which].state = CALLING
}

/* bcl_nic_conn_free(); the candidate takes its place */
inline free(which)
{
	c = which;
	if
	:: c % 2 == 0 ->
		conns[c].state = conns[c + 1].state;
		conns[c].id = conns[c + 1].id;
		conns[c].peer = conns[c + 1].peer;
		conns[c].life = conns[c + 1].life;
		conns[c].settling = conns[c + 1].settling;
		c++
	:: else
	fi;
	conns[c].state = NONE;
	conns[c].id = 0;
	conns[c].peer = 0;
	conns[c].life = 0;
	conns[c].settling = 0;
	conns[c / 2 * 2].reset = 0
}

inline adopt(which)
{
	conns[which].life = its_life;
	conns[which].peer = its_conn;
	conns[which].state = ANSWERED
}

/* bcl_nic_conn_up() */
inline up(card)
{
	conns[CONN(card)].state = UP;
	conns[CONN(card)].settling = 0;
	node[card] = (node[card] == LOST -> LOST : UP)
}

/* bcl_nic_contact_over() */
inline over(card)
{
	free(CONN(card));
	node[card] = (node[card] == LOST -> LOST : CLOSED)
}

inline lose(card)
{
	free(CONN(card));
	node[card] = LOST
}

/* ---- what a card does with a frame ---- */

/* bcl_nic_handshake_received(), choose_conn() */
inline hello_received(card)
{
	to = CONN(card);
	answer = 1;
	if
	:: node[card] == ISOLATED ->
		answer = 0;
		transmit(card, REFUSE, its_conn, 0, 0)
	:: node[card] != ISOLATED && conns[to].state == NONE && MEMORY(card) ->
		make(to);
		adopt(to)
	:: node[card] != ISOLATED && conns[to].state == NONE && !MEMORY(card) ->
		answer = 0
	:: node[card] != ISOLATED && conns[to].state != NONE && SAME_PEER(to) ->
		answer = (conns[to].state != ENDING)
	:: else ->
		if
		:: IS_UP(to) ->
			to = CANDIDATE(card);
			if
			:: conns[to].state == NONE && MEMORY(card) -> make(to)
			:: else
			fi
		:: else
		fi;
		if
		:: conns[to].state != NONE && SAME_PEER(to)
		:: conns[to].state == NONE || (!SAME_PEER(to) &&
		   conns[to].life && (conns[to].settling || !MEMORY(card))) ->
			answer = 0
		:: else ->
			if
			:: conns[to].life -> rename(to)
			:: else
			fi;
			adopt(to)
		fi
	fi;
	if
	:: answer ->
		conns[to].settling = (IS_UP(to) -> 0 : 1);
		transmit(card, HELLO_ACK, its_conn, conns[to].id, its_life)
	:: else
	fi
}

/* Two were told the same id. */
inline call_anew(card)
{
	rename(to);
	conns[to].life = 0;
	conns[to].peer = 0;
	conns[to].state = CALLING;
	transmit(card, HELLO, 0, conns[to].id, 0)
}

/* bcl_nic_handshake_answered() */
inline hello_answered(card, whose)
{
	if
	:: to != CONN(card) || whose != life[card] ||
	   conns[to].state == ENDING || (IS_UP(to) && !SAME_PEER(to))
	:: to == CONN(card) && !IS_UP(to) && whose == life[card] &&
	   conns[to].life && conns[to].life != its_life ->
		if
		:: !conns[to].settling && MEMORY(card) -> call_anew(card)
		:: else
		fi
	:: else ->
		if
		:: !SAME_PEER(to) -> adopt(to)
		:: else
		fi;
		if
		:: !IS_UP(to) -> up(card)
		:: else
		fi;
		transmit(card, PING, its_conn, conns[to].id, its_life)
	fi
}

/* bcl_nic_handshake_proved(), bcl_nic_contact_replace(); the candidate's place
 * changes */
inline hello_proved(card)
{
	if
	:: to == CANDIDATE(card) ->
		node[card] = (conns[CONN(card)].life == conns[to].life ->
			node[card] : LOST);
		free(CONN(card));
		to = CONN(card)
	:: else
	fi;
	up(card)
}

/* bcl_nic_recv(): connected(), dispatch() */
inline dispatch(card, which)
{
	if
	:: conns[to].state == CALLING /* dropped */
	:: conns[to].state == ANSWERED && wire[which].kind != PING
	:: else ->
		if
		:: conns[to].state == ANSWERED -> hello_proved(card)
		:: else
		fi;
		if
		:: wire[which].kind == DATA ->
			assert(wire[which].life == conns[to].life);
			assert(wire[which].peer_incarnation == life[card])
		:: wire[which].kind == BYE ->
			assert(wire[which].life == conns[to].life);
			over(card)
		:: wire[which].kind == PARK -> /* it is idle */
			if
			:: conns[to].state != ENDING ->
				transmit(card, BYE, conns[to].peer,
					 conns[to].id, conns[to].life);
				over(card)
			:: else
			fi
		:: else
		fi
	fi
}

inline receive(card, which)
{
	its_life = wire[which].life;
	its_conn = wire[which].own;
	if
	:: wire[which].kind == HELLO -> hello_received(card)
	:: wire[which].kind == RESET ->
		to = CONN(card);
		if
		:: IS_UP(to) && conns[to].peer == wire[which].conn ->
			if
			:: conns[to].state == PARKING -> over(card)
			:: else ->
				conns[to].state = ENDING;
				conns[to].reset = 1
			fi
		:: else
		fi
	:: else ->
		to = CONN(card);
		to = (conns[to].id == wire[which].conn -> to : to + 1);
		if
		:: conns[to].id == wire[which].conn ->
			if
			:: wire[which].kind == HELLO_ACK ->
				hello_answered(card, wire[which].peer_incarnation)
			:: wire[which].kind == REFUSE ->
				if
				:: conns[to].state == CALLING -> lose(card)
				:: else
				fi
			:: else -> dispatch(card, which)
			fi
		:: conns[to].id != wire[which].conn &&
		   (wire[which].kind == PING || wire[which].kind == DATA ||
		    wire[which].kind == PARK) ->
			transmit(card, RESET, wire[which].conn, 0, 0)
		:: else
		fi
	fi
}

/* Without a call of ours what was answered is forgotten. */
inline settled(card)
{
	if
	:: conns[CANDIDATE(card)].settling -> free(CANDIDATE(card))
	:: else
	fi;
	if
	:: conns[CONN(card)].settling && node[card] != CONNECTING ->
		free(CONN(card))
	:: else -> conns[CONN(card)].settling = 0
	fi;
	called = 0
}

inline ping(card)
{
	if
	:: conns[CONN(card)].state == UP ->
		transmit(card, PING, conns[CONN(card)].peer,
			 conns[CONN(card)].id, conns[CONN(card)].life)
	:: else
	fi
}

inline park(card)
{
	if
	:: conns[CONN(card)].state == PARKING ->
		transmit(card, PARK, conns[CONN(card)].peer,
			 conns[CONN(card)].id, conns[CONN(card)].life)
	:: else
	fi
}

/* ---- who does what ---- */

#define ENDS (conns[0].state == ENDING || conns[2].state == ENDING)
#define CALLS (node[0] == CONNECTING || node[1] == CONNECTING)
#define PINGS(card) (conns[CONN(card)].state == UP && !AGREED && !ENDS)
#define PARKS(card) (conns[CONN(card)].state == PARKING && !ENDS && !CALLS)
#define REPEATS (PINGS(0) || PINGS(1) || PARKS(0) || PARKS(1))
#define SETTLING (conns[0].settling || conns[1].settling || \
		  conns[2].settling || conns[3].settling)
/* Repeated frames are faster than the time-outs of connections. */
#define PEACE (calm && QUIET && !REPEATS)
#define TIME (PEACE || (!calm && early < EARLY))
#define PASS early = early + (!calm && EARLY < 255)

active [2] proctype card()
{
end:	do
	:: d_step { /* bcl_nic_hello_call() */
		QUIET && node[_pid] == CONNECTING && !ENDS &&
		(!called || !SETTLING) ->
		called = 1;
		transmit(_pid, HELLO, 0, conns[CONN(_pid)].id, 0)
	   }
	:: d_step { /* probe(), check_rail(): has it another address by now? */
		conns[CONN(_pid)].state == UP && probes < PROBES ->
		probes++;
		transmit(_pid, HELLO, 0, conns[CONN(_pid)].id, 0)
	   }
	:: d_step { /* call_again() */
		QUIET && conns[CONN(_pid)].state == PARKING && !calm ->
		park(_pid)
	   }
	/* expire(), ended() */
	:: d_step {
		TIME && conns[CONN(_pid)].state == ENDING ->
		PASS;
		lose(_pid)
	   }
	:: d_step {
		!calm && early < EARLY && (conns[CONN(_pid)].settling ||
					   conns[CANDIDATE(_pid)].settling) ->
		PASS;
		settled(_pid)
	   }
	:: d_step { /* no answer in peer_timeout */
		early < EARLY && node[_pid] == CONNECTING && !calm &&
		crashes < CRASHES ->
		PASS;
		lose(_pid)
	   }
	/* frames */
	:: d_step {
		wire[WIRE * (1 - _pid)].kind != 0 ->
		receive(_pid, WIRE * (1 - _pid));
		take_away(WIRE * (1 - _pid))
	   }
	:: d_step {
		wire[WIRE * (1 - _pid) + 1].kind != 0 ->
		receive(_pid, WIRE * (1 - _pid) + 1);
		take_away(WIRE * (1 - _pid) + 1)
	   }
	:: d_step {
		wire[WIRE * (1 - _pid)].kind != 0 && duplicates < DUPLICATES ->
		duplicates++;
		receive(_pid, WIRE * (1 - _pid))
	   }
	:: d_step {
		conns[CONN(_pid)].state == UP && sent[_pid] < SENT &&
		FREE_WIRE(_pid) ->
		sent[_pid]++;
		transmit(_pid, DATA, conns[CONN(_pid)].peer,
			 conns[CONN(_pid)].id, conns[CONN(_pid)].life)
	   }
	/* what happens to it, until it is calm */
	:: d_step { /* it crashes, and is there again */
		!calm && crashes < CRASHES ->
		crashes++;
		life[_pid]++;
		free(CANDIDATE(_pid));
		free(CONN(_pid));
		node[_pid] = CLOSED
	   }
	:: d_step { /* node_disconnect() */
		!calm && partings < PARTINGS && conns[CONN(_pid)].state == UP ->
		partings++;
		transmit(_pid, BYE, conns[CONN(_pid)].peer,
			 conns[CONN(_pid)].id, conns[CONN(_pid)].life);
		free(CANDIDATE(_pid));
		free(CONN(_pid));
		node[_pid] = CLOSED
	   }
	:: d_step { /* bcl_nic_conn_evict() */
		!calm && partings < PARTINGS && conns[CONN(_pid)].state == UP ->
		partings++;
		conns[CONN(_pid)].state = PARKING
	   }
	:: d_step { /* ISOLATE */
		!calm && isolations < ISOLATIONS ->
		isolations++;
		free(CANDIDATE(_pid));
		free(CONN(_pid));
		node[_pid] = ISOLATED
	   }
	od
}

/* Half of the ids are left for when an isolated one has rejoined. */
#define LEFT(me) (node[1 - me] != ISOLATED || ids[me] <= IDS / 2)

/* The programs want to be connected: node_connect(), nic_node_want() */
active [2] proctype program()
{
	byte me = _pid - 2;
end:	do
	:: d_step {
		(node[me] == CLOSED || node[me] == LOST) &&
		!IS_UP(CONN(me)) &&
		(conns[CONN(me)].state != NONE || MEMORY(me)) && LEFT(me) ->
		if
		:: conns[CONN(me)].state == NONE -> make(CONN(me))
		:: else
		fi;
		node[me] = CONNECTING;
		transmit(me, HELLO, 0, conns[CONN(me)].id, 0)
	   }
	:: d_step { /* it connected meanwhile */
		(node[me] == LOST || node[me] == CLOSED) &&
		conns[CONN(me)].state == UP -> node[me] = UP
	   }
	:: d_step { node[me] == ISOLATED -> node[me] = CLOSED } /* REJOIN */
	od
}

active proctype noise()
{
end:	do
	:: d_step { wire[0].kind != 0 && faults < FAULTS ->
		faults = faults + (FAULTS < 255); take_away(0) }
	:: d_step { wire[1].kind != 0 && faults < FAULTS ->
		faults = faults + (FAULTS < 255); take_away(1) }
	:: d_step { wire[WIRE].kind != 0 && faults < FAULTS ->
		faults = faults + (FAULTS < 255); take_away(WIRE) }
	:: d_step { wire[WIRE + 1].kind != 0 && faults < FAULTS ->
		faults = faults + (FAULTS < 255); take_away(WIRE + 1) }
	od
}

active proctype time()
{
end:	do
	:: d_step {
		QUIET && REPEATS ->
		ping(0);
		ping(1);
		park(0);
		park(1)
	   }
	:: d_step { PEACE && !ENDS && SETTLING -> settled(0); settled(1) }
	od
}

active proctype user()
{
	calm = 1;
end:	AGREED
}

ltl agree { <> [] AGREED }
