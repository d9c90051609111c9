"""sympy, the last means: in a child process, on a budget, and imported nowhere else."""
