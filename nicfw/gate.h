/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Gates: requests enter their flows, or wait behind a fence. */
#ifndef NICFW_GATE_H
#define NICFW_GATE_H

#include <nicfw/card.h>

/* A request enters its flow, or waits behind a fence. */
void bcl_nic_gate_submit(struct bcl_card *card, struct nic_message *message);
/* Open the gates in card->gates: nothing before their first fence is left. */
void bcl_nic_gate_open(struct bcl_card *card);

#endif
