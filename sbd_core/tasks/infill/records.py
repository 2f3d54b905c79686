"""Lines of JSON whose parts follow from the line or the sentence before. Data only."""

from sbd_core.tasks.infill.patterns import groups

RECORDS = groups(r"""
{A} is {a} years old. {{"name": "«{A}»", "age": «{a}»}}
{A} lives in {town}. {{"name": "«{A}»", "city": "«{town}»"}}
{A} is a {job}. {{"name": "«{A}»", "job": "«{job}»"}}
{A} has {a} {ks}: {{"owner": "«{A}»", "thing": "«{ks}»", "count": «{a}»}}
The {k} costs {a} dollars: {{"item": "«{k}»", "price": «{a}»}}
The {k} is {color}: {{"thing": "«{k}»", "color": "«{color}»"}}
{N} is the {S} of {A}. {{"pet": "«{N}»", "animal": "«{S}»", "owner": "«{A}»"}}
{A} met {B} on {day}. {{"day": "«{day}»", "people": ["«{A}»", "«{B}»"]}}
{A} comes from {town}, {B} from {other}. {{"{A}": "«{town}»", "{B}": "«{other}»"}}

{{"name": "«1={A}»", "text": "My name is «1={A}»"}}
{{"first": "«1={A}»", "last": "«2={B}»", "full": "«1={A}» «2={B}»"}}
{{"greeting": "Hello «1={A}»", "to": "«1={A}»"}}
{{"id": «1={a}», "url": "/items/«1={a}»"}}
{{"{x}": «1={a}», "text": "{x} is «1={a}»"}}
{{"color": "«1={color}»", "title": "A «1={color}» {k}"}}
{{"file": "«1={w}».txt", "title": "«1={w}»"}}

{{"a": {a}, "b": {b}, "sum": «{c}»}}
{{"x": {m}, "y": {n}, "product": «{p}»}}
{{"price": {m}, "count": {n}, "total": «{p}»}}
{{"before": {a}, "added": {b}, "after": «{c}»}}
{{"total": {c}, "used": {b}, "left": «{a}»}}
{{"numbers": [{a}, {b}], "sum": «{c}»}}

{{"list": ["{w}", "{v}"], "count": «2»}}
{{"list": ["{w}", "{v}"], "first": "«{w}»"}}
{{"list": ["{w}", "{v}"], "last": "«{v}»"}}
{{"list": ["{w}", "{v}", "{k}"], "count": «3»}}
{{"list": [{a}, {b}, {m}], "first": «{a}», "last": «{m}»}}
{{"words": ["{w}", "{v}"], "joined": "«{w}» «{v}»"}}
{{"word": "{w}", "upper": "«{W}»", "first": "«{w0}»"}}

{{"1": "{w}", "2": "{v}", "«3»": "{k}"}}
[{{"id": 1, "name": "{A}"}}, {{"id": «2», "name": "{B}"}}, {{"id": 3, "name": "{C}"}}]
[{{"name": "{A}"}}, {{"«name»": "{B}"}}, {{"«name»": "{C}"}}]
[{{"{x}": {a}, "{y}": {b}}}, {{"«{x}»": {c}, "«{y}»": {m}}}]
[{{"{x}": {a}}}, {{"{x}": {b}}}, {{"«{x}»": {c}}}]
{{"{A}": {{"age": {a}}}, "{B}": {{"«age»": {b}}}}}

{{"is_big": true, "is_small": «false»}}
{{"{a} > {c}": «false», "{c} > {a}": «true»}}
{{"equal": [{a}, «{a}»], "different": [{a}, {c}]}}
{{"open": false, "closed": «true»}}

[1, 2, «3», 4, «5»]
[{m}, {m}, «{m}», {m}]
["{w}", "{v}", "{w}", "«{v}»", "{w}"]
[[1, 2], [3, «4»], [5, 6]]
[{{"n": 1}}, {{"n": 2}}, {{"n": «3»}}]
""")
