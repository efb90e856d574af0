/* SPDX-License-Identifier: MIT */
/*
 * Agreement of the members of a team that live (collectives/agreement.h). Any
 * member may die at any step. Then the messages that it has sent arrive, or are
 * lost from some message on; the others learn of the death one by one, at any
 * time. With CUT the members 0 and 1 lose each other though they live: each at
 * any time (CUT=1), or both before their first votes (CUT=2). Names are the
 * code's. A set of members is a byte, and so are flags.
 *
 *  - all that have decided, and are not in the decided set, have decided the
 *    same, also those that died after
 *  - the result has the flags of all members that live and are not in the set;
 *    a member in the set is dead, or lost by the cut
 *  - all that live decide
 */
#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef DEATHS
#define DEATHS 2
#endif
#ifndef CUT
#define CUT 0
#endif
#ifndef DEPTH
#define DEPTH 4 /* messages on their way from one member to another */
#endif

#define LINK(of, to) ((of) * MEMBERS + (to))
#define HAS(set, member) ((set) >> (member) & 1)
#define PARTED(a, b) (CUT && (a) + (b) == 1)

/* flags, sets, ballot, proposed, proposed_set, decided */
chan lane[MEMBERS * MEMBERS] = [DEPTH] of { byte, byte, byte, byte, byte, bit };

byte flags[MEMBERS], sets[MEMBERS], ballot[MEMBERS];
byte proposed[MEMBERS], proposed_set[MEMBERS];
bit decided[MEMBERS], changed[MEMBERS], mourns[MEMBERS];
/* by link: what the member at its end has said; what is to be said */
byte follows[MEMBERS * MEMBERS] = MEMBERS;
byte accepted[MEMBERS * MEMBERS];
bit due[MEMBERS * MEMBERS], told[MEMBERS * MEMBERS];
bit ended[MEMBERS * MEMBERS]; /* not `runs`: the member is lost */
bit dead[MEMBERS];
byte deaths;

inline first_living(set)
{
	first = 0;
	do
	:: first < MEMBERS && HAS(set, first) -> first++
	:: else -> break
	od
}

inline tell(coordinator)
{
	changed[me] = 0;
	for (i : 0 .. MEMBERS - 1) {
		if
		:: i != me && !ended[LINK(me, i)] &&
		   (coordinator == me || coordinator == i || mourns[me]) ->
			due[LINK(me, i)] = 1
		:: else
		fi
	}
	mourns[me] = 0
}

inline decide()
{
	decided[me] = 1;
	for (i : 0 .. MEMBERS - 1) {
		due[LINK(me, i)] = 0
	}
}

/* all_follow(): with a ballot that is not 0, all have accepted it, too */
inline all_follow(number)
{
	all = 1;
	for (i : 0 .. MEMBERS - 1) {
		if
		:: i != me && !HAS(sets[me], i) &&
		   (follows[LINK(me, i)] != me ||
		    (number && accepted[LINK(me, i)] != number)) -> all = 0
		:: else
		fi
	}
}

inline propose()
{
	proposed[me] = flags[me];
	proposed_set[me] = sets[me]
}

inline lead()
{
	all_follow(0);
	if
	:: ballot[me] < me + 1 && all ->
		if
		:: !ballot[me] -> propose()
		:: else
		fi;
		ballot[me] = me + 1;
		changed[me] = 1
	:: else
	fi;
	all_follow(me + 1);
	if
	:: ballot[me] == me + 1 && all -> decide()
	:: else
	fi
}

inline go_on()
{
	if
	:: !decided[me] ->
		first_living(sets[me]);
		if
		:: first == me -> lead()
		:: first == MEMBERS -> propose(); decide() /* resign() */
		:: else
		fi;
		if
		:: !decided[me] && changed[me] -> tell(first)
		:: else
		fi
	:: else
	fi
}

inline hear(from)
{
	lane[LINK(from, me)]?flag, set, number, result, result_set, last;
	first_living(set);
	follows[LINK(me, from)] = first;
	accepted[LINK(me, from)] = number;
	if
	:: decided[me] || (HAS(sets[me], from) && !last)
	:: else ->
		flags[me] = flags[me] & flag;
		if
		:: set & ~sets[me] -> changed[me] = 1; mourns[me] = 1
		:: else
		fi;
		sets[me] = sets[me] | set;
		if
		:: number > ballot[me] || last ->
			ballot[me] = number;
			proposed[me] = result;
			proposed_set[me] = result_set;
			changed[me] = 1
		:: else
		fi;
		if
		:: last -> decide()
		:: else -> go_on()
		fi
	fi
}

/* The link ends, and what it still carries is lost. */
inline lose(from)
{
	ended[LINK(me, from)] = 1;
	due[LINK(me, from)] = 0;
	do
	:: nempty(lane[LINK(from, me)]) ->
		lane[LINK(from, me)]?_, _, _, _, _, _
	:: empty(lane[LINK(from, me)]) -> break
	od;
	if
	:: !decided[me] ->
		if
		:: !HAS(sets[me], from) -> changed[me] = 1; mourns[me] = 1
		:: else
		fi;
		sets[me] = sets[me] | 1 << from;
		go_on()
	:: else
	fi
}

inline send_due(to)
{
	lane[LINK(me, to)]!flags[me], sets[me], ballot[me], proposed[me],
		proposed_set[me], decided[me];
	due[LINK(me, to)] = 0;
	told[LINK(me, to)] = decided[me]
}

#define ARRIVED(from)                               \
	(from != me && !ended[LINK(me, from)] && \
	 nempty(lane[LINK(from, me)]))
#define DIED(from)                                   \
	(from != me && !ended[LINK(me, from)] && \
	 (dead[from] || PARTED(me, from)))
#define DUE(to)                                                   \
	(to != me && !ended[LINK(me, to)] && nfull(lane[LINK(me, to)]) && \
	 (due[LINK(me, to)] || (decided[me] && !told[LINK(me, to)])))

proctype member(byte me)
{
	byte i, first, flag, set, number, result, result_set;
	bit all, last;

	atomic { changed[me] = 1; go_on() }
end:	do
	:: atomic { !dead[me] && ARRIVED(0) -> hear(0) }
	:: atomic { !dead[me] && ARRIVED(1) -> hear(1) }
	:: atomic { !dead[me] && DIED(0) -> lose(0) }
	:: atomic { !dead[me] && DIED(1) -> lose(1) }
	:: atomic { !dead[me] && DUE(0) -> send_due(0) }
	:: atomic { !dead[me] && DUE(1) -> send_due(1) }
#if MEMBERS > 2
	:: atomic { !dead[me] && ARRIVED(2) -> hear(2) }
	:: atomic { !dead[me] && DIED(2) -> lose(2) }
	:: atomic { !dead[me] && DUE(2) -> send_due(2) }
#endif
#if MEMBERS > 3
	:: atomic { !dead[me] && ARRIVED(3) -> hear(3) }
	:: atomic { !dead[me] && DIED(3) -> lose(3) }
	:: atomic { !dead[me] && DUE(3) -> send_due(3) }
#endif
	:: atomic { !dead[me] && deaths < DEATHS -> deaths++; dead[me] = 1 }
	od
}

#define OVER(member) (dead[member] || decided[member])
#if MEMBERS > 3
#define ALL_OVER (OVER(0) && OVER(1) && OVER(2) && OVER(3))
#elif MEMBERS > 2
#define ALL_OVER (OVER(0) && OVER(1) && OVER(2))
#else
#define ALL_OVER (OVER(0) && OVER(1))
#endif

#define GOES_ON(member) (decided[member] && !HAS(proposed_set[member], member))

/* Looks at the decisions once all are over. If they never are, Spin finds this
 * process in no valid end state. */
active proctype judge()
{
	byte a, b;

	atomic {
		ALL_OVER ->
		for (a : 0 .. MEMBERS - 1) {
			for (b : 0 .. MEMBERS - 1) {
				assert(!GOES_ON(a) || !GOES_ON(b) ||
				       (proposed[a] == proposed[b] &&
					proposed_set[a] == proposed_set[b]));
				assert(!GOES_ON(a) || dead[b] ||
				       HAS(proposed_set[a], b) ||
				       !HAS(proposed[a], b));
				assert(!decided[a] || dead[b] ||
				       !HAS(proposed_set[a], b) ||
				       (CUT && b < 2))
			}
		}
	}
}

init
{
	atomic {
		byte m;

#if CUT == 2
		sets[0] = 2;
		sets[1] = 1;
		ended[LINK(0, 1)] = 1;
		ended[LINK(1, 0)] = 1;
#endif
		for (m : 0 .. MEMBERS - 1) {
			flags[m] = ((1 << MEMBERS) - 1) & ~(1 << m);
			run member(m)
		}
	}
}

ltl all_decide { <> ALL_OVER }
