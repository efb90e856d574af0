[#] start of __file__
dnl SPDX-License-Identifier: MIT
AC_DEFUN([PAC_SUBCFG_PREREQ_]PAC_SUBCFG_AUTO_SUFFIX,[
	AM_CONDITIONAL([BUILD_CH3_BCL],
		[test "X$device_name" = "Xch3" -a "X$channel_name" = "Xbcl"])
	AC_ARG_WITH([bcl],
		[AS_HELP_STRING([--with-bcl=PREFIX],
			[where the library of ch3:bcl is installed])],
		[], [with_bcl=])
	AM_COND_IF([BUILD_CH3_BCL],[
		AC_MSG_NOTICE([RUNNING PREREQ FOR ch3:bcl])
		AS_IF([test -n "$channel_args"],
			[AC_MSG_ERROR([ch3:bcl has no options, so not $channel_args either])])
		AS_CASE([$with_bcl],
			[''], [],
			[[/*]], [AS_IF([test ! -f "$with_bcl/include/bcl/boot.h"],
				[AC_MSG_ERROR([--with-bcl: BCL is not installed in $with_bcl])])],
			[AC_MSG_ERROR([--with-bcl wants the prefix of an installation, from / on, not $with_bcl])])
		MPID_MAX_THREAD_LEVEL=MPI_THREAD_MULTIPLE
	])
])dnl
AC_DEFUN([PAC_SUBCFG_BODY_]PAC_SUBCFG_AUTO_SUFFIX,[
AM_COND_IF([BUILD_CH3_BCL],[
	AC_MSG_NOTICE([RUNNING CONFIGURE FOR ch3:bcl])
	AS_IF([test -n "$with_bcl"],
		[PAC_APPEND_FLAG([-I$with_bcl/include],[CPPFLAGS])
		 PAC_APPEND_FLAG([-L$with_bcl/lib],[LDFLAGS])
		 PAC_APPEND_FLAG([-Wl,-rpath,$with_bcl/lib],[LDFLAGS])
		 PAC_APPEND_FLAG([-L$with_bcl/lib],[WRAPPER_LDFLAGS])])
	AC_CHECK_HEADER([bcl/boot.h], [],
		[AC_MSG_ERROR([ch3:bcl needs the headers of BCL: configure with --with-bcl=PREFIX])])
	bcl_version=`printf '@%:@include <bcl/version.h>\nbcl BCL_VERSION_STRING\n' |
		$CPP $CPPFLAGS - | sed -n 's/^bcl "\(.*\)"/\1/p'`
	MPICH_CUSTOM_STRING="BCL $bcl_version${MPICH_CUSTOM_STRING:+, }$MPICH_CUSTOM_STRING"
	AC_CHECK_LIB([bcl], [bcl_context_node],
		[PAC_PREPEND_FLAG([-lbcl],[LIBS])
		 PAC_PREPEND_FLAG([-lbcl],[WRAPPER_LIBS])],
		[AC_MSG_ERROR([ch3:bcl needs libbcl: configure with --with-bcl=PREFIX])])
])
])dnl
[#] end of __file__
