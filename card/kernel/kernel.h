/* SPDX-License-Identifier: MIT */
/*
 * The library's side of a card in the kernel (bcl/card_device.h): a host of the
 * card that turns each operation into a call of the device. The kernel does all
 * work of the card, so poll() finds nothing to do, and an event needs no call:
 * the card writes the event where the library looks.
 *
 * The card is not autonomous (ops.h): processors of the program's host do its
 * work, in the doorbell or in an interrupt.
 *
 * The device serialises its calls, so this host has no lock.
 */
#ifndef BCL_KERNEL_H
#define BCL_KERNEL_H

#include <bcl/card_device.h>

#include "card/ops.h"

struct bcl_host_seat {
	uint32_t seat;	  /* the card's name for the port */
	uint8_t *part[2]; /* mapped, by enum bcl_device_part; or NULL */
	size_t size[2];
};

struct bcl_kernel {
	struct bcl_host base;
	struct bcl_host_setup setup;
	int fd; /* of the device */
	const struct bcl_device_news *news;
	size_t news_size;
	char interface[BCL_DEVICE_ENDS][16]; /* names of the ends */
	/*
	 * The library does not see ends that the card refused: by the library's
	 * number of an end, the card's.
	 */
	uint8_t end_of[BCL_DEVICE_ENDS];
	_Atomic uint32_t up; /* bit e: the card's end e works */
};

static inline struct bcl_kernel *bcl_kernel_of(struct bcl_host *host)
{
	return (struct bcl_kernel *)(void *)host; /* base is the first member */
}

/* ---- call.c ---- */

/* Call the device. SYSTEM: the kernel refused, which was logged; the library
 * gives a card that works no reason to. NOMEM, likewise logged: a limit of the
 * user. */
enum bcl_status bcl_kernel_call(const struct bcl_kernel *host,
				unsigned long call, const char *name,
				void *argument);
/* Likewise, with a number for an argument. */
enum bcl_status bcl_kernel_call_number(const struct bcl_kernel *host,
				       unsigned long call, const char *name,
				       uint32_t number);

/* ---- node.c ---- */

enum bcl_status bcl_kernel_connect(struct bcl_host *host,
				   const struct bcl_address *address,
				   const struct bcl_host_way *ways, unsigned n,
				   uint32_t *index, struct bcl_host_node *node);
uint32_t bcl_kernel_node(struct bcl_host *host, uint32_t index,
			 struct bcl_host_node *node);
enum bcl_status bcl_kernel_node_info(struct bcl_host *host, uint32_t index,
				     struct bcl_node_info *info);

/* ---- open.c ---- */

enum bcl_status bcl_kernel_open(const struct bcl_host_setup *setup,
				char why[BCL_HOST_WHY],
				struct bcl_host **result);
void bcl_kernel_close(struct bcl_host *host);

/* ---- ends.c ---- */

/*
 * Name the ends that the settings want, as the in-process host would choose
 * them, for OPEN. Stores the names of their interfaces. NORAIL: the settings
 * want none, or the system lists none; `why` says why. NOMEM.
 */
enum bcl_status bcl_kernel_want_ends(struct bcl_kernel *host,
				     struct bcl_device_open *open,
				     char why[BCL_HOST_WHY]);
/* Fill in the fields of the host that the library reads, from the ends that the
 * card accepted. */
void bcl_kernel_show_ends(struct bcl_kernel *host,
			  const struct bcl_device_open *open);
/* Log the interfaces that went up or down since the last call. */
void bcl_kernel_watch(struct bcl_host *host);

/* ---- port.c ---- */

enum bcl_status bcl_kernel_port_open(struct bcl_host *host, int object,
				     struct bcl_control *control,
				     struct bcl_host_area areas[BCL_AREAS],
				     struct bcl_host_seat **seat);
void bcl_kernel_port_close(struct bcl_host *host, struct bcl_host_seat *seat);

#endif
