/* SPDX-License-Identifier: BSD-3-Clause */
/* A TCP connection of a rank with a peer outside of the job (DESIGN-ranks section 4): calls that receive and send are recorded, the rank
   is killed at any step, and has a successor that finds out from the kernel's counts what the call under way has done. The peer dies, too,
   and the network loses packets. Searched exhaustively by stream.sh; docs/models.md says what is modelled, what a step is, and what the
   variants (-D) are. The names are those of ft/outcome/tcp.c. */
#ifndef PROGRAM
#define PROGRAM 1
#endif
#ifndef K
#define K 2 /* kills of the rank */
#endif
#ifndef D
#define D 1 /* deaths of the peer */
#endif

/* What the program does. What fails does not keep it from going on. */
#define EXIT 0
#define RECEIVE_ALL 1 /* MSG_WAITALL */
#define RECEIVE 2
#define SEND 3        /* until all is sent */
#define SEND_SOME 4   /* what there is room for: it has asked before */
#define SHUT 5        /* its writing */

#if PROGRAM == 1 /* the rank says first that it has no more */
#define STEP(k) ((k) == 0 -> RECEIVE_ALL : ((k) == 1 -> SEND : ((k) == 2 || (k) == 4 -> RECEIVE : ((k) == 3 -> SHUT : EXIT))))
#define STEPS 5
#define IN 3  /* bytes that the peer sends */
#define OUT 2
#define PEER_SHUTS (psent == IN && pofin && pread == pgot)
#elif PROGRAM == 2 /* the peer does, and what the rank waits for does not all come */
#define STEP(k) ((k) == 0 || (k) == 3 -> RECEIVE_ALL : ((k) == 1 -> SEND_SOME : ((k) == 2 -> SEND : ((k) == 4 -> SHUT : EXIT))))
#define STEPS 5
#define IN 1
#define OUT 3
#define PEER_SHUTS (psent == IN)
#endif
#define MOST(k) (STEP(k) == SEND -> OUT - ooff : 2) /* bytes of the call */
#define ROOM 2 /* of the kernel for what is not acknowledged */

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

/* ---- results: bytes, or ---- */
#define RESET 8 /* ECONNRESET */
#define BROKEN 9 /* EPIPE */
#define FAILED(r) ((r) >= RESET)

/* ---- the kernel: this end of the connection ---- */
byte arrived, copied; /* bytes that have come; of these, given to calls that receive */
bit fin, reset;       /* the peer's end has come; its reset has */
byte err;             /* an error waits to be told */
byte wseq, una, sent; /* bytes that it has taken; that are acknowledged; that were on the wire */
byte again;           /* ... once more */
bit ofin, finacked;   /* our end is said; it is acknowledged */
/* ... what is on its way, and the peer's */
byte psent, pgot, pread; /* its program has sent, its kernel has, its program has read */
bit pfin, prst, pofin, dead;

#define CLOSED (reset || (fin && ofin && finacked))

/* ---- the log ---- */
#define BEGUN 1
#define DONE 2
byte rec[STEPS], res[STEPS];
byte owes[STEPS];        /* an error that this call's successor is to tell with the next one */
bit noted;               /* of the last one */
byte note0, note1;
byte data[2];            /* which byte of the stream, + 1 */
#define OPEN 0           /* note1 */
#define SHUT_DOWN 1
#define SHUT_BY_ERROR 2

/* ---- the rank ---- */
#define DEAD 0
#define RUN 1
#define EXITED 2
byte life, pc, phase;
byte ioff, ooff;         /* bytes that the program has been told, and has told */
bit failed;              /* it has been told of an error */
byte owed;
byte counted_in, counted_out; /* what is kept in the process, + 1 */
byte k;                  /* the killed call has done so much */
byte got, ret;
bit under_way;
byte t_in, t_left, t_acked, t_queued, t_state; /* look() */
/* Phases: */
#define CALL 0
#define LOOK1 1
#define LOOK2 2
#define LOOK3 3
#define LOOK4 4
#define LOOKED 5
#define KERNEL 6
#define RETURNED 7
#define END 8
#define IS_RECEIVE(o) ((o) == RECEIVE_ALL || (o) == RECEIVE)
#define IS_SEND(o) ((o) == SEND || (o) == SEND_SOME)

byte kills, deaths;
bit over;

#define LIVES (life == RUN)
#define AT(p) (LIVES && phase == (p))
#define HERE STEP(pc)
/* State and whether an error waits do not change any more once it is closed, unless a call of ours is told. */
#define STATE (CLOSED -> (err -> 3 : 2) : (fin -> 1 : 0))

inline dies() {
   life = DEAD; pc = 0; phase = 0; ioff = 0; ooff = 0; failed = 0; owed = 0; counted_in = 0; counted_out = 0; k = 0; got = 0; ret = 0; under_way = 0;
   t_in = 0; t_left = 0; t_acked = 0; t_queued = 0; t_state = 0
}

/* The call at pc is over, the program goes on with r. */
inline goes_on(r) {
   if
   :: IS_RECEIVE(HERE) && !FAILED(r) && r > 0 -> ioff = ioff + r
   :: IS_SEND(HERE) && !FAILED(r) -> ooff = ooff + r
   :: FAILED(r) -> failed = 1
   :: else -> skip
   fi;
   k = 0; got = 0; ret = 0; under_way = 0; t_in = 0; t_left = 0; t_acked = 0; t_queued = 0; t_state = 0;
   pc++; phase = (pc == STEPS -> END : CALL)
}

/* It has done n bytes of it, or failed. */
inline done(n) {
   if
   :: IS_RECEIVE(HERE) ->
      CHECK(n != 0 || fin || failed, "an end is told where a reset came\n");
      CHECK(FAILED(n) || n < 1 || data[0] == ioff + 1, "the program is told other bytes\n");
      CHECK(FAILED(n) || n < 2 || data[1] == ioff + 2, "the program is told other bytes\n");
      CHECK(FAILED(n) || copied == ioff + n, "bytes that were received are lost\n")
   :: IS_SEND(HERE) -> CHECK(FAILED(n) || wseq == ooff + n, "the program is told of other bytes than were sent\n")
   :: else -> skip
   fi;
   CHECK(!FAILED(n) || reset, "an error is told, and there was none\n");
   CHECK(n != RESET || !failed, "a reset is told twice\n");
   CHECK(n != BROKEN || failed || fin, "the first error is told as a later one is\n");
   TELL("step %d is done: %d\n", pc, n);
   rec[pc] = DONE; res[pc] = n; noted = 0; note0 = 0; note1 = 0; data[0] = 0; data[1] = 0;
   goes_on(n)
}

inline line() {
   CHECK(reset, "it cannot be told what a call has done, and nobody has reset the connection\n");
   TELL("the job ends with a line at step %d%c\n", pc, ' '); SEEN(6); dies(); life = EXITED; over = 1; ofin = 1
}

#ifdef COUNTS_ON
#define UNCOUNT skip
#else
#define UNCOUNT counted_in = 0; counted_out = 0
#endif

/* ---- what tcp.c does ---- */
proctype Rank() {
   do
   /* a replay gives it */
   :: d_step { AT(CALL) && rec[pc] == DONE ->
#ifndef OWED_IN_MEMORY
               if :: HERE != SHUT -> owed = owes[pc] :: else -> skip fi; /* one that was owed before was told by this one */
#endif
               goes_on(res[pc]) }
   /* a call begins, or was under way */
   :: d_step { AT(CALL) && rec[pc] != DONE && HERE == SHUT -> rec[pc] = BEGUN; phase = KERNEL }
   :: d_step { AT(CALL) && rec[pc] != DONE && HERE != SHUT && HERE != EXIT && (HERE != SEND_SOME || rec[pc] == BEGUN || wseq - una < ROOM || CLOSED) ->
               under_way = (rec[pc] == BEGUN); rec[pc] = BEGUN;
               if :: under_way -> SEEN(1) :: else -> skip fi;
#ifdef OWED_IN_MEMORY
               if :: owed && !under_way -> ret = owed; owed = 0; phase = RETURNED; k = 0
#else
               if :: owed && !noted -> ret = owed; owed = 0; phase = RETURNED; k = 0; SEEN(2)
#endif
               :: else ->
                  if
                  :: !noted && IS_RECEIVE(HERE) && counted_in -> note0 = counted_in - 1; note1 = OPEN; noted = 1; phase = KERNEL
                  :: !noted && IS_SEND(HERE) && counted_out -> note0 = counted_out - 1; note1 = OPEN; noted = 1; phase = KERNEL
                  :: else -> phase = LOOK1
                  fi
               fi }
   /* look(): the counts of one moment */
   :: d_step { AT(LOOK1) -> t_in = arrived + fin; t_acked = una; t_state = STATE; phase = LOOK2 }
   :: d_step { AT(LOOK2) -> t_left = arrived - copied; phase = LOOK3 }
   :: d_step { AT(LOOK3) -> t_queued = wseq - una; phase = LOOK4 }
#ifdef LOOK_ONCE
   :: d_step { AT(LOOK4) -> phase = LOOKED }
#else
   :: d_step { AT(LOOK4) -> if
               :: t_in == arrived + fin && t_acked == una && t_state == STATE -> phase = LOOKED
               :: else -> SEEN(3); phase = LOOK1
               fi }
#endif
#define RECEIVED (t_in - t_left) /* with the end */
#ifdef NO_FIN
#define ENDED 0
#else
#define ENDED (t_state == 1)
#endif
#if defined(ACKED_ONLY)
#define SENT t_acked
#elif defined(NO_RETRANS)
#define SENT (sent + again + (wseq - sent))
#elif defined(BY_SENT)
#define SENT (sent + (wseq - sent))
#else
#define SENT (t_acked + t_queued)
#endif
#define SENSIBLE(n) CHECK(reset || ((n) >= 0 && (n) <= MOST(pc)), "a call has done less than nothing, or more than it could\n")
   /* noted, before the call */
   :: d_step { AT(LOOKED) && !noted && IS_RECEIVE(HERE) ->
               if :: t_state >= 2 -> note0 = RECEIVED; note1 = (t_state == 3 -> SHUT_BY_ERROR : SHUT_DOWN)
               :: else -> note0 = RECEIVED - ENDED; note1 = OPEN
               fi;
               noted = 1; phase = KERNEL }
   :: d_step { AT(LOOKED) && !noted && IS_SEND(HERE) -> note0 = SENT; note1 = (t_state == 2 -> SHUT_DOWN : OPEN); noted = 1; phase = KERNEL }
   /* found out, of one that was under way */
   :: d_step { AT(LOOKED) && noted && IS_RECEIVE(HERE) -> SENSIBLE(RECEIVED - note0 - (ENDED || (t_state == 2 && note1 == OPEN && RECEIVED > note0)));
#ifdef NO_COUNT
               k = 0; phase = KERNEL
#else
               if
               :: t_state < 2 -> k = RECEIVED - note0 - ENDED; phase = KERNEL
               :: t_state == 3 && note1 == OPEN && RECEIVED == note0 -> k = 0; phase = KERNEL
#ifdef RESET_IS_END
               :: t_state == 3 && note1 == OPEN && RECEIVED != note0 -> k = RECEIVED - note0 - 1; phase = KERNEL
#else
               :: t_state == 3 && note1 == OPEN && RECEIVED != note0 -> phase = LOOKED; line()
#endif
               :: t_state == 2 && note1 == OPEN && RECEIVED == note0 -> ret = RESET; phase = RETURNED; SEEN(4)
               :: t_state == 2 && note1 == OPEN && RECEIVED != note0 -> k = RECEIVED - note0 - 1; phase = KERNEL
               :: note1 == SHUT_BY_ERROR && RECEIVED == note0 && t_state == 2 -> ret = RESET; phase = RETURNED
               :: note1 != OPEN && !(note1 == SHUT_BY_ERROR && RECEIVED == note0 && t_state == 2) -> k = RECEIVED - note0; phase = KERNEL
               fi
#endif
             }
   :: d_step { AT(LOOKED) && noted && IS_SEND(HERE) -> SENSIBLE(SENT - note0);
#ifndef NO_COUNT
               k = SENT - note0;
#endif
               if :: k > 0 -> SEEN(5) :: else -> skip fi;
               if
#ifndef TOLD_AGAIN
               :: t_state == 2 && note1 == OPEN -> ret = RESET; phase = RETURNED /* a call was told, and that was this one */
#endif
               :: else -> phase = KERNEL
               fi }
   /* the kernel */
   :: d_step { AT(KERNEL) && HERE == SHUT -> ofin = 1; ret = 0; phase = RETURNED }
#define WANTS (k + got < MOST(pc))
#ifdef WAITS_ON
#define RESTS false
#else
#define RESTS (k > 0 && HERE != RECEIVE_ALL && IS_RECEIVE(HERE)) /* what the killed call has done is all of it */
#endif
#define RESTS_SEND (k > 0 && (HERE == SEND_SOME || k >= MOST(pc)))
   :: d_step { AT(KERNEL) && IS_RECEIVE(HERE) && !RESTS && WANTS && arrived > copied -> copied++;
#ifndef ELSEWHERE
               data[k + got] = copied;
#endif
               got++ }
   :: d_step { AT(KERNEL) && IS_RECEIVE(HERE) && (RESTS || !WANTS) -> ret = got; phase = RETURNED }
   :: d_step { AT(KERNEL) && IS_RECEIVE(HERE) && !RESTS && WANTS && arrived == copied && got > 0 && (HERE == RECEIVE || fin || CLOSED) -> ret = got; phase = RETURNED }
#ifdef ERROR_TAKEN
#define ASKS true
#else
#define ASKS (k == 0) /* the rest is only taken if there is some: an error that waits is left for the next call */
   :: d_step { AT(KERNEL) && IS_RECEIVE(HERE) && !RESTS && WANTS && arrived == copied && got == 0 && k > 0 && (fin || CLOSED) -> ret = 0; phase = RETURNED }
#endif
   :: d_step { AT(KERNEL) && IS_RECEIVE(HERE) && !RESTS && WANTS && arrived == copied && got == 0 && ASKS && (fin || CLOSED) ->
               if
               :: fin || !err -> ret = 0
               :: else -> ret = err; err = 0
               fi;
               phase = RETURNED }
   :: d_step { AT(KERNEL) && IS_SEND(HERE) && !RESTS_SEND && WANTS && !CLOSED && wseq - una < ROOM ->
               CHECK(ooff + k + got == wseq, "the peer gets a byte twice, or lacks one\n"); wseq++; got++ }
   :: d_step { AT(KERNEL) && IS_SEND(HERE) && (RESTS_SEND || !WANTS || (got > 0 && (CLOSED || (HERE == SEND_SOME && wseq - una == ROOM)))) -> ret = got; phase = RETURNED }
   :: d_step { AT(KERNEL) && IS_SEND(HERE) && !RESTS_SEND && WANTS && CLOSED && got == 0 -> ret = (err -> err : BROKEN); err = 0; phase = RETURNED }
   /* the record of it */
   :: d_step { AT(RETURNED) ->
#ifdef ELSEWHERE
               if :: got > 0 -> data[k + got - 1] = copied :: else -> skip fi;
               if :: got > 1 -> data[k + got - 2] = copied - 1 :: else -> skip fi;
#endif
               if
               :: FAILED(ret) && k > 0 -> owed = ret; SEEN(7);
#ifndef OWED_IN_MEMORY
                  owes[pc] = ret;
#endif
                  UNCOUNT; done(k)
               :: FAILED(ret) && k == 0 -> UNCOUNT; done(ret)
               :: !FAILED(ret) ->
                  ret = k + ret;
                  if
                  :: IS_RECEIVE(HERE) -> counted_in = (ret > 0 && note1 == OPEN -> note0 + ret + 1 : 0)
                  :: IS_SEND(HERE) -> counted_out = note0 + ret + 1
                  :: else -> skip
                  fi;
                  done(ret)
               fi }
   :: d_step { AT(END) ->
               CHECK(reset || wseq == OUT, "bytes are missing\n"); CHECK(copied == ioff, "bytes that were received are lost\n");
               CHECK(wseq == ooff || failed, "the program is told of other bytes than were sent\n");
               ofin = 1; life = EXITED; over = 1 }
   /* death */
   :: d_step { kills < K && LIVES -> kills++; TELL("the rank is killed in phase %d of step %d\n", phase, pc); dies() }
   :: d_step { life == DEAD -> life = RUN }
   :: over -> break
   od
}

proctype Net() {
   do
   /* to the rank */
   :: d_step { arrived < psent && !reset -> arrived++ }
   :: d_step { pfin && arrived == psent && !fin && !reset -> fin = 1; TELL("the peer's end has come%c%c\n", ' ', ' ') }
   :: d_step { prst && !CLOSED -> reset = 1; err = (fin -> BROKEN : RESET); TELL("a reset has come%c%c\n", ' ', ' ') }
   /* to the peer: a byte is on the wire, and may be lost */
   :: d_step { sent < wseq && !reset -> sent++; if :: pgot + 1 == sent -> pgot++; if :: dead -> prst = 1 :: else -> skip fi :: else -> skip fi }
   :: d_step { sent < wseq && !reset -> sent++; TELL("byte %d is lost%c\n", sent, ' '); SEEN(8) }
   :: d_step { pgot < sent && !reset -> pgot++; if :: dead -> prst = 1 :: else -> skip fi;
#ifdef NO_RETRANS
               again++
#endif
             }
   :: d_step { una < pgot && !reset -> una++ }
   :: d_step { ofin && pgot == wseq && !pofin && !reset -> pofin = 1 }
   :: d_step { pofin && una == wseq && !finacked && !reset -> finacked = 1 }
   :: over && (reset || (pofin && finacked) || dead) && (!pfin || fin || reset) && (!prst || reset || CLOSED) && (una == pgot || reset) -> break
   od
}

proctype Peer() {
   do
   :: d_step { !dead && psent < IN && !pfin && !prst -> psent++ }
   :: d_step { !dead && pread < pgot -> pread++ }
   :: d_step { !dead && PEER_SHUTS && !pfin -> pfin = 1 }
   :: d_step { !dead && deaths < D -> deaths++; dead = 1; TELL("the peer dies%c%c\n", ' ', ' ');
               if :: pread < pgot || copied < psent -> prst = 1 :: pread == pgot && !pfin -> pfin = 1 :: else -> skip fi }
   :: d_step { !dead && deaths < D -> deaths++; dead = 1; prst = 1; TELL("the peer resets%c%c\n", ' ', ' ') }
   :: d_step { !dead && pofin && pread == pgot && pfin -> dead = 1 }
   :: d_step { !dead && reset -> dead = 1 }
   :: dead -> break
   od
}

init { atomic { life = RUN; run Rank(); run Net(); run Peer() } }
