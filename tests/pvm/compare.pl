# SPDX-License-Identifier: MIT
# compare.pl DIRECTORY BARS: what pvm-compare made of its samples agrees with
# them, and it says of so many bars what their figures say.
use strict;
use warnings;
use JSON::PP;

my ($directory, $bars) = @ARGV;
my @names = qw(glue direct daemon);
my (%samples, %median);

sub lines {
	open(my $file, '<', "$directory/$_[0]") or die "$_[0]: $!\n";
	chomp(my @lines = <$file>);
	return @lines;
}

sub median {
	my @sorted = sort { $a <=> $b } @_;
	my $n = @sorted;
	return ($sorted[($n - 1) / 2] + $sorted[$n / 2]) / 2;
}

# As far as so many digits say.
sub same {
	my ($what, $seen, $wanted, $digits) = @_;
	return if $seen eq '' && !defined $wanted;
	die "$what: $seen, not " . ($wanted // 'nothing') . "\n"
		if $seen eq '' || !defined $wanted ||
		abs($seen - $wanted) > 0.51 * 10 ** -$digits;
}

sub near {
	my ($what, $seen, $wanted, $part) = @_;
	die "$what: $seen, not $wanted\n"
		if abs($seen - $wanted) > $part * abs($wanted);
}

sub ratio {
	my ($a, $b) = @_;
	return defined $a && defined $b ? $a / $b : undef;
}

# What is best of some: the least time, or the highest rate.
sub best {
	my ($unit, @values) = @_;
	my @sorted = sort { $a <=> $b } grep { defined } @values;
	return $unit eq 'us' ? $sorted[0] : $sorted[-1];
}

for (lines('samples')) {
	my ($where, $test, $bytes, $unit, $name, $value) = split ' ';
	push @{$samples{"$where,$test,$bytes,$unit"}{$name}}, $value;
}
for my $key (keys %samples) {
	for my $name (keys %{$samples{$key}}) {
		$median{$key}{$name} = median(@{$samples{$key}{$name}});
	}
}

# ---- CSV and text: a line for each, in the same order
my ($head, @csv) = lines('pvm.csv');
die "head: $head\n"
	if $head ne 'where,test,bytes,unit,glue,direct,daemon,x best,x direct';
die "not one line for each\n" if @csv != keys %samples;
my ($text_head, @text) = lines('pvm.txt');
die "head: $text_head\n" if $text_head !~ /^where +test .* x best +x direct$/;
for my $line (@csv) {
	my ($where, $test, $bytes, $unit, @figures) = split /,/, $line, -1;
	my $key = "$where,$test,$bytes,$unit";
	my $have = $median{$key} or die "no samples: $key\n";
	my @row = split ' ', shift @text;
	my $i = 4;
	die "text: @row\n" if join(',', @row[0 .. 3]) ne $key;
	for my $name (@names) {
		my ($seen, $wanted) = (shift @figures, $have->{$name});
		die "$key: $name\n" if defined $wanted != ($seen ne '');
		near("$key $name", $seen, $wanted, 1e-5) if defined $wanted;
		near("$key $name, text", $row[$i], $wanted, 1e-3)
			if defined $wanted;
		die "$key: $row[$i]\n" if !defined $wanted && $row[$i] ne '-';
		$i++;
	}
	my $others = best($unit, @$have{qw(direct daemon)});
	same("$key x best", $figures[0], ratio($have->{glue}, $others), 2);
	same("$key x direct", $figures[1],
		ratio($have->{glue}, $have->{direct}), 2);
	die "$key: text: @row[7 .. $#row]\n"
		if "@row[7 .. $#row]" ne join ' ', grep { $_ ne '' } @figures;
}

# ---- JSON: all samples
my $objects = decode_json(join "\n", lines('pvm.json'));
my $series = 0;
$series += keys %$_ for values %samples;
die "JSON: not one object for each\n" if @$objects != $series;
for my $object (@$objects) {
	my $key = join ',', @$object{qw(where test bytes unit)};
	my $name = $object->{name};
	my $list = $samples{$key}{$name} or die "JSON: no samples: $key\n";
	die "JSON: $key $name: @{$object->{samples}}\n"
		if @$list != @{$object->{samples}} ||
		grep { $list->[$_] != $object->{samples}[$_] } 0 .. $#$list;
	near("JSON: $key $name", $object->{median}, $median{$key}{$name}, 1e-5);
}

# ---- bars
sub us {
	my ($key, @names) = @_;
	return best('us', @{$median{"$key,us"}}{@names});
}

my $seen = 0;
for (@text) {
	my ($where, $test, $bytes, $value, $sign, $limit, $verdict, $what) =
		/^(\S+) +(\S+) +(\d+) +(\S+) ([<>]=) (\S+) +(\S+) +(.*)$/
		or next;
	my ($have) = grep { defined } @median{"$where,$test,$bytes,us",
		"$where,$test,$bytes,GB/s"};
	my ($glue, $wanted) = ($have->{glue}, undef);
	if ($what =~ /^([\d.]+) x direct$/) {
		$wanted = $1 * $have->{direct};
	} elsif ($what =~ /^0.25 x best$/) {
		$wanted = 0.25 * us("$where,$test,$bytes", qw(direct daemon));
	} elsif ($what =~ /^floor /) {
		$wanted = us('inside,self,8', 'glue') +
			1.5 * us('inside,adi,8', 'glue');
	} elsif ($what =~ /^for each task/) {
		$glue /= 16;
		$wanted = us('group4,reduce,8', 'glue') / 4;
	} else {
		die "bar: $_\n";
	}
	near("$_: figure", $value, $glue, 1e-3);
	near("$_: limit", $limit, $wanted, 1e-3);
	my $met = $sign eq '<=' ? $glue <= $wanted : $glue >= $wanted;
	die "bar: $_\n" if $verdict ne ($met ? 'met' : 'MISSED');
	$seen++;
}
die "$seen bars, not $bars\n" if $seen != $bars;
