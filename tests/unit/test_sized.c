/* SPDX-License-Identifier: MIT */
/*
 * Public structs with struct_size: a function reads and writes no byte beyond
 * the caller's struct, takes the structs of earlier and of later versions, and
 * refuses one that is too small. Public structs without struct_size keep their
 * size.
 */
#include "unit.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bcl/boot.h>
#include <bcl/coll.h>

#include "transport/sized.h"

#if __SIZEOF_POINTER__ == 8
_Static_assert(sizeof(struct bcl_event) == 56, "never grows");
_Static_assert(sizeof(struct bcl_counter) == 24, "never grows");
_Static_assert(sizeof(struct bcl_setting) == 272, "never grows");
_Static_assert(sizeof(struct bcl_adi_status) == 24, "never grows");
_Static_assert(sizeof(struct bcl_reduction) == 32, "never grows");
#endif

enum {
	LONGER = 24, /* bytes that a later version has appended */
	TAIL = 0xa5,
};

static struct bcl_adi *adi;
static struct bcl_port *port;
static struct bcl_peer *peer;
static char *end; /* of the memory that may be touched */

static void set_up(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), length;
	uint8_t address[BCL_ADDRESS_MAX];

	setenv("BCL_RAILS", "none", 1);
	setenv("BCL_BOOT", "single", 1);
	ck_assert_int_eq(bcl_adi_open(NULL, &adi), BCL_OK);
	ck_assert_int_eq(bcl_port_open(bcl_adi_context(adi), NULL, &port),
			 BCL_OK);
	ck_assert_int_eq(bcl_port_address(port, address, &length), BCL_OK);
	ck_assert_int_eq(bcl_peer_open(port, address, length, &peer), BCL_OK);
	end = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(end, MAP_FAILED);
	end += page;
	ck_assert_int_eq(mprotect(end, page, PROT_NONE), 0);
}

static void tear_down(void)
{
	bcl_port_close(port);
	bcl_adi_close(adi);
}

/* ---- the public functions that take a sized struct ----------------------- */

static enum bcl_status open_context(void *options)
{
	struct bcl_context *context = NULL;
	enum bcl_status status = bcl_open(options, &context);

	bcl_close(context);
	return status;
}

static enum bcl_status open_port(void *options)
{
	struct bcl_port *other = NULL;
	enum bcl_status status =
		bcl_port_open(bcl_adi_context(adi), options, &other);

	bcl_port_close(other);
	return status;
}

static enum bcl_status fill_info(void *info)
{
	return bcl_peer_info(peer, info);
}

static enum bcl_status open_adi(void *options)
{
	struct bcl_adi *other = NULL;
	enum bcl_status status = bcl_adi_open(options, &other);

	bcl_adi_close(other);
	return status;
}

static enum bcl_status open_packets(void *ops)
{
	return bcl_adi_packet_open(adi, ops, NULL);
}

static enum bcl_status lend_space(void *space)
{
	struct bcl_boot *boot = NULL;
	enum bcl_status status = bcl_boot_lend(space, &boot);

	bcl_boot_close(boot);
	return status;
}

static enum bcl_status carry_send(void *arg, unsigned rank, const void *data,
				  size_t length)
{
	(void)arg, (void)rank, (void)data, (void)length;
	return BCL_OK;
}

static enum bcl_status carry_receive(void *arg, unsigned rank, void *data,
				     size_t length)
{
	(void)arg, (void)rank, (void)data, (void)length;
	return BCL_OK;
}

static enum bcl_status open_carrier(void *options)
{
	struct bcl_carrier_options *own = options;
	struct bcl_carrier *carrier = NULL;
	enum bcl_status status;

	own->port = port;
	status = bcl_carrier_open(options, &carrier);
	bcl_carrier_close(carrier);
	return status;
}

static const struct bcl_boot_space space = { .size = 1, .value_max = 64 };
static const struct bcl_carrier_options carry = { .size = 2,
						  .send = carry_send,
						  .receive = carry_receive };

static const struct taker {
	enum bcl_status (*call)(void *sized);
	size_t size;
	const void *good; /* NULL: all zeros */
	bool fills;
} takers[] = {
	{ open_context, sizeof(struct bcl_context_options), NULL, false },
	{ open_port, sizeof(struct bcl_port_options), NULL, false },
	{ fill_info, sizeof(struct bcl_peer_info), NULL, true },
	{ open_adi, sizeof(struct bcl_adi_options), NULL, false },
	{ open_packets, sizeof(struct bcl_adi_packet_ops), NULL, false },
	{ lend_space, sizeof(struct bcl_boot_space), &space, false },
	{ open_carrier, sizeof(struct bcl_carrier_options), &carry, false },
};

enum {
	TAKERS = sizeof(takers) / sizeof(takers[0])
};

/* Call the function with `struct_size` in the struct. The struct, with `longer`
 * bytes appended, ends where memory ends. */
static enum bcl_status take(const struct taker *taker, size_t struct_size,
			    size_t longer, int byte)
{
	char *sized = end - taker->size - longer;

	memset(sized, 0, taker->size);
	if (taker->good)
		memcpy(sized, taker->good, taker->size);
	memset(sized + taker->size, byte, longer);
	memcpy(sized, &struct_size, sizeof(struct_size));
	return taker->call(sized);
}

START_TEST(a_struct_of_this_version)
{
	const struct taker *taker = &takers[_i];

	ck_assert_int_eq(take(taker, taker->size, 0, 0), BCL_OK);
}
END_TEST

START_TEST(too_small_a_struct)
{
	const struct taker *taker = &takers[_i];

	for (size_t size = 0; size < taker->size; size++)
		ck_assert_int_eq(take(taker, size, 0, 0), BCL_ERR_ARG);
}
END_TEST

START_TEST(a_struct_of_a_later_version)
{
	const struct taker *taker = &takers[_i];
	size_t size = taker->size + LONGER;

	ck_assert_int_eq(take(taker, size, LONGER, 0), BCL_OK);
	ck_assert_int_eq(take(taker, size, LONGER, TAIL),
			 taker->fills ? BCL_OK : BCL_ERR_UNSUPPORTED);
	for (unsigned i = 1; i <= LONGER; i++)
		ck_assert_uint_eq((unsigned char)end[-(int)i], TAIL);
}
END_TEST

/* ---- a struct of an earlier version ---- */

struct earlier {
	size_t struct_size;
	uint64_t first;
};

struct later {
	size_t struct_size;
	uint64_t first, appended;
};

START_TEST(a_struct_of_an_earlier_version)
{
	struct earlier *earlier = (void *)(end - sizeof(*earlier));
	struct later own = { 1, 2, 3 };

	*earlier = (struct earlier){ sizeof(*earlier), 7 };
	ck_assert_int_eq(bcl_sized_read(&own, earlier, first), BCL_OK);
	ck_assert_uint_eq(own.first, 7);
	ck_assert_uint_eq(own.appended, 0);
	own.first = 8;
	own.appended = 9;
	ck_assert_int_eq(bcl_sized_write(earlier, &own, first), BCL_OK);
	ck_assert_uint_eq(earlier->struct_size, sizeof(*earlier));
	ck_assert_uint_eq(earlier->first, 8);
	earlier->struct_size--;
	ck_assert_int_eq(bcl_sized_read(&own, earlier, first), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_sized_write(earlier, &own, first), BCL_ERR_ARG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sized");
	TCase *tcase = tcase_create("sized");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, a_struct_of_this_version, 0, TAKERS);
	tcase_add_loop_test(tcase, too_small_a_struct, 0, TAKERS);
	tcase_add_loop_test(tcase, a_struct_of_a_later_version, 0, TAKERS);
	tcase_add_test(tcase, a_struct_of_an_earlier_version);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
