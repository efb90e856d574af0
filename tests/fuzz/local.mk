# SPDX-License-Identifier: MIT
# A harness NAME.fuzz is made from NAME.c; its corpus is NAME.corpus/.
EXTRA_DIST += %D%/run
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
if FUZZERS
fuzzers = $(fuzz_tests)
check_PROGRAMS += $(fuzz_tests)
else
fuzzers =
endif

# Hostile bytes in a shared segment
fuzz_tests += %D%/segment.fuzz
%C%_segment_fuzz_SOURCES = %D%/segment.c
%C%_segment_fuzz_LDFLAGS = $(fuzz_ldflags)
EXTRA_DIST += %D%/segment.corpus

# Hostile frames; the card as a whole. sow makes the first inputs of both.
fuzz_tests += %D%/frame.fuzz %D%/card.fuzz
%C%_frame_fuzz_SOURCES = %D%/frame.c $(card_world)
%C%_frame_fuzz_LDFLAGS = $(fuzz_ldflags)
%C%_card_fuzz_SOURCES = %D%/card.c $(card_world)
%C%_card_fuzz_LDFLAGS = $(fuzz_ldflags)
EXTRA_DIST += %D%/frame.corpus %D%/card.corpus
check_PROGRAMS += %D%/sow
%C%_sow_SOURCES = %D%/sow.c $(card_world)

# Without libFuzzer the corpus still runs.
unit_tests += %D%/frame.replay %D%/card.replay
%C%_frame_replay_SOURCES = %D%/replay.c %D%/frame.c $(card_world)
%C%_card_replay_SOURCES = %D%/replay.c %D%/card.c $(card_world)
