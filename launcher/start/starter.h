/* SPDX-License-Identifier: BSD-3-Clause */
/* `ftrun --starter`: starts the node of its host and a share of the others for the ftrun that has started it, which says on standard input
   what (shares.h), and reads on standard output what has become of it. It stays as long as what it has started; when nobody talks to it any
   more, or it is told to end, it ends what has not come up, and waits for the rest. */
#ifndef LAUNCHER_START_STARTER_H
#define LAUNCHER_START_STARTER_H

/* main; the exit code. */
int ft_starter_main(void);

#endif
