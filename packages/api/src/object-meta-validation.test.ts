import { describe, expect, it } from 'vitest'
import { describeFieldError, fieldErrorsMax } from './field-error.ts'
import type { ObjectMeta } from './meta.ts'
import { annotationsBytesMax, validateObjectMeta, validateObjectMetaUpdate } from './object-meta-validation.ts'
import { processorMs } from './testing/processor-time.ts'

const namespaced = { namespaced: true, nameFormat: 'dns1123-label' } as const
const cluster = { namespaced: false, nameFormat: 'path-segment' } as const
const owner = { apiVersion: 'v1', kind: 'ReplicationController', name: 'web', uid: 'u1' }
const labelRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

describe('validateObjectMeta', () => {
  const good: ObjectMeta = {
    name: 'web',
    namespace: 'default',
    labels: { app: 'web' },
    annotations: { 'Example.com/note': 'a b c' },
    ownerReferences: [{ ...owner, controller: true }],
    finalizers: ['example.com/hold', 'orphan'],
    managedFields: [{ manager: 'm', operation: 'Apply', fieldsType: 'FieldsV1' }],
  }

  it('accepts good metadata', () => {
    expect(validateObjectMeta(good, namespaced)).toEqual([])
    expect(validateObjectMeta({ name: 'system:node' }, cluster)).toEqual([])
  })

  it('passes over what was found to be right in another object', () => {
    const labels = { app: 'a b' }
    const check = (meta: ObjectMeta) => validateObjectMeta({ ...good, ...meta }, namespaced, undefined, { labels })
    expect(check({ labels })).toEqual([])
    expect(check({ labels: { ...labels } })).toHaveLength(1)
    expect(check({ labels, finalizers: ['a b'] })).toHaveLength(1)
  })

  it.each<[ObjectMeta, readonly string[]]>([
    [{ name: '' }, ['metadata.name: Required value: name or generateName is required']],
    [{ name: 'a.b' }, ['metadata.name: Invalid value: "a.b": must not contain dots']],
    [{ generateName: 'a-', name: 'a-x' }, []],
    [{ generateName: 'a.', name: 'ax' }, [`metadata.generateName: Invalid value: "a.": ${expectLabel()}`]],
    [{ namespace: '' }, ['metadata.namespace: Required value']],
    [{ namespace: 'a.b' }, ['metadata.namespace: Invalid value: "a.b": must not contain dots']],
    [{ generation: -1 }, ['metadata.generation: Invalid value: -1: must be greater than or equal to 0']],
    [{ labels: { app: 'a b' } }, [`metadata.labels: Invalid value: "a b": ${labelRule}`]],
    [
      { annotations: { big: 'x'.repeat(annotationsBytesMax) } },
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    [
      { ownerReferences: [{ apiVersion: 'apps/', kind: '', name: '', uid: '' }] },
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "apps/": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    ],
    [
      { finalizers: ['orphan', 'foregroundDeletion'] },
      [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    [
      { managedFields: [{ operation: 'Replace', fieldsType: 'V2' }] },
      [
        'metadata.managedFields[0].operation: Invalid value: "Replace": must be `Apply` or `Update`',
        'metadata.managedFields[0].fieldsType: Invalid value: "V2": must be `FieldsV1`',
      ],
    ],
    [
      {
        managedFields: [
          { operation: 'Update' },
          { manager: 'ä\u0007b', operation: 'Update', subresource: 's'.repeat(257) },
          { manager: 'ü'.repeat(65), operation: 'Update', subresource: 'ü'.repeat(128) },
        ],
      },
      [
        'metadata.managedFields[1].manager: Invalid value: "ä\\ab": invalid character U+0007 (at position 2)',
        'metadata.managedFields[1].subresource: Too long: may not be more than 256 bytes',
        'metadata.managedFields[2].manager: Too long: may not be more than 128 bytes',
      ],
    ],
  ])('%j', (part, errors) => {
    expect(validateObjectMeta({ ...good, ...part }, namespaced).map(describeFieldError)).toEqual(errors)
  })

  it.each(['a/b/c', 'apps/', ''])('needs a version of an owner: %j has none', (apiVersion) => {
    const references = [
      { ...owner, apiVersion },
      { ...owner, apiVersion },
    ]
    expect(validateObjectMeta({ ...good, ownerReferences: references }, namespaced).map(describeFieldError)).toEqual(
      Array(2).fill(`metadata.ownerReferences.apiVersion: Invalid value: "${apiVersion}": version must not be empty`),
    )
  })

  it('allows one controller', () => {
    const references = [
      { ...owner, controller: true },
      { ...owner, name: 'other', controller: true },
    ]
    const [error] = validateObjectMeta({ ...good, ownerReferences: references }, namespaced)
    expect(error?.message).toContain(
      'Only one reference can have Controller set to true. Found "true" in references for ReplicationController/web and ReplicationController/other',
    )
  })

  it('refuses a namespace on what has none, and events as owners', () => {
    expect(validateObjectMeta({ name: 'n', namespace: 'x' }, cluster).map(describeFieldError)).toEqual([
      'metadata.namespace: Forbidden: not allowed on this type',
    ])
    const [error] = validateObjectMeta({ ...good, ownerReferences: [{ ...owner, kind: 'Event' }] }, namespaced)
    expect(error?.message).toContain('/v1, Kind=Event is disallowed from being an owner')
  })
})

describe('validateObjectMetaUpdate', () => {
  const old: ObjectMeta = {
    name: 'web',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '7',
    generation: 3,
    creationTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['a.b/c'],
  }
  const deleting: ObjectMeta = { ...old, deletionTimestamp: '2026-01-02T00:00:00Z', deletionGracePeriodSeconds: 30 }

  it.each<[ObjectMeta, ObjectMeta, readonly string[]]>([
    [{ ...old, labels: { a: 'b' }, finalizers: ['d.e/f'] }, old, []],
    [
      { ...old, finalizers: ['orphan', 'foregroundDeletion'] },
      old,
      [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    [{ ...old, name: 'other' }, old, ['metadata.name: Invalid value: "other": field is immutable']],
    [{ ...old, uid: 'x' }, old, ['metadata.uid: Invalid value: "x": field is immutable']],
    [
      { ...old, creationTimestamp: '2027-01-01T00:00:00Z' },
      old,
      ['metadata.creationTimestamp: Invalid value: "2027-01-01T00:00:00Z": field is immutable'],
    ],
    [
      { ...old, resourceVersion: '' },
      old,
      ['metadata.resourceVersion: Invalid value: "": must be specified for an update'],
    ],
    [{ ...old, generation: 2 }, old, ['metadata.generation: Invalid value: 2: must not be decremented']],
    [{ ...deleting, finalizers: [] }, deleting, []],
    [
      { ...deleting, finalizers: ['a.b/c', 'd.e/f'] },
      deleting,
      [
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"d.e/f"}',
      ],
    ],
    [
      { ...deleting, deletionGracePeriodSeconds: 0 },
      deleting,
      ['metadata.deletionGracePeriodSeconds: Invalid value: 0: field is immutable'],
    ],
  ])('%j', (meta, before, errors) => {
    const found = validateObjectMetaUpdate(meta, before).map(describeFieldError)
    expect([...new Set(found)]).toEqual(errors)
  })

  it('tells twice what may not change, and three times what no object may have, as upstream looks at it', () => {
    const unchangeable = 'metadata.uid: Invalid value: "x": field is immutable'
    const found = validateObjectMetaUpdate({ ...old, uid: 'x', labels: { a: '-' }, finalizers: ['-'] }, old)
    const label = expect.stringMatching(/^metadata.labels: Invalid value: "-": /)
    expect(found.map(describeFieldError)).toEqual([
      label,
      expect.stringMatching(/^metadata.finalizers/),
      unchangeable,
      label,
      unchangeable,
      label,
    ])
  })

  it('passes over the very labels, annotations, owners and finalizers that the object had', () => {
    const before = { ...old, labels: { '-': '' }, annotations: { '-': '' }, ownerReferences: [{} as never] }
    const held = { ...before, finalizers: ['-'] }
    expect(validateObjectMetaUpdate({ ...held }, held)).toEqual([])
    const errors = validateObjectMetaUpdate(structuredClone(held), held).map(describeFieldError)
    for (const field of ['labels', 'annotations', 'ownerReferences', 'finalizers'])
      expect(errors).toContainEqual(expect.stringContaining(`metadata.${field}`))
  })
})

function expectLabel(): string {
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
}

it('makes no more errors of bad labels than are shown, and counts them all', () => {
  const labels = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`-${index}`, '-']))
  const errors = validateObjectMeta(
    { name: 'a', namespace: 'b', labels },
    { namespaced: true, nameFormat: 'path-segment' },
  )
  expect(errors).toHaveLength(2_000)
  expect(new Set(errors).size).toBe(fieldErrorsMax + 1)
  expect(errors[fieldErrorsMax - 2]?.message).toContain('"-49"')
})

it('looks for new finalizers of what is being deleted in time that grows with their number', () => {
  const finalizers = Array.from({ length: 90_000 }, (_, index) => `example.com/${index}`)
  const old = { name: 'a', resourceVersion: '1', deletionTimestamp: '2030-01-01T00:00:00Z', finalizers }
  const looking = () => {
    expect(validateObjectMetaUpdate({ ...old, finalizers: finalizers.slice(1) }, old)).toEqual([])
    const [error] = validateObjectMetaUpdate({ ...old, finalizers: [...finalizers, 'example.com/new'] }, old)
    expect(error?.message).toContain('found new finalizers []string{"example.com/new"}')
  }
  expect(processorMs(looking)).toBeLessThan(5_000)
})
