"""How GPUs are told in labels."""

from nodewright.api.provider import GpuConfig

#: With `dra_drivers` behind them where there is one more label.
GPU_LABELS = ("gpu_resource_name", "gpu_name")


def gpu_values(gpu: GpuConfig | None) -> tuple[str, str, str]:
    """Return the values of `GPU_LABELS` and of ``dra_drivers``; all empty for nodes without GPUs."""
    return (gpu.resource, gpu.type, gpu.dra_driver) if gpu else ("", "", "")
