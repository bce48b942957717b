/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes on with a job whose agent was killed. */
#ifndef LAUNCHER_AGENT_ADOPT_H
#define LAUNCHER_AGENT_ADOPT_H

#include "launcher/agent/state.h"

/* In the new agent, with its event loop and output set up. Living ranks go on undisturbed, unless what they printed last went with
   the old agent: those are started again, and make it again. */
void ft_adopt(struct ft_agent *a);

#endif
