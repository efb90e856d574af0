# SPDX-License-Identifier: MIT
# wire.h, card_abi.h and card_device.h join the library, the card and the
# kernel; programs have no use for them.
bcldir = $(includedir)/bcl
bcl_HEADERS = %D%/adi.h %D%/bcl.h %D%/boot.h %D%/coll.h %D%/status.h
nodist_bcl_HEADERS = %D%/version.h
noinst_HEADERS += %D%/wire.h %D%/card_abi.h %D%/card_device.h
