"""views.sql"""

from sfumato.releases.form import Frame


def generalized_views(frame: Frame) -> str:
    """."""
    return ""


def anatomized_views(frame: Frame) -> str:
    """."""
    return ""
