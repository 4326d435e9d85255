import { describe, expect, it } from 'vitest'
import { type Definitions, differencesOf, ruleOf, withoutComposite } from './differences.ts'
import { examples, examplesOf } from './examples.ts'
import { withoutReason } from './reasons.ts'
import { changesOf, creationsOf, patchesOf } from './requests.ts'

describe('requests', () => {
  it('change one thing each, and leave the example as it is', () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } }
    const texts = changesOf(object).map(({ text }) => text)
    expect(texts).toContain('metadata.name = ""')
    expect(texts).toContain('no data.a')
    expect(texts.some((text) => text.includes('kind'))).toBe(false)
    expect(changesOf(object).find(({ text }) => text === 'no data.a')?.object).toEqual({ ...object, data: {} })
    expect(object.data).toEqual({ a: 'b' })
  })

  it('change nothing that stays', () => {
    const example = examples[0]
    if (example === undefined) throw new Error('there is no example')
    const requests = [...creationsOf(example), ...patchesOf(example)]
    expect(requests.every(({ path }) => path.includes('dryRun=All'))).toBe(true)
    expect(new Set(requests.map(({ name }) => name)).size).toBeGreaterThan(500)
  })

  it('have examples of one path each for a name', () => {
    const keys = examples.map(({ path, object }) => `${path}/${(object.metadata as { name: string }).name}`)
    expect(new Set(keys).size).toBe(keys.length)
  })
})

describe('differences', () => {
  const definitions: Definitions = {
    ConfigMap: {
      properties: {
        apiVersion: {},
        kind: {},
        metadata: { properties: { name: {} } },
        data: { additionalProperties: {} },
      },
      'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'ConfigMap' }],
    },
  }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: '1' }, data: { a: 'b' } }
  const refusal = (...causes: readonly object[]) => ({
    code: 422,
    body: { kind: 'Status', reason: 'Invalid', message: 'x', details: { causes } },
  })
  const cause = (field: string, message: string) => ({ field, message, reason: 'FieldValueInvalid' })

  it('are those of fields that both know', () => {
    const ours = { code: 201, body: { ...object, newer: 1, metadata: { ...object.metadata, uid: '2' } } }
    expect(differencesOf(ours, { code: 201, body: object }, definitions)).toEqual([])
    const other = { code: 201, body: { ...object, data: { a: 'c' } } }
    expect(differencesOf(other, { code: 201, body: object }, definitions)).toEqual(['- .data.a: "b"', '+ .data.a: "c"'])
  })

  it('of refusals are those of their causes, in any order and however often they are told', () => {
    const [a, b] = [cause('a', 'Invalid value: "x": no'), cause('b', 'Invalid value: "y": no')]
    expect(differencesOf(refusal(a, b), refusal(b, a, b), {})).toEqual([])
    expect(differencesOf(refusal(a), refusal(a, b), {})).toEqual(['- b: Invalid value: "y": no (FieldValueInvalid)'])
  })

  it('of codes are whole', () => {
    expect(differencesOf({ code: 201, body: object }, refusal(cause('a', 'no')), {})).toEqual([
      '- 422 Invalid | a: no (FieldValueInvalid)',
      '+ 201 taken',
    ])
  })

  it('are not how lists and structs are written', () => {
    expect(withoutComposite('Invalid value: v1.A{B:"c: d", E:[]string{}}: no')).toBe('Invalid value: …: no')
    expect(withoutComposite('Invalid value: {"b":"c: d"}: no')).toBe('Invalid value: …: no')
    expect(withoutComposite('Invalid value: "x": no')).toBe('Invalid value: "x": no')
    expect(withoutComposite('Invalid value: null: no')).toBe('Invalid value: …: no')
  })

  it('are not how a change is shown, or the object that a patch has made', () => {
    const change = (text: string) => refusal({ ...cause('spec', `Forbidden: no change\n${text}`) })
    expect(differencesOf(change('- a: 1'), change('@@ -1 +1 @@'), {})).toEqual([])
    const patched = (text: string) => refusal(cause('patch', `Invalid value: ${JSON.stringify(text)}: no number`))
    expect(differencesOf(patched('{"a":"b"}'), patched('{"b":"\\"c"}'), {})).toEqual([])
  })

  it('have one rule whatever the place and the name', () => {
    const lines = (at: number) => [`- spec.a[${at}].b: Invalid value: "x${at}": no`]
    expect(ruleOf('Pod', lines(1))).toBe(ruleOf('Pod', lines(2)))
  })

  it('that are known are counted by their reason', () => {
    const counts = new Map<string, number>()
    const lines = ['- .spec.template.metadata.creationTimestamp: null', '- .spec.other: 1']
    expect(withoutReason(lines, 'create Deployment: as it is', 33, counts)).toEqual(['- .spec.other: 1'])
    expect([...counts.values()]).toEqual([1])
  })

  it('have a reason for servers of the versions alone that it holds for', () => {
    const lines = ['- .spec.template.metadata.creationTimestamp: null', '- .spec.clusterIP: "10.0.0.1"']
    expect(withoutReason(lines, 'create Service: as it is', 36, new Map())).toEqual(lines.slice(0, 1))
  })

  it('are told of warnings, and not of what each server chooses for itself', () => {
    const warned = { code: 201, body: object, warnings: ['"old"', '"both"'] }
    expect(differencesOf(warned, { ...warned, warnings: ['"both"'] }, definitions)).toEqual(['+ warning "old"'])
    const conflict = (uid: string, version: number) => ({
      code: 409,
      body: { reason: 'Conflict', message: `the UID in record (${uid}), the version in record (${version})` },
    })
    const [one, other] = ['4a0f6c2e-0000-4000-8000-000000000000', '4a0f6c2e-0000-4000-8000-000000000001']
    expect(differencesOf(conflict(one, 1), conflict(other, 23), {})).toEqual([])
  })

  it('are none of versions that a server no longer has', () => {
    const versions = (minor: number) =>
      examplesOf(minor).flatMap(({ object }) => (object.kind === 'CronJob' ? [object.apiVersion] : []))
    expect([versions(20), versions(36)]).toEqual([['batch/v1beta1'], ['batch/v1']])
  })
})
