"""Words: what a product's name says it is, and which of its words only tell variants of one thing apart.

*PURSE RED 20CM* and *PURSE BLUE 30CM* are both a purse: colours, sizes, numbers and single letters tell variants apart,
and what is left is the thing. Two names that are alike but for one word of it, such as *HOME BUILDING BLOCK* and *LOVE
BUILDING BLOCK*, are likely to be two designs of one thing; where it is the last word that differs, as in *SPOTTY CUP*
and *SPOTTY PLATE*, they are two things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Words = tuple[str, ...]

_COLOURS = """
red blue green pink black white yellow orange purple brown grey gray silver gold golden ivory turquoise lilac violet
navy beige aqua teal amber copper bronze burgundy coral charcoal clear natural multi multicolour multicolor coloured
colored colour color assorted asst asstd dark bright pastel
rot blau grün weiß weiss schwarz gelb braun grau rosa lila rouge bleu vert blanc noir jaune marron rojo azul verde
blanco negro amarillo rosso blu nero bianco giallo
"""
_SIZES = """
small medium large mini midi maxi big giant tall short xs sm md lg xl xxl extra regular size
mm cm dm m km g kg mg ml cl dl l oz lb lbs fl ct pk pkt pack packs pc pcs piece pieces inch inches in ft gal qt pt
klein gross groß petit grand pequeño grande
"""
_LINKS = "a an the of in on with and or for to by at w x n de la le du des und mit von"
COLOURS, SIZES = frozenset(_COLOURS.split()), frozenset(_SIZES.split())
LINKS = frozenset(_LINKS.split())
"""Words that say nothing by themselves."""

_WORD = re.compile(r"[^\W_]+")


def words(name: str) -> Words:
    """The words of a name in small letters, without those that say nothing.

    >>> words("FRENCH BLUE METAL DOOR SIGN No. 5")
    ('french', 'blue', 'metal', 'door', 'sign', 'no', '5')
    """
    return tuple(word for word in _WORD.findall(name.casefold().replace("'", "")) if word not in LINKS)


def tells_variants_apart(word: str) -> bool:
    """Whether a word is a colour, a size, a number, or a single letter.

    >>> [tells_variants_apart(word) for word in ("blue", "20cm", "b", "sign")]
    [True, True, True, False]
    """
    return len(word) == 1 or word in COLOURS or word in SIZES or any(letter.isdigit() for letter in word)


def thing(name: Words) -> Words:
    """The words that say what a product is, each without the s of a plural, in their order.

    >>> thing(("red", "purses", "20cm"))
    ('purse',)
    """
    kept = (word for word in name if not tells_variants_apart(word))
    return tuple(word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word for word in kept)


def templates(words: Words) -> Iterator[Words]:
    """The thing with one word left out, once for each word but the last, which says what kind of thing it is.

    >>> list(templates(("home", "building", "block")))
    [('building', 'block'), ('home', 'block')]
    """
    for place in range(len(words) - 1):
        yield words[:place] + words[place + 1 :]
