#!/bin/bash
# SPDX-License-Identifier: MIT
# How the files hang together: by the linker, no floor calls one above it, and no
# knot, files that all call each other by some way, is larger than a floor's limit;
# no file includes a header of a floor above.
set -euo pipefail
cd "${abs_top_builddir:?}"
objects=()
for floor in nicfw env wire card transport adi collectives pvm-glue; do
	while read -r object; do
		source=${object/.libs\//}
		source=${source/libnicfw_la-/}
		source=${source/libreduction_la-/}
		# an old build may have objects of sources that are gone
		[[ ! -e ${abs_top_srcdir:?}/${source%.o}.c ]] ||
			objects+=("$object")
	done < <(find "$floor" -name '*.o' -path '*/.libs/*' | sort)
done
((${#objects[@]} > 150))
{
	nm -A "${objects[@]}"
	(cd "$abs_top_srcdir" && grep -r --include='*.[ch]' '^#include "' \
		nicfw env wire card transport adi collectives pvm-glue)
} | perl -e '
	# The floors that a floor may call, beside itself.
	my %below = (nicfw => "", env => "nicfw", wire => "env",
		card => "env wire nicfw", transport => "env wire card nicfw",
		adi => "env transport nicfw", collectives => "env adi transport",
		"pvm-glue" => "env transport collectives");
	my %limit = (nicfw => 1, env => 2, wire => 1, card => 1, transport => 2,
		adi => 1, collectives => 1, "pvm-glue" => 1);
	# Floors of which only headers are used: tables and types.
	my %types = (wire => "nicfw", collectives => "card");
	my (%home, %wants, %calls, %seen, @order, $status);
	while (<>) {
		if (my ($file, $floor, $their) =
				m!^(([\w-]+)/\S+):#include "([\w-]+)/!) {
			next if !exists $below{$their} || $their eq $floor
				|| grep { $_ eq $their } split " ",
					"$below{$floor} " . ($types{$floor} || "");
			print "$file includes a header of $their/, a floor above\n";
			$status = 1;
			next;
		}
		my ($file, $kind, $name) = /^(\S+?):[0-9a-f ]* (\w) (\S+)$/ or next;
		$file =~ s!/\.libs/(lib\w+-)?!/!;
		$home{$name} = $file if $kind =~ /[TDRBC]/;
		$wants{$file}{$name} = 1 if $kind eq "U";
	}
	for my $file (sort keys %wants) {
		my ($floor) = $file =~ m!^([^/]+)!;
		for my $name (sort keys %{$wants{$file}}) {
			my $to = $home{$name} or next;
			my ($their) = $to =~ m!^([^/]+)!;
			$calls{$file}{$to} = 1 if $their eq $floor;
			next if $their eq $floor
				|| grep { $_ eq $their } split " ", $below{$floor};
			print "$file calls $name of $to, a floor above\n";
			$status = 1;
		}
	}
	# Knots are strongly connected components (Kosaraju).
	my %back;
	for my $from (keys %calls) {
		$back{$_}{$from} = 1 for keys %{$calls{$from}};
	}
	sub visit {
		my ($edges, $file, $found) = @_;
		return if $seen{$file}++;
		visit($edges, $_, $found) for sort keys %{$edges->{$file} || {}};
		push @$found, $file;
	}
	visit(\%calls, $_, \@order) for sort keys %wants;
	%seen = ();
	my %worst;
	for my $file (reverse @order) {
		my @knot;
		visit(\%back, $file, \@knot);
		my ($floor) = $file =~ m!^([^/]+)!;
		$worst{$floor} = \@knot if @knot > @{$worst{$floor} || []};
	}
	for my $floor (sort keys %worst) {
		my @knot = @{$worst{$floor}};
		printf "%s: the largest knot has %d files\n", $floor, scalar @knot;
		next if @knot <= $limit{$floor};
		print "more than $limit{$floor}: @knot\n";
		$status = 1;
	}
	exit $status;'
