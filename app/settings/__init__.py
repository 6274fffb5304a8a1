"""Every setting of the service; the only reader of the environment."""

from __future__ import annotations

from functools import lru_cache

from pydantic_settings import SettingsConfigDict

from app.capacity import Capacity
from app.settings.door import Door
from app.settings.limits import Limits
from app.settings.news import News
from app.settings.places import Places
from app.settings.work import Work


class Settings(News, Work, Limits, Door, Places):
    """Read from variables named like the field, in capitals, after `PITH_`.

    Fields are listed from the last part to the first.
    """

    model_config = SettingsConfigDict(env_prefix="PITH_", frozen=True)

    @property
    def capacity(self) -> Capacity:
        """What a job can run on."""
        return Capacity(self.worker_max_memory_bytes, bool(self.dask_scheduler))


@lru_cache
def get_settings() -> Settings:
    """Read the settings of this process, once."""
    return Settings()
