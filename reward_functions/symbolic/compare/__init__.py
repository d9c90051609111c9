"""Whether two trees mean the same, by the kind of thing that each of them is."""
