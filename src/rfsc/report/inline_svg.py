"""A picture of matplotlib as a piece of an HTML page: no address, no comment, no style or name that meets others."""

from __future__ import annotations

import re

PROLOG = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>|<style\b.*?</style>", re.DOTALL)
NAMESPACE = re.compile(r'\s+xmlns(:\w+)?="[^"]*"')
SIZE = re.compile(r'^<svg\b[^>]*?\bviewBox="([^"]*)"[^>]*>', re.DOTALL)
ID = re.compile(r'\s*\bid="([^"]+)"')
REFERENCE = re.compile(r'(?:xlink:)?href="#([^"]+)"')
URL = re.compile(r"url\(#([^)]+)\)")
PATH = re.compile(r'\bd="[^"]*"')
LONG_NUMBER = re.compile(r"(\d+\.\d{2})\d+")


def inline_svg(svg: str, prefix: str) -> str:
    """Make a stand-alone SVG fit to stand inside a page.

    Parameters
    ----------
    svg : str
        As matplotlib writes it, its texts drawn as shapes.
    prefix : str
        Put before every id, so that two pictures of a page never share one.

    Returns
    -------
    str
        An ``<svg>`` element without size, which its surroundings give it.
    """
    svg = NAMESPACE.sub("", PROLOG.sub("", svg)).strip()
    view_box = SIZE.match(svg)
    if view_box is None:
        msg = "expected an SVG picture with a viewBox, as matplotlib writes it."
        raise ValueError(msg)
    body = svg[view_box.end() :]
    names = set(REFERENCE.findall(body)) | set(URL.findall(body))
    # an id that nothing refers to is only weight
    body = ID.sub(lambda m: f' id="{prefix}{m[1]}"' if m[1] in names else "", body)
    body = REFERENCE.sub(rf'href="#{prefix}\1"', body)
    body = URL.sub(rf"url(#{prefix}\1)", body)
    # hundredths of a point are enough for lines; factors that scale letters keep their digits
    body = PATH.sub(lambda m: LONG_NUMBER.sub(r"\1", m[0]), body)
    body = re.sub(r"\s*\n\s*", " ", body)
    return f'<svg viewBox="{view_box[1]}" aria-hidden="true" focusable="false">{body}'
