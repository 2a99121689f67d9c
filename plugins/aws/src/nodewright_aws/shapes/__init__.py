"""Instance types, and how much of a machine pods may use."""

from nodewright_aws.shapes.allocatable import capacity_and_allocatable, ebs_attach_limit
from nodewright_aws.shapes.catalogue import Catalogue
from nodewright_aws.shapes.settings import AmiFamily, KubeletSettings
from nodewright_aws.shapes.shape import Gpu, Shape, parse_shape

__all__ = [
    "AmiFamily",
    "Catalogue",
    "Gpu",
    "KubeletSettings",
    "Shape",
    "capacity_and_allocatable",
    "ebs_attach_limit",
    "parse_shape",
]
