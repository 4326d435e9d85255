import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { podHostname } from './pod-hostname.ts'

const named = (name: string, spec: Partial<Pod['spec']> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop' },
  spec: { containers: [], ...spec },
})

describe('the name of a pod’s host', () => {
  it.each<[string, Pod, string]>([
    ['is the pod’s', named('web-0'), 'web-0'],
    ['is what the pod says', named('web-0', { hostname: 'db' }), 'db'],
    [
      'is what overrides both',
      named('web-0', { hostname: 'db', hostnameOverride: 'db.example.com' }),
      'db.example.com',
    ],
    [
      'has 63 characters at most there, too',
      named('web-0', { hostnameOverride: `${'a'.repeat(62)}.b` }),
      'a'.repeat(62),
    ],
    ['may have 63 characters', named('a'.repeat(63)), 'a'.repeat(63)],
    ['has 63 characters at most', named('a'.repeat(70)), 'a'.repeat(63)],
    ['does not end with what it was cut at', named(`${'a'.repeat(62)}-b`), 'a'.repeat(62)],
    ['does not end with a dot either', named(`${'a'.repeat(61)}.-b`), 'a'.repeat(61)],
    ['is cut where it comes from a subdomain, too', named(`a.b.${'c'.repeat(70)}`), `a.b.${'c'.repeat(59)}`],
    ['is without a domain', named('web-0', { subdomain: 'web' }), 'web-0'],
    [
      'has its domain',
      named('web-0', { subdomain: 'web', setHostnameAsFQDN: true }),
      'web-0.web.shop.svc.cluster.local',
    ],
    [
      'has 64 characters at most with its domain',
      named('a'.repeat(37), { subdomain: 'web', setHostnameAsFQDN: true }),
      `${'a'.repeat(37)}.web.shop.svc.cluster.local`,
    ],
    ['has none without a subdomain', named('web-0', { setHostnameAsFQDN: true }), 'web-0'],
  ])('%s', (_what, pod, expected) => {
    expect(podHostname(pod)).toBe(expected)
  })

  it('is refused where Linux would not take it', () => {
    const pod = named('a'.repeat(40), { subdomain: 'web', setHostnameAsFQDN: true })
    const full = `${'a'.repeat(40)}.web.shop.svc.cluster.local`
    expect(() => podHostname(pod)).toThrow(
      `Failed to construct FQDN from pod hostname and cluster domain, FQDN ${full} is too long (64 characters is the max, 67 characters requested)`,
    )
  })
})
