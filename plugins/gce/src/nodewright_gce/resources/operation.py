"""Operations: what came of a change, which is accepted when the operation is done, not carried out."""

from nodewright_gce.resources.managed_instance import AttemptErrors
from nodewright_gce.resources.resource import Resource


class Operation(Resource, frozen=True, kw_only=True):
    """A change that Google works on."""

    name: str = ""
    #: ``PENDING``, ``RUNNING`` or ``DONE``.
    status: str = ""
    self_link: str = ""
    operation_type: str = ""
    error: AttemptErrors = AttemptErrors()
    http_error_status_code: int = 0
    http_error_message: str = ""

    @property
    def done(self) -> bool:
        """Whether nothing more will come of it."""
        return self.status == "DONE"
