import { describe, expect, it } from 'vitest'
import { parseManifests } from './parse-manifests.ts'

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
    ['a: 1\na: 2', /^unable to decode "x\.yaml": Object 'Kind' is missing in '\{"a":2\}'$/],
  ])('says where %j is wrong', (text, message) => {
    expect(() => parseManifests(text, 'x.yaml')).toThrow(message)
  })

  it.each([
    ['kind: Pod', 'apiVersion not set'],
    ['a: 1', '[apiVersion not set, kind not set]'],
    ['just text', 'invalid object to validate'],
  ])('says of %j, where it is to be written, what kubectl says', (text, problem) => {
    expect(() => parseManifests(text, 'x.yaml', true)).toThrow(
      `error validating "x.yaml": error validating data: ${problem}; if you choose to ignore these errors, turn validation off with --validate=false`,
    )
  })
})
