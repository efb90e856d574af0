/* SPDX-License-Identifier: MIT */
/*
 * Windows and grants (collectives/schedule.c, adi/put.c, adi/schedule.c,
 * nicfw/destination.c): in each operation one member opens a window and grants
 * it to the others, which put their pieces there. It waits for the pieces of a
 * member one after the other, and closes. Operations follow each other, or are
 * under way at the same time; their tags repeat. Names are the code's.
 *
 * Each flow has one card at either end, a few frames in flight, which are lost,
 * repeated and reordered, and a verdict that comes at any time. What comes early
 * is put in place at once, and told in its turn; for what finds no block it is
 * too early, and it comes again. One member may die: the others hear of it at
 * any time after, and go on without it in another team.
 *
 * Bounds: the sizes below. MORTAL is a sender, or SENDERS: who opens windows.
 *
 *  - each piece is received once, when it is in place, in its own window
 *  - nothing is written to a piece that was received, nor behind its window
 *  - a put fails, and what comes is dropped, only if the team is lost
 *  - all operations end
 */
#ifndef SENDERS
#define SENDERS 1
#endif
#ifndef OPERATIONS
#define OPERATIONS 3
#endif
#ifndef PIECES
#define PIECES 2 /* of each sender in an operation; 8 altogether at most */
#endif
#ifndef RUNNING
#define RUNNING 1 /* operations of a member at a time */
#endif
#ifndef BLOCKS
#define BLOCKS 2 /* of the ring of who opens windows */
#endif
#ifndef LOSSES
#define LOSSES 1 /* of frames */
#endif
#ifndef DUPLICATES
#define DUPLICATES 1
#endif
#ifndef MORTAL
#define MORTAL 9 /* nobody */
#endif
#ifndef FIRST_TEAM
#define FIRST_TEAM OPERATIONS /* its operations; the others are without MORTAL */
#endif
#define TAGS 2	  /* sequence_mask + 1 */
#define FLIGHTS 2 /* of a flow */
#define WINDOWS RUNNING
#define NUMBERS (OPERATIONS * PIECES)
#define FLOWS (2 * SENDERS) /* puts of each sender, grants to each */
#define OWNER SENDERS	    /* who opens windows, among members */
#define MEMBERS (SENDERS + 1)
#define KEYS (2 * TAGS)

#define BIT(word, n) (((word) >> (n)) & 1)
#define TEAM(o) ((o) >= FIRST_TEAM)
#define TAKES_PART(m, o) (!TEAM(o) || (m) != MORTAL)
#define KEY(o) (TEAM(o) * TAGS + (o) % TAGS) /* context and tag */
#define SLOT(handle) ((handle) % WINDOWS)

/* ---- cards; flow f ---- */

byte queued[FLOWS];    /* messages that were submitted */
byte sent[FLOWS];      /* of these */
byte net[FLOWS];       /* frames in flight, a bit each */
byte held[FLOWS];      /* in place, but early */
byte delivered[FLOWS]; /* or failed */
byte done[FLOWS];      /* verdicts that the sender knows */
byte losses, duplicates;
byte blocks;	      /* in use */
bit parted[SENDERS]; /* the cards of a sender and of the owner */
byte put_piece[SENDERS * NUMBERS], put_window[SENDERS * NUMBERS]; /* by number */
/* by number: in which operation */
byte grant[SENDERS * OPERATIONS], grant_window[SENDERS * OPERATIONS];

/* ---- the owner of windows ---- */

byte memories[WINDOWS]; /* the handle that each slot has now; 0: free */
byte generations[WINDOWS], window[WINDOWS]; /* window: of which operation */
chan ring = [BLOCKS] of { byte, byte };	    /* notifications: from, handle */
chan receives[SENDERS * KEYS] = [RUNNING] of { byte };
byte kept[SENDERS * KEYS];
byte placed[SENDERS], received[SENDERS]; /* pieces, a bit each */

/* ---- members ---- */

chan granted_receives[SENDERS * KEYS] = [RUNNING] of { byte };
chan granted_kept[SENDERS * KEYS] = [OPERATIONS] of { byte };
byte granted[SENDERS * OPERATIONS]; /* handle */
byte put_over[SENDERS];		    /* pieces: BCL_EVENT_SENT has come */
byte running[MEMBERS];		    /* operations, a bit each */
byte begun[MEMBERS];
byte over;
bit lost[MEMBERS]; /* the first team */
bit dead;	   /* MORTAL is */

hidden byte i, p, q, s;

#define IS_DEAD(m) (dead && (m) == MORTAL)
#define COUNT(word) \
	(BIT(word, 0) + BIT(word, 1) + BIT(word, 2) + BIT(word, 3) + \
	 BIT(word, 4) + BIT(word, 5) + BIT(word, 6) + BIT(word, 7))

/* ---- receives ---- */

inline complete(m, piece)
{
	assert(BIT(placed[m], piece) && !BIT(received[m], piece));
	received[m] = received[m] | (1 << piece)
}

/* RECEIVE */
inline receive(m, o, piece)
{
	q = m * KEYS + KEY(o);
	if
	:: kept[q] ->
		kept[q]--;
		complete(m, piece)
	:: else -> receives[q]!piece
	fi
}

/* bcl_adi_put_arrived() */
inline notified(m, handle)
{
	if
	:: memories[SLOT(handle)] != handle -> assert(lost[OWNER])
	:: else ->
		q = m * KEYS + KEY(window[SLOT(handle)]);
		if
		:: len(receives[q]) ->
			receives[q]?p;
			complete(m, p)
		:: else -> kept[q]++
		fi
	fi
}

/* ---- the receiving card ---- */

/* The place of a put: is the window there, and a block? */
#define HANDLE(n) put_window[f * NUMBERS + (n)]
#define PIECE(n) put_piece[f * NUMBERS + (n)]
#define IS_OPEN(n) (memories[SLOT(HANDLE(n))] == HANDLE(n))
#define HAS_BLOCK(n) (blocks + ((n) != delivered[f]) < BLOCKS)

inline deliver_put()
{
	ring!f, HANDLE(delivered[f]);
	delivered[f]++
}

inline take_put(n)
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
		held[f] = held[f] | (1 << n)
	:: else /* refused: as if it had not come */
	fi;
	/* give_verdicts() */
	do
	:: BIT(held[f], delivered[f]) ->
		held[f] = held[f] & ~(1 << delivered[f]);
		deliver_put()
	:: else -> break
	od
}

#define GRANT(n) grant[s * OPERATIONS + (n)]
#define GRANTED(n) grant_window[s * OPERATIONS + (n)]

inline deliver_grant()
{
	s = f - SENDERS;
	q = s * KEYS + KEY(GRANT(delivered[f]));
	if
	:: len(granted_receives[q]) ->
		granted_receives[q]?p;
		granted[s * OPERATIONS + p] = GRANTED(delivered[f])
	:: else -> granted_kept[q]!GRANTED(delivered[f])
	fi;
	delivered[f]++
}

inline take_grant(n)
{
	held[f] = held[f] | (1 << n);
	do
	:: BIT(held[f], delivered[f]) ->
		held[f] = held[f] & ~(1 << delivered[f]);
		deliver_grant()
	:: else -> break
	od
}

/* ---- a flow: its sender's card, the link, the other card ---- */

#define FROM (f < SENDERS -> f : OWNER)
#define TO (f < SENDERS -> OWNER : f - SENDERS)
#define PARTED parted[f % SENDERS]
#define IS_LOST(n) \
	((n) < sent[f] && (n) >= delivered[f] && !BIT(net[f], n) && \
	 !BIT(held[f], n))
/* It comes again when there is room: the card is told so. */
#define MAY_COME(n) (f >= SENDERS || !IS_OPEN(n) || HAS_BLOCK(n))

/* A bit that is set, any. */
inline pick(word)
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
	:: atomic { !PARTED && !IS_DEAD(FROM) && sent[f] < queued[f] &&
		    sent[f] < done[f] + FLIGHTS ->
		net[f] = net[f] | (1 << sent[f]);
		sent[f]++
	   }
	/* a time-out */
	:: atomic { !PARTED && !IS_DEAD(FROM) && IS_LOST(delivered[f]) &&
		    MAY_COME(delivered[f]) ->
		net[f] = net[f] | (1 << delivered[f])
	   }
	:: atomic { !PARTED && !IS_DEAD(FROM) && IS_LOST(delivered[f] + 1) &&
		    MAY_COME(delivered[f] + 1) ->
		net[f] = net[f] | (1 << (delivered[f] + 1))
	   }
	/* early, or the verdict was lost */
	:: atomic { !PARTED && !IS_DEAD(FROM) && duplicates < DUPLICATES &&
		    done[f] < sent[f] && !BIT(net[f], done[f]) &&
		    !IS_LOST(done[f]) ->
		net[f] = net[f] | (1 << done[f]);
		duplicates++
	   }
	/* a frame arrives, once or for the first time, or does not */
	:: atomic { net[f] ->
		pick(net[f]);
		if
		:: net[f] = net[f] & ~(1 << n)
		:: duplicates < DUPLICATES -> duplicates++
		fi;
		if
		:: PARTED || IS_DEAD(TO) || n < delivered[f] ||
		   BIT(held[f], n)
		:: else ->
			if
			:: f < SENDERS -> take_put(n)
			:: else -> take_grant(n)
			fi
		fi;
		n = 0
	   }
	:: atomic { net[f] && losses < LOSSES ->
		losses++;
		pick(net[f]);
		net[f] = net[f] & ~(1 << n);
		n = 0
	   }
	/* a verdict */
	:: atomic { !IS_DEAD(FROM) && done[f] < delivered[f] ->
		if
		:: f < SENDERS -> put_over[f] = put_over[f] | (1 << PIECE(done[f]))
		:: else
		fi;
		done[f]++
	   }
	od
}

/* ---- who opens windows ---- */

/* The owner's port is polled. */
proctype turn()
{
	byte from, handle;
end:	do
	:: atomic { !IS_DEAD(OWNER) && nempty(ring) ->
		ring?from, handle;
		blocks--;
		notified(from, handle);
		from = 0;
		handle = 0
	   }
	od
}

#define IS_OVER(m, o) (begun[m] > (o) && !BIT(running[m], o))
#define SAME_TAG(o) ((o) >= TAGS && BIT(running[m], ((o) + 8 - TAGS) % 8))
/* bcl_schedule_get(); teams are used one after the other */
#define MAY_BEGIN(o) \
	(begun[m] == (o) && COUNT(running[m]) < RUNNING && !SAME_TAG(o) && \
	 (!TEAM(o) || o != FIRST_TEAM || !running[m]))
#define STOPS(o) (IS_DEAD(m) || (lost[m] && !TEAM(o)))

inline begin(o)
{
	begun[m] = o + 1;
	if
	:: STOPS(o) || !TAKES_PART(m, o) ->
		over++;
		goto ended
	:: else -> running[m] = running[m] | (1 << o)
	fi
}

inline finish(o)
{
	running[m] = running[m] & ~(1 << o);
	over++
}

/* WINDOW, GRANT, and the first RECEIVE of each sender */
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
			grant[s] = o;
			grant_window[s] = memories[slot];
			queued[SENDERS + i]++;
			receive(i, o, o * PIECES)
		:: else
		fi;
		i++
	:: else -> break
	od
}

#define HAS_COME(sender, o) \
	(!TAKES_PART(sender, o) || BIT(received[sender], (o) * PIECES + k))
#define ALL_COME(o) (HAS_COME(0, o) && HAS_COME(SENDERS - 1, o))

proctype owner(byte o)
{
	byte m = OWNER, slot, k;
	atomic { MAY_BEGIN(o) || IS_DEAD(m) ->
		begin(o);
		open_window(o)
	};
	do
	:: atomic { k < PIECES && ALL_COME(o) && !STOPS(o) ->
		k++;
		i = 0;
		do
		:: i < SENDERS && k < PIECES ->
			if
			:: TAKES_PART(i, o) -> receive(i, o, o * PIECES + k)
			:: else
			fi;
			i++
		:: else -> break
		od
	   }
	:: atomic { k == PIECES || STOPS(o) ->
		memories[slot] = 0;
		finish(o);
		break
	   }
	od;
ended:	skip
}

/* ---- who puts ---- */

#define ARE_OVER(o) \
	(((put_over[m] >> ((o) * PIECES)) & ((1 << k) - 1)) == (1 << k) - 1)

proctype sender(byte m; byte o)
{
	byte k;
	atomic { MAY_BEGIN(o) || IS_DEAD(m) ->
		begin(o);
		/* GRANTED */
		q = m * KEYS + KEY(o);
		if
		:: len(granted_kept[q]) ->
			granted_kept[q]?granted[m * OPERATIONS + o]
		:: else -> granted_receives[q]!o
		fi
	};
	do
	:: atomic { k < PIECES && granted[m * OPERATIONS + o] && !STOPS(o) ->
		put_piece[m * NUMBERS + queued[m]] = o * PIECES + k;
		put_window[m * NUMBERS + queued[m]] = granted[m * OPERATIONS + o];
		queued[m]++;
		k++
	   }
	/* what is on its way cannot be taken back */
	:: atomic { (k == PIECES || STOPS(o)) &&
		    (IS_DEAD(m) || parted[m] || ARE_OVER(o)) ->
		finish(o);
		break
	   }
	od;
ended:	skip
}

/* ---- death ---- */

proctype fate()
{
	if
	:: dead = 1
	:: skip
	fi
}

/* Its card says so, or another member. */
proctype news(byte m)
{
end:	dead -> lost[m] = 1
}

/* The cards part: the owner's gives back what waits for the dead. */
proctype part(byte m)
{
end:	atomic { dead ->
		parted[m] = 1;
		blocks = blocks - COUNT(held[m]);
		held[m] = 0
	}
}

#define ALL_OVER (over == OPERATIONS * MEMBERS)

proctype user()
{
	atomic { ALL_OVER ->
		i = 0;
		do
		:: i < SENDERS * KEYS ->
			assert(!kept[i] || dead);
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
			:: MORTAL < MEMBERS && m != MORTAL -> run news(m)
			:: else
			fi;
			if
			:: m < SENDERS && (MORTAL == m || MORTAL == OWNER) ->
				run part(m)
			:: else
			fi;
			m++
		:: else -> break
		od;
		m = 0;
		o = 0;
		run turn();
		run user();
		if
		:: MORTAL < MEMBERS -> run fate()
		:: else
		fi
	}
}

ltl all_end { <> ALL_OVER }
