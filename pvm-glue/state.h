/* SPDX-License-Identifier: MIT */
/* What a program may ask the glue that it finds itself with, by dlsym(): for
 * bcl-pvm --check. */
#ifndef BCL_PVM_STATE_H
#define BCL_PVM_STATE_H

#include <bcl/bcl.h>

/* The same in all versions, the others need not be. */
int bcl_pvm_version(void);
/* Why it does not use BCL in this process; NULL: it does. */
const char *bcl_pvm_passive(void);
/*
 * How messages to a task go. OK: by BCL, see `info`; AGAIN: by PVM, until more
 * messages have been exchanged; else by PVM, and why.
 */
enum bcl_status bcl_pvm_path(int tid, struct bcl_peer_info *info);

#endif
