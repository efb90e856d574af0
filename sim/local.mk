# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = %D%/clock.c %D%/clock.h %D%/costs.h %D%/fabric.c %D%/fabric.h %D%/fail.c %D%/fail.h \
	%D%/fiber.c %D%/fiber.h %D%/object.c %D%/object.h %D%/random.h \
	%D%/world.c %D%/world.h
