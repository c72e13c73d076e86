"""Ways to make values coarser, one kind a file."""

REGISTERED = (
    "sfumato.data.hierarchies.intervals:Intervals",
    "sfumato.data.hierarchies.cuts:Cuts",
    "sfumato.data.hierarchies.masking:Masking",
    "sfumato.data.hierarchies.prefixes:Prefixes",
    "sfumato.data.hierarchies.dates:Dates",
    "sfumato.data.hierarchies.categories:Categories",
    "sfumato.data.hierarchies.ordered:Ordered",
    "sfumato.data.hierarchies.arx_file:ArxFile",
    "sfumato.data.hierarchies.suppression:Suppression",
)
