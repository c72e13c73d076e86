"""Methods for tables."""

REGISTERED = (
    "sfumato.methods.tables.mondrian:Mondrian",
    "sfumato.methods.tables.anatomy:Anatomy",
    "sfumato.methods.tables.lattice:Lattice",
)
