/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * STORE: moves payload from the card to host memory. Also the jobs of all
 * engines: one for each pending dma.
 */
#include <nicfw/dma.h>

#include <nicfw/assemble.h>
#include <nicfw/launch.h>
#include <nicfw/port.h>
#include <nicfw/sdma.h>

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

static void fail_inbound(struct nic_inbound *inbound)
{
	inbound->failed = 1;
	inbound->status = BCL_ERR_MEMORY;
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
		fail_inbound(inbound);
		break;
	}
}

static void stored(struct bcl_card *card, struct nic_inbound *inbound,
		   struct nic_buffer *buffer, enum bcl_dma_result result)
{
	bcl_assert(inbound->jobs && (!buffer || buffer->jobs));
	if (buffer && --buffer->jobs == 0)
		nic_pool_put(&card->in, &buffer->link);
	inbound->jobs--;
	if (result != BCL_DMA_DONE)
		fail_inbound(inbound);
	bcl_nic_assemble_stored(card, inbound);
}

void bcl_nic_dma_done(struct bcl_card *card, uint32_t cookie,
		      enum bcl_dma_result result)
{
	struct nic_job *job = &card->job[cookie];
	struct nic_buffer *buffer = job->buffer;
	void *object = job->object;
	struct nic_port *port = object;

	if (!job->used)
		return;
	job->used = 0;
	nic_pool_put(&card->jobs, &job->link);
	switch ((enum nic_job_kind)job->kind) {
	case NIC_JOB_INTAKE:
		if (!port->closed)
			bcl_nic_sdma_fetched(card, port, result);
		bcl_nic_port_job_done(card, port);
		break;
	case NIC_JOB_FREED:
		port->freed_due = 0;
		if (!port->closed && result == BCL_DMA_DONE)
			bcl_nic_port_freed(card, port, NIC_BLOCKS);
		bcl_nic_port_job_done(card, port);
		break;
	case NIC_JOB_SLEEPING:
		port->sleeping_due = 0;
		if (!port->closed && result == BCL_DMA_DONE)
			bcl_nic_port_slept(card, port);
		bcl_nic_port_job_done(card, port);
		break;
	case NIC_JOB_FETCH:
		bcl_nic_launch_dma_done(card, buffer, result);
		break;
	case NIC_JOB_STORE:
		stored(card, object, buffer, result);
		break;
	}
}
