"""The tokenizer that `transformers` loads has the tokens of training where its rules suffice."""

import pytest
from transformers import AutoTokenizer

from gpt1.text import hub_tokenizer
from gpt1.text.normalise import words
from gpt1.text.tokenizer import Tokenizer
from tests.gpt1.text.naive_bpe import golden
from tests.gpt1.weights import published_files

# How many sentences of a group may differ: ftfy repairs what no rule does, and spaCy looks at case.
DIFFERENT = {
    **{"contractions": 2, "quotes": 2, "accents": 2, "cjk": 6, "entities": 12, "whitespace": 1},
    **{"punctuation": 1, "abbreviations": 1, "numbers": 1, "case": 2, "mojibake": 6},
}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vocabulary")
    published_files.write_tokenizer(folder, n_characters=26, n_merges=200)
    return Tokenizer.load(folder)


@pytest.mark.parametrize("group", golden())
def test_words_are_those_of_ftfy_and_spacy(tokenizer, group):
    made = hub_tokenizer.build(tokenizer)
    different = []
    for sentence in golden()[group]:
        pieces = made.pre_tokenizer.pre_tokenize_str(made.normalizer.normalize_str(sentence))
        if [piece for piece, _ in pieces] != words(sentence):
            different.append(sentence)
    assert len(different) <= DIFFERENT.get(group, 0), different


def test_special_tokens_stand_around_one_text_and_two(tokenizer, tmp_path):
    hub_tokenizer.save(tmp_path, tokenizer, n_ctx=12)
    loaded, n = AutoTokenizer.from_pretrained(tmp_path), tokenizer.n_vocab
    first, second = tokenizer.encode("a bad cab"), tokenizer.encode("fed\n\nit's")
    assert loaded("a bad cab").input_ids == [n, *first, n + 2]
    given = loaded([("a bad cab", "fed\n\nit's"), ("a", "b")], padding=True)
    assert given.input_ids[0] == [n, *first, n + 1, *second, n + 2]
    assert set(given) == {"input_ids", "attention_mask"}
    assert given.input_ids[1][-1] == n + 3 and given.attention_mask[1][-1] == 0
    assert len(loaded("a " * 50, truncation=True).input_ids) == 12


def test_a_language_models_tokenizer_has_no_special_tokens(tokenizer, tmp_path):
    hub_tokenizer.save(tmp_path, tokenizer, n_ctx=12, special=False)
    ids = AutoTokenizer.from_pretrained(tmp_path)("Fed a cab.").input_ids
    assert ids == tokenizer.encode("Fed a cab.")
