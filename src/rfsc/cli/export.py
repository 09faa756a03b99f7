NAME = "export"


def command():
    pass
