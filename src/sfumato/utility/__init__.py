"""Loss metrics, workloads and distances."""
