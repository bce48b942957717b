# SPDX-License-Identifier: BSD-3-Clause
"""Whether manifests are such as Kubernetes takes: manifests.py DIRECTORY FILE.... What is in pods is compared with Kubernetes' own schema,
which is in a package on PyPI and is kept in DIRECTORY; what is around them with crds/KIND.json, which says what the operators' definitions
say. Prints what is wrong; exit code 77: PyPI cannot be reached."""

import json
import os
import sys
import tempfile
import zipfile

import jsonschema
import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
import wheel  # noqa: E402

PACKAGE = 'kubernetes-validate==1.37.0'
SCHEMA = 'kubernetes_validate/kubernetes-json-schema/v1.30.0-local-strict/_definitions.json'


def core(directory):
    """Of the package's 17,000 files one is wanted."""
    kept = os.path.join(directory, 'core-1.30.json')
    if not os.path.exists(kept):
        os.makedirs(directory, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory) as fresh:
            with zipfile.ZipFile(wheel.download(fresh, [PACKAGE])[0]) as package:
                package.extract(SCHEMA, fresh)
            os.rename(os.path.join(fresh, SCHEMA), kept)
    with open(kept, encoding='utf-8') as f:
        return json.load(f)


def shapes():
    found = {}
    for name in os.listdir(os.path.join(HERE, 'crds')):
        with open(os.path.join(HERE, 'crds', name), encoding='utf-8') as f:
            found[name.removesuffix('.json')] = json.load(f)
    return found


def wrong(document, kinds, store):
    kind = document.get('kind') if isinstance(document, dict) else None
    if kind not in kinds:
        return ['kind %s is not known' % kind]
    validator = jsonschema.Draft7Validator(kinds[kind], resolver=jsonschema.RefResolver(kind, kinds[kind], store={**store, **kinds}))
    return ['%s %s: %s' % (kind, '.'.join(map(str, e.absolute_path)), e.message[:200]) for e in validator.iter_errors(document)]


def main(directory, *files):
    definitions = core(directory)
    store, kinds, bad = {'core': definitions, '/api/_definitions.json': definitions}, shapes(), 0
    for name in files:
        with open(name, encoding='utf-8') as f:
            for document in yaml.safe_load_all(f):
                for line in wrong(document, kinds, store):
                    print('%s: %s' % (name, line))
                    bad = 1
    return bad


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
