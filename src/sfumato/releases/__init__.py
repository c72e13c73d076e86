"""What comes out: one release form each, and the package on disk."""

REGISTERED = (
    "sfumato.releases.generalized:Generalized",
    "sfumato.releases.anatomized:Anatomized",
)
SUMS = "SHA256SUMS"
"""The file of a package that lists the checksums of all others."""
