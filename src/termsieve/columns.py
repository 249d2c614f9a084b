"""The names of a table's columns come in; which is the text, which the label and which the split goes out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from termsieve.errors import InputError, near_name, shown
from termsieve.labels import is_missing

Wanted = str | int | Sequence[str | int] | None  # a column by name, or by number from 1; several for labels
Columns = dict[str, str | tuple[str, ...]]  # role -> column, or several indicator columns
Rows = Sequence[Sequence[Any]]
LONG_TEXT = 15  # mean number of characters from which the cells of a column may be documents
INDICATOR = {"0", "1", "0.0", "1.0", "True", "False", "true", "false", "TRUE", "FALSE"}
_WIDE = re.compile("[\u0e00-\U0010ffff]")  # letters outside the alphabets
_WORD = 10  # most characters that a cell without spaces, such as an id, counts for
# Role -> the usual names, in lower case, by which a column is recognised.
USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "text": (
        "text",
        "body",
        "content",
        "document",
        "message",
        "review",
        "review_text",
        "comment",
        "description",
        "abstract",
    ),
    "label": (
        "label",
        "labels",
        "class",
        "category",
        "categories",
        "target",
        "topic",
        "topics",
        "tag",
        "tags",
        "sentiment",
    ),
    "split": (),
    "by": (),
}
# Further names, also in other languages; they count where no column has one of those above.
_TEXT_NAMES = """
texts documents tweet tweets tweet_text full_text review_body review_content comment_text comment_body
message_text message_body sentence sentences utterance post post_text selftext article article_text
headline statement narrative complaint consumer_complaint_narrative transcript transcription lyrics
sms question_text caption clean_text cleaned_text
nachricht inhalt beschreibung kommentar beitrag rezension
texte contenu commentaire avis
texto contenido comentario mensaje reseña
conteúdo conteudo comentário mensagem avaliação
testo contenuto commento messaggio recensione
tekst inhoud bericht beschrijving treść opis komentarz wiadomość
meddelande beskrivning besked beskrivelse
текст сообщение отзыв комментарий описание содержание
metin yorum mesaj içerik
نص النص تعليق
文本 内容 內容 正文 评论 評論 留言
本文 テキスト 文章 レビュー コメント
텍스트 내용 리뷰 문장
ข้อความ
"""
_LABEL_NAMES = """
stars star_rating rating ratings overall emotion emotions intent intents genre genres polarity queue
department class_label class_name label_name label_text category_name news_category sentiment_label
airline_sentiment target_name gold_label is_spam
klasse kategorie kategorien etikett thema stimmung
classe catégorie étiquette thème
clase categoría categoria etiqueta tema sentimiento
rótulo etichetta categorie onderwerp klasa kategoria etykieta kategori
класс категория метка тема рубрика тональность
sınıf etiket duygu
فئة الفئة تصنيف التصنيف
标签 標籤 类别 類別 分类 分類
ラベル カテゴリ カテゴリー
라벨 레이블 카테고리 분류
หมวดหมู่
"""
OTHER_NAMES = {"text": tuple(_TEXT_NAMES.split()), "label": tuple(_LABEL_NAMES.split())}
_BETWEEN = re.compile(r"[\s_-]+")


def _plain(name: str) -> str:
    """Return a name without regard to case, spaces, hyphens and underscores.

    >>> _plain("Review Text"), _plain("reviewText")
    ('reviewtext', 'reviewtext')
    """
    return _BETWEEN.sub("", unicodedata.normalize("NFKC", name)).lower()


_USUAL, _OTHER = (
    {role: frozenset(map(_plain, names)) for role, names in table.items()}
    for table in (USUAL_NAMES, OTHER_NAMES)
)


def find_column(names: Iterable[Any], role: str, wanted: Wanted, where: str, hint: str = "") -> str:
    """Return the column for a role ("text", "label", "split"): the wanted one, or the one with a usual name.

    A number that is no name is the place of a column, from 1. `where` names the table in an error: its path,
    or "the frame"; `hint` is more to say if no column has a usual name.
    """
    listed = [str(name) for name in names]
    if isinstance(wanted, list | tuple):
        raise InputError(f"{role}= must name one column here, not {len(wanted)}")
    if wanted is not None:
        wanted = str(wanted)
        if wanted not in listed and wanted.isdecimal() and 1 <= int(wanted) <= len(listed):
            wanted = listed[int(wanted) - 1]
        if wanted not in listed:
            near = near_name(wanted, listed)
            raise InputError(
                f"{where} has no column {wanted!r} for {role}=; {near}its columns: {shown(listed)}"
            )
        if listed.count(wanted) > 1:
            raise InputError(
                f"{where} has {listed.count(wanted)} columns named {wanted!r}; rename all but one"
            )
        return wanted
    likely = [name for name in listed if is_usual(name, role)]
    likely = likely or [name for name in listed if is_usual(name, role, _OTHER)]
    if len(likely) != 1:
        doubt = "several could be it" if likely else "none has a usual name"
        raise InputError(
            f"{where}: which column is the {role}? Give {role}=, {doubt}; its columns: {shown(listed)}"
            f"{hint if not likely else ''}"
        )
    return likely[0]


def is_usual(name: str, role: str | None = None, names: dict[str, frozenset[str]] = _USUAL) -> bool:
    """Return whether a name is usual for a role, or for any."""
    plain = _plain(name)
    return any(plain in names.get(role, ()) for role in (names if role is None else (role,)))


def find_columns(
    names: Iterable[Any],
    text: Wanted,
    label: Wanted,
    split: str | None = None,
    *,
    where: str,
    rows: Rows = (),
    unlabelled: bool = False,
    hint: str = "",
) -> Columns:
    """Return the column for each role; text and label are recognised by their names if they are not given.

    Several columns of labels, as a list or with commas, are indicator columns: their names are the classes.
    The first `rows` and a `hint` help to word an error. An `unlabelled` table has no column for the labels.

    >>> find_columns(["id", "Body", "tag"], None, None, where="mail.csv")
    {'text': 'Body', 'label': 'tag'}
    >>> find_columns(["text", "toxic", "threat"], None, "toxic,threat", where="comments.csv")
    {'text': 'text', 'label': ('toxic', 'threat')}
    """
    listed = [str(name) for name in names]
    text_hint, label_hint = _text_hint(listed, rows), _label_hint(listed, rows)
    if text is None and label is None and not unlabelled:
        _check_any(listed, where, f"{text_hint}{label_hint}{hint}")
    found: Columns = {"text": find_column(listed, "text", text, where, f"{text_hint}{hint}")}
    if not unlabelled:
        several = _several(label, listed)
        if several:
            found["label"] = tuple(find_column(listed, "label", name, where) for name in several)
        else:
            found["label"] = find_column(listed, "label", label, where, f"{label_hint}{hint}")
    if split is not None:
        found["split"] = find_column(listed, "split", split, where)
    if found["text"] in (found.get("label"), *_as_tuple(found.get("label"))):
        raise InputError(
            f"{where}: text and label are both column {found['text']!r}; name two different ones"
        )
    return found


def _check_any(names: list[str], where: str, hint: str) -> None:
    """Raise one error about both columns if neither the text nor the label is recognised by its name."""
    for role in ("text", "label"):
        with suppress(InputError):
            find_column(names, role, None, where)
            return
    raise InputError(
        f"{where}: which columns are the text and the label? Give text= and label=, their names are not "
        f"usual; its columns: {shown(names)}{hint}"
    )


def _as_tuple(names: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return names if isinstance(names, tuple) else ()


def _several(label: Wanted, names: list[str]) -> list[Any]:
    """Return the names of indicator columns: a list, or a text with commas that is no name itself."""
    if isinstance(label, list | tuple):
        return list(label)
    if isinstance(label, str) and "," in label and label not in names:
        return [name.strip() for name in label.split(",") if name.strip()]
    return []


def column_phrase(columns: Columns, by_number: bool = False) -> str:
    """Return the columns and their roles in words.

    >>> column_phrase({"text": "2", "label": "1"}, by_number=True)
    'columns 2 (text) and 1 (label)'
    """
    parts = []
    for role, names in columns.items():
        several = names if isinstance(names, tuple) else (names,)
        listed = several if by_number else [repr(name) for name in several]
        parts.append(f"{'+'.join(listed)} ({role})")
    joined = " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]
    return f"column{'s' if len(parts) > 1 else ''} {joined}"


def long_column(names: Sequence[str], rows: Rows) -> str | None:
    """Return the column whose cells are the longest texts, if they are long enough to be documents."""
    found, longest = None, 0.0
    for place, name in enumerate(names):
        cells = [row[place] for row in rows if isinstance(row[place], str) and row[place]]
        size = sum(map(_weight, cells)) / max(len(cells), 1)
        if size > longest:
            found, longest = name, size
    return found if longest >= LONG_TEXT else None


def _weight(cell: str) -> int:
    """Return the length of a text; a letter outside the alphabets, such as a Chinese one, counts as three.

    A cell without spaces is an id, a number or an address, not a text, unless its script has none.
    """
    if cell.isascii():
        return len(cell) if " " in cell.strip() else min(len(cell), _WORD)
    n_wide = len(_WIDE.findall(cell))
    return len(cell) + 2 * n_wide if n_wide or " " in cell.strip() else min(len(cell), _WORD)


def likely_columns(
    names: Sequence[str], rows: Rows, text: Wanted, label: Wanted, unlabelled: bool, where: str
) -> tuple[Wanted, Wanted]:
    """Return the columns of a table without names, by what they hold: long texts, and values that recur."""
    if text is None:
        text = long_column(names, rows)
        if text is None:
            raise InputError(
                f"{where} has no header, and no column holds long texts; give text= the number of a column"
            )
    if label is None and not unlabelled:
        others = [name for name in names if name != str(text)]
        likely = (
            others if len(others) == 1 else [name for name in others if _recurs(_cells(names, rows, name))]
        )
        if len(likely) != 1:
            doubt = (
                f"columns {', '.join(likely)} could be it" if likely else "no column has values that recur"
            )
            raise InputError(
                f"{where} has no header: which column is the label? Give label= its number; {doubt}"
            )
        label = likely[0]
    return text, label


def _cells(names: Sequence[str], rows: Rows, name: str) -> list[Any]:
    place = list(names).index(name)
    return [row[place] for row in rows if not is_missing(row[place]) and row[place] != ""]


def _recurs(cells: list[Any]) -> bool:
    """Return whether cells are like labels: several different values, few for the number of cells."""
    values = {str(cell) for cell in cells}
    return 2 <= len(values) <= max(2, len(cells) // 3)


def _text_hint(names: list[str], rows: Rows) -> str:
    longest = long_column(names, rows)
    return "" if longest is None else f"; {longest!r} holds the longest texts"


def _label_hint(names: list[str], rows: Rows) -> str:
    cells = {name: _cells(names, rows, name) for name in names}
    marks = [name for name, held in cells.items() if held and {str(cell) for cell in held} <= INDICATOR]
    if len(marks) > 1:
        return f"; {shown(marks)} hold 0 and 1: give label='{','.join(marks)}' if they are the classes"
    longest = long_column(names, rows)
    likely = [name for name, held in cells.items() if name != longest and _recurs(held)]
    return f"; {shown(likely)} could be the label, with values that recur" if likely else ""
