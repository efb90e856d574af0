/* SPDX-License-Identifier: MIT */
/* Questions that a program may ask the glue loaded into it, by dlsym(). Used by
 * bcl-pvm --check. */
#ifndef BCL_PVM_STATE_H
#define BCL_PVM_STATE_H

#include <bcl/bcl.h>

/* Version of the glue. This function is the same in all versions, the others
 * need not be. */
int bcl_pvm_version(void);
/* Why the glue does not use BCL in this process. NULL: BCL is used. */
const char *bcl_pvm_passive(void);
/*
 * How messages to a task go. OK: by BCL, see `info`. AGAIN: by PVM until more
 * messages have been exchanged. Other values: by PVM, and why.
 */
enum bcl_status bcl_pvm_path(int tid, struct bcl_peer_info *info);

#endif
