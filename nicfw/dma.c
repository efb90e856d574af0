/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * STORE: moves payload from the card to host memory. Also the jobs of all
 * engines: one for each pending dma. The card (card.c) tells the owner of a job
 * that its dma has ended.
 */
#include <nicfw/dma.h>

#include <nicfw/inbound.h>

enum bcl_dma_result bcl_nic_dma_job(struct bcl_card *card,
				    enum bcl_dma_direction direction,
				    uint16_t port, int remote,
				    const struct bcl_memref *ref, void *mem,
				    enum nic_job_kind kind, void *object,
				    struct nic_buffer *buffer)
{
	struct nic_job *job = nic_pool_take(&card->jobs);
	enum bcl_dma_result result;

	bcl_assert(job);
	job->kind = kind;
	job->object = object;
	job->buffer = buffer;
	job->used = 1;
	result = card->hal.dma(card->host, direction, port, remote, ref, mem,
			       (uint32_t)(job - card->job));
	if (result != BCL_DMA_PENDING) {
		job->used = 0;
		nic_pool_put(&card->jobs, &job->link);
	}
	return result;
}

unsigned bcl_card_dma_rail(const struct bcl_card *card, uint32_t cookie)
{
	const struct nic_buffer *buffer = card->job[cookie].buffer;

	return buffer ? buffer->rail : 0;
}

void bcl_nic_dma_store(struct bcl_card *card, struct nic_inbound *inbound,
		       uint32_t offset, const uint8_t *payload, uint32_t length,
		       struct nic_buffer *buffer)
{
	struct bcl_memref ref = inbound->where;

	/* A channel's buffer may be shorter than the message. */
	if (offset >= ref.length)
		return;
	ref.length = bcl_min32(length, ref.length - offset);
	ref.offset += offset;
	if (ref.length == 0 || inbound->failed)
		return;
	switch (nic_dma(card, BCL_DMA_WRITE, inbound->area_port,
			inbound->remote, &ref, (void *)(uintptr_t)payload,
			NIC_JOB_STORE, inbound, buffer)) {
	case BCL_DMA_DONE:
		break;
	case BCL_DMA_PENDING:
		inbound->jobs++;
		if (buffer)
			buffer->jobs++;
		break;
	case BCL_DMA_FAULT:
		nic_inbound_fail(inbound);
		break;
	}
}

bool bcl_nic_dma_end(struct bcl_card *card, uint32_t cookie,
		     struct nic_job *ended)
{
	struct nic_job *job;

	if (cookie >= nic_dma_jobs(&card->config))
		return false;
	job = &card->job[cookie];
	if (!job->used)
		return false;
	*ended = *job;
	job->used = 0;
	nic_pool_put(&card->jobs, &job->link);
	return true;
}
