/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Dma jobs, and payload on its way to host memory. */
#ifndef NICFW_DMA_H
#define NICFW_DMA_H

#include <nicfw/card.h>

enum nic_job_kind {
	NIC_JOB_INTAKE,	  /* object: port */
	NIC_JOB_FREED,	  /* object: port */
	NIC_JOB_SLEEPING, /* object: port */
	NIC_JOB_FETCH,	  /* object: buffer to be sent */
	NIC_JOB_STORE,	  /* object: inbound; buffer: the received frame */
};

struct nic_job {
	struct nic_link link; /* free */
	void *object;
	struct nic_buffer *buffer;
	uint8_t kind;
	uint8_t used;
};

/*
 * A frame in card memory. Sender: `jobs` counts pending fetches. Receiver:
 * `jobs` counts segments that are not stored yet.
 */
struct nic_buffer {
	struct nic_link link;	   /* rail->fetched; free */
	struct nic_conn *conn;	   /* sender */
	struct nic_flight *flight; /* sender; NULL: no longer wanted */
	uint32_t jobs;
	uint16_t length;
	uint8_t rail;
	uint8_t fault;
	uint8_t *bytes;
};

/* Jobs of a card. */
static inline uint32_t nic_dma_jobs(const struct bcl_card_config *config)
{
	return config->buffers * 16 + 64;
}

enum bcl_dma_result bcl_nic_dma_job(struct bcl_card *card,
				    enum bcl_dma_direction direction,
				    uint16_t port, int remote,
				    const struct bcl_memref *ref, void *mem,
				    enum nic_job_kind kind, void *object,
				    struct nic_buffer *buffer);

/*
 * hal.dma(). After BCL_DMA_PENDING bcl_card_dma_done() continues with the
 * object. The caller has made sure that a job is free.
 */
static inline enum bcl_dma_result
nic_dma(struct bcl_card *card, enum bcl_dma_direction direction, uint16_t port,
	int remote, const struct bcl_memref *ref, void *mem,
	enum nic_job_kind kind, void *object, struct nic_buffer *buffer)
{
	return card->gather ? card->hal.dma(card->host, direction, port, remote,
					    ref, mem, 0)
			    : bcl_nic_dma_job(card, direction, port, remote,
					      ref, mem, kind, object, buffer);
}

/*
 * Move `length` payload bytes to `offset` of the message. A channel's buffer
 * may be shorter: the rest is dropped. Without BCL_HAL_GATHER a free job must
 * be there.
 */
void bcl_nic_dma_store(struct bcl_card *card, struct nic_inbound *inbound,
		       uint32_t offset, const uint8_t *payload, uint32_t length,
		       struct nic_buffer *buffer);
/*
 * A dma has ended: free its job, after a copy of it. Returns false if there is
 * no such job.
 */
bool bcl_nic_dma_end(struct bcl_card *card, uint32_t cookie,
		     struct nic_job *ended);

#endif
