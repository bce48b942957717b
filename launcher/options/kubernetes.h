/* SPDX-License-Identifier: BSD-3-Clause */
/* What a pod of Kubernetes' knows by its environment: who the other pods of its job are, where all start the same command.

     XGBoostJob, PyTorchJob (training-operator v1)  MASTER_ADDR, WORLD_SIZE (pods), RANK; not MASTER_PORT, which is the program's
     Trainer v2, runtime for XGBoost                DMLC_TRACKER_URI, DMLC_NUM_WORKER (workers), DMLC_TASK_ID; likewise
     Trainer v2, runtime for PyTorch; PyTorchJob    PET_*: ft_rdzv_settings_torchrun
     JobSet, an indexed Job                         JOB_COMPLETION_INDEX, and nothing about the others */
#ifndef LAUNCHER_OPTIONS_KUBERNETES_H
#define LAUNCHER_OPTIONS_KUBERNETES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/base/err.h"

enum { FT_KUBERNETES_URL = 640 };

struct ft_kubernetes {
    char contract[64];             /* names of the variables that say so */
    char url[FT_KUBERNETES_URL];   /* rdzv://POD:PORT/JOB: the store is in the ftrun of the first pod */
    uint32_t nodes, per_host;      /* pods, and ranks on each */
};

/* getenv, or as it. */
typedef const char *ft_kubernetes_get(void *arg, const char *name);

/* This is a pod: other pods, and their names, may come later than it does, and return with another address. */
bool ft_kubernetes_is_here(void);

/* The name under which other pods reach this one: its host's, or that with the domain that Kubernetes has written beside it. False: it has
   none. */
bool ft_kubernetes_name(char *name, size_t size);

/* Where pods meet: 29400, or the next one if the program listens at that. NULL: it listens nowhere. */
uint16_t ft_kubernetes_port(const char *taken);

/* 1: there are others, and k says who; 0: nothing says so; FT_EINVAL with a line. own: this host's name; per_host: as said by -N, 0: not
   said. */
int ft_kubernetes_read(struct ft_kubernetes *k, const char *own, uint32_t per_host, ft_kubernetes_get *get, void *arg, struct ft_error *e);

/* FT_EINVAL with a line: two or all of three variables are set that only say something together, and one of them has no value. Each pod
   would be a job of its own, without a word. One alone is another's, as a program's MASTER_ADDR. */
int ft_kubernetes_whole(const char *first, const char *size, const char *index, ft_kubernetes_get *get, void *arg, struct ft_error *e);

/* One of several pods of an indexed Job that knows nothing of the others: its number. -1: it is none. */
int64_t ft_kubernetes_alone(ft_kubernetes_get *get, void *arg);

#endif
