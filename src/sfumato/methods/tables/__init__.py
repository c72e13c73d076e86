"""Methods for tables."""

REGISTERED = (
    "sfumato.methods.tables.mondrian:Mondrian",
    "sfumato.methods.tables.anatomy:Anatomy",
    "sfumato.methods.tables.lattice:Lattice",
    "sfumato.methods.tables.datafly:Datafly",
    "sfumato.methods.tables.samarati:Samarati",
    "sfumato.methods.tables.incognito:Incognito",
    "sfumato.methods.tables.top_down:TopDownSpecialization",
    "sfumato.methods.tables.bottom_up:BottomUpGeneralization",
    "sfumato.methods.tables.mdav:MDAV",
)
