import { describe, expect, it } from 'vitest'
import { columnNames, type Draft, decoded, problemsOfCreate, problemsOfUpdate, row } from '../../../test/requests.ts'
import { secrets } from './secret.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('a secret', () => {
  it('is Opaque unless it says otherwise', () => {
    expect(decoded(secrets, {}).type).toBe('Opaque')
  })

  it('takes plain text over data, and keeps none of it', () => {
    const draft = { data: { a: base64('old'), b: base64('kept') }, stringData: { a: 'née', c: '' } }
    const secret = decoded(secrets, draft)
    expect(secret.data).toEqual({ a: base64('née'), b: base64('kept'), c: '' })
    expect(secret).not.toHaveProperty('stringData')
  })
})

describe('validation of a secret', () => {
  const required = (...keys: readonly string[]): readonly string[] => keys.map((key) => `data[${key}]: Required value`)

  it.each<readonly [string, Draft, readonly string[]]>([
    ['Opaque', {}, []],
    ['example.com/anything', {}, []],
    ['kubernetes.io/tls', { 'tls.crt': '', 'tls.key': '' }, []],
    ['kubernetes.io/tls', { 'tls.crt': '' }, required('tls.key')],
    ['kubernetes.io/basic-auth', { password: '' }, []],
    ['kubernetes.io/basic-auth', {}, required('username', 'password')],
    ['kubernetes.io/ssh-auth', { 'ssh-privatekey': base64('x') }, []],
    ['kubernetes.io/ssh-auth', { 'ssh-privatekey': '' }, required('ssh-privatekey')],
    ['kubernetes.io/dockerconfigjson', { '.dockerconfigjson': base64('{"auths":{}}') }, []],
    ['kubernetes.io/dockerconfigjson', {}, required('.dockerconfigjson')],
    [
      'kubernetes.io/dockerconfigjson',
      { '.dockerconfigjson': base64('auths') },
      [
        'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character \'a\' looking for beginning of value',
      ],
    ],
    [
      'kubernetes.io/dockerconfigjson',
      { '.dockerconfigjson': base64('{"auths":') },
      ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": unexpected end of JSON input'],
    ],
    [
      'kubernetes.io/dockercfg',
      { '.dockercfg': base64('[]') },
      [
        'data[.dockercfg]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}',
      ],
    ],
    [
      'kubernetes.io/service-account-token',
      {},
      ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
    ],
  ])('says of the type %s with %j', (type, data, problems) => {
    expect(problemsOfCreate(secrets, { type, data })).toEqual(problems)
  })

  it.each<readonly [string, Draft, readonly string[]]>([
    [
      'a key with a space',
      { data: { 'a b': '' } },
      [
        "data[a b]: Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
      ],
    ],
    [
      'more than 1 MiB of plain text',
      { stringData: { a: 'x'.repeat(1024 * 1024 + 1) } },
      ['data: Too long: may not be more than 1048576 bytes'],
    ],
  ])('says of %s', (_, draft, problems) => {
    expect(problemsOfCreate(secrets, draft)).toEqual(problems)
  })

  it.each<readonly [string, Draft, Draft, readonly string[]]>([
    ['the data', { data: { a: '' } }, { data: { b: '' } }, []],
    ['the type', {}, { type: 'a/b' }, ['type: Invalid value: "a/b": field is immutable']],
    [
      'the data of an immutable one',
      { immutable: true, data: { a: '' } },
      { immutable: true, stringData: { a: 'x' } },
      ['data: Forbidden: field is immutable when `immutable` is set'],
    ],
    ['the flag', { immutable: true }, {}, ['immutable: Forbidden: field is immutable when `immutable` is set']],
  ])('says of a change of %s', (_, before, after, problems) => {
    expect(problemsOfUpdate(secrets, before, after)).toEqual(problems)
  })
})

it('shows type and number of values, and nothing of them', () => {
  expect(columnNames(secrets)).toEqual({ shown: ['Name', 'Type', 'Data', 'Age'], wide: [] })
  expect(row(secrets, { data: { a: base64('x') } }, 0)).toEqual({
    Name: 'x',
    Type: 'Opaque',
    Data: 1,
    Age: '<unknown>',
  })
})
