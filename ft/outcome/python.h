/* SPDX-License-Identifier: BSD-3-Clause */
/* Python's forced switch. Its threads take turns; one that waits forces a switch after 5 ms, wherever the other one is in its byte code. That is
   no call, so no record tells it, and threads that compute cannot be met again in a replay. In ranks that are recorded it is 1 s: less than that
   threads compute seldom between two calls at which they let others go on. FTMPI_PYTHON_SWITCH names other seconds; 0 or nothing: as Python has it. */
#ifndef FT_OUTCOME_PYTHON_H
#define FT_OUTCOME_PYTHON_H

/* To be called before each thread is made: it has nothing more to do when it has done it. A program that has set an interval keeps it, and so
   does one that sets it afterwards. */
void ft_python_first_thread(void);

#endif
