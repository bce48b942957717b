/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of the making of a copy, and of its waking, at which a test kills the process that has come to them (test/start.c, cuts.sh). In the
   library that ships there is nothing of this, as of ft_lock_point. */
#ifndef FT_OUTCOME_POINT_H
#define FT_OUTCOME_POINT_H

enum ft_cut_point {
    FT_CUT_POINTS = 16,   /* numbered past those of locks (enum ft_lock_point) */
    /* the rank */
    FT_CUT_BEGINS = FT_CUT_POINTS, /* threads are told to stand */
    FT_CUT_SIGNALLED,     /* one has been sent the signal */
    FT_CUT_ONE,           /* one is found to stand */
    FT_CUT_ALL,           /* all are */
    FT_CUT_LOOKED,        /* what the kernel knows of them is noted */
    FT_CUT_NOTED,         /* what the copy needs of the log is */
    FT_CUT_CLONED,
    FT_CUT_FORKED,        /* that is said */
    FT_CUT_WAITERS,       /* those that wait may go on */
    FT_CUT_GOES,          /* all may */
    FT_CUT_GONE,          /* those that sleep have been woken */
    /* the copy */
    FT_COPY_BEGINS,
    FT_COPY_JOINED,       /* it can be found */
    FT_COPY_TAKEN,        /* that it stands is said */
    FT_COPY_WOKEN,
    FT_COPY_CLONED,       /* the next incarnation is there */
    FT_COPY_SAID,         /* the agent is told */
    /* the next incarnation */
    FT_WAKE_BEGINS,
    FT_WAKE_RUNS,         /* the agent watches over it */
    FT_WAKE_RESUMED,      /* what there is to be given is known */
    FT_WAKE_FIRST,        /* no thread is put back */
    FT_WAKE_ONE,          /* one more is */
    FT_WAKE_ALL,
    FT_WAKE_THREAD,       /* of each thread that is put back: it begins, */
    FT_WAKE_GOES,         /* and goes on where it stood */
    FT_CUT_POINTS_END
};

#ifdef FT_LOCK_TESTED
void ft_cut_point(enum ft_cut_point point);
#else
static inline void ft_cut_point(enum ft_cut_point point) { (void)point; }
#endif

#endif
