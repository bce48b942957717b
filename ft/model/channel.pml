/* SPDX-License-Identifier: BSD-3-Clause */
/* A channel on one node (docs/internals/messages.md): slots, the sender's log, a receiver that is slow or ahead, cuts of both, and kills of either at
   any step. Searched exhaustively by channel.sh; docs/models.md says what is modelled, what a step is, and what the variants (-D) are. The
   names are those of ft/msg/channel.c. */
#ifndef K
#define K 2 /* kills */
#endif
#ifndef M
#define M 4 /* messages */
#endif
#define D 2 /* slots */
#define LONG(m) ((m) == 1) /* its bytes are in the log before it is published, and in no slot */
#define CELL(m) ((m) == 2) /* more than a line: who keeps it reads it again. Each slot has a small one, too, before it or after it */

#define CHECK(c, text) if :: (c) -> skip :: else -> printf(text); assert(false) fi
#ifndef SEEK
#define SEEK 0
#endif
#define SEEN(n) if :: n == SEEK -> assert(false) :: else -> skip fi
#ifdef STORY
#define TELL(text, a, b) printf(text, a, b)
#else
#define TELL(text, a, b) skip
#endif

/* ---- shared memory ---- */
byte seq[D], val[D];     /* a slot's number, and its bytes: of a small message */
byte lg[M];              /* records */
byte done, done_at;      /* of the sender: so many are logged; the log ends there */
byte taken;              /* of the receiver, its done_at: it needs nothing below, as far as it knows */
/* Bytes: which message they are of, and which life of the sender wrote them: nothing compares two lives' bytes, and receivers have to agree. */
#define TORN 31
#define BYTES(m) ((m) + 1 + 8 * (slife & 1))
#define OF(v) ((v) & 7)

/* ---- the sender ---- */
byte m, logged, sphase, slife;
/* ... its snapshot */
byte sm;
#ifdef NO_RESUME
byte slogged;
#endif
/* ---- the receiver ---- */
byte n, rphase, v, kept; /* kept: a bit for each message that no receive has taken */
byte rn, rkept;
byte had[M];             /* what receivers were given */

byte kills;
bit over;

/* Phases: */
#define AT 0
#define ZERO 1     /* show() */
#define FILL 2
#define FILLED 3
#define SHOW 4
#define WRITE 5    /* the record */
#define WRITTEN 6
#define SAY 7      /* advance() */
#define SAID 8
#define LATE 9
#define LOOK 1     /* the receiver */
#define AGAIN 2
#define READ 3
#define HAVE 4

#define BIT(i) (1 << (i))
#define OLDEST(k, n) ((k) & 1 -> 0 : ((k) & 2 -> 1 : ((k) & 4 -> 2 : ((k) & 8 -> 3 : (n)))))
#define LEAST(a, b) ((a) < (b) -> (a) : (b))

/* What is below is released, or spilled and its memory another stream's: at once, which is the worst. */
#ifdef CUT_NEWEST
#define RCUT rn
#else
#define RCUT OLDEST(rkept, rn)
#endif
#if defined(BY_TAKEN)
#define FLOOR LEAST(sm, taken)
#elif defined(CUT_OF_RECEIVER)
#define FLOOR LEAST(RCUT, done_at)
#else
#define FLOOR LEAST(LEAST(sm, RCUT), done_at)
#endif
#ifdef END_OF_BOTH
#define LOG_END (taken > done_at -> taken : done_at)
#else
#define LOG_END done_at
#endif

#define NEEDED(u) CHECK(FLOOR <= (u), "what somebody still needs is released\n")
#define WRITES(u) CHECK(LOG_END <= (u), "a record is written where memory has been given away\n")
#define WHOLE(u) CHECK(lg[u] != 0, "a record is read that is not there\n"); CHECK(lg[u] != TORN, "half a message is read\n")

inline new_sender() {
   slife++; m = sm; sphase = AT;
#ifdef NO_RESUME
   logged = slogged
#else
   logged = done
#endif
}

inline sender_stays() {
   sm = m;
#ifdef NO_RESUME
   slogged = logged
#endif
}

#define PUBLISHED (seq[m % D] == m + 1)
#define LIVE (sphase == AT && m < M && m >= logged)

proctype Sender() {
   do
   /* replay(): below `logged` nothing is sent */
   :: d_step { sphase == AT && m < logged -> NEEDED(m); WHOLE(m); m++; if :: done_at < m -> done_at = m :: else -> skip fi }
   /* published, and not logged: by an earlier life */
#if !defined(REWRITTEN) && !defined(SKIPPED)
   :: d_step { LIVE && PUBLISHED && !LONG(m) -> SEEN(1); TELL("message %d is logged out of its slot%c\n", m, ' '); sphase = WRITE }
#endif
#ifdef SKIPPED
   :: d_step { LIVE && PUBLISHED && !LONG(m) -> m++ }
#endif
#ifdef REWRITTEN
   :: d_step { LIVE && PUBLISHED && !LONG(m) -> sphase = ZERO }
#endif
#ifdef LONG_REWRITTEN
   :: d_step { LIVE && PUBLISHED && LONG(m) -> sphase = WRITE }
#else
   :: d_step { LIVE && PUBLISHED && LONG(m) -> SEEN(2); sphase = SAY }
#endif
   /* a new one */
   :: d_step { LIVE && !PUBLISHED && !LONG(m) -> TELL("message %d is sent by life %d\n", m, slife); sphase = ZERO }
#ifdef LONG_SLOT_FIRST
   :: d_step { LIVE && !PUBLISHED && LONG(m) -> TELL("message %d is sent by life %d\n", m, slife); sphase = ZERO }
#else
   :: d_step { LIVE && !PUBLISHED && LONG(m) -> TELL("message %d is sent by life %d\n", m, slife); sphase = WRITE }
#endif
#ifdef NOT_ZEROED
   :: d_step { sphase == ZERO -> sphase = FILL }
#else
   :: d_step { sphase == ZERO -> seq[m % D] = 0; sphase = FILL }
#endif
   :: d_step { sphase == FILL -> val[m % D] = TORN; sphase = FILLED }
   :: d_step { sphase == FILLED -> val[m % D] = (LONG(m) -> TORN : BYTES(m)); sphase = SHOW }
#if defined(LONG_SLOT_FIRST)
   :: d_step { sphase == SHOW -> seq[m % D] = m + 1; sphase = WRITE }
#elif defined(REFILLED) /* message 0 is logged when message 2 is in its slot: until then nothing is said to be logged */
   :: d_step { sphase == SHOW && (m == 0 || m == 1) -> seq[m % D] = m + 1; m++; sphase = AT }
   :: d_step { sphase == SHOW && m == 2 -> seq[m % D] = m + 1; sphase = LATE }
   :: d_step { sphase == SHOW && m == 3 -> seq[m % D] = m + 1; sphase = WRITE }
   :: d_step { sphase == LATE -> lg[0] = BYTES(0); sphase = SAY }
#else
   :: d_step { sphase == SHOW && !LONG(m) -> seq[m % D] = m + 1; sphase = WRITE }
   :: d_step { sphase == SHOW && LONG(m) -> seq[m % D] = m + 1; sphase = SAY }
#endif
#ifdef DONE_FIRST
   :: d_step { sphase == WRITE && !LONG(m) -> WRITES(m); done = m + 1; lg[m] = TORN; sphase = WRITTEN }
   :: d_step { sphase == WRITE && LONG(m) -> WRITES(m); lg[m] = TORN; sphase = WRITTEN }
#else
   :: d_step { sphase == WRITE -> WRITES(m); lg[m] = TORN; sphase = WRITTEN }
#endif
   :: d_step { sphase == WRITTEN && !LONG(m) -> WRITES(m); lg[m] = val[m % D]; sphase = SAY }
#ifdef LONG_SLOT_FIRST
   :: d_step { sphase == WRITTEN && LONG(m) -> WRITES(m); lg[m] = BYTES(m); sphase = SAY }
#else
   :: d_step { sphase == WRITTEN && LONG(m) -> WRITES(m); lg[m] = BYTES(m); sphase = ZERO }
#endif
   :: d_step { sphase == SAY -> if :: done < m + 1 -> done = m + 1 :: else -> skip fi; sphase = SAID }
   :: d_step { sphase == SAID -> if :: done_at < m + 1 -> done_at = m + 1 :: else -> skip fi; m++; sphase = AT }
   /* a snapshot, between calls: all is logged */
   :: d_step { sphase == AT && m > sm && m <= done -> sender_stays(); TELL("the sender has a snapshot before message %d%c\n", m, ' ') }
#ifdef SNAP_PUBLISHED
   :: d_step { sphase == WRITE && !LONG(m) && m + 1 > sm -> sm = m + 1 }
#endif
   :: d_step { kills < K && !over && (m > sm || sphase != AT) -> kills++; TELL("the sender is killed at message %d, phase %d\n", m, sphase);
               if :: sm > 0 -> SEEN(3) :: else -> skip fi; new_sender() }
   :: over -> break
   od
}

inline given() {
   CHECK(v != TORN, "half a message is read\n");
   CHECK(OF(v) == n + 1, "another message's bytes are read\n");
   CHECK(had[n] == 0 || had[n] == v, "a successor is told something else\n");
   had[n] = v; v = 0
}

/* A receive comes for a message that is kept: a small one is in memory, a long one in the log, others in their slots, or in the log. */
#ifdef KEPT_IN_LOG
#define STILL(i) false
#else
#define STILL(i) (seq[(i) % D] == (i) + 1)
#endif
inline match(i) {
   if
   :: CELL(i) && STILL(i) -> CHECK(val[(i) % D] == had[i], "a successor is told something else\n"); if :: done <= (i) -> SEEN(9) :: else -> skip fi
   :: LONG(i) || (CELL(i) && !STILL(i)) -> NEEDED(i); WHOLE(i); CHECK(lg[i] == had[i], "a successor is told something else\n")
   :: else -> skip
   fi;
   kept = kept - BIT(i)
}

#define THERE seq[n % D]

proctype Receiver() {
   do
   /* ft_msg_look() */
   :: d_step { rphase == AT && n < M && THERE == n + 1 -> rphase = LOOK }
   :: d_step { rphase == AT && n < M && (THERE == 0 || THERE > n + 1) && done > n -> if :: THERE == 0 -> SEEN(4) :: else -> SEEN(5) fi; rphase = READ }
   :: d_step { rphase == LOOK -> v = val[n % D]; rphase = AGAIN }
#ifdef NO_RECHECK
#define SAME true
#else
#define SAME (THERE == n + 1)
#endif
   :: d_step { rphase == AGAIN && SAME -> if :: LONG(n) -> rphase = READ :: else -> rphase = HAVE fi }
   :: d_step { rphase == AGAIN && !SAME -> SEEN(6); v = 0; rphase = AT }
   :: d_step { rphase == READ -> NEEDED(n); WHOLE(n); v = lg[n]; rphase = HAVE }
   /* given to a receive, or kept */
   :: d_step { rphase == HAVE -> given(); if :: n >= done_at -> SEEN(7) :: else -> skip fi; n++; rphase = AT }
   :: d_step { rphase == HAVE -> given(); kept = kept + BIT(n); n++; rphase = AT }
   :: d_step { rphase == AT && (kept & 1) -> match(0) }
   :: d_step { rphase == AT && (kept & 2) -> match(1) }
   :: d_step { rphase == AT && (kept & 4) -> match(2) }
   :: d_step { rphase == AT && (kept & 8) -> match(3) }
   /* ft_msg_need() */
   :: d_step { rphase == AT && taken < OLDEST(kept, n) -> taken = OLDEST(kept, n) }
   :: d_step { rphase == AT && (n > rn || kept != rkept) -> rn = n; rkept = kept; TELL("the receiver has a snapshot before message %d, kept %d\n", n, kept) }
   :: d_step { kills < K && !over && (n > rn || kept != rkept || rphase != AT) -> kills++; TELL("the receiver is killed at message %d, phase %d\n", n, rphase);
               if :: rkept -> SEEN(8) :: else -> skip fi; n = rn; kept = rkept; v = 0; rphase = AT }
   :: d_step { rphase == AT && n == M && kept == 0 && sphase == AT && m == M && !over -> over = 1;
               CHECK(lg[0] == had[0] && lg[1] == had[1] && lg[M - 2] == had[M - 2] && lg[M - 1] == had[M - 1], "the log has something else than was received\n") }
   :: over -> break
   od
}

init { atomic { run Sender(); run Receiver() } }
