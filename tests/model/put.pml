/* SPDX-License-Identifier: MIT */
/*
 * Windows of schedules, and the messages that are put into them (adi/put.c,
 * adi/schedule.c, collectives/schedule.c, nicfw/destination.c). In each
 * operation one member, the owner, opens a window and grants the window to the
 * other members, which put their pieces there. The owner waits for the pieces
 * of a member one after another, and then closes the window. Operations run one
 * after another, or several at a time; their tags repeat. Names are the code's.
 *
 * Each flow has one card at either end and a few frames in flight, which are
 * lost, repeated and reordered. The sender learns of a verdict at any time. The
 * card puts an early piece in place at once, but reports the piece in its turn.
 * A piece without a block is refused, and sent again. One member may die: each
 * other member hears of the death at any later time, and goes on without the
 * dead member in another team.
 *
 * Bounds: the sizes below. MORTAL is a sender, or SENDERS for the owner.
 *
 *  - each piece is received once, when it is in place, in the window of its
 *    operation
 *  - nothing is written to a piece that was received, nor to a closed window
 *  - a put fails, and a late piece is dropped, only if the team is lost
 *  - all operations end
 */
#ifndef SENDERS
#define SENDERS 1
#endif
#ifndef OPERATIONS
#define OPERATIONS 3
#endif
#ifndef PIECES
#define PIECES 2 /* of each sender in an operation; at most 8 in all */
#endif
#ifndef RUNNING
#define RUNNING 1 /* operations of a member at a time */
#endif
#ifndef BLOCKS
#define BLOCKS 2 /* in the system ring of the owner's port */
#endif
#ifndef LOSSES
#define LOSSES 1 /* of frames */
#endif
#ifndef DUPLICATES
#define DUPLICATES 1
#endif
#ifndef MORTAL
#define MORTAL 9 /* no member */
#endif
#ifndef FIRST_TEAM
/* Operations of the first team. The next team is without MORTAL. */
#define FIRST_TEAM OPERATIONS
#endif
#define TAGS 2	  /* sequence_mask + 1 */
#define FLIGHTS 2 /* of a flow */
#define WINDOWS RUNNING
#define NUMBERS (OPERATIONS * PIECES)
#define FLOWS (2 * SENDERS) /* puts of each sender, grants to each sender */
#define OWNER SENDERS	    /* the member that opens windows */
#define MEMBERS (SENDERS + 1)
#define KEYS (2 * TAGS)

#define BIT(word, n) (((word) >> (n)) & 1)
#define TEAM(o) ((o) >= FIRST_TEAM)
#define TAKES_PART(m, o) (!TEAM(o) || (m) != MORTAL)
#define KEY(o) (TEAM(o) * TAGS + (o) % TAGS) /* context and tag */
#define SLOT(handle) ((handle) % WINDOWS)

/* ---- cards; flow f ---- */

byte queued[FLOWS];    /* messages that were submitted */
byte sent[FLOWS];      /* of the queued messages */
byte in_flight[FLOWS]; /* frames, a bit each */
byte early[FLOWS];     /* messages in place, but early, a bit each */
byte delivered[FLOWS]; /* messages that are delivered or failed */
byte done[FLOWS];      /* verdicts that the sender knows */
byte losses, duplicates;
byte blocks;		   /* in use */
bit disconnected[SENDERS]; /* the cards of a sender and of the owner */
/* by number: the piece and the handle of a put */
byte put_piece[SENDERS * NUMBERS], put_handle[SENDERS * NUMBERS];
/* by number: the operation and the handle of a grant */
byte grant_operation[SENDERS * OPERATIONS], grant_handle[SENDERS * OPERATIONS];

/* ---- the owner of the windows ---- */

byte memories[WINDOWS]; /* the present handle of each slot; 0: free */
byte generations[WINDOWS], window[WINDOWS]; /* window: the operation */
chan ring = [BLOCKS] of { byte, byte };	    /* notifications: sender, handle */
chan receives[SENDERS * KEYS] = [RUNNING] of { byte };
byte unexpected[SENDERS * KEYS]; /* notifications */
byte placed[SENDERS], received[SENDERS]; /* pieces, a bit each */

/* ---- members ---- */

chan grant_receives[SENDERS * KEYS] = [RUNNING] of { byte };
chan grant_unexpected[SENDERS * KEYS] = [OPERATIONS] of { byte };
byte granted[SENDERS * OPERATIONS]; /* handle */
byte put_sent[SENDERS]; /* pieces with BCL_EVENT_SENT, a bit each */
byte running[MEMBERS];	/* operations, a bit each */
byte begun[MEMBERS];
byte ended;	   /* operations of all members */
bit lost[MEMBERS]; /* the first team is lost, as the member knows */
bit dead;	   /* MORTAL is dead */

hidden byte i, p, q, s;

#define IS_DEAD(m) (dead && (m) == MORTAL)
#define COUNT(word) \
	(BIT(word, 0) + BIT(word, 1) + BIT(word, 2) + BIT(word, 3) + \
	 BIT(word, 4) + BIT(word, 5) + BIT(word, 6) + BIT(word, 7))

/* ---- receives ---- */

inline request_complete(m, piece)
{
	assert(BIT(placed[m], piece) && !BIT(received[m], piece));
	received[m] = received[m] | (1 << piece)
}

/* BCL_STEP_RECEIVE */
inline schedule_receive(m, o, piece)
{
	q = m * KEYS + KEY(o);
	if
	:: unexpected[q] ->
		unexpected[q]--;
		request_complete(m, piece)
	:: else -> receives[q]!piece
	fi
}

/* bcl_adi_put_arrived() */
inline put_arrived(m, handle)
{
	if
	:: memories[SLOT(handle)] != handle -> assert(lost[OWNER])
	:: else ->
		q = m * KEYS + KEY(window[SLOT(handle)]);
		if
		:: len(receives[q]) ->
			receives[q]?p;
			request_complete(m, p)
		:: else -> unexpected[q]++
		fi
	fi
}

/* ---- the receiving card ---- */

/* open_put() looks for the window of the handle and for a block. */
#define HANDLE(n) put_handle[f * NUMBERS + (n)]
#define PIECE(n) put_piece[f * NUMBERS + (n)]
#define IS_OPEN(n) (memories[SLOT(HANDLE(n))] == HANDLE(n))
#define HAS_BLOCK(n) (blocks + ((n) != delivered[f]) < BLOCKS)

inline deliver_put()
{
	ring!f, HANDLE(delivered[f]);
	delivered[f]++
}

inline receive_put(n)
{
	if
	:: !IS_OPEN(n) && n == delivered[f] -> /* BCL_VERDICT_MEMORY */
		assert(lost[OWNER]);
		delivered[f]++
	:: IS_OPEN(n) && HAS_BLOCK(n) ->
		blocks++;
		assert(window[SLOT(HANDLE(n))] == PIECE(n) / PIECES);
		assert(!BIT(received[f], PIECE(n)));
		placed[f] = placed[f] | (1 << PIECE(n));
		early[f] = early[f] | (1 << n)
	:: else /* refused, as if the frame had not arrived */
	fi;
	/* give_verdicts() */
	do
	:: BIT(early[f], delivered[f]) ->
		early[f] = early[f] & ~(1 << delivered[f]);
		deliver_put()
	:: else -> break
	od
}

#define GRANT_OPERATION(n) grant_operation[s * OPERATIONS + (n)]
#define GRANT_HANDLE(n) grant_handle[s * OPERATIONS + (n)]

inline deliver_grant()
{
	s = f - SENDERS;
	q = s * KEYS + KEY(GRANT_OPERATION(delivered[f]));
	if
	:: len(grant_receives[q]) ->
		grant_receives[q]?p;
		granted[s * OPERATIONS + p] = GRANT_HANDLE(delivered[f])
	:: else -> grant_unexpected[q]!GRANT_HANDLE(delivered[f])
	fi;
	delivered[f]++
}

inline receive_grant(n)
{
	early[f] = early[f] | (1 << n);
	do
	:: BIT(early[f], delivered[f]) ->
		early[f] = early[f] & ~(1 << delivered[f]);
		deliver_grant()
	:: else -> break
	od
}

/* ---- a flow: the sender's card, the link, the receiver's card ---- */

#define FROM (f < SENDERS -> f : OWNER)
#define TO (f < SENDERS -> OWNER : f - SENDERS)
#define DISCONNECTED disconnected[f % SENDERS]
#define IS_LOST(n) \
	((n) < sent[f] && (n) >= delivered[f] && !BIT(in_flight[f], n) && \
	 !BIT(early[f], n))
/* ROOM tells the card of the sender when there is room. */
#define MAY_RETRANSMIT(n) (f >= SENDERS || !IS_OPEN(n) || HAS_BLOCK(n))

/* Any bit that is set. */
inline pick_bit(word)
{
	n = 0;
	do
	:: BIT(word, n) -> break
	:: (word) >> (n + 1) -> n++
	od
}

proctype flow(byte f)
{
	byte n;
end:	do
	:: atomic { !DISCONNECTED && !IS_DEAD(FROM) && sent[f] < queued[f] &&
		    sent[f] < done[f] + FLIGHTS ->
		in_flight[f] = in_flight[f] | (1 << sent[f]);
		sent[f]++
	   }
	/* a time-out */
	:: atomic { !DISCONNECTED && !IS_DEAD(FROM) && IS_LOST(delivered[f]) &&
		    MAY_RETRANSMIT(delivered[f]) ->
		in_flight[f] = in_flight[f] | (1 << delivered[f])
	   }
	:: atomic { !DISCONNECTED && !IS_DEAD(FROM) &&
		    IS_LOST(delivered[f] + 1) &&
		    MAY_RETRANSMIT(delivered[f] + 1) ->
		in_flight[f] = in_flight[f] | (1 << (delivered[f] + 1))
	   }
	/* an early time-out, or the verdict was lost */
	:: atomic { !DISCONNECTED && !IS_DEAD(FROM) &&
		    duplicates < DUPLICATES &&
		    done[f] < sent[f] && !BIT(in_flight[f], done[f]) &&
		    !IS_LOST(done[f]) ->
		in_flight[f] = in_flight[f] | (1 << done[f]);
		duplicates++
	   }
	/* a frame arrives; a duplicate of the frame may stay in flight */
	:: atomic { in_flight[f] ->
		pick_bit(in_flight[f]);
		if
		:: in_flight[f] = in_flight[f] & ~(1 << n)
		:: duplicates < DUPLICATES -> duplicates++
		fi;
		if
		:: DISCONNECTED || IS_DEAD(TO) || n < delivered[f] ||
		   BIT(early[f], n)
		:: else ->
			if
			:: f < SENDERS -> receive_put(n)
			:: else -> receive_grant(n)
			fi
		fi;
		n = 0
	   }
	:: atomic { in_flight[f] && losses < LOSSES ->
		losses++;
		pick_bit(in_flight[f]);
		in_flight[f] = in_flight[f] & ~(1 << n);
		n = 0
	   }
	/* a verdict */
	:: atomic { !IS_DEAD(FROM) && done[f] < delivered[f] ->
		if
		:: f < SENDERS ->
			put_sent[f] = put_sent[f] | (1 << PIECE(done[f]))
		:: else
		fi;
		done[f]++
	   }
	od
}

/* ---- operations of the owner ---- */

/* The owner polls its port. */
proctype poll()
{
	byte from, handle;
end:	do
	:: atomic { !IS_DEAD(OWNER) && nempty(ring) ->
		ring?from, handle;
		blocks--;
		put_arrived(from, handle);
		from = 0;
		handle = 0
	   }
	od
}

#define HAS_ENDED(m, o) (begun[m] > (o) && !BIT(running[m], o))
#define SAME_TAG(o) ((o) >= TAGS && BIT(running[m], ((o) + 8 - TAGS) % 8))
/* bcl_schedule_get(). A program uses the teams one after the other. */
#define MAY_BEGIN(o) \
	(begun[m] == (o) && COUNT(running[m]) < RUNNING && !SAME_TAG(o) && \
	 (!TEAM(o) || o != FIRST_TEAM || !running[m]))
#define STOPS(o) (IS_DEAD(m) || (lost[m] && !TEAM(o)))

inline schedule_get(o)
{
	begun[m] = o + 1;
	if
	:: STOPS(o) || !TAKES_PART(m, o) ->
		ended++;
		goto out
	:: else -> running[m] = running[m] | (1 << o)
	fi
}

inline finish_schedule(o)
{
	running[m] = running[m] & ~(1 << o);
	ended++
}

/* BCL_STEP_WINDOW, BCL_STEP_GRANT and, for each sender, the first
 * BCL_STEP_RECEIVE */
inline open_window(o)
{
	slot = 0;
	do
	:: memories[slot] -> slot++
	:: else -> break
	od;
	generations[slot]++;
	memories[slot] = generations[slot] * WINDOWS + slot;
	window[slot] = o;
	i = 0;
	do
	:: i < SENDERS ->
		if
		:: TAKES_PART(i, o) ->
			s = i * OPERATIONS + queued[SENDERS + i];
			grant_operation[s] = o;
			grant_handle[s] = memories[slot];
			queued[SENDERS + i]++;
			schedule_receive(i, o, o * PIECES)
		:: else
		fi;
		i++
	:: else -> break
	od
}

#define HAS_ARRIVED(sender, o) \
	(!TAKES_PART(sender, o) || BIT(received[sender], (o) * PIECES + k))
#define ALL_ARRIVED(o) (HAS_ARRIVED(0, o) && HAS_ARRIVED(SENDERS - 1, o))

proctype owner(byte o)
{
	byte m = OWNER, slot, k;
	atomic { MAY_BEGIN(o) || IS_DEAD(m) ->
		schedule_get(o);
		open_window(o)
	};
	do
	:: atomic { k < PIECES && ALL_ARRIVED(o) && !STOPS(o) ->
		k++;
		i = 0;
		do
		:: i < SENDERS && k < PIECES ->
			if
			:: TAKES_PART(i, o) ->
				schedule_receive(i, o, o * PIECES + k)
			:: else
			fi;
			i++
		:: else -> break
		od
	   }
	:: atomic { k == PIECES || STOPS(o) ->
		memories[slot] = 0;
		finish_schedule(o);
		break
	   }
	od;
out:	skip
}

/* ---- operations of the senders ---- */

#define ALL_PUT_SENT(o) \
	(((put_sent[m] >> ((o) * PIECES)) & ((1 << k) - 1)) == (1 << k) - 1)

proctype sender(byte m; byte o)
{
	byte k;
	atomic { MAY_BEGIN(o) || IS_DEAD(m) ->
		schedule_get(o);
		/* BCL_STEP_GRANTED */
		q = m * KEYS + KEY(o);
		if
		:: len(grant_unexpected[q]) ->
			grant_unexpected[q]?granted[m * OPERATIONS + o]
		:: else -> grant_receives[q]!o
		fi
	};
	do
	:: atomic { k < PIECES && granted[m * OPERATIONS + o] && !STOPS(o) ->
		put_piece[m * NUMBERS + queued[m]] = o * PIECES + k;
		put_handle[m * NUMBERS + queued[m]] =
			granted[m * OPERATIONS + o];
		queued[m]++;
		k++
	   }
	/* a put that has begun cannot be taken back */
	:: atomic { (k == PIECES || STOPS(o)) &&
		    (IS_DEAD(m) || disconnected[m] || ALL_PUT_SENT(o)) ->
		finish_schedule(o);
		break
	   }
	od;
out:	skip
}

/* ---- death ---- */

proctype crash()
{
	if
	:: dead = 1
	:: skip
	fi
}

/* The card of the member, or another member, reports the death. */
proctype lose_team(byte m)
{
end:	dead -> lost[m] = 1
}

/* The connection ends: the owner's card frees the blocks of early puts. */
proctype disconnect(byte m)
{
end:	atomic { dead ->
		disconnected[m] = 1;
		blocks = blocks - COUNT(early[m]);
		early[m] = 0
	}
}

#define ALL_ENDED (ended == OPERATIONS * MEMBERS)

proctype user()
{
	atomic { ALL_ENDED ->
		i = 0;
		do
		:: i < SENDERS * KEYS ->
			assert(!unexpected[i] || dead);
			i++
		:: else -> break
		od
	}
}

init {
	byte m, o;
	atomic {
		do
		:: m < MEMBERS ->
			o = 0;
			do
			:: o < OPERATIONS ->
				if
				:: m == OWNER -> run owner(o)
				:: else -> run sender(m, o)
				fi;
				o++
			:: else -> break
			od;
			if
			:: m < SENDERS ->
				run flow(m);
				run flow(SENDERS + m)
			:: else
			fi;
			if
			:: MORTAL < MEMBERS && m != MORTAL -> run lose_team(m)
			:: else
			fi;
			if
			:: m < SENDERS && (MORTAL == m || MORTAL == OWNER) ->
				run disconnect(m)
			:: else
			fi;
			m++
		:: else -> break
		od;
		m = 0;
		o = 0;
		run poll();
		run user();
		if
		:: MORTAL < MEMBERS -> run crash()
		:: else
		fi
	}
}

ltl all_end { <> ALL_ENDED }
