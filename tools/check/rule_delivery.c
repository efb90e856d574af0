/* SPDX-License-Identifier: MIT */
/* Rules about messages that are delivered. */
#include "tools/check/rules.h"

static bool is_delivery(const struct check_event *event)
{
	return !event->bad && event->record.kind == BCL_RECORD_DELIVERED &&
	       event->port && !event->port->gap;
}

static void complain_of_message(struct check_event *event, const char *what)
{
	const struct bcl_record *record = &event->record;
	const struct check_arrival *arrival = event->arrival;

	if (arrival)
		check_complain(event,
			       "%u bytes from %016llx/%u to port %u, "
			       "message %u of packet %u: %s",
			       (unsigned)record->length,
			       (unsigned long long)record->card,
			       record->peer_port, record->port,
			       (unsigned)arrival->msg, arrival->place.number,
			       what);
	else
		check_complain(event, "%u bytes from %016llx/%u to port %u: %s",
			       (unsigned)record->length,
			       (unsigned long long)record->card,
			       record->peer_port, record->port, what);
}

void check_rule_whole(struct check_event *event)
{
	if (!is_delivery(event))
		return;
	if (event->match == CHECK_NONE)
		complain_of_message(event, "nothing like it has arrived");
	if (event->match == CHECK_PART)
		complain_of_message(event, "not all of it has arrived");
}

void check_rule_content(struct check_event *event)
{
	if (is_delivery(event) && event->match == CHECK_OTHER)
		complain_of_message(event, "it arrived as something else");
}

void check_rule_once(struct check_event *event)
{
	if (is_delivery(event) && event->match == CHECK_AGAIN)
		complain_of_message(event, "it was delivered before");
}

void check_rule_order(struct check_event *event)
{
	if (is_delivery(event) && event->match == CHECK_EARLY)
		complain_of_message(event,
				    "the message before it was not delivered");
	if (is_delivery(event) && event->match == CHECK_PASSED)
		complain_of_message(event,
				    "one behind it was delivered before");
}

void check_rule_life(struct check_event *event)
{
	if (is_delivery(event) && event->match == CHECK_FORMER)
		complain_of_message(event,
				    "it came by a connection of a former life");
}

/* ---- from end to end ---- */

void check_rule_once_flow(struct check_world *world,
			  const struct check_finding *finding)
{
	if (finding->end == CHECK_END_AGAIN)
		check_complain_at(world, &finding->place,
				  "from %016llx/%u to port %u more often than "
				  "it was asked for; as in %s:%u",
				  (unsigned long long)finding->card,
				  finding->port, finding->peer_port,
				  finding->other.file, finding->other.number);
}

void check_rule_order_flow(struct check_world *world,
			   const struct check_finding *finding)
{
	if (finding->end == CHECK_END_ORDER)
		check_complain_at(world, &finding->place,
				  "from %016llx/%u to port %u in another order "
				  "than asked for: see %s:%u",
				  (unsigned long long)finding->card,
				  finding->port, finding->peer_port,
				  finding->other.file, finding->other.number);
}

void check_rule_sent_flow(struct check_world *world,
			  const struct check_finding *finding)
{
	if (finding->end == CHECK_END_UNSENT)
		check_complain_at(world, &finding->place,
				  "port %016llx/%u did not ask for this to "
				  "port %u",
				  (unsigned long long)finding->card,
				  finding->port, finding->peer_port);
}

void check_rule_lost_flow(struct check_world *world,
			  const struct check_finding *finding)
{
	if (finding->end == CHECK_END_LOST)
		check_complain_at(world, &finding->place,
				  "of %016llx/%u to port %u: it ended well and "
				  "was not delivered",
				  (unsigned long long)finding->card,
				  finding->port, finding->peer_port);
}
