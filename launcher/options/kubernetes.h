/* SPDX-License-Identifier: BSD-3-Clause */
/* What a pod of Kubernetes' knows by its environment. */
#ifndef LAUNCHER_OPTIONS_KUBERNETES_H
#define LAUNCHER_OPTIONS_KUBERNETES_H

#include <stdbool.h>

/* This is a pod: other pods, and their names, may come later than it does, and return with another address. */
bool ft_kubernetes_is_here(void);

#endif
