"""Loss metrics, workloads and distances: how much a release still tells."""

REGISTERED = (
    "sfumato.utility.sizes:discernibility",
    "sfumato.utility.sizes:average_group_size",
    "sfumato.utility.precision:ncp",
    "sfumato.utility.precision:gcp",
    "sfumato.utility.precision:loss",
    "sfumato.utility.divergence:kl_divergence",
    "sfumato.utility.accuracy:query_error",
    "sfumato.utility.accuracy:bounds",
    "sfumato.utility.accuracy:intervals",
)
