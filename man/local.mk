# SPDX-License-Identifier: MIT
# A page of section 3 describes several functions; each other name in its NAME
# section becomes a link to it when it is installed.
function_pages = \
	%D%/bcl_adi_iprobe.3 \
	%D%/bcl_adi_open.3 \
	%D%/bcl_adi_packet_open.3 \
	%D%/bcl_adi_send.3 \
	%D%/bcl_adi_wait.3 \
	%D%/bcl_barrier.3 \
	%D%/bcl_boot_lend.3 \
	%D%/bcl_carrier_open.3 \
	%D%/bcl_counters.3 \
	%D%/bcl_memory_register.3 \
	%D%/bcl_node_isolate.3 \
	%D%/bcl_open.3 \
	%D%/bcl_peer_open.3 \
	%D%/bcl_persistent_run.3 \
	%D%/bcl_poll.3 \
	%D%/bcl_port_open.3 \
	%D%/bcl_post.3 \
	%D%/bcl_put.3 \
	%D%/bcl_reduction.3 \
	%D%/bcl_send.3 \
	%D%/bcl_settings.3 \
	%D%/bcl_strstatus.3 \
	%D%/bcl_team_world.3
dist_man_MANS += $(function_pages) %D%/bcl.4 %D%/bcl-check.1 %D%/bcl-ctl.1 %D%/bcl-info.1 \
	%D%/bcl-perf.1 %D%/bcl-pvm.1 %D%/pvm_pmcast.3 \
	%D%/bcl-sim.1 %D%/bcl-tune.1 %D%/bcl-cluster.5 %D%/bcl-faults.5

each_link = for page in $(function_pages); do \
	file=$${page\#\#*/}; \
	for name in $$(sed -n 's/^\.Nm \(bcl_[a-z_]*\).*/\1/p' \
			$(srcdir)/$$page | sort -u); do \
		link=$(DESTDIR)$(man3dir)/$$name.3; \
		test $$name.3 = $$file ||

install-data-hook:
	@$(each_link) $(LN_S) -f $$file $$link || exit; done; done

uninstall-hook:
	@$(each_link) rm -f $$link; done; done

# The variables come from the table that the library reads.
man_MANS = %D%/bcl.7
EXTRA_DIST += %D%/bcl.7.in %D%/environment
CLEANFILES += %D%/bcl.7
%D%/bcl.7: %D%/bcl.7.in %D%/environment env/config.h
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	$(srcdir)/%D%/environment $(CC) -E -I$(top_srcdir)/include \
		-I$(top_srcdir) >$@.tmp && \
	sed -e '/@ENVIRONMENT@/{r $@.tmp' -e 'd;}' \
		$(srcdir)/%D%/bcl.7.in >$@.new && \
	rm $@.tmp && mv $@.new $@
