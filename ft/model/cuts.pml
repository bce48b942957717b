/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy is made of a rank with threads (DESIGN-ranks section 1): they stand in the program, or wait in the kernel; the rank is killed at any
   step, and they are put back. Searched exhaustively by cuts.sh; docs/models.md says what is modelled, what a step is, and what the variants
   (-D) are. The names are those of ft/outcome/stand.c, waits.c and put_back.c. How locks and calls are ordered in a replay is threads.pml's. */
#ifndef K
#define K 2 /* kills of the rank */
#endif
#ifndef C
#define C 2 /* copies that are made */
#endif
#define T 2
#define CALLS 2 /* that wait, of each thread */

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

/* ---- the log: outlives the process ---- */
#define BEGUN 1
#define DONE 2
byte rec[T * CALLS], number[T * CALLS];
bit released[T * CALLS];   /* no copy is said to need it: its memory may be another record's */
byte count;                /* so many calls are done */

/* ---- the kernel ---- */
bit did[T * CALLS];        /* that call has been made */
bit sig[T];                /* our signal is on its way */

/* ---- the process ---- */
#define DEAD 0
#define RUN 1
byte life;
bit live;
byte given;
byte pc[T], phase[T], waits[T];
bit stands[T], asked[T], counted[T], led[T];
bit standing;
byte stage;                /* of the one that makes the copy */
/* Phases: */
#define PROGRAM 0
#define BUSY 1             /* the record is begun */
#define READY 2            /* it has said that it waits */
#define KERNEL 3
#define BACK 4
#define ENDS 5             /* busy: the outcome is known */
#define IDLE 6
#define TESTED 7
#define NOT 0
#define WAITS 1
#define HELD 2
/* Stages: */
#define NOTHING 0
#define LOOKS 1
#define COPIES 2           /* thread 0, then thread 1 */
#define TAKEN 4
#define GOES 5

/* ---- the copy that would be woken; at first snapshot zero ---- */
byte cpc[T], cphase[T], cfirst;
bit cled[T];
/* ... and the one that is being made */
byte npc[T], nphase[T], nfirst;
bit nled[T];

byte kills, cuts;
bit over, later;           /* this life has come of a newer copy */

#define R(t) ((t) * CALLS + pc[t])
#define AT(t, p) (life == RUN && phase[t] == (p) && !stands[t])
#define MOVES(t) CHECK(stage < COPIES || stage >= TAKEN, "a thread moves while its memory is copied\n")
#define ENDED(t) (phase[t] == PROGRAM && pc[t] == CALLS)

proctype Thread(byte t) {
   do
   /* given again: when its turn has come */
   :: d_step { AT(t, PROGRAM) && pc[t] < CALLS && rec[R(t)] == DONE && number[R(t)] == given + 1 ->
               MOVES(t); CHECK(!released[R(t)], "a record is needed that is released\n");
               if :: led[t] -> SEEN(1) :: else -> skip fi;
               TELL("thread %d is given call %d\n", t, pc[t]); led[t] = 0; given++; pc[t]++ }
   /* under way, or new */
   :: d_step { AT(t, PROGRAM) && pc[t] < CALLS && rec[R(t)] != DONE && live ->
               MOVES(t); CHECK(!released[R(t)], "a record is needed that is released\n");
               if
               :: rec[R(t)] == BEGUN && did[R(t)] -> phase[t] = ENDS; if :: led[t] -> SEEN(2) :: else -> skip fi /* how is its row's business */
               :: else -> phase[t] = BUSY
               fi;
               led[t] = 0; rec[R(t)] = BEGUN }
#ifdef DEKKER_SWAPPED
   :: d_step { AT(t, BUSY) && !standing -> phase[t] = TESTED }
   :: d_step { AT(t, TESTED) -> MOVES(t); waits[t] = WAITS; phase[t] = KERNEL }
#elif defined(NOT_LOOKED)
   :: d_step { AT(t, BUSY) -> MOVES(t); waits[t] = WAITS; phase[t] = KERNEL }
#else
   :: d_step { AT(t, BUSY) -> MOVES(t); waits[t] = WAITS; phase[t] = READY }
   :: d_step { AT(t, READY) && !standing -> phase[t] = KERNEL }
#endif
   /* the kernel's: also while the copy is made */
   :: d_step { AT(t, KERNEL) -> CHECK(!did[R(t)], "a call is made twice\n"); did[R(t)] = 1; phase[t] = BACK; TELL("the kernel makes call %d of thread %d\n", pc[t], t) }
#ifdef HELD_GOES
   :: d_step { AT(t, BACK) -> MOVES(t); waits[t] = NOT; phase[t] = ENDS }
#else
   :: d_step { AT(t, BACK) && waits[t] == WAITS -> MOVES(t); waits[t] = NOT; phase[t] = ENDS }
#endif
   :: d_step { AT(t, ENDS) -> MOVES(t); CHECK(rec[R(t)] != DONE, "an outcome is recorded twice\n");
               count++; number[R(t)] = count; given = count; rec[R(t)] = DONE; phase[t] = IDLE }
   :: d_step { AT(t, IDLE) -> MOVES(t); pc[t]++; phase[t] = PROGRAM; if :: standing -> stands[t] = 1 :: else -> skip fi }
   /* our signal */
   :: d_step { life == RUN && sig[t] ->
               CHECK(phase[t] != KERNEL, "a wait is interrupted\n"); sig[t] = 0;
               if
#ifdef BUSY_STOPPED
               :: phase[t] != READY && phase[t] != BACK && standing -> stands[t] = 1
#else
               :: phase[t] == PROGRAM && standing -> stands[t] = 1
#endif
               :: else -> skip
               fi }
   :: over -> break
   od
}

#ifdef SIGNALS_ALL
#define IS_HELD(t) false
#else
#define IS_HELD(t) (waits[t] == WAITS)
#endif

inline look(t) {
   if
   :: stands[t] -> counted[t] = 1
   :: !stands[t] && IS_HELD(t) -> waits[t] = HELD; counted[t] = 1
   :: else -> asked[t] = 1; sig[t] = 1
   fi
}

/* HELD: it is led back to where its call begins. */
inline copy(t) {
   npc[t] = pc[t];
#ifdef NOT_LED
   nphase[t] = phase[t]; nled[t] = 0
#else
   nphase[t] = (waits[t] == HELD -> PROGRAM : phase[t]); nled[t] = (waits[t] == HELD)
#endif
}

/* What is before the copy, but calls that are under way in it. */
inline release(t) {
   if :: npc[t] > 0 -> released[t * CALLS] = 1 :: else -> skip fi;
   if :: npc[t] > 1 -> released[t * CALLS + 1] = 1 :: else -> skip fi;
#ifdef OWED_RELEASED
   if :: npc[t] < CALLS && nled[t] -> released[t * CALLS + npc[t]] = 1 :: else -> skip fi
#endif
}

inline take(t) { cpc[t] = npc[t]; cphase[t] = nphase[t]; cled[t] = nled[t]; npc[t] = 0; nphase[t] = 0; nled[t] = 0 }

proctype Cutter() {
   do
   :: d_step { life == RUN && live && stage == NOTHING && cuts < C && !over -> stage = LOOKS; standing = 1 }
   :: d_step { life == RUN && stage == LOOKS && !counted[0] && (!asked[0] || stands[0] || IS_HELD(0)) -> look(0) }
   :: d_step { life == RUN && stage == LOOKS && !counted[1] && (!asked[1] || stands[1] || IS_HELD(1)) -> look(1) }
   :: d_step { life == RUN && stage == LOOKS && counted[0] && counted[1] -> stage = COPIES; nfirst = count }
   :: d_step { life == RUN && stage == COPIES -> copy(0); stage = COPIES + 1 }
   :: d_step { life == RUN && stage == COPIES + 1 -> copy(1); stage = TAKEN }
   /* the agent takes it for the one to be woken, and says what is not needed any more */
   :: d_step { life == RUN && stage == TAKEN -> release(0); release(1); take(0); take(1); cfirst = nfirst; nfirst = 0; cuts++; stage = GOES;
               if :: later -> SEEN(4) :: else -> skip fi; TELL("copy %d stands%c\n", cuts, ' ') }
   /* a signal that is sent comes at once: the kernel interrupts the processor that the thread is on */
   :: d_step { life == RUN && stage == GOES && !sig[0] && !sig[1] ->
               waits[0] = (waits[0] == HELD -> WAITS : waits[0]); waits[1] = (waits[1] == HELD -> WAITS : waits[1]);
               standing = 0; stands[0] = 0; stands[1] = 0; asked[0] = 0; asked[1] = 0; counted[0] = 0; counted[1] = 0; stage = NOTHING }
   :: over -> break
   od
}

inline resume(t) { pc[t] = cpc[t]; phase[t] = cphase[t]; led[t] = cled[t]; waits[t] = NOT; stands[t] = 0; asked[t] = 0; counted[t] = 0; sig[t] = 0 }

proctype World() {
   do
   :: d_step { life == RUN && !live && given == count -> live = 1 }
   :: d_step { life == RUN && kills < K && !(ENDED(0) && ENDED(1)) -> kills++; if :: stage != NOTHING -> SEEN(3) :: else -> skip fi;
               TELL("the rank is killed, stage %d%c\n", stage, ' ');
               life = DEAD; live = 0; standing = 0; stage = NOTHING; nfirst = 0; npc[0] = 0; npc[1] = 0; nphase[0] = 0; nphase[1] = 0; nled[0] = 0; nled[1] = 0 }
   :: d_step { life == DEAD -> resume(0); resume(1); given = cfirst; later = (cuts > 0); life = RUN }
   :: d_step { life == RUN && live && ENDED(0) && ENDED(1) && stage == NOTHING && !over -> over = 1;
               CHECK(count == T * CALLS, "a call is done twice, or not at all\n") }
   :: over -> break
   od
}

init { atomic { life = RUN; live = 1; run World(); run Cutter(); run Thread(0); run Thread(1) } }
