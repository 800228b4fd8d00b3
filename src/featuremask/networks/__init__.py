"""Networks: what is trained behind a gate, and the two as one."""

from featuremask.networks._compaction import Compaction
from featuremask.networks._gated import GatedNetwork, first_dense
from featuremask.networks._learning import mirrored, mlp
from featuremask.networks._members import Members
from featuremask.networks._seeded import Dropout, MemberDraws, Seeded, draw_from, draw_from_each
from featuremask.networks._standardize import Standardize

__all__ = [
    "Compaction",
    "Dropout",
    "GatedNetwork",
    "MemberDraws",
    "Members",
    "Seeded",
    "Standardize",
    "draw_from",
    "draw_from_each",
    "first_dense",
    "mirrored",
    "mlp",
]
