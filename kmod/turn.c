// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Turns of a card: a thread with an input for the core takes the lock, calls
 * the core, and sends the core's frames after the turn. The tasklet feeds
 * received frames, and makes calls that the core wants soon. The timer makes
 * later calls.
 */
#include "host.h"

void bcl_kmod_enter(struct bcl_kmod_host *host) __acquires(&host->lock)
{
	local_bh_disable();
	spin_lock(&host->lock);
}

void bcl_kmod_wants(struct bcl_kmod_host *host,
		    const struct bcl_card_next *next)
{
	host->deadline = next->more ? 0 : next->deadline;
}

static void set_timer(struct bcl_kmod_host *host)
{
	if (host->closing || host->deadline >= host->armed)
		return;
	if (!host->deadline) {
		tasklet_schedule(&host->tasklet);
		return;
	}
	host->armed = host->deadline;
	/* The clock ends after 292 years, and what is later would be past. */
	hrtimer_start(&host->timer, min_t(u64, host->deadline, KTIME_MAX),
		      HRTIMER_MODE_ABS_SOFT);
}

void bcl_kmod_leave(struct bcl_kmod_host *host) __releases(&host->lock)
{
	bcl_kmod_ports_settle(host);
	set_timer(host);
	spin_unlock(&host->lock);
	bcl_kmod_flush(host);
	local_bh_enable();
}

enum bcl_status bcl_kmod_command(struct bcl_kmod_host *host,
				 const struct bcl_control *control, u32 *result)
{
	struct bcl_card_next next;
	enum bcl_status status;

	status = bcl_card_control(host->card, control, ktime_get_ns(), result,
				  &next);
	bcl_kmod_wants(host, &next);
	return status;
}

/* No frame waits: a good moment for acknowledgements. */
static void drained(struct bcl_kmod_host *host)
{
	struct bcl_card_next next;
	unsigned int e;

	for (e = 0; e < host->nends; e++) {
		if (!host->end[e].wet)
			continue;
		host->end[e].wet = false;
		bcl_card_drained(host->card, host->end[e].rail, ktime_get_ns(),
				 BCL_KMOD_BUDGET, &next);
		bcl_kmod_wants(host, &next);
	}
}

static void look_at_clock(struct bcl_kmod_host *host)
{
	u64 now = ktime_get_ns();
	struct bcl_card_next next;

	if (now < host->deadline)
		return;
	bcl_card_timer(host->card, now, BCL_KMOD_BUDGET, &next);
	bcl_kmod_wants(host, &next);
}

void bcl_kmod_tasklet(struct tasklet_struct *tasklet)
{
	struct bcl_kmod_host *host =
		container_of(tasklet, struct bcl_kmod_host, tasklet);

	bcl_kmod_enter(host);
	if (!host->closing) {
		if (bcl_kmod_receive(host))
			drained(host);
		else
			tasklet_schedule(tasklet);
		if (host->grown)
			bcl_kmod_ends_tell(host);
		look_at_clock(host);
	}
	bcl_kmod_leave(host);
}

enum hrtimer_restart bcl_kmod_timer(struct hrtimer *timer)
{
	struct bcl_kmod_host *host =
		container_of(timer, struct bcl_kmod_host, timer);

	bcl_kmod_enter(host);
	host->armed = U64_MAX;
	if (!host->closing)
		look_at_clock(host);
	bcl_kmod_leave(host);
	return HRTIMER_NORESTART;
}
