/* SPDX-License-Identifier: BSD-3-Clause */
#include "ft/comm.h"
