/* SPDX-License-Identifier: MIT */
/* Each setting of the table works at both ends of its range. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <bcl/bcl.h>

#include "env/config.h"
#include "env/env.h"

/* Open a context, and a port that talks to itself. */
static void use(const char *name, const char *value)
{
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_context *context;
	struct bcl_event event;
	enum bcl_status status;
	struct bcl_port *port;
	struct bcl_peer *peer;
	size_t length;

	status = bcl_open(NULL, &context);
	ck_assert_msg(!status, "%s=%s: %s", name, value, bcl_strstatus(status));
	status = bcl_port_open(context, NULL, &port);
	ck_assert_msg(!status, "%s=%s: port: %s", name, value,
		      bcl_strstatus(status));
	ck_assert_int_eq(bcl_port_address(port, address, &length), BCL_OK);
	ck_assert_int_eq(bcl_peer_open(port, address, length, &peer), BCL_OK);
	ck_assert_int_eq(bcl_poll(port, &event), BCL_OK);
	ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	ck_assert_int_eq(bcl_send(peer, 1, 7, NULL, 0, 0), BCL_OK);
	ck_assert_int_eq(bcl_poll(port, &event), BCL_OK);
	ck_assert_uint_eq(event.immediate, 7);
	bcl_close(context);
}

static void set(const struct bcl_config_entry *entry, uint64_t number)
{
	struct bcl_config config = { 0 };
	bool flag = number;
	char text[64];

	if (entry->kind == BCL_CONFIG_FLAG)
		memcpy((char *)&config + entry->offset, &flag, sizeof(flag));
	else
		memcpy((char *)&config + entry->offset, &number,
		       sizeof(number));
	bcl_config_print(&config, entry, text, sizeof(text));
	/* bcl_config_print() gives a time a unit, also a time of 0 */
	if (entry->kind == BCL_CONFIG_TIME && !number)
		strcpy(text, "0");
	setenv(entry->name, text, 1);
	use(entry->name, text);
}

START_TEST(both_ends)
{
	const struct bcl_config_entry *entry = &bcl_config_entries[_i];

	setenv("BCL_RAILS", "udp", 1);
	setenv("BCL_NET", "lo", 1);
	if (entry->kind == BCL_CONFIG_TEXT)
		return;
	set(entry, entry->least);
	set(entry, entry->most);
}
END_TEST

/* All settings that take memory, at once. */
START_TEST(all_at_most)
{
	setenv("BCL_RAILS", "udp", 1);
	setenv("BCL_NET", "lo", 1);
	for (unsigned i = 0; i < bcl_config_nentries; i++)
		if (bcl_config_entries[i].kind == BCL_CONFIG_POWER)
			set(&bcl_config_entries[i], bcl_config_entries[i].most);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("settings");
	TCase *tcase = tcase_create("settings");

	tcase_add_loop_test(tcase, both_ends, 0, (int)bcl_config_nentries);
	tcase_add_test(tcase, all_at_most);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
