#!/bin/bash
# SPDX-License-Identifier: MIT
# Comments name things: pronouns and relatives are at most so much of their words,
# in each directory and in each file, and no sentence begins with Who or What.
set -euo pipefail
cd "${abs_top_srcdir:?}"
find base nicfw kmod env wire card transport adi collectives pvm-glue include sim tools \
	bench tests \
	-name '*.[ch]' | sort | xargs perl -e '
	my ($directory_limit, $file_limit, $short, $status) = (6, 9, 80, 0);
	my %vague = map { $_ => 1 } qw(it its that those these this them they their
		what whatever who whom whose whoever which one ones other others such so);
	my (%words, %those);
	for my $file (@ARGV) {
		open(my $in, "<", $file) or die "$file: $!";
		my $text = do { local $/; <$in> };
		my $comments = join " ", $text =~ m!/\*(.*?)\*/!gs;
		$comments =~ tr/*/ /;
		my @words = $comments =~ /[A-Za-z\x27]+/g;
		my $those = grep { $vague{lc $_} } @words;
		my ($directory) = $file =~ m!^([^/]+)!;
		$words{$directory} += @words;
		$those{$directory} += $those;
		$comments =~ s/\s+/ /g;
		for ($comments =~ /(?:^|[.:;!?]\s+)((?:Who|Whoever|What|Whatever|Whom|Whose)\b.{0,30})/g) {
			print "$file: a sentence begins with \"$_\"\n";
			$status = 1;
		}
		next if @words < $short || 100 * $those <= $file_limit * @words;
		printf "%s: %.1f %% of the words are pronouns and the like\n",
			$file, 100 * $those / @words;
		$status = 1;
	}
	for my $directory (sort keys %words) {
		my $share = 100 * $those{$directory} / $words{$directory};
		printf "%-12s %6d words, %.1f %%\n", $directory,
			$words{$directory}, $share;
		$status = 1 if $share > $directory_limit;
	}
	exit $status;'
