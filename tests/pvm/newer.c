/* SPDX-License-Identifier: MIT */
/* A glue that claims to be of a later version. */
__attribute__((visibility("default"))) int bcl_pvm_version(void);

int bcl_pvm_version(void)
{
	return 99;
}
