/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "launcher/options/kubernetes.h"

#include <stdlib.h>

bool ft_kubernetes_is_here(void)
{
    const char *server = getenv("KUBERNETES_SERVICE_HOST");

    return server && *server;
}
