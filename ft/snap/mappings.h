/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of this process that others see. */
#ifndef FT_SNAP_MAPPINGS_H
#define FT_SNAP_MAPPINGS_H

#include "ft/snap/image.h"

/* FT_IMAGE_MAPPING: there is writable shared memory that is not the library's own: what was written there since a snapshot cannot be
   taken back. FT_IMAGE_SYSTEM: the system does not tell. */
enum ft_image_reason ft_mappings_look(const struct ft_image_own *own);

#endif
