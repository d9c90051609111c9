"""RLVR: rewards that verify. One reward function per file, named like the file; no I/O at all."""
