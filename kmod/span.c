// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Spans: the memory that the core names by handles, and moving data from and to
 * this memory. The host looks a handle up at each access, so a stale handle
 * names nothing.
 */
#include <linux/highmem.h>
#include <linux/nospec.h>

#include "host.h"
#include "pin.h"

/* ---- handles ---- */

static bool within(u64 offset, u64 length, u64 size)
{
	return offset <= size && length <= size - offset;
}

/* Find an area of a port: the core itself may name any part of an area. */
static bool find_area(struct bcl_kmod_host *host, const struct bcl_memref *ref,
		      struct bcl_kmod_span *span)
{
	void *memory =
		bcl_kmod_hal.area(host, ref->handle, ref->offset + ref->length);

	*span = (struct bcl_kmod_span){ .kind = BCL_KMOD_LINEAR,
					.memory = memory,
					.length = ref->offset + ref->length };
	return memory && ref->offset + ref->length >= ref->offset;
}

/* Find the memory of a request or a channel of the port. */
static bool find_own(struct bcl_kmod_host *host, u16 port, u32 handle,
		     struct bcl_kmod_span *span)
{
	bool request = handle >> 31;
	u32 index = handle >> (request ? 18 : 16) & (BCL_KMOD_SEATS - 1);
	u32 number = handle & 0xffff;
	const struct bcl_kmod_seat *seat =
		&host->seat[array_index_nospec(index, BCL_KMOD_SEATS)];

	if (!seat->port || seat->number != port)
		return false;
	if (request) {
		number = handle >> 2 & 0xffff;
		if (number >= seat->port->opened.port.nrequests ||
		    (handle & 3) >= BCL_REQUEST_REFS)
			return false;
		/* Acquire: pairs with take_request(). */
		if (!smp_load_acquire(&seat->port->slot[number].busy))
			return false;
		*span = seat->port->slot[number].span[handle & 3];
	} else {
		if (!(handle >> 30) ||
		    number >= seat->port->opened.port.nchannels)
			return false;
		*span = seat->port->channel[number].span;
	}
	return true;
}

/* Find registered memory. For peers `offset` counts from the memory's base. */
static bool find_memory(struct bcl_kmod_host *host, u32 handle, u64 offset,
			u64 length, bool remote, u32 rights,
			struct bcl_kmod_span *span, u64 *at)
{
	const struct bcl_kmod_memory *memory = xa_load(&host->memories, handle);

	if (!memory || (memory->named.rights & rights) != rights)
		return false;
	*at = remote ? offset - memory->named.base : offset;
	*span = (struct bcl_kmod_span){
		.kind = memory->pin ? BCL_KMOD_PINNED : BCL_KMOD_NOTHING,
		.pin = memory->pin,
		.offset = memory->first,
		.length = memory->named.length,
	};
	return within(*at, length, span->length);
}

static bool find(struct bcl_kmod_host *host, u16 port, int remote,
		 const struct bcl_memref *ref, u32 rights,
		 struct bcl_kmod_span *span, u64 *at)
{
	*at = ref->offset;
	if (!port)
		return find_area(host, ref, span);
	if (remote)
		return find_memory(host, ref->handle, ref->offset, ref->length,
				   true, rights, span, at);
	if (!find_own(host, port, ref->handle, span) ||
	    !within(ref->offset, ref->length, span->length))
		return false;
	if (span->kind == BCL_KMOD_NAMED)
		return span->offset + ref->offset >= span->offset &&
		       find_memory(host, span->handle,
				   span->offset + ref->offset, ref->length,
				   false, 0, span, at);
	return span->kind != BCL_KMOD_NOTHING;
}

bool bcl_kmod_span_mapped(const struct bcl_kmod_span *span)
{
	return span->kind != BCL_KMOD_PINNED || !READ_ONCE(span->pin->gone);
}

static bool may_write(const struct bcl_kmod_span *span)
{
	return bcl_kmod_span_mapped(span) &&
	       (span->kind != BCL_KMOD_PINNED || span->pin->writable);
}

bool bcl_kmod_span_find(struct bcl_kmod_host *host, u16 port, int remote,
			const struct bcl_memref *ref, u32 rights, bool write,
			struct bcl_kmod_span *span, u64 *at)
{
	bool found = find(host, port, remote, ref, rights, span, at) &&
		     (!write || may_write(span));

	if (!found)
		host->count.dma_refused++;
	return found;
}

/* ---- memory of requests and channels ---- */

/* True if the address lies in the part `given` of the port, whose pages are the
 * kernel's. */
static bool in_given(const struct bcl_kmod_port *port, u64 address, u64 length,
		     u64 *offset)
{
	const struct bcl_kmod_part *part = port->part[BCL_DEVICE_GIVEN];
	unsigned long mapped = READ_ONCE(part->mapped);

	*offset = address - mapped;
	return mapped && address >= mapped && *offset <= part->size &&
	       length <= part->size - *offset;
}

/* True if there is registered memory as the span says. */
static bool is_named(struct bcl_kmod_host *host,
		     const struct bcl_kmod_span *span, bool write)
{
	struct bcl_kmod_span memory;
	bool found;
	u64 at;

	spin_lock_bh(&host->lock);
	found = find_memory(host, span->handle, span->offset, span->length,
			    false, 0, &memory, &at) &&
		bcl_kmod_span_mapped(&memory) && (!write || may_write(&memory));
	spin_unlock_bh(&host->lock);
	return found;
}

static struct bcl_kmod_span span_of(struct bcl_kmod_pin *pin, u64 address,
				    u64 length)
{
	return (struct bcl_kmod_span){ .kind = BCL_KMOD_PINNED,
				       .pin = pin,
				       .offset = address - pin->range.start,
				       .length = length };
}

long bcl_kmod_span_open(struct bcl_kmod_host *host,
			const struct bcl_kmod_port *port, u32 handle,
			u64 offset, u64 length, bool write,
			struct bcl_kmod_span *span)
{
	struct bcl_kmod_pin *pin;
	u64 at;

	*span = (struct bcl_kmod_span){ .length = length };
	if (!length)
		return BCL_OK;
	if (handle != BCL_HANDLE_SELF) {
		span->kind = BCL_KMOD_NAMED;
		span->handle = handle;
		span->offset = offset;
		return is_named(host, span, write) ? BCL_OK : BCL_ERR_ARG;
	}
	if (in_given(port, offset, length, &at)) {
		span->kind = BCL_KMOD_LINEAR;
		span->memory = port->part[BCL_DEVICE_GIVEN]->memory + at;
		return BCL_OK;
	}
	pin = bcl_kmod_pin(host, offset, length, write);
	if (IS_ERR(pin))
		return bcl_kmod_pin_status(pin);
	*span = span_of(pin, offset, length);
	return BCL_OK;
}

bool bcl_kmod_span_reopen(struct bcl_kmod_host *host, u64 offset, u64 length,
			  struct bcl_kmod_span *span)
{
	const u64 first = offset & PAGE_MASK;
	struct bcl_kmod_pin *pin;

	if (!length)
		return true;
	pin = bcl_kmod_cache_take(
		host, first,
		(PAGE_ALIGN(offset + length) - first) >> PAGE_SHIFT, true);
	if (pin)
		*span = span_of(pin, offset, length);
	return pin;
}

bool bcl_kmod_span_lasts(const struct bcl_kmod_span *span)
{
	return span->kind == BCL_KMOD_PINNED ? bcl_kmod_cache_keeps(span->pin)
					     : !span->length;
}

void bcl_kmod_span_close(struct bcl_kmod_host *host, struct bcl_kmod_span *span)
{
	if (span->kind == BCL_KMOD_PINNED)
		bcl_kmod_unpin(host, span->pin);
	*span = (struct bcl_kmod_span){ .kind = BCL_KMOD_NOTHING };
}

/* ---- moving data ---- */

/* Returns the page of byte `at`, and the byte's offset in the page. */
static struct page *page_at(const struct bcl_kmod_span *span, u64 at,
			    unsigned int *offset)
{
	at += span->offset;
	*offset = offset_in_page(at);
	return span->pin->page[at >> PAGE_SHIFT];
}

/* Copy between a span and memory of the kernel, page by page. */
static void copy(const struct bcl_kmod_span *span, u64 at, u8 *memory,
		 size_t length, bool write)
{
	while (length) {
		unsigned int offset;
		struct page *page = page_at(span, at, &offset);
		size_t some = min_t(size_t, length, PAGE_SIZE - offset);

		if (write)
			memcpy_to_page(page, offset, memory, some);
		else
			memcpy_from_page(memory, page, offset, some);
		memory += some;
		at += some;
		length -= some;
	}
}

void bcl_kmod_span_read(const struct bcl_kmod_span *span, u64 at, void *to,
			size_t length)
{
	if (span->kind == BCL_KMOD_LINEAR)
		memcpy(to, span->memory + at, length);
	else
		copy(span, at, to, length, false);
}

void bcl_kmod_span_write(const struct bcl_kmod_span *span, u64 at,
			 const void *from, size_t length)
{
	if (span->kind == BCL_KMOD_LINEAR) {
		memcpy(span->memory + at, from, length);
		return;
	}
	if (length)
		span->pin->dirty = true;
	copy(span, at, (u8 *)(uintptr_t)from, length, true);
}

u64 bcl_kmod_span_atomic(const struct bcl_kmod_span *span, u64 at,
			 enum bcl_atomic_op op, const u64 operand[2])
{
	unsigned int offset;
	struct page *page = page_at(span, at, &offset);
	void *memory = kmap_local_page(page);
	atomic64_t *word = memory + offset;
	u64 old;

	if (op == BCL_ATOMIC_ADD)
		old = atomic64_fetch_add(operand[0], word);
	else
		old = atomic64_cmpxchg(word, operand[0], operand[1]);
	kunmap_local(memory);
	span->pin->dirty = true;
	return old;
}
