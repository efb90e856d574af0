/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Users: how much each uid has of what the module gives, in all its cards, and
 * the limits, which are the module's parameters. A parameter may change at any
 * time; charges of earlier stay.
 */
#ifndef BCL_KMOD_USER_H
#define BCL_KMOD_USER_H

#include <linux/types.h>
#include <linux/uidgid.h>

enum bcl_kmod_resource {
	BCL_KMOD_CARDS,
	BCL_KMOD_PORTS,
	BCL_KMOD_MEMORIES, /* registered */
	BCL_KMOD_PAGES,	   /* pinned */
	BCL_KMOD_PEERS,	   /* nodes that are CONNECTING or UP */
	BCL_KMOD_FRAMES,   /* that wait for a card */
	BCL_KMOD_RESOURCES
};

struct bcl_kmod_user;

/* The user of current, charged with a card. May sleep. Returns an ERR_PTR:
 * EDQUOT, or ENOMEM. */
struct bcl_kmod_user *bcl_kmod_user_get(void);
/* Discharge the card. May sleep. */
void bcl_kmod_user_put(struct bcl_kmod_user *user);
kuid_t bcl_kmod_user_id(const struct bcl_kmod_user *user);

/* Returns false, and charges nothing, where the limit would be exceeded. In any
 * context, as the functions below. */
bool bcl_kmod_charge(struct bcl_kmod_user *user,
		     enum bcl_kmod_resource resource, unsigned long n);
/* Charge one beyond the limit, too. */
void bcl_kmod_charge_anyway(struct bcl_kmod_user *user,
			    enum bcl_kmod_resource resource);
void bcl_kmod_discharge(struct bcl_kmod_user *user,
			enum bcl_kmod_resource resource, unsigned long n);
bool bcl_kmod_is_full(const struct bcl_kmod_user *user,
		      enum bcl_kmod_resource resource);

#endif
