# SPDX-License-Identifier: MIT
# One program per noun, from the source file of the same name.
EXTRA_DIST += %D%/unit.h
unit_tests += %D%/test_version

# Tests in which several threads work, among them threads of the library
thread_tests += %D%/test_adi_rows %D%/test_adi_threads %D%/test_calls \
	%D%/test_carrier %D%/test_claim %D%/test_coll_fixed %D%/test_coll_real %D%/test_collectives %D%/test_connect \
	%D%/test_fallback %D%/test_helper %D%/test_doorbell_batch %D%/test_large %D%/test_leave \
	%D%/test_lock %D%/test_pair %D%/test_peer %D%/test_remote %D%/test_select \
	%D%/test_self %D%/test_derived %D%/test_team %D%/test_wake

unit_tests += %D%/test_perf
%C%_test_perf_SOURCES = %D%/test_perf.c $(perf_engine)
%C%_test_perf_LDADD = $(LDADD) -lm

unit_tests += %D%/test_crc32c %D%/test_log

EXTRA_DIST += %D%/rails.h
unit_tests += %D%/test_interface %D%/test_udp %D%/test_udp_joined \
	%D%/test_udp_stage %D%/test_packet %D%/test_fault %D%/test_trace %D%/test_mtu

unit_tests += %D%/test_sim_clock %D%/test_sim_cluster %D%/test_sim_cut \
	%D%/test_sim_fabric %D%/test_sim_fault %D%/test_sim_figures \
	%D%/test_sim_flow %D%/test_sim_inject \
	%D%/test_sim_load \
	%D%/test_sim_shrink %D%/test_sim_world
%C%_test_sim_clock_LDADD = libsim.la $(CHECK_LIBS)
%C%_test_sim_cluster_LDADD = libsim.la $(CHECK_LIBS)
%C%_test_sim_cut_LDADD = libsim.la $(CHECK_LIBS)
%C%_test_sim_fabric_LDADD = libsim.la $(CHECK_LIBS)
%C%_test_sim_fault_LDADD = libsim.la $(CHECK_LIBS)
%C%_test_sim_figures_LDADD = libsim.la $(CHECK_LIBS)
%C%_test_sim_flow_LDADD = libsim.la $(CHECK_LIBS)
%C%_test_sim_inject_LDADD = libsim.la $(CHECK_LIBS)
%C%_test_sim_load_LDADD = libsim.la $(CHECK_LIBS)
%C%_test_sim_shrink_LDADD = libsim.la $(CHECK_LIBS)
%C%_test_sim_world_LDADD = libsim.la $(CHECK_LIBS)

# The ADI, over the mock transport
adi_traffic = %D%/adi_traffic.c %D%/adi_traffic.h %D%/need.h
mock_transport = %D%/mock_boot.c %D%/mock_event.c %D%/mock_memory.c \
	%D%/mock_message.c %D%/mock_offer.c %D%/mock_peer.c %D%/mock_state.h \
	%D%/mock_transport.c %D%/mock_transport.h
adi_world = %D%/adi_world.h %D%/need.h $(mock_transport)
adi_world_libs = libsim.la libadi.la libtransport.la libnicfw.la \
	$(HWLOC_LIBS) $(PMIX_LIBS) $(CHECK_LIBS)
unit_tests += %D%/test_match %D%/test_adi
%C%_test_adi_SOURCES = %D%/test_adi.c $(adi_world)
%C%_test_adi_LDADD = $(adi_world_libs)
unit_tests += %D%/test_adi_oob
%C%_test_adi_oob_SOURCES = %D%/test_adi_oob.c $(adi_world)
%C%_test_adi_oob_LDADD = $(adi_world_libs)
unit_tests += %D%/test_adi_flow
%C%_test_adi_flow_SOURCES = %D%/test_adi_flow.c $(adi_world)
%C%_test_adi_flow_LDADD = $(adi_world_libs)
unit_tests += %D%/test_adi_packet
%C%_test_adi_packet_SOURCES = %D%/test_adi_packet.c $(adi_world)
%C%_test_adi_packet_LDADD = $(adi_world_libs)
unit_tests += %D%/test_adi_schedule
%C%_test_adi_schedule_SOURCES = %D%/test_adi_schedule.c $(adi_world)
%C%_test_adi_schedule_LDADD = $(adi_world_libs)
unit_tests += %D%/test_adi_random
%C%_test_adi_random_SOURCES = %D%/test_adi_random.c $(adi_world) \
	$(adi_traffic)
%C%_test_adi_random_LDADD = $(adi_world_libs)
unit_tests += %D%/test_adi_rows
%C%_test_adi_rows_SOURCES = %D%/test_adi_rows.c %D%/need.h
unit_tests += %D%/test_adi_world
%C%_test_adi_world_SOURCES = %D%/test_adi_world.c $(adi_world)
%C%_test_adi_world_LDADD = $(adi_world_libs)
unit_tests += %D%/test_adi_threads
%C%_test_adi_threads_SOURCES = %D%/test_adi_threads.c %D%/need.h \
	$(mock_transport)
%C%_test_adi_threads_LDADD = $(adi_world_libs)

unit_tests += %D%/test_address %D%/test_boot %D%/test_config %D%/test_random \
	%D%/test_ways \
	%D%/test_topology

# Whole contexts, several processes: pairs.h
EXTRA_DIST += %D%/counter.h %D%/pairs.h
unit_tests += %D%/test_helper %D%/test_doorbell_batch %D%/test_lock %D%/test_peer \
	%D%/test_poll %D%/test_self %D%/test_wait %D%/test_wake

unit_tests += %D%/test_calls %D%/test_card_kernel %D%/test_room %D%/test_settings %D%/test_sized
unit_tests += %D%/test_claim %D%/test_greeting %D%/test_pair

ranks = %D%/ranks.c %D%/ranks.h
unit_tests += %D%/test_connect %D%/test_fallback %D%/test_fed %D%/test_large \
	%D%/test_leave %D%/test_remote
%C%_test_connect_SOURCES = %D%/test_connect.c $(ranks)
%C%_test_fallback_SOURCES = %D%/test_fallback.c $(ranks)
%C%_test_fed_SOURCES = %D%/test_fed.c $(ranks)
%C%_test_large_SOURCES = %D%/test_large.c $(ranks)
%C%_test_leave_SOURCES = %D%/test_leave.c $(ranks)
%C%_test_remote_SOURCES = %D%/test_remote.c $(ranks)

card_world = %D%/card_event.c %D%/card_event.h %D%/card_host.c \
	%D%/card_seal.c %D%/card_user.c %D%/card_world.c %D%/card_world.h
unit_tests += %D%/test_card %D%/test_card_blind %D%/test_card_burst \
	%D%/test_card_conn %D%/test_card_end %D%/test_card_evict \
	%D%/test_card_hostile \
	%D%/test_card_liar %D%/test_card_long %D%/test_card_loss \
	%D%/test_card_channel %D%/test_card_memory \
	%D%/test_card_order \
	%D%/test_card_rails %D%/test_card_share %D%/test_card_stripe \
	%D%/test_proof %D%/test_wire
%C%_test_card_SOURCES = %D%/test_card.c $(card_world)
%C%_test_card_blind_SOURCES = %D%/test_card_blind.c $(card_world)
%C%_test_card_burst_SOURCES = %D%/test_card_burst.c $(card_world)
%C%_test_card_hostile_SOURCES = %D%/test_card_hostile.c $(card_world)
%C%_test_card_liar_SOURCES = %D%/test_card_liar.c $(card_world)
%C%_test_card_long_SOURCES = %D%/test_card_long.c $(card_world)
%C%_test_card_loss_SOURCES = %D%/test_card_loss.c $(card_world)
%C%_test_card_order_SOURCES = %D%/test_card_order.c $(card_world)
%C%_test_card_share_SOURCES = %D%/test_card_share.c $(card_world)
%C%_test_card_conn_SOURCES = %D%/test_card_conn.c $(card_world)
%C%_test_card_evict_SOURCES = %D%/test_card_evict.c $(card_world)
%C%_test_card_end_SOURCES = %D%/test_card_end.c $(card_world)
%C%_test_card_channel_SOURCES = %D%/test_card_channel.c %D%/card_pair.h \
	$(card_world)
%C%_test_card_memory_SOURCES = %D%/test_card_memory.c %D%/card_pair.h \
	$(card_world)
%C%_test_card_rails_SOURCES = %D%/test_card_rails.c $(card_world)
%C%_test_card_stripe_SOURCES = %D%/test_card_stripe.c $(card_world)

# Card and world once more, for hosts of the other byte order.
unit_tests += %D%/test_card_foreign %D%/test_card_foreign_channel
%C%_test_card_foreign_SOURCES = %D%/test_card_memory.c $(card_world) \
	$(libnicfw_la_SOURCES)
%C%_test_card_foreign_CPPFLAGS = $(AM_CPPFLAGS) -DBCL_HOST_FOREIGN
%C%_test_card_foreign_LDADD = $(CHECK_LIBS)
%C%_test_card_foreign_channel_SOURCES = %D%/test_card_channel.c \
	$(card_world) $(libnicfw_la_SOURCES)
%C%_test_card_foreign_channel_CPPFLAGS = $(AM_CPPFLAGS) -DBCL_HOST_FOREIGN
%C%_test_card_foreign_channel_LDADD = $(CHECK_LIBS)

link_rail = %D%/link_rail.c %D%/link_rail.h
card_sides = %D%/card_sides.c %D%/card_sides.h $(link_rail)
unit_tests += %D%/test_card_large %D%/test_card_path %D%/test_card_remote
%C%_test_card_large_SOURCES = %D%/test_card_large.c $(card_sides)
%C%_test_card_path_SOURCES = %D%/test_card_path.c $(card_sides)
%C%_test_card_remote_SOURCES = %D%/test_card_remote.c $(card_sides)
%C%_test_card_large_LDADD = libsim.la $(LDADD)
%C%_test_card_path_LDADD = libsim.la $(LDADD)
%C%_test_card_remote_LDADD = libsim.la $(LDADD)
unit_tests += %D%/test_adi_keepalive %D%/test_adi_close %D%/test_card_nodes \
	%D%/test_sim_card %D%/test_sim_job %D%/test_sim_shm
%C%_test_adi_keepalive_SOURCES = %D%/test_adi_keepalive.c %D%/sim_script.h
%C%_test_adi_close_SOURCES = %D%/test_adi_close.c %D%/sim_script.h
%C%_test_adi_keepalive_LDADD = libsim.la $(LDADD)
%C%_test_adi_close_LDADD = libsim.la $(LDADD)
%C%_test_card_nodes_SOURCES = %D%/test_card_nodes.c $(link_rail)
%C%_test_card_nodes_LDADD = libsim.la $(LDADD)
%C%_test_sim_card_LDADD = libsim.la $(LDADD)
unit_tests += %D%/test_sim_survivors
%C%_test_sim_survivors_SOURCES = %D%/test_sim_survivors.c %D%/sim_script.h
%C%_test_sim_survivors_LDADD = libsim.la $(LDADD)
%C%_test_sim_job_SOURCES = %D%/test_sim_job.c %D%/sim_script.h
%C%_test_sim_job_LDADD = libsim.la $(LDADD)
%C%_test_sim_shm_LDADD = libsim.la $(LDADD)

# Collectives over a job of threads: coll_mock.h
coll_cases = %D%/coll_case.c %D%/coll_case.h %D%/coll_cases.c %D%/coll_cases.h \
	%D%/coll_moves.c %D%/coll_sums.c
coll_mock = $(coll_cases) %D%/coll_mock.c %D%/coll_mock.h
coll_mock_libs = libcollectives.la libtransport.la libnicfw.la \
	$(HWLOC_LIBS) $(CHECK_LIBS)
unit_tests += %D%/test_alltoallv %D%/test_coll_fixed %D%/test_collectives \
	%D%/test_exchange %D%/test_persistent %D%/test_schedule %D%/test_select \
	%D%/test_team
%C%_test_alltoallv_SOURCES = %D%/test_alltoallv.c $(coll_mock)
%C%_test_alltoallv_LDADD = $(coll_mock_libs)
%C%_test_coll_fixed_SOURCES = %D%/test_coll_fixed.c $(coll_mock)
%C%_test_coll_fixed_LDADD = $(coll_mock_libs)
%C%_test_collectives_SOURCES = %D%/test_collectives.c $(coll_mock)
%C%_test_collectives_LDADD = $(coll_mock_libs)
%C%_test_exchange_SOURCES = %D%/test_exchange.c $(coll_mock)
%C%_test_exchange_LDADD = $(coll_mock_libs)
%C%_test_persistent_SOURCES = %D%/test_persistent.c $(coll_mock)
%C%_test_persistent_LDADD = $(coll_mock_libs)
%C%_test_schedule_SOURCES = %D%/test_schedule.c $(coll_mock)
%C%_test_schedule_LDADD = $(coll_mock_libs)
%C%_test_select_SOURCES = %D%/test_select.c $(coll_mock)
%C%_test_select_LDADD = $(coll_mock_libs)
unit_tests += %D%/test_agree %D%/test_agree_memory %D%/test_derived \
	%D%/test_parted %D%/test_split
%C%_test_agree_SOURCES = %D%/test_agree.c %D%/agreements.h $(coll_mock)
%C%_test_agree_LDADD = $(coll_mock_libs)
%C%_test_agree_memory_SOURCES = %D%/test_agree_memory.c $(coll_mock)
%C%_test_agree_memory_LDADD = $(coll_mock_libs)
%C%_test_agree_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc
%C%_test_parted_SOURCES = %D%/test_parted.c %D%/agreements.h $(coll_mock)
%C%_test_parted_LDADD = $(coll_mock_libs)
%C%_test_split_SOURCES = %D%/test_split.c $(coll_mock)
%C%_test_split_LDADD = $(coll_mock_libs)
%C%_test_derived_SOURCES = %D%/test_derived.c $(coll_mock)
%C%_test_derived_LDADD = $(coll_mock_libs)
%C%_test_team_SOURCES = %D%/test_team.c $(coll_mock)
%C%_test_team_LDADD = $(coll_mock_libs)
unit_tests += %D%/test_carrier
unit_tests += %D%/test_trees
%C%_test_trees_LDADD = libcollectives.la $(CHECK_LIBS)
unit_tests += %D%/test_radix
%C%_test_radix_LDADD = $(CHECK_LIBS)
unit_tests += %D%/test_postal
%C%_test_postal_LDADD = libcollectives.la $(CHECK_LIBS)
unit_tests += %D%/test_circulant
%C%_test_circulant_LDADD = libcollectives.la $(CHECK_LIBS)
unit_tests += %D%/test_halving_plan
%C%_test_halving_plan_LDADD = libcollectives.la $(CHECK_LIBS)
unit_tests += %D%/test_dissemination
# Collectives in virtual time, against the bounds of sim/bounds/bound.h
coll_loggp = %D%/coll_loggp.c %D%/coll_loggp.h %D%/coll_segment.c \
	%D%/coll_segment.h %D%/dawning.h %D%/loggp_adi.c %D%/loggp_adi.h
coll_loggp_libs = libsim.la $(coll_mock_libs)
check_PROGRAMS += %D%/coll_bounds
%C%_coll_bounds_SOURCES = %D%/coll_bounds.c $(coll_loggp)
%C%_coll_bounds_LDADD = $(coll_loggp_libs)
unit_tests += %D%/test_bound %D%/test_coll_bounds
%C%_test_bound_SOURCES = %D%/test_bound.c %D%/dawning.h
%C%_test_bound_LDADD = libsim.la $(CHECK_LIBS)
%C%_test_coll_bounds_SOURCES = %D%/test_coll_bounds.c $(coll_loggp)
%C%_test_coll_bounds_LDADD = $(coll_loggp_libs)
unit_tests += %D%/test_reduction %D%/test_reduction_reals
%C%_test_reduction_LDADD = libreduction.la $(CHECK_LIBS)
%C%_test_reduction_reals_LDADD = libreduction.la $(CHECK_LIBS) -lm
# Every public function
unit_tests += %D%/test_arguments
unit_tests += %D%/test_coll_audit %D%/test_coll_check %D%/test_coll_differ \
	%D%/test_coll_real %D%/test_survivors
capture = %D%/capture.c %D%/capture.h
%C%_test_coll_check_SOURCES = %D%/test_coll_check.c $(capture) $(coll_cases)
%C%_test_coll_differ_SOURCES = %D%/test_coll_differ.c $(capture)
%C%_test_survivors_LDADD = libsim.la $(LDADD)
%C%_test_coll_real_SOURCES = %D%/test_coll_real.c $(coll_cases)

# How PVM's tasks wait: the test replaces the functions that the code calls
unit_tests += %D%/test_pvm_wait
%C%_test_pvm_wait_LDADD = $(CHECK_LIBS)
