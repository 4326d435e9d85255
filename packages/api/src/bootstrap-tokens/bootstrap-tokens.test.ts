import { describe, expect, it } from 'vitest'
import type { Secret } from '../kinds/index.ts'
import { parseTime } from '../time.ts'
import { bootstrapTokenOf, bootstrapTokenSecret, hasExpired, parseBootstrapToken } from './bootstrap-token.ts'
import { detachedSignature, isSignedWith } from './cluster-info.ts'

const token = { id: 'abcdef', secret: '0123456789abcdef', usages: ['authentication', 'signing'], groups: [] }

describe('a bootstrap token', () => {
  it.each([
    ['abcdef.0123456789abcdef', { id: 'abcdef', secret: '0123456789abcdef' }],
    ['ABCDEF.0123456789abcdef', undefined],
    ['abcdef.0123456789abcde', undefined],
    ['xabcdef.0123456789abcdef', undefined],
    ['abcdef.0123456789abcdef\n', undefined],
  ])('%j has the parts %j', (text, parts) => {
    expect(parseBootstrapToken(text)).toEqual(parts)
  })

  it('is what its Secret says', () => {
    const secret = bootstrapTokenSecret({
      ...token,
      description: 'for the rack',
      expiration: '2026-01-02T00:00:00Z',
      groups: ['system:bootstrappers:a', 'system:bootstrappers:b'],
    })
    const read = bootstrapTokenOf(secret)
    expect(read).toEqual({
      id: 'abcdef',
      secret: '0123456789abcdef',
      description: 'for the rack',
      expiresAtMs: parseTime('2026-01-02T00:00:00Z'),
      authenticates: true,
      signs: true,
      extraGroups: ['system:bootstrappers:a', 'system:bootstrappers:b'],
    })
    expect(read && hasExpired(read, parseTime('2026-01-01T23:59:59Z'))).toBe(false)
    expect(read && hasExpired(read, parseTime('2026-01-02T00:00:00Z'))).toBe(true)
  })

  const changed = (data: object, more: object = {}): Secret => {
    const secret = bootstrapTokenSecret(token)
    const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')])
    return { ...secret, ...more, data: { ...secret.data, ...Object.fromEntries(encoded) } }
  }

  it('is none where its Secret is of another type or name, or lacks a part', () => {
    expect(bootstrapTokenOf(changed({}, { type: 'Opaque' }))).toBeUndefined()
    expect(bootstrapTokenOf(changed({ 'token-id': 'fedcba' }))).toBeUndefined()
    expect(bootstrapTokenOf(changed({ 'token-secret': '' }))).toBeUndefined()
  })

  it('counts as over where its end cannot be read, and names no group that it may not', () => {
    const read = bootstrapTokenOf(changed({ expiration: 'tomorrow', 'auth-extra-groups': 'system:masters' }))
    expect(read?.extraGroups).toBeUndefined()
    expect(read && hasExpired(read, 0)).toBe(true)
  })
})

it('signs as upstream does', () => {
  // The values of upstream's own test (staging/src/k8s.io/cluster-bootstrap/token/jws/jws_test.go).
  const signature = detachedSignature(
    'Hello from the other side. I must have called a thousand times.',
    'joshua',
    'my voice is my passcode',
  )
  expect(signature).toBe('eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8')
  const content = 'Hello from the other side. I must have called a thousand times.'
  expect(isSignedWith(content, 'joshua', 'my voice is my passcode', signature)).toBe(true)
  expect(isSignedWith(content, 'joshua', 'another', signature)).toBe(false)
  expect(isSignedWith(`${content}!`, 'joshua', 'my voice is my passcode', signature)).toBe(false)
})
