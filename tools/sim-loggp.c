/* SPDX-License-Identifier: MIT */
/*
 * Parameters of LogGP by ports, measured as in the publication of BCL-3 (2001):
 * o_s from a few sends on an idle system; o_r timed alone, for a message that
 * has arrived; g from many back-to-back sends.
 */
#include "sim/fail.h"
#include "tools/sim.h"

enum {
	ARRIVED = 100000, /* ns after which a message has arrived */
};

static uint64_t time_now(const struct sim_part *part)
{
	const struct bcl_env *env = part->self->env;

	return env->now(env->world);
}

/* Sends n messages from the first rank to the last. */
static enum bcl_status pass_messages(const struct sim_part *part, unsigned n)
{
	unsigned other = sim_part_rank(part, part->rank ? 0 : part->ranks - 1);
	enum bcl_status status = BCL_OK;

	while (n-- && !status)
		status = part->rank
				 ? sim_port_take(part->port, other, part->size)
				 : sim_port_put(part->port, other,
						part->series->send, part->size);
	return status;
}

/* The last rank allows the first to go on. */
static enum bcl_status pass_answer(const struct sim_part *part)
{
	unsigned other = sim_part_rank(part, part->rank ? 0 : part->ranks - 1);

	return part->rank ? sim_port_put(part->port, other, NULL, 0)
			  : sim_port_take(part->port, other, 0);
}

enum bcl_status sim_loggp_send(const struct sim_part *part)
{
	uint64_t begun = time_now(part);
	enum bcl_status status = pass_messages(part, SIM_LOGGP_FEW);

	if (!part->rank)
		*part->spent += time_now(part) - begun;
	return status ? status : pass_answer(part);
}

enum bcl_status sim_loggp_receive(const struct sim_part *part)
{
	uint64_t begun = time_now(part);
	enum bcl_status status;

	/* A cost charged when the message arrives counts as well. */
	if (part->rank)
		sim_compute(sim_job_world(part->self->job), ARRIVED);
	status = pass_messages(part, 1);
	if (part->rank)
		*part->spent += time_now(part) - begun - ARRIVED;
	return status ? status : pass_answer(part);
}

enum bcl_status sim_loggp_stream(const struct sim_part *part)
{
	return pass_messages(part, SIM_LOGGP_MANY);
}
