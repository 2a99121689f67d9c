"""An AWS in one process, with all its faults. Needs the extra ``nodewright-aws[testing]``."""

from nodewright_aws.testing.double import AwsDouble
from nodewright_aws.testing.group import Activity, Group, Machine
from nodewright_aws.testing.interruptions import Notice
from nodewright_aws.testing.messages import RefusalError
from nodewright_aws.testing.supply import Shortage, Trouble

__all__ = ["Activity", "AwsDouble", "Group", "Machine", "Notice", "RefusalError", "Shortage", "Trouble"]
