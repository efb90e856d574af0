# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = %D%/bounds/bound.c %D%/bounds/bound.h %D%/bounds/cut.c \
	%D%/bounds/cut.h %D%/bounds/figures.c %D%/bounds/figures.h \
	%D%/bounds/flow.c %D%/bounds/flow.h %D%/card.c %D%/card.h %D%/clock.c \
	%D%/clock.h %D%/cluster.c %D%/cluster.h %D%/cluster_read.c %D%/costs.h \
	%D%/crash.c %D%/crash.h %D%/fabric.c %D%/fabric.h %D%/fail.c \
	%D%/fail.h %D%/fault.c %D%/fault.h %D%/fiber.c %D%/fiber.h \
	%D%/firmware.c %D%/firmware.h %D%/frame_class.c %D%/frame_class.h \
	%D%/hal.c %D%/heap.c %D%/heap.h %D%/host.c %D%/host.h %D%/inject.c \
	%D%/inject.h %D%/job.c %D%/job.h %D%/load.c %D%/load.h %D%/move.c \
	%D%/object.c %D%/object.h %D%/random.h %D%/shape.c %D%/shape.h \
	%D%/shm.c %D%/shm.h %D%/shrink.c %D%/shrink.h %D%/statement.c \
	%D%/statement.h %D%/trace.c %D%/trace.h %D%/wiring.c %D%/wiring.h \
	%D%/world.c %D%/world.h
libsim_la_LIBADD = -lm

# Descriptions of clusters: bcl-cluster(5)
clustersdir = $(pkgdatadir)/clusters
dist_clusters_DATA = %D%/clusters/dawning-3000.cluster \
	%D%/clusters/ethernet-1g.cluster %D%/clusters/ethernet-100g.cluster \
	%D%/clusters/fat-tree-1k.cluster %D%/clusters/fat-tree-16k.cluster \
	%D%/clusters/fat-tree-thin.cluster
