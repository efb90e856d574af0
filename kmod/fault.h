/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Faults on purpose: frames of a card are lost, doubled, reordered or corrupted
 * between the card and the device, as wire/fault.h does in a process.
 */
#ifndef BCL_KMOD_FAULT_H
#define BCL_KMOD_FAULT_H

#include <linux/prandom.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <bcl/card_device.h>

struct bcl_kmod_host;

struct bcl_kmod_fault {
	bool on; /* read without the lock */
	spinlock_t lock;
	struct bcl_device_fault plan;
	struct rnd_state random;
	u64 passed; /* frames */
	u64 struck[BCL_DEVICE_FAULTS];
	struct sk_buff_head held; /* frames that later ones overtake */
	struct delayed_work release;
};

void bcl_kmod_fault_init(struct bcl_kmod_fault *fault);
/* No frame is sent any more. Held frames are lost, and there is no plan. */
void bcl_kmod_fault_close(struct bcl_kmod_fault *fault);
/* Carry out the plan from the next frame on. */
void bcl_kmod_fault_set(struct bcl_kmod_fault *fault,
			const struct bcl_device_fault *plan);
/* In a turn. */
void bcl_kmod_fault_show(struct bcl_kmod_fault *fault,
			 struct bcl_device_fault *plan,
			 u64 struck[BCL_DEVICE_FAULTS]);
/* As bcl_kmod_send(), or let a fault strike. The caller is the only one for
 * this card. */
unsigned int bcl_kmod_fault_send(struct bcl_kmod_host *host,
				 struct sk_buff *packet);

#endif
