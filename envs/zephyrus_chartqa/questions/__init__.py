"""Templates of chart questions: one file each, registered here."""

from zephyrus_chartqa.questions.area_class import AreaClass
from zephyrus_chartqa.questions.area_order import AreaOrder
from zephyrus_chartqa.questions.base import Draft, Template
from zephyrus_chartqa.questions.flow import Flow
from zephyrus_chartqa.questions.quarter import Quarter
from zephyrus_chartqa.questions.system_kind import SystemKind
from zephyrus_chartqa.questions.system_place import SystemPlace
from zephyrus_chartqa.questions.wave import Wave

__all__ = ["TEMPLATES", "Draft", "Template", "templates_for"]

TEMPLATES: dict[str, Template] = {
    template.name: template
    for template in (
        AreaClass(),
        AreaOrder(),
        Quarter(),
        Flow(),
        Wave(),
        SystemKind(),
        SystemPlace(),
    )
}
"""All by name."""


def templates_for(modality: str) -> list[Template]:
    """The templates that ask about charts of a modality."""
    return [template for template in TEMPLATES.values() if modality in template.modalities]
