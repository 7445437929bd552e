"""Datasets in the files they are published as, tables, and folders of images.

Nothing is downloaded: a dataset reads files that are there. Tables need pyarrow, image folders need
Pillow: ``pip install zerograd[data]``.
"""

from zero import _later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.utils.data.datasets import transforms as transforms
    from zero.utils.data.datasets.cifar import *
    from zero.utils.data.datasets.folder import *
    from zero.utils.data.datasets.images import *
    from zero.utils.data.datasets.mnist import *
    from zero.utils.data.datasets.tables import *
else:
    __getattr__, __dir__, __all__ = _later.attributes(
        "zero.utils.data.datasets",
        [],
        modules="transforms",
        names={
            "cifar": "CIFAR10",
            "folder": "ImageFolder",
            "images": "ImageDataset",
            "mnist": "FashionMNIST MNIST",
            "tables": "CSV Parquet Table",
        },
    )
