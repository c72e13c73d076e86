"""What comes out: one release form each, and the package on disk."""

REGISTERED = (
    "sfumato.releases.generalized:Generalized",
    "sfumato.releases.anatomized:Anatomized",
)
