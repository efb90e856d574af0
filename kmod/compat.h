/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* All differences between kernel versions are here. */
#ifndef BCL_KMOD_COMPAT_H
#define BCL_KMOD_COMPAT_H

#include <linux/crc32.h>
#include <linux/eventfd.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/version.h>

#include <net/sock.h>

static inline void bcl_compat_eventfd_signal(struct eventfd_ctx *event)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	eventfd_signal(event);
#else
	eventfd_signal(event, 1);
#endif
}

/* A read of the socket that finds nothing does not poll the interface. */
static inline void bcl_compat_no_busy_loop(struct sock *sk)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	WRITE_ONCE(sk->sk_ll_usec, 0);
#endif
}

static inline void bcl_compat_vm_flags(struct vm_area_struct *area,
				       unsigned long set, unsigned long clear)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(area, set, clear);
#else
	area->vm_flags = (area->vm_flags | set) & ~clear;
#endif
}

/* get_user_pages_remote() with the process's mmap lock, which stays held. */
static inline long bcl_compat_get_pages(struct mm_struct *mm,
					unsigned long address, unsigned long n,
					unsigned int flags, struct page **page)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	return get_user_pages_remote(mm, address, n, flags, page, NULL);
#else
	return get_user_pages_remote(mm, address, n, flags, page, NULL, NULL);
#endif
}

/* pin_user_pages_remote(), likewise. */
static inline long bcl_compat_pin_pages(struct mm_struct *mm,
					unsigned long address, unsigned long n,
					unsigned int flags, struct page **page)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	return pin_user_pages_remote(mm, address, n, flags, page, NULL);
#else
	return pin_user_pages_remote(mm, address, n, flags, page, NULL, NULL);
#endif
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0) && defined(CONFIG_X86_64)
/* crc.c is faster than the kernel. */
#define BCL_COMPAT_CRC_INSTRUCTION
#endif

static inline u32 bcl_compat_crc32c(u32 crc, const void *data, size_t length)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
	return crc32c(crc, data, length);
#else
	return __crc32c_le(crc, data, length);
#endif
}

static inline void
bcl_compat_hrtimer(struct hrtimer *timer,
		   enum hrtimer_restart (*run)(struct hrtimer *timer))
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, run, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	timer->function = run;
#endif
}

#endif
