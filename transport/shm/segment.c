/* SPDX-License-Identifier: MIT */
#include "transport/shm/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t ring_size(uint32_t slots)
{
	return (size_t)slots * BCL_SLOT_SIZE;
}

/* The end of what every pair needs: here the areas begin. */
static size_t areas_offset(uint32_t slots)
{
	return sizeof(struct bcl_segment_head) + 2 * ring_size(slots);
}

enum {
	AREAS_SIZE = 2 * BCL_BOUNCE_SIZE + 2 * BCL_MAIL_AREA,
};

static size_t file_size(uint32_t slots)
{
	return areas_offset(slots) + AREAS_SIZE;
}

/* Only what every pair needs is reserved. */
static enum bcl_status make_file(uint32_t slots, int *fd)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	size_t size = file_size(slots);
	struct rlimit limit;
	enum bcl_status status = BCL_ERR_NOMEM;
	int file;

	/* or the process would get SIGXFSZ */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < size)
		return BCL_ERR_NOMEM;
	file = memfd_create("bcl-pair", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (file < 0)
		return errno == ENOMEM ? BCL_ERR_NOMEM : BCL_ERR_SYSTEM;
	if (ftruncate(file, (off_t)size) ||
	    fallocate(file, 0, 0, (off_t)areas_offset(slots)))
		goto failed;
	if (fcntl(file, F_ADD_SEALS, seals)) {
		status = BCL_ERR_SYSTEM;
		goto failed;
	}
	*fd = file;
	return BCL_OK;
failed:
	close(file);
	return status;
}

/* The file can never get smaller than `size`. */
static bool is_fixed(int fd, size_t size)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & F_SEAL_SHRINK) && !fstat(fd, &st) &&
	       st.st_size >= 0 && (size_t)st.st_size >= size;
}

static bool map_part(uint8_t *at, int fd, size_t offset, size_t size)
{
	return mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		    fd, (off_t)offset) != MAP_FAILED;
}

/* In the address space: head, ring 0 twice, ring 1 twice, the areas. */
static size_t span(uint32_t slots)
{
	return file_size(slots) + 2 * ring_size(slots);
}

static enum bcl_status map_file(int fd, uint32_t slots,
				struct bcl_segment *segment)
{
	size_t head = sizeof(struct bcl_segment_head), ring = ring_size(slots);
	uint8_t *base, *at;
	unsigned side;

	base = mmap(NULL, span(slots), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (base == MAP_FAILED)
		return BCL_ERR_NOMEM;
	at = base;
	if (!map_part(at, fd, 0, head))
		goto failed;
	at += head;
	for (side = 0; side < 2; side++) {
		segment->ring[side] = (struct bcl_slot *)at;
		if (!map_part(at, fd, head + side * ring, ring) ||
		    !map_part(at + ring, fd, head + side * ring, ring))
			goto failed;
		at += 2 * ring;
	}
	if (!map_part(at, fd, areas_offset(slots), AREAS_SIZE))
		goto failed;
	for (side = 0; side < 2; side++) {
		segment->bounce[side] = at + side * BCL_BOUNCE_SIZE;
		segment->mail[side] =
			at + 2 * BCL_BOUNCE_SIZE + side * BCL_MAIL_AREA;
	}
	segment->head = (struct bcl_segment_head *)base;
	segment->slots = slots;
	segment->fd = fd;
	return BCL_OK;
failed:
	munmap(base, span(slots));
	return BCL_ERR_NOMEM;
}

enum bcl_status bcl_segment_create(uint32_t slots, struct bcl_segment *segment)
{
	enum bcl_status status;
	int fd;

	status = make_file(slots, &fd);
	if (status)
		return status;
	status = map_file(fd, slots, segment);
	if (status)
		close(fd);
	return status;
}

enum bcl_status bcl_segment_map(int fd, uint32_t slots,
				struct bcl_segment *segment)
{
	if (slots < BCL_SEGMENT_SLOTS_MIN || slots > BCL_SEGMENT_SLOTS_MAX ||
	    (slots & (slots - 1)) || !is_fixed(fd, file_size(slots)))
		return BCL_ERR_ARG;
	return map_file(fd, slots, segment);
}

void bcl_segment_unmap(struct bcl_segment *segment)
{
	munmap(segment->head, span(segment->slots));
	close(segment->fd);
	segment->head = NULL;
	segment->fd = -1;
}

bool bcl_segment_reserve(struct bcl_segment *segment,
			 enum bcl_segment_area area, unsigned side)
{
	const size_t size =
		area == BCL_AREA_MAIL ? BCL_MAIL_AREA : BCL_BOUNCE_SIZE;
	const uint32_t bit = 1u << (2 * area + side);
	size_t offset = areas_offset(segment->slots) + side * size;

	if (atomic_load_explicit(&segment->reserved, memory_order_relaxed) &
	    bit)
		return true;
	if (area == BCL_AREA_MAIL)
		offset += 2 * BCL_BOUNCE_SIZE;
	if (fallocate(segment->fd, 0, (off_t)offset, (off_t)size))
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
		.limit = segment->slots,
		.mask = segment->slots - 1,
		.want = BCL_HEADER_FIRST,
		.its_half = &head->half[!side],
		.in = segment->ring[!side],
		.consumer = &head->index[side].consumed,
		.its_consumer = &head->index[!side].consumed,
	};
}

static void *map_fixed(int fd, size_t size, int protection)
{
	void *at;

	if (!is_fixed(fd, size))
		return NULL;
	at = mmap(NULL, size, protection, MAP_SHARED, fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

void *bcl_file_map(int fd, size_t size)
{
	return map_fixed(fd, size, PROT_READ | PROT_WRITE);
}

void *bcl_page_map(int fd, bool writable)
{
	return map_fixed(fd, BCL_PAGE,
			 writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

void bcl_page_unmap(void *page)
{
	if (page)
		munmap(page, BCL_PAGE);
}
