# SPDX-License-Identifier: BSD-3-Clause
"""schema.py SCHEMA DEF FILE: does the JSON in FILE keep to $defs/DEF? What is wrong, one line each; code 1.

As much of JSON Schema as docs/report.schema.json uses; any other word in that is an error, so that nothing in it goes unread.
"""
import json
import sys

NOTES = {'description', 'title', '$schema', '$defs'}
TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'null': type(None), 'integer': int, 'number': (int, float)}


def is_a(value, name):
    """A boolean is no number, whatever Python says."""
    return isinstance(value, TYPES[name]) and (not isinstance(value, bool) or name == 'boolean')


class Checker:
    """The schema, and what has been found to be wrong."""

    def __init__(self, schema):
        self.schema = schema
        self.wrong = []

    def names(self, schema, value, at):
        """An object's members."""
        for name in schema.get('required', []):
            if name not in value:
                self.wrong.append(f'{at}: no {name}')
        for name, member in value.items():
            if name in schema['properties']:
                self.check(schema['properties'][name], member, f'{at}.{name}')
            elif schema.get('additionalProperties') is False:
                self.wrong.append(f'{at}: {name} is not in the schema')

    def check(self, schema, value, at='$'):
        """value, which is at this place, against this part of the schema."""
        unknown = set(schema) - NOTES - {'$ref', 'type', 'enum', 'const', 'minimum', 'items', 'properties', 'required', 'additionalProperties'}
        if unknown:
            raise SystemExit(f'words that are not read here: {unknown}')
        if '$ref' in schema:
            self.check(self.schema['$defs'][schema['$ref'].removeprefix('#/$defs/')], value, at)
            return
        types = schema.get('type', list(TYPES))
        if not any(is_a(value, name) for name in ([types] if isinstance(types, str) else types)):
            self.wrong.append(f'{at}: {json.dumps(value)[:60]} is not of type {types}')
            return
        if value not in schema.get('enum', [value]) or value != schema.get('const', value):
            self.wrong.append(f'{at}: {json.dumps(value)[:60]} is none of the values')
        if is_a(value, 'number') and value < schema.get('minimum', value):
            self.wrong.append(f'{at}: {value} is too small')
        if isinstance(value, dict) and 'properties' in schema:
            self.names(schema, value, at)
        for i, one in enumerate(value if isinstance(value, list) and 'items' in schema else []):
            self.check(schema['items'], one, f'{at}[{i}]')


def main():
    """See above."""
    with open(sys.argv[1], encoding='utf-8') as f:
        checker = Checker(json.load(f))
    with open(sys.argv[3], encoding='utf-8') as f:
        checker.check(checker.schema['$defs'][sys.argv[2]], json.load(f))
    print('\n'.join(checker.wrong), end='\n' if checker.wrong else '')
    return bool(checker.wrong)


if __name__ == '__main__':
    sys.exit(main())
