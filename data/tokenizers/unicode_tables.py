"""Prints unicode_tables.cpp: what Hugging Face's tokenizers makes of each code point.

    python3 -m venv v && v/bin/pip install tokenizers
    v/bin/python data/tokenizers/unicode_tables.py > data/tokenizers/unicode_tables.cpp
"""
import tokenizers
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
one_word = Tokenizer(models.BPE())
one_word.add_tokens([AddedToken("<w>", single_word=True, normalized=False)])
nfd, nfc = normalizers.NFD().normalize_str, normalizers.NFC().normalize_str


def is_one_piece(text):
    return len(byte_level.pre_tokenize_str(text)) == 1


def is_letter(c):  # for the pattern of GPT-2, whose \p{L} goes on with it
    return is_one_piece("a" + chr(c))


def is_number(c):
    return is_one_piece("1" + chr(c))


def is_in_word(c):
    return not one_word.encode(chr(c) + "<w>").ids


def normalized():
    """Code points that decompose, change places with marks, or are parts of others."""
    found = set()
    for c in CODE_POINTS:
        t = chr(c)
        parts = nfd(t)
        if parts != t:
            found |= {c, *(map(ord, parts) if nfc(t) == t else ())}
        if nfd("\u0301" + t) != "\u0301" + parts or nfd(t + "\u0334") != parts + "\u0334":
            found.add(c)
    return found


def table(name, code_points):
    ranges = []
    for c in code_points:
        if ranges and ranges[-1][1] == c - 1:
            ranges[-1][1] = c
        else:
            ranges.append([c, c])
    lines, line = [], "   "
    for text in (f" {{0x{a:X}, 0x{b:X}}}," for a, b in ranges):
        if len(line) + len(text) > 100:
            lines.append(line)
            line = "   "
        line += text
    body = "\n".join(lines + [line])
    return f"constexpr CodePointRange k{name}[] = {{\n{body}\n}};\n"


print(f"""// Made by unicode_tables.py from tokenizers {tokenizers.__version__}; not to be edited.
#include "data/tokenizers/unicode_tables.h"

namespace farfield::data {{
namespace {{

// clang-format off
{table("Letters", filter(is_letter, CODE_POINTS))}
{table("Numbers", filter(is_number, CODE_POINTS))}
{table("InWords", filter(is_in_word, CODE_POINTS))}
{table("Normalized", sorted(normalized()))}
// clang-format on

}}  // namespace

std::span<const CodePointRange> letters() {{ return kLetters; }}
std::span<const CodePointRange> numbers() {{ return kNumbers; }}
std::span<const CodePointRange> in_words() {{ return kInWords; }}
std::span<const CodePointRange> normalized() {{ return kNormalized; }}

}}  // namespace farfield::data""")
