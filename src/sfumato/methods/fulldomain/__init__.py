"""Full-domain generalization: every value of a column goes up to the same level of its hierarchy."""
