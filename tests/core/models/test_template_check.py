"""A stranger's chat template takes no more time and memory than a prompt may."""

from types import SimpleNamespace

import pytest

from sbd_core.errors import ModelError
from sbd_core.models import chat
from sbd_core.models.chat import require_bounded_template
from tests.core.models.test_chat import DOUBLING, NESTED

HOSTILE = {
    "loops without end": (NESTED, "takes more than 1 seconds"),
    "doubling": (DOUBLING, "makes more text, or takes more memory"),
    "a power": ("{{ 'x' * 10**10 }}", "makes more text, or takes more memory"),
    "only in a talk": (
        "{% if messages | length > 1 %}{{ '%999999999d' | format(1) }}{% endif %}",
        "makes more text",
    ),
}


def with_template(template: object) -> SimpleNamespace:
    return SimpleNamespace(chat_template=template, special_tokens_map={"eos_token": "<eos>"})


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_template_is_refused_by_name(name, monkeypatch) -> None:
    template, reason = HOSTILE[name]
    if reason == "takes more than 1 seconds":  # in which the others may not come to their fault
        monkeypatch.setattr(chat, "CPU_SECONDS", 1)
        monkeypatch.setitem(chat.REASONS, chat.TOO_LONG, reason)
    with pytest.raises(ModelError, match=f"^it: its chat template cannot be used: it .*{reason}"):
        require_bounded_template(with_template(template), "it")


@pytest.mark.parametrize(
    "template",
    [
        None,
        "{% for m in messages %}{{ m.role }}{{ m.content }}{% endfor %}{{ eos_token }}",
        "{% if %}",  # broken otherwise: its first use says how
        "{{ raise_exception('no system') }}",
    ],
)
def test_any_other_template_is_left_to_its_first_use(template) -> None:
    require_bounded_template(with_template(template), "it")
