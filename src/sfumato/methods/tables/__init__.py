"""Methods for tables."""

REGISTERED = (
    "sfumato.methods.tables.mondrian:Mondrian",
    "sfumato.methods.tables.anatomy:Anatomy",
)
