/* SPDX-License-Identifier: BSD-3-Clause */
/* One signal to a process group reaches both launcher processes, and the standby passes its own on: it counts once. */
#include <criterion/criterion.h>
#include <signal.h>

#include "launcher/signals.h"

enum { SHELL = 77, MS = 1000000 };

static struct ft_signals s;

static bool again(int signal, pid_t sender, bool direct, uint64_t ms) { return ft_signals_again(&s, signal, sender, direct, (1000 + ms) * MS); }

Test(signals, a_pair_counts_once)
{
    cr_expect_not(again(SIGTERM, SHELL, true, 0));
    cr_expect(again(SIGTERM, SHELL, false, 50));
    cr_expect_not(again(SIGTERM, SHELL, false, 100), "sent to the standby only");
    cr_expect(again(SIGTERM, SHELL, true, 150), "which had come to us late");
}

/* Found: bg, fg, Ctrl-Z. The standby's second SIGCONT came after the terminal's SIGTSTP, was taken for a new one, and the ranks
   that had just been stopped went on (jobcontrol.sh, on a busy machine). */
Test(signals, what_is_passed_on_late_does_not_undo_what_came_since)
{
    cr_expect_not(again(SIGCONT, SHELL, true, 0));
    cr_expect_not(again(SIGCONT, SHELL, true, 10));
    cr_expect_not(again(SIGTSTP, 0, true, 20));
    cr_expect(again(SIGCONT, SHELL, false, 30));
    cr_expect(again(SIGCONT, SHELL, false, 40));
    cr_expect_not(again(SIGCONT, SHELL, true, 50), "fg");
}

Test(signals, others_and_later_ones_are_new)
{
    cr_expect_not(again(SIGTERM, SHELL, true, 0));
    cr_expect_not(again(SIGTERM, SHELL + 1, false, 10));
    cr_expect_not(again(SIGTERM, SHELL + 1, true, 5000));
    cr_expect_not(again(SIGINT, 0, true, 5000));
    cr_expect_not(again(SIGINT, 0, true, 5000), "a terminal's are not sent twice");
}
