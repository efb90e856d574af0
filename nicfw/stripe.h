/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Long messages over several rails. */
#ifndef NICFW_STRIPE_H
#define NICFW_STRIPE_H

#include <nicfw/card.h>

/* Bytes of the next stripe, when `left` bytes remain. */
uint32_t bcl_nic_stripe_length(const struct nic_conn *conn, uint32_t left);
/* The rail for the next stripe; BCL_RAILS_MAX: none now. */
unsigned bcl_nic_stripe_pick(const struct bcl_card *card,
			     const struct nic_conn *conn, uint32_t stripe,
			     uint32_t left);
/*
 * Measure the pace of a rail: a stripe is put in flight (begin), bytes are
 * acknowledged while more are in flight (acked).
 */
void bcl_nic_stripe_begin(struct nic_window *window);
void bcl_nic_stripe_acked(const struct bcl_card *card,
			  struct nic_window *window, uint32_t bytes);

#endif
