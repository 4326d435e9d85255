import { describe, expect, it } from 'vitest'
import { parseManifests, readManifests } from './parse-manifests.ts'

it('takes a list of any length apart', () => {
  const items = Array.from({ length: 150_000 }, () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }))
  expect(objectsIn(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))).toHaveLength(items.length)
})

const objectsIn = (text: string) => parseManifests(text, 'x.yaml').map(({ object }) => object)

describe('parseManifests', () => {
  it('reads each document of a file and leaves empty ones out', () => {
    const text = '# nothing\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n---\napiVersion: v1\nkind: Pod\n'
    expect(objectsIn(text)).toEqual([
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } },
      { apiVersion: 'v1', kind: 'Pod', metadata: {} },
    ])
  })

  it('reads JSON', () => {
    expect(objectsIn('{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}')).toEqual([
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } },
    ])
  })

  it.each([
    ['JSON', (n: string) => `{"apiVersion": "example.com/v1", "kind": "Clock", "spec": {"at": ${n}}}`],
    ['YAML', (n: string) => `apiVersion: example.com/v1\nkind: Clock\nspec: {at: ${n}}\n`],
  ])('reads whole numbers of 64 bits as they are written, in %s', (_format, textOf) => {
    const specOf = (at: string) => JSON.stringify((objectsIn(textOf(at))[0] as { spec?: unknown }).spec)
    for (const at of ['17', '-5', '1795788000123456789']) expect(specOf(at)).toBe(`{"at":${at}}`)
  })

  it('takes lists apart, and gives the items of typed ones their kind', () => {
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [
        { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } },
        { apiVersion: 'v1', kind: 'ConfigMapList', items: [{ metadata: { name: 'b' } }] },
      ],
    }
    expect(objectsIn(JSON.stringify(list))).toEqual([
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } },
    ])
  })

  it('reads YAML 1.1 as Kubernetes does: yes is true, 0644 is octal, clock times and dates are text', () => {
    const text = 'apiVersion: v1\nkind: X\nspec: {flag: yes, mode: 0644, time: 12:30, date: 2026-01-01}\n'
    expect(objectsIn(text)).toMatchObject([{ spec: { flag: true, mode: 420, time: '12:30', date: '2026-01-01' } }])
  })

  it.each([
    // A commit may be called so, and its name is a text.
    ['e8, +e8, .e3, -.e1, .', ['e8', '+e8', '.e3', '-.e1', '.']],
    ['1e3, .5, 5., .5e1', [1000, 0.5, 5, 5]],
    ['0x1F, 0X1F, 0o17, 0O17, 017, 0b11, 0B11', [31, 31, 15, 15, 15, 3, 3]],
  ])('reads numbers as Go does: %s', (text, expected) => {
    expect(objectsIn(`apiVersion: v1\nkind: X\nspec: [${text}]\n`)).toMatchObject([{ spec: expected }])
  })

  it('converts the oldest form of the API', () => {
    const legacy = {
      apiVersion: 'v1beta1',
      kind: 'ReplicationController',
      id: 'frontend',
      desiredState: {
        replicas: 2,
        replicaSelector: { name: 'frontend' },
        podTemplate: {
          desiredState: { manifest: { version: 'v1beta1', id: 'f', containers: [{ name: 'web', image: 'nginx' }] } },
          labels: { name: 'frontend' },
        },
      },
    }
    expect(objectsIn(JSON.stringify(legacy))).toMatchObject([
      { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'frontend' }, spec: { replicas: 2 } },
    ])
  })

  it.each([
    [
      'a: [1',
      /^error parsing x\.yaml: error converting YAML to JSON: yaml: line 1: did not find expected ',' or '\]'$/,
    ],
    ['{"a" 1}', /^error parsing x\.yaml: json: offset 6: invalid character '1' after object key$/],
    ['{"a": 1', /^error parsing x\.yaml: unexpected EOF$/],
    [
      'a: {{ .Values.a }}',
      /yaml: invalid map key: map\[interface \{\}\]interface \{\}\{"\.Values\.a":interface \{\}\(nil\)\}$/,
    ],
    ['kind: Pod', /^x\.yaml: apiVersion not set$/],
    ['apiVersion: v1', /^unable to decode "x\.yaml": Object 'Kind' is missing in '\{"apiVersion":"v1"\}'$/],
    [
      'just text',
      /^unable to decode "x\.yaml": json: cannot unmarshal string into Go value of type unstructured.detector$/,
    ],
    [
      'apiVersion: v1\nkind: Widget\nmetadata: {name: a, annotations: {on: true}}',
      /^unable to decode "x\.yaml": json: cannot unmarshal bool into Go struct field ObjectMeta\.metadata\.annotations of type string$/,
    ],
    [
      'apiVersion: v1\nkind: Widget\nmetadata: 5',
      /^unable to decode "x\.yaml": json: cannot unmarshal number into Go struct field metadataOnlyObject\.metadata of type v1\.ObjectMeta$/,
    ],
    ['a: 1\na: 2', /^unable to decode "x\.yaml": Object 'Kind' is missing in '\{"a":2\}'$/],
  ])('says where %j is wrong', (text, message) => {
    expect(() => parseManifests(text, 'x.yaml')).toThrow(message)
  })

  it.each([
    ['kind: Pod', 'apiVersion not set'],
    ['a: 1', '[apiVersion not set, kind not set]'],
    ['just text', 'invalid object to validate'],
  ])('says of %j, where it is to be written, what kubectl says', (text, problem) => {
    expect(() => parseManifests(text, 'x.yaml', 'written')).toThrow(
      `error validating "x.yaml": error validating data: ${problem}; if you choose to ignore these errors, turn validation off with --validate=false`,
    )
  })
})

describe('a text with more in it than is read', () => {
  const map = (name: string): string => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"}}`
  const block = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`

  function read(text: string): readonly (string | undefined)[] {
    const { manifests, failures } = readManifests(text, 'file')
    return [
      ...manifests.map(({ object }) => object.metadata.name),
      ...failures.map((failure) => (failure instanceof Error ? failure.message : '')),
    ]
  }

  // The expectations are what kubectl 1.35 answers.
  it.each([
    ['a document ends at three points', `${block('a')}...\nrubbish: [`, ['a']],
    ['the next one is read all the same', `${block('a')}...\n---\n${block('b')}`, ['a', 'b']],
    ['what follows braces is not read', '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}} more', ['a']],
    ['JSON values follow one another', `${map('a')} ${map('b')}\n${map('c')}`, ['a', 'b', 'c']],
    ['YAML follows JSON', `${map('a')}\n---\n${block('b')}`, ['a', 'b']],
    ['JSON values end too early', `${map('a')}\n{"apiVersion"`, ['a', 'error parsing file: unexpected EOF']],
    [
      'JSON values are followed by something else',
      `${map('a')}${map('b')} xyz`,
      ['a', 'b', "error parsing file: invalid character 'x' looking for beginning of value"],
    ],
    [
      'a separator has something behind it',
      `${block('a')}--- b`,
      ['error parsing file: invalid Yaml document separator: b'],
    ],
    [
      'a document begins with its end',
      `...\n${block('a')}`,
      ['error parsing file: error converting YAML to JSON: yaml: did not find expected node content'],
    ],
  ])('%s', (_, text, expected) => {
    expect(read(text)).toEqual(expected)
  })
})
