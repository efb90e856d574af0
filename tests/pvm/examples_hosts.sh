#!/bin/bash
# SPDX-License-Identifier: MIT
# PVM's own examples on two hosts.
exec "${abs_top_srcdir:?}/tests/pvm/examples.sh" 2
