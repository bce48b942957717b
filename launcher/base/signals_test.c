/* SPDX-License-Identifier: BSD-3-Clause */
/* One signal to a process group reaches both launcher processes, and the standby passes its own on: it counts once. */
#include <criterion/criterion.h>
#include <signal.h>
#include <unistd.h>

#include "launcher/base/signals.h"

enum { SHELL = 77, MS = 1000000 };

static struct ft_signals s;

static void reset(void) { s = (struct ft_signals){.fd = -1}; }
static bool here(void) { return ft_signals_count(&s, false); }
static bool passed_on(void) { return ft_signals_count(&s, true); }
static bool twice(int signal, pid_t sender, uint64_t us) { return ft_signals_twice(&s, signal, sender, 1000 * MS + us * 1000); }

Test(signals, an_end_asked_for_of_both_counts_once, .init = reset)
{
    cr_expect(here());
    cr_expect_not(passed_on(), "however late it comes: no clock is asked");
    cr_expect(passed_on(), "the second one");
    cr_expect_not(here(), "which had come to us late");
}

Test(signals, an_end_asked_for_of_either_counts, .init = reset)
{
    cr_expect(passed_on());
    cr_expect(passed_on());
    cr_expect_not(here(), "one here, two there");
    cr_expect_not(here());
    cr_expect(here());
}

/* What the fork has left of the predecessor's would keep the first one from counting. */
Test(signals, a_successor_counts_anew, .init = reset)
{
    passed_on();
    ft_signals_forget(&s);
    cr_expect(here());
}

Test(signals, what_comes_twice_at_once_is_one, .init = reset)
{
    cr_expect_not(twice(SIGTERM, SHELL, 0));
    cr_expect(twice(SIGTERM, SHELL, 900));
    cr_expect(twice(SIGTERM, SHELL, 90000), "timeout, which had to wait for a processor in between (hosts.sh failed 6 of 180 times under load)");
    cr_expect_not(twice(SIGTERM, SHELL, 110000), "a tenth of a second after the one that counted");
    cr_expect_not(twice(SIGTERM, SHELL + 1, 110001));
    cr_expect_not(twice(SIGUSR1, SHELL, 0));
    cr_expect(twice(SIGUSR1, SHELL, 900));
    cr_expect_not(twice(SIGUSR1, SHELL, 1100), "a program may count them");
    cr_expect_not(twice(SIGINT, 0, 1300));
    cr_expect_not(twice(SIGINT, 0, 1300), "a terminal's are not sent twice");
    cr_expect_not(twice(SIGTSTP, SHELL, 1400));
    cr_expect_not(twice(SIGCONT, SHELL, 1400));
    cr_expect_not(twice(SIGTSTP, SHELL, 1400), "or the job would go on");
}

/* Found: bg, fg, Ctrl-Z; the shell's SIGCONT came after the SIGTSTP, and the ranks that had just been stopped went on. Within one process they
   cannot: the kernel takes back what has not been read. */
Test(signals, stop_and_continue_are_read_in_their_order, .init = reset)
{
    cr_assert_eq(ft_signals_take(&s), 0);
    kill(getpid(), SIGCONT);
    kill(getpid(), SIGTSTP);
    cr_expect_eq(ft_signals_next(&s), SIGTSTP);
    cr_expect_eq(ft_signals_next(&s), 0);
    kill(getpid(), SIGTERM);
    cr_expect_eq(ft_signals_next(&s), SIGTERM);
    ft_signals_put_back(&s, SIGTERM);
    cr_expect_eq(ft_signals_next(&s), SIGTERM);
    cr_expect_eq(ft_signals_next(&s), 0);
}
