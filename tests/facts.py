"""What a JSON file of a run says beside what a test is about."""

BY_SPLIT = ("rows", "labels", "dropped", "unquoted", "overlap", "half_known", "sources", "sha256")
EXAMPLES = {"train_from": "train", "select_from": None, "report": [], "note": ""}
EXAMPLES |= {"unlabelled": [], "settings": {}, "origin": {}, **dict.fromkeys(BY_SPLIT, {})}
SPLIT = {"role": "train", "rows": 5, "sha256": "", "examples": "", "n_ctx_needed": {}}
CHECKPOINT = {"model": {"n_ctx": 64}, "n_vocab": 100, "tokenizer": "", "sha256": ""}
SCORED = {"corpus": "books", "scores": {}, "random": 0, "best": 100, "relative": 0, "digests": {}}
SCORED |= {"n": 1000, "threshold": None, "by_scoring": {}}
DOCUMENT = {"words": 3, "lines": 1, "source_bytes": 9, "heldout": False}
DOCUMENTS = {"source": "folder", "origin": {}, "rows": {}, "versions": {}, "word_types": 3}
DOCUMENTS |= {"words_sha256": "", "documents": []}
LOSSES = ("loss_start", "loss_end", "clf_loss_start", "clf_loss_end", "label_entropy")
RUN = dict.fromkeys(LOSSES, 0.5) | {"rows": {}, "select_by_epoch": [], "checkpoint": ""}
RUN |= {"best_epoch": 2, "best_update": 8, "steps": 12, "train_rows": 16}
CELL = {"arch": "transformer", "corpus": "books", "n_transfer": 12, "lm_coef": 0.5, "family": ""}
CELL |= {"metric": "", "copied": [], "truncated": {}, "runtime": {}, "versions": {}, "seeds": []}
CELL |= {"settings": {"lr": 0.1, "model": {}, "optimizer": {}}}
CELL |= {"baselines": {"majority": {}, "bag_of_words": {}}}
CELL |= {"digests": dict.fromkeys(("config", "tokenizer", "data", "code", "predictions"), "")}
