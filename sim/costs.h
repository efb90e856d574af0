/* SPDX-License-Identifier: MIT */
/*
 * Costs of the hosts and cards of a simulated cluster. Times are in ns, rates
 * in ps per byte. 0: free, or unbounded.
 */
#ifndef SIM_COSTS_H
#define SIM_COSTS_H

#include <bcl/card_abi.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SIM_WORD = 8, /* bytes per write to the card */
	/* of a request without references and payload */
	SIM_REQUEST_WORDS = offsetof(struct bcl_request, refs) / SIM_WORD,
	SIM_REFERENCE_WORDS = sizeof(struct bcl_memref) / SIM_WORD,
};

/* ns that a transfer takes. */
static inline uint64_t sim_costs_transfer(uint64_t bytes, uint64_t ps_per_byte)
{
	return (bytes * ps_per_byte + 999) / 1000;
}

struct sim_host_costs {
	uint64_t send, receive; /* the library's part of a message */
	uint64_t trap;		/* into the kernel and back: a doorbell */
	uint64_t pio_write;	/* 8 bytes to the card */
	uint64_t copy;		/* ps per byte, from memory to memory */
	uint64_t line;		/* a cache line, from processor to processor */
};

/* ns that a message without payload costs the sender. */
static inline uint64_t sim_costs_request(const struct sim_host_costs *costs)
{
	return costs->send + costs->trap + SIM_REQUEST_WORDS * costs->pio_write;
}

/* A direction of a card's DMA engine. */
struct sim_dma_costs {
	uint64_t start;
	uint64_t ps_per_byte;
};

struct sim_card_costs {
	uint64_t frame_sent, frame_received; /* on the card's processor */
	struct sim_dma_costs read, write;    /* host to card, card to host */
	uint32_t buffers; /* frames that fit on the card, per direction */
	uint32_t units;	  /* processors with engines; 0: one */
	uint32_t mtu;
};

struct sim_costs {
	struct sim_host_costs host;
	struct sim_card_costs card;
};

#endif
