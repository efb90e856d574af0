/* SPDX-License-Identifier: MIT */
/* A job with a rank on each node of a small simulated cluster. A script of
 * faults tells which faults happen to the cluster. */
#ifndef SIM_SCRIPT_H
#define SIM_SCRIPT_H

#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "sim/inject.h"
#include "sim/job.h"

struct script {
	struct sim_cluster cluster;
	struct sim_faults faults;
	struct sim_injector *injector;
	struct sim_job *job;
};

/* `timeout`: value of BCL_PEER_TIMEOUT, which must live as long as the job. */
static inline void script_open(struct script *script, unsigned nodes,
			       unsigned rails, const char *faults,
			       const char *timeout)
{
	char text[512], error[SIM_ERROR_SIZE];
	FILE *in;

	snprintf(text, sizeof(text),
		 "cluster nodes=%u rails=%u\n"
		 "host send=1us receive=1us trap=1us copy=1GB/s\n"
		 "card mtu=1KB buffers=16 frame-sent=1us frame-received=1us "
		 "read-start=1us read=1GB/s write-start=1us write=1GB/s\n"
		 "wire w bandwidth=200MB/s latency=100ns\n"
		 "crossbar x latency=500ns queue=1MB forwarding=cut-through\n"
		 "star switch crossbar=x wire=w\n",
		 nodes, rails);
	in = fmemopen(text, strlen(text), "r");
	ck_assert_msg(sim_cluster_read(&script->cluster, "test", in, error),
		      "%s", error);
	fclose(in);
	in = fmemopen((void *)faults, strlen(faults), "r");
	ck_assert_msg(sim_faults_read(&script->faults, &script->cluster,
				      "script", in, error),
		      "%s", error);
	fclose(in);
	script->job = sim_job_open(&script->cluster, 1);
	sim_world_set(sim_job_world(script->job), "BCL_PEER_TIMEOUT", timeout);
	sim_world_log(sim_job_world(script->job), NULL);
	script->injector = sim_inject(
		&script->faults, &script->cluster, sim_job_fabric(script->job),
		sim_world_clock(sim_job_world(script->job)), sim_job_befalls,
		script->job);
}

static inline void script_close(struct script *script)
{
	sim_injector_close(script->injector);
	sim_job_close(script->job);
	sim_faults_free(&script->faults);
	sim_cluster_free(&script->cluster);
}

#endif
