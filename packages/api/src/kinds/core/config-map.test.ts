import { describe, expect, it } from 'vitest'
import { columnNames, type Draft, problemsOfCreate, problemsOfUpdate, row } from '../../../test/requests.ts'
import { configMaps } from './config-map.ts'

const mebibyte = 1024 * 1024
const immutable = { immutable: true, data: { a: '1' }, binaryData: { b: 'AA==' } }
const fixed = (field: string): string => `${field}: Forbidden: field is immutable when \`immutable\` is set`

describe('validation of a ConfigMap', () => {
  it.each<readonly [string, Draft, readonly string[]]>([
    ['nothing', {}, []],
    ['both kinds of data', { data: { 'game.properties': 'x' }, binaryData: { _b: 'AA==' } }, []],
    ['exactly 1 MiB', { data: { a: 'x'.repeat(mebibyte - 1) }, binaryData: { b: 'AA==' } }, []],
    [
      'a byte more',
      { data: { a: 'x'.repeat(mebibyte) }, binaryData: { b: 'AA==' } },
      ['[]: Too long: may not be more than 1048576 bytes'],
    ],
    [
      'more bytes than characters',
      { data: { a: 'é'.repeat(mebibyte / 2 + 1) } },
      ['[]: Too long: may not be more than 1048576 bytes'],
    ],
    [
      'a key with a slash',
      { data: { 'a/b': '' } },
      [
        "data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ],
    ],
    [
      'a key in both',
      { data: { a: '1' }, binaryData: { a: 'AA==' } },
      ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
    ],
  ])('says of %s', (_, draft, problems) => {
    expect(problemsOfCreate(configMaps, draft)).toEqual(problems)
  })

  it.each<readonly [string, Draft, readonly string[]]>([
    ['labels', { ...immutable, metadata: { name: 'x', labels: { a: 'b' } } }, []],
    ['a value', { ...immutable, data: { a: '2' } }, [fixed('data')]],
    ['a binary value', { ...immutable, binaryData: {} }, [fixed('binaryData')]],
    ['the flag', { ...immutable, immutable: false }, [fixed('immutable')]],
  ])('of an immutable one says of a change of %s', (_, after, problems) => {
    expect(problemsOfUpdate(configMaps, immutable, after)).toEqual(problems)
  })

  it('lets one be made immutable', () => {
    expect(problemsOfUpdate(configMaps, { data: { a: '1' } }, { data: { a: '2' }, immutable: true })).toEqual([])
  })
})

it('shows how many values there are', () => {
  expect(columnNames(configMaps)).toEqual({ shown: ['Name', 'Data', 'Age'], wide: [] })
  expect(row(configMaps, immutable, 0)).toMatchObject({ Data: 2 })
})
