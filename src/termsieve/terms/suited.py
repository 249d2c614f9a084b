"""The options of text analysis and some texts come in; options that suit these texts go out."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from termsieve.terms.languages import detected_language
from termsieve.terms.scripts import MODULES, installed_segmenter, unsegmented_language

_log = logging.getLogger("termsieve")
_SAMPLE = 500  # number of texts that say the script of all
# Who gives one of these has decided how texts are cut.
_CUTTING = ("analyzer", "tokenizer", "token_pattern", "preprocessor")


def suited_options(options: Mapping[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Return the options with what the texts decide: their language, and how a script without spaces is cut.

    `language="auto"` becomes the language that the texts are in. If nothing says how texts are cut and most
    have no spaces between words, an installed segmenter is taken, otherwise sequences of characters. Both are
    logged.

    Parameters
    ----------
    options : mapping
        The options of TermVectorizer that were given.
    texts : sequence of str
        The documents, or some of them.

    Returns
    -------
    dict
        The options that suit.
    """
    suited = dict(options)
    if suited.get("language") == "auto":
        suited["language"] = detected_language(texts)
        _log.warning("the documents are taken as %s; name another with language=", suited["language"])
    if any(suited.get(name) is not None for name in _CUTTING):
        return suited
    script = unsegmented_language(texts[:: max(len(texts) // _SAMPLE, 1)])
    if script is not None:
        suited["tokenizer"] = installed_segmenter(script)
        _log.warning("%s", _said(script, suited["tokenizer"]))
    return suited


def _said(script: str, tokenizer: str) -> str:
    what = f"the documents have no spaces between words (they look {script.title()})".replace(
        " (they look Other)", ""
    )
    if tokenizer != "characters":
        return f"{what}, and are cut into words by {tokenizer}; analyzer='char' counts characters instead"
    extra = next((extra for _, extra in MODULES.values() if extra == script), None)
    better = "" if extra is None else f'; for words: pip install "termsieve[{extra}]"'
    return f"{what}, so terms are sequences of characters{better}"
