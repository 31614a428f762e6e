"""A stand-in for TensorBoard, which the tests do not need."""


class Events:
    """TensorBoard's writer, as far as it is used."""

    made: list["Events"] = []

    def __init__(self, folder, purge_step, flush_secs):
        self.folder, self.first, self.scalars, self.closed = folder, purge_step, [], False
        Events.made.append(self)

    def add_scalar(self, name, value, update):
        self.scalars.append((name, update, value))

    def close(self):
        self.closed = True
