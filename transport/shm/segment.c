/* SPDX-License-Identifier: MIT */
/* Making, mapping and reserving the segment of a pair; see segment.h. */
#include "transport/shm/segment.h"

#include "transport/shm/host.h"

static size_t ring_size(uint32_t slots)
{
	return (size_t)slots * BCL_SLOT_SIZE;
}

/* The offset of the areas: behind the part that every pair needs. */
static size_t areas_offset(uint32_t slots)
{
	return sizeof(struct bcl_segment_head) + 2 * ring_size(slots);
}

enum {
	AREAS_SIZE = 2 * BCL_BOUNCE_SIZE + 2 * BCL_RMA_AREA,
};

static size_t file_size(uint32_t slots)
{
	return areas_offset(slots) + AREAS_SIZE;
}

/* Bytes of address space: head, ring 0 twice, ring 1 twice, the areas. */
static size_t address_space_size(uint32_t slots)
{
	return file_size(slots) + 2 * ring_size(slots);
}

static enum bcl_status map_file(const struct bcl_env *env, int fd,
				uint32_t slots, struct bcl_segment *segment)
{
	size_t head = sizeof(struct bcl_segment_head), ring = ring_size(slots);
	const struct bcl_shm_part parts[] = {
		{ 0, head },	       { head, ring },
		{ head, ring },	       { head + ring, ring },
		{ head + ring, ring }, { areas_offset(slots), AREAS_SIZE },
	};
	uint8_t *base = env->shm_host->map(env->world, fd, parts, 6, true);
	uint8_t *areas;
	unsigned side;

	if (!base)
		return BCL_ERR_NOMEM;
	areas = base + head + 4 * ring;
	segment->head = (struct bcl_segment_head *)base;
	for (side = 0; side < 2; side++) {
		segment->ring[side] =
			(struct bcl_slot *)(base + head + side * 2 * ring);
		segment->bounce[side] = areas + side * BCL_BOUNCE_SIZE;
		segment->rma[side] =
			areas + 2 * BCL_BOUNCE_SIZE + side * BCL_RMA_AREA;
	}
	segment->slots = slots;
	segment->fd = fd;
	return BCL_OK;
}

enum bcl_status bcl_segment_create(const struct bcl_env *env, uint32_t slots,
				   struct bcl_segment *segment)
{
	enum bcl_status status;
	int fd;

	/* only the part that every pair needs is reserved now */
	status = env->shm_host->make(env->world, file_size(slots),
				     areas_offset(slots), &fd);
	if (status)
		return status;
	status = map_file(env, fd, slots, segment);
	if (status)
		env->shm_host->close(env->world, fd);
	return status;
}

enum bcl_status bcl_segment_map(const struct bcl_env *env, int fd,
				uint32_t slots, struct bcl_segment *segment)
{
	if (slots < BCL_SEGMENT_SLOTS_MIN || slots > BCL_SEGMENT_SLOTS_MAX ||
	    (slots & (slots - 1)))
		return BCL_ERR_ARG;
	return map_file(env, fd, slots, segment);
}

static void close_file(const struct bcl_env *env, struct bcl_segment *segment)
{
	if (segment->fd >= 0)
		env->shm_host->close(env->world, segment->fd);
	segment->fd = -1;
}

void bcl_segment_unmap(const struct bcl_env *env, struct bcl_segment *segment)
{
	env->shm_host->unmap(env->world, segment->head,
			     address_space_size(segment->slots));
	close_file(env, segment);
	segment->head = NULL;
}

void bcl_segment_settle(const struct bcl_env *env, struct bcl_segment *segment)
{
	/* populating pages that exist already only asks whether the host can */
	if (!env->shm_host->populate(env->world, segment->head,
				     sizeof(*segment->head)))
		close_file(env, segment);
}

/* Reserve the pages of an area: by the file or, if that is closed, by the
 * mapping. */
static bool reserve_area(const struct bcl_env *env,
			 const struct bcl_segment *segment,
			 enum bcl_segment_area area, unsigned side)
{
	const struct bcl_shm_host *host = env->shm_host;
	uint8_t *first = segment->bounce[0], *at = segment->bounce[side];
	size_t size = BCL_BOUNCE_SIZE;

	if (area == BCL_SEGMENT_RMA) {
		at = segment->rma[side];
		size = BCL_RMA_AREA;
	}
	if (segment->fd < 0)
		return !host->populate(env->world, at, size);
	return host->reserve(
		env->world, segment->fd,
		areas_offset(segment->slots) + (size_t)(at - first), size);
}

bool bcl_segment_reserve(const struct bcl_env *env, struct bcl_segment *segment,
			 enum bcl_segment_area area, unsigned side)
{
	const uint32_t bit = 1u << (2 * area + side);

	if (atomic_load_explicit(&segment->reserved, memory_order_relaxed) &
	    bit)
		return true;
	if (!reserve_area(env, segment, area, side))
		return false;
	atomic_fetch_or_explicit(&segment->reserved, bit, memory_order_relaxed);
	return true;
}

void bcl_segment_pair(const struct bcl_segment *segment, unsigned side,
		      struct bcl_pair *pair)
{
	struct bcl_segment_head *head = segment->head;

	*pair = (struct bcl_pair){
		.next = BCL_HEADER_FIRST,
		.my_half = &head->half[side],
		.out = segment->ring[side],
		.mask = segment->slots - 1,
		.want = BCL_HEADER_FIRST,
		.its_half = &head->half[!side],
		.in = segment->ring[!side],
		.consumer = &head->index[side].consumed,
		.its_consumer = &head->index[!side].consumed,
		.my_boxes = head->boxes[side][0],
		.its_boxes = head->boxes[!side][0],
	};
}

static void *map_whole(const struct bcl_env *env, int fd, size_t size,
		       bool writable)
{
	const struct bcl_shm_part whole = { 0, size };

	return env->shm_host->map(env->world, fd, &whole, 1, writable);
}

void *bcl_file_map(const struct bcl_env *env, int fd, size_t size)
{
	return map_whole(env, fd, size, true);
}

void bcl_file_unmap(const struct bcl_env *env, void *memory, size_t size)
{
	env->shm_host->unmap(env->world, memory, size);
}

void *bcl_page_map(const struct bcl_env *env, int fd, bool writable)
{
	return map_whole(env, fd, BCL_PAGE, writable);
}

void bcl_page_unmap(const struct bcl_env *env, void *page)
{
	if (page)
		bcl_file_unmap(env, page, BCL_PAGE);
}
