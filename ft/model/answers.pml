/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank was told that nothing else decides: matches, and questions that are answered no so many times, and then yes. It is killed at any
   step, and its successor begins at the beginning or where its snapshot was made. Searched exhaustively by answers.sh; docs/models.md says
   what is modelled, what a step is, and what the variants (-D) are. The names are those of ft/msg/answers.c. */
#ifndef K
#define K 2 /* kills */
#endif
#ifndef A
#define A 3 /* answers that the program wants */
#endif
#define X 2 /* its receives with an open source, and the messages that come for them */
#define U (A + X) /* units, at most */

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

/* ---- shared memory: the log, and the slot of the next unit ---- */
#define RUN 1
#define MATCH 2
#define OPEN 0
#define BROKEN 1
#define ANSWERED 2 /* + which: 0 or 1 */
byte lkind[U], lno[U], lans[U], done;
bit published;
byte kind, no, ans; /* a match: the receive, and the message */

/* ---- the process ---- */
byte at;            /* questions that were answered */
byte got[X];        /* which message that receive has: 1 or 2 */
byte unit, said;
bit open;
byte ano[U], aans[U], nagain, given; /* to be given again */
byte decided[X];
byte phase, then, what, which;
/* ... and its snapshot */
byte cat, cgot[X], cdecided[X], cunit, csaid;
bit copen;

/* ---- the world: what the program is told leaves the process at once, which is the worst ---- */
byte out[A];        /* how questions were answered: 1 no, 2 or 3 yes */
byte outgot[X];

byte kills;
bit over;

/* Phases: */
#define AT 0
#define FILL 1     /* begin_run(), or a match */
#define SHOW 2
#define COUNT 3    /* it has an open run, and one more no */
#define END 4      /* end_run() */
#define LOG 5      /* ft_msg_log() */
#define LOGGED 6
#define RETURN 7   /* the program is told */
#define BREAK 8    /* note_published() */
#define NOTE 9
#define OWES 10
/* What is being said: */
#define NOTHING 0
#define SAYS_NO 1
#define SAYS_YES 2 /* or 3 */
#define SAYS_MATCH 4

#define LIVE (phase == AT && given == nagain)
#define CLOSED(m) (got[0] != (m) + 1 && got[1] != (m) + 1 && decided[0] != (m) + 1 && decided[1] != (m) + 1)

/* The program is told, by the log or by the world. */
inline told(answer) {
   CHECK(out[at] == 0 || out[at] == answer, "a successor is told something else\n");
   TELL("question %d is answered %d\n", at, answer);
   out[at] = answer; at++
}

inline matched(r, m) {
   CHECK(outgot[r] == 0 || outgot[r] == m, "a receive has another message\n");
   TELL("receive %d has message %d\n", r, m);
   got[r] = m; outgot[r] = m; decided[r] = 0
}

inline note(k, n, a) {
   if
#ifdef NOT_SUBTRACTED
   :: k == RUN -> ano[nagain] = n; aans[nagain] = a; nagain++
#else
   :: k == RUN -> CHECK(n >= said, "more was said than is in the log\n"); ano[nagain] = n - said; aans[nagain] = a; nagain++
#endif
   :: k == MATCH -> decided[n] = a
   :: k != RUN && k != MATCH -> CHECK(false, "a record says nothing\n")
   fi;
#ifndef SAID_KEPT
   said = 0
#endif
}

/* From the snapshot, at first the beginning. */
inline woken() {
   at = cat; got[0] = cgot[0]; got[1] = cgot[1];
   said = csaid; decided[0] = cdecided[0]; decided[1] = cdecided[1]; nagain = 0; given = 0;
   unit = 0; do :: unit < U -> ano[unit] = 0; aans[unit] = 0; unit++ :: else -> break od; unit = cunit;
   then = NOTHING; what = NOTHING; which = 0;
   do :: unit < done -> note(lkind[unit], lno[unit], lans[unit]); unit++ :: else -> break od;
#ifdef STAYS_OPEN
   open = copen;
#else
   open = 0;
#endif
   if
#ifdef PUBLISHED_SKIPPED
   :: published -> phase = AT; published = 0; kind = 0; no = 0; ans = 0
#else
   :: published && kind == RUN && ans == OPEN -> SEEN(1); phase = BREAK
   :: published && !(kind == RUN && ans == OPEN) -> SEEN(2); phase = NOTE
#endif
   :: !published -> phase = AT
   fi
}

proctype Rank() {
   do
   /* ft_answers_again() */
   :: d_step { phase == AT && given < nagain && ano[given] > 0 -> ano[given] = ano[given] - 1; told(1) }
   :: d_step { phase == AT && given < nagain && ano[given] == 0 ->
               if :: aans[given] >= ANSWERED -> told(aans[given]) :: else -> skip fi;
               aans[given] = 0; given++; if :: given == nagain -> given = 0; nagain = 0 :: else -> skip fi }
   /* ft_answers_no() */
#ifdef NOT_STORED
   :: d_step { LIVE && at < A && open -> told(1); phase = OWES }
   :: d_step { phase == OWES -> no++; said++; phase = AT }
#else
   :: d_step { LIVE && at < A && open -> no++; what = SAYS_NO; phase = RETURN }
#endif
   :: d_step { LIVE && at < A && !open -> what = SAYS_NO; phase = FILL }
   /* ft_answers_yes() */
#ifdef ANSWERED_FIRST
   :: d_step { LIVE && at < A -> told(2); what = 2; phase = (open -> END : FILL) }
   :: d_step { LIVE && at < A -> told(3); what = 3; phase = (open -> END : FILL) }
#else
   :: d_step { LIVE && at < A -> what = 2; phase = (open -> END : FILL) }
   :: d_step { LIVE && at < A -> what = 3; phase = (open -> END : FILL) }
#endif
   /* ft_answers_match(): whenever a message is there, also in a replay */
   :: d_step { phase == AT && got[0] == 0 && decided[0] > 0 -> matched(0, decided[0]) }
   :: d_step { phase == AT && got[1] == 0 && decided[1] > 0 -> matched(1, decided[1]) }
#ifdef MATCH_FIRST
#define BEGINS_MATCH(r, m) matched(r, m + 1); what = SAYS_MATCH + (r); which = m + 1
#else
#define BEGINS_MATCH(r, m) what = SAYS_MATCH + (r); which = m + 1
#endif
#ifdef MATCH_INSIDE
#define HAS_RUN false
#else
#define HAS_RUN open
#endif
   :: d_step { phase == AT && got[0] == 0 && decided[0] == 0 && CLOSED(0) -> BEGINS_MATCH(0, 0); phase = (HAS_RUN -> END : FILL) }
   :: d_step { phase == AT && got[0] == 0 && decided[0] == 0 && CLOSED(1) -> BEGINS_MATCH(0, 1); phase = (HAS_RUN -> END : FILL) }
   :: d_step { phase == AT && got[1] == 0 && decided[1] == 0 && CLOSED(0) -> BEGINS_MATCH(1, 0); phase = (HAS_RUN -> END : FILL) }
   :: d_step { phase == AT && got[1] == 0 && decided[1] == 0 && CLOSED(1) -> BEGINS_MATCH(1, 1); phase = (HAS_RUN -> END : FILL) }
   /* a new unit in the slot */
   :: d_step { phase == FILL -> published = 0;
               if
               :: what >= SAYS_MATCH -> if :: nagain > 0 -> SEEN(3) :: else -> skip fi; kind = MATCH; no = what - SAYS_MATCH; ans = which
               :: what == SAYS_NO -> kind = RUN; no = 1; ans = OPEN
               :: else -> kind = RUN; no = 0; ans = what
               fi;
               phase = SHOW }
   :: d_step { phase == SHOW -> published = 1; phase = (what == SAYS_NO -> RETURN : LOG); open = (what == SAYS_NO -> 1 : open) }
   /* a run ends */
   :: d_step { phase == END -> ans = (what >= SAYS_MATCH -> BROKEN : what); then = (what >= SAYS_MATCH); phase = LOG }
   /* a successor finds what is only published */
   :: d_step { phase == BREAK -> ans = BROKEN; phase = NOTE }
#ifdef GOES_ON
   :: d_step { phase == NOTE -> note(kind, no, ans); what = NOTHING; if :: kind == RUN && ans == BROKEN -> ans = OPEN; open = 1; phase = AT :: else -> phase = LOG fi }
#else
   :: d_step { phase == NOTE -> note(kind, no, ans); what = NOTHING; phase = LOG }
#endif
   /* into the log */
   :: d_step { phase == LOG -> CHECK(unit < U, "more units than answers\n"); lkind[unit] = kind; lno[unit] = no; lans[unit] = ans; phase = LOGGED }
   :: d_step { phase == LOGGED -> unit++; done = unit; published = 0; kind = 0; no = 0; ans = 0;
               if
               :: what == NOTHING -> phase = AT
               :: what != NOTHING ->
#ifdef SAID_STAYS
                  open = 0;
#else
                  open = 0; said = 0;
#endif
                  phase = (then -> FILL : RETURN)
               fi;
               then = 0 }
   /* the program goes on */
#ifdef ANSWERED_FIRST
#define TOLD skip
#else
#define TOLD told(what)
#endif
#ifdef MATCH_FIRST
#define HAS(r) skip
#else
#define HAS(r) matched(r, which)
#endif
   :: d_step { phase == RETURN ->
               if
               :: what == SAYS_NO -> told(1); said++
               :: what == 2 || what == 3 -> TOLD
               :: what == SAYS_MATCH -> HAS(0)
               :: what == SAYS_MATCH + 1 -> HAS(1)
               fi;
               what = NOTHING; which = 0; phase = AT }
   /* a snapshot, between calls */
   :: d_step { LIVE && (at > cat || got[0] != cgot[0] || got[1] != cgot[1] || unit > cunit) ->
               cat = at; cgot[0] = got[0]; cgot[1] = got[1];
               cdecided[0] = decided[0]; cdecided[1] = decided[1]; cunit = unit; csaid = said; copen = open; if :: open -> SEEN(4) :: else -> skip fi;
               TELL("a snapshot, %d noes of the run that is open%c\n", said, ' ') }
   :: d_step { kills < K && !over -> kills++; TELL("the rank is killed after %d answers, phase %d\n", at, phase); if :: csaid && done > cunit -> SEEN(5) :: else -> skip fi; woken() }
   :: d_step { LIVE && at == A && got[0] && got[1] && !over -> over = 1 }
   :: over -> break
   od
}

init { run Rank() }
