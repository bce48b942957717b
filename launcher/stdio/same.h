/* SPDX-License-Identifier: BSD-3-Clause */
/* Tracebacks of Python that are the same of several ranks: one is shown, and how many there were.

   What a rank prints on stderr stays in its pipe as long as it is, from its beginning, the traceback of another rank, which has been
   shown; for FT_SAME_MS at most. If the rank dies of a failure meanwhile, and that is all it has said, it is left out of ftrun's stderr; in the rank's own
   file it is. Nothing else is ever held: what is in the pipe is nobody's, so a successor of this agent shows it. */
#ifndef LAUNCHER_STDIO_SAME_H
#define LAUNCHER_STDIO_SAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FT_SAME_MS = 5000, FT_SAME_LOOK_MS = 100 };

struct ft_same;
struct ft_say;

/* NULL: no memory, or no descriptors. */
struct ft_same *ft_same_new(uint32_t nranks);

/* A rank's stderr is being passed on; begins: data begins a line. */
void ft_same_note(struct ft_same *s, uint32_t rank, const char *data, size_t len, bool begins);

/* What the pipe holds, which begins a line, begins as another rank's traceback does, and does not go on behind its end. */
bool ft_same_holds(struct ft_same *s, uint32_t rank, int fd);

/* The rank is dead: what the pipe holds is another rank's traceback. It counts. */
bool ft_same_take(struct ft_same *s, uint32_t rank, int fd);

/* Says how many there were; ranks: their numbers in the job, NULL: as they are. */
void ft_same_tell(struct ft_same *s, const struct ft_say *say, const uint32_t *ranks);

void ft_same_free(struct ft_same *s);

#endif
