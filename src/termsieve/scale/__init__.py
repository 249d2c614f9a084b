"""Counts and studies on engines that existing clusters run; each part imports its engine when it is used."""
