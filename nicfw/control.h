/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The control calls. */
#ifndef NICFW_CONTROL_H
#define NICFW_CONTROL_H

#include <nicfw/card.h>

/* Carry out a control call, as bcl_card_control() does. */
enum bcl_status bcl_nic_control(struct bcl_card *card,
				const struct bcl_control *control,
				uint32_t *result);

#endif
