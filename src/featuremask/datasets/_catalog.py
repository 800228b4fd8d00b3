"""What is known of each public dataset before any file is there: files, sums, origin, terms."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["PUBLIC_SETS", "PublicFile", "PublicSet"]


@dataclass(frozen=True)
class PublicFile:
    """One file of a public dataset.

    Parameters
    ----------
    path : str
        Where it lies below a data folder, with forward slashes.
    sha256 : str
        The sum of its content; for a gzip file, of what it holds.
    size : int
        The length of its content in bytes.
    """

    path: str
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """The file's name, as it is called on the mirrors."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class PublicSet:
    """A public dataset: what it is, its files, and the mirrors that hold them.

    Parameters
    ----------
    name : str
        The name under which `load` knows it.
    files : tuple of PublicFile
        Image sets: training images, training labels, test images, test labels. Else one file.
    mirrors : tuple of str
        Addresses of folders that hold the files, tried in this order.
    n_train, n_test, n_features : int
        The sizes that a file must have.
    target_names : tuple of str
        One name a class.
    feature_prefix : str
        Feature names are this and a number; "pixel" gets row and column.
    domain, description, origin, license : str
        As in `Dataset`.
    image_shape : (int, int), optional
        Height and width.
    image_order : {"C", "F"}
        Order of the pixels in a row.
    """

    name: str
    files: tuple[PublicFile, ...]
    mirrors: tuple[str, ...]
    n_train: int
    n_test: int
    n_features: int
    target_names: tuple[str, ...]
    feature_prefix: str
    domain: str
    description: str
    origin: str
    license: str
    image_shape: tuple[int, int] | None = None
    image_order: Literal["C", "F"] = "C"


_IDX_NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
_IDX_SIZES = (47_040_016, 60_008, 7_840_016, 10_008)
_SCIKIT_FEATURE = (
    "https://raw.githubusercontent.com/jundongl/scikit-feature/master/skfeature/data/",
    "https://jundongl.github.io/scikit-feature/files/datasets/",
)
_NOT_STATED = "no license is stated; the files are passed on for research"


def _idx_files(folder: str, *sums: str) -> tuple[PublicFile, ...]:
    return tuple(
        PublicFile(f"{folder}/{name}.gz", sha256, size)
        for name, sha256, size in zip(_IDX_NAMES, sums, _IDX_SIZES, strict=True)
    )


_MNIST = PublicSet(
    name="mnist",
    files=_idx_files(
        "mnist",
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
    mirrors=(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
        "https://raw.githubusercontent.com/fgnt/mnist/master/",
    ),
    n_train=60_000,
    n_test=10_000,
    n_features=784,
    target_names=tuple("0123456789"),
    feature_prefix="pixel",
    domain="image",
    description="Handwritten digits, 28 x 28 gray values from 0 to 255.",
    origin="Y. LeCun, C. Cortes, C. J. C. Burges, from NIST Special Databases 1 and 3 (1998)",
    license="Creative Commons Attribution-ShareAlike 3.0",
    image_shape=(28, 28),
)

_FASHION_MNIST = PublicSet(
    name="fashion-mnist",
    files=_idx_files(
        "fashion-mnist",
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
    mirrors=(
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        "https://fashion-mnist.s3.eu-central-1.amazonaws.com/",
        "https://storage.googleapis.com/tensorflow/tf-keras-datasets/",
    ),
    n_train=60_000,
    n_test=10_000,
    n_features=784,
    target_names=(
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ),
    feature_prefix="pixel",
    domain="image",
    description="Articles of clothing, 28 x 28 gray values from 0 to 255.",
    origin="H. Xiao, K. Rasul, R. Vollgraf, Zalando Research (2017)",
    license="MIT, copyright Zalando SE",
    image_shape=(28, 28),
)

_COIL20 = PublicSet(
    name="coil20",
    files=(
        PublicFile(
            "COIL20.mat",
            "4595ebdda07f47b0eb014fcfaddc22b452f9aed9c1d9261a0d5bc336c1ee1344",
            3_024_549,
        ),
    ),
    mirrors=_SCIKIT_FEATURE,
    n_train=1152,
    n_test=288,
    n_features=1024,
    target_names=tuple(f"object {number}" for number in range(1, 21)),
    feature_prefix="pixel",
    domain="image",
    description="20 objects on a turntable, 72 views each, 32 x 32 gray values from 0 to 1.",
    origin="S. A. Nene, S. K. Nayar, H. Murase, CUCS-005-96, Columbia University (1996)",
    license=f"made available by Columbia University for research; {_NOT_STATED}",
    image_shape=(32, 32),
    image_order="F",
)

_ISOLET = PublicSet(
    name="isolet",
    files=(
        PublicFile(
            "Isolet.mat",
            "ea73c69b1342a7def8199458e53a70307a83d557eceb2579863dda57c3ccd2b1",
            3_652_673,
        ),
    ),
    mirrors=_SCIKIT_FEATURE,
    n_train=1248,
    n_test=312,
    n_features=617,
    target_names=tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    feature_prefix="attribute",
    domain="speech",
    description="Spoken letters of 30 speakers, two of each; acoustic features from -1 to 1.",
    origin="M. Fanty, R. Cole, ISOLET (1991), UCI Machine Learning Repository; one of its parts",
    license="Creative Commons Attribution 4.0, as the UCI repository states for ISOLET",
)

_PCMAC = PublicSet(
    name="pcmac",
    files=(
        PublicFile(
            "PCMAC.mat",
            "9999dfccf97ab88f87127dd3457da436acb75cda9f0af4750e7cae5fe1a31b25",
            191_131,
        ),
    ),
    mirrors=_SCIKIT_FEATURE,
    n_train=1555,
    n_test=388,
    n_features=3289,
    target_names=("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    feature_prefix="word",
    domain="text",
    description="Word counts of postings to two newsgroups on computers; 98.5 % are zero.",
    origin="K. Lang, 20 Newsgroups (1995), as in the scikit-feature repository",
    license=f"public newsgroup postings; {_NOT_STATED}",
)

PUBLIC_SETS = {entry.name: entry for entry in (_MNIST, _FASHION_MNIST, _COIL20, _ISOLET, _PCMAC)}
"""The public datasets by name."""
