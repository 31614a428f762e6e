"""The tokenizer in the form that `transformers` loads: `tokenizer.json` with the special tokens.

The byte-pair encoding is the same. ftfy and spaCy, which split a text into words before it, cannot
be stored in this format, so those of their rules that English text needs are rewritten as regular
expressions. Of 18,000 sentences of CoLA, SST-2, RTE, MRPC, STS-B and MNLI, 99.6 % get the same
words. The others differ where characters are garbled, where HTML is escaped, or where a rule
depends on letter case, since text is lower-cased first.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Regex, decoders, normalizers, pre_tokenizers, processors

from gpt1.text.normalise import DASHES, SPACED, rules
from gpt1.text.tokenizer import Tokenizer
from gpt1.text.tokens import NAMES
from gpt1.text.vocabulary import END, NEWLINE, NEWLINE_TOKEN, UNKNOWN
from tasks.common.files import write_atomic, write_json

FILES = ("tokenizer.json", "tokenizer_config.json")
# ftfy's replacements: quotation marks, control characters and other line ends.
FIXED = {
    **{"[‘’‚‛ʼ]": "'", "[“”„‟]": '"', r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufeff]": ""},
    r"\s*[\n\r\x85\u2028\u2029]\s*": NEWLINE,
}
OPENING = r"§%=:<>#&'`$£€¥"  # stripped by spaCy from a word's start, unless split off earlier
CLOSING = r"':<>#&`"
# Abbreviations that, in lower case, are more often English words at the end of a sentence.
WORDS = ("id.", "ill.", "mass.", "miss.")


def build(tokenizer: Tokenizer) -> tokenizers.Tokenizer:
    """The tokenizer, without the model's special tokens."""
    made = tokenizers.Tokenizer(tokenizer.bpe)
    fixed = (normalizers.Replace(Regex(old), new) for old, new in FIXED.items())
    dashes = (normalizers.Replace(old, new) for old, new in DASHES)
    made.normalizer = normalizers.Sequence(
        [normalizers.NFC(), *fixed, *dashes, normalizers.Strip(), normalizers.Lowercase()]
    )
    spaces = pre_tokenizers.Split(Regex(r"[^\S\n]+"), "removed")
    # Each rule applies to the pieces left by those before it.
    patterns = (NEWLINE, SPACED.pattern, r'[!?"\[\](){};,*_+]', _affixes(), *_contractions())
    split = [pre_tokenizers.Split(Regex(rule), "isolated") for rule in patterns]
    made.pre_tokenizer = pre_tokenizers.Sequence([spaces, *split])
    made.decoder = decoders.BPEDecoder(suffix=END)
    return made


def save(folder: Path, tokenizer: Tokenizer, n_ctx: int, special: bool = True) -> None:
    """Write the two files that `AutoTokenizer` reads.

    With `special`, the start, delimiter and classify tokens are put around one or two texts, as a
    fine-tuned model expects, and pads have a token of their own. Without, they are id 0, and a text
    begins with the end of a line, from which language models are scored, also by
    lm-evaluation-harness.
    """
    made, names = build(tokenizer), {"bos_token": NEWLINE_TOKEN}
    ids, single, pair = [(NEWLINE_TOKEN, tokenizer.newline_id)], f"{NEWLINE_TOKEN} $A", "$A $B"
    if special:
        start, delimiter, classify = NAMES
        names = {"bos_token": start, "sep_token": delimiter, "cls_token": classify}
        names["pad_token"] = "<pad>"
        made.add_special_tokens([AddedToken(name, normalized=False) for name in names.values()])
        ids = [(name, tokenizer.n_vocab + i) for i, name in enumerate(NAMES)]
        single = f"{start} $A {classify}"
        pair = f"{start} $A {delimiter} $B {classify}"
    made.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=ids
    )
    with write_atomic(folder / FILES[0]) as file:
        file.write(made.to_str(pretty=True))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": n_ctx,
        "model_input_names": ["input_ids", "attention_mask"],
        "padding_side": "right",
        "clean_up_tokenization_spaces": False,
        **dict.fromkeys(("unk_token", "pad_token"), UNKNOWN),
        **names,
    }
    write_json(folder / FILES[1], config, checksum=False)


def _rules() -> dict[str, list[str]]:
    """spaCy's exceptions and parts, lower-cased; contractions only if listed in lower case."""
    parts_of: dict[str, list[str]] = {}
    for word, parts in rules().exceptions.items():
        lower, names = word.lower(), [part.lower() for part in parts]
        is_whole = len(names) == 1 and lower not in WORDS
        if (is_whole or word == lower) and word.isascii() and not SPACED.search(word):
            parts_of[lower] = names
    return parts_of


def _affixes() -> str:
    """A pattern of what is a word by itself within a piece; whole exceptions come first."""
    whole = _any_of(word for word, parts in _rules().items() if len(parts) == 1)
    first = rf"(?<![^{OPENING}])(?<![\p{{L}}\p{{N}}][{OPENING}])"
    last, before_dot = rf"(?=[{CLOSING}]*\z)", rf"(?=[{CLOSING}.]*\z)"
    return "|".join(
        [
            rf"{first}{whole}{last}",
            rf"(?<=.)'s{before_dot}",
            r"\.\.+",
            r"\p{So}",
            r"\A(?:us|c|a)\$",
            rf"{first}[{OPENING}]",
            rf"[{CLOSING}]{before_dot}",
            rf"(?<=[0-9])(?:{rules().units}|[$£€¥]){before_dot}",
            rf"(?<=[\p{{L}}\p{{N}}%'²])(?<!\.\p{{L}})\.{last}",  # not the dot of U.S.
            r"(?<=[\p{L}\p{N}])[:<>=](?=\p{L})",
        ]
    )


def _contractions() -> tuple[str, str]:
    """Patterns of a contraction's first part, such as `do` of `don't`, and the second of three."""
    first: dict[str, set[str]] = {}
    second: dict[str, set[str]] = {}
    for parts in _rules().values():
        rest = "".join(parts[1:])
        if len(parts) > 1:
            first.setdefault(rest, set()).add(parts[0])
        if len(parts) > 2 and rest.startswith(("'", "n't")):
            second.setdefault("".join(parts[2:]), set()).add(parts[1])
    return _before(first), _before(second)


def _before(parts: dict[str, set[str]]) -> str:
    """A pattern of any of the parts, each before the rest of the piece that it belongs to."""
    patterns = (rf"\A{_any_of(of)}(?={re.escape(rest)}\z)" for rest, of in parts.items())
    return "|".join(patterns)


def _any_of(words: Iterable[str]) -> str:
    """A pattern of the words, the longest first."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return f"(?:{'|'.join(map(re.escape, ordered))})"
