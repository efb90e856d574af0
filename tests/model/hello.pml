/* SPDX-License-Identifier: MIT */
/*
 * The handshake and the incarnations of nodes (nicfw/handshake.c, hello.c,
 * contact.c, conn.c, node.c). Two cards connect, perhaps both at once, over a
 * link that loses, duplicates and reorders frames. A card crashes and comes
 * back with another incarnation, disconnects, parks the connection and calls
 * again, or is isolated and rejoins. Frames of earlier incarnations stay in the
 * link for any time. Names are the code's. All that a card does with one input
 * is one step. There is one rail.
 *
 * Bounds: the sizes below. Losses are free, because at most WIRE frames are on
 * the link in each direction. For the formula there are FAULTS losses, and time
 * passes when no frame is on the link.
 *
 *  - a delivered message was sent to this incarnation of the receiver, by the
 *    incarnation that the receiver has in its connection. The BYE of another
 *    incarnation does not end a connection
 *  - if no other fault happens, both cards are finally up with each other
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
#define EARLY 255 /* early time-outs; 255: any number */
#endif
#ifndef SENT
#define SENT 2 /* DATA frames of each card */
#endif
#ifndef WIRE
#define WIRE 2
#endif
#ifndef IDS
#define IDS 5 /* of each card, for all connections that it makes */
#endif

#define NONE 0
mtype = { CALLING, ANSWERED, UP, PARKING, PARKED, ENDING };
mtype = { CLOSED, CONNECTING, LOST, ISOLATED };
mtype = { HELLO, HELLO_ACK, PING, DATA, BYE, PARK, RESET, REFUSE };

typedef frame {
	mtype kind;
	byte conn; /* id of the receiver; RESET: id of the sender */
	byte own;  /* id of the sender */
	/* of the sender; in DATA, BYE etc. for the assertions only */
	byte incarnation;
	byte peer_incarnation
};
typedef connection {
	mtype state;
	byte id, peer; /* id of this card, of the peer */
	byte incarnation; /* of the peer; 0: unknown */
	bit awaits_proof; /* no other incarnation is answered yet */
	bit why		  /* ENDING: a RESET is the reason */
};

frame wire[2 * WIRE];	   /* frames from card 0, from card 1 */
byte sent[2], ids[2] = 0;  /* ids: taken, by all incarnations */
byte incarnation[2] = 1;
mtype node[2] = CLOSED;	   /* state of the peer, as the card sees it */
connection conns[4];	   /* node->conn, node->candidate of each card */
byte crashes, duplicates, faults, partings, isolations, probes, early;
bit faults_over;	   /* no crash, parting etc. any more */
bit called;		   /* HELLO was repeated since the last expire() */

#define CONN(card) (2 * (card))
#define CANDIDATE(card) (2 * (card) + 1)
#define IS_UP(c) (conns[c].state == UP || conns[c].state == PARKING || \
		  conns[c].state == PARKED || conns[c].state == ENDING)
#define SAME_PEER(c) (conns[c].incarnation == hello_incarnation && \
		      conns[c].peer == hello_conn)
#define WIRE_HAS_ROOM(card) (wire[WIRE * (card) + WIRE - 1].kind == 0)
#define QUIET (wire[0].kind == 0 && wire[WIRE].kind == 0)

#define CONNECTED_WITH(a, b) (conns[CONN(a)].state == UP && node[a] == UP && \
			      conns[CONN(a)].peer == conns[CONN(b)].id && \
			      conns[CONN(a)].incarnation == incarnation[b])
#define AGREED (CONNECTED_WITH(0, 1) && CONNECTED_WITH(1, 0))

hidden byte at, c, hello_incarnation, hello_conn, conn, answer;

/* ---- frames ---- */

inline transmit(card, frame_kind, to_conn, from_conn, to_incarnation)
{
	at = WIRE * card;
	do
	:: at < WIRE * card + WIRE && wire[at].kind != 0 -> at++
	:: else -> break
	od;
	if
	:: at < WIRE * card + WIRE ->
		wire[at].kind = frame_kind;
		wire[at].conn = to_conn;
		wire[at].own = from_conn;
		wire[at].incarnation = incarnation[card];
		wire[at].peer_incarnation = to_incarnation
	:: else /* lost */
	fi
}

/* The frames behind move up. */
inline remove_frame(which)
{
	at = which;
	do
	:: at % WIRE < WIRE - 1 ->
		wire[at].kind = wire[at + 1].kind;
		wire[at].conn = wire[at + 1].conn;
		wire[at].own = wire[at + 1].own;
		wire[at].incarnation = wire[at + 1].incarnation;
		wire[at].peer_incarnation = wire[at + 1].peer_incarnation;
		at++
	:: else -> break
	od;
	wire[at].kind = 0;
	wire[at].conn = 0;
	wire[at].own = 0;
	wire[at].incarnation = 0;
	wire[at].peer_incarnation = 0
}

/* ---- connections ---- */

#define HAS_PLACE(card) (ids[card] < IDS)

/* bcl_nic_conn_rename() */
inline conn_rename(which)
{
	ids[which / 2]++;
	conns[which].id = ids[which / 2]
}

/* bcl_nic_conn_make() */
inline conn_make(which)
{
	conn_rename(which);
	conns[which].state = CALLING
}

/* bcl_nic_conn_free(). The candidate becomes the connection. */
inline conn_free(which)
{
	c = which;
	if
	:: c % 2 == 0 ->
		conns[c].state = conns[c + 1].state;
		conns[c].id = conns[c + 1].id;
		conns[c].peer = conns[c + 1].peer;
		conns[c].incarnation = conns[c + 1].incarnation;
		conns[c].awaits_proof = conns[c + 1].awaits_proof;
		c++
	:: else
	fi;
	conns[c].state = NONE;
	conns[c].id = 0;
	conns[c].peer = 0;
	conns[c].incarnation = 0;
	conns[c].awaits_proof = 0;
	conns[c / 2 * 2].why = 0
}

inline adopt(which)
{
	conns[which].incarnation = hello_incarnation;
	conns[which].peer = hello_conn;
	conns[which].state = ANSWERED
}

/* bcl_nic_conn_up() */
inline conn_up(card)
{
	conns[CONN(card)].state = UP;
	conns[CONN(card)].awaits_proof = 0;
	node[card] = (node[card] == LOST -> LOST : UP)
}

/* bcl_nic_contact_over() */
inline contact_over(card)
{
	conn_free(CONN(card));
	node[card] = (node[card] == LOST -> LOST : CLOSED)
}

/* bcl_nic_contact_lose() */
inline contact_lose(card)
{
	conn_free(CONN(card));
	node[card] = LOST
}

/* ---- a frame arrives at a card ---- */

/* bcl_nic_handshake_received(), choose_conn() */
inline handshake_received(card)
{
	conn = CONN(card);
	answer = 1;
	if
	:: node[card] == ISOLATED ->
		answer = 0;
		transmit(card, REFUSE, hello_conn, 0, 0)
	:: node[card] != ISOLATED && conns[conn].state == NONE &&
	   HAS_PLACE(card) ->
		conn_make(conn);
		adopt(conn)
	:: node[card] != ISOLATED && conns[conn].state == NONE &&
	   !HAS_PLACE(card) ->
		answer = 0
	:: node[card] != ISOLATED && conns[conn].state != NONE &&
	   SAME_PEER(conn) ->
		answer = (conns[conn].state != ENDING)
	:: else ->
		if
		:: IS_UP(conn) ->
			conn = CANDIDATE(card);
			if
			:: conns[conn].state == NONE && HAS_PLACE(card) ->
				conn_make(conn)
			:: else
			fi
		:: else
		fi;
		if
		:: conns[conn].state != NONE && SAME_PEER(conn)
		:: conns[conn].state == NONE ||
		   (!SAME_PEER(conn) && conns[conn].incarnation &&
		    (conns[conn].awaits_proof || !HAS_PLACE(card))) ->
			answer = 0
		:: else ->
			if
			:: conns[conn].incarnation -> conn_rename(conn)
			:: else
			fi;
			adopt(conn)
		fi
	fi;
	if
	:: answer ->
		conns[conn].awaits_proof = (IS_UP(conn) -> 0 : 1);
		transmit(card, HELLO_ACK, hello_conn, conns[conn].id,
			 hello_incarnation)
	:: else
	fi
}

/* Two incarnations of the peer know the same id: call by another id. */
inline call_anew(card)
{
	conn_rename(conn);
	conns[conn].incarnation = 0;
	conns[conn].peer = 0;
	conns[conn].state = CALLING;
	transmit(card, HELLO, 0, conns[conn].id, 0)
}

/* bcl_nic_handshake_answered() */
inline handshake_answered(card, for_incarnation)
{
	if
	:: conn != CONN(card) || for_incarnation != incarnation[card] ||
	   conns[conn].state == ENDING || (IS_UP(conn) && !SAME_PEER(conn))
	:: conn == CONN(card) && !IS_UP(conn) &&
	   for_incarnation == incarnation[card] && conns[conn].incarnation &&
	   conns[conn].incarnation != hello_incarnation ->
		if
		:: !conns[conn].awaits_proof && HAS_PLACE(card) ->
			call_anew(card)
		:: else
		fi
	:: else ->
		if
		:: !SAME_PEER(conn) -> adopt(conn)
		:: else
		fi;
		if
		:: !IS_UP(conn) -> conn_up(card)
		:: else
		fi;
		transmit(card, PING, hello_conn, conns[conn].id,
			 hello_incarnation)
	fi
}

/* bcl_nic_handshake_proved(), bcl_nic_contact_replace(). A candidate becomes
 * the connection. */
inline handshake_proved(card)
{
	if
	:: conn == CANDIDATE(card) ->
		node[card] = (conns[CONN(card)].incarnation ==
			      conns[conn].incarnation -> node[card] : LOST);
		conn_free(CONN(card));
		conn = CONN(card)
	:: else
	fi;
	conn_up(card)
}

/* bcl_nic_recv(): connected(), dispatch() */
inline dispatch(card, which)
{
	if
	:: conns[conn].state == CALLING /* dropped */
	:: conns[conn].state == ANSWERED && wire[which].kind != PING
	:: else ->
		if
		:: conns[conn].state == ANSWERED -> handshake_proved(card)
		:: else
		fi;
		if
		:: wire[which].kind == DATA ->
			assert(wire[which].incarnation ==
			       conns[conn].incarnation);
			assert(wire[which].peer_incarnation ==
			       incarnation[card])
		:: wire[which].kind == BYE ->
			assert(wire[which].incarnation ==
			       conns[conn].incarnation);
			contact_over(card)
		:: wire[which].kind == PARK -> /* the connection is idle */
			if
			:: conns[conn].state != ENDING ->
				transmit(card, BYE, conns[conn].peer,
					 conns[conn].id,
					 conns[conn].incarnation);
				contact_over(card)
			:: else
			fi
		:: else
		fi
	fi
}

inline receive(card, which)
{
	hello_incarnation = wire[which].incarnation;
	hello_conn = wire[which].own;
	if
	:: wire[which].kind == HELLO -> handshake_received(card)
	:: wire[which].kind == RESET ->
		conn = CONN(card);
		if
		:: IS_UP(conn) && conns[conn].peer == wire[which].conn ->
			if
			:: conns[conn].state == PARKING -> contact_over(card)
			:: else ->
				conns[conn].state = ENDING;
				conns[conn].why = 1
			fi
		:: else
		fi
	:: else ->
		conn = CONN(card);
		conn = (conns[conn].id == wire[which].conn -> conn : conn + 1);
		if
		:: conns[conn].id == wire[which].conn ->
			if
			:: wire[which].kind == HELLO_ACK ->
				handshake_answered(
					card, wire[which].peer_incarnation)
			:: wire[which].kind == REFUSE ->
				if
				:: conns[conn].state == CALLING ->
					contact_lose(card)
				:: else
				fi
			:: else -> dispatch(card, which)
			fi
		:: conns[conn].id != wire[which].conn &&
		   (wire[which].kind == PING || wire[which].kind == DATA ||
		    wire[which].kind == PARK) ->
			transmit(card, RESET, wire[which].conn, 0, 0)
		:: else
		fi
	fi
}

/* A card that does not call forgets an answered HELLO that is not proved. */
inline expire(card)
{
	if
	:: conns[CANDIDATE(card)].awaits_proof -> conn_free(CANDIDATE(card))
	:: else
	fi;
	if
	:: conns[CONN(card)].awaits_proof && node[card] != CONNECTING ->
		conn_free(CONN(card))
	:: else -> conns[CONN(card)].awaits_proof = 0
	fi;
	called = 0
}

inline ping(card)
{
	if
	:: conns[CONN(card)].state == UP ->
		transmit(card, PING, conns[CONN(card)].peer,
			 conns[CONN(card)].id, conns[CONN(card)].incarnation)
	:: else
	fi
}

inline park(card)
{
	if
	:: conns[CONN(card)].state == PARKING ->
		transmit(card, PARK, conns[CONN(card)].peer,
			 conns[CONN(card)].id, conns[CONN(card)].incarnation)
	:: else
	fi
}

/* ---- steps of the cards, the programs and the link ---- */

#define ANY_ENDING (conns[0].state == ENDING || conns[2].state == ENDING)
#define ANY_CONNECTING (node[0] == CONNECTING || node[1] == CONNECTING)
#define PING_DUE(card) (conns[CONN(card)].state == UP && !AGREED && !ANY_ENDING)
#define PARK_DUE(card) (conns[CONN(card)].state == PARKING && !ANY_ENDING && \
			!ANY_CONNECTING)
#define FRAME_DUE (PING_DUE(0) || PING_DUE(1) || PARK_DUE(0) || PARK_DUE(1))
#define PROOF_AWAITED (conns[0].awaits_proof || conns[1].awaits_proof || \
		       conns[2].awaits_proof || conns[3].awaits_proof)
/* Repeated frames are faster than the time-outs of connections. */
#define IDLE (faults_over && QUIET && !FRAME_DUE)
#define TIME_PASSES (IDLE || (!faults_over && early < EARLY))
#define COUNT_EARLY early = early + (!faults_over && EARLY < 255)

active [2] proctype card()
{
end:	do
	:: d_step { /* bcl_nic_hello_call() */
		QUIET && node[_pid] == CONNECTING && !ANY_ENDING &&
		(!called || !PROOF_AWAITED) ->
		called = 1;
		transmit(_pid, HELLO, 0, conns[CONN(_pid)].id, 0)
	   }
	:: d_step { /* probe(), check_rail(): an address may have changed */
		conns[CONN(_pid)].state == UP && probes < PROBES ->
		probes++;
		transmit(_pid, HELLO, 0, conns[CONN(_pid)].id, 0)
	   }
	:: d_step { /* call_again() */
		QUIET && conns[CONN(_pid)].state == PARKING && !faults_over ->
		park(_pid)
	   }
	/* expire(), bcl_nic_contact_ended() */
	:: d_step {
		TIME_PASSES && conns[CONN(_pid)].state == ENDING ->
		COUNT_EARLY;
		contact_lose(_pid)
	   }
	:: d_step {
		!faults_over && early < EARLY &&
		(conns[CONN(_pid)].awaits_proof ||
		 conns[CANDIDATE(_pid)].awaits_proof) ->
		COUNT_EARLY;
		expire(_pid)
	   }
	:: d_step { /* no answer in peer_timeout */
		early < EARLY && node[_pid] == CONNECTING && !faults_over &&
		crashes < CRASHES ->
		COUNT_EARLY;
		contact_lose(_pid)
	   }
	/* frames */
	:: d_step {
		wire[WIRE * (1 - _pid)].kind != 0 ->
		receive(_pid, WIRE * (1 - _pid));
		remove_frame(WIRE * (1 - _pid))
	   }
	:: d_step {
		wire[WIRE * (1 - _pid) + 1].kind != 0 ->
		receive(_pid, WIRE * (1 - _pid) + 1);
		remove_frame(WIRE * (1 - _pid) + 1)
	   }
	:: d_step {
		wire[WIRE * (1 - _pid)].kind != 0 && duplicates < DUPLICATES ->
		duplicates++;
		receive(_pid, WIRE * (1 - _pid))
	   }
	:: d_step {
		conns[CONN(_pid)].state == UP && sent[_pid] < SENT &&
		WIRE_HAS_ROOM(_pid) ->
		sent[_pid]++;
		transmit(_pid, DATA, conns[CONN(_pid)].peer,
			 conns[CONN(_pid)].id, conns[CONN(_pid)].incarnation)
	   }
	/* faults */
	:: d_step { /* the card crashes, and comes back */
		!faults_over && crashes < CRASHES ->
		crashes++;
		incarnation[_pid]++;
		conn_free(CANDIDATE(_pid));
		conn_free(CONN(_pid));
		node[_pid] = CLOSED
	   }
	:: d_step { /* DISCONNECT */
		!faults_over && partings < PARTINGS &&
		conns[CONN(_pid)].state == UP ->
		partings++;
		transmit(_pid, BYE, conns[CONN(_pid)].peer,
			 conns[CONN(_pid)].id, conns[CONN(_pid)].incarnation);
		conn_free(CANDIDATE(_pid));
		conn_free(CONN(_pid));
		node[_pid] = CLOSED
	   }
	:: d_step { /* bcl_nic_conn_evict() */
		!faults_over && partings < PARTINGS &&
		conns[CONN(_pid)].state == UP ->
		partings++;
		conns[CONN(_pid)].state = PARKING
	   }
	:: d_step { /* ISOLATE */
		!faults_over && isolations < ISOLATIONS ->
		isolations++;
		conn_free(CANDIDATE(_pid));
		conn_free(CONN(_pid));
		node[_pid] = ISOLATED
	   }
	od
}

/* Half of the ids are left for the time after an isolated card has rejoined. */
#define IDS_LEFT(me) (node[1 - me] != ISOLATED || ids[me] <= IDS / 2)

/* The programs want connections: bcl_nic_contact_call(), nic_contact_want() */
active [2] proctype program()
{
	byte me = _pid - 2;
end:	do
	:: d_step {
		(node[me] == CLOSED || node[me] == LOST) &&
		!IS_UP(CONN(me)) &&
		(conns[CONN(me)].state != NONE || HAS_PLACE(me)) &&
		IDS_LEFT(me) ->
		if
		:: conns[CONN(me)].state == NONE -> conn_make(CONN(me))
		:: else
		fi;
		node[me] = CONNECTING;
		transmit(me, HELLO, 0, conns[CONN(me)].id, 0)
	   }
	:: d_step { /* the peer has connected meanwhile */
		(node[me] == LOST || node[me] == CLOSED) &&
		conns[CONN(me)].state == UP -> node[me] = UP
	   }
	:: d_step { node[me] == ISOLATED -> node[me] = CLOSED } /* REJOIN */
	od
}

active proctype link_faults()
{
end:	do
	:: d_step { wire[0].kind != 0 && faults < FAULTS ->
		faults = faults + (FAULTS < 255); remove_frame(0) }
	:: d_step { wire[1].kind != 0 && faults < FAULTS ->
		faults = faults + (FAULTS < 255); remove_frame(1) }
	:: d_step { wire[WIRE].kind != 0 && faults < FAULTS ->
		faults = faults + (FAULTS < 255); remove_frame(WIRE) }
	:: d_step { wire[WIRE + 1].kind != 0 && faults < FAULTS ->
		faults = faults + (FAULTS < 255); remove_frame(WIRE + 1) }
	od
}

active proctype timers()
{
end:	do
	:: d_step {
		QUIET && FRAME_DUE ->
		ping(0);
		ping(1);
		park(0);
		park(1)
	   }
	:: d_step {
		IDLE && !ANY_ENDING && PROOF_AWAITED ->
		expire(0);
		expire(1)
	   }
	od
}

active proctype user()
{
	faults_over = 1;
end:	AGREED
}

ltl agree { <> [] AGREED }
