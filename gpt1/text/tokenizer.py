"""Byte-pair encoding of words in the published GPT-1 layout: training, loading, encoding.

A word's symbols are its characters, the last one carrying `</w>`; the applicable merge of lowest
rank is applied until there is none (Sennrich et al. 2016; authors' code). A symbol that is not in
the vocabulary becomes id 0. The newline is a word of its own, which nothing merges with.

    python -m gpt1 tokenizer --documents corpus/documents --merges 1200 --out tokenizer/
"""

import argparse
import functools
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from gpt1.text import vocabulary
from gpt1.text.normalise import words
from gpt1.text.tokens import NAMES
from gpt1.text.vocabulary import END, NEWLINE, NEWLINE_TOKEN, UNKNOWN, Merges
from tasks.common.errors import InputError, make_again
from tasks.common.files import named_file, sha256_file
from tasks.common.records import DocumentsFacts, facts_path

CACHED_WORDS = 1 << 18
WORDS = "words.tsv"  # beside the documents whose words it counts


class Tokenizer:
    """Encodes text as ids, with a vocabulary and its merges.

    Attributes: `tokens`, in id order; `merges`, in rank order; `n_vocab`, the number of tokens
    without the model's special tokens; `digest`, a SHA-256 over both files, which identifies the
    tokenizer.
    """

    def __init__(self, tokens: list[str], merges: Merges, digest: str) -> None:
        self.tokens = tokens
        self.merges = merges
        self.digest = digest
        self.n_vocab = len(tokens)
        self._ids = {token: i for i, token in enumerate(tokens)}
        self.bpe = models.BPE(
            vocab=self._ids,
            merges=merges,
            unk_token=UNKNOWN,
            end_of_word_suffix=END,
            fuse_unk=False,
        )
        self._ids_of = functools.lru_cache(CACHED_WORDS)(self._encode_word)

    @classmethod
    def load(cls, folder: str | Path) -> "Tokenizer":
        """Read a folder that `train` wrote, or one with published files (`vocabulary.find`).

        Raises InputError if a file is missing or damaged, or if ids and merges do not match.
        """
        paths = vocabulary.find(Path(folder))
        try:
            read = models.BPE.read_file if len(paths) == 2 else vocabulary.read_hub
            ids, merges = read(*map(str, paths))
        except Exception as error:  # the library has no exception class of its own
            reason = " ".join(str(error).split())
            files = " and ".join([str(paths[0]), *(path.name for path in paths[1:])])
            raise InputError(
                f"{files}: not a vocabulary and its merges ({reason:.100}); fetch them again"
            ) from None
        vocabulary.check(ids, merges, paths[0])
        digest = hashlib.sha256(b"".join(vocabulary.contents(Path(folder)))).hexdigest()
        return cls(sorted(ids, key=ids.__getitem__), merges, digest)

    @property
    def newline_id(self) -> int:
        """Id of the newline word, the last of the vocabulary."""
        return self.n_vocab - 1

    def encode(self, text: str) -> list[int]:
        """Ids of raw text, which is normalised first; without special tokens."""
        return self.encode_words(words(text))

    def encode_words(self, normalised: Iterable[str]) -> list[int]:
        """Ids of words that are already normalised."""
        return list(itertools.chain.from_iterable(map(self._ids_of, normalised)))

    def decode(self, ids: Iterable[int]) -> str:
        """Readable text of ids: one space between words, lines ended by newlines."""
        special = {i: name + END for i, name in enumerate(NAMES, self.n_vocab)}
        tokens = [special[i] if i in special else self.tokens[i] for i in map(int, ids)]
        lines = "".join(tokens).replace(END, " ").split("\n")
        return "\n".join(line.strip(" ") for line in lines)

    def _encode_word(self, word: str) -> tuple[int, ...]:
        return tuple(token.id for token in self.bpe.tokenize(word)) if word else ()


def train(counts: dict[str, int], n_merges: int) -> tuple[list[str], Merges]:
    """Tokens in id order and merges in rank order, learnt from word counts.

    The same counts give the same result in every process. There are fewer merges than asked for if
    no pair of symbols occurs twice any more. Ties go to the pair with the lower ids.
    """
    characters = sorted(set().union(*counts) - {NEWLINE})
    base = [UNKNOWN, *characters, *(c + END for c in characters)]
    # By default the trainer numbers the suffixed characters in hash-map order, which breaks ties
    # differently in each run; listing them as special tokens fixes their ids.
    trainer = trainers.BpeTrainer(
        vocab_size=len(base) + n_merges,
        min_frequency=2,
        special_tokens=base,
        end_of_word_suffix=END,
        show_progress=False,
    )
    learner = tokenizers.Tokenizer(models.BPE(unk_token=UNKNOWN, end_of_word_suffix=END))
    learner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    learner.train_from_iterator(_repeated(counts), trainer)
    learnt = json.loads(learner.to_str())["model"]["merges"]

    tokens, merges, seen = list(base), [], set(base)
    for left, right in learnt:
        # Two pairs may spell the same token; the vocabulary has a row for the first of them only.
        if left + right not in seen:
            seen.add(left + right)
            tokens.append(left + right)
            merges.append((left, right))
    return [*tokens, NEWLINE_TOKEN], merges


def read_words(documents: str | Path) -> dict[str, int]:
    """The word counts beside a folder of documents, in a file of lines "word<TAB>count".

    Raises InputError for a file that is missing, or not the one that `<documents>.json` describes.
    """
    facts = facts_path(documents)
    described = DocumentsFacts.read(facts)
    path = named_file(facts.parent, WORDS, facts)
    lines = vocabulary.read_text(path).splitlines()
    if described.words_sha256 != sha256_file(path):
        raise InputError(f"{path}: not what {facts.name} describes (sha256); {make_again(path)}")
    return {word: int(count) for word, count in (line.split("\t") for line in lines)}


def _repeated(counts: dict[str, int], at_once: int = 4096) -> Iterator[str]:
    """Each word as often as it occurs, in strings of bounded length, as the trainer needs it."""
    for word, count in sorted(counts.items()):
        whole, rest = divmod(count, at_once)
        yield from itertools.repeat(" ".join([word] * at_once), whole)
        yield " ".join([word] * rest)


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn a byte-pair encoding from word counts.")
    parser.add_argument("--documents", type=Path, required=True, help="folder, beside words.tsv")
    parser.add_argument("--merges", type=int, required=True, help="number of merges to learn")
    parser.add_argument("--out", type=Path, required=True, help="folder of the two files")
    args = parser.parse_args()
    tokens, merges = train(read_words(args.documents), args.merges)
    vocabulary.save(args.out, tokens, merges)
    Tokenizer.load(args.out)
    if len(merges) < args.merges:
        print(f"only {len(merges):,} of {args.merges:,} merges: no pair occurs twice any more")
    n_characters = (len(tokens) - len(merges) - 2) // 2
    print(
        f"{len(tokens):,} tokens: {n_characters:,} characters, {len(merges):,} merges", flush=True
    )
