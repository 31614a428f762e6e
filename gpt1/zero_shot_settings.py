"""The settings of `gpt1.zero_shot`, apart from `gpt1.settings`: no cell depends on a prompt."""

from gpt1.settings import Count, ModelSettings, ScoreRange
from tasks.common.settings import Settings
from tasks.prompt import Prompt


class ZeroShotSettings(Settings):
    """The settings of `gpt1.zero_shot`."""

    limit: Count | None = None  # maximum number of rows scored per task
    normalise: dict[str, ScoreRange]  # by task
    prompts: dict[str, Prompt]  # by task
    model: ModelSettings
