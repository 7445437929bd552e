"""Data for training: datasets, samplers and :class:`DataLoader`, which makes batches of them."""

from zero import _later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zero.utils.data import (
        _utils as _utils,
        dataloader as dataloader,
        dataset as dataset,
        datasets as datasets,
        distributed as distributed,
        sampler as sampler,
    )
    from zero.utils.data._utils.collate import (
        default_collate as default_collate,
        default_convert as default_convert,
    )
    from zero.utils.data._utils.worker import get_worker_info as get_worker_info
    from zero.utils.data.dataloader import DataLoader as DataLoader
    from zero.utils.data.dataset import *
    from zero.utils.data.distributed import *
    from zero.utils.data.sampler import *
else:
    __getattr__, __dir__, __all__ = _later.attributes(
        "zero.utils.data",
        [],
        modules="dataloader dataset datasets distributed sampler",
        names={
            "_utils": "",
            "_utils.collate": "default_collate default_convert",
            "_utils.worker": "get_worker_info",
            "dataloader": "DataLoader",
            "dataset": "ChainDataset ConcatDataset Dataset IterableDataset StackDataset Subset "
            "TensorDataset random_split",
            "distributed": "DistributedSampler",
            "sampler": "BatchSampler RandomSampler Sampler SequentialSampler SubsetRandomSampler "
            "WeightedRandomSampler",
        },
    )
