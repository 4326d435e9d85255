import type { ListOptions } from '@coracle/client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  encodeContinue,
  inconsistentContinue,
  type ListRequest,
  parseListRequest,
  parseResourceVersion,
  requestedVersion,
} from './list-request.ts'

const token = { revision: 7, afterKey: 'default/b', following: 3 }
const next = encodeContinue(token)
const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const tokenOf = (parts: object): string => encoded({ v: 'meta.k8s.io/v1', rv: 7, start: 'default/b\u0000', ...parts })

describe('what the options of a list ask for', () => {
  it.each<[string, ListOptions, ListRequest]>([
    ['what is acknowledged by now', {}, { type: 'latest', atLeast: undefined, limit: 0 }],
    ['a page of it', { limit: 5 }, { type: 'latest', atLeast: undefined, limit: 5 }],
    ['a state that is not older', { resourceVersion: '7' }, { type: 'latest', atLeast: 7, limit: 0 }],
    [
      'exactly a state',
      { resourceVersion: '7', resourceVersionMatch: 'Exact' },
      { type: 'exact', revision: 7, limit: 0 },
    ],
    ['a page of exactly a state', { resourceVersion: '7', limit: 5 }, { type: 'exact', revision: 7, limit: 5 }],
    [
      'a page of a state that is not older',
      { resourceVersion: '7', resourceVersionMatch: 'NotOlderThan', limit: 5 },
      { type: 'latest', atLeast: 7, limit: 5 },
    ],
    ['any state', { resourceVersion: '0' }, { type: 'latest', atLeast: 0, limit: 0 }],
    ['any state, which comes whole', { resourceVersion: '0', limit: 5 }, { type: 'latest', atLeast: 0, limit: 0 }],
    ['what follows a page', { continue: next, limit: 5 }, { type: 'continue', token, limit: 5 }],
    [
      'what follows a page of any state',
      { continue: next, resourceVersion: '0' },
      { type: 'continue', token, limit: 0 },
    ],
    [
      'the first page, where a token is empty',
      { continue: '', limit: 5 },
      { type: 'latest', atLeast: undefined, limit: 5 },
    ],
  ])('%s', (_, options, request) => {
    expect(parseListRequest(options)).toEqual(request)
  })

  const unless = 'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided'
  const beside = 'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided'
  const zero = 'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
  const unknown = 'resourceVersionMatch: Unsupported value: "Nearly": supported values: "Exact", "NotOlderThan", ""'
  it.each<[string, object, readonly string[]]>([
    ['how a version matches without one', { resourceVersionMatch: 'NotOlderThan' }, [unless]],
    ['how a version matches beside a token', { ...versionOf('Exact', '7'), continue: next }, [beside]],
    ['both', { resourceVersionMatch: 'Exact', continue: next }, [unless, beside]],
    ['exactly any state', versionOf('Exact', '0'), [zero]],
    ['another way to match', versionOf('Nearly', '7'), [unknown]],
    ['another way to match any state', versionOf('Nearly', '0'), [unknown]],
  ])('are refused where they ask for %s', (_, options, messages) => {
    const status = caught(() => parseListRequest(options))
    expect(status).toMatchObject({
      code: 422,
      reason: 'Invalid',
      details: { group: 'meta.k8s.io', kind: 'ListOptions' },
    })
    const all = messages.length === 1 ? messages[0] : `[${messages.join(', ')}]`
    expect(status.message).toBe(`ListOptions.meta.k8s.io "" is invalid: ${all}`)
  })

  function versionOf(resourceVersionMatch: string, resourceVersion: string) {
    return { resourceVersionMatch, resourceVersion }
  }
})

describe('a continue token', () => {
  it('says where its page ended, for any key', () => {
    fc.assert(
      fc.property(
        fc.record({
          revision: fc.integer({ min: 1 }),
          afterKey: fc.stringMatching(/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?(\/[a-z0-9]([-.a-z0-9]*[a-z0-9])?)?$/),
          following: fc.option(fc.nat(), { nil: undefined }),
        }),
        (said) => {
          expect(parseListRequest({ continue: encodeContinue(said) })).toMatchObject({ token: said })
        },
      ),
    )
  })

  it.each<[string, string, object]>([
    [
      'of upstream: no count of what follows',
      tokenOf({}),
      { revision: 7, afterKey: 'default/b', following: undefined },
    ],
    ['with a count that is none', tokenOf({ following: '3' }), { following: undefined }],
    ['for the present state', tokenOf({ rv: -1 }), { revision: -1 }],
    ['for the present state, by any number below 0', tokenOf({ rv: -5 }), { revision: -5 }],
    ['that begins at a key itself', tokenOf({ start: 'default/b' }), { afterKey: 'default/b' }],
    ['from the root', tokenOf({ start: '/' }), { afterKey: '/' }],
  ])('may be one %s', (_, text, said) => {
    expect(parseListRequest({ continue: text })).toMatchObject({ type: 'continue', token: said })
  })

  const version = 'server does not recognize this encoded version '
  const noRevision = 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'
  it.each<[string, string, string]>([
    ['of other characters', 'ab+c', 'illegal base64 data at input byte 2'],
    ['that begins with another character', '+abc', 'illegal base64 data at input byte 0'],
    ['that breaks off in a byte', 'bm9uc', 'illegal base64 data at input byte 4'],
    ['of another character, that breaks off in a byte', 'b+9uc', 'illegal base64 data at input byte 1'],
    ['of no JSON', encoded('no'), "invalid character 'o' in literal null (expecting 'u')"],
    ['of nothing', encoded('null'), version],
    ['without a version', encoded({}), version],
    ['of another version', tokenOf({ v: 'v2' }), `${version}v2`],
    ['without a revision', tokenOf({ rv: undefined }), noRevision],
    ['with revision 0', tokenOf({ rv: 0 }), noRevision],
    ['with half a revision', tokenOf({ rv: 1.5 }), noRevision],
    ['without a key', tokenOf({ start: undefined }), 'encoded start key empty (version meta.k8s.io/v1)'],
    ['with an empty key', tokenOf({ start: '' }), 'encoded start key empty (version meta.k8s.io/v1)'],
    ['that leads elsewhere', tokenOf({ start: '../nodes' }), '../nodes'],
    ['that leads about', tokenOf({ start: '/a/./b' }), '/a/./b'],
    ['with nothing between slashes', tokenOf({ start: 'a//b' }), 'a//b'],
  ])('is refused if it is one %s', (_, text, why) => {
    expect(caught(() => parseListRequest({ continue: text }))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: `invalid continue token: continue key is not valid: ${why}`,
    })
  })

  it('does not go with a version of its own', () => {
    const { code, message } = caught(() => parseListRequest({ continue: next, resourceVersion: '7' }))
    expect([code, message]).toEqual([400, 'specifying resource version is not allowed when using continue'])
  })

  it('of a state that is gone is answered with one for the present state', () => {
    const { status } = inconsistentContinue(token)
    expect(status).toMatchObject({ code: 410, reason: 'Expired' })
    // Clients and people read this; it is upstream's to the letter.
    expect(status.message).toBe(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    )
    const { metadata } = status as { readonly metadata?: { readonly continue?: string } }
    expect(parseListRequest({ continue: metadata?.continue ?? '' })).toEqual({
      type: 'continue',
      token: { revision: -1, afterKey: 'default/b', following: undefined },
      limit: 0,
    })
  })
})

describe('a resourceVersion', () => {
  it.each([
    ['7', 7],
    ['0', 0],
    ['', Number.NaN],
    ['7a', Number.NaN],
    ['a7', Number.NaN],
    ['-7', Number.NaN],
    ['1e3', Number.NaN],
    ['9007199254740993', 9007199254740992],
    ['18446744073709551615', 2 ** 64],
    ['18446744073709551616', Number.NaN],
    ['99999999999999999999', Number.NaN],
  ])('%j is %d', (text, revision) => {
    expect(parseResourceVersion(text)).toBe(revision)
  })

  it('of very many digits is read at once', () => {
    expect(parseResourceVersion(`${'0'.repeat(500_000)}7`)).toBe(7)
    expect(parseResourceVersion('9'.repeat(500_000))).toBeNaN()
    expect(parseResourceVersion(`${'0'.repeat(500_000)}x`)).toBeNaN()
  })

  it.each([
    ['7a', 'invalid syntax'],
    ['a7', 'invalid syntax'],
    ['99999999999999999999', 'value out of range'],
  ])('that is none, %s, is the mistake of a list, and of the server in a watch', (text, why) => {
    const what = `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": ${why}`
    for (const limit of [0, 1]) {
      const refused = caught(() => parseListRequest({ resourceVersion: text, limit }))
      expect(refused).toMatchObject({ code: 400, message: `invalid resource version: ${what}` })
    }
    const failed = caught(() => requestedVersion(text))
    expect([failed.code, failed.reason ?? '', failed.message]).toEqual([500, '', what])
    expect(requestedVersion('7')).toBe(7)
  })
})

function caught(call: () => unknown) {
  try {
    call()
  } catch (error) {
    return (error as ReturnType<typeof inconsistentContinue>).status
  }
  throw new Error('the call succeeded')
}
