"""Errors of YAML syntax, each at its cause: the mistake that a person made, and its fix."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocefort.base.documents.read import document_of
from rocefort.base.errors import BadInput

CASES = [  # text, sentence
    pytest.param(
        'a: 1\nb: "x\nc: 2\nd:\n  - e: 1\n',
        "2:4: the quote that opens here is not closed; close it on the same line",
        id="open quote",
    ),
    pytest.param(
        "a: 'x\nb: 2\n",
        "1:4: the quote that opens here is not closed; close it on the same line",
        id="open single",
    ),
    pytest.param(
        'a: "x\nb: "y"\nc: 1\n',
        "1:4: the quote that opens here is not closed; close it on the same line",
        id="closed later",
    ),
    pytest.param(
        "a: 1\nsegments\n  - name: b\nc: 2\n",
        "2:1: no `: ` after the key in 'segments'; write `key: value`, with a space after the colon",
        id="missing colon",
    ),
    pytest.param(
        "a: 1\nb 2\nc: 3\n",
        "2:1: no `: ` after the key in 'b 2'; write `key: value`, with a space after the colon",
        id="missing colon2",
    ),
    pytest.param(
        "a: 1\nb:2\nc: 3\n",
        "2:1: no `: ` after the key in 'b:2'; write `key: value`, with a space after the colon",
        id="no blank",
    ),
    pytest.param(
        "a:\n  b: 1\n\u00a0\u00a0c: 2\nd: 1\n",
        "3:1: a no-break space (U+00A0) where YAML needs a space; replace it by a space",
        id="nbsp",
    ),
    pytest.param(
        "a:\n  b:\u00a01\n  c: 2\n",
        "2:5: a no-break space (U+00A0) where YAML needs a space; replace it by a space",
        id="nbsp2",
    ),
    pytest.param("a:\n\tb: 1\n", "2:1: a tab in the indentation; indent with spaces", id="tab"),
    pytest.param(
        "a:\n  b: 1\n\tc: 1\n", "3:1: a tab in the indentation; indent with spaces", id="tab2"
    ),
    pytest.param(
        "a: [1, 2\nb: 3\n",
        "1:4: the `[` that opens here is not closed; close it with `]`",
        id="bracket",
    ),
    pytest.param(
        "a: {x: 1\nb: 3\n",
        "1:4: the `{` that opens here is not closed; close it with `}`",
        id="brace",
    ),
    pytest.param(
        "a:\n  b: 1\n   c: 2\n",
        "3:4: this line is indented below line 2, whose key has a value already; align it with the keys it belongs to",
        id="indent",
    ),
    pytest.param(
        "a:\n   b: 1\n  c: 2\n",
        "3:3: the indentation of this line fits no line above; align it with the keys it belongs to",
        id="dedent",
    ),
    pytest.param(
        "a:\n  - b: 1\n   c: 2\n",
        "3:4: this line is neither an item of the list above nor a key of its last item; begin it with `- `, or align it with those keys",
        id="list indent",
    ),
    pytest.param(
        "a: {{ mtu }}\n",
        "1:5: a: a mapping as a key: `{{` begins one, and nothing fills in placeholders here; write the value itself",
        id="jinja",
    ),
    pytest.param(
        "a: {{ mtu }}/24\nb: 1\n",
        "1:4: `{{` begins a mapping, and nothing fills in placeholders here; write the value itself",
        id="jinja2",
    ),
    pytest.param(
        "%a: 1\n",
        "1:3: not YAML: found unexpected non-alphabetical character; fix the syntax",
        id="percent",
    ),
    pytest.param("a: @x\n", "1:4: a value cannot begin with '@'; put it in quotes", id="at"),
    pytest.param("a: `x`\n", "1:4: a value cannot begin with '`'; put it in quotes", id="backtick"),
    pytest.param(
        "a: b: c\n", "1:5: a second `: ` in one line; put the value in quotes", id="colon in value"
    ),
    pytest.param(
        "a:\n  -b: 1\n  - c: 1\n",
        "2:3: no space after the `-` of a list item; write `- `",
        id="dash",
    ),
    pytest.param(
        'a: "c:\\d"\n',
        "1:7: a backslash in double quotes that begins no known escape; use single quotes",
        id="escape",
    ),
    pytest.param(
        "a: 1]\nb: ]\n",
        "2:4: not YAML: did not find expected node content; fix the syntax",
        id="end bracket",
    ),
    pytest.param(
        "a: *\n",
        "1:5: not YAML: did not find expected alphabetic or numeric character; fix the syntax",
        id="star",
    ),
]


@pytest.mark.parametrize(("text", "sentence"), CASES)
def test_a_mistake_is_named_where_it_was_made(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        document_of(text, "f")
    assert str(caught.value) == f"f:{sentence}"


@given(st.text(alphabet="ab:- \n\t\u00a0\"'[]{}#|>&*!%@\\,1", max_size=40))
def test_any_text_is_a_mapping_or_one_error_with_a_place_in_it(text: str) -> None:
    try:
        document_of(text, "f")
    except BadInput as error:
        for problem in error.problems:
            assert problem.file == "f" and problem.column >= 1
            assert 1 <= problem.line <= text.count("\n") + 2
            assert problem.where.startswith(f"f:{problem.line}:{problem.column}")
